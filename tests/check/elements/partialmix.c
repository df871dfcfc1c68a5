/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What partialmix does as an element: pads, states, time.  What it
 * forwards, mixes and selects is in partialmix-*.c. */

#include <string.h>

#include "mixrig.h"

/* --- who comes and goes -------------------------------------------------- */

GST_START_TEST (test_streams_time_out_say_bye_and_are_unlinked)
{
  Rig *rig = rig_new ("stream-timeout=1000000000");
  RigTalker *talker;

  rig_listener (rig, "src_0", NULL);
  rig_talkers (rig, 1, 4, RIG_PCMU);
  rig_play (rig);
  rig_run (rig, 10);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 4);

  talker = g_ptr_array_index (rig->talkers, 0);
  gst_pad_push_event (talker->pad, gst_event_new_custom
      (GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new ("fairmix-bye", "ssrc",
              G_TYPE_UINT, talker->ssrc, NULL)));
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 3);
  talker->silent = TRUE;

  rig_remove_talker (rig, g_ptr_array_index (rig->talkers, 1));
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 2);

  ((RigTalker *) g_ptr_array_index (rig->talkers, 1))->silent = TRUE;
  rig_run (rig, 100);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 1);
  rig_free (rig);
}

GST_END_TEST;

/* Whoever asks for it gets none, however it is written, and what there is goes on. */
GST_START_TEST (test_a_number_is_given_out_once_until_it_is_released)
{
  static const gchar *const kinds[] = { "sink_%s%u", "src_%s%u",
    "rtcp_sink_%s%u"
  };
  GstElement *mix = gst_element_factory_make ("partialmix", NULL);
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (kinds); i++) {
    GstPad *pads[2] = { NULL };

    for (k = 0; k < 4; k++) {
      gchar *name =
          g_strdup_printf (kinds[i], k % 2 == 0 ? "" : "0", 5 + k / 2);
      GstPad *pad = gst_element_request_pad_simple (mix, name);

      fail_unless ((pad != NULL) == (k % 2 == 0), "%s", name);
      if (pad != NULL)
        pads[k / 2] = pad;
      g_free (name);
    }
    for (k = 0; k < 2; k++) {
      gchar *name = gst_pad_get_name (pads[k]);
      GstPad *again;

      gst_element_release_request_pad (mix, pads[k]);
      gst_object_unref (pads[k]);
      again = gst_element_request_pad_simple (mix, name);
      fail_unless (again != NULL, "%s", name);
      gst_object_unref (again);
      g_free (name);
    }
  }
  gst_object_unref (mix);
}

GST_END_TEST;

GST_START_TEST (test_listeners_come_and_go_while_playing)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  GRand *rand = g_rand_new_with_seed (3);
  guint i;

  rig_talkers (rig, 0, 6, RIG_L16);
  rig_play (rig);
  for (i = 0; i < 200; i++) {
    guint n = rig->listeners->len;

    if (n == 0 || (n < 8 && g_rand_boolean (rand)))
      rig_set_target (rig_listener (rig, "src_%u", NULL), RIG_L16_MIX_BPS
          * (guint) g_rand_int_range (rand, 0, 4));
    else
      rig_remove_listener (rig, g_ptr_array_index (rig->listeners,
              (guint) g_rand_int_range (rand, 0, (gint) n)));
    rig_run (rig, 2);
  }
  fail_unless (rig_stat (rig, "n-encoded") > 100);
  g_rand_free (rand);
  rig_free (rig);
}

GST_END_TEST;

typedef struct
{
  Rig *rig;
  gint stop;
} Load;

static gpointer
send_load (gpointer data)
{
  Load *load = data;
  Rig *rig = load->rig;
  RigTalker *talker = g_ptr_array_index (rig->talkers, 0);

  while (!g_atomic_int_get (&load->stop))
    gst_pad_push (talker->pad, rig_packet (rig, talker));
  return NULL;
}

