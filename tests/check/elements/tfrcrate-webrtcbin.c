/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* RTCP that is heard inside of a webrtcbin */

#include "tfrcratecheck.h"

/* The bin stands for webrtcbin, which has an rtpbin of this name inside. */
GST_START_TEST (test_rtcp_is_heard_inside_of_a_named_webrtcbin)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *webrtcbin = gst_bin_new ("web");
  GstElement *rtpbin = gst_element_factory_make ("rtpbin", "rtpbin");
  GstElement *element = gst_element_factory_make ("tfrcrate", NULL);
  FmxReportBlock block = { SSRC, 0, 0, 0, 0, 0, 0 };
  GstHarness *media;
  GstSegment segment;
  GstPad *pad;

  g_object_set (element, "webrtcbin", "web", NULL);
  gst_bin_add (GST_BIN (pipeline), webrtcbin);
  gst_bin_add_many (GST_BIN (webrtcbin), rtpbin, element, NULL);
  media = gst_harness_new_with_element (element, "sink", "src");
  gst_harness_set_src_caps_str (media, RTP_CAPS_PCMU);
  /* the transport comes later */
  gst_harness_push (media, rtp_packet_new (SSRC, 0, PAYLOAD));
  pad = gst_element_request_pad_simple (rtpbin, "recv_rtcp_sink_0");
  gst_harness_push (media, rtp_packet_new (SSRC, 1, PAYLOAD));
  fail_unless_equals_int (element_stat (element, "n-rtcp"), 0);

  gst_element_set_state (rtpbin, GST_STATE_PAUSED);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_send_event (pad, gst_event_new_stream_start ("rtcp"));
  gst_pad_send_event (pad, gst_event_new_segment (&segment));
  fail_unless_equals_int (gst_pad_chain (pad, receiver_report_new (&block, 1)),
      GST_FLOW_OK);
  fail_unless_equals_int (element_stat (element, "n-rtcp"), 1);
  fail_unless_equals_int (element_stat (element, "n-feedback"), 1);

  /* who does not want to hear it does not */
  g_object_set (element, "webrtcbin", NULL, NULL);
  gst_pad_chain (pad, receiver_report_new (&block, 1));
  fail_unless_equals_int (element_stat (element, "n-rtcp"), 1);

  gst_harness_teardown (media);
  gst_element_set_state (rtpbin, GST_STATE_NULL);
  gst_element_release_request_pad (rtpbin, pad);
  gst_object_unref (pad);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* Returns: (transfer full): where the RTCP comes in of a new "web" in @pipeline */
static GstPad *
add_webrtcbin (GstElement * pipeline)
{
  GstElement *webrtcbin = gst_bin_new ("web");
  GstElement *rtpbin = gst_element_factory_make ("rtpbin", "rtpbin");
  GstSegment segment;
  GstPad *pad;

  gst_bin_add (GST_BIN (webrtcbin), rtpbin);
  gst_bin_add (GST_BIN (pipeline), webrtcbin);
  pad = gst_element_request_pad_simple (rtpbin, "recv_rtcp_sink_0");
  gst_element_set_state (webrtcbin, GST_STATE_PAUSED);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_send_event (pad, gst_event_new_stream_start ("rtcp"));
  gst_pad_send_event (pad, gst_event_new_segment (&segment));
  return pad;
}

static void
remove_webrtcbin (GstElement * pipeline)
{
  GstElement *webrtcbin = gst_bin_get_by_name (GST_BIN (pipeline), "web");

  gst_bin_remove (GST_BIN (pipeline), webrtcbin);
  gst_element_set_state (webrtcbin, GST_STATE_NULL);
  gst_object_unref (webrtcbin);
}

/* Who is called again has another one of the same name. */
GST_START_TEST (test_the_next_webrtcbin_of_that_name_is_heard)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *element = gst_element_factory_make ("tfrcrate", NULL);
  FmxReportBlock block = { SSRC, 0, 0, 0, 0, 0, 0 };
  GstTestClock *clock;
  GstHarness *media;
  GstPad *pad;

  g_object_set (element, "webrtcbin", "web", NULL);
  gst_bin_add (GST_BIN (pipeline), element);
  media = gst_harness_new_with_element (element, "sink", "src");
  clock = gst_harness_get_testclock (media);
  gst_harness_set_src_caps_str (media, RTP_CAPS_PCMU);
  for (guint i = 0; i < 3; i++) {
    pad = add_webrtcbin (pipeline);
    gst_harness_push (media, rtp_packet_new (SSRC, (guint16) i, PAYLOAD));
    gst_pad_chain (pad, receiver_report_new (&block, 1));
    fail_unless_equals_int (element_stat (element, "n-rtcp"), i + 1);
    gst_object_unref (pad);
    remove_webrtcbin (pipeline);
    clock_advance_to (clock, 1, (i + 1) * GST_SECOND);
  }
  gst_object_unref (clock);
  gst_harness_teardown (media);
  gst_object_unref (pipeline);
}

