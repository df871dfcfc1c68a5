/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What tfrcrate does as an element: its target, settings, states, threads.
 * Feedback, probes and the encoder are in tfrcrate-*.c. */

#include "tfrcratecheck.h"

/* --- the target ---------------------------------------------------------- */

GST_START_TEST (test_the_target_goes_upstream_and_again_to_a_new_stream)
{
  guint initial;
  Fixture f;

  setup (&f);
  g_object_get (f.element, "initial-bitrate", &initial, NULL);
  fail_unless_equals_int (last_target_event (&f), initial);
  fail_unless_equals_int (target (&f), initial);
  fail_unless_equals_int (last_target_event (&f), -1);

  fail_unless (gst_harness_push_event (f.rtp,
          gst_event_new_stream_start ("new")));
  fail_unless_equals_int (last_target_event (&f), initial);

  g_object_set (f.element, "max-bitrate", initial / 2, NULL);
  fail_unless_equals_int (last_target_event (&f), initial / 2);
  fail_unless_equals_int (target (&f), initial / 2);
  teardown (&f);
}

GST_END_TEST;

/* No event passes a pad that flushes. */
GST_START_TEST (test_a_target_of_a_flush_is_told_after_it)
{
  guint initial;
  Fixture f;

  setup (&f);
  g_object_get (f.element, "initial-bitrate", &initial, NULL);
  fail_unless_equals_int (last_target_event (&f), initial);
  gst_harness_push_event (f.rtp, gst_event_new_flush_start ());
  g_object_set (f.element, "max-bitrate", initial / 2, NULL);
  gst_harness_push_event (f.rtp, gst_event_new_flush_stop (TRUE));
  fail_unless_equals_int (last_target_event (&f), initial / 2);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_rtpfunnel_hands_the_target_to_all_its_inputs)
{
  GstElement *funnel = gst_element_factory_make ("rtpfunnel", NULL);
  GstHarness *out = gst_harness_new_with_element (funnel, NULL, "src");
  GstHarness *in[3];
  guint bitrate;

  for (guint i = 0; i < G_N_ELEMENTS (in); i++) {
    in[i] = gst_harness_new_with_element (funnel, "sink_%u", NULL);
    gst_harness_set_src_caps_str (in[i], RTP_CAPS_PCMU);
  }
  fail_unless (gst_harness_push_upstream_event (out,
          gst_fairmix_target_bitrate_event_new (123456)));
  for (guint i = 0; i < G_N_ELEMENTS (in); i++) {
    GstEvent *event;
    gboolean found = FALSE;

    while ((event = gst_harness_try_pull_upstream_event (in[i])) != NULL) {
      found |= gst_fairmix_target_bitrate_event_parse (event, &bitrate)
          && bitrate == 123456;
      gst_event_unref (event);
    }
    fail_unless (found);
    gst_harness_teardown (in[i]);
  }
  gst_harness_teardown (out);
  gst_object_unref (funnel);
}

GST_END_TEST;

static void
count_notify (GObject * object, GParamSpec * pspec, guint * n)
{
  guint bitrate;

  /* the property may be read from the handler */
  g_object_get (object, "target-bitrate", &bitrate, NULL);
  (*n)++;
}

GST_START_TEST (test_target_bitrate_notifies_once_a_change)
{
  guint n = 0;
  Fixture f;

  setup (&f);
  g_signal_connect (f.element, "notify::target-bitrate",
      G_CALLBACK (count_notify), &n);
  g_object_set (f.element, "max-bitrate", 50000, NULL);
  g_object_set (f.element, "max-bitrate", 50000, NULL);
  fail_unless_equals_int (n, 1);
  g_object_set (f.element, "max-bitrate", 40000, NULL);
  fail_unless_equals_int (n, 2);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_on_a_clean_path_the_target_leaves_room_for_more)
{
  Path path;

  path_setup (&path, 2);
  path_run (&path, 10 * GST_SECOND);
  fail_unless (target (&path.f) >= 3 * STREAM_BPS, "target %u",
      target (&path.f));
  fail_unless_equals_int (last_target_event (&path.f), target (&path.f));
  fail_unless_equals_int (element_stat (path.f.element, "n-lost"), 0);
  fail_unless_equals_int (element_stat (path.f.element, "n-dropped"), 0);
  fail_unless_equals_int (path.n_gaps, 0);
  path_teardown (&path);
}

GST_END_TEST;

/* Returns: what the last target event said that lasts */
static guint
last_lasting (Fixture * f)
{
  guint lasting = 0, bitrate;
  GstEvent *event;

  while ((event = gst_harness_try_pull_upstream_event (f->rtp)) != NULL) {
    if (gst_fairmix_target_bitrate_event_parse (event, &bitrate))
      lasting = gst_fairmix_target_bitrate_event_get_lasting (event);
    gst_event_unref (event);
  }
  return lasting;
}

