/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What networks, senders and pipelines do to it. */

#include "qmjitterbuffercheck.h"

/* --- streams ------------------------------------------------------------- */

/* The same where packets are missing: the timers that wait for them run out. */
static void
wait_decided_by_timers (GstHarness * h, guint n)
{
  GstTestClock *clock = gst_harness_get_testclock (h);
  gint64 end_us = g_get_monotonic_time () + PULL_US;

  while (!is_decided (h, n, end_us)) {
    GstClockID id = NULL;

    if (gst_test_clock_peek_next_pending_id (clock, &id)
        && gst_clock_id_get_time (id) <= gst_clock_get_time (GST_CLOCK (clock)))
      gst_clock_id_unref (gst_test_clock_process_next_clock_id (clock));
    g_clear_pointer (&id, gst_clock_id_unref);
    g_thread_yield ();
  }
  gst_object_unref (clock);
}

/* Takes the next packet; returns how much later than sent it is to be played */
static GstClockTimeDiff
pull_any (GstHarness * h, guint * n)
{
  GstBuffer *buffer = gst_harness_pull (h);
  GstClockTime pts = GST_BUFFER_PTS (buffer);

  *n = number_of (buffer);
  gst_buffer_unref (buffer);
  return GST_CLOCK_DIFF (sent (*n), pts);
}

GST_START_TEST (test_half_of_the_packets_may_be_lost)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  GRand *random = g_rand_new_with_seed (7);
  guint n_arrived = 0, n = 0, last = 0;

  for (guint i = 0; i < 1000; i++) {
    if (i == 0 || g_rand_boolean (random)) {
      push (h, i, 0);
      n_arrived++;
      n = i;
    }
  }
  gst_harness_set_time (h, sent (1100));
  wait_decided_by_timers (h, n_arrived);
  for (guint i = 0; i < n_arrived; i++) {
    guint number;

    fail_unless_equals_int64 (pull_any (h, &number), 0);
    fail_unless (i == 0 || number > last);
    last = number;
  }
  fail_unless_equals_int (last, n);
  fail_unless_equals_uint64 (stat_of (h, "qm-grown"), 0);
  g_rand_free (random);
  harness_free (h);
}

GST_END_TEST;

/* Two seconds arrive at once: what is later than max-delay goes, and soon the
 * delay is what it was. */
GST_START_TEST (test_a_stall_is_forgotten)
{
  GstHarness *h = harness_new ("qmjitterbuffer max-delay=1000 memory-time=0");
  GstClockTimeDiff delay = 0, most = 0;
  guint n, n_out = 0, number = 0;

  for (n = 0; n < 100; n++)
    pass (h, n, 0);
  for (; n < 1700; n++) {
    push (h, n, n < 200 ? (200 - n) * PACKET : 0);
    wait_decided (h, n + 1);
  }
  for (; number < n - 1; n_out++) {
    delay = pull_any (h, &number);
    most = MAX (most, delay);
  }
  fail_unless (most > 900 * (GstClockTimeDiff) MS);
  fail_unless (most <= 1020 * (GstClockTimeDiff) MS);
  fail_unless (delay <= 40 * MS);
  /* 50 of the stall came too late; each of the others cost its slot at most */
  fail_unless (stat_of (h, "qm-late") <= 51);
  fail_unless (n_out >= 1600 - 51 - 50, "%u", n_out);
  harness_free (h);
}

GST_END_TEST;

/* A call whose first second came at once, after a long handshake: it is heard,
 * and caught up with by one packet in four; each message says so. */
GST_START_TEST (test_a_backlog_at_the_start_is_shed)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  GstMessage *message;
  guint n, n_shed = 0, number = 0, last = 0;

  for (n = 0; n < 400; n++) {
    push (h, n, n < 50 ? (50 - n) * PACKET : 0);
    wait_decided (h, n + 1);
    if (n == 49)
      fail_unless (stat_of (h, "qm-dropped") <= 13);
  }
  while (gst_harness_buffers_in_queue (h) > 0) {
    pull_any (h, &number);
    fail_unless (number - last <= 2);   /* never two in a row */
    last = number;
  }
  while ((message = pop_message (h, "fairmix-playout-adaptation"))) {
    const GstStructure *s = gst_message_get_structure (message);
    guint64 before, after;
    gboolean dropped;

    fail_unless (gst_structure_get (s, "before", G_TYPE_UINT64, &before,
            "after", G_TYPE_UINT64, &after, "dropped", G_TYPE_BOOLEAN,
            &dropped, NULL));
    if (dropped)
      fail_unless_equals_uint64 (before - after, PACKET);
    n_shed += dropped;
    gst_message_unref (message);
  }
  fail_unless (n_shed >= 45, "%u", n_shed);
  fail_unless (stat_of (h, "qm-delay") <= 100 * MS);
  harness_free (h);
}

