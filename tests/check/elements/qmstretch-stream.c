/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What jumps, gaps, ends, formats and events do to the debt. */

#include "qmstretchcheck.h"

/* Only what was announced is stretched. */
GST_START_TEST (test_other_jumps_pass_as_they_are)
{
  static const GstClockTimeDiff jumps[] = { 20 * MS, -20 * MS, 3, 700 * MS };
  Rig rig;

  rig_init (&rig);
  push (&rig, 10);
  for (guint i = 0; i < G_N_ELEMENTS (jumps); i++) {
    rig.stamp += jumps[i];
    fail_unless (passes_untouched (&rig));
  }
  rig_clear (&rig);
}

GST_END_TEST;

/* A dropped packet leaves nothing to be done: what it leaves is announced, and
 * not there.  Long after that an announcement is no longer believed. */
GST_START_TEST (test_announcements_without_a_jump_do_nothing)
{
  Rig rig;

  rig_init (&rig);
  push (&rig, 10);
  push_event (&rig, -20 * MS);
  for (gint i = 0; i < 20; i++)
    fail_unless (passes_untouched (&rig));
  rig.stamp -= 20 * MS;
  fail_unless (passes_untouched (&rig));
  rig_clear (&rig);
}

GST_END_TEST;

/* Decoders that wait for another packet to come hand on events too early. */
GST_START_TEST (test_an_announcement_may_be_early)
{
  Rig rig;

  rig_init (&rig);
  push (&rig, 10);
  push_event (&rig, -20 * MS);
  push (&rig, 2);
  rig.stamp -= 20 * MS;
  push (&rig, 1);
  fail_unless (debt (&rig) < 0);
  push_until_done (&rig);
  fail_unless_equals_int (rig.n_gaps, 0);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_a_gap_takes_up_what_is_to_be_done)
{
  Rig rig;
  GstEvent *event;
  GstClockTime pts, duration;

  /* 60 ms too many, and 100 ms in which nothing comes */
  rig_init (&rig);
  push (&rig, 10);
  adjust (&rig, -60 * MS);
  push (&rig, 1);
  fail_unless (debt (&rig) < 0);
  while ((event = gst_harness_try_pull_event (rig.h)) != NULL)
    gst_event_unref (event);
  gst_harness_push_event (rig.h, gst_event_new_gap (rig.stamp, 100 * MS));
  collect (&rig);
  event = gst_harness_pull_event (rig.h);
  fail_unless_equals_int (GST_EVENT_TYPE (event), GST_EVENT_GAP);
  gst_event_parse_gap (event, &pts, &duration);
  fail_unless_equals_uint64 (pts, rig.position);
  rig.stamp += 100 * MS;
  fail_unless_equals_uint64 (pts + duration, rig.stamp);
  gst_event_unref (event);
  fail_unless_equals_int64 (debt (&rig), 0);
  rig.position = rig.stamp;
  fail_unless (passes_untouched (&rig));

  /* the same without an event, and too short */
  adjust (&rig, -60 * MS);
  push (&rig, 1);
  rig.stamp += 10 * MS;
  push (&rig, 1);
  fail_unless (debt (&rig) < 0);
  fail_unless_equals_int (rig.n_gaps, 0);

  /* an empty stretch of time is not announced */
  while ((event = gst_harness_try_pull_event (rig.h)) != NULL)
    gst_event_unref (event);
  gst_harness_push_event (rig.h, gst_event_new_gap (rig.stamp, 1 * MS));
  fail_unless (gst_harness_try_pull_event (rig.h) == NULL);
  rig_clear (&rig);
}

GST_END_TEST;

/* Also a hole that nobody said, and that is too short for all of it */
GST_START_TEST (test_a_hole_takes_up_some_of_what_is_to_be_done)
{
  Rig rig;

  rig_init (&rig);
  push (&rig, 10);
  adjust (&rig, -60 * MS);
  push (&rig, 1);
  fail_unless (debt (&rig) < 0);
  rig.stamp += 10 * MS;
  push_until_done (&rig);
  fail_unless_equals_uint64 (rig.position, rig.stamp);
  fail_unless_equals_int (rig.n_gaps, 0);
  rig_clear (&rig);
}

GST_END_TEST;

