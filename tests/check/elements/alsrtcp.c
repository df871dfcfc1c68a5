/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* alsrtcp alone.  Peers that lie: alsrtcp-hostile.c; links, states and settings that
 * change: alsrtcp-changes.c; with sessions: alsrtcp-session.c */
#include <gst/net/gstnetaddressmeta.h>

#include "alsrtcpcheck.h"

/* ALS 3.3, 3.4: r_i = R_d,i + AIR_i, with U = 1, and each layer's rate upstream */
GST_START_TEST (test_each_layer_is_told_its_rate)
{
  GstStructure *decision;
  gdouble value;
  Fixture f;

  setup (&f, "sender", "initial-bitrate=100000");
  assert_targets (&f, 100000, 0, 0);
  send_from (&f, SSRC);
  push_return (&f, LISTENER, 90000, 1.0, 0);
  push_return (&f, OTHER, 270000, 1.0, 0);
  assert_targets (&f, -1, -1, -1);
  run (&f, INTERVAL);
  assert_targets (&f, 95000, 90000, 90000);
  decision = pop_message (&f, "fairmix-rate-decision");
  fail_unless (decision != NULL);
  fail_unless_equals_string (gst_structure_get_string (decision, "reason"),
      "reports");
  fail_unless (gst_structure_get_double (decision, "limiting-ssrc", &value));
  fail_unless_equals_float (value, (gdouble) LISTENER);
  gst_structure_free (decision);
  /* with loss: R_d (1 - l) */
  push_return (&f, LISTENER, 90000, 1.0, 64);
  push_return (&f, OTHER, 270000, 1.0, 0);
  run (&f, INTERVAL);
  assert_targets (&f, 67500, 103750, 103750);
  /* and who has left counts no more */
  push_bye (&f, LISTENER);
  push_return (&f, OTHER, 270000, 1.0, 0);
  run (&f, INTERVAL);
  assert_targets (&f, 275000, 0, 0);
  fail_unless_equals_int (element_stat (f.element, "n-left"), 1);
  teardown (&f);
}

GST_END_TEST;

/* Of a layer without a rate nothing is sent, whatever its encoder does; the others'
 * limits hold. */
GST_START_TEST (test_only_layers_that_are_worth_it_are_sent)
{
  Fixture f;

  setup (&f, "sender", "layer-limits=0-64000,20000-48000 increase=0");
  send_from (&f, SSRC);
  push_return (&f, LISTENER, 40000, 1.0, 0);
  push_return (&f, OTHER, 59000, 1.0, 0);
  run (&f, INTERVAL);
  assert_targets (&f, 40000, 0, 0);
  for (guint i = 0; i < N_LAYERS; i++) {
    fail_unless_equals_int (gst_harness_push (f.rtp[i], rtp_packet_new (SSRC,
                9, 160)), GST_FLOW_OK);
    fail_unless_equals_int (gst_harness_buffers_in_queue (f.rtp[i]), i == 0);
  }
  gst_buffer_unref (gst_harness_pull (f.rtp[0]));
  push_return (&f, LISTENER, 900000, 1.0, 0);
  push_return (&f, OTHER, 900000, 1.0, 0);
  run (&f, INTERVAL);
  assert_targets (&f, 64000, 48000, 788000);
  gst_harness_push (f.rtp[1], rtp_packet_new (SSRC, 10, 160));
  gst_buffer_unref (gst_harness_pull (f.rtp[1]));
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_who_falls_silent_is_forgotten)
{
  Fixture f;

  setup (&f, "sender", "");
  send_from (&f, SSRC);
  push_return (&f, LISTENER, 90000, 1.0, 0);
  for (guint i = 0; i < 3; i++) {
    push_return (&f, OTHER, 270000, 1.0, 0);
    run (&f, INTERVAL);
    send_from (&f, SSRC);
  }
  assert_targets (&f, 95000, 90000, 90000);
  push_return (&f, OTHER, 270000, 1.0, 0);
  run (&f, INTERVAL);
  assert_targets (&f, 275000, 0, 0);
  teardown (&f);
}

