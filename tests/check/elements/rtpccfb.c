/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rtpccfbcheck.h"

#include "fairmix/base/fmx-units.h"
#include "fairmix/wire/fmx-ccfb.h"

/* Reads all metrics of a report into @metrics, returns how many. */
static guint
read_report (GstBuffer * report, FmxCcfbMetric * metrics, guint max)
{
  FmxCcfbReader reader;
  GstMapInfo map;
  guint32 sender;
  guint n = 0;

  fail_unless (gst_rtcp_buffer_validate_reduced (report));
  gst_buffer_map (report, &map, GST_MAP_READ);
  fail_unless (fmx_ccfb_reader_init_packet (&reader, map.data, map.size,
          &sender));
  fail_unless_equals_int (sender, OWN_SSRC);
  while (n < max && fmx_ccfb_reader_next (&reader, &metrics[n]))
    n++;
  gst_buffer_unmap (report, &map);
  gst_buffer_unref (report);
  return n;
}

GST_START_TEST (test_rtp_passes_untouched)
{
  GstBuffer *buffer = rtp_packet_new (SSRC, 7, 160);
  Fixture f;

  setup (&f, TRUE);
  fail_unless_equals_int (gst_harness_push (f.rtp, gst_buffer_ref (buffer)),
      GST_FLOW_OK);
  fail_unless (gst_harness_pull (f.rtp) == buffer);
  gst_buffer_unref (buffer);
  gst_buffer_unref (buffer);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_a_buffer_list_stays_the_same_list)
{
  GstBufferList *list = gst_buffer_list_new ();
  FmxCcfbMetric metrics[8];
  Fixture f;

  setup (&f, TRUE);
  for (guint i = 0; i < 3; i++)
    gst_buffer_list_add (list, rtp_packet_new (SSRC, i, 160));
  gst_buffer_list_ref (list);
  fail_unless_equals_int (gst_pad_push_list (f.rtp->srcpad, list), GST_FLOW_OK);
  /* the harness has no list function: its pad takes the buffers singly */
  for (guint i = 0; i < 3; i++) {
    GstBuffer *out = gst_harness_pull (f.rtp);

    fail_unless (out == gst_buffer_list_get (list, i));
    gst_buffer_unref (out);
  }
  gst_buffer_list_unref (list);

  clock_advance_to (f.clock, 1, 2 * GST_SECOND);
  fail_unless_equals_int (read_report (gst_harness_pull (f.rtcp), metrics,
          G_N_ELEMENTS (metrics)), 3);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_reports_say_what_arrived_and_how_long_ago)
{
  /* 103 is missing */
  static const guint16 seqs[] = { 100, 101, 102, 104 };
  GstClockTime arrival[8] = { 0 }, report_time;
  FmxCcfbMetric metrics[16];
  Fixture f;
  guint n;

  setup (&f, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (seqs); i++) {
    arrival[seqs[i] - 100] = GST_SECOND + i * 3 * GST_MSECOND;
    push_at (&f, arrival[seqs[i] - 100], SSRC, seqs[i]);
  }
  do {
    report_time = clock_step (f.clock, 1);
  } while (gst_harness_buffers_in_queue (f.rtcp) == 0);

  n = read_report (gst_harness_pull (f.rtcp), metrics, G_N_ELEMENTS (metrics));
  fail_unless_equals_int (n, 5);
  for (guint i = 0; i < n; i++) {
    fail_unless_equals_int (metrics[i].ssrc, SSRC);
    fail_unless_equals_int (metrics[i].seq, 100 + i);
    fail_unless (metrics[i].received == (i != 3));
    if (metrics[i].received)
      /* [RFC8888 3.1] steps of 1/1024 s, rounded down */
      fail_unless (ABS (GST_CLOCK_DIFF (arrival[i] + metrics[i].arrival_offset,
                  report_time)) <= GST_SECOND / 1024 + GST_USECOND);
  }
  teardown (&f);
}

GST_END_TEST;

/* As after udpsrc socket-timestamp=realtime: ten packets wait in the kernel, and are seen
 * all at once.  @age_ms: of the DTS, when they are seen.  By the clock of a sound device it
 * is the same. */