/* As audio that goes back, which nobody said: what is left to be done is not so much more */
GST_START_TEST (test_a_gap_that_goes_back_is_obeyed)
{
  Rig rig;

  rig_init (&rig);
  push (&rig, 50);
  adjust (&rig, -60 * MS);
  push (&rig, 1);
  fail_unless (debt (&rig) < 0);
  rig.stamp = START;
  gst_harness_push_event (rig.h, gst_event_new_gap (rig.stamp, 100 * MS));
  collect (&rig);
  rig.stamp += 100 * MS;
  fail_unless_equals_int64 (debt (&rig), 0);
  fail_unless (passes_untouched (&rig));
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_eos_drains)
{
  Rig rig;
  guint len;

  rig_init (&rig);
  push (&rig, 10);
  adjust (&rig, -100 * MS);
  push (&rig, 1);
  len = rig.out->len;
  fail_unless (gst_harness_push_event (rig.h, gst_event_new_eos ()));
  collect (&rig);
  fail_unless (rig.out->len > len);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_flush_forgets)
{
  Rig rig;
  GstSegment segment;

  rig_init (&rig);
  push (&rig, 10);
  adjust (&rig, -100 * MS);
  push (&rig, 1);
  push_event (&rig, -100 * MS);
  gst_harness_push_event (rig.h, gst_event_new_flush_start ());
  gst_harness_push_event (rig.h, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (rig.h, gst_event_new_segment (&segment));
  fail_unless_equals_int64 (debt (&rig), 0);
  rig.stamp = 0;
  fail_unless (passes_untouched (&rig));
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_a_new_format_drains_the_old_one)
{
  Rig rig;
  guint len;

  rig_init (&rig);
  push (&rig, 10);
  adjust (&rig, -100 * MS);
  push (&rig, 1);
  len = rig.out->len;
  gst_harness_set_src_caps_str (rig.h, "audio/x-raw, format=" GST_AUDIO_NE (F32)
      ", rate=16000, channels=2, layout=interleaved");
  collect (&rig);
  fail_unless (rig.out->len > len);
  fail_unless_equals_int64 (debt (&rig), 0);
  gst_audio_info_set_format (&rig.info, GST_AUDIO_FORMAT_F32, 16000, 2, NULL);
  fail_unless (passes_untouched (&rig));
  adjust (&rig, -20 * MS);
  push_until_done (&rig);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_the_same_format_changes_nothing)
{
  Rig rig;
  gint64 before;

  rig_init (&rig);
  push (&rig, 10);
  adjust (&rig, -400 * MS);
  push (&rig, 1);
  before = debt (&rig);
  gst_harness_set_src_caps (rig.h, gst_audio_info_to_caps (&rig.info));
  fail_unless_equals_int64 (debt (&rig), before);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_a_minute_too_much_is_cut)
{
  Rig rig;

  rig_init (&rig);
  rig.stamp += 60 * GST_SECOND;
  rig.position = rig.stamp;
  push (&rig, 10);
  for (gint i = 0; i < 6; i++)
    adjust (&rig, -10 * (GstClockTimeDiff) GST_SECOND);
  for (gint i = 0; i < 620; i++)
    push_buffer (&rig, make_buffer (&rig));
  push_until_done (&rig);
  fail_unless (passes_untouched (&rig));
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_absurd_events_do_nothing)
{
  static const gint64 absurd[] = { G_MININT64, G_MAXINT64, 0 };
  Rig rig;

  rig_init (&rig);
  push (&rig, 10);
  for (guint i = 0; i < G_N_ELEMENTS (absurd); i++) {
    push_event (&rig, absurd[i]);
    fail_unless (passes_untouched (&rig));
  }
  gst_harness_push_event (rig.h,
      gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
          gst_structure_new (ADJUST, "adjustment", G_TYPE_STRING, "x", NULL)));
  gst_harness_push_event (rig.h,
      gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
          gst_structure_new_empty (ADJUST)));
  rig.stamp -= 20 * MS;
  fail_unless (passes_untouched (&rig));
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_buffers_without_time_follow_on)
{
  Rig rig;
  GstBuffer *buffer;

  rig_init (&rig);
  push (&rig, 10);
  adjust (&rig, -20 * MS);
  push (&rig, 1);
  for (gint i = 0; i < 100; i++) {
    buffer = make_buffer (&rig);
    GST_BUFFER_PTS (buffer) = GST_CLOCK_TIME_NONE;
    push_buffer (&rig, buffer);
    if (debt (&rig) == 0)
      break;
  }
  fail_unless_equals_int64 (debt (&rig), 0);
  fail_unless_equals_int (rig.n_gaps, 0);
  fail_unless_equals_int (gst_harness_push (rig.h, gst_buffer_new ()),
      GST_FLOW_OK);
  rig_clear (&rig);
}

GST_END_TEST;

static Suite *
qmstretch_stream_suite (void)
{
  Suite *suite = suite_create ("qmstretch-stream");
  TCase *tc;

  tc = tcase_create ("stream");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_other_jumps_pass_as_they_are);
  tcase_add_test (tc, test_announcements_without_a_jump_do_nothing);
  tcase_add_test (tc, test_an_announcement_may_be_early);
  tcase_add_test (tc, test_a_gap_takes_up_what_is_to_be_done);
  tcase_add_test (tc, test_a_hole_takes_up_some_of_what_is_to_be_done);
  tcase_add_test (tc, test_a_gap_that_goes_back_is_obeyed);
  tcase_add_test (tc, test_eos_drains);
  tcase_add_test (tc, test_flush_forgets);
  tcase_add_test (tc, test_a_new_format_drains_the_old_one);
  tcase_add_test (tc, test_the_same_format_changes_nothing);
  tcase_add_test (tc, test_a_minute_too_much_is_cut);
  tcase_add_test (tc, test_absurd_events_do_nothing);
  tcase_add_test (tc, test_buffers_without_time_follow_on);
  return suite;
}

GST_CHECK_MAIN (qmstretch_stream);