GST_END_TEST;

static GstCaps *
answer_two_pts (GstElement * element G_GNUC_UNUSED, guint pt,
    gpointer user G_GNUC_UNUSED)
{
  return gst_caps_new_simple ("application/x-rtp", "media", G_TYPE_STRING,
      "audio", "clock-rate", G_TYPE_INT, pt == PT ? CLOCK_RATE : 8000, NULL);
}

GST_START_TEST (test_another_payload_type_has_another_clock_rate)
{
  GstHarness *h = gst_harness_new_parse ("qmjitterbuffer");
  GstElement *e = gst_harness_find_element (h, "qmjitterbuffer");

  g_signal_connect (e, "request-pt-map", G_CALLBACK (answer_two_pts), NULL);
  gst_harness_set_src_caps_str (h, "application/x-rtp");
  for (guint n = 0; n < 300; n++) {
    GstBuffer *buffer = make_packet (n);
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    if (n >= 100 && n < 200) {
      gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp);
      gst_rtp_buffer_set_payload_type (&rtp, 0);
      gst_rtp_buffer_set_timestamp (&rtp, 77 + n * 160);
      gst_rtp_buffer_unmap (&rtp);
    }
    push_late (h, buffer, n, 0);
    fail_unless_equals_int64 (pull (h, n), 0);
  }
  fail_unless_equals_uint64 (stat_of (h, "qm-grown"), 0);
  gst_object_unref (e);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_a_leap_of_the_numbers_is_followed)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  guint n_out = 0, number = 0;

  for (guint n = 0; n < 200; n++) {
    GstBuffer *buffer = make_packet (n);
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    if (n >= 100) {             /* a sender that starts again */
      gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp);
      gst_rtp_buffer_set_seq (&rtp, (guint16) (SEQ + 20000 + n));
      gst_rtp_buffer_set_timestamp (&rtp, 1234567890u + n * UNITS);
      gst_rtp_buffer_unmap (&rtp);
    }
    push_late (h, buffer, n, 0);
    if (n == 99)
      wait_decided (h, 100);
  }
  for (; number != 20000 + 199; n_out++) {
    GstBuffer *buffer = gst_harness_pull (h);
    GstClockTimeDiff delay;

    number = number_of (buffer);
    delay = GST_CLOCK_DIFF (sent (number % 20000), GST_BUFFER_PTS (buffer));
    fail_unless (delay >= 0 && delay <= 100 * MS, "%" G_GINT64_FORMAT, delay);
    gst_buffer_unref (buffer);
  }
  fail_unless (n_out >= 195, "%u", n_out);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_absurd_timestamps_neither_stall_nor_pile_up)
{
  static const guint32 jumps[] = { 0x7fffffff, 0x80000001, 48000 * 60, 5 };
  guint n_pulled = 0;
  GstHarness *h = harness_new ("qmjitterbuffer");

  for (guint n = 0; n < 1000; n++) {
    GstBuffer *buffer = make_packet (n);
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp);
    gst_rtp_buffer_set_timestamp (&rtp,
        gst_rtp_buffer_get_timestamp (&rtp) + jumps[n / 100 % 4]);
    gst_rtp_buffer_unmap (&rtp);
    push_late (h, buffer, n, 0);
    wait_decided (h, n + 1);
  }
  for (guint number = 0; number < 999; n_pulled++) {
    GstBuffer *out = gst_harness_pull (h);

    number = number_of (out);
    fail_unless (GST_CLOCK_DIFF (sent (number), GST_BUFFER_PTS (out)) <=
        2000 * (GstClockTimeDiff) MS);
    gst_buffer_unref (out);
  }
  fail_unless (n_pulled > 600, "%u", n_pulled);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_a_new_source_starts_anew)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  guint n;

  for (n = 0; n < 50; n++)
    pass (h, n, n == 20 ? 60 * MS : 0);
  for (; n < 100; n++) {
    GstBuffer *buffer = make_packet (n);
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp);
    gst_rtp_buffer_set_ssrc (&rtp, SSRC + 1);
    gst_rtp_buffer_unmap (&rtp);
    push_late (h, buffer, n, 0);
    fail_unless_equals_int64 (pull (h, n), 0);
  }
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_a_malformed_packet_is_no_trouble)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  GstBuffer *buffer;

  pass (h, 0, 0);
  for (guint size = 0; size < 14; size++) {
    buffer = gst_buffer_new_allocate (NULL, size, NULL);
    gst_buffer_memset (buffer, 0, 0x80, size);
    gst_harness_push (h, buffer);
  }
  for (guint n = 1; n < 10; n++)
    pass (h, n, 0);
  harness_free (h);
}

GST_END_TEST;