GST_START_TEST (test_pads_come_and_go_under_load)
{
  Rig *rig = rig_new (NULL);
  Load load = { rig, FALSE };
  GThread *thread;
  guint i;

  rig_talker (rig, "sink_100", 1, RIG_PCMU, 440, 8000);
  rig_play (rig);
  thread = g_thread_new ("load", send_load, &load);
  for (i = 0; i < 300; i++) {
    RigListener *listener = rig_listener (rig, "src_%u", NULL);
    RigTalker *talker = rig_talker (rig, "sink_%u", 50 + i, RIG_PCMU, 440,
        8000);

    rig_set_target (listener, i % 2 ? 100000 : 0);
    gst_pad_push (talker->pad, rig_packet (rig, talker));
    rig_advance (rig, i * 20 * GST_MSECOND);
    rig_remove_talker (rig, talker);
    rig_remove_listener (rig, listener);
  }
  g_atomic_int_set (&load.stop, TRUE);
  g_thread_join (thread);
  rig_free (rig);
}

GST_END_TEST;

/* ... and who released it does not hear of it any more. */
GST_START_TEST (test_a_pad_that_is_released_before_the_start_is_gone)
{
  GstElement *mix = gst_element_factory_make ("partialmix", NULL);
  GstPad *pad = gst_element_request_pad_simple (mix, "src_0");

  g_object_add_weak_pointer (G_OBJECT (pad), (gpointer *) & pad);
  gst_element_release_request_pad (mix, pad);
  gst_object_unref (pad);
  fail_unless (pad == NULL);
  gst_object_unref (mix);
}

GST_END_TEST;

/* --- what is said -------------------------------------------------------- */