/* it falls because the limit does: what it fell to is what has lasted for a while */
GST_START_TEST (test_the_target_says_how_much_of_it_lasts)
{
  guint high, low;
  Path path;

  path_setup (&path, 2);
  path_run (&path, 5 * GST_SECOND);
  high = target (&path.f);
  fail_unless_equals_int (last_lasting (&path.f), high);
  low = high * 9 / 10;
  g_object_set (path.f.element, "max-bitrate", low, NULL);
  path_run (&path, GST_SECOND);
  g_object_set (path.f.element, "max-bitrate", high, NULL);
  path_run (&path, 5 * GST_SECOND);
  fail_unless (target (&path.f) > low);
  fail_unless_equals_int (last_lasting (&path.f), low);
  path_run (&path, 20 * GST_SECOND);
  fail_unless_equals_int (last_lasting (&path.f), target (&path.f));
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_each_decision_is_an_element_message)
{
  gboolean up = FALSE, probe = FALSE, resume = FALSE;
  GstMessage *message;
  Path path;

  path_setup (&path, 1);
  path_run (&path, 10 * GST_SECOND);
  path.drops = drop_everything;
  path_run (&path, 5 * GST_SECOND);
  path.drops = drop_nothing;
  path_run (&path, 10 * GST_SECOND);
  while ((message = gst_bus_pop_filtered (path.f.bus,
              GST_MESSAGE_ELEMENT)) != NULL) {
    const GstStructure *s = gst_message_get_structure (message);
    const gchar *reason = gst_structure_get_string (s, "reason");
    gdouble bps, rtt_ms, p, streams;

    fail_unless (gst_structure_has_name (s, "fairmix-rate-decision"));
    fail_unless (gst_structure_get (s, "target-bps", G_TYPE_DOUBLE, &bps,
            "rtt-ms", G_TYPE_DOUBLE, &rtt_ms, "loss-event-rate",
            G_TYPE_DOUBLE, &p, "streams", G_TYPE_DOUBLE, &streams, NULL));
    up |= g_str_equal (reason, "up") && rtt_ms >= 70.0;
    probe |= g_str_equal (reason, "probe") && bps == 0.0;
    resume |= g_str_equal (reason, "resume") && bps > 0.0;
    gst_message_unref (message);
  }
  fail_unless (up);
  fail_unless (probe);
  fail_unless (resume);
  path_teardown (&path);
}

GST_END_TEST;

/* --- pads, states and clocks --------------------------------------------- */

GST_START_TEST (test_rtp_passes_untouched_while_nothing_is_dropped)
{
  GstBufferList *list = gst_buffer_list_new ();
  Fixture f;

  setup (&f);
  for (guint i = 0; i < 5; i++) {
    GstBuffer *buffer = rtp_packet_new (SSRC, i, PAYLOAD);

    gst_buffer_list_add (list, rtp_packet_new (SSRC + 1, i, PAYLOAD));
    gst_buffer_ref (buffer);
    fail_unless_equals_int (gst_harness_push (f.rtp, buffer), GST_FLOW_OK);
    fail_unless (gst_harness_pull (f.rtp) == buffer);
    gst_buffer_unref (buffer);
    gst_buffer_unref (buffer);
  }

  gst_buffer_list_ref (list);
  fail_unless_equals_int (gst_pad_push_list (f.rtp->srcpad, list), GST_FLOW_OK);
  for (guint i = 0; i < 5; i++) {
    GstBuffer *out = gst_harness_pull (f.rtp);

    fail_unless (out == gst_buffer_list_get (list, i));
    gst_buffer_unref (out);
  }
  gst_buffer_list_unref (list);
  fail_unless_equals_int (element_stat (f.element, "n-sent"), 10);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_events_and_queries_keep_to_their_pair_of_pads)
{
  GstEvent *event;
  Fixture f;

  setup (&f);
  gst_harness_set_upstream_latency (f.rtp, 30 * GST_MSECOND);
  gst_harness_set_upstream_latency (f.rtcp, 50 * GST_MSECOND);
  fail_unless_equals_uint64 (gst_harness_query_latency (f.rtp),
      30 * GST_MSECOND);
  fail_unless_equals_uint64 (gst_harness_query_latency (f.rtcp),
      50 * GST_MSECOND);

  while ((event = gst_harness_try_pull_event (f.rtcp)) != NULL)
    gst_event_unref (event);
  while ((event = gst_harness_try_pull_event (f.rtp)) != NULL)
    gst_event_unref (event);
  fail_unless (gst_harness_push_event (f.rtp,
          gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
              gst_structure_new_empty ("hello"))));
  event = gst_harness_try_pull_event (f.rtp);
  fail_unless (gst_event_has_name (event, "hello"));
  gst_event_unref (event);
  fail_unless (gst_harness_try_pull_event (f.rtcp) == NULL);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_state_cycles_start_afresh)
{
  Path path;

  path_setup (&path, 1);
  for (guint i = 0; i < 4; i++) {
    path_run (&path, 3 * GST_SECOND);
    assert_stat_string (path.f.element, "state", "sending");
    gst_element_set_state (path.f.element, GST_STATE_PAUSED);
    gst_element_set_state (path.f.element, GST_STATE_PLAYING);
    assert_stat_string (path.f.element, "state", "sending");
    gst_element_set_state (path.f.element, GST_STATE_NULL);
    fail_unless_equals_int (element_stat (path.f.element, "n-sent"), 0);
    gst_element_set_state (path.f.element, GST_STATE_PLAYING);
    assert_stat_string (path.f.element, "state", "starting");
    gst_harness_set_src_caps_str (path.f.rtp, RTP_CAPS_PCMU);
    gst_harness_set_src_caps_str (path.f.rtcp, "application/x-rtcp");
    path.last_seq[0] = -1;
  }
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_without_a_clock_it_fails_with_an_error)
{
  check_without_a_clock ("tfrcrate");
}