GST_START_TEST (test_a_packet_arrived_at_its_dts_if_asked_to)
{
  static const struct
  {
    gboolean from_dts;
    gint age_ms, expected_ms;
  } rows[] = {
    {TRUE, 60, 60}, {FALSE, 60, 0}, {TRUE, 0, 0},
    /* what comes from the future or from long ago was of another clock */
    {TRUE, -60, 0}, {TRUE, 1100, 0},
  };
  GstClock *device = gst_test_clock_new_with_start_time (500 * GST_SECOND);

  GST_OBJECT_FLAG_SET (device, GST_CLOCK_FLAG_CAN_SET_MASTER);
  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    FmxCcfbMetric metrics[16];
    GstClockTime seen = 3 * GST_SECOND, report_time = seen;
    GstClockTime shown = __i__ == 1 ? 500 * GST_SECOND : seen;
    Fixture f;

    setup_with (&f, TRUE, "arrival-from-dts", rows[r].from_dts, NULL);
    if (__i__ == 1) {
      clock_use_for_sessions (f.clock);
      gst_element_set_clock (f.element, device);
    }
    gst_element_set_base_time (f.element, GST_SECOND);
    clock_advance_to (f.clock, 1, seen);
    for (guint i = 0; i < 10; i++) {
      GstBuffer *buffer = rtp_packet_new (SSRC, 100 + i, 160);

      GST_BUFFER_DTS (buffer) = shown - GST_SECOND - rows[r].age_ms
          * GST_MSECOND + i * GST_MSECOND;
      fail_unless_equals_int (gst_harness_push (f.rtp, buffer), GST_FLOW_OK);
    }
    clock_wait_idle (f.clock, 1);
    while (gst_harness_buffers_in_queue (f.rtcp) == 0)
      report_time = clock_step (f.clock, 1);
    fail_unless (read_report (gst_harness_pull (f.rtcp), metrics,
            G_N_ELEMENTS (metrics)) >= 1);
    fail_unless (ABS (GST_CLOCK_DIFF (seen - rows[r].expected_ms * GST_MSECOND
                + metrics[0].arrival_offset, report_time)) <= GST_SECOND / 1024
        + GST_USECOND, "row %u", r);
    teardown (&f);
    gst_system_clock_set_default (NULL);
  }
  gst_object_unref (device);
}

GST_END_TEST;

GST_START_TEST (test_stream_start_caps_and_segment_come_first)
{
  static const GstEventType expected[] = {
    GST_EVENT_STREAM_START, GST_EVENT_CAPS, GST_EVENT_SEGMENT
  };
  Fixture f;

  setup (&f, TRUE);
  push_at (&f, GST_SECOND, SSRC, 1);
  clock_advance_to (f.clock, 1, 2 * GST_SECOND);
  gst_buffer_unref (gst_harness_pull (f.rtcp));
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
    GstEvent *event = gst_harness_pull_event (f.rtcp);

    fail_unless_equals_int (GST_EVENT_TYPE (event), expected[i]);
    gst_event_unref (event);
  }
  fail_unless (gst_harness_try_pull_event (f.rtcp) == NULL);
  teardown (&f);
}

GST_END_TEST;

/* G.711 and a stream of a third of its rate, both sides with IP and UDP. */
GST_START_TEST (test_feedback_takes_at_most_5_percent_of_the_media)
{
  static const guint payloads[] = { 160, 40 };
  GstBuffer *report;

  for (guint c = 0; c < G_N_ELEMENTS (payloads); c++) {
    guint64 media = 0, feedback = 0, last = 0;
    Fixture f;

    setup (&f, TRUE);
    for (guint i = 0; i < 1500; i++) {
      clock_advance_to (f.clock, 1, GST_SECOND + i * FRAME);
      media += payloads[c] + FMX_RTP_HEADER_BYTES + FMX_IP_UDP_BYTES;
      gst_harness_push (f.rtp, rtp_packet_new (SSRC, i, payloads[c]));
      gst_buffer_unref (gst_harness_pull (f.rtp));
    }
    while ((report = gst_harness_try_pull (f.rtcp)) != NULL) {
      last = gst_buffer_get_size (report) + FMX_IP_UDP_BYTES;
      feedback += last;
      gst_buffer_unref (report);
    }
    fail_unless (feedback > 0);
    /* the last report is paid for by the media that follows it */
    fail_unless (feedback - last <= media / 20, "%" G_GUINT64_FORMAT " of %"
        G_GUINT64_FORMAT " bytes", feedback, media);
    fail_unless_equals_int (element_stat (f.element, "report-bytes"), feedback);
    fail_unless_equals_int (element_stat (f.element, "media-bytes"), media);
    teardown (&f);
  }
}

GST_END_TEST;

