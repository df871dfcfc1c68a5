/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The application pauses, and what comes goes on coming; or time begins anew. */

#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mixrig.h"

#define FRAME_TIME (20 * GST_MSECOND)
#define AMPLITUDE 3000
#define HOUR (3600 * GST_SECOND)

static Rig *
begin (gboolean mixed, RigListener ** listener)
{
  Rig *rig = rig_new ("mix-encoding=l16 latency=40000000 ramp-duration=0 "
      "stream-timeout=5000000000");

  *listener = rig_listener (rig, "src_0", NULL);
  if (mixed)
    rig_set_target (*listener, RIG_L16_MIX_BPS * 5 / 4);
  rig_talker (rig, "sink_1", 101, RIG_L16, 400, AMPLITUDE);
  rig_talker (rig, "sink_2", 102, RIG_L16, 700, AMPLITUDE);
  rig_play (rig);
  rig_run (rig, 30);
  return rig;
}

/* rig_run() where running time is not what the clock says */
static void
run (Rig * rig, guint n_frames)
{
  GstClockTime base = gst_element_get_base_time (rig->mix);
  guint i, k;

  for (k = 0; k < n_frames; k++) {
    rig_advance (rig, base + rig->frame * FRAME_TIME);
    for (i = 0; i < rig->talkers->len; i++)
      rig_send (rig, g_ptr_array_index (rig->talkers, i));
    rig->frame++;
  }
  rig_advance (rig, base + rig->frame * FRAME_TIME);
}

/* As a pipeline does it: from PLAYING on running time is what it was. */
static void
go_on_after (Rig * rig, GstClockTime pause)
{
  gst_element_set_base_time (rig->mix, gst_element_get_base_time (rig->mix)
      + pause);
  rig_play (rig);
}

static void
pause_for (Rig * rig, GstClockTime pause, gboolean talking)
{
  guint i;

  gst_element_set_state (rig->mix, GST_STATE_PAUSED);
  gst_test_clock_advance_time (rig->clock, (GstClockTimeDiff) pause);
  for (i = 0; talking && i < rig->talkers->len; i++)
    rig_send (rig, g_ptr_array_index (rig->talkers, i));
  go_on_after (rig, pause);
}

GST_START_TEST (test_who_leaves_after_a_pause_is_forgotten_in_time)
{
  RigListener *listener;
  Rig *rig = begin (__i__, &listener);
  guint i;

  pause_for (rig, HOUR, TRUE);
  run (rig, 10);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 2);
  for (i = 0; i < 2; i++)
    ((RigTalker *) g_ptr_array_index (rig->talkers, i))->silent = TRUE;
  run (rig, 300);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 0);
  rig_free (rig);
}

GST_END_TEST;

/* Running time is 0 again, as after a flushing seek of the pipeline, or when it was
 * stopped; who talks notices nothing. */
static void
begin_anew (Rig * rig, GstState state)
{
  guint i;

  gst_element_set_state (rig->mix, state);
  for (i = 0; i < rig->talkers->len; i++)
    ((RigTalker *) g_ptr_array_index (rig->talkers, i))->ts_base +=
        rig->frame * RIG_FRAME;
  gst_element_set_base_time (rig->mix, gst_clock_get_time (GST_CLOCK
          (rig->clock)));
  rig->frame = 0;
  rig_play (rig);
}

GST_START_TEST (test_who_talks_is_heard_when_time_begins_anew)
{
  gboolean mixed = __i__ % 2, stopped = __i__ / 2;
  RigListener *listener;
  Rig *rig = begin (mixed, &listener);
  gdouble *heard;
  guint i, bps;

  run (rig, 300);
  bps = rig_pad_stat (listener, "bitrate-out");
  begin_anew (rig, stopped ? GST_STATE_READY : GST_STATE_PAUSED);
  g_ptr_array_set_size (listener->buffers, 0);
  run (rig, 50);
  heard = rig_hear (rig, listener, 0);
  for (i = 15; i < 40; i++)
    rig_assert_level (heard, i * RIG_FRAME, RIG_FRAME, 400, AMPLITUDE, 0.1);
  g_free (heard);
  run (rig, 100);
  fail_unless (ABS ((gint) rig_pad_stat (listener, "bitrate-out") - (gint) bps)
      < (gint) bps / 20);
  for (i = 0; i < 2; i++)
    ((RigTalker *) g_ptr_array_index (rig->talkers, i))->silent = TRUE;
  run (rig, 300);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 0);
  rig_free (rig);
}