GST_END_TEST;

/* With a microphone the pipeline has the clock of the sound device, which jumps: what
 * left before did not leave long ago for that. */
GST_START_TEST (test_a_sound_devices_clock_does_not_time_the_network)
{
  GstClock *device = gst_test_clock_new_with_start_time (GST_SECOND);
  gdouble sent_bps;
  Fixture f;

  GST_OBJECT_FLAG_SET (device, GST_CLOCK_FLAG_CAN_SET_MASTER);
  setup (&f);
  clock_use_for_sessions (f.clock);
  gst_element_set_clock (f.element, device);
  for (guint16 seq = 0; seq < 10; seq++) {
    fail_unless_equals_int (push (&f, SSRC, seq), GST_FLOW_OK);
    advance (&f, 20 * GST_MSECOND);
  }
  sent_bps = element_stat (f.element, "sent-bps");
  fail_unless (sent_bps > 0);
  gst_test_clock_set_time (GST_TEST_CLOCK (device), 100 * GST_SECOND);
  fail_unless (element_stat (f.element, "sent-bps") == sent_bps);
  teardown (&f);
  gst_system_clock_set_default (NULL);
  gst_object_unref (device);
}

GST_END_TEST;

/* The new clock is an hour behind: for the library time goes on. */
GST_START_TEST (test_another_clock_changes_nothing)
{
  GstTestClock *clock = GST_TEST_CLOCK (gst_test_clock_new ());
  gdouble n_acked;
  Path path;

  path_setup (&path, 1);
  gst_test_clock_set_time (clock, GST_SECOND);
  path_run (&path, 5 * GST_SECOND);
  gst_test_clock_set_time (path.f.clock, now (&path.f));
  gst_element_set_clock (path.f.element, GST_CLOCK (clock));
  gst_element_set_clock (path.receiver, GST_CLOCK (clock));
  gst_object_unref (path.f.clock);
  path.f.clock = clock;
  /* what is in the air has times of the old clock */
  g_queue_clear_full (&path.to_receiver, flying_free);
  g_queue_clear_full (&path.to_sender, flying_free);
  n_acked = element_stat (path.f.element, "n-acked");
  path_run (&path, 3 * GST_SECOND);
  fail_unless (element_stat (path.f.element, "n-acked") > n_acked + 2 * 50);
  path_run (&path, 7 * GST_SECOND);
  assert_stat_string (path.f.element, "state", "sending");
  fail_unless (element_stat (path.f.element, "rtt") >= 68 * GST_MSECOND
      && element_stat (path.f.element, "rtt") <= 80 * GST_MSECOND);
  fail_unless (target (&path.f) > STREAM_BPS);
  path_teardown (&path);
}

GST_END_TEST;

/* Everything at once, on the system's clock; for the sanitizers. */
typedef struct
{
  Fixture *f;
  gint stop;
} Storm;

static gpointer
storm_media (gpointer user)
{
  Storm *storm = user;

  for (guint i = 0; !g_atomic_int_get (&storm->stop); i++) {
    gst_harness_push (storm->f->rtp, rtp_packet_new (SSRC + i % 3, i / 3,
            PAYLOAD));
    drain (storm->f->rtp);
    if (i % 50 == 0)
      gst_harness_push_event (storm->f->rtp,
          gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
              gst_structure_new_empty ("hello")));
  }
  return NULL;
}