GST_START_TEST (test_unknown_payload_type_is_said_once)
{
  Rig *rig = rig_new (NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 1, RIG_PCMU, 440, 8000);
  GstMessage *message;
  guint i;

  rig_listener (rig, "src_0", NULL);
  rig_play (rig);
  for (i = 0; i < 10; i++) {
    GstBuffer *buffer = rig_packet (rig, talker);
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
    gst_rtp_buffer_set_payload_type (&rtp, 111);
    gst_rtp_buffer_unmap (&rtp);
    gst_pad_push (talker->pad, buffer);
  }
  message = gst_bus_pop_filtered (rig->bus, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_unref (message);
  fail_unless (gst_bus_pop_filtered (rig->bus, GST_MESSAGE_WARNING) == NULL);
  fail_unless_equals_uint64 (rig_stat (rig, "n-unknown-format"), 10);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_peer_that_cannot_be_served_is_said_and_others_go_on)
{
  Rig *rig = rig_new (NULL);
  RigListener *odd = rig_listener (rig, "src_0",
      "audio/x-raw,format=S16LE,rate=44100,channels=2,layout=interleaved");
  RigListener *video = rig_listener (rig, "src_1",
      "application/x-rtp,media=audio,encoding-name=SPEEX");
  RigListener *good = rig_listener (rig, "src_2", NULL);
  guint n = 0;
  GstMessage *message;

  rig_talkers (rig, 5, 2, RIG_OPUS);
  rig_play (rig);
  rig_run (rig, 30);
  while ((message = gst_bus_pop_filtered (rig->bus, GST_MESSAGE_WARNING))
      != NULL) {
    n++;
    gst_message_unref (message);
  }
  fail_unless_equals_int (n, 2);
  fail_unless_equals_int (odd->buffers->len, 0);
  fail_unless_equals_int (video->buffers->len, 0);
  fail_unless_equals_int (good->buffers->len, 60);
  rig_free (rig);
}

GST_END_TEST;

/* at 44100 Hz Opus can be neither decoded nor encoded */
static void
expect_one_warning_at_44100_hz (RigEncoding from, const gchar * to)
{
  Rig *rig = rig_new ("rate=44100");
  GstMessage *message;

  rig_listener (rig, "src_0", to);
  rig_talkers (rig, 3, 2, from);
  rig_play (rig);
  rig_run (rig, 30);
  message = gst_bus_pop_filtered (rig->bus, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_unref (message);
  fail_unless (gst_bus_pop_filtered (rig->bus, GST_MESSAGE_WARNING) == NULL);
  rig_free (rig);
}

GST_START_TEST (test_a_rate_that_opus_has_not_is_said_once)
{
  expect_one_warning_at_44100_hz (RIG_OPUS, NULL);
  expect_one_warning_at_44100_hz (RIG_PCMU,
      "application/x-rtp,media=audio,encoding-name=OPUS");
}

GST_END_TEST;

GST_START_TEST (test_absurd_properties_are_clamped_or_refused)
{
  Rig *rig = rig_new ("database-location=/nonexistent/database");
  GstMessage *message;
  guint64 duration;

  fail_unless_equals_int (gst_element_set_state (rig->mix, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (rig->bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_unref (message);
  g_object_set (rig->mix, "database-location", NULL, NULL);
  g_object_set (rig->mix, "frame-duration", 33 * GST_MSECOND, NULL);
  g_object_get (rig->mix, "frame-duration", &duration, NULL);
  fail_unless_equals_uint64 (duration, 20 * GST_MSECOND);
  g_object_set (rig->mix, "min-mix-bitrate", 500000, "max-mix-bitrate", 6000,
      "headroom", 0.9, "ramp-duration", 10 * GST_MSECOND, "latency",
      (guint64) 0, NULL);
  rig_set_target (rig_listener (rig, "src_0", NULL), 1);
  rig_talkers (rig, 1, 2, RIG_OPUS);
  rig_play (rig);
  rig_run (rig, 20);
  rig_free (rig);
}

GST_END_TEST;

/* --- states and time ----------------------------------------------------- */

GST_START_TEST (test_states_go_up_and_down_again_and_again)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  guint i, n;

  rig_talkers (rig, 1, 3, RIG_OPUS);
  rig_set_target (listener, 64000);
  for (i = 0; i < 5; i++) {
    static const GstState down[] = {
      GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_NULL
    };

    rig_play (rig);
    n = listener->buffers->len;
    rig_run (rig, 20);
    fail_unless (listener->buffers->len > n + 10);
    fail_unless (gst_element_set_state (rig->mix, down[i % 3])
        != GST_STATE_CHANGE_FAILURE);
  }
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_flush_starts_afresh)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker;
  GstSegment segment;
  guint n;

  rig_talkers (rig, 1, 2, RIG_L16);
  rig_set_target (listener, RIG_L16_MIX_BPS);
  rig_play (rig);
  rig_run (rig, 20);
  talker = g_ptr_array_index (rig->talkers, 0);
  fail_unless (gst_pad_push_event (talker->pad, gst_event_new_flush_start ()));
  fail_unless (gst_pad_push_event (talker->pad, gst_event_new_flush_stop
          (TRUE)));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (talker->pad, gst_event_new_segment (&segment));
  talker->ts_base += 1234567;
  talker->seq += 999;
  n = listener->buffers->len;
  rig_run (rig, 50);
  fail_unless (listener->buffers->len >= n + 45);
  fail_unless (rig_stat (rig, "n-decoded") > 100);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_no_segment_after_a_flush)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker;
  GLogLevelFlags fatal;
  GstSegment segment;
  guint n;

  rig_talkers (rig, 1, 1, RIG_L16);
  rig_play (rig);
  talker = g_ptr_array_index (rig->talkers, 0);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.offset = GST_SECOND;
  fail_unless (gst_pad_push_event (talker->pad,
          gst_event_new_segment (&segment)));
  rig_run (rig, 20);
  /* an application that flushes this pad alone: nobody sends a segment again */
  fail_unless (gst_pad_send_event (GST_PAD_PEER (talker->pad),
          gst_event_new_flush_start ()));
  fail_unless (gst_pad_send_event (GST_PAD_PEER (talker->pad),
          gst_event_new_flush_stop (TRUE)));
  n = listener->buffers->len;
  _gst_check_raised_critical = FALSE;
  fatal = g_log_set_always_fatal (G_LOG_FATAL_MASK);
  ASSERT_WARNING (rig_run (rig, 20));   /* the core's, not ours */
  g_log_set_always_fatal (fatal);
  fail_if (_gst_check_raised_critical);
  fail_unless (listener->buffers->len >= n + 15);
  rig_free (rig);
}

GST_END_TEST;

/* What is in bytes says nothing of time. */
GST_START_TEST (test_a_segment_in_bytes_is_none)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker;
  GstSegment segment;
  GstClockTime before;

  rig_talkers (rig, 1, 1, RIG_L16);
  rig_play (rig);
  talker = g_ptr_array_index (rig->talkers, 0);
  rig_run (rig, 20);
  before = GST_BUFFER_PTS (rig_nth (listener, listener->buffers->len - 1));
  gst_segment_init (&segment, GST_FORMAT_BYTES);
  segment.start = 1000;
  gst_pad_push_event (talker->pad, gst_event_new_segment (&segment));
  rig_run (rig, 20);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (rig_nth (listener,
              listener->buffers->len - 1)), before + 20 * 20 * GST_MSECOND);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_eos_comes_after_the_last_word)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  guint n;

  rig_talkers (rig, 1, 2, RIG_L16);
  rig_set_target (listener, RIG_L16_MIX_BPS);
  rig_play (rig);
  rig_run (rig, 20);
  gst_pad_push_event (((RigTalker *) g_ptr_array_index (rig->talkers,
              0))->pad, gst_event_new_eos ());
  ((RigTalker *) g_ptr_array_index (rig->talkers, 0))->silent = TRUE;
  rig_run (rig, 20);
  fail_if (listener->eos);
  gst_pad_push_event (((RigTalker *) g_ptr_array_index (rig->talkers,
              1))->pad, gst_event_new_eos ());
  n = listener->buffers->len;
  fail_if (listener->eos);
  rig_advance (rig, rig->frame * 20 * GST_MSECOND + GST_SECOND);
  fail_unless (listener->eos);
  fail_unless (listener->buffers->len > n);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_latency_is_one_frame_and_the_playout_delay)
{
  Rig *rig = rig_new ("latency=30000000");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  GstQuery *query = gst_query_new_latency ();
  GstClockTime min, max;
  gboolean live;

  rig_play (rig);
  fail_unless (gst_pad_peer_query (listener->pad, query));
  gst_query_parse_latency (query, &live, &min, &max);
  fail_unless (live);
  fail_unless (min >= 50 * GST_MSECOND && min <= 60 * GST_MSECOND);
  fail_unless (max == GST_CLOCK_TIME_NONE);
  gst_query_unref (query);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_clock_jump_is_skipped_not_caught_up)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  GstClockID id;
  guint n;

  rig_talkers (rig, 1, 2, RIG_L16);
  rig_set_target (listener, RIG_L16_MIX_BPS);
  rig_play (rig);
  rig_run (rig, 20);
  n = listener->buffers->len;
  /* an hour passes between two ticks */
  gst_test_clock_wait_for_next_pending_id (rig->clock, NULL);
  gst_test_clock_set_time (rig->clock, 3600 * GST_SECOND);
  id = gst_test_clock_process_next_clock_id (rig->clock);
  gst_clock_id_unref (id);
  rig->frame = 3600 * 50;
  rig_run (rig, 50);
  fail_unless (listener->buffers->len < n + 80);
  fail_unless (listener->buffers->len > n + 40);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