GST_END_TEST;

/* As who is added to a pipeline that has run for an hour: what comes before it plays has
 * no time, and is not an hour old when it does. */
GST_START_TEST (test_who_came_before_it_played_is_new_when_it_plays)
{
  Rig *rig = rig_new (NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 101, RIG_L16, 400, AMPLITUDE);

  rig_listener (rig, "src_0", NULL);
  gst_test_clock_set_time (rig->clock, HOUR);
  gst_element_set_state (rig->mix, GST_STATE_PAUSED);
  rig_send (rig, talker);
  rig_play (rig);
  rig_advance (rig, HOUR + 25 * GST_SECOND);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 1);
  rig_advance (rig, HOUR + 35 * GST_SECOND);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 0);
  rig_free (rig);
}

GST_END_TEST;

/* A Database that is read for as long as the other end of the pipe is open */
static gchar *
make_pipe (void)
{
  gchar *dir = g_dir_make_tmp ("partialmix-XXXXXX", NULL);
  gchar *name = g_build_filename (dir, "database", NULL);

  fail_unless (mkfifo (name, 0600) == 0);
  g_free (dir);
  return name;
}

static void
remove_pipe (gchar * name)
{
  gchar *dir = g_path_get_dirname (name);

  g_unlink (name);
  g_rmdir (dir);
  g_free (dir);
  g_free (name);
}

static void
tick (Rig * rig)
{
  GstClockID id;

  gst_test_clock_wait_for_next_pending_id (rig->clock, &id);
  gst_test_clock_set_time (rig->clock, gst_clock_id_get_time (id));
  gst_clock_id_unref (id);
  id = gst_test_clock_process_next_clock_id (rig->clock);
  gst_clock_id_unref (id);
}

/* ... and a tick of before, which reads a slow file, does not know that. */
GST_START_TEST (test_a_tick_of_before_does_not_move_the_time_of_after)
{
  RigListener *listener;
  Rig *rig = begin (TRUE, &listener);
  gchar *name = make_pipe ();
  gdouble *heard;
  gint pipe;
  guint i;

  run (rig, 119);
  g_object_set (rig->mix, "database-location", name, NULL);
  tick (rig);                   /* the 150th: each 50th looks at the file */
  pipe = open (name, O_WRONLY); /* waits for it */
  fail_unless (pipe >= 0);

  begin_anew (rig, GST_STATE_PAUSED);
  g_ptr_array_set_size (listener->buffers, 0);
  g_object_set (rig->mix, "database-location", NULL, NULL);
  close (pipe);
  run (rig, 50);
  heard = rig_hear (rig, listener, 0);
  for (i = 15; i < 40; i++) {
    rig_assert_level (heard, i * RIG_FRAME, RIG_FRAME, 400, AMPLITUDE, 0.1);
    rig_assert_level (heard, i * RIG_FRAME, RIG_FRAME, 700, AMPLITUDE, 0.1);
  }
  g_free (heard);
  /* whom there is no room for is in the mix, soon */
  fail_unless (rig_count_packets (listener, 102) < 20);
  rig_free (rig);
  remove_pipe (name);
}

GST_END_TEST;

static Suite *
partialmix_pauses_suite (void)
{
  Suite *suite = suite_create ("partialmix-pauses");
  TCase *tc = tcase_create ("pauses");

  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_who_leaves_after_a_pause_is_forgotten_in_time,
      0, 2);
  tcase_add_loop_test (tc, test_who_talks_is_heard_when_time_begins_anew, 0, 4);
  tcase_add_test (tc, test_who_came_before_it_played_is_new_when_it_plays);
  tcase_add_test (tc, test_a_tick_of_before_does_not_move_the_time_of_after);
  return suite;
}

GST_CHECK_MAIN (partialmix_pauses);
