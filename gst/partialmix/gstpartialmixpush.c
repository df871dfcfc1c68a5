/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How data leave a src pad: after the events that describe them. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmix-private.h"

#define GST_CAT_DEFAULT gst_partial_mix_debug

static void
push_first_events (GstPartialMixSrcPad * pad)
{
  gchar *id = g_strdup_printf ("partialmix-%08x/src_%u", g_random_int (),
      pad->listener.index);

  gst_pad_push_event (GST_PAD_CAST (pad), gst_event_new_stream_start (id));
  g_free (id);
}

static void
push_segment (GstPartialMixSrcPad * pad)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (GST_PAD_CAST (pad), gst_event_new_segment (&segment));
}

/* An inactive pad keeps no event: what it was given has to be said again. */
static gboolean
keeps_events (GstPartialMixSrcPad * pad)
{
  GstEvent *segment =
      gst_pad_get_sticky_event (GST_PAD_CAST (pad), GST_EVENT_SEGMENT, 0);

  if (segment == NULL)
    return FALSE;
  gst_event_unref (segment);
  return TRUE;
}

/* with the pad's stream lock; what follows is always what the latest caps say,
 * also where packets of several payload types take turns */
static void
push_events (GstPartialMixSrcPad * pad, GstCaps * caps)
{
  gboolean first = !pad->events_sent;

  if (first)
    push_first_events (pad);
  if (caps != NULL && caps != pad->sent_caps) {
    if (pad->sent_caps == NULL || !gst_caps_is_equal (caps, pad->sent_caps))
      gst_pad_push_event (GST_PAD_CAST (pad), gst_event_new_caps (caps));
    gst_caps_replace (&pad->sent_caps, caps);
  }
  if (first) {
    push_segment (pad);
    pad->events_sent = keeps_events (pad);
    if (!pad->events_sent)
      gst_clear_caps (&pad->sent_caps);
  }
}

GstFlowReturn
gst_partial_mix_src_pad_push (GstPartialMixSrcPad * pad, GstCaps * caps,
    GstMiniObject * data)
{
  GstFlowReturn ret;

  gst_fairmix_lock_assert_none ();
  GST_PAD_STREAM_LOCK (pad);
  push_events (pad, caps);
  if (GST_IS_EVENT (data)) {
    gst_pad_push_event (GST_PAD_CAST (pad), GST_EVENT (data));
    ret = (GstFlowReturn) g_atomic_int_get (&pad->last_flow);
  } else if (GST_IS_BUFFER_LIST (data)) {
    ret = gst_pad_push_list (GST_PAD_CAST (pad), GST_BUFFER_LIST (data));
  } else {
    ret = gst_pad_push (GST_PAD_CAST (pad), GST_BUFFER (data));
  }
  if (g_atomic_int_get (&pad->last_flow) != (gint) ret) {
    GST_DEBUG_OBJECT (pad, "flow is %s now", gst_flow_get_name (ret));
    g_atomic_int_set (&pad->last_flow, (gint) ret);
  }
  GST_PAD_STREAM_UNLOCK (pad);
  return ret;
}
