/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Packets that do not come from a network source: their timestamps are the
 * sender's, on which the network leaves no trace. */

#include "fairmix/base/fmx-rng.h"
#include "qmjitterbuffercheck.h"

#define N_PACKETS 1000
#define VIDEO_CAPS "application/x-rtp, media=(string)video, " \
    "clock-rate=(int)48000, encoding-name=(string)VP8, payload=(int)96"

/* Packet @n, stamped when it was sent, arrives @delay later. */
static void
push_stamped_by_sender (GstHarness * h, guint n, GstClockTime delay)
{
  GstBuffer *buffer = make_packet (n);

  gst_harness_set_time (h, sent (n) + delay);
  GST_BUFFER_PTS (buffer) = sent (n);
  GST_BUFFER_DTS (buffer) = sent (n);
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
}

typedef struct
{
  guint n_heard, n_late;
} Heard;

/* Packets in their order, the @n-th delayed by @delays[n]; @video: all come out */
static Heard
hear (GstHarness * h, const GstClockTime * delays, guint n_packets,
    gboolean video)
{
  GstClockTime now = 0;
  Heard heard = { 0, 0 };

  for (guint n = 0; n < n_packets; n++) {
    GstBuffer *buffer;

    now = MAX (now, sent (n) + delays[n]);
    push_stamped_by_sender (h, n, now - sent (n));
    if (video) {
      buffer = gst_harness_pull (h);
    } else {
      wait_decided (h, n + 1);
      if (stat_of (h, "qm-played") == heard.n_heard + heard.n_late)
        continue;
      buffer = gst_harness_pull (h);
    }
    if (GST_BUFFER_PTS (buffer) < now)
      heard.n_late++;
    else
      heard.n_heard++;
    gst_buffer_unref (buffer);
  }
  return heard;
}

GST_START_TEST (test_a_senders_timestamps_do_not_hide_the_jitter)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  GstClockTime delays[N_PACKETS];
  Heard heard;
  FmxRng rng;

  fmx_rng_init (&rng, 5);
  for (guint n = 0; n < N_PACKETS; n++)
    delays[n] = 10 * MS + (GstClockTime) (fmx_rng_next_unit (&rng) * 40 * MS);
  heard = hear (h, delays, N_PACKETS, FALSE);
  fail_unless_equals_int (heard.n_late, 0);
  fail_unless (heard.n_heard >= N_PACKETS - 5, "%u heard", heard.n_heard);
  fail_unless (stat_of (h, "qm-clocked") > 900);
  harness_free (h);
}

GST_END_TEST;

/* A pipeline that took a second and a half to start: what was sent meanwhile
 * comes at once, and none of it is due in the past. */
GST_START_TEST (test_video_stamped_before_the_start_is_not_late)
{
  GstHarness *h = harness_new ("qmjitterbuffer latency=200");
  GstClockTime delays[200];
  Heard heard;

  gst_harness_set_src_caps_str (h, VIDEO_CAPS);
  for (guint n = 0; n < 200; n++)
    delays[n] = n < 75 ? (75 - n) * PACKET : 0;
  heard = hear (h, delays, 200, TRUE);
  fail_unless_equals_int (heard.n_late, 0);
  fail_unless_equals_int (heard.n_heard, 200);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_a_network_sources_timestamps_are_believed)
{
  GstHarness *h = harness_new ("qmjitterbuffer");

  for (guint n = 0; n < 200; n++)
    pass (h, n, n % 3 * MS);
  fail_unless_equals_uint64 (stat_of (h, "qm-clocked"), 0);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_a_stamp_from_the_future_is_one_packets)
{
  static const GstClockTime ahead[] = { 3600 * GST_SECOND, 3 * GST_SECOND };

  for (guint i = 0; i < G_N_ELEMENTS (ahead); i++) {
    GstHarness *h = harness_new ("qmjitterbuffer");
    GstBuffer *buffer = make_packet (100);
    guint n;

    for (n = 0; n < 100; n++)
      fail_unless_equals_int64 (pass (h, n, 0), 0);
    gst_harness_set_time (h, sent (n));
    GST_BUFFER_PTS (buffer) = sent (n) + ahead[i];
    GST_BUFFER_DTS (buffer) = sent (n) + ahead[i];
    fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
    wait_decided (h, ++n);
    for (; n < 150; n++) {
      push (h, n, 0);
      wait_decided (h, n + 1);
    }
    for (n = 0; n < 149;) {
      buffer = gst_harness_pull (h);
      n = number_of (buffer);
      fail_unless (n == 100 || GST_BUFFER_PTS (buffer) == sent (n),
          "%u has %" GST_TIME_FORMAT, n,
          GST_TIME_ARGS (GST_BUFFER_PTS (buffer)));
      gst_buffer_unref (buffer);
    }
    harness_free (h);
  }
}

