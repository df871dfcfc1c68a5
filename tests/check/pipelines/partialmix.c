/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* partialmix behind rtpbin: who comes in, from where, and how it ends */
#include "../gstfairmixcheck.h"

#define N_SESSIONS 8

/* A bin in the place of an rtpbin named "in", and a mixer that takes its
 * streams; in READY. */
typedef struct
{
  GstElement *pipeline, *in, *mix;
} Stage;

static void
stage_init (Stage * stage)
{
  stage->pipeline = gst_pipeline_new (NULL);
  stage->in = gst_bin_new ("in");
  stage->mix = gst_element_factory_make ("partialmix", NULL);
  gst_bin_add_many (GST_BIN (stage->pipeline), stage->in, stage->mix, NULL);
  g_object_set (stage->mix, "rtpbin", "in", NULL);
}

static void
stage_clear (Stage * stage)
{
  gst_element_set_state (stage->pipeline, GST_STATE_NULL);
  gst_object_unref (stage->pipeline);
}

static GstPad *
show_stream (Stage * stage, const gchar * name)
{
  GstPad *pad = gst_pad_new (name, GST_PAD_SRC);

  gst_pad_set_active (pad, TRUE);
  gst_element_add_pad (stage->in, pad);
  return pad;
}

static guint
n_sink_pads (Stage * stage)
{
  return stage->mix->numsinkpads;
}

/* While the first stream is being shown the second appears, as it does when two
 * threads of an rtpbin show streams at once. */
static void
show_another (GstElement * in, GstPad * pad, Stage * stage)
{
  GstPad *second;

  if (!g_str_has_suffix (GST_PAD_NAME (pad), "_0_1_96"))
    return;
  second = show_stream (stage, "recv_rtp_src_3_2_96");
  fail_unless (gst_pad_is_linked (second), "it may push from here on");
}

GST_START_TEST (test_a_stream_is_linked_when_it_is_shown_whoever_else_comes)
{
  Stage stage;
  GstPad *first, *other;

  stage_init (&stage);
  g_signal_connect (stage.in, "pad-added", G_CALLBACK (show_another), &stage);
  gst_element_set_state (stage.pipeline, GST_STATE_READY);
  first = show_stream (&stage, "recv_rtp_src_0_1_96");
  fail_unless (gst_pad_is_linked (first));
  fail_unless_equals_int (n_sink_pads (&stage), 2);

  other = show_stream (&stage, "send_rtcp_src_0");
  fail_if (gst_pad_is_linked (other));
  fail_unless_equals_int (n_sink_pads (&stage), 2);
  stage_clear (&stage);
}

GST_END_TEST;

GST_START_TEST (test_pads_go_with_their_streams)
{
  Stage stage;
  GstPad *early, *late;

  stage_init (&stage);
  early = show_stream (&stage, "recv_rtp_src_0_1_96");
  gst_element_set_state (stage.pipeline, GST_STATE_READY);
  fail_unless (gst_pad_is_linked (early), "it was there before");
  late = show_stream (&stage, "recv_rtp_src_0_2_96");
  fail_unless (gst_pad_is_linked (late));

  gst_element_remove_pad (stage.in, early);
  fail_unless_equals_int (n_sink_pads (&stage), 1);
  fail_unless (gst_pad_is_linked (late));
  gst_element_set_state (stage.pipeline, GST_STATE_NULL);
  fail_unless_equals_int (n_sink_pads (&stage), 0);
  stage_clear (&stage);
}

GST_END_TEST;

GST_START_TEST (test_an_rtpbin_that_is_not_there_is_named)
{
  Stage stage;
  GstBus *bus;
  GstMessage *message;
  GError *error;

  stage_init (&stage);
  g_object_set (stage.mix, "rtpbin", "inn", NULL);
  fail_unless_equals_int (gst_element_set_state (stage.pipeline,
          GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
  bus = gst_element_get_bus (stage.pipeline);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, "\"inn\"") != NULL);
  g_error_free (error);
  gst_message_unref (message);
  gst_object_unref (bus);
  stage_clear (&stage);
}

