/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* When what comes in has ended, and what may come after that. */

#include "mixrig.h"

#define FRAME_TIME (20 * GST_MSECOND)

static void
wait_for (Rig * rig, GstClockTime time)
{
  rig_advance (rig, rig->frame * FRAME_TIME + time);
  rig->frame += (guint) (time / FRAME_TIME);
}

static void
end (RigTalker * talker)
{
  gst_pad_push_event (talker->pad, gst_event_new_eos ());
  talker->silent = TRUE;
}

static void
begin_again (RigTalker * talker)
{
  GstCaps *caps = gst_pad_get_current_caps (talker->peer);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (talker->pad, gst_event_new_stream_start ("again"));
  gst_pad_push_event (talker->pad, gst_event_new_caps (caps));
  gst_pad_push_event (talker->pad, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
  talker->silent = FALSE;
}

/* He has not ended when the others do. */
GST_START_TEST (test_who_begins_again_has_not_ended)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *one = rig_talker (rig, "sink_1", 1, RIG_PCMU, 440, 8000);
  RigTalker *other = rig_talker (rig, "sink_2", 2, RIG_PCMU, 550, 8000);

  rig_play (rig);
  rig_run (rig, 5);
  end (one);
  rig_run (rig, 5);
  begin_again (one);
  rig_run (rig, 5);
  end (other);
  rig_run (rig, 50);
  fail_if (listener->eos);
  fail_unless_equals_int (rig_count_packets (listener, one->ssrc), 60);
  end (one);
  wait_for (rig, GST_SECOND);
  fail_unless (listener->eos);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
partialmix_end_suite (void)
{
  Suite *suite = suite_create ("partialmix-end");
  TCase *tc = tcase_create ("ends");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_who_begins_again_has_not_ended);
  return suite;
}

GST_CHECK_MAIN (partialmix_end);
