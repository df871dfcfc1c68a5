/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whoever takes the feedback may hold it up, as a sink does in PAUSED. */

#include "rtpccfbcheck.h"
#include "../gstfairmixgate.h"

/* GThreadFunc of a GstHarness */
static gpointer
flush (gpointer data)
{
  GstHarness *rtp = data;
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (rtp, gst_event_new_flush_start ());
  gst_harness_push_event (rtp, gst_event_new_flush_stop (TRUE));
  gst_harness_push_event (rtp, gst_event_new_stream_start ("another"));
  gst_harness_push_event (rtp, gst_event_new_segment (&segment));
  gst_harness_push (rtp, rtp_packet_new (SSRC, 2, 160));
  return NULL;
}

GST_START_TEST (test_who_holds_up_feedback_holds_up_no_media)
{
  Runner flusher;
  Gate gate;
  Fixture f;

  setup (&f, TRUE);
  gate_init (&gate);
  gate_on_pad (&gate, f.rtcp->sinkpad);
  push_at (&f, GST_SECOND, SSRC, 1);
  clock_wait_idle (f.clock, 1);
  gst_test_clock_crank (f.clock);
  gate_wait (&gate);
  runner_start (&flusher, "flusher", flush, f.rtp);
  runner_join (&flusher);
  fail_unless_equals_int (gst_harness_buffers_in_queue (f.rtp), 2);
  gate_open (&gate);
  clock_wait_idle (f.clock, 1);
  fail_unless_equals_int (gst_harness_buffers_in_queue (f.rtcp), 1);
  teardown (&f);
  gate_clear (&gate);
}

GST_END_TEST;

/* Returns: whether the next thing that is said of the feedback is of that type */
static gboolean
says (Fixture * f, GstEventType type)
{
  GstEvent *event = gst_harness_try_pull_event (f->rtcp);
  gboolean is = event != NULL && GST_EVENT_TYPE (event) == type;

  gst_clear_event (&event);
  return is;
}

static gboolean
begins (Fixture * f)
{
  return says (f, GST_EVENT_STREAM_START) && says (f, GST_EVENT_CAPS)
      && says (f, GST_EVENT_SEGMENT);
}

GST_START_TEST (test_after_an_end_the_feedback_may_begin_again)
{
  GstSegment segment;
  Fixture f;

  setup (&f, TRUE);
  push_at (&f, GST_SECOND, SSRC, 1);
  gst_harness_push_event (f.rtp, gst_event_new_eos ());
  fail_unless (begins (&f) && says (&f, GST_EVENT_EOS));
  if (__i__ == 0) {
    gst_harness_push_event (f.rtp, gst_event_new_flush_start ());
    gst_harness_push_event (f.rtp, gst_event_new_flush_stop (TRUE));
  } else {
    gst_harness_push_event (f.rtp, gst_event_new_stream_start ("another"));
  }
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (f.rtp, gst_event_new_segment (&segment));
  push_at (&f, 2 * GST_SECOND, SSRC, 2);
  clock_advance_to (f.clock, 1, 3 * GST_SECOND);
  fail_unless (begins (&f));
  fail_unless (gst_harness_try_pull_event (f.rtcp) == NULL);
  fail_unless_equals_int (gst_harness_buffers_in_queue (f.rtcp), 2);
  teardown (&f);
}

GST_END_TEST;

static Suite *
rtpccfb_blocked_suite (void)
{
  Suite *s = suite_create ("rtpccfb-blocked");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_who_holds_up_feedback_holds_up_no_media);
  tcase_add_loop_test (tc, test_after_an_end_the_feedback_may_begin_again, 0,
      2);
  return s;
}

GST_CHECK_MAIN (rtpccfb_blocked);