GST_END_TEST;

static gpointer
request_pads (gpointer mix)
{
  guint i;

  for (i = 0; i < 5000; i++) {
    GstPad *pad = gst_element_request_pad_simple (mix, "sink_%u");

    gst_element_release_request_pad (mix, pad);
    gst_object_unref (pad);
  }
  return NULL;
}

/* gst_element_add_pad() is critical of a name that is taken. */
GST_START_TEST (test_threads_that_ask_at_once_get_pads_of_different_names)
{
  GstElement *mix = gst_element_factory_make ("partialmix", NULL);
  GThread *threads[8];
  guint i;

  for (i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new (NULL, request_pads, mix);
  for (i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  fail_unless_equals_int (mix->numsinkpads, 0);
  gst_object_unref (mix);
}

GST_END_TEST;

GST_START_TEST (test_rtcp_needs_the_number_of_a_neighbour)
{
  static GstStaticPadTemplate templ =
      GST_STATIC_PAD_TEMPLATE ("send_rtcp_src_%u", GST_PAD_SRC,
      GST_PAD_REQUEST, GST_STATIC_CAPS ("application/x-rtcp"));
  GstElement *mix = gst_element_factory_make ("partialmix", NULL);
  GstPad *rtcp = gst_pad_new_from_static_template (&templ, "send_rtcp_src_0");
  GstPad *pad;

  fail_unless (gst_element_get_compatible_pad (mix, rtcp, NULL) == NULL);
  fail_unless (gst_element_request_pad_simple (mix, "rtcp_sink_%u") == NULL);
  pad = gst_element_request_pad_simple (mix, "rtcp_sink_7");
  fail_unless_equals_string (GST_PAD_NAME (pad), "rtcp_sink_7");
  gst_object_unref (pad);
  gst_object_unref (rtcp);
  gst_object_unref (mix);
}

GST_END_TEST;

/* --- with a real rtpbin --------------------------------------------------- */

typedef struct
{
  GstElement *source;
  guint n;                      /* its session, and its SSRC */
  GstFlowReturn flow;
} Talker;

static gpointer
talk (gpointer data)
{
  Talker *talker = data;
  guint16 seq;

  /* the second one in order releases both from the jitter buffer */
  for (seq = 0; seq < 3; seq++) {
    GstBuffer *packet = rtp_packet_new (1000 + talker->n, seq, FRAME_SAMPLES);

    GST_BUFFER_PTS (packet) = GST_CLOCK_TIME_NONE;
    g_signal_emit_by_name (talker->source, "push-buffer", packet,
        &talker->flow);
    gst_buffer_unref (packet);
  }
  return NULL;
}

static GstElement *
mixer_new (void)
{
  GString *line = g_string_new ("rtpbin name=in latency=0 "
      "partialmix name=mix rtpbin=in "
      "mix.src_99 ! fakesink name=out sync=false async=false "
      "appsrc name=rtcp is-live=true format=time caps=application/x-rtcp "
      "! mix.rtcp_sink_0 ");
  GstElement *pipeline;
  guint i;

  for (i = 0; i < N_SESSIONS; i++)
    g_string_append_printf (line, "appsrc name=talker%u is-live=true "
        "format=time do-timestamp=true caps=" RTP_CAPS_PCMU " ! "
        "in.recv_rtp_sink_%u ", i, i);
  pipeline = gst_parse_launch (line->str, NULL);
  g_string_free (line, TRUE);
  fail_unless (pipeline != NULL);
  return pipeline;
}

/* All must be there, and nobody may find a pad that is not linked: appsrc
 * posts an error then. */
static void
expect_streams (GstElement * pipeline, guint n)
{
  GstBus *bus = gst_element_get_bus (pipeline);

  while (n > 0) {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND,
        GST_MESSAGE_ELEMENT | GST_MESSAGE_ERROR);

    fail_unless (message != NULL, "%u streams did not come in", n);
    fail_if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR);
    if (gst_message_has_name (message, "fairmix-stream"))
      n--;
    gst_message_unref (message);
  }
  gst_object_unref (bus);
}

