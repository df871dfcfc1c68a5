/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* When packets are played. */

#include "qmjitterbuffercheck.h"

#include "fairmix/wire/fmx-playout-delay.h"

/* The queue monitor alone: a packet that is late is waited for */
#define MONITOR "qmjitterbuffer memory-time=0"

GST_START_TEST (test_a_steady_stream_is_played_as_it_was_sent)
{
  GstHarness *h = harness_new (MONITOR);

  for (guint n = 0; n < 500; n++)
    fail_unless_equals_int64 (pass (h, n, 3 * MS), 3 * MS);
  fail_unless_equals_uint64 (stat_of (h, "qm-shrunk"), 0);
  fail_unless_equals_uint64 (stat_of (h, "num-pushed"), 500);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_the_delay_grows_for_a_late_packet)
{
  GstHarness *h = harness_new (MONITOR);
  GstBuffer *buffer;
  GstMessage *message;
  const GstStructure *s;
  guint64 before, after;
  guint ssrc;
  gint64 adjustment = 0;
  GstEvent *event;

  pass (h, 0, 0);
  pass (h, 1, 0);
  fail_unless (pop_message (h, "fairmix-playout-adaptation") == NULL);
  while ((event = gst_harness_try_pull_event (h)))
    gst_event_unref (event);
  push (h, 2, 45 * MS);
  buffer = gst_harness_pull (h);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), sent (2) + 46 * MS);
  fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_RESYNC));
  fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT));
  gst_buffer_unref (buffer);

  message = pop_message (h, "fairmix-playout-adaptation");
  fail_unless (message != NULL);
  s = gst_message_get_structure (message);
  fail_unless (gst_structure_get (s, "ssrc", G_TYPE_UINT, &ssrc, "before",
          G_TYPE_UINT64, &before, "after", G_TYPE_UINT64, &after, NULL));
  fail_unless_equals_int (ssrc, SSRC);
  fail_unless_equals_uint64 (before, 0);
  fail_unless_equals_uint64 (after, 46 * MS);
  fail_unless_equals_string (gst_structure_get_string (s, "reason"), "late");
  gst_message_unref (message);

  event = gst_harness_pull_event (h);
  fail_unless (gst_event_has_name (event, "fairmix-playout-adjust"));
  fail_unless (gst_structure_get_int64 (gst_event_get_structure (event),
          "adjustment", &adjustment));
  fail_unless_equals_int64 (adjustment, 46 * MS);
  gst_event_unref (event);

  push (h, 3, 0);
  buffer = gst_harness_pull (h);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), sent (3) + 46 * MS);
  fail_if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_RESYNC));
  gst_buffer_unref (buffer);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_a_standing_queue_loses_a_packet_and_no_time)
{
  GstHarness *h = harness_new (MONITOR);
  GstClockTimeDiff delay;
  GstBuffer *buffer;
  GstMessage *message;
  guint n;

  pass (h, 0, 0);
  delay = pass (h, 1, 55 * MS);
  fail_unless_equals_int64 (delay, 56 * MS);
  for (n = 2; n < 200; n++) {
    push (h, n, 0);
    wait_decided (h, n + 1);
    if (stat_of (h, "qm-shrunk") > 0)
      break;
    fail_unless_equals_int64 (pull (h, n), 56 * MS);
  }
  fail_unless (n < 200);
  /* packet n has gone; n + 1 takes its slot */
  push (h, n + 1, 0);
  buffer = gst_harness_pull (h);
  fail_unless_equals_int (number_of (buffer), n + 1);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), sent (n) + 56 * MS);
  fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_RESYNC));
  gst_buffer_unref (buffer);
  message = pop_message (h, "fairmix-playout-adaptation");      /* late */
  gst_message_unref (message);
  message = pop_message (h, "fairmix-playout-adaptation");
  fail_unless_equals_string (gst_structure_get_string
      (gst_message_get_structure (message), "reason"), "standing-queue");
  gst_message_unref (message);
  harness_free (h);
}

GST_END_TEST;

/* Asked to, or because a stretcher has said that it is there */
GST_START_TEST (test_shrink_shift_plays_every_packet)
{
  gboolean asked = __i__ == 0;
  GstHarness *h = harness_new (asked ? MONITOR " shrink=shift" : MONITOR);
  GstMessage *message;
  GstClockTimeDiff delay;
  guint64 n_shrunk = 0;

  pass (h, 0, 0);
  if (!asked)
    fail_unless (gst_harness_push_upstream_event (h,
            gst_event_new_custom (GST_EVENT_CUSTOM_UPSTREAM,
                gst_structure_new_empty ("fairmix-playout-stretcher"))));
  delay = pass (h, 1, 55 * MS);
  for (guint n = 2; n < 1000; n++) {
    GstClockTimeDiff now = pass (h, n, 0);

    /* the packet that would have been dropped is the first to come earlier */
    fail_unless_equals_int64 (delay - now,
        (stat_of (h, "qm-shrunk") - n_shrunk) * PACKET);
    n_shrunk = stat_of (h, "qm-shrunk");
    delay = now;
  }
  fail_unless (n_shrunk > 0);
  fail_unless_equals_uint64 (stat_of (h, "qm-dropped"), 0);
  while ((message = pop_message (h, "fairmix-playout-adaptation"))) {
    gboolean dropped;

    fail_unless (gst_structure_get_boolean (gst_message_get_structure (message),
            "dropped", &dropped) && !dropped);
    gst_message_unref (message);
  }
  fail_unless (stat_of (h, "qm-delay") <= 40 * MS);
  harness_free (h);
}