GST_END_TEST;

/* Returns: how often the base's rate changed in two minutes in which two report each
 * 7 s, and each second one more comes with @share_bps; after 3 s it goes, every second
 * time without goodbye. */
static guint
changes_among_guests (const gchar * settings, guint share_bps, gint64 base)
{
  guint n_changes = 0;
  Fixture f;

  setup (&f, "sender", settings);
  send_from (&f, SSRC);
  for (guint i = 0; i < 140; i++) {
    gint64 target;

    if (i % 7 == 0)
      push_return (&f, LISTENER, 90000, 1.0, 0);
    if (i % 7 == 3)
      push_return (&f, OTHER, 270000, 1.0, 0);
    push_return (&f, 0x1000 + i, share_bps, 1.0, 0);
    if (i >= 3 && i % 2)
      push_bye (&f, 0x1000 + i - 3);
    run (&f, GST_SECOND);
    target = last_target (f.rtp[0]);
    if (i < 20)                 /* the first adaptation points */
      continue;
    n_changes += target >= 0;
    fail_unless (target < 0 || target >= base);
    send_from (&f, SSRC);
  }
  g_object_get (f.element, "target-bitrate", &share_bps, NULL);
  fail_unless_equals_int (share_bps, 270000);
  teardown (&f);
  return n_changes;
}

/* The paper leaves it open; with its memory the base is at times that of those who have
 * spoken last. */
GST_START_TEST (test_who_comes_and_goes_each_second_moves_nothing)
{
  fail_unless_equals_int (changes_among_guests ("increase=0", 180000, 90000),
      0);
  fail_unless_equals_int (changes_among_guests ("increase=0", 60000, 60000), 0);
  fail_unless (changes_among_guests ("increase=0 memory=5000000000", 180000,
          90000) > 5);
}

GST_END_TEST;

/* Nobody answers: plain reports make the rate, all of it on the base. */
GST_START_TEST (test_without_routers_plain_reports_count)
{
  gint64 low;
  Fixture f;

  setup (&f, "sender", "max-bitrate=400000");
  for (guint i = 0; i < 20; i++) {
    GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
    GstBuffer *buffer = compound_new (&f, &rtcp, LISTENER, 80);

    gst_rtcp_buffer_unmap (&rtcp);
    send_from (&f, SSRC);
    push_rtcp (&f, buffer);
    run (&f, GST_SECOND);
  }
  low = last_target (f.rtp[0]);
  fail_unless (low >= 16000 && low < 100000, "%" G_GINT64_FORMAT, low);
  fail_unless (element_stat (f.element, "n-unanswered") >= 10.0, "%g",
      element_stat (f.element, "n-unanswered"));
  assert_targets (&f, -1, 0, 0);
  teardown (&f);
}

GST_END_TEST;

/* Returns: what the base's source is told then */
static gint64
push_target (Fixture * f, guint layer, guint bitrate)
{
  gst_harness_push_upstream_event (f->rtp[layer],
      gst_fairmix_target_bitrate_event_new (bitrate));
  settle (f);
  return last_target (f->rtp[0]);
}

/* tfrcrate behind the base sets the rate at once where nobody answers; what is said
 * upstream is alsrtcp's alone. */
