/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfairmixevents.h"

GstEvent *
gst_fairmix_target_bitrate_event_new (guint bitrate)
{
  return gst_event_new_custom (GST_EVENT_CUSTOM_UPSTREAM,
      gst_structure_new (GST_FAIRMIX_TARGET_BITRATE_EVENT,
          "bitrate", G_TYPE_UINT, bitrate, NULL));
}

gboolean
gst_fairmix_target_bitrate_event_parse (GstEvent * event, guint * bitrate)
{
  return GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_UPSTREAM
      && gst_event_has_name (event, GST_FAIRMIX_TARGET_BITRATE_EVENT)
      && gst_structure_get_uint (gst_event_get_structure (event), "bitrate",
      bitrate);
}