GST_START_TEST (test_talkers_who_join_at_once_all_come_in)
{
  GstElement *pipeline = mixer_new ();
  Talker talkers[N_SESSIONS];
  GThread *threads[N_SESSIONS];
  guint i;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (i = 0; i < N_SESSIONS; i++) {
    gchar *name = g_strdup_printf ("talker%u", i);

    talkers[i].source = gst_bin_get_by_name (GST_BIN (pipeline), name);
    talkers[i].n = i;
    g_free (name);
  }
  for (i = 0; i < N_SESSIONS; i++)
    threads[i] = g_thread_new (NULL, talk, &talkers[i]);
  for (i = 0; i < N_SESSIONS; i++) {
    g_thread_join (threads[i]);
    fail_unless_equals_int (talkers[i].flow, GST_FLOW_OK);
    gst_object_unref (talkers[i].source);
  }
  expect_streams (pipeline, N_SESSIONS);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

GST_END_TEST;

GST_START_TEST (test_it_ends_when_nobody_has_come)
{
  GstElement *pipeline = mixer_new ();
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_element_send_event (pipeline, gst_event_new_eos ());
  message = gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message != NULL, "it goes on for ever");
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_EOS);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* Whatever brings the streams of a session to an rtpbin, without a thread */
static GstPad *
join_session (GstElement * rtpbin)
{
  GstPad *src = gst_pad_new ("network", GST_PAD_SRC);
  GstPad *sink = gst_element_request_pad_simple (rtpbin, "recv_rtp_sink_0");
  GstCaps *caps = gst_caps_from_string (RTP_CAPS_PCMU);

  gst_pad_set_active (src, TRUE);
  fail_unless_equals_int (gst_pad_link (src, sink), GST_PAD_LINK_OK);
  gst_object_unref (sink);
  gst_check_setup_events (src, rtpbin, caps, GST_FORMAT_TIME);
  gst_caps_unref (caps);
  return src;
}

static guint64
n_come_in (GstElement * mix)
{
  GstStructure *stats;
  const GValue *streams;
  guint64 n = 0;

  g_object_get (mix, "stats", &stats, NULL);
  streams = gst_structure_get_value (stats, "streams");
  if (gst_value_array_get_size (streams) > 0)
    gst_structure_get_uint64 (gst_value_get_structure
        (gst_value_array_get_value (streams, 0)), "n-packets", &n);
  gst_structure_free (stats);
  return n;
}

static GstElement *
receiver_new (GstElement ** in, GstElement ** mix)
{
  GstElement *pipeline = gst_parse_launch ("rtpbin name=in "
      "partialmix name=mix rtpbin=in "
      "mix.src_99 ! fakesink sync=false async=false", NULL);

  *in = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  *mix = gst_bin_get_by_name (GST_BIN (pipeline), "mix");
  return pipeline;
}

static void
receiver_free (GstElement * pipeline, GstElement * in, GstElement * mix)
{
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (mix);
  gst_object_unref (in);
  gst_object_unref (pipeline);
}

/* A talker who was in a mix for four seconds is separate again, and the second packet
 * is lost. */
GST_START_TEST (test_a_lost_packet_after_a_pause_holds_up_none)
{
  GstElement *in, *mix, *pipeline = receiver_new (&in, &mix);
  GstPad *network;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  network = join_session (in);
  for (guint16 seq = 0; seq < 20; seq++) {
    GstBuffer *packet = rtp_packet_new (1000, seq, FRAME_SAMPLES);
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    if (seq >= 10) {
      gst_rtp_buffer_map (packet, GST_MAP_WRITE, &rtp);
      gst_rtp_buffer_set_timestamp (&rtp, (200 + seq) * FRAME_SAMPLES);
      gst_rtp_buffer_unmap (&rtp);
      GST_BUFFER_PTS (packet) += 200 * FRAME;
    }
    if (seq == 11)
      gst_buffer_unref (packet);
    else
      fail_unless_equals_int (gst_pad_push (network, packet), GST_FLOW_OK);
    /* the session keeps the first one until the second one comes */
    fail_unless_equals_uint64 (n_come_in (mix),
        seq == 0 ? 0 : seq < 11 ? seq + 1 : seq);
  }
  gst_object_unref (network);
  receiver_free (pipeline, in, mix);
}

