/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How data leave a src pad: after the events that describe them. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixpush.h"

#include "gst/common/gstfairmixlock.h"

#include "gstpartialmixdebug.h"

#define GST_CAT_DEFAULT gst_partial_mix_debug

void
gst_partial_mix_flow_init (GstPartialMixFlow * flow)
{
  flow->stream_sent = flow->segment_sent = FALSE;
  flow->sent_caps = NULL;
  flow->last = GST_FLOW_OK;
}

void
gst_partial_mix_flow_forget (GstPartialMixFlow * flow)
{
  flow->stream_sent = flow->segment_sent = FALSE;
  gst_clear_caps (&flow->sent_caps);
}

/* FALSE: the pad is not active, and keeps no event */
static gboolean
push_stream_start (GstPad * pad, GstPartialMixFlow * flow)
{
  gchar *name = gst_pad_get_name (pad);
  gchar *id = g_strdup_printf ("partialmix-%08x/%s", g_random_int (), name);
  GstEvent *event = gst_event_new_stream_start (id), *kept;

  gst_pad_push_event (pad, gst_event_ref (event));
  /* another one may be left there by a pad that is being deactivated */
  kept = gst_pad_get_sticky_event (pad, GST_EVENT_STREAM_START, 0);
  flow->stream_sent = kept == event;
  gst_clear_event (&kept);
  gst_event_unref (event);
  g_free (id);
  g_free (name);
  return flow->stream_sent;
}

static void
push_segment (GstPad * pad, GstPartialMixFlow * flow)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
  flow->segment_sent = TRUE;
}

/* With the pad's stream lock; what follows is always what the latest caps say, also
 * where packets of several payload types take turns.  Caps come before the segment: an
 * end that nothing describes goes without, for another stream may follow that is
 * described.  FALSE: nothing may follow, for the pad was not active. */
static gboolean
push_events (GstPad * pad, GstPartialMixFlow * flow, GstCaps * caps)
{
  if (!flow->stream_sent && !push_stream_start (pad, flow))
    return FALSE;
  if (caps != NULL && caps != flow->sent_caps) {
    if (flow->sent_caps == NULL || !gst_caps_is_equal (caps, flow->sent_caps))
      gst_pad_push_event (pad, gst_event_new_caps (caps));
    gst_caps_replace (&flow->sent_caps, caps);
  }
  if (!flow->segment_sent && flow->sent_caps != NULL)
    push_segment (pad, flow);
  return TRUE;
}

/* An event about what has not been described yet; the end is none. */
static gboolean
is_too_early (const GstPartialMixFlow * flow, GstCaps * caps,
    GstMiniObject * data)
{
  return caps == NULL && flow->sent_caps == NULL && GST_IS_EVENT (data)
      && GST_EVENT_TYPE (data) != GST_EVENT_EOS;
}

/* What may come after an end begins anew. */
static void
push_event (GstPad * pad, GstPartialMixFlow * flow, GstEvent * event)
{
  gboolean is_end = GST_EVENT_TYPE (event) == GST_EVENT_EOS;

  gst_pad_push_event (pad, event);
  if (is_end)
    gst_partial_mix_flow_forget (flow);
}

GstFlowReturn
gst_partial_mix_push (GstPad * pad, GstPartialMixFlow * flow, GstCaps * caps,
    GstMiniObject * data)
{
  GstFlowReturn ret;

  gst_fairmix_lock_assert_none ();
  GST_PAD_STREAM_LOCK (pad);
  if (is_too_early (flow, caps, data)) {
    gst_mini_object_unref (data);
    ret = gst_partial_mix_flow_last (flow);
  } else if (!push_events (pad, flow, caps)) {
    gst_mini_object_unref (data);
    ret = GST_FLOW_FLUSHING;
  } else if (GST_IS_EVENT (data)) {
    push_event (pad, flow, GST_EVENT (data));
    ret = gst_partial_mix_flow_last (flow);
  } else if (GST_IS_BUFFER_LIST (data)) {
    ret = gst_pad_push_list (pad, GST_BUFFER_LIST (data));
  } else {
    ret = gst_pad_push (pad, GST_BUFFER (data));
  }
  if (gst_partial_mix_flow_last (flow) != ret) {
    GST_DEBUG_OBJECT (pad, "flow is %s now", gst_flow_get_name (ret));
    g_atomic_int_set (&flow->last, (gint) ret);
  }
  GST_PAD_STREAM_UNLOCK (pad);
  return ret;
}
