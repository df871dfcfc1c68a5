/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/rtp/rtp.h>

#include "../gstfairmixcheck.h"

#define CAPS "application/x-rtp, media=(string)audio, clock-rate=(int)8000, " \
    "encoding-name=(string)PCMU, payload=(int)0"

static GstBuffer *
make_packet (guint n, guint32 ssrc)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (160, 0, 0);

  gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp);
  gst_rtp_buffer_set_payload_type (&rtp, 0);
  gst_rtp_buffer_set_ssrc (&rtp, ssrc);
  gst_rtp_buffer_set_seq (&rtp, (guint16) n);
  gst_rtp_buffer_set_timestamp (&rtp, n * 160);
  gst_rtp_buffer_unmap (&rtp);
  GST_BUFFER_PTS (buffer) = GST_BUFFER_DTS (buffer) = n * 20 * GST_MSECOND;
  return buffer;
}

static void
note_jitterbuffer (GstElement * rtpbin G_GNUC_UNUSED, GstElement * element,
    guint session G_GNUC_UNUSED, guint ssrc G_GNUC_UNUSED, GPtrArray * made)
{
  g_ptr_array_add (made, gst_object_ref (element));
}

static gboolean
is_made_by (GstElement * element, const gchar * factory)
{
  return g_str_equal (GST_OBJECT_NAME (gst_element_get_factory (element)),
      factory);
}

/* What @launch, which has an rtpbin in it, makes for two sources */
static GPtrArray *
jitterbuffers_of (GstElement * pipeline, GstElement * rtpbin)
{
  GPtrArray *made = g_ptr_array_new_with_free_func (gst_object_unref);
  GstHarness *h;

  g_signal_connect (rtpbin, "new-jitterbuffer",
      G_CALLBACK (note_jitterbuffer), made);
  h = gst_harness_new_with_element (rtpbin, "recv_rtp_sink_0", NULL);
  fail_unless (gst_element_set_state (pipeline, GST_STATE_PLAYING) !=
      GST_STATE_CHANGE_FAILURE);
  gst_harness_set_src_caps_str (h, CAPS);
  for (guint n = 0; n < 10; n++) {
    gst_harness_push (h, make_packet (n, 111));
    gst_harness_push (h, make_packet (n, 222));
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_harness_teardown (h);
  return made;
}

GST_START_TEST (test_every_source_gets_a_qmjitterbuffer)
{
  GstElement *pipeline = gst_parse_launch ("rtpbin name=in latency=120 "
      "qmrtpbin name=helper rtpbin=in jitterbuffer=\"jb,max-delay=500,"
      "sync-group=call,decay=1.5\"", NULL);
  GstElement *rtpbin = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  GstElement *helper = gst_bin_get_by_name (GST_BIN (pipeline), "helper");
  GPtrArray *made = jitterbuffers_of (pipeline, rtpbin);
  guint n;

  fail_unless_equals_int (made->len, 2);
  for (guint i = 0; i < made->len; i++) {
    guint latency, max_delay;
    gdouble decay;
    gchar *group;

    fail_unless (is_made_by (made->pdata[i], "qmjitterbuffer"));
    g_object_get (made->pdata[i], "latency", &latency, "max-delay", &max_delay,
        "sync-group", &group, "decay", &decay, NULL);
    fail_unless_equals_int (latency, 120);      /* rtpbin's */
    fail_unless_equals_int (max_delay, 500);    /* the helper's */
    fail_unless_equals_string (group, "call");
    fail_unless (decay == 1.5);
    g_free (group);
  }
  g_object_get (helper, "n-jitterbuffers", &n, NULL);
  fail_unless_equals_int (n, 2);
  g_ptr_array_unref (made);
  gst_object_unref (helper);
  gst_object_unref (rtpbin);
  gst_object_unref (pipeline);
}

GST_END_TEST;

GST_START_TEST (test_without_a_name_it_serves_all)
{
  GstElement *pipeline = gst_parse_launch ("rtpbin name=in rtpbin name=out "
      "qmrtpbin", NULL);
  GstElement *rtpbin = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  GPtrArray *made = jitterbuffers_of (pipeline, rtpbin);

  fail_unless_equals_int (made->len, 2);
  fail_unless (is_made_by (made->pdata[0], "qmjitterbuffer"));
  g_ptr_array_unref (made);
  gst_object_unref (rtpbin);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* One handler asks, however often it was taken out and put in again. */
GST_START_TEST (test_who_comes_again_is_served_once)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *helper = gst_element_factory_make ("qmrtpbin", NULL);
  GstElement *rtpbin = gst_element_factory_make ("rtpbin", NULL);

  gst_object_ref_sink (rtpbin);
  gst_bin_add (GST_BIN (pipeline), gst_object_ref (helper));
  gst_element_set_state (pipeline, GST_STATE_READY);
  for (guint i = 0; i < 3; i++) {
    gst_bin_add (GST_BIN (pipeline), rtpbin);
    gst_bin_remove (GST_BIN (pipeline), rtpbin);
  }
  fail_unless_equals_int (g_signal_handlers_block_matched (rtpbin,
          G_SIGNAL_MATCH_DATA, 0, 0, NULL, NULL, helper), 1);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (helper);
  gst_object_unref (pipeline);
  gst_object_unref (rtpbin);
}

GST_END_TEST;

GST_START_TEST (test_others_are_left_alone)
{
  GstElement *pipeline = gst_parse_launch ("rtpbin name=in rtpbin name=out "
      "qmrtpbin rtpbin=out", NULL);
  GstElement *rtpbin = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  GPtrArray *made = jitterbuffers_of (pipeline, rtpbin);

  fail_unless_equals_int (made->len, 2);
  fail_unless (is_made_by (made->pdata[0], "rtpjitterbuffer"));
  g_ptr_array_unref (made);
  gst_object_unref (rtpbin);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* as in webrtcbin and rtspsrc: inside of a bin, and made later */
GST_START_TEST (test_an_rtpbin_inside_of_a_bin_is_found)
{
  GstElement *pipeline = gst_parse_launch ("bin.( name=outer rtpbin name=in ) "
      "qmrtpbin rtpbin=outer", NULL);
  GstElement *outer = gst_bin_get_by_name (GST_BIN (pipeline), "outer");
  GstElement *rtpbin = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  GPtrArray *made = jitterbuffers_of (pipeline, rtpbin);

  fail_unless (is_made_by (made->pdata[0], "qmjitterbuffer"));
  g_ptr_array_unref (made);
  gst_object_unref (rtpbin);

  fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_READY),
      GST_STATE_CHANGE_SUCCESS);
  rtpbin = gst_object_ref (gst_element_factory_make ("rtpbin", "late"));
  gst_bin_add (GST_BIN (outer), rtpbin);
  made = jitterbuffers_of (pipeline, rtpbin);
  fail_unless_equals_int (made->len, 2);
  fail_unless (is_made_by (made->pdata[0], "qmjitterbuffer"));
  g_ptr_array_unref (made);
  gst_object_unref (rtpbin);
  gst_object_unref (outer);
  gst_object_unref (pipeline);
}

