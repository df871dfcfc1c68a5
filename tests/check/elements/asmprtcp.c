/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* asmprtcp alone: what it makes of packets and reports.  Peers that lie:
 * asmprtcp-hostile.c; with sessions: asmprtcp-session.c */
#include <gst/net/gstnetaddressmeta.h>

#include "asmprtcpalone.h"

static GstStructure *
pop_message (Fixture * f, const gchar * name)
{
  GstStructure *found = NULL;
  GstMessage *message;

  while (found == NULL && (message = gst_bus_pop (f->bus)) != NULL) {
    if (gst_message_has_name (message, name))
      found = gst_structure_copy (gst_message_get_structure (message));
    gst_message_unref (message);
  }
  return found;
}

static gint64
last_target_event (Fixture * f)
{
  gint64 last = -1;
  GstEvent *event;

  while ((event = gst_harness_try_pull_upstream_event (f->rtp)) != NULL) {
    guint bitrate;

    if (gst_fairmix_target_bitrate_event_parse (event, &bitrate))
      last = bitrate;
    gst_event_unref (event);
  }
  return last;
}

GST_START_TEST (test_a_receivers_rate_is_the_senders)
{
  GstStructure *decision;
  gdouble value;
  Fixture f;

  setup (&f, "sender");
  send_packets (&f, 50);
  fail_unless_equals_int (target (&f), 500000);
  push_rate (&f, LISTENER, 300000, 0.02);
  fail_unless_equals_int (target (&f), 300000);
  fail_unless_equals_int (last_target_event (&f), 300000);
  decision = pop_message (&f, "fairmix-rate-decision");
  fail_unless (decision != NULL);
  fail_unless_equals_string (gst_structure_get_string (decision, "event"),
      "asmp-rate");
  fail_unless (gst_structure_get_double (decision, "target-bps", &value));
  fail_unless_equals_float (value, 300000.0);
  fail_unless (gst_structure_get_double (decision, "limiting-ssrc", &value));
  fail_unless_equals_float (value, (gdouble) LISTENER);
  fail_unless (gst_structure_get_double (decision, "limiting-rtt-ms", &value));
  fail_unless (value > 99.0 && value < 101.0);
  gst_structure_free (decision);
  /* another one's higher rate changes nothing */
  push_rate (&f, OTHER, 900000, 0.001);
  fail_unless_equals_int (target (&f), 300000);
  fail_unless_equals_int (last_target_event (&f), -1);
  fail_unless_equals_int (element_stat (f.element, "n-receivers"), 2);
  fail_unless_equals_int (element_stat (f.element, "n-plain"), 0);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_who_leaves_or_falls_silent_limits_nobody)
{
  Fixture f;

  setup (&f, "sender");
  send_packets (&f, 50);
  push_rate (&f, OTHER, 400000, 0.01);
  push_rate (&f, LISTENER, 300000, 0.02);
  push_rtcp (&f, bye_new (LISTENER));
  fail_unless_equals_int (target (&f), 400000);
  push_rate (&f, LISTENER, 300000, 0.02);
  for (guint i = 0; i < 6; i++) {
    GstClockTime next = gst_clock_get_time (GST_CLOCK (f.clock))
        + 5 * GST_SECOND;

    fail_unless_equals_int (target (&f), 300000);
    /* the timer's thread, and nothing else */
    clock_advance_to (f.clock, 1, next);
    push_rate (&f, OTHER, 400000, 0.01);
    if (target (&f) != 300000)
      break;
  }
  fail_unless_equals_int (target (&f), 400000);
  fail_unless_equals_int (element_stat (f.element, "n-timed-out"), 1);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_a_plain_receiver_counts_and_is_told_of)
{
  GstStructure *message;
  guint n;
  Fixture f;

  setup (&f, "sender");
  for (guint i = 0; i < 10; i++) {
    send_packets (&f, 50);
    push_rtcp (&f, report_new (&f, LISTENER, 64, NULL));
  }
  fail_unless (target (&f) < 100000);
  message = pop_message (&f, "fairmix-plain-receivers");
  fail_unless (message != NULL);
  fail_unless (gst_structure_get_uint (message, "n-plain", &n));
  fail_unless_equals_int (n, 1);
  gst_structure_free (message);
  fail_unless (pop_message (&f, "fairmix-plain-receivers") == NULL);
  fail_unless_equals_int (element_stat (f.element, "n-plain"), 1);
  /* and when it is gone */
  push_rtcp (&f, bye_new (LISTENER));
  message = pop_message (&f, "fairmix-plain-receivers");
  fail_unless (message != NULL);
  gst_structure_free (message);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_reports_on_others_streams_change_nothing)
{
  FmxAsmpRate rate = { SSRC + 1, 20000, FMX_SECOND / 10, 0.1, 20000, TRUE,
    FALSE, TRUE
  };
  Fixture f;

  setup (&f, "sender");
  push_rate (&f, LISTENER, 300000, 0.02);       /* nothing was sent yet */
  fail_unless_equals_int (target (&f), 500000);
  send_packets (&f, 50);
  push_rtcp (&f, report_new (&f, LISTENER, 0, &rate));
  fail_unless_equals_int (target (&f), 500000);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_bounds_hold_whenever_they_are_set)
{
  Fixture f;

  setup (&f, "sender");
  send_packets (&f, 50);
  push_rate (&f, LISTENER, 300000, 0.02);
  g_object_set (f.element, "max-bitrate", 200000, NULL);
  fail_unless_equals_int (target (&f), 200000);
  fail_unless_equals_int (last_target_event (&f), 200000);
  g_object_set (f.element, "max-bitrate", 1000000, NULL);
  fail_unless_equals_int (target (&f), 300000);
  g_object_set (f.element, "min-bitrate", 400000, NULL);
  fail_unless_equals_int (target (&f), 400000);
  g_object_set (f.element, "max-bitrate", 100000, NULL);        /* below it */
  fail_unless_equals_int (target (&f), 400000);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_whoever_sends_anew_is_told_the_target)
{
  Fixture f;

  setup (&f, "sender");
  send_packets (&f, 50);
  push_rate (&f, LISTENER, 300000, 0.02);
  fail_unless_equals_int (target (&f), 300000);
  fail_unless_equals_int (last_target_event (&f), 300000);
  fail_unless_equals_int (last_target_event (&f), -1);
  gst_harness_push_event (f.rtp, gst_event_new_stream_start ("another"));
  fail_unless_equals_int (target (&f), 300000);
  fail_unless_equals_int (last_target_event (&f), 300000);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_the_encoder_gets_the_target_less_the_headers)
{
  GstElement *bin = gst_bin_new (NULL);
  GstElement *encoder = gst_element_factory_make ("opusenc", "enc");
  gint bitrate;
  Fixture f;

  gst_bin_add (GST_BIN (bin), encoder);
  setup_in (&f, "sender", bin);
  g_object_set (f.element, "encoder", "enc", NULL);
  send_packets (&f, 50);
  for (guint bps = 300000; bps >= 200000; bps -= 100000) {
    push_rate (&f, LISTENER, bps, 0.02);
    fail_unless_equals_int (target (&f), bps);
    /* 40 bytes in each 20 ms */
    g_object_get (encoder, "bitrate", &bitrate, NULL);
    fail_unless (ABS (bitrate - (gint) (bps - 16000)) < 500, "%d", bitrate);
  }
  teardown (&f);
  gst_object_unref (bin);
}

