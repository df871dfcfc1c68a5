/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* When what comes in has ended, and what may come after that. */

#include <math.h>

#include "mixrig.h"

#define FRAME_TIME (20 * GST_MSECOND)
#define RAW "audio/x-raw,format=S16LE,rate=48000,layout=interleaved"
#define OPUS "application/x-rtp,media=audio,encoding-name=OPUS"

static void
wait_for (Rig * rig, GstClockTime time)
{
  rig_advance (rig, rig->frame * FRAME_TIME + time);
  rig->frame += (guint) (time / FRAME_TIME);
}

/* Returns: whether it came within a second */
static gboolean
wait_for_end (Rig * rig, RigListener * listener)
{
  guint i;

  for (i = 0; i < 50 && !listener->eos; i++)
    wait_for (rig, FRAME_TIME);
  return listener->eos;
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

static void
flush (RigTalker * talker)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (talker->pad, gst_event_new_flush_start ());
  gst_pad_push_event (talker->pad, gst_event_new_flush_stop (TRUE));
  gst_pad_push_event (talker->pad, gst_event_new_segment (&segment));
  talker->silent = FALSE;
}

/* Nothing was said, nor was anybody asked what he takes, if it does not play yet.  Whoever
 * speaks then is described, and in order: GStreamer warns of what is not. */
GST_START_TEST (test_after_an_end_of_nothing_somebody_may_speak)
{
  Rig *rig = rig_new (NULL);
  RigListener *renderer = rig_listener (rig, "src_0", RAW);
  RigListener *listener = rig_listener (rig, "src_1", OPUS);
  RigTalker *talker = rig_talker (rig, "sink_2", 2, RIG_PCMU, 440, 8000);

  if (__i__ == 0)
    gst_element_set_state (rig->mix, GST_STATE_PAUSED);
  else
    rig_play (rig);
  end (talker);
  rig_play (rig);
  fail_unless (wait_for_end (rig, renderer));
  fail_unless (listener->eos);
  begin_again (talker);
  rig_run (rig, 20);
  fail_unless (renderer->buffers->len >= 15);
  fail_unless (listener->buffers->len >= 15);
  rig_free (rig);
}

GST_END_TEST;

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

/* ... of the same talker, of one who was flushed, or of another one */
static RigTalker *
make_beginning (Rig * rig, RigTalker * talker, gint way)
{
  if (way == 0)
    begin_again (talker);
  else if (way == 1)
    flush (talker);
  else
    talker = rig_talker (rig, "sink_7", 7, RIG_PCMU, 440, 8000);
  return talker;
}

/* A room in which nobody is left is entered again. */
GST_START_TEST (test_after_an_end_there_may_be_another_beginning)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigListener *renderer = rig_listener (rig, "src_1", RAW);
  RigListener *mixed = rig_listener (rig, "src_2", OPUS);
  RigTalker *talker = rig_talker (rig, "sink_3", 3, RIG_PCMU, 440, 8000);
  guint n, n_rendered, n_mixed;

  rig_play (rig);
  rig_run (rig, 20);
  end (talker);
  fail_unless (wait_for_end (rig, listener));
  fail_unless (renderer->eos && mixed->eos);
  n_rendered = renderer->buffers->len;
  n_mixed = mixed->buffers->len;
  wait_for (rig, GST_SECOND);
  fail_unless_equals_int (renderer->buffers->len, n_rendered);
  fail_unless_equals_int (mixed->buffers->len, n_mixed);

  listener->eos = renderer->eos = mixed->eos = FALSE;
  talker = make_beginning (rig, talker, __i__);
  n = rig_count_packets (listener, talker->ssrc);
  rig_run (rig, 20);
  fail_unless_equals_int (rig_count_packets (listener, talker->ssrc), n + 20);
  fail_unless (renderer->buffers->len >= n_rendered + 15);
  fail_unless (mixed->buffers->len >= n_mixed + 15);
  fail_if (listener->eos || renderer->eos || mixed->eos);
  end (talker);
  wait_for (rig, GST_SECOND);
  fail_unless (listener->eos);
  rig_free (rig);
}

GST_END_TEST;

