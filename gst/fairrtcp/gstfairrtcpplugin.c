/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstalslayers.h"
#include "gstalsrouter.h"
#include "gstalsrtcp.h"
#include "gstasmprtcp.h"

static gboolean
plugin_init (GstPlugin * plugin)
{
  gboolean ret = FALSE;

  ret |= GST_ELEMENT_REGISTER (alslayers, plugin);
  ret |= GST_ELEMENT_REGISTER (alsrouter, plugin);
  ret |= GST_ELEMENT_REGISTER (alsrtcp, plugin);
  ret |= GST_ELEMENT_REGISTER (asmprtcp, plugin);
  return ret;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, fairrtcp,
    "Rate control in the reports of RTP sessions", plugin_init, VERSION,
    GST_LICENSE, GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