GST_END_TEST;

/* What may be set in READY only counts from then on. */
GST_START_TEST (test_another_algorithm_does_not_count_while_it_plays)
{
  Fixture f;

  setup (&f, "sender");
  send_packets (&f, 50);
  push_rate (&f, LISTENER, 300000, 0.02);
  gst_util_set_object_arg (G_OBJECT (f.element), "algorithm", "asmp");
  push_rate (&f, OTHER, 20000, 0.0);    /* the paper would believe that */
  fail_unless_equals_int (target (&f), 300000);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_packets_pass_as_they_are)
{
  const gchar *roles[] = { "sender", "receiver" };
  GSocketAddress *address = g_inet_socket_address_new_from_string ("10.0.0.1",
      5004);
  Fixture f;

  for (guint k = 0; k < G_N_ELEMENTS (roles); k++) {
    GstBufferList *list = gst_buffer_list_new ();
    GstBuffer *buffer, *out;

    setup (&f, roles[k]);
    buffer = rtp_packet_new (SSRC, 7, 160);
    gst_buffer_ref (buffer);
    gst_harness_push (f.rtp, buffer);
    out = gst_harness_pull (f.rtp);
    fail_unless (out == buffer);
    gst_buffer_unref (out);
    gst_buffer_unref (buffer);
    for (guint i = 0; i < 3; i++)
      gst_buffer_list_add (list, rtp_packet_new (SSRC, 8 + i, 160));
    fail_unless_equals_int (gst_pad_push_list (f.rtp->srcpad, list),
        GST_FLOW_OK);
    for (guint i = 0; i < 3; i++) {
      out = gst_harness_pull (f.rtp);
      fail_unless_equals_int (rtp_packet_seq (out), 8 + i);
      gst_buffer_unref (out);
    }
    /* not RTP: passed on, counted */
    gst_harness_push (f.rtp, no_rtp_new (3));
    gst_buffer_unref (gst_harness_pull (f.rtp));
    fail_unless_equals_int (element_stat (f.element, "n-not-rtp"), 1);
    /* where RTCP came from is what the session finds collisions by */
    buffer = report_new (&f, LISTENER, 0, NULL);
    gst_buffer_add_net_address_meta (buffer, address);
    gst_harness_push (f.rtcp, buffer);
    out = gst_harness_pull (f.rtcp);
    fail_unless (gst_buffer_get_net_address_meta (out) != NULL);
    gst_buffer_unref (out);
    teardown (&f);
  }
  g_object_unref (address);
}

