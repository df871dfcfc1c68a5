/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstqmadjust.h"

GstEvent *
gst_qm_adjust_event_new (GstClockTimeDiff adjustment, GstClockTime delay)
{
  return gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
      gst_structure_new (GST_QM_ADJUST_EVENT,
          "adjustment", G_TYPE_INT64, adjustment,
          "delay", G_TYPE_UINT64, delay, NULL));
}

gboolean
gst_qm_adjust_event_parse (GstEvent * event, GstClockTimeDiff * adjustment)
{
  const GstStructure *s;

  if (GST_EVENT_TYPE (event) != GST_EVENT_CUSTOM_DOWNSTREAM)
    return FALSE;
  s = gst_event_get_structure (event);
  return s != NULL && gst_structure_has_name (s, GST_QM_ADJUST_EVENT)
      && gst_structure_get_int64 (s, "adjustment", adjustment);
}

GstEvent *
gst_qm_stretcher_event_new (void)
{
  return gst_event_new_custom (GST_EVENT_CUSTOM_UPSTREAM,
      gst_structure_new_empty (GST_QM_STRETCHER_EVENT));
}

gboolean
gst_qm_stretcher_event_is (GstEvent * event)
{
  return GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_UPSTREAM
      && gst_event_has_name (event, GST_QM_STRETCHER_EVENT);
}
