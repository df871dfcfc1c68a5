/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What tfrcrate reads from RTCP, and says when there is none. */

#include "tfrcratecheck.h"

/* --- reports ------------------------------------------------------------- */

GST_START_TEST (test_receiver_reports_alone_tell_rtt_and_loss)
{
  const GstClockTime rtt = 90 * GST_MSECOND, hold = 250 * GST_MSECOND;
  Fixture f;

  setup (&f);
  for (guint i = 0; i < 1500; i++) {
    fail_unless_equals_int (push (&f, SSRC, i), GST_FLOW_OK);
    drain (f.rtp);
    advance (&f, FRAME);
    if (i % 50 == 49) {
      GstClockTime sr = now (&f) - rtt - hold;
      FmxReportBlock block = { SSRC, 256 / 50, (i + 1) / 50, i, 0,
        (guint32) gst_util_uint64_scale (sr, 65536, GST_SECOND),
        (guint32) gst_util_uint64_scale (hold, 65536, GST_SECOND)
      };
      GstBuffer *report = receiver_report_new (&block, 1);

      fail_unless_equals_int (gst_harness_push (f.rtcp, report), GST_FLOW_OK);
      fail_unless (gst_harness_pull (f.rtcp) == report);
      gst_buffer_unref (report);
    }
  }
  assert_stat_string (f.element, "feedback", "report-blocks");
  fail_unless (ABS (element_stat (f.element, "rtt") - rtt) < GST_MSECOND,
      "rtt %f ns", element_stat (f.element, "rtt"));
  fail_unless (element_stat (f.element, "loss-event-rate") > 0.01
      && element_stat (f.element, "loss-event-rate") < 0.04, "p = %f",
      element_stat (f.element, "loss-event-rate"));
  fail_unless_equals_int (pop_warnings (&f, NULL), 0);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_rtt_leaves_out_the_time_that_feedback_was_held)
{
  Path path;

  path_setup (&path, 1);
  path_run (&path, 5 * GST_SECOND);
  assert_stat_string (path.f.element, "feedback", "per-packet");
  assert_stat_string (path.f.element, "state", "sending");
  /* one voice is acknowledged every 100 ms or so; the path has 70 ms, the
   * path of the test steps of 1 ms, the wire of 1/1024 s */
  fail_unless (element_stat (path.receiver, "n-reports") < 70);
  fail_unless (element_stat (path.f.element, "rtt") >= 68 * GST_MSECOND
      && element_stat (path.f.element, "rtt") <= 75 * GST_MSECOND, "rtt %f ns",
      element_stat (path.f.element, "rtt"));
  fail_unless_equals_int (pop_warnings (&path.f, NULL), 0);
  path_teardown (&path);
}

GST_END_TEST;

static gboolean
drop_every_20th (Path * path, GstBuffer * packet)
{
  return path->n_packets % 20 == 0;
}

GST_START_TEST (test_each_loss_on_the_path_is_counted)
{
  gdouble lost;
  Path path;

  path_setup (&path, 2);
  path.drops = drop_every_20th;
  path_run (&path, 20 * GST_SECOND);
  path.drops = drop_nothing;
  path_run (&path, GST_SECOND);
  lost = element_stat (path.f.element, "n-lost");
  fail_unless (ABS (lost - path.n_dropped) <= 1, "%f of %u", lost,
      path.n_dropped);
  fail_unless (element_stat (path.f.element, "loss-event-rate") > 0.0);
  fail_unless (element_stat (path.f.element, "loss-fraction") < 0.1);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_all_report_blocks_of_all_streams_count)
{
  FmxReportBlock blocks[31];
  Fixture f;

  setup (&f);
  for (guint i = 0; i < G_N_ELEMENTS (blocks); i++) {
    push (&f, SSRC + i, 10);
    blocks[i] = (FmxReportBlock) {
    SSRC + i, 0, 0, 10, 0, 0, 0};
  }
  gst_harness_push (f.rtcp, receiver_report_new (blocks,
          G_N_ELEMENTS (blocks)));
  fail_unless_equals_int (element_stat (f.element, "n-feedback"), 31);
  /* a foreign one does not */
  blocks[0].ssrc = 1;
  gst_harness_push (f.rtcp, receiver_report_new (blocks, 1));
  fail_unless_equals_int (element_stat (f.element, "n-feedback"), 31);
  teardown (&f);
}

GST_END_TEST;

/* --- whatever comes ------------------------------------------------------ */