GST_START_TEST (test_without_routers_a_controller_further_down_counts)
{
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstBuffer *buffer;
  Fixture f;

  setup (&f, "sender", "initial-bitrate=100000");
  send_from (&f, SSRC);
  fail_unless_equals_int64 (push_target (&f, 0, 150000), 100000);
  buffer = compound_new (&f, &rtcp, LISTENER, 0);
  gst_rtcp_buffer_unmap (&rtcp);
  push_rtcp (&f, buffer);
  fail_unless_equals_int64 (push_target (&f, 0, 160000), 160000);
  fail_unless_equals_int64 (push_target (&f, 0, 70000), 70000);
  fail_unless_equals_int64 (push_target (&f, 1, 50000), -1);
  push_return (&f, LISTENER, 90000, 1.0, 0);
  fail_unless_equals_int64 (push_target (&f, 0, 300000), 95000);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_encoders_follow_their_layers)
{
  GstElement *low, *high;
  gint bitrate;
  Fixture f;

  setup (&f, "sender",
      "encoders=low,high  opusenc name=low  opusenc name=high");
  low = gst_bin_get_by_name (GST_BIN (f.bin), "low");
  high = gst_bin_get_by_name (GST_BIN (f.bin), "high");
  send_from (&f, SSRC);
  push_return (&f, LISTENER, 55000, 1.0, 0);
  push_return (&f, OTHER, 175000, 1.0, 0);
  run (&f, INTERVAL);
  /* 60 kbit/s on each, less 40 bytes in each 20 ms */
  g_object_get (low, "bitrate", &bitrate, NULL);
  fail_unless (ABS (bitrate - 44000) < 500, "%d", bitrate);
  g_object_get (high, "bitrate", &bitrate, NULL);
  fail_unless (ABS (bitrate - 44000) < 500, "%d", bitrate);
  gst_object_unref (low);
  gst_object_unref (high);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_layers_are_joined_and_left_as_the_share_says)
{
  FmxAlsLayer layers[3] = { layer_at (90000, 2, 0, 5004),
    layer_at (90000, 2, 1, 5006), layer_at (90000, 2, 2, 5008)
  };
  GstStructure *message;
  guint n;
  Fixture f;

  setup (&f, "receiver", "sources=l1,l2+r2  identity name=l1  "
      "identity name=l2  identity name=r2");
  fail_unless_equals_int (held (&f), 1);
  fail_unless_equals_int (state_of (&f, "l1"), GST_STATE_NULL);
  push_announcement (&f, SSRC, 180000, layers, 3);
  fail_unless_equals_int (held (&f), 2);
  settle (&f);
  fail_unless_equals_int (state_of (&f, "l1"), GST_STATE_PLAYING);
  fail_unless_equals_int (state_of (&f, "l2"), GST_STATE_NULL);
  message = pop_message (&f, "fairmix-layers");
  fail_unless (message != NULL);
  fail_unless (gst_structure_get_uint (message, "n-layers", &n) && n == 2);
  gst_structure_free (message);
  push_announcement (&f, SSRC, 270000, layers, 3);
  settle (&f);
  fail_unless_equals_int (state_of (&f, "l2"), GST_STATE_PLAYING);
  fail_unless_equals_int (state_of (&f, "r2"), GST_STATE_PLAYING);
  push_announcement (&f, SSRC, 0, layers, 3);
  fail_unless_equals_int (held (&f), 1);
  settle (&f);
  fail_unless_equals_int (state_of (&f, "l1"), GST_STATE_NULL);
  fail_unless_equals_int (state_of (&f, "r2"), GST_STATE_NULL);
  /* who hears nothing any more goes back to the base, too */
  push_announcement (&f, SSRC, 270000, layers, 3);
  fail_unless_equals_int (held (&f), 3);
  run (&f, 51 * GST_SECOND);
  fail_unless_equals_int (held (&f), 1);
  fail_unless_equals_int (state_of (&f, "l1"), GST_STATE_NULL);
  teardown (&f);
}

GST_END_TEST;

static gboolean
is_source (Fixture * f, const gchar * name)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (f->bin), name);
  gboolean source = GST_OBJECT_FLAG_IS_SET (element, GST_ELEMENT_FLAG_SOURCE);

  gst_object_unref (element);
  return source;
}

/* The end of a pipeline is told to its sources: a udpsrc that was never opened
 * complains (GLib-CRITICAL). */