GST_END_TEST;

GST_START_TEST (test_a_name_that_is_not_there_is_an_error)
{
  GstElement *pipeline =
      gst_parse_launch ("rtpbin name=in qmrtpbin rtpbin=inn", NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  GError *error = NULL;

  fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_PLAYING),
      GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, "\"inn\"") != NULL);
  g_clear_error (&error);
  gst_message_unref (message);
  gst_object_unref (bus);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* At the start, and where it is set later; what is right is set nevertheless. */
GST_START_TEST (test_a_property_that_is_not_there_is_told)
{
  GstElement *pipeline = gst_parse_launch ("rtpbin name=in qmrtpbin "
      "name=helper jitterbuffer=\"jb,max-dealy=500,max-delay=700,stats=x\"",
      NULL);
  GstElement *rtpbin = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  GstElement *helper = gst_bin_get_by_name (GST_BIN (pipeline), "helper");
  GPtrArray *made;
  guint max_delay;

  gst_element_set_state (pipeline, GST_STATE_READY);
  fail_unless_equals_int (pipeline_warnings (pipeline), 2);
  gst_util_set_object_arg (G_OBJECT (helper), "jitterbuffer",
      "jb,max-delay=600");
  fail_unless_equals_int (pipeline_warnings (pipeline), 0);
  gst_util_set_object_arg (G_OBJECT (helper), "jitterbuffer",
      "jb,max-delay=700,min-dealy=5");
  fail_unless_equals_int (pipeline_warnings (pipeline), 1);
  made = jitterbuffers_of (pipeline, rtpbin);
  g_object_get (made->pdata[0], "max-delay", &max_delay, NULL);
  fail_unless_equals_int (max_delay, 700);
  g_ptr_array_unref (made);
  gst_object_unref (helper);
  gst_object_unref (rtpbin);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* Called where qmrtpbin says whom it serves: somebody else adds an element just then. */
static void
add_element (GstDebugCategory * category, GstDebugLevel level,
    const gchar * file, const gchar * function, gint line, GObject * object,
    GstDebugMessage * message, gpointer pipeline)
{
  if (g_strcmp0 (gst_debug_category_get_name (category), "qmrtpbin") == 0
      && strstr (gst_debug_message_get (message), "serving") != NULL)
    gst_bin_add (GST_BIN (pipeline), gst_element_factory_make ("identity",
            NULL));
}

static gboolean
is_served (GstElement * pipeline, const gchar * name)
{
  GstElement *rtpbin = gst_bin_get_by_name (GST_BIN (pipeline), name);
  gboolean served = g_signal_has_handler_pending (rtpbin,
      g_signal_lookup ("request-jitterbuffer", G_OBJECT_TYPE (rtpbin)), 0,
      FALSE);

  gst_object_unref (rtpbin);
  return served;
}

GST_START_TEST (test_all_are_served_while_elements_come)
{
  GstElement *pipeline = gst_parse_launch ("rtpbin name=a rtpbin name=b "
      "rtpbin name=c qmrtpbin", NULL);

  gst_debug_add_log_function (add_element, pipeline, NULL);
  gst_debug_set_threshold_for_name ("qmrtpbin", GST_LEVEL_INFO);
  gst_element_set_state (pipeline, GST_STATE_READY);
  gst_debug_unset_threshold_for_name ("qmrtpbin");
  gst_debug_remove_log_function (add_element);
  fail_unless (is_served (pipeline, "a"));
  fail_unless (is_served (pipeline, "b"));
  fail_unless (is_served (pipeline, "c"));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

GST_END_TEST;

static Suite *
qmrtpbin_suite (void)
{
  Suite *s = suite_create ("qmrtpbin");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_every_source_gets_a_qmjitterbuffer);
  tcase_add_test (tc, test_without_a_name_it_serves_all);
  tcase_add_test (tc, test_who_comes_again_is_served_once);
  tcase_add_test (tc, test_others_are_left_alone);
  tcase_add_test (tc, test_an_rtpbin_inside_of_a_bin_is_found);
  tcase_add_test (tc, test_a_name_that_is_not_there_is_an_error);
  tcase_add_test (tc, test_a_property_that_is_not_there_is_told);
  tcase_add_test (tc, test_all_are_served_while_elements_come);
  return s;
}

GST_CHECK_MAIN (qmrtpbin);
