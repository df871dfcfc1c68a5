/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What tfrcrate sends where nothing arrives. */

#include "tfrcratecheck.h"

GST_START_TEST (test_total_loss_leads_to_probing_and_its_end_to_recovery)
{
  guint n_packets, n_probes;
  Path path;

  path_setup (&path, 3);
  path_run (&path, 10 * GST_SECOND);
  fail_unless_equals_int (path.n_probes, 0);

  path.drops = drop_everything;
  path_run (&path, 5 * GST_SECOND);
  assert_stat_string (path.f.element, "state", "probing");
  fail_unless_equals_int (target (&path.f), 0);
  fail_unless_equals_int (last_target_event (&path.f), 0);

  /* nothing but one probe a second */
  n_packets = path.n_packets;
  n_probes = path.n_probes;
  path_run (&path, 5 * GST_SECOND);
  fail_unless_equals_int (path.n_packets - n_packets, 5);
  fail_unless_equals_int (path.n_probes - n_probes, 5);
  fail_unless (element_stat (path.f.element, "n-dropped") > 0);

  path.drops = drop_nothing;
  n_packets = path.n_packets;
  path_run (&path, 20 * GST_SECOND);
  assert_stat_string (path.f.element, "state", "sending");
  fail_unless (target (&path.f) > 0);
  fail_unless (path.n_packets - n_packets > 15 * 50 * path.n_streams,
      "%u packets", path.n_packets - n_packets);
  fail_unless_equals_int (path.n_gaps, 0);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_without_any_feedback_sending_ends)
{
  Path path;

  path_setup (&path, 1);
  path.drops = drop_everything;
  path_run (&path, 11 * GST_SECOND);
  assert_stat_string (path.f.element, "feedback", "none");
  fail_unless (target (&path.f) <= STREAM_BPS / 4);
  path_run (&path, 5 * GST_SECOND);
  fail_unless_equals_int (target (&path.f), 0);
  path.n_packets = 0;
  path_run (&path, 20 * GST_SECOND);
  fail_unless_equals_int (target (&path.f), 0);
  fail_unless (path.n_packets <= 10, "%u packets", path.n_packets);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_probes_are_empty_packets_of_the_stream_last_seen)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  GstBuffer *probe;
  Path path;

  path_setup (&path, 1);
  path_run_into_probing (&path);
  do {
    clock_step (path.f.clock, 2);
    probe = gst_harness_try_pull (path.f.rtp);
  } while (probe == NULL);

  /* [RFC3550 5.1] valid, nothing but padding */
  fail_unless (gst_rtp_buffer_map (probe, GST_MAP_READ, &rtp));
  fail_unless (gst_rtp_buffer_get_padding (&rtp));
  fail_unless_equals_int (gst_rtp_buffer_get_payload_len (&rtp), 0);
  fail_unless_equals_int (gst_rtp_buffer_get_ssrc (&rtp), SSRC);
  fail_unless_equals_int (gst_rtp_buffer_get_payload_type (&rtp), 0);
  fail_unless_equals_int (gst_rtp_buffer_get_seq (&rtp),
      (guint16) (path.last_seq[0] + 1));
  /* where the media is, not where it was when the last packet left */
  fail_unless_equals_int (gst_rtp_buffer_get_timestamp (&rtp),
      (path.next_seq[0] - 1) * FRAME_SAMPLES);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (probe),
      (path.next_seq[0] - 1) * FRAME);
  gst_rtp_buffer_unmap (&rtp);
  gst_buffer_unref (probe);
  path_teardown (&path);
}

GST_END_TEST;

/* After a time of probing numbers are written anew: in lists, too, without
 * touching what upstream still holds, with metas and flags. */
