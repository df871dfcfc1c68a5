/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How data leave a src pad: after the events that describe them. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmix-private.h"

#define GST_CAT_DEFAULT gst_partial_mix_debug

/* FALSE: the pad is not active, and keeps no event */
static gboolean
push_stream_start (GstPartialMixSrcPad * pad)
{
  gchar *id = g_strdup_printf ("partialmix-%08x/src_%u", g_random_int (),
      pad->listener.index);
  GstEvent *event = gst_event_new_stream_start (id), *kept;

  gst_pad_push_event (GST_PAD_CAST (pad), gst_event_ref (event));
  /* another one may be left there by a pad that is being deactivated */
  kept = gst_pad_get_sticky_event (GST_PAD_CAST (pad), GST_EVENT_STREAM_START,
      0);
  pad->events_sent = kept == event;
  gst_clear_event (&kept);
  gst_event_unref (event);
  g_free (id);
  return pad->events_sent;
}

static void
push_segment (GstPartialMixSrcPad * pad)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (GST_PAD_CAST (pad), gst_event_new_segment (&segment));
}

/* With the pad's stream lock; what follows is always what the latest caps say, also
 * where packets of several payload types take turns.  FALSE: nothing may follow, for
 * the pad was not active. */
static gboolean
push_events (GstPartialMixSrcPad * pad, GstCaps * caps)
{
  gboolean first = !pad->events_sent;

  if (first && !push_stream_start (pad))
    return FALSE;
  if (caps != NULL && caps != pad->sent_caps) {
    if (pad->sent_caps == NULL || !gst_caps_is_equal (caps, pad->sent_caps))
      gst_pad_push_event (GST_PAD_CAST (pad), gst_event_new_caps (caps));
    gst_caps_replace (&pad->sent_caps, caps);
  }
  if (first)
    push_segment (pad);
  return TRUE;
}

GstFlowReturn
gst_partial_mix_src_pad_push (GstPartialMixSrcPad * pad, GstCaps * caps,
    GstMiniObject * data)
{
  GstFlowReturn ret;

  gst_fairmix_lock_assert_none ();
  GST_PAD_STREAM_LOCK (pad);
  if (!push_events (pad, caps)) {
    gst_mini_object_unref (data);
    ret = GST_FLOW_FLUSHING;
  } else if (GST_IS_EVENT (data)) {
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