GST_END_TEST;

static guint
n_jitterbuffers (GstElement * in)
{
  GstIterator *it = gst_bin_iterate_all_by_element_factory_name (GST_BIN (in),
      "rtpjitterbuffer");
  GValue item = G_VALUE_INIT;
  guint n = 0;

  while (gst_iterator_next (it, &item) == GST_ITERATOR_OK) {
    g_value_reset (&item);
    n++;
  }
  g_value_unset (&item);
  gst_iterator_free (it);
  return n;
}

/* It takes a jitter buffer to ask for a packet again. */
GST_START_TEST (test_who_asks_for_packets_again_has_a_jitter_buffer)
{
  gboolean retransmission = __i__ == 1;
  GstElement *in, *mix, *pipeline = receiver_new (&in, &mix);
  GstPad *network;

  g_object_set (in, "do-retransmission", retransmission, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  network = join_session (in);
  for (guint16 seq = 0; seq < 2; seq++)
    fail_unless_equals_int (gst_pad_push (network, rtp_packet_new (1000, seq,
                FRAME_SAMPLES)), GST_FLOW_OK);
  fail_unless_equals_int (n_jitterbuffers (in), retransmission ? 1 : 0);
  gst_object_unref (network);
  receiver_free (pipeline, in, mix);
}

GST_END_TEST;

static void
unlink_from_mixer (GstPad * src)
{
  GstPad *sink = gst_pad_get_peer (src);

  gst_pad_unlink (src, sink);
  gst_object_unref (sink);
}

/* Whoever takes a stream no more says so to that stream alone. */
GST_START_TEST (test_a_stream_that_nobody_takes_ends_no_other_one)
{
  GstElement *in, *mix, *pipeline = receiver_new (&in, &mix);
  GstPad *network, *taken;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  network = join_session (in);
  for (guint16 seq = 0; seq < 4; seq++) {
    for (guint ssrc = 1000; ssrc < 1002; ssrc++)
      fail_unless_equals_int (gst_pad_push (network, rtp_packet_new (ssrc, seq,
                  FRAME_SAMPLES)), GST_FLOW_OK);
    if (seq != 1)
      continue;
    taken = gst_element_get_static_pad (in, "recv_rtp_src_0_1000_0");
    unlink_from_mixer (taken);
    gst_object_unref (taken);
  }
  receiver_free (pipeline, in, mix);
  gst_object_unref (network);
}

GST_END_TEST;

static Suite *
partialmix_suite (void)
{
  Suite *suite = suite_create ("partialmix");
  TCase *tc = tcase_create ("rtpbin");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc,
      test_a_stream_is_linked_when_it_is_shown_whoever_else_comes);
  tcase_add_test (tc, test_pads_go_with_their_streams);
  tcase_add_test (tc, test_an_rtpbin_that_is_not_there_is_named);
  tcase_add_test (tc, test_threads_that_ask_at_once_get_pads_of_different_names);
  tcase_add_test (tc, test_rtcp_needs_the_number_of_a_neighbour);
  tcase_add_loop_test (tc, test_talkers_who_join_at_once_all_come_in, 0, 10);
  tcase_add_test (tc, test_it_ends_when_nobody_has_come);
  tcase_add_test (tc, test_a_lost_packet_after_a_pause_holds_up_none);
  tcase_add_loop_test (tc, test_who_asks_for_packets_again_has_a_jitter_buffer,
      0, 2);
  tcase_add_test (tc, test_a_stream_that_nobody_takes_ends_no_other_one);
  return suite;
}

GST_CHECK_MAIN (partialmix);
