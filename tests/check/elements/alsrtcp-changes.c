/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* alsrtcp where things change while it runs: links, states, settings */
#include "alsrtcpcheck.h"

static void
report_plainly (Fixture * f)
{
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstBuffer *buffer = compound_new (f, &rtcp, LISTENER, 0);

  gst_rtcp_buffer_unmap (&rtcp);
  send_from (f, SSRC);
  push_rtcp (f, buffer);
}

static gint64
total_rate (Fixture * f)
{
  guint target;

  settle (f);
  g_object_get (f->element, "target-bitrate", &target, NULL);
  return target;
}

#define LAYER_BPS 90000

/* Of two listeners one takes one layer and the other all: each has LAYER_BPS. */
static void
fill_layers (Fixture * f, guint n_layers)
{
  send_from (f, SSRC);
  push_return (f, LISTENER, LAYER_BPS, 1.0, 0);
  push_return (f, OTHER, n_layers * LAYER_BPS, 1.0, 0);
  run (f, INTERVAL);
  fail_unless_equals_int64 (total_rate (f), n_layers * LAYER_BPS);
}

static void
setup_three_layers (Fixture * f)
{
  setup (f, "sender", "increase=0");
  fill_layers (f, 3);
  assert_targets (f, LAYER_BPS, LAYER_BPS, LAYER_BPS);
}

/* What a controller further down allowed is nobody's word once it has gone. */
GST_START_TEST (test_a_fallback_goes_with_who_told_it)
{
  GstPad *src, *peer;
  Fixture f;

  setup (&f, "sender", "initial-bitrate=100000");
  gst_harness_push_upstream_event (f.rtp[0],
      gst_fairmix_target_bitrate_event_new (20000));
  report_plainly (&f);
  fail_unless_equals_int64 (total_rate (&f), 20000);
  src = gst_element_get_static_pad (f.element, "src_0");
  peer = gst_pad_get_peer (src);
  gst_pad_unlink (src, peer);
  gst_pad_link (src, peer);
  for (guint i = 0; i < 20; i++) {
    report_plainly (&f);
    run (&f, GST_SECOND);
  }
  fail_unless (total_rate (&f) > 90000, "%" G_GINT64_FORMAT, total_rate (&f));
  /* but the next one's word counts */
  gst_pad_unlink (src, peer);
  gst_pad_link (src, peer);
  gst_harness_push_upstream_event (f.rtp[0],
      gst_fairmix_target_bitrate_event_new (30000));
  report_plainly (&f);
  fail_unless_equals_int64 (total_rate (&f), 30000);
  gst_object_unref (peer);
  gst_object_unref (src);
  teardown (&f);
}

GST_END_TEST;

/* Sources that are named in READY wait for their layers as well. */
GST_START_TEST (test_sources_that_are_named_in_ready_wait)
{
  Fixture f;

  setup (&f, "receiver", "identity name=l1");
  fail_unless_equals_int (state_of (&f, "l1"), GST_STATE_PLAYING);
  gst_element_set_state (f.bin, GST_STATE_READY);
  g_object_set (f.element, "sources", "l1", NULL);
  gst_element_set_state (f.bin, GST_STATE_PLAYING);
  settle (&f);
  fail_unless_equals_int (state_of (&f, "l1"), GST_STATE_NULL);
  teardown (&f);
}

GST_END_TEST;