/* The others have ended, and he who had not goes.  The application that releases his pad
 * brings nobody the end, for that may take until it plays. */
GST_START_TEST (test_who_is_released_keeps_nobody_from_the_end)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *one = rig_talker (rig, "sink_1", 1, RIG_PCMU, 440, 8000);
  RigTalker *other = rig_talker (rig, "sink_2", 2, RIG_PCMU, 550, 8000);

  rig_play (rig);
  rig_run (rig, 5);
  if (__i__ > 0)
    gst_element_set_state (rig->mix, __i__ == 1 ? GST_STATE_PAUSED
        : GST_STATE_READY);
  if (__i__ == 2)
    gst_element_set_state (rig->mix, GST_STATE_PAUSED);
  end (one);
  rig_remove_talker (rig, other);
  fail_if (listener->eos);
  rig_play (rig);
  wait_for (rig, GST_SECOND);
  fail_unless (listener->eos);
  rig_free (rig);
}

GST_END_TEST;

/* ... and where nobody is, nobody has ended: somebody may come. */
GST_START_TEST (test_who_goes_last_leaves_no_end)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 1, RIG_PCMU, 440, 8000);

  rig_play (rig);
  rig_run (rig, 5);
  rig_remove_talker (rig, talker);
  wait_for (rig, GST_SECOND);
  fail_if (listener->eos);
  rig_free (rig);
}

GST_END_TEST;

/* A queue on the path: each second it grows to 200 ms, and is empty again soon. */
static GstClockTime
queue_of (guint k)
{
  const guint at = k % 50;

  return at < 20 || at > 40 ? 0 : MIN (at - 20, 40 - at) * FRAME_TIME;
}

/* Two who are mixed say something for 10 s; then they end, or only fall silent.
 * Returns: up to when they are heard, in ms */
static guint
heard_until (gboolean ends)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  gdouble *heard;
  guint i, k;

  rig_talkers (rig, 1, 2, RIG_L16);
  rig_set_target (listener, RIG_L16_MIX_BPS);
  rig_play (rig);
  for (k = 0; k < 500; k++) {
    rig_advance (rig, rig->frame * FRAME_TIME + queue_of (k));
    for (i = 0; i < 2; i++) {
      RigTalker *talker = g_ptr_array_index (rig->talkers, i);
      GstBuffer *buffer = rig_packet (rig, talker);

      GST_BUFFER_PTS (buffer) += queue_of (k);
      gst_pad_push (talker->pad, buffer);
    }
    rig->frame++;
  }
  for (i = 0; ends && i < 2; i++)
    end (g_ptr_array_index (rig->talkers, i));
  fail_unless_equals_int (wait_for_end (rig, listener), ends);
  heard = rig_hear (rig, listener, 0);
  for (k = rig->frame * RIG_FRAME; k > 0 && fabs (heard[k - 1]) < 500; k--);
  g_free (heard);
  rig_free (rig);
  return k * 1000 / RIG_RATE;
}

/* What waits for the pace of its path is heard as well. */
GST_START_TEST (test_the_last_word_is_heard_however_long_it_waits)
{
  guint until = heard_until (FALSE), until_end = heard_until (TRUE);

  fail_unless (until > 10000 + 100, "%u ms", until);
  fail_unless (until_end + 20 >= until, "%u of %u ms", until_end, until);
}

GST_END_TEST;

static Suite *
partialmix_end_suite (void)
{
  Suite *suite = suite_create ("partialmix-end");
  TCase *tc = tcase_create ("ends");

  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_after_an_end_of_nothing_somebody_may_speak, 0,
      2);
  tcase_add_test (tc, test_who_begins_again_has_not_ended);
  tcase_add_loop_test (tc, test_after_an_end_there_may_be_another_beginning, 0,
      3);
  tcase_add_loop_test (tc, test_who_is_released_keeps_nobody_from_the_end, 0,
      3);
  tcase_add_test (tc, test_who_goes_last_leaves_no_end);
  tcase_add_test (tc, test_the_last_word_is_heard_however_long_it_waits);
  return suite;
}

GST_CHECK_MAIN (partialmix_end);