partialmix_suite (void)
{
  Suite *suite = suite_create ("partialmix");
  TCase *tc;

  tc = tcase_create ("who comes and goes");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_streams_time_out_say_bye_and_are_unlinked);
  tcase_add_test (tc, test_a_number_is_given_out_once_until_it_is_released);
  tcase_add_test (tc, test_a_pad_that_is_released_before_the_start_is_gone);
  tcase_add_test (tc, test_listeners_come_and_go_while_playing);
  tcase_add_test (tc, test_pads_come_and_go_under_load);

  tc = tcase_create ("what is said");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_unknown_payload_type_is_said_once);
  tcase_add_test (tc, test_peer_that_cannot_be_served_is_said_and_others_go_on);
  tcase_add_test (tc, test_a_rate_that_opus_has_not_is_said_once);
  tcase_add_test (tc, test_absurd_properties_are_clamped_or_refused);

  tc = tcase_create ("states and time");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_states_go_up_and_down_again_and_again);
  tcase_add_test (tc, test_flush_starts_afresh);
  tcase_add_test (tc, test_no_segment_after_a_flush);
  tcase_add_test (tc, test_a_segment_in_bytes_is_none);
  tcase_add_test (tc, test_eos_comes_after_the_last_word);
  tcase_add_test (tc, test_latency_is_one_frame_and_the_playout_delay);
  tcase_add_test (tc, test_clock_jump_is_skipped_not_caught_up);
  return suite;
}

GST_CHECK_MAIN (partialmix);
