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
  return suite;
}

GST_CHECK_MAIN (partialmix);