GST_START_TEST (test_renumbering_copies_and_keeps_lists_metas_and_flags)
{
  GstBufferList *list = gst_buffer_list_new ();
  GstCaps *reference = gst_caps_new_empty_simple ("timestamp/x-test");
  guint16 seq;
  Path path;

  path_setup (&path, 1);
  path_run_into_probing (&path);
  path.drops = drop_nothing;
  path_run (&path, 10 * GST_SECOND);
  assert_stat_string (path.f.element, "state", "sending");
  seq = path.next_seq[0];

  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = rtp_packet_new (SSRC, seq + i, PAYLOAD);

    gst_buffer_add_reference_timestamp_meta (buffer, reference, i, 0);
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DROPPABLE);
    gst_buffer_list_add (list, buffer);
  }
  gst_buffer_list_ref (list);
  fail_unless_equals_int (gst_pad_push_list (path.f.rtp->srcpad, list),
      GST_FLOW_OK);
  fail_unless_equals_int (gst_buffer_list_length (list), 3);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *held = gst_buffer_list_get (list, i);
    GstBuffer *out = gst_harness_pull (path.f.rtp);
    GstReferenceTimestampMeta *meta =
        gst_buffer_get_reference_timestamp_meta (out, reference);

    fail_unless (out != held);
    fail_unless_equals_int (rtp_packet_seq (held), seq + i);
    fail_unless_equals_int (rtp_packet_seq (out),
        (guint16) (path.last_seq[0] + 1 + i));
    fail_unless (meta != NULL && meta->timestamp == i);
    fail_unless (GST_BUFFER_FLAG_IS_SET (out, GST_BUFFER_FLAG_DROPPABLE));
    fail_unless_equals_uint64 (GST_BUFFER_PTS (out), (seq + i) * FRAME);
    gst_buffer_unref (out);
  }
  gst_buffer_list_unref (list);
  gst_caps_unref (reference);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_a_flush_while_probing_holds_the_probes_until_the_segment)
{
  GstSegment segment;
  guint n_probes;
  Path path;

  path_setup (&path, 1);
  path_run_into_probing (&path);

  fail_unless (gst_harness_push_event (path.f.rtp,
          gst_event_new_flush_start ()));
  fail_unless (gst_harness_push_event (path.f.rtp,
          gst_event_new_flush_stop (TRUE)));
  path.n_streams = 0;
  n_probes = path.n_probes;
  path_run (&path, 4 * GST_SECOND);
  fail_unless_equals_int (path.n_probes, n_probes);

  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_harness_push_event (path.f.rtp,
          gst_event_new_segment (&segment)));
  path.n_streams = 1;
  path_run (&path, 4 * GST_SECOND);
  fail_unless (path.n_probes > n_probes);
  fail_unless_equals_int (path.n_gaps, 0);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_after_eos_there_are_no_probes)
{
  guint n_probes;
  Path path;

  path_setup (&path, 1);
  path_run_into_probing (&path);
  fail_unless (gst_harness_push_event (path.f.rtp, gst_event_new_eos ()));
  path.n_streams = 0;
  n_probes = element_stat (path.f.element, "n-probes");
  path_run (&path, 5 * GST_SECOND);
  fail_unless_equals_int (element_stat (path.f.element, "n-probes"), n_probes);
  path_teardown (&path);
}

GST_END_TEST;

/* Who says that more waits, and sends little, gets to know that there is room. */
GST_START_TEST (test_padding_finds_the_room_that_is_wanted)
{
  GstEvent *event;
  Path path;

  path_setup (&path, 1);
  path_run (&path, 20 * GST_SECOND);
  fail_unless (target (&path.f) < 4 * STREAM_BPS);
  fail_unless_equals_int (path.n_probes, 0);
  while ((event = gst_harness_try_pull_event (path.f.rtp)) != NULL)
    gst_event_unref (event);

  fail_unless (gst_harness_push_event (path.f.rtp,
          gst_fairmix_wanted_bitrate_event_new (10 * STREAM_BPS)));
  path_run (&path, 20 * GST_SECOND);
  fail_unless (target (&path.f) >= 10 * STREAM_BPS);
  fail_unless (path.n_probes > 20);
  fail_unless_equals_int (element_stat (path.f.element, "n-padding"),
      path.n_probes);
  fail_unless_equals_int (path.n_gaps, 0);
  /* that was for tfrcrate alone */
  fail_unless (gst_harness_try_pull_event (path.f.rtp) == NULL);
  path_teardown (&path);
}

GST_END_TEST;