GST_END_TEST;

/* A packet is missing: those behind it wait for its slot and no longer. */
GST_START_TEST (test_a_gap_is_held_until_its_slot)
{
  GstHarness *h = harness_new (MONITOR " do-lost=true");
  GstTestClock *clock = gst_harness_get_testclock (h);
  GstEvent *event;
  GstClockID id;
  guint64 timestamp = 0;
  guint n;

  for (n = 0; n < 100; n++)
    pass (h, n, 0);
  pass (h, n++, 75 * MS);       /* the delay is 76 ms now */
  for (; n < 110; n++)
    pass (h, n, 0);
  while ((event = gst_harness_try_pull_event (h)))
    gst_event_unref (event);

  push (h, 111, 0);             /* 110 is missing */
  gst_test_clock_wait_for_next_pending_id (clock, &id);
  fail_unless (ABS (GST_CLOCK_DIFF (gst_clock_id_get_time (id),
              sent (110) + 76 * MS)) <= 5 * MS);
  gst_clock_id_unref (id);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  fail_unless (gst_harness_crank_single_clock_wait (h));
  fail_unless_equals_int64 (pull (h, 111), 76 * MS);

  event = gst_harness_pull_event (h);
  fail_unless (gst_event_has_name (event, "GstRTPPacketLost"));
  fail_unless (gst_structure_get_uint64 (gst_event_get_structure (event),
          "timestamp", &timestamp));
  fail_unless (ABS (GST_CLOCK_DIFF (timestamp,
              sent (110) + 76 * MS)) <= 1 * MS);
  gst_event_unref (event);
  gst_object_unref (clock);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_reordered_packets_come_out_in_order)
{
  GstHarness *h = harness_new (MONITOR);
  guint n;

  for (n = 0; n < 100; n++)
    pass (h, n, 0);
  pass (h, n++, 75 * MS);
  for (; n < 110; n++)
    pass (h, n, 0);
  push (h, 111, 0);
  push (h, 110, 25 * MS);
  fail_unless_equals_int64 (pull (h, 110), 76 * MS);
  fail_unless_equals_int64 (pull (h, 111), 76 * MS);
  harness_free (h);
}

GST_END_TEST;

static GstPadProbeReturn
keep_blocked (GstPad * pad G_GNUC_UNUSED,
    GstPadProbeInfo * info G_GNUC_UNUSED, gpointer user G_GNUC_UNUSED)
{
  return GST_PAD_PROBE_OK;
}

/* A sink with a full buffer holds the streaming thread: no packet is late. */
GST_START_TEST (test_back_pressure_is_not_lateness)
{
  GstHarness *h = harness_new (MONITOR);
  GstElement *e = gst_harness_find_element (h, "qmjitterbuffer");
  GstPad *src = gst_element_get_static_pad (e, "src");
  gulong probe;
  guint n;

  for (n = 0; n < 50; n++)
    pass (h, n, 0);
  probe = gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_BLOCK
      | GST_PAD_PROBE_TYPE_BUFFER, keep_blocked, NULL, NULL);
  for (n = 50; n < 80; n++)
    push (h, n, 0);
  gst_pad_remove_probe (src, probe);
  for (n = 50; n < 80; n++)
    fail_unless_equals_int64 (pull (h, n), 0);
  fail_unless_equals_uint64 (stat_of (h, "qm-grown"), 0);
  gst_object_unref (src);
  gst_object_unref (e);
  harness_free (h);
}

GST_END_TEST;

/* A packet whose time stamp says nothing, @delay after its turn.  Returns: when it
 * is to be played; none if it was dropped. */
static GstClockTime
pass_unstamped (GstHarness * h, guint n, GstClockTime delay)
{
  guint64 n_dropped = stat_of (h, "qm-dropped");
  GstBuffer *buffer = make_packet (n);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  GstClockTime pts;

  gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp);
  gst_rtp_buffer_set_timestamp (&rtp, n);
  gst_rtp_buffer_unmap (&rtp);
  push_late (h, buffer, n, delay);
  while (stat_of (h, "qm-played") + stat_of (h, "qm-dropped") < n + 1)
    g_thread_yield ();
  if (stat_of (h, "qm-dropped") > n_dropped)
    return GST_CLOCK_TIME_NONE;
  buffer = gst_harness_pull (h);
  pts = GST_BUFFER_PTS (buffer);
  gst_buffer_unref (buffer);
  return pts;
}