static const guint8 rr_one_block_missing[] = { 0x81, 201, 0, 1, 1, 2, 3, 4 };

static const guint8 sr_too_short[] = {
  0x80, 200, 0, 3, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0
};

static const guint8 rr_31_blocks_in_one[] = {
  0x9f, 201, 0, 7, 1, 2, 3, 4, 0x11, 0x11, 0x11, 0x11, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
};
static const guint8 length_beyond_end[] = { 0x80, 201, 0, 9, 1, 2, 3, 4 };
static const guint8 not_rtcp[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
static const guint8 ccfb_no_timestamp[] = { 0x8b, 205, 0, 1, 1, 2, 3, 4 };

static const guint8 ccfb_65535_reports[] = {
  0x8b, 205, 0, 4, 1, 2, 3, 4, 0x11, 0x11, 0x11, 0x11, 0, 0, 0xff, 0xff,
  0, 0, 0, 0
};

static const guint8 ccfb_all_padding[] = {
  0xab, 205, 0, 2, 1, 2, 3, 4, 0, 0, 0, 8
};

static const guint8 ccfb_too_much_padding[] = {
  0xab, 205, 0, 2, 1, 2, 3, 4, 0, 0, 0, 252
};

static const guint8 good_rr_bad_ccfb[] = {
  0x80, 201, 0, 1, 1, 2, 3, 4, 0x8b, 205, 0, 1, 1, 2, 3, 4
};

static const guint8 ccfb_empty[] = {
  0x8b, 205, 0, 2, 1, 2, 3, 4, 0, 0, 0, 0
};
static const guint8 rr_empty[] = { 0x80, 201, 0, 1, 1, 2, 3, 4 };

static const guint8 nack[] = {
  0x81, 205, 0, 3, 1, 2, 3, 4, 0x11, 0x11, 0x11, 0x11, 0, 1, 0, 0
};

static const guint8 app[] = {
  0x80, 204, 0, 2, 1, 2, 3, 4, 'T', 'E', 'S', 'T'
};
static const guint8 reduced_bye[] = { 0x81, 203, 0, 1, 1, 2, 3, 4 };

GST_START_TEST (test_malformed_rtcp_is_counted_and_dropped)
{
#define CASE(bytes, malformed) { #bytes, bytes, sizeof bytes, malformed }
  static const struct
  {
    const gchar *name;
    const guint8 *data;
    gsize size;
    gboolean malformed;
  } cases[] = {
    CASE (rr_one_block_missing, TRUE), CASE (sr_too_short, TRUE),
    CASE (rr_31_blocks_in_one, TRUE), CASE (length_beyond_end, TRUE),
    CASE (not_rtcp, TRUE), CASE (ccfb_no_timestamp, TRUE),
    CASE (ccfb_65535_reports, TRUE), CASE (ccfb_all_padding, TRUE),
    CASE (ccfb_too_much_padding, TRUE), CASE (good_rr_bad_ccfb, TRUE),
    CASE (ccfb_empty, FALSE), CASE (rr_empty, FALSE), CASE (nack, FALSE),
    CASE (app, FALSE), CASE (reduced_bye, FALSE),
  };
#undef CASE
  guint n_malformed = 0;
  Fixture f;

  setup (&f);
  for (guint i = 0; i < 5; i++)
    push (&f, SSRC, i);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *buffer = gst_buffer_new_memdup (cases[i].data, cases[i].size);
    GstBuffer *out;

    n_malformed += cases[i].malformed;
    fail_unless_equals_int (gst_harness_push (f.rtcp, buffer), GST_FLOW_OK);
    out = gst_harness_try_pull (f.rtcp);
    fail_unless (out == (cases[i].malformed ? NULL : buffer), "%s",
        cases[i].name);
    gst_clear_buffer (&out);
    fail_unless (element_stat (f.element, "n-malformed-rtcp") == n_malformed,
        "%s", cases[i].name);
  }
  fail_unless_equals_int (element_stat (f.element, "n-rtcp"),
      G_N_ELEMENTS (cases));
  assert_stat_string (f.element, "feedback", "none");
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_random_rtcp_does_no_harm)
{
  GRand *rand = g_rand_new_with_seed (8888);
  Fixture f;

  setup (&f);
  for (guint i = 0; i < 20000; i++) {
    guint8 bytes[64];
    gsize size = g_rand_int_range (rand, 1, sizeof bytes / 4) * 4;

    for (gsize b = 0; b < size; b++)
      bytes[b] = g_rand_int (rand);
    bytes[0] = 0x80 | (bytes[0] & 0x3f);        /* near enough to be read */
    bytes[1] = 200 + bytes[1] % 8;
    bytes[2] = 0;
    bytes[3] = size / 4 - 1;
    if (bytes[1] == 205)
      bytes[0] = (bytes[0] & 0xe0) | 11;
    if (i % 10 == 0) {
      push (&f, SSRC + i % 7, i / 10);
      drain (f.rtp);
    }
    gst_harness_push (f.rtcp, gst_buffer_new_memdup (bytes, size));
    drain (f.rtcp);
  }
  g_rand_free (rand);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_thousands_of_ssrcs_take_bounded_memory)
{
  Fixture f;

  setup (&f);
  for (guint i = 0; i < 5000; i++) {
    fail_unless_equals_int (push (&f, i * 77, 1000 + i), GST_FLOW_OK);
    fail_unless_equals_int (drain (f.rtp), target (&f) > 0);
    if (i % 100 == 0)
      advance (&f, GST_MSECOND);
  }
  fail_unless (element_stat (f.element, "n-streams") <= 256);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_what_is_not_rtp_passes_uncounted)
{
  GstBuffer *buffer = gst_buffer_new_memdup (not_rtcp, sizeof not_rtcp);
  Fixture f;

  setup (&f);
  fail_unless_equals_int (gst_harness_push (f.rtp, buffer), GST_FLOW_OK);
  fail_unless (gst_harness_pull (f.rtp) == buffer);
  gst_buffer_unref (buffer);
  fail_unless_equals_int (element_stat (f.element, "n-not-rtp"), 1);
  fail_unless_equals_int (element_stat (f.element, "n-sent"), 0);
  teardown (&f);
}