/* It must not stop itself: its own thread would wait for itself. */
GST_START_TEST (test_nobody_is_its_own_source)
{
  GstMessage *message;
  Fixture f;

  setup (&f, "receiver", "identity name=l1");
  gst_element_set_state (f.bin, GST_STATE_READY);
  g_object_set (f.element, "sources", GST_OBJECT_NAME (f.element), NULL);
  gst_element_set_state (f.bin, GST_STATE_PLAYING);
  settle (&f);
  message = gst_bus_pop_filtered (f.bus, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_unref (message);
  fail_unless_equals_int (GST_STATE (f.element), GST_STATE_PLAYING);
  teardown (&f);
}

GST_END_TEST;

/* No event passes a pad that flushes. */
GST_START_TEST (test_a_target_of_a_flush_is_told_after_it)
{
  Fixture f;

  setup (&f, "sender", "initial-bitrate=100000");
  settle (&f);
  assert_targets (&f, 100000, 0, 0);
  gst_harness_push_event (f.rtp[0], gst_event_new_flush_start ());
  g_object_set (f.element, "max-bitrate", 50000, NULL);
  assert_targets (&f, -1, -1, -1);
  gst_harness_push_event (f.rtp[0], gst_event_new_flush_stop (TRUE));
  assert_targets (&f, 50000, -1, -1);
  teardown (&f);
}

GST_END_TEST;

/* A layer to which a smaller limit leaves nothing is not sent. */
GST_START_TEST (test_of_a_layer_that_loses_its_rate_nothing_is_sent)
{
  Fixture f;

  setup_three_layers (&f);
  g_object_set (f.element, "max-bitrate", LAYER_BPS, NULL);
  assert_targets (&f, -1, 0, 0);
  gst_harness_push (f.rtp[1], rtp_packet_new (SSRC, 9, 160));
  fail_unless_equals_int (gst_harness_buffers_in_queue (f.rtp[1]), 0);
  teardown (&f);
}

GST_END_TEST;

static void
count_layers (GObject * element, GParamSpec * pspec G_GNUC_UNUSED,
    gpointer last)
{
  g_object_get (element, "layers", (guint *) last, NULL);
}

/* Whoever binds to the number of layers hears of each. */
GST_START_TEST (test_layers_are_told_where_it_stops)
{
  FmxAlsLayer layers[2] = { layer_at (90000, 2, 0, 5004),
    layer_at (90000, 2, 1, 5006)
  };
  guint last = 0;
  Fixture f;

  setup (&f, "receiver", "");
  g_signal_connect (f.element, "notify::layers", G_CALLBACK (count_layers),
      &last);
  push_announcement (&f, SSRC, 180000, layers, 2);
  settle (&f);
  fail_unless_equals_int (last, 2);
  gst_element_set_state (f.bin, GST_STATE_READY);
  fail_unless_equals_int (last, held (&f));
  gst_element_set_state (f.bin, GST_STATE_PLAYING);
  settle (&f);
  fail_unless_equals_int (last, held (&f));
  teardown (&f);
}

GST_END_TEST;

/* Returns: what alsrtcp adds to a report of the session `rtp` */
static GstBuffer *
report_of_session (Fixture * f)
{
  GstElement *rtp = gst_bin_get_by_name (GST_BIN (f->bin), "rtp");
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstBuffer *buffer = compound_new (f, &rtcp, SSRC, -1);
  gboolean urgent;
  GObject *session;

  gst_rtcp_buffer_unmap (&rtcp);
  g_object_get (rtp, "internal-session", &session, NULL);
  g_signal_emit_by_name (session, "on-sending-rtcp", buffer, FALSE, &urgent);
  g_object_unref (session);
  gst_object_unref (rtp);
  return buffer;
}

static guint n_announced;
static FmxAlsLayer announced[FMX_ALS_MAX_LAYERS];

static void
note_layers (gpointer data G_GNUC_UNUSED, const FmxRtcpApp * app)
{
  if (app->subtype == FMX_ALS_APP_LAYERS)
    n_announced = fmx_als_layers_read (announced, app->data, app->size);
}

/* A layer that came when all addresses of the network were taken has no place: receivers
 * would believe none of an announcement that has it. */
GST_START_TEST (test_a_layer_without_a_place_is_not_announced)
{
  const GstFairmixRtcpFuncs funcs = {.app = note_layers };
  GstBuffer *report;
  GstPad *more;
  Fixture f;

  setup (&f, "sender", "address=239.1.2.253 increase=0 rtpbin=rtp  "
      "rtpsession name=rtp");
  more = gst_element_request_pad_simple (f.element, "sink_3");
  fill_layers (&f, 4);
  report = report_of_session (&f);
  fail_unless (gst_fairmix_rtcp_read (report, &funcs, NULL));
  fail_unless_equals_int (n_announced, 3);
  for (guint i = 0; i < n_announced; i++)
    fail_unless (fmx_als_layer_is_multicast (&announced[i]));
  gst_buffer_unref (report);
  gst_object_unref (more);
  teardown (&f);
}

GST_END_TEST;

/* A controller behind it starts first, as all do that are nearer to the network. */
GST_START_TEST (test_what_was_told_before_it_started_counts)
{
  Fixture f;

  setup (&f, "sender", "initial-bitrate=100000");
  gst_element_set_state (f.bin, GST_STATE_READY);
  gst_element_set_state (f.bin, GST_STATE_PAUSED);
  gst_harness_push_upstream_event (f.rtp[0],
      gst_fairmix_target_bitrate_event_new (20000));
  gst_element_set_state (f.bin, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str (f.rtcp, "application/x-rtcp");
  gst_harness_set_src_caps_str (f.rtp[0], RTP_CAPS_PCMU);
  report_plainly (&f);
  run (&f, INTERVAL);
  fail_unless_equals_int64 (total_rate (&f), 20000);
  teardown (&f);
}

GST_END_TEST;

/* As the table of reasons says */
GST_START_TEST (test_another_number_of_layers_is_told)
{
  GstStructure *decision;
  GstPad *top;
  gdouble value;
  Fixture f;

  setup_three_layers (&f);
  gst_structure_free (pop_message (&f, "fairmix-rate-decision"));
  top = gst_element_get_static_pad (f.element, "sink_2");
  gst_element_release_request_pad (f.element, top);
  decision = pop_message (&f, "fairmix-rate-decision");
  fail_unless (decision != NULL);
  fail_unless_equals_string (gst_structure_get_string (decision, "reason"),
      "settings");
  fail_unless (gst_structure_get_double (decision, "target-bps", &value));
  fail_unless_equals_float (value, 2.0 * LAYER_BPS);
  gst_structure_free (decision);
  gst_object_unref (top);
  teardown (&f);
}

GST_END_TEST;

typedef struct
{
  GstElement *element;
  GstPad *out, *src;
  guint n_targets;
} Asker;

/* As another thread may while caps come: in the middle of what is done with them */
static gboolean
ask_for_src (GstPad * pad, GstObject * parent G_GNUC_UNUSED, GstEvent * event)
{
  Asker *asker = gst_pad_get_element_private (pad);
  guint target;

  if (gst_fairmix_target_bitrate_event_parse (event, &target)
      && ++asker->n_targets == 2) {
    asker->src = gst_element_request_pad_simple (asker->element, "src_3");
    gst_pad_link (asker->src, asker->out);
  }
  gst_event_unref (event);
  return TRUE;
}

static GstFlowReturn
take_buffer (GstPad * pad G_GNUC_UNUSED, GstObject * parent G_GNUC_UNUSED,
    GstBuffer * buffer)
{
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

/* What came on the sink pad until then and what comes from then on: nothing between. */
GST_START_TEST (test_a_src_pad_that_comes_beside_caps_has_them)
{
  GstPad *in = gst_pad_new ("in", GST_PAD_SRC), *sink;
  Asker asker = {.out = gst_pad_new ("out", GST_PAD_SINK),.n_targets = 2 };
  GstCaps *caps = gst_caps_from_string (RTP_CAPS_PCMU);
  GstSegment segment;
  Fixture f;

  setup (&f, "sender", "increase=0");
  asker.element = f.element;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_set_event_function (in, ask_for_src);
  gst_pad_set_element_private (in, &asker);
  gst_pad_set_chain_function (asker.out, take_buffer);
  gst_pad_set_active (in, TRUE);
  gst_pad_set_active (asker.out, TRUE);
  sink = gst_element_request_pad_simple (f.element, "sink_3");
  gst_pad_link (in, sink);
  fill_layers (&f, 4);
  asker.n_targets = 0;
  gst_pad_push_event (in, gst_event_new_stream_start ("in"));
  gst_pad_push_event (in, gst_event_new_caps (caps));
  gst_pad_push_event (in, gst_event_new_segment (&segment));
  fail_unless (asker.src != NULL);
  fail_unless_equals_int (gst_pad_push (in, rtp_packet_new (SSRC, 0, 160)),
      GST_FLOW_OK);
  fail_unless (gst_pad_has_current_caps (asker.out));
  gst_caps_unref (caps);
  teardown (&f);
  gst_object_unref (asker.src);
  gst_object_unref (sink);
  gst_object_unref (asker.out);
  gst_object_unref (in);
}

GST_END_TEST;

static Suite *
alsrtcp_changes_suite (void)
{
  Suite *s = suite_create ("alsrtcp-changes");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_a_fallback_goes_with_who_told_it);
  tcase_add_test (tc, test_sources_that_are_named_in_ready_wait);
  tcase_add_test (tc, test_nobody_is_its_own_source);
  tcase_add_test (tc, test_a_target_of_a_flush_is_told_after_it);
  tcase_add_test (tc, test_of_a_layer_that_loses_its_rate_nothing_is_sent);
  tcase_add_test (tc, test_layers_are_told_where_it_stops);
  tcase_add_test (tc, test_a_layer_without_a_place_is_not_announced);
  tcase_add_test (tc, test_what_was_told_before_it_started_counts);
  tcase_add_test (tc, test_another_number_of_layers_is_told);
  tcase_add_test (tc, test_a_src_pad_that_comes_beside_caps_has_them);
  return s;
}

GST_CHECK_MAIN (alsrtcp_changes);
