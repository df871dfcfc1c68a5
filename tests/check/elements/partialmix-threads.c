/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What an application does to partialmix while other threads are in it. */

#include <string.h>

#include "../gstfairmixslow.h"
#include "mixrig.h"

typedef struct
{
  GstPad *pad;
  GstBuffer *buffer;
} Push;

static gpointer
push_one (gpointer data)
{
  Push *push = data;

  gst_pad_push (push->pad, push->buffer);
  return NULL;
}

/* The packet for the second listener is on its way when she leaves; its caps
 * have not been sent before. */
static void
release_while_a_packet_is_on_its_way (const gchar * caps)
{
  Rig *rig = rig_new (NULL);
  RigListener *held = rig_listener (rig, "src_0", caps);
  RigListener *leaves = rig_listener (rig, "src_1", caps);
  RigTalker *talker = rig_talker (rig, "sink_2", 7, RIG_PCMU, 440, 8000);
  Runner runner;
  Push push;
  Gate gate;

  gate_init (&gate);
  gate_on_pad (&gate, held->pad);
  rig_play (rig);
  push.pad = talker->pad;
  push.buffer = rig_packet (rig, talker);
  runner_start (&runner, "arrives", push_one, &push);
  gate_wait (&gate);
  rig_remove_listener (rig, leaves);
  gate_open (&gate);
  runner_join (&runner);
  fail_unless_equals_int (held->buffers->len, 1);
  rig_free (rig);
  gate_clear (&gate);
}

GST_START_TEST (test_a_listener_may_leave_while_a_packet_is_forwarded)
{
  release_while_a_packet_is_on_its_way (NULL);
}

GST_END_TEST;

static gpointer
run_two_frames (gpointer rig)
{
  rig_run (rig, 2);
  return NULL;
}

/* A renderer that leaves while the mixing thread is held in the one before. */
GST_START_TEST (test_a_renderer_may_leave_while_the_one_before_is_served)
{
  static const gchar raw[] = "audio/x-raw,format=S16LE,rate=48000,channels=2,"
      "layout=interleaved";
  Rig *rig = rig_new (NULL);
  RigListener *held = rig_listener (rig, "src_0", raw);
  RigListener *leaves;
  Runner runner;
  Gate gate;

  gate_init (&gate);
  rig_talkers (rig, 5, 1, RIG_PCMU);
  rig_play (rig);
  rig_run (rig, 10);
  leaves = rig_listener (rig, "src_1", raw);
  gate_on_pad (&gate, held->pad);
  runner_start (&runner, "time", run_two_frames, rig);
  gate_wait (&gate);
  rig_remove_listener (rig, leaves);
  gate_open (&gate);
  runner_join (&runner);
  rig_run (rig, 10);
  rig_free (rig);
  gate_clear (&gate);
}

GST_END_TEST;

/* --- locks --------------------------------------------------------------- */

typedef struct
{
  GstPad *src, *sink;
} Pair;

static gpointer
unlink_pair (gpointer data)
{
  Pair *pair = data;

  gst_pad_unlink (pair->src, pair->sink);
  return NULL;
}

static gboolean
is_locked (GstPad * pad)
{
  if (!g_mutex_trylock (GST_OBJECT_GET_LOCK (pad)))
    return TRUE;
  GST_OBJECT_UNLOCK (pad);
  return FALSE;
}

/* The first packet of a stream is in the element, which is about to note it,
 * while gst_pad_unlink() has the pad's lock and asks the element. */
GST_START_TEST (test_unlinking_and_a_new_stream_do_not_wait_for_each_other)
{
  Rig *rig = rig_new (NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 7, RIG_PCMU, 440, 8000);
  Pair pair = { talker->pad, talker->peer };
  Runner arrives, unlinks;
  Push push = { talker->pad, NULL };
  Gate gate;

  rig_listener (rig, "src_0", NULL);
  gate_init (&gate);
  rig_play (rig);
  push.buffer = slow_packet (rig_packet (rig, talker), &gate);
  runner_start (&arrives, "arrives", push_one, &push);
  gate_wait (&gate);
  runner_start (&unlinks, "unlinks", unlink_pair, &pair);
  while (!runner_is_done (&unlinks) && !is_locked (talker->peer))
    g_thread_yield ();
  gate_open (&gate);
  runner_join (&arrives);
  runner_join (&unlinks);
  rig_free (rig);
  gate_clear (&gate);
}

GST_END_TEST;

typedef struct
{
  Rig *rig;
  gint stop;                    /* atomic */
} Ticks;

/* Ticks follow each other with nothing between. */
static gpointer
tick_on (gpointer data)
{
  Ticks *ticks = data;

  while (!g_atomic_int_get (&ticks->stop)) {
    GstClockID id = gst_test_clock_process_next_clock_id (ticks->rig->clock);

    if (id != NULL)
      gst_clock_id_unref (id);
    gst_test_clock_advance_time (ticks->rig->clock, 20 * GST_MSECOND);
  }
  return NULL;
}