GST_END_TEST;

static GstFlowReturn
chain_nowhere (GstPad * pad G_GNUC_UNUSED, GstObject * parent G_GNUC_UNUSED,
    GstBuffer * buffer)
{
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

/* As add_webrtcbin (), with a pad that nobody else holds */
static GstPad *
add_hollow_webrtcbin (GstElement * pipeline)
{
  GstElement *webrtcbin = gst_bin_new ("web"), *rtpbin = gst_bin_new ("rtpbin");
  GstPad *pad = gst_pad_new ("recv_rtcp_sink_0", GST_PAD_SINK);
  GstSegment segment;

  gst_pad_set_chain_function (pad, chain_nowhere);
  gst_pad_set_active (pad, TRUE);
  gst_element_add_pad (rtpbin, gst_object_ref (pad));
  gst_bin_add (GST_BIN (webrtcbin), rtpbin);
  gst_bin_add (GST_BIN (pipeline), webrtcbin);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_send_event (pad, gst_event_new_stream_start ("rtcp"));
  gst_pad_send_event (pad, gst_event_new_segment (&segment));
  return pad;
}

typedef struct
{
  GstHarness *media;
  guint16 seq;
} Sender;

/* GWeakNotify */
static void
send_one (gpointer sender, GObject * pad G_GNUC_UNUSED)
{
  Sender *s = sender;

  gst_harness_push (s->media, rtp_packet_new (SSRC, s->seq++, PAYLOAD));
}

/* The first webrtcbin is gone, but for the pad that is listened to.  When that goes, too, a
 * packet comes by and looks for a webrtcbin of the name that is no longer wanted. */
GST_START_TEST (test_whoever_is_wanted_no_more_is_not_found_again)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *element = gst_element_factory_make ("tfrcrate", NULL);
  FmxReportBlock block = { SSRC, 0, 0, 0, 0, 0, 0 };
  Sender sender = { NULL, 0 };
  GstTestClock *clock;
  GstPad *pad;

  g_object_set (element, "webrtcbin", "web", NULL);
  gst_bin_add (GST_BIN (pipeline), element);
  sender.media = gst_harness_new_with_element (element, "sink", "src");
  clock = gst_harness_get_testclock (sender.media);
  gst_harness_set_src_caps_str (sender.media, RTP_CAPS_PCMU);
  pad = add_hollow_webrtcbin (pipeline);
  send_one (&sender, NULL);
  gst_pad_chain (pad, receiver_report_new (&block, 1));
  fail_unless_equals_int (element_stat (element, "n-rtcp"), 1);
  /* the timer, which lets go of a pad that is not beside the element any more, has been */
  clock_wait_idle (clock, 1);
  remove_webrtcbin (pipeline);
  g_object_weak_ref (G_OBJECT (pad), send_one, &sender);
  gst_object_unref (pad);

  pad = add_hollow_webrtcbin (pipeline);
  fail_unless_equals_int (sender.seq, 1);
  g_object_set (element, "webrtcbin", NULL, NULL);
  fail_unless_equals_int (sender.seq, 2);
  gst_pad_chain (pad, receiver_report_new (&block, 1));
  fail_unless_equals_int (element_stat (element, "n-rtcp"), 1);
  gst_object_unref (pad);
  remove_webrtcbin (pipeline);
  gst_object_unref (clock);
  gst_harness_teardown (sender.media);
  gst_object_unref (pipeline);
}

GST_END_TEST;

GST_START_TEST (test_a_webrtcbin_that_is_not_there_is_named)
{
  gchar *text = NULL;
  Fixture f;

  setup (&f);
  g_object_set (f.element, "webrtcbin", "nobody", NULL);
  for (guint i = 0; i < 300; i++) {
    push (&f, SSRC, (guint16) i);
    advance (&f, FRAME);
  }
  fail_unless_equals_int (pop_warnings (&f, &text), 1);
  fail_unless (strstr (text, "\"nobody\"") != NULL, "%s", text);
  g_free (text);
  teardown (&f);
}

GST_END_TEST;

static Suite *
tfrcrate_webrtcbin_suite (void)
{
  Suite *s = suite_create ("tfrcrate-webrtcbin");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_rtcp_is_heard_inside_of_a_named_webrtcbin);
  tcase_add_test (tc, test_the_next_webrtcbin_of_that_name_is_heard);
  tcase_add_test (tc, test_whoever_is_wanted_no_more_is_not_found_again);
  tcase_add_test (tc, test_a_webrtcbin_that_is_not_there_is_named);
  return s;
}

GST_CHECK_MAIN (tfrcrate_webrtcbin);
