/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The application pauses, and what comes goes on coming. */

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

static Suite *
partialmix_pauses_suite (void)
{
  Suite *suite = suite_create ("partialmix-pauses");
  TCase *tc = tcase_create ("pauses");

  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_who_leaves_after_a_pause_is_forgotten_in_time,
      0, 2);
  return suite;
}

GST_CHECK_MAIN (partialmix_pauses);
