/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* asmprtcp among several: streams of one sender, receivers in one packet */
#include "asmprtcpalone.h"
#include "statscheck.h"

#define SECOND_SSRC 0x44444444u
#define MAX_STREAMS 16
#define MAX_TOLD 64
#define MAX_OWN_SSRCS 256

static void
push_stream (Fixture * f, guint32 ssrc, guint n)
{
  for (guint i = 0; i < n; i++) {
    fail_unless_equals_int (gst_harness_push (f->rtp, rtp_packet_new (ssrc,
                f->seq++, 160)), GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (f->rtp));
  }
}

static void
add_block (GstRTCPBuffer * rtcp, guint32 reporter, guint32 ssrc,
    guint8 fraction)
{
  GstRTCPPacket packet;
  gboolean known = FALSE;

  if (gst_rtcp_buffer_get_first_packet (rtcp, &packet))
    do
      known = gst_rtcp_packet_get_type (&packet) == GST_RTCP_TYPE_RR
          && gst_rtcp_packet_rr_get_ssrc (&packet) == reporter;
    while (!known && gst_rtcp_packet_move_to_next (&packet));
  if (!known) {
    gst_rtcp_buffer_add_packet (rtcp, GST_RTCP_TYPE_RR, &packet);
    gst_rtcp_packet_rr_set_ssrc (&packet, reporter);
  }
  gst_rtcp_packet_add_rb (&packet, ssrc, fraction, 0, 1000, 0, 0x10000, 0x8000);
}

static void
add_rate (GstRTCPBuffer * rtcp, guint32 reporter, guint32 ssrc, guint bps)
{
  FmxAsmpRate rate = { ssrc, bps, FMX_SECOND / 10, 0.02, bps, TRUE, FALSE,
    TRUE
  };
  guint8 data[FMX_ASMP_RATE_BYTES];
  FmxRtcpApp app = { FMX_ASMP_APP_RATE, reporter, {'A', 'S', 'M', 'P'}, data,
  fmx_asmp_rate_write (&rate, data, sizeof data)
  };

  fail_unless (gst_fairmix_rtcp_add_app (rtcp, &app, MTU));
}

/* Whichever is told of first */
GST_START_TEST (test_of_the_rates_for_several_streams_the_least_counts)
{
  for (guint first = 0; first < 2; first++) {
    GstBuffer *buffer = gst_rtcp_buffer_new (MTU);
    GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
    Fixture f;

    setup (&f, "sender");
    push_stream (&f, SSRC, 10);
    push_stream (&f, SECOND_SSRC, 10);
    gst_rtcp_buffer_map (buffer, GST_MAP_READWRITE, &rtcp);
    add_block (&rtcp, LISTENER, SSRC, 0);
    add_rate (&rtcp, LISTENER, SSRC, first == 0 ? 260000 : 300000);
    add_rate (&rtcp, LISTENER, SECOND_SSRC, first == 1 ? 260000 : 300000);
    gst_rtcp_buffer_unmap (&rtcp);
    push_rtcp (&f, buffer);
    fail_unless_equals_int (target (&f), 260000);
    fail_unless_equals_int (element_stat (f.element, "n-receivers"), 1);
    teardown (&f);
  }
}

GST_END_TEST;

/* Half was lost of one, nothing of the other: that explains a low rate. */
GST_START_TEST (test_of_the_losses_of_several_streams_the_most_counts)
{
  for (guint first = 0; first < 2; first++) {
    GstBuffer *buffer = gst_rtcp_buffer_new (MTU);
    GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
    Fixture f;

    setup (&f, "sender");
    push_stream (&f, SSRC, 10);
    push_stream (&f, SECOND_SSRC, 10);
    gst_rtcp_buffer_map (buffer, GST_MAP_READWRITE, &rtcp);
    add_block (&rtcp, LISTENER, SSRC, first == 0 ? 128 : 0);
    add_block (&rtcp, LISTENER, SECOND_SSRC, first == 1 ? 128 : 0);
    add_rate (&rtcp, LISTENER, SSRC, 150000);   /* of 500,000 half comes */
    gst_rtcp_buffer_unmap (&rtcp);
    push_rtcp (&f, buffer);
    fail_unless_equals_int (target (&f), 150000);
    teardown (&f);
  }
}

GST_END_TEST;

GST_START_TEST (test_all_who_report_in_one_packet_count)
{
  GstBuffer *buffer = gst_rtcp_buffer_new (MTU);
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  Fixture f;

  setup (&f, "sender");
  push_stream (&f, SSRC, 10);
  gst_rtcp_buffer_map (buffer, GST_MAP_READWRITE, &rtcp);
  add_block (&rtcp, LISTENER, SSRC, 0);
  add_rate (&rtcp, LISTENER, SSRC, 300000);
  add_block (&rtcp, OTHER, SSRC, 0);
  add_rate (&rtcp, OTHER, SSRC, 400000);
  gst_rtcp_buffer_unmap (&rtcp);
  push_rtcp (&f, buffer);
  fail_unless_equals_int (target (&f), 300000);
  fail_unless_equals_int (element_stat (f.element, "n-receivers"), 2);
  fail_unless_equals_int (element_stat (f.element, "n-rates"), 2);
  push_rtcp (&f, bye_new (LISTENER));
  fail_unless_equals_int (target (&f), 400000);
  teardown (&f);
}

