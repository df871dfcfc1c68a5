/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __QUEUE_CHECK_H__
#define __QUEUE_CHECK_H__

/* Queues that have a thread of their own: who sends is told late what became of it. */

#include "../gstfairmixcheck.h"

/* Returns: the clock of cbtqueue @h, with a link of 100 kbit/s */
static inline GstTestClock *
queue_use_slow_link (GstHarness * h)
{
  gst_harness_use_testclock (h);
  g_object_set (h->element, "bitrate", 100000, NULL);
  return gst_harness_get_testclock (h);
}

/* @packet is being sent, and what comes now has to wait. */
static inline void
queue_push_on_link (GstHarness * h, GstTestClock * clock, GstBuffer * packet)
{
  gst_harness_push (h, packet);
  gst_test_clock_wait_for_next_pending_id (clock, NULL);
}

/* What is being sent has been. */
static inline void
queue_let_pass (GstTestClock * clock)
{
  gst_test_clock_wait_for_next_pending_id (clock, NULL);
  gst_test_clock_crank (clock);
}

/* Takes @packet, and pushes it until it is told @flow; but no more than one waits, or
 * the queue would drop what comes next where its thread has no processor for long. */
static inline void
queue_push_until (GstHarness * h, GstBuffer * packet, GstFlowReturn flow)
{
  GstPad *src = gst_element_get_static_pad (h->element, "src");

  while (gst_harness_push (h, gst_buffer_copy (packet)) != flow)
    while (element_stat (h->element, "level") > 0
        && gst_pad_get_task_state (src) == GST_TASK_STARTED)
      g_usleep (1000);
  gst_object_unref (src);
  gst_buffer_unref (packet);
}

/* Takes @element and its @sink: a flush ends while it is being shut down, and starts no
 * task; one that runs then is never ended.  Nor is anything let in, which nobody would take
 * out: what waits for that would wait for ever. */
static inline void
queue_end_flush_late (GstElement * element, GstPad * sink)
{
  GstPad *src = gst_element_get_static_pad (element, "src");
  GstEvent *start = gst_event_new_stream_start ("late"), *segment;
  GstSegment in_time;

  gst_segment_init (&in_time, GST_FORMAT_TIME);
  segment = gst_event_new_segment (&in_time);
  gst_element_set_state (element, GST_STATE_PAUSED);
  gst_pad_set_active (src, FALSE);
  gst_pad_send_event (sink, gst_event_new_flush_start ());
  gst_pad_send_event (sink, gst_event_new_flush_stop (TRUE));
  gst_pad_store_sticky_event (sink, start);
  gst_pad_store_sticky_event (sink, segment);
  fail_unless_equals_int (gst_pad_chain (sink, gst_buffer_new ()),
      GST_FLOW_FLUSHING);
  gst_element_set_state (element, GST_STATE_NULL);
  fail_unless (GST_PAD_TASK (src) == NULL);
  gst_event_unref (start);
  gst_event_unref (segment);
  gst_object_unref (sink);
  gst_object_unref (src);
  gst_object_unref (element);
}

/* Drops what was there.  Returns: the next event of @type */
static inline GstEvent *
queue_pull_event (GstHarness * h, GstEventType type)
{
  GstEvent *event;

  while ((event = gst_harness_pull_event (h)) != NULL
      && GST_EVENT_TYPE (event) != type)
    gst_event_unref (event);
  fail_unless (event != NULL);
  return event;
}

/* A GstPadChainFunction of who has had enough */
static inline GstFlowReturn
queue_end (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  gst_buffer_unref (buffer);
  return GST_FLOW_EOS;
}

/* Takes @packet, of which whoever is behind @h has enough; then another stream begins, of
 * @caps, or another segment if they are NULL. */
static inline void
queue_end_and_begin (GstHarness * h, GstBuffer * packet, const gchar * caps)
{
  GstPadChainFunction take = GST_PAD_CHAINFUNC (h->sinkpad);
  GstSegment segment;

  gst_pad_set_chain_function (h->sinkpad, queue_end);
  queue_push_until (h, packet, GST_FLOW_EOS);
  gst_pad_set_chain_function (h->sinkpad, take);
  if (caps != NULL) {
    gst_harness_push_event (h, gst_event_new_stream_start ("another"));
    gst_harness_set_src_caps_str (h, caps);
  } else {
    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_harness_push_event (h, gst_event_new_segment (&segment));
  }
}

static inline GstPadProbeReturn
queue_answer_latency (GstPad * pad G_GNUC_UNUSED, GstPadProbeInfo * info,
    gpointer user G_GNUC_UNUSED)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);

  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return GST_PAD_PROBE_OK;
  gst_query_set_latency (query, TRUE, 10 * GST_MSECOND, 20 * GST_MSECOND);
  return GST_PAD_PROBE_HANDLED;
}

/* What comes to @h is live, and 10 to 20 ms late. */
static inline void
queue_be_live (GstHarness * h)
{
  gst_pad_add_probe (h->srcpad, GST_PAD_PROBE_TYPE_QUERY_UPSTREAM,
      queue_answer_latency, NULL, NULL);
}

static inline void
queue_expect_latency (GstHarness * h, GstClockTime min, GstClockTime max)
{
  GstQuery *query = gst_query_new_latency ();
  GstClockTime is_min, is_max;
  gboolean live;

  fail_unless (gst_pad_peer_query (h->sinkpad, query));
  gst_query_parse_latency (query, &live, &is_min, &is_max);
  fail_unless (live);
  fail_unless_equals_uint64 (is_min, min);
  fail_unless_equals_uint64 (is_max, max);
  gst_query_unref (query);
}

#endif /* __QUEUE_CHECK_H__ */