GST_START_TEST (test_a_layer_that_is_not_held_is_not_told_to_end)
{
  FmxAlsLayer layers[2] = { layer_at (90000, 2, 0, 5004),
    layer_at (90000, 2, 1, 5006)
  };
  Fixture f;

  setup (&f, "receiver", "sources=l1,l2  appsrc name=l1  udpsrc name=l2");
  fail_if (is_source (&f, "l1"));
  push_announcement (&f, SSRC, 180000, layers, 2);
  settle (&f);
  fail_unless (is_source (&f, "l1"));
  push_announcement (&f, SSRC, 0, layers, 2);
  settle (&f);
  fail_if (is_source (&f, "l1"));
  gst_element_send_event (f.bin, gst_event_new_eos ());
  teardown (&f);
}

GST_END_TEST;

/* It speaks for nobody, so it needs no session, and does not complain. */
GST_START_TEST (test_a_relay_holds_layers_for_others)
{
  FmxAlsLayer layers[2] = { layer_at (90000, 2, 0, 5004),
    layer_at (90000, 2, 1, 5006)
  };
  GstMessage *message;
  Fixture f;

  setup (&f, "receiver", "relay=true sources=l1  identity name=l1");
  message = gst_bus_pop_filtered (f.bus, GST_MESSAGE_WARNING
      | GST_MESSAGE_ERROR);
  fail_unless (message == NULL);
  push_announcement (&f, SSRC, 180000, layers, 2);
  settle (&f);
  fail_unless_equals_int (state_of (&f, "l1"), GST_STATE_PLAYING);
  push_announcement (&f, SSRC, 100000, layers, 2);
  settle (&f);
  fail_unless_equals_int (state_of (&f, "l1"), GST_STATE_NULL);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_packets_lists_and_metas_pass_as_they_are)
{
  GstBufferList *list = gst_buffer_list_new ();
  GSocketAddress *from =
      g_inet_socket_address_new_from_string ("10.0.0.1", 5004);
  GstBuffer *sent = rtp_packet_new (SSRC, 1, 160), *got;
  Fixture f;

  setup (&f, "sender", "");
  send_from (&f, SSRC);
  push_return (&f, LISTENER, 90000, 1.0, 0);
  push_return (&f, OTHER, 270000, 1.0, 0);
  run (&f, INTERVAL);
  gst_buffer_add_net_address_meta (sent, from);
  gst_buffer_list_add (list, gst_buffer_ref (sent));
  gst_buffer_list_add (list, rtp_packet_new (SSRC, 2, 160));
  fail_unless_equals_int (gst_pad_push_list (f.rtp[1]->srcpad, list),
      GST_FLOW_OK);
  got = gst_harness_pull (f.rtp[1]);
  fail_unless (got == sent && gst_buffer_get_net_address_meta (got) != NULL);
  gst_buffer_unref (got);
  gst_buffer_unref (gst_harness_pull (f.rtp[1]));
  gst_buffer_unref (sent);
  gst_harness_push (f.rtp[1], no_rtp_new (3));
  gst_buffer_unref (gst_harness_pull (f.rtp[1]));
  fail_unless_equals_int (element_stat (f.element, "n-not-rtp"), 1);
  g_object_unref (from);
  teardown (&f);
}

GST_END_TEST;