/* --- flushes, ends and states -------------------------------------------- */

GST_START_TEST (test_flush_and_restart_forget_the_stream)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  GstSegment segment;
  guint n;

  for (n = 0; n < 50; n++)
    pass (h, n, n == 20 ? 60 * MS : 0);
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_start ()));
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_stop (TRUE)));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));
  for (; n < 100; n++)
    fail_unless_equals_int64 (pass (h, n, 0), 0);
  fail_unless_equals_uint64 (stat_of (h, "qm-delay"), 0);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_an_end_of_stream_drains)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  GstEvent *event;
  guint n;

  for (n = 0; n < 30; n++)
    push (h, n, n == 10 ? 70 * MS : 0);
  push (h, 31, 0);              /* behind a gap */
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  while ((event = gst_harness_pull_event (h)) != NULL) {
    gboolean eos = GST_EVENT_TYPE (event) == GST_EVENT_EOS;

    gst_event_unref (event);
    if (eos)
      break;
  }
  fail_unless (event != NULL);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 31);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_states_up_and_down)
{
  GstHarness *h = harness_new ("qmjitterbuffer");

  for (guint round = 0; round < 3; round++) {
    for (guint n = 0; n < 20; n++)
      fail_unless (pass (h, 100 * round + n, n == 10 ? 30 * MS : 0) <=
          40 * (GstClockTimeDiff) MS);
    fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_NULL),
        GST_STATE_CHANGE_SUCCESS);
    gst_element_set_state (h->element, GST_STATE_PLAYING);
    gst_harness_set_src_caps_str (h, CAPS);
    {
      GstSegment segment;
      GstCaps *caps = gst_caps_from_string (CAPS);

      gst_segment_init (&segment, GST_FORMAT_TIME);
      gst_harness_push_event (h, gst_event_new_stream_start ("x"));
      gst_harness_push_event (h, gst_event_new_caps (caps));
      gst_caps_unref (caps);
      gst_harness_push_event (h, gst_event_new_segment (&segment));
    }
  }
  harness_free (h);
}

GST_END_TEST;

/* The inner one tells its bus of a new latency while it is being steered: that is when
 * adaptation ends. */
static GstBusSyncReply
stop_adapting (GstBus * bus, GstMessage * message, gpointer element)
{
  gboolean adapts;

  g_object_get (element, "adaptation", &adapts, NULL);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_LATENCY && adapts)
    g_object_set (element, "adaptation", FALSE, NULL);
  gst_message_unref (message);
  return GST_BUS_DROP;
}

/* What was set last holds, also where it is set in the middle of a change. */
GST_START_TEST (test_an_older_steering_does_not_undo_a_newer_one)
{
  GstHarness *h = harness_new ("qmjitterbuffer latency=70 ts-offset=5000000");
  GstElement *element = gst_harness_find_element (h, "qmjitterbuffer");
  GstElement *inner = gst_object_ref (GST_BIN (element)->children->data);
  GstBus *bus = gst_element_get_bus (inner);
  guint latency;
  gint64 ts_offset;

  gst_bus_set_sync_handler (bus, stop_adapting, element, NULL);
  push (h, 0, 0);
  gst_buffer_unref (gst_harness_pull (h));
  g_object_get (inner, "latency", &latency, "ts-offset", &ts_offset, NULL);
  fail_unless_equals_int (latency, 70);
  fail_unless_equals_int64 (ts_offset, 5 * MS);
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (bus);
  gst_object_unref (inner);
  gst_object_unref (element);
  harness_free (h);
}

GST_END_TEST;

static Suite *
qmjitterbuffer_wild_suite (void)
{
  Suite *suite = suite_create ("qmjitterbuffer-wild");
  TCase *tc;

  tc = tcase_create ("streams");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_half_of_the_packets_may_be_lost);
  tcase_add_test (tc, test_a_stall_is_forgotten);
  tcase_add_test (tc, test_a_backlog_at_the_start_is_shed);
  tcase_add_test (tc, test_another_payload_type_has_another_clock_rate);
  tcase_add_test (tc, test_a_leap_of_the_numbers_is_followed);
  tcase_add_test (tc, test_absurd_timestamps_neither_stall_nor_pile_up);
  tcase_add_test (tc, test_a_new_source_starts_anew);
  tcase_add_test (tc, test_a_malformed_packet_is_no_trouble);

  tc = tcase_create ("flushes, ends and states");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_flush_and_restart_forget_the_stream);
  tcase_add_test (tc, test_an_end_of_stream_drains);
  tcase_add_test (tc, test_states_up_and_down);
  tcase_add_test (tc, test_an_older_steering_does_not_undo_a_newer_one);
  return suite;
}

GST_CHECK_MAIN (qmjitterbuffer_wild);