GST_END_TEST;

/* Of two streams, whose highest sequence numbers are @seqs; a plain receiver's */
static GstBuffer *
report_on_both (Fixture * f, const guint32 * ssrcs, const guint32 * seqs)
{
  guint32 now = gst_util_uint64_scale (gst_clock_get_time (GST_CLOCK
          (f->clock)), 65536, GST_SECOND);
  GstBuffer *buffer = gst_rtcp_buffer_new (MTU);
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstRTCPPacket packet;

  gst_rtcp_buffer_map (buffer, GST_MAP_READWRITE, &rtcp);
  gst_rtcp_buffer_add_packet (&rtcp, GST_RTCP_TYPE_RR, &packet);
  gst_rtcp_packet_rr_set_ssrc (&packet, LISTENER);
  for (guint i = 0; i < 2; i++)
    gst_rtcp_packet_add_rb (&packet, ssrcs[i], 0, 0, seqs[i], 0,
        now - RTT_MID32 - 65536, 65536);
  gst_rtcp_buffer_unmap (&rtcp);
  return buffer;
}

/* One of them pauses, or has ended without a word, whichever is told of first: the other
 * one comes.  Where none does, all is lost. */
GST_START_TEST (test_only_whom_no_stream_reaches_gets_nothing)
{
  const guint32 ssrcs[] = { SSRC, SECOND_SSRC };

  for (guint paused = 0; paused < 3; paused++) {
    guint32 seqs[2] = { 1000, 2000 };
    Fixture f;

    setup (&f, "sender");
    push_stream (&f, SSRC, 10);
    push_stream (&f, SECOND_SSRC, 10);
    for (guint i = 0; i < 4; i++) {
      push_rtcp (&f, report_on_both (&f, ssrcs, seqs));
      push_stream (&f, ssrcs[paused == 0], 50);
      gst_test_clock_advance_time (f.clock, 50 * FRAME);
      if (paused < 2)
        seqs[paused == 0] += 50;
    }
    if (paused < 2)
      fail_unless (target (&f) >= 500000, "%u", target (&f));
    else
      fail_unless (target (&f) < 100000, "%u", target (&f));
    teardown (&f);
  }
}

GST_END_TEST;

/* Returns: how many structures the list @list has; @field of the one of @ssrc, if that
 * is there */
static guint
look_up (Fixture * f, const gchar * list, guint32 ssrc, const gchar * field,
    gdouble * number)
{
  GstStructure *stats;

  g_object_get (f->element, "stats", &stats, NULL);
  return stats_look_up (stats, list, ssrc, field, number);
}

GST_START_TEST (test_the_table_has_the_limiting_one_and_no_more_than_64)
{
  gdouble rate = 0.0;
  Fixture f;

  setup (&f, "sender");
  push_stream (&f, SSRC, 10);
  for (guint i = 0; i < 100; i++)
    push_rate (&f, 1000 + i, i == 99 ? 300000 : 400000, 0.01);
  fail_unless_equals_int (look_up (&f, "receivers", 1099, "rate", &rate),
      MAX_TOLD);
  fail_unless_equals_float (rate, 300000.0);
  teardown (&f);
}

GST_END_TEST;

/* Nobody has to make room while it is heard, be it less often than the flood. */
GST_START_TEST (test_a_flood_of_streams_takes_no_place_of_one_that_is_heard)
{
  gdouble n_packets = 0.0;
  Fixture f;

  setup (&f, "receiver");
  for (guint i = 0; i < 200; i++) {
    push_stream (&f, SSRC, 1);
    for (guint k = 0; k < 2 * MAX_STREAMS; k++)
      push_stream (&f, 1000 + i * 2 * MAX_STREAMS + k, 1);
    gst_test_clock_advance_time (f.clock, FRAME);
  }
  fail_unless_equals_int (look_up (&f, "streams", SSRC, "n-packets",
          &n_packets), MAX_STREAMS);
  fail_unless_equals_float (n_packets, 200.0);
  n_packets = 0.0;
  look_up (&f, "streams", 1100, "n-packets", &n_packets);
  fail_unless_equals_float (n_packets, 0.0);
  /* when others have ended, a new one has its turn */
  gst_test_clock_advance_time (f.clock, 16 * GST_SECOND);
  push_stream (&f, SSRC, 1);
  push_stream (&f, SECOND_SSRC, 1);
  fail_unless_equals_int (look_up (&f, "streams", SECOND_SSRC, "n-packets",
          &n_packets), MAX_STREAMS);
  fail_unless_equals_float (n_packets, 1.0);
  look_up (&f, "streams", SSRC, "n-packets", &n_packets);
  fail_unless_equals_float (n_packets, 201.0);
  teardown (&f);
}

GST_END_TEST;