/* [nanoManipulator 3.2] */
GST_START_TEST (test_arrival_timing_plays_at_the_mean_interval)
{
  GstHarness *h = harness_new ("qmjitterbuffer timing=arrival");
  GstClockTime last = GST_CLOCK_TIME_NONE;

  for (guint n = 0; n < 300; n++) {
    GstClockTime pts = pass_unstamped (h, n, (n * 7 % 5) * 3 * MS);

    if (pts == GST_CLOCK_TIME_NONE)
      continue;
    if (n > 100)
      fail_unless (ABS (GST_CLOCK_DIFF (last + PACKET, pts)) < 6 * MS);
    last = pts;
  }
  fail_unless (ABS (GST_CLOCK_DIFF (PACKET,
              stat_of (h, "qm-mean-interarrival"))) < 2 * MS);
  /* the monitor tries, every other second, whether a shorter queue will do */
  fail_unless (stat_of (h, "qm-dropped") <= 4);
  harness_free (h);
}

GST_END_TEST;

/* [nanoManipulator 3.2] A burst of eight after a stall makes a queue; ten
 * arrivals later at the latest each packet too many is dropped, for any media. */
GST_START_TEST (test_arrival_timing_monitors_its_queue)
{
  GstHarness *h = harness_new ("qmjitterbuffer timing=arrival threshold=10 "
      "length=2 decay=1 after-drop=kept");
  GstClockTime longest = 0, pts;

  gst_harness_set_src_caps_str (h, "application/x-rtp,media=application,"
      "clock-rate=8000,encoding-name=X-TEST");
  for (guint n = 0; n < 300; n++) {
    guint in_stall = n >= 50 && n < 58 ? 58 - n : 0;

    pts = pass_unstamped (h, n, in_stall * PACKET);
    if (pts == GST_CLOCK_TIME_NONE)
      continue;
    longest = MAX (longest, pts - sent (n) - in_stall * PACKET);
    if (n >= 200)
      fail_unless (pts < sent (n) + 3 * PACKET, "packet %u", n);
  }
  fail_unless (longest > 5 * PACKET);
  fail_unless (stat_of (h, "qm-dropped") >= 4);
  harness_free (h);
}

GST_END_TEST;

/* @field of the statistics, of the queue's position @k */
static guint64
stat_at (GstHarness * h, const gchar * field, guint k)
{
  GstElement *element = gst_harness_find_element (h, "qmjitterbuffer");
  GstStructure *stats;
  guint64 value;

  g_object_get (element, "stats", &stats, NULL);
  gst_object_unref (element);
  value = g_value_get_uint64 (gst_value_array_get_value
      (gst_structure_get_value (stats, field), k - 1));
  gst_structure_free (stats);
  return value;
}

GST_START_TEST (test_the_thresholds_are_as_the_properties_say)
{
  static const struct
  {
    const gchar *launch;
    guint64 first[4];           /* thresholds of positions 1 to 4 */
  } rows[] = {
    {"qmjitterbuffer", {G_MAXUINT64, 1600 * MS, 800 * MS, 400 * MS}},
    {"qmjitterbuffer threshold-time=1000",
        {G_MAXUINT64, 1000 * MS, 500 * MS, 250 * MS}},
    {"qmjitterbuffer length=1", {1600 * MS, 800 * MS, 400 * MS, 200 * MS}},
    {"qmjitterbuffer decay=4", {G_MAXUINT64, 1600 * MS, 400 * MS, 100 * MS}},
    {"qmjitterbuffer threshold=100", {G_MAXUINT64, 100, 50, 25}},
  };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    GstHarness *h = harness_new (rows[r].launch);

    pass (h, 0, 0);
    for (guint k = 1; k <= 4; k++)
      fail_unless_equals_uint64 (stat_at (h, "qm-thresholds", k),
          rows[r].first[k - 1]);
    harness_free (h);
  }
}

GST_END_TEST;

GST_START_TEST (test_after_a_drop_the_counts_are_as_the_property_says)
{
  /* whether the positions 1 and 2 have counts then */
  static const struct
  {
    const gchar *launch;
    gboolean counts[2];
  } rows[] = {
    {MONITOR " after-drop=kept", {TRUE, TRUE}},
    {MONITOR " after-drop=shift", {TRUE, FALSE}},
    {MONITOR " after-drop=reset", {FALSE, FALSE}},
  };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    GstHarness *h = harness_new (rows[r].launch);
    guint n = 2;

    pass (h, 0, 0);
    pass (h, 1, 60 * MS);       /* from now on two packets wait */
    while (stat_of (h, "qm-shrunk") == 0) {
      push (h, n++, 0);
      wait_decided (h, n);
    }
    for (guint k = 1; k <= 2; k++)
      fail_unless (rows[r].counts[k - 1]
          == (stat_at (h, "qm-counts", k) > 1000 * MS));
    harness_free (h);
  }
}