/* A tick that is at work when it is paused goes on into the next start. */
GST_START_TEST (test_it_is_paused_and_set_while_it_ticks)
{
  Rig *rig = rig_new (NULL);
  Ticks ticks = { rig, FALSE };
  Runner runner;
  guint i, k;

  rig_listener (rig, "src_0", NULL);
  rig_talkers (rig, 1, 2, RIG_PCMU);
  rig_play (rig);
  runner_start (&runner, "ticks", tick_on, &ticks);
  for (i = 0; i < 100; i++) {
    for (k = 0; k < 50; k++)
      g_object_set (rig->mix, "max-streams", 10 + k, NULL);
    gst_element_set_state (rig->mix, GST_STATE_PAUSED);
    gst_element_set_state (rig->mix, GST_STATE_PLAYING);
  }
  g_atomic_int_set (&ticks.stop, TRUE);
  runner_join (&runner);
  rig_free (rig);
}

GST_END_TEST;

typedef struct
{
  Rig *rig;
  RigTalker *talker;
  gint stop;                    /* atomic */
} Talk;

static gpointer
talk_on (gpointer data)
{
  Talk *talk = data;

  while (!g_atomic_int_get (&talk->stop))
    rig_send (talk->rig, talk->talker);
  return NULL;
}

/* What the last push said is told while another one is made. */
GST_START_TEST (test_the_flow_is_told_while_it_changes)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  Talk talk =
      { rig, rig_talker (rig, "sink_1", 7, RIG_PCMU, 440, 8000), FALSE };
  Runner runner;
  guint i;

  rig_play (rig);
  runner_start (&runner, "talks", talk_on, &talk);
  for (i = 0; i < 8000; i++) {
    GstStructure *stats;

    if (i & 1)
      gst_pad_link (listener->peer, listener->pad);
    else
      gst_pad_unlink (listener->peer, listener->pad);
    stats = rig_pad_stats (listener);
    fail_unless (gst_structure_has_field (stats, "flow"));
    gst_structure_free (stats);
  }
  g_atomic_int_set (&talk.stop, TRUE);
  runner_join (&runner);
  rig_free (rig);
}

GST_END_TEST;

/* Pads that an application requests or activates while the element stops carry
 * packets although it does not run. */
GST_START_TEST (test_it_is_started_while_a_packet_is_forwarded)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 7, RIG_PCMU, 440, 8000);
  Talk talk = { rig, talker, FALSE };
  Runner runner;
  guint i;

  rig_play (rig);
  for (i = 0; i < 50; i++) {
    gst_pad_unlink (talker->pad, talker->peer);
    gst_element_set_state (rig->mix, GST_STATE_READY);
    fail_unless (gst_pad_set_active (listener->peer, TRUE));
    fail_unless (gst_pad_set_active (talker->peer, TRUE));
    gst_pad_link (talker->pad, talker->peer);
    talk.stop = FALSE;
    runner_start (&runner, "talks", talk_on, &talk);
    gst_element_set_state (rig->mix, GST_STATE_PLAYING);
    g_atomic_int_set (&talk.stop, TRUE);
    runner_join (&runner);
  }
  rig_free (rig);
}

GST_END_TEST;

/* As who is behind the pad may do who has not heard yet that it goes */
static void
ask_for_all (GstChildProxy * mix G_GNUC_UNUSED, GObject * pad,
    gchar * name G_GNUC_UNUSED, gpointer user_data G_GNUC_UNUSED)
{
  if (GST_PAD_IS_SRC (pad))
    g_object_set (pad, "target-bitrate", 0, NULL);
}

static gboolean
is_decoded (Rig * rig)
{
  const GValue *streams;
  GstStructure *stats;
  gboolean decoded;

  g_object_get (rig->mix, "stats", &stats, NULL);
  streams = gst_structure_get_value (stats, "streams");
  decoded = g_str_equal (gst_structure_get_string (gst_value_get_structure
          (gst_value_array_get_value (streams, 0)), "state"), "decoded");
  gst_structure_free (stats);
  return decoded;
}

/* It is counted in each stream how many hear it mixed. */
GST_START_TEST (test_a_target_for_a_listener_that_leaves_changes_nothing)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  guint64 n_decoded;

  rig_listener (rig, "src_9", NULL);
  rig_talkers (rig, 1, 4, RIG_L16);
  rig_set_target (listener, RIG_L16_MIX_BPS);
  rig_play (rig);
  rig_run (rig, 20);
  fail_unless (is_decoded (rig));
  g_signal_connect (rig->mix, "child-removed", G_CALLBACK (ask_for_all), NULL);
  rig_remove_listener (rig, listener);
  rig_run (rig, 20);
  fail_if (is_decoded (rig));
  n_decoded = rig_stat (rig, "n-decoded");
  rig_run (rig, 20);
  fail_unless_equals_uint64 (rig_stat (rig, "n-decoded"), n_decoded);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
partialmix_threads_suite (void)
{
  Suite *suite = suite_create ("partialmix-threads");
  TCase *tc;

  tc = tcase_create ("pads that go");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_a_listener_may_leave_while_a_packet_is_forwarded);
  tcase_add_test (tc, test_a_renderer_may_leave_while_the_one_before_is_served);
  tcase_add_test (tc, test_a_target_for_a_listener_that_leaves_changes_nothing);

  tc = tcase_create ("locks");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc,
      test_unlinking_and_a_new_stream_do_not_wait_for_each_other);
  tcase_add_test (tc, test_it_is_paused_and_set_while_it_ticks);
  tcase_add_test (tc, test_the_flow_is_told_while_it_changes);
  tcase_add_test (tc, test_it_is_started_while_a_packet_is_forwarded);
  return suite;
}

GST_CHECK_MAIN (partialmix_threads);
