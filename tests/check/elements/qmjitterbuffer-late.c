/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* During a stall nothing is lost yet, but something is missing: a decoder is told of
 * that in time, and conceals it. */

#include "../gstfairmixcheck.h"
#include "../gstfairmixgate.h"
#include "qmjitterbuffercheck.h"

#define GRACE MS
#define STEP (10 * MS)
#define LONGEST (200 * MS)

/* Lets time pass until @time: with do-lost there is one who waits for it. */
static void
advance_to (GstHarness * h, GstClockTime time)
{
  GstTestClock *clock = gst_harness_get_testclock (h);

  clock_advance_to (clock, 1, time);
  clock_wait_idle (clock, 1);
  gst_object_unref (clock);
}

static void
drain_events (GstHarness * h)
{
  GstEvent *event;

  while ((event = gst_harness_try_pull_event (h)) != NULL)
    gst_event_unref (event);
}

/* Returns: how much time decoders were told to conceal, from @start on and without a
 * break; at most once */
static GstClockTime
told_from (GstHarness * h, GstClockTime start)
{
  GstClockTime end = start, timestamp, duration;
  GstEvent *event;

  while ((event = gst_harness_try_pull_event (h)) != NULL) {
    const GstStructure *s = gst_event_get_structure (event);

    if (GST_EVENT_TYPE (event) == GST_EVENT_GAP)
      gst_event_parse_gap (event, &timestamp, &duration);
    else if (!gst_event_has_name (event, "GstRTPPacketLost")
        || !gst_structure_get (s, "timestamp", G_TYPE_UINT64, &timestamp,
            "duration", G_TYPE_UINT64, &duration, NULL))
      duration = 0;
    if (duration > 0) {
      fail_unless_equals_uint64 (timestamp, end);
      end += duration;
    }
    gst_event_unref (event);
  }
  return end - start;
}

/* @n packets in time, and each is where it belongs */
static GstHarness *
stream_new (const gchar * launch, guint n)
{
  GstHarness *h = harness_new (launch);

  for (guint i = 0; i < n; i++) {
    advance_to (h, sent (i));
    fail_unless_equals_int64 (pass (h, i, 0), 0);
  }
  fail_unless_equals_uint64 (told_from (h, 0), 0);
  return h;
}

GST_START_TEST (test_what_is_late_is_told_when_its_turn_comes)
{
  GstHarness *h = stream_new ("qmjitterbuffer do-lost=true", 10);

  advance_to (h, sent (10) + GRACE - 1);
  fail_unless_equals_uint64 (told_from (h, sent (10)), 0);
  advance_to (h, sent (10) + GRACE);
  fail_unless_equals_uint64 (told_from (h, sent (10)), STEP);
  advance_to (h, sent (10) + 35 * MS);
  fail_unless_equals_uint64 (told_from (h, sent (10) + STEP), 3 * STEP);
  fail_unless_equals_uint64 (stat_of (h, "qm-gaps"), 4);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_who_says_nothing_more_is_not_concealed_for_ever)
{
  GstHarness *h = stream_new ("qmjitterbuffer do-lost=true", 10);

  advance_to (h, sent (10) + 10 * GST_SECOND);
  fail_unless_equals_uint64 (told_from (h, sent (10)), LONGEST);
  push (h, 10, 10 * GST_SECOND);
  wait_decided (h, 11);
  advance_to (h, sent (10) + 11 * GST_SECOND);
  fail_unless (stat_of (h, "qm-gaps") > LONGEST / STEP);
  harness_free (h);
}

GST_END_TEST;

/* It is played after what conceals it, or in its slot, which is over. */
GST_START_TEST (test_a_packet_that_was_concealed_moves_the_sink)
{
  GstHarness *h = stream_new ("qmjitterbuffer do-lost=true", 10);
  GstBuffer *buffer;

  advance_to (h, sent (10) + 25 * MS);
  fail_unless_equals_uint64 (told_from (h, sent (10)), 3 * STEP);
  push (h, 10, 25 * MS);
  buffer = gst_harness_pull (h);
  fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_RESYNC));
  gst_buffer_unref (buffer);
  harness_free (h);
}

GST_END_TEST;

/* The inner jitter buffer tells of 10 when 11 is there: of what is left. */
GST_START_TEST (test_a_lost_packet_is_concealed_once)
{
  GstHarness *h = stream_new ("qmjitterbuffer do-lost=true", 10);

  advance_to (h, sent (10) + GRACE);
  push (h, 11, -15 * MS);
  advance_to (h, sent (11) - 1);
  fail_unless_equals_int64 (pull (h, 11), 0);
  fail_unless_equals_uint64 (told_from (h, sent (10)), PACKET);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_nobody_is_told_who_did_not_ask)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  GstTestClock *clock = gst_harness_get_testclock (h);

  for (guint n = 0; n < 10; n++)
    pass (h, n, 0);
  fail_unless_equals_int (gst_test_clock_peek_id_count (clock), 0);
  gst_object_unref (clock);
  harness_free (h);
}

GST_END_TEST;

static gpointer
ask_and_do_not (gpointer element)
{
  for (guint i = 0; i < 100; i++)
    g_object_set (element, "do-lost", i % 2 == 1, NULL);
  return NULL;
}

/* Whoever asks does so while packets come. */
GST_START_TEST (test_it_may_be_asked_for_at_any_time)
{
  GstHarness *h = harness_new ("qmjitterbuffer do-lost=true");
  GstElement *element = gst_harness_find_element (h, "qmjitterbuffer");
  Runner asks;

  runner_start (&asks, "asks", ask_and_do_not, element);
  for (guint n = 0; n < 100; n++)
    pass (h, n, 0);
  runner_join (&asks);
  gst_object_unref (element);
  advance_to (h, sent (100) - 1);
  drain_events (h);
  pass (h, 100, 0);
  advance_to (h, sent (101) + GRACE);
  fail_unless_equals_uint64 (told_from (h, sent (101)), STEP);
  harness_free (h);
}

GST_END_TEST;

static Suite *
qmjitterbuffer_late_suite (void)
{
  Suite *s = suite_create ("qmjitterbuffer-late");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_what_is_late_is_told_when_its_turn_comes);
  tcase_add_test (tc, test_who_says_nothing_more_is_not_concealed_for_ever);
  tcase_add_test (tc, test_a_packet_that_was_concealed_moves_the_sink);
  tcase_add_test (tc, test_a_lost_packet_is_concealed_once);
  tcase_add_test (tc, test_nobody_is_told_who_did_not_ask);
  tcase_add_test (tc, test_it_may_be_asked_for_at_any_time);
  return s;
}

GST_CHECK_MAIN (qmjitterbuffer_late);
