/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is said between packets that wait in tfrcrate is heard, whatever becomes of
 * these. */

#include "tfrcratecheck.h"

/* Packets wait, and caps with that payload type between them. */
static void
let_caps_wait (Fixture * f, gint payload_type)
{
  GstCaps *caps = gst_caps_from_string (RTP_CAPS_PCMU);

  push_burst (f, 0, 3);
  gst_caps_set_simple (caps, "payload", G_TYPE_INT, payload_type, NULL);
  fail_unless (gst_harness_push_event (f->rtp, gst_event_new_caps (caps)));
  gst_caps_unref (caps);
  push_burst (f, 3, 1);
  fail_unless_equals_int (element_stat (f->element, "pacing-packets"), 3);
}

static void
assert_caps_known (Fixture * f, gint payload_type)
{
  GstCaps *caps = gst_pad_get_current_caps (f->rtp->sinkpad);
  gint payload = -1;

  fail_unless (caps != NULL);
  gst_structure_get_int (gst_caps_get_structure (caps, 0), "payload", &payload);
  fail_unless_equals_int (payload, payload_type);
  gst_caps_unref (caps);
}

GST_START_TEST (test_caps_that_wait_outlive_a_flush)
{
  GstSegment segment;
  Fixture f;

  setup_slow (&f);
  let_caps_wait (&f, 8);
  fail_unless_equals_int (drain (f.rtp), 1);
  gst_harness_push_event (f.rtp, gst_event_new_flush_start ());
  gst_harness_push_event (f.rtp, gst_event_new_flush_stop (TRUE));
  fail_unless_equals_int (element_stat (f.element, "pacing-packets"), 0);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (f.rtp, gst_event_new_segment (&segment));
  advance (&f, GST_SECOND);
  push_burst (&f, 4, 1);
  fail_unless_equals_int (drain (f.rtp), 1);
  assert_caps_known (&f, 8);
  teardown (&f);
}

GST_END_TEST;

/* Whoever pushes is told once of what came of the packets. */
GST_START_TEST (test_caps_that_wait_outlive_a_time_without_a_link)
{
  GstPad *src, *peer;
  Fixture f;

  setup_slow (&f);
  src = gst_element_get_static_pad (f.element, "src");
  peer = gst_pad_get_peer (src);
  let_caps_wait (&f, 8);
  fail_unless (gst_pad_unlink (src, peer));
  advance (&f, FRAME);
  fail_unless_equals_int (element_stat (f.element, "pacing-packets"), 0);
  fail_unless_equals_int (gst_pad_link (src, peer), GST_PAD_LINK_OK);
  drain (f.rtp);
  fail_unless_equals_int (push (&f, SSRC, 4), GST_FLOW_NOT_LINKED);
  advance (&f, FRAME);
  fail_unless_equals_int (push (&f, SSRC, 5), GST_FLOW_OK);
  advance (&f, FRAME);
  fail_unless_equals_int (drain (f.rtp), 2);
  assert_caps_known (&f, 8);
  gst_object_unref (src);
  gst_object_unref (peer);
  teardown (&f);
}

GST_END_TEST;

static Suite *
tfrcrate_pacing_events_suite (void)
{
  Suite *s = suite_create ("tfrcrate-pacing-events");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_caps_that_wait_outlive_a_flush);
  tcase_add_test (tc, test_caps_that_wait_outlive_a_time_without_a_link);
  return s;
}

GST_CHECK_MAIN (tfrcrate_pacing_events);