GST_END_TEST;

/* --- the warning --------------------------------------------------------- */

GST_START_TEST (test_5_s_without_feedback_warn_once_and_say_what_to_wire)
{
  gchar *text = NULL;
  Path path;

  path_setup (&path, 1);
  path.drops = drop_everything;
  path_run (&path, 4900 * GST_MSECOND);
  fail_unless_equals_int (pop_warnings (&path.f, NULL), 0);
  path_run (&path, 200 * GST_MSECOND);
  fail_unless_equals_int (pop_warnings (&path.f, &text), 1);
  fail_unless (strstr (text, "nothing has arrived at rtcp_sink") != NULL);
  fail_unless (strstr (text, "rtpccfb") != NULL);
  fail_unless (strstr (text, "recv_rtcp_sink_0") != NULL);
  path_run (&path, 20 * GST_SECOND);
  fail_unless_equals_int (pop_warnings (&path.f, NULL), 0);
  g_free (text);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_it_warns_again_when_feedback_came_and_stopped)
{
  gchar *text = NULL;
  Path path;

  path_setup (&path, 1);
  path_run (&path, 10 * GST_SECOND);
  fail_unless_equals_int (pop_warnings (&path.f, NULL), 0);
  path.drops = drop_everything;
  path_run (&path, 6 * GST_SECOND);
  fail_unless_equals_int (pop_warnings (&path.f, &text), 1);
  fail_unless (strstr (text, "says nothing") != NULL, "%s", text);
  path.drops = drop_nothing;
  path_run (&path, 10 * GST_SECOND);
  fail_unless_equals_int (pop_warnings (&path.f, NULL), 0);
  path.drops = drop_everything;
  path_run (&path, 6 * GST_SECOND);
  fail_unless_equals_int (pop_warnings (&path.f, NULL), 1);
  g_free (text);
  path_teardown (&path);
}

GST_END_TEST;

/* Path.drops: what arrives is a stream that was never sent */
static gboolean
rename_stream (Path * path, GstBuffer * packet)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  fail_unless (gst_rtp_buffer_map (packet, GST_MAP_READWRITE, &rtp));
  gst_rtp_buffer_set_ssrc (&rtp, SSRC + 100);
  gst_rtp_buffer_unmap (&rtp);
  return FALSE;
}

