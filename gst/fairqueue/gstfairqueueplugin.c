/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <gst/gst.h>

#include "gstcbtqueue.h"
#include "gstqmjitterbuffer.h"
#include "gstqmrtpbin.h"
#include "gstqmstretch.h"
#include "gstupdatequeue.h"

static gboolean
plugin_init (GstPlugin * plugin)
{
  return GST_ELEMENT_REGISTER (cbtqueue, plugin)
      && GST_ELEMENT_REGISTER (qmjitterbuffer, plugin)
      && GST_ELEMENT_REGISTER (qmrtpbin, plugin)
      && GST_ELEMENT_REGISTER (qmstretch, plugin)
      && GST_ELEMENT_REGISTER (updatequeue, plugin);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, fairqueue,
    "Jitter buffer and queues that monitor themselves", plugin_init, VERSION,
    GST_LICENSE, GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