GST_END_TEST;

/* Packet @n comes @delay late, and is stamped in @segment; returns how much later
 * than sent it is to be played. */
static GstClockTimeDiff
pass_in (GstHarness * h, const GstSegment * segment, guint n,
    GstClockTime delay)
{
  GstBuffer *buffer = make_packet (n);
  GstClockTime time = sent (n) + delay;

  gst_harness_set_time (h, time);
  time = gst_segment_position_from_running_time (segment, GST_FORMAT_TIME,
      time);
  GST_BUFFER_PTS (buffer) = time;
  GST_BUFFER_DTS (buffer) = time;
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  buffer = gst_harness_pull (h);
  time = gst_segment_to_running_time (segment, GST_FORMAT_TIME,
      GST_BUFFER_PTS (buffer));
  gst_buffer_unref (buffer);
  return GST_CLOCK_DIFF (sent (n), time);
}

GST_START_TEST (test_positions_are_those_of_the_segment)
{
  static const GstClockTime starts[][3] = {     /* start, offset, base */
    {0, 0, 0}, {7 * GST_SECOND, 0, 0}, {0, GST_SECOND, 2 * GST_SECOND},
    {3 * GST_SECOND, 5 * MS, 9 * GST_SECOND},
  };

  for (guint i = 0; i < G_N_ELEMENTS (starts); i++) {
    GstHarness *h = harness_new ("qmjitterbuffer");
    GstSegment segment;

    gst_segment_init (&segment, GST_FORMAT_TIME);
    segment.start = starts[i][0];
    segment.offset = starts[i][1];
    segment.base = starts[i][2];
    fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));
    for (guint n = 0; n < 40; n++)
      fail_unless_equals_int64 (pass_in (h, &segment, n, 0), 0);
    fail_unless_equals_int64 (pass_in (h, &segment, 40, 12 * MS), 12 * MS);
    fail_unless_equals_uint64 (stat_of (h, "qm-clocked"), 0);
    harness_free (h);
  }
}

GST_END_TEST;

/* What comes after it is stamped with running times, as before. */
GST_START_TEST (test_a_segment_in_bytes_moves_nothing)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  GstSegment segment;
  guint n;

  for (n = 0; n < 20; n++)
    pass (h, n, 0);
  gst_segment_init (&segment, GST_FORMAT_BYTES);
  segment.start = sent (1000);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  for (; n < 40; n++)
    pass (h, n, 0);
  fail_unless_equals_int64 (pass (h, n, 12 * MS), 12 * MS);
  fail_unless_equals_uint64 (stat_of (h, "qm-restarts"), 0);
  harness_free (h);
}

GST_END_TEST;

static Suite *
qmjitterbuffer_stamps_suite (void)
{
  Suite *s = suite_create ("qmjitterbuffer-stamps");
  TCase *tc = tcase_create ("stamps");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_a_senders_timestamps_do_not_hide_the_jitter);
  tcase_add_test (tc, test_video_stamped_before_the_start_is_not_late);
  tcase_add_test (tc, test_a_network_sources_timestamps_are_believed);
  tcase_add_test (tc, test_a_stamp_from_the_future_is_one_packets);
  tcase_add_test (tc, test_positions_are_those_of_the_segment);
  tcase_add_test (tc, test_a_segment_in_bytes_moves_nothing);
  return s;
}

GST_CHECK_MAIN (qmjitterbuffer_stamps);