static gpointer
storm_feedback (gpointer user)
{
  Storm *storm = user;

  for (guint i = 0; !g_atomic_int_get (&storm->stop); i++) {
    FmxReportBlock block = { SSRC + i % 3, i % 256, i, i, 0, 0, 0 };

    gst_harness_push (storm->f->rtcp, receiver_report_new (&block, 1));
    drain (storm->f->rtcp);
  }
  return NULL;
}

GST_START_TEST (test_threads_do_not_disturb_each_other)
{
  GThread *threads[2];
  Fixture f;
  Storm storm = { &f, FALSE };
  GstClock *clock = gst_system_clock_obtain ();

  setup (&f);
  gst_element_set_clock (f.element, clock);
  threads[0] = g_thread_new ("media", storm_media, &storm);
  threads[1] = g_thread_new ("feedback", storm_feedback, &storm);
  for (guint i = 0; i < 300; i++) {
    g_object_set (f.element, "algorithm", i % 3, "policy", i % 4,
        "max-bitrate", 10000 + i * 100, "encoder", i % 2 ? "nobody" : NULL,
        NULL);
    element_stat (f.element, "n-sent");
    target (&f);
    last_target_event (&f);
    pop_warnings (&f, NULL);
    gst_element_set_clock (f.element, i % 2 ? clock : GST_CLOCK (f.clock));
    if (i % 100 == 99) {
      gst_element_set_state (f.element, GST_STATE_PAUSED);
      gst_element_set_state (f.element, GST_STATE_PLAYING);
    }
  }
  g_atomic_int_set (&storm.stop, TRUE);
  g_thread_join (threads[0]);
  g_thread_join (threads[1]);
  gst_object_unref (clock);
  teardown (&f);
}

GST_END_TEST;

static void
note_target (GObject * element, GParamSpec * pspec, guint * last)
{
  g_object_get (element, "target-bitrate", last, NULL);
}

/* Whoever has bound to the target does not send on. */
GST_START_TEST (test_where_it_stops_nothing_may_be_sent)
{
  guint last = 0;
  Fixture f;

  setup (&f);
  g_signal_connect (f.element, "notify::target-bitrate",
      G_CALLBACK (note_target), &last);
  g_object_set (f.element, "initial-bitrate", 50000, "max-bitrate", 60000,
      NULL);
  fail_unless (target (&f) > 0);
  fail_unless_equals_int (last, target (&f));
  gst_element_set_state (f.element, GST_STATE_READY);
  fail_unless_equals_int (target (&f), 0);
  fail_unless_equals_int (last, 0);
  fail_unless_equals_int ((gint) element_stat (f.element, "target-bitrate"), 0);
  gst_element_set_state (f.element, GST_STATE_PLAYING);
  clock_wait_idle (f.clock, f.n_waiters);
  fail_unless_equals_int (target (&f), 50000);
  fail_unless_equals_int (last, 50000);
  teardown (&f);
}

GST_END_TEST;

static Suite *
tfrcrate_suite (void)
{
  Suite *suite = suite_create ("tfrcrate");
  TCase *tc;

  tc = tcase_create ("the target");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_the_target_goes_upstream_and_again_to_a_new_stream);
  tcase_add_test (tc, test_a_target_of_a_flush_is_told_after_it);
  tcase_add_test (tc, test_rtpfunnel_hands_the_target_to_all_its_inputs);
  tcase_add_test (tc, test_target_bitrate_notifies_once_a_change);
  tcase_add_test (tc, test_on_a_clean_path_the_target_leaves_room_for_more);
  tcase_add_test (tc, test_the_target_says_how_much_of_it_lasts);
  tcase_add_test (tc, test_each_decision_is_an_element_message);

  tc = tcase_create ("pads, states and clocks");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_rtp_passes_untouched_while_nothing_is_dropped);
  tcase_add_test (tc, test_state_cycles_start_afresh);
  tcase_add_test (tc, test_where_it_stops_nothing_may_be_sent);
  tcase_add_test (tc, test_without_a_clock_it_fails_with_an_error);
  tcase_add_test (tc, test_another_clock_changes_nothing);
  tcase_add_test (tc, test_a_sound_devices_clock_does_not_time_the_network);
  tcase_add_test (tc, test_threads_do_not_disturb_each_other);
  tcase_add_test (tc, test_events_and_queries_keep_to_their_pair_of_pads);
  return suite;
}

GST_CHECK_MAIN (tfrcrate);