GST_START_TEST (test_an_unlinked_rtcp_src_stops_nothing)
{
  Fixture f;

  setup (&f, FALSE);
  for (guint i = 0; i < 200; i++)
    push_at (&f, GST_SECOND + i * FRAME, SSRC, i);
  fail_unless_equals_int (gst_harness_buffers_received (f.rtp), 200);
  fail_unless (element_stat (f.element, "n-reports") > 0);
  fail_unless (gst_harness_push_event (f.rtp, gst_event_new_eos ()));
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_the_sender_ssrc_can_change_while_playing)
{
  Fixture f;

  setup (&f, TRUE);
  g_object_set (f.element, "ssrc", 5, NULL);
  fail_unless_equals_int (element_stat (f.element, "ssrc"), 5);
  g_object_set (f.element, "ssrc", OWN_SSRC, NULL);
  push_at (&f, GST_SECOND, SSRC, 1);
  clock_advance_to (f.clock, 1, 2 * GST_SECOND);
  /* checks it */
  fail_unless (read_report (gst_harness_pull (f.rtcp), (FmxCcfbMetric[4]) {
            {
            0}
          }
          , 4) > 0);
  teardown (&f);
}

GST_END_TEST;

static const guint8 rr[] = {
  0x81, 201, 0, 7, 1, 2, 3, 4, 0x11, 0x11, 0x11, 0x11, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
};

static const guint8 nack[] = {
  0x81, 205, 0, 4, 1, 2, 3, 4, 0x11, 0x11, 0x11, 0x11, 0, 1, 0, 0, 0, 9, 0, 0
};
static const guint8 stun[] = { 0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42, 1, 2, 3, 4 };
static const guint8 short_rtp[] = { 0x80, 0, 0, 1, 0, 0, 0, 0, 1, 2 };
static const guint8 many_csrcs[] = { 0x8f, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4 };

static const guint8 long_extension[] = {
  0x90, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4, 0xbe, 0xde, 0xff, 0xff
};

/* [RFC5761 4]: RTCP on the same port is told from RTP by its second byte */
GST_START_TEST (test_what_is_not_rtp_passes_and_is_not_reported)
{
  static const struct
  {
    const guint8 *data;
    gsize size;
  } cases[] = {
    {rr, sizeof rr}, {nack, sizeof nack}, {stun, sizeof stun}, {short_rtp,
        sizeof short_rtp},
    {many_csrcs, sizeof many_csrcs}, {long_extension, sizeof long_extension},
  };
  Fixture f;

  setup (&f, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *buffer = gst_buffer_new_memdup (cases[i].data, cases[i].size);

    fail_unless_equals_int (gst_harness_push (f.rtp, buffer), GST_FLOW_OK);
    fail_unless (gst_harness_pull (f.rtp) == buffer);
    gst_buffer_unref (buffer);
  }
  clock_advance_to (f.clock, 1, 3 * GST_SECOND);
  fail_unless_equals_int (element_stat (f.element, "n-not-rtp"),
      G_N_ELEMENTS (cases));
  fail_unless_equals_int (element_stat (f.element, "n-packets"), 0);
  fail_unless_equals_int (gst_harness_buffers_received (f.rtcp), 0);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_a_flood_of_ssrcs_takes_bounded_memory)
{
  Fixture f;

  setup (&f, TRUE);
  gst_element_set_state (f.element, GST_STATE_READY);
  g_object_set (f.element, "max-ssrcs", 16, NULL);
  gst_element_set_state (f.element, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str (f.rtp, RTP_CAPS_PCMU);
  for (guint i = 0; i < 2000; i++)
    push_at (&f, GST_SECOND + i * GST_MSECOND, i, i);
  fail_unless_equals_int (element_stat (f.element, "n-streams"), 16);
  fail_unless_equals_int (element_stat (f.element, "n-evicted"), 2000 - 16);
  fail_unless_equals_int (element_stat (f.element, "n-packets"), 2000);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_eos_reports_the_rest_and_ends_the_feedback)
{
  FmxCcfbMetric metrics[4];
  GstEvent *event;
  Fixture f;

  setup (&f, TRUE);
  push_at (&f, GST_SECOND, SSRC, 1);
  clock_advance_to (f.clock, 1, GST_SECOND);
  while (gst_harness_buffers_in_queue (f.rtcp) > 0)
    gst_buffer_unref (gst_harness_pull (f.rtcp));
  push_at (&f, GST_SECOND + GST_MSECOND, SSRC, 2);
  fail_unless (gst_harness_push_event (f.rtp, gst_event_new_eos ()));
  fail_unless (read_report (gst_harness_pull (f.rtcp), metrics, 4) > 0);
  while ((event = gst_harness_pull_event (f.rtcp)) != NULL
      && GST_EVENT_TYPE (event) != GST_EVENT_EOS)
    gst_event_unref (event);
  fail_unless (event != NULL);
  gst_event_unref (event);
  clock_advance_to (f.clock, 1, 5 * GST_SECOND);
  fail_unless_equals_int (gst_harness_buffers_in_queue (f.rtcp), 0);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_a_flush_leaves_the_feedback_alone)
{
  GstSegment segment;
  GstEvent *event;
  Fixture f;

  setup (&f, TRUE);
  push_at (&f, GST_SECOND, SSRC, 1);
  fail_unless (gst_harness_push_event (f.rtp, gst_event_new_flush_start ()));
  fail_unless (gst_harness_push_event (f.rtp, gst_event_new_flush_stop (TRUE)));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_harness_push_event (f.rtp,
          gst_event_new_segment (&segment)));
  push_at (&f, GST_SECOND + FRAME, SSRC, 2);
  clock_advance_to (f.clock, 1, 2 * GST_SECOND);
  fail_unless (gst_harness_buffers_received (f.rtcp) > 0);
  while ((event = gst_harness_try_pull_event (f.rtcp)) != NULL) {
    fail_if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_START
        || GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP);
    gst_event_unref (event);
  }
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_state_cycles_start_afresh)
{
  Fixture f;

  setup (&f, TRUE);
  for (guint i = 1; i <= 5; i++) {
    push_at (&f, 2 * i * GST_SECOND, SSRC, i);
    fail_unless_equals_int (element_stat (f.element, "n-packets"), 1);
    clock_advance_to (f.clock, 1, (2 * i + 1) * GST_SECOND);
    fail_unless_equals_int (gst_harness_buffers_received (f.rtcp), i);
    gst_element_set_state (f.element, GST_STATE_PAUSED);
    gst_element_set_state (f.element, GST_STATE_PLAYING);
    fail_unless_equals_int (element_stat (f.element, "n-packets"), 1);
    gst_element_set_state (f.element, GST_STATE_NULL);
    gst_element_set_state (f.element, GST_STATE_PLAYING);
    gst_harness_set_src_caps_str (f.rtp, RTP_CAPS_PCMU);
  }
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_without_a_clock_it_fails_with_an_error)
{
  check_without_a_clock ("rtpccfb");
}