/* They are held against one TCP together. */
GST_START_TEST (test_what_comes_is_of_all_streams_together)
{
  gdouble bps = 0.0;
  Fixture f;

  setup (&f, "receiver");
  for (guint i = 0; i < 100; i++) {
    push_stream (&f, SSRC, 1);
    push_stream (&f, SECOND_SSRC, 1);
    gst_test_clock_advance_time (f.clock, FRAME);
  }
  look_up (&f, "streams", SSRC, "received-bitrate", &bps);
  /* 200 bytes in each 20 ms, twice */
  fail_unless (bps > 150000.0 && bps < 170000.0, "%g", bps);
  teardown (&f);
}

GST_END_TEST;

/* Each one is heard for a moment, and then no more. */
GST_START_TEST (test_streams_that_end_without_a_word_leave_their_places)
{
  Fixture f;

  setup (&f, "receiver");
  for (guint i = 0; i < 3 * MAX_STREAMS; i++) {
    gdouble n_packets = 0.0;

    push_stream (&f, 1000 + i, 5);
    fail_unless_equals_int (look_up (&f, "streams", 1000 + i, "n-packets",
            &n_packets), MIN (i + 1, MAX_STREAMS));
    fail_unless_equals_float (n_packets, 5.0);
    gst_test_clock_advance_time (f.clock, 15 * GST_SECOND / MAX_STREAMS + 1);
  }
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_who_falls_silent_is_forgotten_after_25_s)
{
  GstClockTime start;
  Fixture f;

  setup (&f, "sender");
  push_stream (&f, SSRC, 10);
  for (guint i = 0; i < 100; i++)
    push_rate (&f, 1000 + i, 300000, 0.02);
  fail_unless_equals_int (target (&f), 300000);
  start = gst_clock_get_time (GST_CLOCK (f.clock));
  clock_advance_to (f.clock, 1, start + 25 * GST_SECOND - GST_MSECOND);
  fail_unless_equals_int (target (&f), 300000);
  fail_unless_equals_int (element_stat (f.element, "n-receivers"), 100);
  fail_unless (element_stat (f.element, "limiting-ssrc") > 0);
  clock_advance_to (f.clock, 1, start + 25 * GST_SECOND + GST_MSECOND);
  fail_unless_equals_int (target (&f), 300000);
  fail_unless_equals_int (element_stat (f.element, "n-receivers"), 0);
  fail_unless_equals_int (element_stat (f.element, "n-timed-out"), 100);
  fail_unless_equals_int (element_stat (f.element, "limiting-ssrc"), 0);
  push_rate (&f, OTHER, 400000, 0.01);
  fail_unless_equals_int (target (&f), 400000);
  teardown (&f);
}

GST_END_TEST;

/* Returns: whether a report that tells @bps for @ssrc counts */
static gboolean
counts_for (Fixture * f, guint32 ssrc, guint bps)
{
  GstBuffer *buffer = gst_rtcp_buffer_new (MTU);
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;

  gst_rtcp_buffer_map (buffer, GST_MAP_READWRITE, &rtcp);
  add_block (&rtcp, LISTENER, ssrc, 0);
  add_rate (&rtcp, LISTENER, ssrc, bps);
  gst_rtcp_buffer_unmap (&rtcp);
  push_rtcp (f, buffer);
  return target (f) == bps;
}

/* ... to cost bounded memory.  Who sends among many that come and go is no less heard. */
GST_START_TEST (test_of_its_own_streams_a_sender_forgets_the_first)
{
  guint bps = 300000;
  Fixture f;

  setup (&f, "sender");
  for (guint i = 0; i < 1000; i++) {
    push_stream (&f, SSRC, 1);
    push_stream (&f, 1000 + i, 1);
    fail_unless (counts_for (&f, SSRC, ++bps), "after %u", i + 1);
    fail_unless (counts_for (&f, 1000 + i, ++bps));
  }
  for (guint i = 0; i < 1000 - MAX_OWN_SSRCS; i++)
    fail_if (counts_for (&f, 1000 + i, bps + 1));
  push_stream (&f, 1000, 1);
  fail_unless (counts_for (&f, 1000, bps + 1));
  teardown (&f);
}

GST_END_TEST;

static Suite *
asmprtcp_streams_suite (void)
{
  Suite *s = suite_create ("asmprtcp-streams");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_of_the_rates_for_several_streams_the_least_counts);
  tcase_add_test (tc, test_of_the_losses_of_several_streams_the_most_counts);
  tcase_add_test (tc, test_all_who_report_in_one_packet_count);
  tcase_add_test (tc, test_only_whom_no_stream_reaches_gets_nothing);
  tcase_add_test (tc, test_the_table_has_the_limiting_one_and_no_more_than_64);
  tcase_add_test (tc,
      test_a_flood_of_streams_takes_no_place_of_one_that_is_heard);
  tcase_add_test (tc, test_what_comes_is_of_all_streams_together);
  tcase_add_test (tc, test_streams_that_end_without_a_word_leave_their_places);
  tcase_add_test (tc, test_who_falls_silent_is_forgotten_after_25_s);
  tcase_add_test (tc, test_of_its_own_streams_a_sender_forgets_the_first);
  return s;
}

GST_CHECK_MAIN (asmprtcp_streams);
