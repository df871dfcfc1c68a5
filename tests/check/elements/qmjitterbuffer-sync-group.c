/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Streams that are played together. */

#include "qmjitterbuffercheck.h"

GST_START_TEST (test_a_sync_group_plays_with_the_largest_delay)
{
  GstElement *bin = gst_object_ref_sink (gst_bin_new (NULL));
  GstElement *a = gst_element_factory_make ("qmjitterbuffer", "a");
  GstElement *b = gst_element_factory_make ("qmjitterbuffer", "b");
  GstHarness *ha, *hb;
  GstClockTimeDiff delay = 0;
  guint n;

  gst_bin_add_many (GST_BIN (bin), a, b, NULL);
  /* they wait for what is late */
  g_object_set (a, "memory-time", 0, NULL);
  g_object_set (b, "memory-time", 0, NULL);
  g_object_set (a, "sync-group", "call", "max-offset", (guint64) 10 * MS, NULL);
  g_object_set (b, "sync-group", "call", "max-offset", (guint64) 10 * MS, NULL);
  ha = gst_harness_new_with_element (a, "sink", "src");
  hb = gst_harness_new_with_element (b, "sink", "src");
  gst_harness_set_src_caps_str (ha, CAPS);
  gst_harness_set_src_caps_str (hb, CAPS);
  for (n = 0; n < 200; n++) {
    pass (ha, n, n == 20 ? 90 * MS : 0);
    push (hb, n, 0);
    delay = pull (hb, n);
    if (n > 100)
      break;
  }
  fail_unless (delay >= 70 * MS && delay <= 100 * MS, "%" G_GINT64_FORMAT,
      delay);
  /* released again when nobody asks */
  g_object_set (b, "sync-group", NULL, NULL);
  for (n++; n < 800; n++) {
    push (hb, n, 0);
    wait_decided (hb, n + 1);
  }
  while (gst_harness_buffers_in_queue (hb) > 0) {
    GstBuffer *buffer = gst_harness_pull (hb);

    delay = GST_CLOCK_DIFF (sent (number_of (buffer)), GST_BUFFER_PTS (buffer));
    gst_buffer_unref (buffer);
  }
  fail_unless (delay <= 40 * MS);
  gst_harness_teardown (ha);
  gst_harness_teardown (hb);
  gst_object_unref (bin);
}

GST_END_TEST;

/* What audio asks for, video waits for, and the other way round. */
static void
check_audio_and_video (guint video_latency_ms, GstClockTimeDiff audio_jitter,
    GstClockTimeDiff least)
{
  GstElement *bin = gst_object_ref_sink (gst_bin_new (NULL));
  GstElement *audio = gst_element_factory_make ("qmjitterbuffer", "audio");
  GstElement *video = gst_element_factory_make ("qmjitterbuffer", "video");
  GstClockTimeDiff audio_delay = 0, video_delay = 0;
  GstHarness *ha, *hv;

  gst_bin_add_many (GST_BIN (bin), audio, video, NULL);
  g_object_set (audio, "memory-time", 0, NULL);
  g_object_set (audio, "sync-group", "call", "max-offset", (guint64) 10 * MS,
      NULL);
  g_object_set (video, "sync-group", "call", "max-offset", (guint64) 10 * MS,
      "latency", video_latency_ms, NULL);
  ha = gst_harness_new_with_element (audio, "sink", "src");
  hv = gst_harness_new_with_element (video, "sink", "src");
  gst_harness_set_src_caps_str (ha, CAPS);
  gst_harness_set_src_caps_str (hv, "application/x-rtp, media=(string)video, "
      "clock-rate=(int)48000, encoding-name=(string)VP8, payload=(int)96");
  for (guint n = 0; n < 150; n++) {
    audio_delay = pass (ha, n, n == 20 ? audio_jitter : 0);
    video_delay = pass (hv, n, 0);
    if (n > 100) {
      fail_unless (audio_delay >= least && video_delay >= least);
      fail_unless (ABS (audio_delay - video_delay) <= 10 * MS,
          "%" G_GINT64_FORMAT " %" G_GINT64_FORMAT, audio_delay, video_delay);
    }
  }
  gst_harness_teardown (ha);
  gst_harness_teardown (hv);
  gst_object_unref (bin);
}

GST_START_TEST (test_a_sync_group_keeps_audio_and_video_together)
{
  check_audio_and_video (20, 90 * MS, 70 * MS);
  check_audio_and_video (200, 0, 190 * MS);
}

GST_END_TEST;

#define N_CHANGES 2000

static gpointer
come_and_go (gpointer element)
{
  for (guint i = 0; i < N_CHANGES; i++)
    g_object_set (element, "sync-group", i % 2 == 0 ? NULL : "call", NULL);
  return NULL;
}

/* ThreadSanitizer watches: the stream tells its group of its delay each half a
 * second. */
GST_START_TEST (test_a_group_is_joined_and_left_under_load)
{
  GstElement *element = gst_element_factory_make ("qmjitterbuffer", NULL);
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");
  GThread *thread;

  g_object_set (element, "sync-group", "call", NULL);
  gst_harness_set_src_caps_str (h, CAPS);
  thread = g_thread_new ("settings", come_and_go, element);
  for (guint n = 0; n < N_CHANGES; n++)
    pass (h, n, 0);
  g_thread_join (thread);
  gst_harness_teardown (h);
  gst_object_unref (element);
}

GST_END_TEST;

static Suite *
qmjitterbuffer_sync_group_suite (void)
{
  Suite *suite = suite_create ("qmjitterbuffer-sync-group");
  TCase *tc;

  tc = tcase_create ("groups");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_a_sync_group_plays_with_the_largest_delay);
  tcase_add_test (tc, test_a_sync_group_keeps_audio_and_video_together);
  tcase_add_test (tc, test_a_group_is_joined_and_left_under_load);
  return suite;
}

GST_CHECK_MAIN (qmjitterbuffer_sync_group);