/* Seconds may pass until the end of a flush: what would get no further is not sent. */
GST_START_TEST (test_nothing_leaves_in_a_flush)
{
  GstSegment segment;
  guint64 n_probes;
  Path path;

  path_setup (&path, 1);
  path_run_into_probing (&path);
  path.n_streams = 0;
  fail_unless (gst_harness_push_event (path.f.rtp,
          gst_event_new_flush_start ()));
  n_probes = element_stat (path.f.element, "n-probes");
  path_run (&path, 3 * GST_SECOND);
  fail_unless_equals_uint64 (element_stat (path.f.element, "n-probes"),
      n_probes);
  fail_unless (gst_harness_push_event (path.f.rtp,
          gst_event_new_flush_stop (TRUE)));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_harness_push_event (path.f.rtp,
          gst_event_new_segment (&segment)));
  path.n_streams = 1;
  path_run (&path, 2 * GST_SECOND);
  fail_unless (element_stat (path.f.element, "n-probes") > n_probes);
  fail_unless_equals_int (path.n_gaps, 0);
  path_teardown (&path);
}

GST_END_TEST;

/* Who takes padding needs longer for each packet than the rate allows between two. */
typedef struct
{
  GstTestClock *clock;
  GstFlowReturn flow;
  guint n;                      /* packets that were offered; atomic */
} Taker;

#define SLOW_STEPS 90           /* each takes 10 us: all less than the timer's 1 ms */

static GstPadProbeReturn
take_slowly (GstPad * pad G_GNUC_UNUSED, GstPadProbeInfo * info,
    gpointer user_data)
{
  Taker *taker = user_data;
  GstClock *clock = GST_CLOCK (taker->clock);

  if (g_atomic_int_add (&taker->n, 1) < SLOW_STEPS)
    gst_test_clock_set_time (taker->clock, gst_clock_get_time (clock)
        + 10 * GST_USECOND);
  gst_buffer_unref (GST_PAD_PROBE_INFO_BUFFER (info));
  GST_PAD_PROBE_INFO_FLOW_RETURN (info) = taker->flow;
  return GST_PAD_PROBE_HANDLED;
}

static const struct
{
  GstFlowReturn flow;
  guint n_offered;
} takers[] = {
  {GST_FLOW_OK, FMX_RATE_TRAIN_PACKETS},
  {GST_FLOW_FLUSHING, 1},
  {GST_FLOW_EOS, 1},
  {GST_FLOW_ERROR, 1},
};

/* Upstream waits meanwhile, and so does whoever stops the element. */
GST_START_TEST (test_padding_ends_however_high_the_rate)
{
  Taker taker = {.flow = takers[__i__].flow };
  Path path = { 0 };

  setup_element (&path.f);
  g_object_set (path.f.element, "initial-bitrate", 1000000000, "min-bitrate",
      1000000000, NULL);
  setup_harness (&path.f);
  path_setup_receiver (&path, 1);
  path_run (&path, GST_SECOND);
  fail_unless_equals_int (path.n_probes, 0);
  taker.clock = path.f.clock;
  gst_pad_add_probe (path.f.rtp->sinkpad, GST_PAD_PROBE_TYPE_BUFFER,
      take_slowly, &taker, NULL);
  fail_unless (gst_harness_push_event (path.f.rtp,
          gst_fairmix_wanted_bitrate_event_new (2000000000)));
  advance (&path.f, 10 * GST_USECOND);
  fail_unless_equals_int (g_atomic_int_get (&taker.n), takers[__i__].n_offered);
  path_teardown (&path);
}

GST_END_TEST;

static Suite *
tfrcrate_probing_suite (void)
{
  Suite *suite = suite_create ("tfrcrate-probing");
  TCase *tc;

  tc = tcase_create ("probing");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_total_loss_leads_to_probing_and_its_end_to_recovery);
  tcase_add_test (tc, test_without_any_feedback_sending_ends);
  tcase_add_test (tc, test_probes_are_empty_packets_of_the_stream_last_seen);
  tcase_add_test (tc, test_renumbering_copies_and_keeps_lists_metas_and_flags);
  tcase_add_test (tc,
      test_a_flush_while_probing_holds_the_probes_until_the_segment);
  tcase_add_test (tc, test_after_eos_there_are_no_probes);
  tcase_add_test (tc, test_nothing_leaves_in_a_flush);
  tcase_add_test (tc, test_padding_finds_the_room_that_is_wanted);
  tcase_add_loop_test (tc, test_padding_ends_however_high_the_rate, 0,
      G_N_ELEMENTS (takers));
  return suite;
}

GST_CHECK_MAIN (tfrcrate_probing);