GST_START_TEST (test_feedback_about_others_is_none)
{
  gchar *text = NULL;
  Path path;

  path_setup (&path, 1);
  path.drops = rename_stream;
  path_run (&path, 20 * GST_SECOND);
  fail_unless_equals_int (pop_warnings (&path.f, &text), 1);
  fail_unless (strstr (text, "says nothing") != NULL, "%s", text);
  g_free (text);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_silence_is_no_reason_to_warn)
{
  Path path;

  path_setup (&path, 1);
  path_run (&path, 5 * GST_SECOND);
  path.n_streams = 0;
  path_run (&path, 30 * GST_SECOND);
  fail_unless_equals_int (pop_warnings (&path.f, NULL), 0);
  path_teardown (&path);
}

GST_END_TEST;

/* A live source does not hand out in PAUSED what it gets, and that is feedback, too. */
GST_START_TEST (test_a_pause_is_no_reason_to_warn)
{
  Path path;

  path_setup (&path, 1);
  path_run (&path, 5 * GST_SECOND);
  gst_element_set_state (path.f.element, GST_STATE_PAUSED);
  gst_test_clock_set_time (path.f.clock, now (&path.f) + 60 * GST_SECOND);
  gst_element_set_state (path.f.element, GST_STATE_PLAYING);
  path_run (&path, 10 * GST_SECOND);
  fail_unless_equals_int (pop_warnings (&path.f, NULL), 0);
  path.drops = drop_everything;
  path_run (&path, 6 * GST_SECOND);
  fail_unless_equals_int (pop_warnings (&path.f, NULL), 1);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_nobody_need_answer_after_eos)
{
  Path path;

  path_setup (&path, 1);
  path_run (&path, 5 * GST_SECOND);
  path.drops = drop_everything;
  path_run (&path, 1 * GST_SECOND);
  path.n_streams = 0;
  fail_unless (gst_harness_push_event (path.f.rtp, gst_event_new_eos ()));
  path_run (&path, 20 * GST_SECOND);
  fail_unless_equals_int (pop_warnings (&path.f, NULL), 0);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_an_unlinked_rtcp_sink_is_named)
{
  GstTestClock *clock =
      GST_TEST_CLOCK (gst_test_clock_new_with_start_time (GST_SECOND));
  GstElement *element = gst_element_factory_make ("tfrcrate", NULL);
  GstBus *bus = gst_bus_new ();
  Fixture f = { clock, 1, element, bus, NULL, NULL };
  gchar *text = NULL;

  gst_element_set_bus (element, bus);
  gst_element_set_clock (element, GST_CLOCK (clock));
  f.rtp = gst_harness_new_with_element (element, "sink", "src");
  gst_element_set_clock (element, GST_CLOCK (clock));
  gst_element_set_state (element, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str (f.rtp, RTP_CAPS_PCMU);
  clock_wait_idle (clock, 1);
  push (&f, SSRC, 1);
  advance (&f, 6 * GST_SECOND);
  fail_unless_equals_int (pop_warnings (&f, &text), 1);
  fail_unless (strstr (text, "rtcp_sink is not linked") != NULL);
  g_free (text);
  gst_harness_teardown (f.rtp);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
  gst_object_unref (clock);
}

GST_END_TEST;

static Suite *
tfrcrate_feedback_suite (void)
{
  Suite *suite = suite_create ("tfrcrate-feedback");
  TCase *tc;

  tc = tcase_create ("reports");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_receiver_reports_alone_tell_rtt_and_loss);
  tcase_add_test (tc, test_rtt_leaves_out_the_time_that_feedback_was_held);
  tcase_add_test (tc, test_each_loss_on_the_path_is_counted);
  tcase_add_test (tc, test_all_report_blocks_of_all_streams_count);

  tc = tcase_create ("whatever comes");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_malformed_rtcp_is_counted_and_dropped);
  tcase_add_test (tc, test_random_rtcp_does_no_harm);
  tcase_add_test (tc, test_thousands_of_ssrcs_take_bounded_memory);
  tcase_add_test (tc, test_what_is_not_rtp_passes_uncounted);

  tc = tcase_create ("the warning");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_5_s_without_feedback_warn_once_and_say_what_to_wire);
  tcase_add_test (tc, test_it_warns_again_when_feedback_came_and_stopped);
  tcase_add_test (tc, test_feedback_about_others_is_none);
  tcase_add_test (tc, test_silence_is_no_reason_to_warn);
  tcase_add_test (tc, test_a_pause_is_no_reason_to_warn);
  tcase_add_test (tc, test_nobody_need_answer_after_eos);
  tcase_add_test (tc, test_an_unlinked_rtcp_sink_is_named);
  return suite;
}

GST_CHECK_MAIN (tfrcrate_feedback);