GST_END_TEST;

GST_START_TEST (test_the_delay_begins_at_its_minimum_and_can_be_read)
{
  GstHarness *h = harness_new (MONITOR " min-delay=30");
  GstElement *element = gst_harness_find_element (h, "qmjitterbuffer");
  guint64 delay;

  fail_unless_equals_int64 (pass (h, 0, 0), 30 * MS);
  fail_unless_equals_int64 (pass (h, 1, 45 * MS), 46 * MS);
  g_object_get (element, "delay", &delay, NULL);
  fail_unless_equals_uint64 (delay, 46 * MS);
  gst_object_unref (element);
  harness_free (h);
}

GST_END_TEST;

#define DELAY_CAPS CAPS ", extmap-5=(string)" \
    "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"

/* Asks for a delay of @least; it is not asked for if that is < 0 */
static GstClockTimeDiff
pass_asking (GstHarness * h, guint n, GstClockTimeDiff least)
{
  GstBuffer *buffer = make_packet (n);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint8 bytes[FMX_PLAYOUT_DELAY_BYTES];
  GstClockTimeDiff delay;

  if (least >= 0) {
    fmx_playout_delay_write (bytes, sizeof bytes, least, 1000 * MS);
    gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
    gst_rtp_buffer_add_extension_onebyte_header (&rtp, 5, bytes, sizeof bytes);
    gst_rtp_buffer_unmap (&rtp);
  }
  push_late (h, buffer, n, 0);
  buffer = gst_harness_pull (h);
  delay = GST_CLOCK_DIFF (sent (n), GST_BUFFER_PTS (buffer));
  gst_buffer_unref (buffer);
  return delay;
}

GST_START_TEST (test_the_sender_may_ask_for_a_longer_delay)
{
  GstHarness *h = harness_new ("qmjitterbuffer min-delay=30 max-delay=300");

  gst_harness_set_src_caps_str (h, DELAY_CAPS);
  fail_unless_equals_int64 (pass_asking (h, 0, 0), 30 * MS);
  fail_unless_equals_int64 (pass_asking (h, 1, 120 * MS), 120 * MS);
  fail_unless_equals_int64 (pass_asking (h, 2, -1), 120 * MS);
  fail_unless_equals_uint64 (stat_of (h, "qm-asked-delay"), 120 * MS);
  fail_unless_equals_int64 (pass_asking (h, 3, 900 * MS), 300 * MS);
  harness_free (h);
}

GST_END_TEST;

/* An extension of that number that the caps do not explain says nothing. */
GST_START_TEST (test_nobody_asks_for_what_the_caps_do_not_have)
{
  GstHarness *h = harness_new ("qmjitterbuffer");

  fail_unless_equals_int64 (pass_asking (h, 0, 120 * MS), 0);
  fail_unless_equals_uint64 (stat_of (h, "qm-asked-delay"), 0);
  harness_free (h);
}

GST_END_TEST;

static Suite *
qmjitterbuffer_playout_suite (void)
{
  Suite *suite = suite_create ("qmjitterbuffer-playout");
  TCase *tc;

  tc = tcase_create ("playout");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_a_steady_stream_is_played_as_it_was_sent);
  tcase_add_test (tc, test_the_delay_grows_for_a_late_packet);
  tcase_add_test (tc, test_a_standing_queue_loses_a_packet_and_no_time);
  tcase_add_loop_test (tc, test_shrink_shift_plays_every_packet, 0, 2);
  tcase_add_test (tc, test_a_gap_is_held_until_its_slot);
  tcase_add_test (tc, test_reordered_packets_come_out_in_order);
  tcase_add_test (tc, test_back_pressure_is_not_lateness);
  tcase_add_test (tc, test_arrival_timing_plays_at_the_mean_interval);
  tcase_add_test (tc, test_arrival_timing_monitors_its_queue);
  tcase_add_test (tc, test_the_thresholds_are_as_the_properties_say);
  tcase_add_test (tc, test_after_a_drop_the_counts_are_as_the_property_says);
  tcase_add_test (tc, test_the_delay_begins_at_its_minimum_and_can_be_read);
  tcase_add_test (tc, test_the_sender_may_ask_for_a_longer_delay);
  tcase_add_test (tc, test_nobody_asks_for_what_the_caps_do_not_have);
  return suite;
}

GST_CHECK_MAIN (qmjitterbuffer_playout);
