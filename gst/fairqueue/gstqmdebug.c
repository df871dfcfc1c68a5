/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstqmdebug.h"

GstDebugCategory *
gst_qm_debug_category (void)
{
  static gsize category = 0;

  if (g_once_init_enter (&category)) {
    GstDebugCategory *made = NULL;

    GST_DEBUG_CATEGORY_INIT (made, "qmstage", 0,
        "playout stage of qmjitterbuffer");
    g_once_init_leave (&category, (gsize) made);
  }
  return (GstDebugCategory *) category;
}
