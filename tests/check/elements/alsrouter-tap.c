/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a tap's stream says of itself is nothing to those that pass; and what comes before
 * there is a router. */
#include "../gstfairmixcheck.h"

typedef struct
{
  GstHarness *tap, *media;
} Rig;

static void
rig_init (Rig * rig)
{
  GstElement *element = gst_element_factory_make ("alsrouter", NULL);

  rig->media = gst_harness_new_with_element (element, "sink_0", "src_0");
  rig->tap = gst_harness_new_with_element (element, "tap_0", NULL);
  gst_object_unref (element);
  gst_harness_set_src_caps_str (rig->tap, "application/octet-stream");
}

static void
rig_clear (Rig * rig)
{
  gst_harness_teardown (rig->tap);
  gst_harness_teardown (rig->media);
}

static void
pass_a_packet (Rig * rig)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 12, NULL);

  gst_buffer_memset (buffer, 0, 0x80, 12);
  gst_buffer_unref (gst_harness_push_and_pull (rig->media, buffer));
}

/* A tap that begins before the media would send its segment before their caps, which
 * GStreamer warns of. */
GST_START_TEST (test_a_taps_segment_does_not_come_before_the_medias_caps)
{
  Rig rig;

  rig_init (&rig);
  /* the media's stream-start */
  fail_unless_equals_int ((gint) gst_harness_events_received (rig.media), 1);
  gst_harness_set_src_caps_str (rig.media, "application/x-rtp");
  pass_a_packet (&rig);
  /* caps, segment */
  fail_unless_equals_int ((gint) gst_harness_events_received (rig.media), 3);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_media_pass_after_the_tap_has_ended)
{
  Rig rig;

  rig_init (&rig);
  gst_harness_set_src_caps_str (rig.media, "application/x-rtp");
  fail_unless (gst_harness_push_event (rig.tap, gst_event_new_eos ()));
  pass_a_packet (&rig);
  rig_clear (&rig);
}

GST_END_TEST;

/* An application may link it, in a pipeline that plays, before it lets it play. */
GST_START_TEST (test_what_comes_before_it_runs_passes)
{
  static const gchar *const names[] = { "sink_0", "tap_0" };
  GstElement *element = gst_element_factory_make ("alsrouter", NULL);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    GstPad *pad = gst_element_request_pad_simple (element, names[i]);
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 40, NULL);

    gst_buffer_memset (buffer, 0, i == 0 ? 0x80 : 0x45, 40);
    gst_pad_send_event (pad, gst_event_new_stream_start ("early"));
    gst_pad_send_event (pad, gst_event_new_segment (&segment));
    fail_unless_equals_int (gst_pad_chain (pad, buffer), i == 0
        ? GST_FLOW_NOT_LINKED : GST_FLOW_OK);
    gst_object_unref (pad);
  }
  fail_unless_equals_uint64 (element_stat (element, "packets"), 0);
  gst_object_unref (element);
}

GST_END_TEST;

static Suite *
alsrouter_tap_suite (void)
{
  Suite *s = suite_create ("alsrouter-tap");
  TCase *general = tcase_create ("general");

  suite_add_tcase (s, general);
  tcase_add_test (general,
      test_a_taps_segment_does_not_come_before_the_medias_caps);
  tcase_add_test (general, test_media_pass_after_the_tap_has_ended);
  tcase_add_test (general, test_what_comes_before_it_runs_passes);
  return s;
}

GST_CHECK_MAIN (alsrouter_tap);