GST_END_TEST;

GST_START_TEST (test_rtp_latency_is_that_of_upstream_and_rtcp_has_none)
{
  GstQuery *query = gst_query_new_latency ();
  GstClockTime min;
  gboolean live;
  GstPad *pad;
  Fixture f;

  setup (&f, TRUE);
  gst_harness_set_upstream_latency (f.rtp, 30 * GST_MSECOND);
  fail_unless_equals_uint64 (gst_harness_query_latency (f.rtp),
      30 * GST_MSECOND);
  pad = gst_element_get_static_pad (f.element, "rtcp_src");
  fail_unless (gst_pad_query (pad, query));
  gst_query_parse_latency (query, &live, &min, NULL);
  fail_unless_equals_uint64 (min, 0);
  gst_object_unref (pad);
  gst_query_unref (query);
  teardown (&f);
}

GST_END_TEST;

static Suite *
rtpccfb_suite (void)
{
  Suite *suite = suite_create ("rtpccfb");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_rtp_passes_untouched);
  tcase_add_test (tc, test_a_buffer_list_stays_the_same_list);
  tcase_add_test (tc, test_reports_say_what_arrived_and_how_long_ago);
  tcase_add_loop_test (tc, test_a_packet_arrived_at_its_dts_if_asked_to, 0, 2);
  tcase_add_test (tc, test_stream_start_caps_and_segment_come_first);
  tcase_add_test (tc, test_feedback_takes_at_most_5_percent_of_the_media);
  tcase_add_test (tc, test_an_unlinked_rtcp_src_stops_nothing);
  tcase_add_test (tc, test_the_sender_ssrc_can_change_while_playing);
  tcase_add_test (tc, test_what_is_not_rtp_passes_and_is_not_reported);
  tcase_add_test (tc, test_a_flood_of_ssrcs_takes_bounded_memory);
  tcase_add_test (tc, test_eos_reports_the_rest_and_ends_the_feedback);
  tcase_add_test (tc, test_a_flush_leaves_the_feedback_alone);
  tcase_add_test (tc, test_state_cycles_start_afresh);
  tcase_add_test (tc, test_without_a_clock_it_fails_with_an_error);
  tcase_add_test (tc, test_rtp_latency_is_that_of_upstream_and_rtcp_has_none);
  return suite;
}

GST_CHECK_MAIN (rtpccfb);