/* As it began, whatever came before */
GST_START_TEST (test_it_may_stop_and_start_again)
{
  const GstState states[] = { GST_STATE_PAUSED, GST_STATE_READY,
    GST_STATE_NULL
  };
  FmxAlsLayer layers[2] = { layer_at (90000, 2, 0, 5004),
    layer_at (90000, 2, 1, 5006)
  };
  Fixture f;

  setup (&f, "receiver", "sources=l1  identity name=l1");
  for (guint i = 0; i < G_N_ELEMENTS (states); i++) {
    push_announcement (&f, SSRC, 180000, layers, 2);
    settle (&f);
    fail_unless_equals_int (state_of (&f, "l1"), GST_STATE_PLAYING);
    fail_unless (gst_element_set_state (f.bin,
            states[i]) == GST_STATE_CHANGE_SUCCESS);
    fail_unless_equals_int (state_of (&f, "l1"), states[i] == GST_STATE_PAUSED
        ? GST_STATE_PAUSED : GST_STATE_NULL);
    fail_unless (gst_element_set_state (f.bin,
            GST_STATE_PLAYING) == GST_STATE_CHANGE_SUCCESS);
    fail_unless_equals_int (held (&f), states[i] == GST_STATE_PAUSED ? 2 : 1);
    gst_harness_set_src_caps_str (f.rtcp, "application/x-rtcp");
  }
  teardown (&f);
}

GST_END_TEST;

/* A bin goes down while a layer is left: it has found the source unlocked, and tells it
 * the bin's state after that. */
GST_START_TEST (test_a_source_that_was_told_a_state_late_ends)
{
  GstElement *source;
  Fixture f;

  setup (&f, "receiver", "sources=l1  identity name=l1");
  source = gst_bin_get_by_name (GST_BIN (f.bin), "l1");
  fail_unless (gst_element_is_locked_state (source));
  gst_element_set_state (source, GST_STATE_PAUSED);
  gst_element_set_state (f.bin, GST_STATE_NULL);
  fail_unless_equals_int (GST_STATE (source), GST_STATE_NULL);
  gst_object_unref (source);
  teardown (&f);
}

GST_END_TEST;

static GstBusSyncReply
lock_who_starts (GstBus * bus, GstMessage * message, gpointer source)
{
  if (GST_MESSAGE_SRC (message) == source)
    gst_element_set_locked_state (source, TRUE);
  return GST_BUS_PASS;
}

GST_START_TEST (test_a_source_that_is_left_while_it_starts_ends)
{
  FmxAlsLayer layers[2] = { layer_at (90000, 2, 0, 5004),
    layer_at (90000, 2, 1, 5006)
  };
  GstElement *source;
  Fixture f;

  setup (&f, "receiver", "sources=l1  identity name=l1");
  source = gst_bin_get_by_name (GST_BIN (f.bin), "l1");
  gst_bus_set_sync_handler (f.bus, lock_who_starts, source, NULL);
  push_announcement (&f, SSRC, 180000, layers, 2);
  fail_unless_equals_int (held (&f), 2);
  settle (&f);
  fail_unless_equals_int (GST_STATE (source), GST_STATE_NULL);
  gst_bus_set_sync_handler (f.bus, NULL, NULL, NULL);
  gst_object_unref (source);
  teardown (&f);
}

GST_END_TEST;

static Suite *
alsrtcp_suite (void)
{
  Suite *s = suite_create ("alsrtcp");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_each_layer_is_told_its_rate);
  tcase_add_test (tc, test_only_layers_that_are_worth_it_are_sent);
  tcase_add_test (tc, test_who_falls_silent_is_forgotten);
  tcase_add_test (tc, test_who_comes_and_goes_each_second_moves_nothing);
  tcase_add_test (tc, test_without_routers_plain_reports_count);
  tcase_add_test (tc, test_without_routers_a_controller_further_down_counts);
  tcase_add_test (tc, test_encoders_follow_their_layers);
  tcase_add_test (tc, test_layers_are_joined_and_left_as_the_share_says);
  tcase_add_test (tc, test_a_layer_that_is_not_held_is_not_told_to_end);
  tcase_add_test (tc, test_a_relay_holds_layers_for_others);
  tcase_add_test (tc, test_packets_lists_and_metas_pass_as_they_are);
  tcase_add_test (tc, test_it_may_stop_and_start_again);
  tcase_add_test (tc, test_a_source_that_was_told_a_state_late_ends);
  tcase_add_test (tc, test_a_source_that_is_left_while_it_starts_ends);
  return s;
}

GST_CHECK_MAIN (alsrtcp);