GST_END_TEST;

GST_START_TEST (test_without_a_clock_it_says_so_and_does_not_start)
{
  check_without_a_clock ("asmprtcp");
}

GST_END_TEST;

GST_START_TEST (test_without_a_session_it_warns_with_a_wrong_one_it_fails)
{
  GstMessage *message;
  Fixture f;

  setup (&f, "receiver");
  message = gst_bus_pop_filtered (f.bus, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_unref (message);
  gst_element_set_state (f.element, GST_STATE_READY);
  g_object_set (f.element, "rtpbin", "nobody", NULL);
  fail_unless_equals_int (gst_element_set_state (f.element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (f.bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_unref (message);
  teardown (&f);
}

GST_END_TEST;

/* No event passes a pad that flushes. */
GST_START_TEST (test_a_target_of_a_flush_is_told_after_it)
{
  Fixture f;

  setup (&f, "sender");
  fail_unless_equals_int (target (&f), 500000);
  fail_unless_equals_int (last_target_event (&f), 500000);
  gst_harness_push_event (f.rtp, gst_event_new_flush_start ());
  g_object_set (f.element, "max-bitrate", 200000, NULL);
  fail_unless_equals_int (target (&f), 200000);
  fail_unless_equals_int (last_target_event (&f), -1);
  gst_harness_push_event (f.rtp, gst_event_new_flush_stop (TRUE));
  fail_unless_equals_int (last_target_event (&f), 200000);
  teardown (&f);
}

GST_END_TEST;

static void
note_target (GObject * element, GParamSpec * pspec G_GNUC_UNUSED, gpointer last)
{
  g_object_get (element, "target-bitrate", (guint *) last, NULL);
}

/* Whoever has bound to the target hears that it is over, and a receiver has none. */
GST_START_TEST (test_where_it_stops_nothing_may_be_sent)
{
  guint last = 0, now;
  Fixture f;

  setup (&f, "sender");
  g_signal_connect (f.element, "notify::target-bitrate",
      G_CALLBACK (note_target), &last);
  g_object_set (f.element, "max-bitrate", 200000, NULL);
  fail_unless_equals_int (target (&f), 200000);
  fail_unless_equals_int (last, 200000);
  gst_element_set_state (f.element, GST_STATE_READY);
  fail_unless_equals_int (last, 0);
  gst_util_set_object_arg (G_OBJECT (f.element), "role", "receiver");
  gst_element_set_state (f.element, GST_STATE_PLAYING);
  g_object_get (f.element, "target-bitrate", &now, NULL);
  fail_unless_equals_int (now, 0);
  fail_unless_equals_int (last, 0);
  teardown (&f);
}

GST_END_TEST;

/* Before it plays there is one role that it has: that which was set. */
GST_START_TEST (test_statistics_have_the_role_that_was_set)
{
  static const gchar *const names[] = { "asmprtcp", "alsrtcp" };
  GstElement *element = gst_element_factory_make (names[__i__], NULL);
  GstStructure *stats;
  gint role;

  gst_util_set_object_arg (G_OBJECT (element), "role", "receiver");
  g_object_get (element, "role", &role, "stats", &stats, NULL);
  fail_unless_equals_int (g_value_get_enum (gst_structure_get_value (stats,
              "role")), role);
  gst_structure_free (stats);
  gst_object_unref (element);
}

GST_END_TEST;

static Suite *
asmprtcp_suite (void)
{
  Suite *s = suite_create ("asmprtcp");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_a_receivers_rate_is_the_senders);
  tcase_add_test (tc, test_who_leaves_or_falls_silent_limits_nobody);
  tcase_add_test (tc, test_a_plain_receiver_counts_and_is_told_of);
  tcase_add_test (tc, test_reports_on_others_streams_change_nothing);
  tcase_add_test (tc, test_bounds_hold_whenever_they_are_set);
  tcase_add_test (tc, test_whoever_sends_anew_is_told_the_target);
  tcase_add_test (tc, test_a_target_of_a_flush_is_told_after_it);
  tcase_add_test (tc, test_where_it_stops_nothing_may_be_sent);
  tcase_add_loop_test (tc, test_statistics_have_the_role_that_was_set, 0, 2);
  tcase_add_test (tc, test_the_encoder_gets_the_target_less_the_headers);
  tcase_add_test (tc, test_another_algorithm_does_not_count_while_it_plays);
  tcase_add_test (tc, test_packets_pass_as_they_are);
  tcase_add_test (tc, test_without_a_clock_it_says_so_and_does_not_start);
  tcase_add_test (tc,
      test_without_a_session_it_warns_with_a_wrong_one_it_fails);
  return s;
}

GST_CHECK_MAIN (asmprtcp);
