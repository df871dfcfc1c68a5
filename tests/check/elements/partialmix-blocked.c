/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A neighbour that blocks is nobody else's trouble. */

#include "../gstfairmixgate.h"
#include "mixrig.h"

/* long, so that a busy machine is not taken for one that blocks */
#define PATIENT "push-timeout=300000000 "

typedef struct
{
  Rig *rig;
  guint n_frames;
} Run;

static gpointer
run (gpointer data)
{
  Run *run = data;

  rig_run (run->rig, run->n_frames);
  return NULL;
}

/* In a thread, so that one that stops everything fails the test. */
static void
run_bounded (Rig * rig, guint n_frames)
{
  Run it = { rig, n_frames };
  Runner runner;

  runner_start (&runner, "run", run, &it);
  runner_join (&runner);
}

static guint
n_packets (RigListener * listener)
{
  guint n;

  g_mutex_lock (&listener->lock);
  n = listener->buffers->len;
  g_mutex_unlock (&listener->lock);
  return n;
}

static void
wait_for_packets (RigListener * listener, guint n)
{
  gint64 end = g_get_monotonic_time () + GATE_PATIENCE_US;

  while (n_packets (listener) < n) {
    fail_unless (g_get_monotonic_time () < end);
    g_thread_yield ();
  }
}

static void
wait_for_eos (RigListener * listener)
{
  gint64 end = g_get_monotonic_time () + GATE_PATIENCE_US;

  while (!g_atomic_int_get (&listener->eos)) {
    fail_unless (g_get_monotonic_time () < end);
    g_thread_yield ();
  }
}

static gboolean
says_blocked (Rig * rig)
{
  gboolean said = FALSE;
  GstMessage *message;

  while ((message = gst_bus_pop_filtered (rig->bus, GST_MESSAGE_ELEMENT))) {
    const GstStructure *s = gst_message_get_structure (message);
    gboolean blocked;

    if (gst_structure_has_name (s, "fairmix-blocked")
        && gst_structure_get_boolean (s, "blocked", &blocked) && blocked)
      said = TRUE;
    gst_message_unref (message);
  }
  return said;
}

static guint64
dropped (RigListener * listener)
{
  GstStructure *stats = rig_pad_stats (listener);
  guint64 n;

  fail_unless (gst_structure_get_uint64 (stats, "n-dropped", &n));
  gst_structure_free (stats);
  return n;
}

/* 4 s, of 3 talkers: 150 packets/s for everybody else. */
static void
others_get_everything (const gchar * blocked_caps)
{
  Rig *rig = rig_new (PATIENT);
  RigListener *one = rig_listener (rig, "src_10", NULL);
  RigListener *held = rig_listener (rig, "src_11", blocked_caps);
  RigListener *two = rig_listener (rig, "src_12", NULL);
  gulong probe;
  Gate gate;
  guint n;

  gate_init (&gate);
  rig_talkers (rig, 1, 3, RIG_PCMU);
  rig_play (rig);
  run_bounded (rig, 10);
  probe = gate_on_pad (&gate, held->pad);
  run_bounded (rig, 200);
  gate_wait (&gate);
  wait_for_packets (one, 3 * 210);
  wait_for_packets (two, 3 * 210);
  run_bounded (rig, 1);
  fail_unless (says_blocked (rig));
  fail_unless (n_packets (held) < 3 * 210);

  n = n_packets (held);
  gst_pad_remove_probe (held->pad, probe);
  gate_open (&gate);
  wait_for_packets (held, n + 50);
  rig_free (rig);
  gate_clear (&gate);
}

GST_START_TEST (test_forwarding_to_others_goes_on)
{
  others_get_everything (NULL);
}

GST_END_TEST;

GST_START_TEST (test_a_renderer_that_blocks_holds_up_no_mixing_thread)
{
  others_get_everything ("audio/x-raw,format=S16LE,rate=48000,"
      "layout=interleaved");
}

GST_END_TEST;

/* What waits is what is new, in order; what is dropped is counted. */
GST_START_TEST (test_what_waits_is_bounded_and_in_order)
{
  Rig *rig = rig_new (PATIENT);
  RigListener *held = rig_listener (rig, "src_10", NULL);
  RigListener *other = rig_listener (rig, "src_11", NULL);
  guint16 last = 0;
  Gate gate;
  guint i;

  gate_init (&gate);
  gate_on_pad (&gate, held->pad);
  rig_talkers (rig, 1, 1, RIG_PCMU);
  rig_play (rig);
  run_bounded (rig, 301);
  wait_for_packets (other, 301);
  /* one is inside, 100 wait */
  fail_unless_equals_uint64 (dropped (held), 200);
  gate_open (&gate);
  wait_for_packets (held, 101);
  for (i = 0; i < 101; i++) {
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
    guint16 seq;

    fail_unless (gst_rtp_buffer_map (rig_nth (held, i), GST_MAP_READ, &rtp));
    seq = gst_rtp_buffer_get_seq (&rtp);
    gst_rtp_buffer_unmap (&rtp);
    if (i > 0)
      fail_unless_equals_int ((guint16) (seq - last), i == 1 ? 201 : 1);
    last = seq;
  }
  rig_free (rig);
  gate_clear (&gate);
}

GST_END_TEST;

static gpointer
release (gpointer data)
{
  gpointer *rig_and_listener = data;

  rig_remove_listener (rig_and_listener[0], rig_and_listener[1]);
  return NULL;
}

GST_START_TEST (test_who_blocks_may_be_released)
{
  Rig *rig = rig_new (PATIENT);
  RigListener *held = rig_listener (rig, "src_10", NULL);
  RigListener *other = rig_listener (rig, "src_11", NULL);
  gpointer rig_and_listener[] = { rig, held };
  Runner runner;
  Gate gate;

  gate_init (&gate);
  gate_on_pad (&gate, held->pad);
  rig_talkers (rig, 1, 2, RIG_PCMU);
  rig_play (rig);
  run_bounded (rig, 5);
  runner_start (&runner, "release", release, rig_and_listener);
  gate_open (&gate);
  runner_join (&runner);
  run_bounded (rig, 5);
  wait_for_packets (other, 20);
  rig_free (rig);
  gate_clear (&gate);
}

GST_END_TEST;

GST_START_TEST (test_the_end_comes_after_what_waits)
{
  Rig *rig = rig_new (PATIENT);
  RigListener *held = rig_listener (rig, "src_10", NULL);
  RigListener *other = rig_listener (rig, "src_11", NULL);
  Gate gate;

  gate_init (&gate);
  gate_on_pad (&gate, held->pad);
  rig_talkers (rig, 1, 1, RIG_PCMU);
  rig_play (rig);
  run_bounded (rig, 20);
  gst_pad_push_event (((RigTalker *) g_ptr_array_index (rig->talkers,
              0))->pad, gst_event_new_eos ());
  rig_advance (rig, rig->frame * 20 * GST_MSECOND + GST_SECOND);
  wait_for_eos (other);
  fail_if (held->eos);
  gate_open (&gate);
  wait_for_packets (held, 20);
  wait_for_eos (held);
  rig_free (rig);
  gate_clear (&gate);
}

GST_END_TEST;

/* Nobody has to know of it. */
GST_START_TEST (test_who_blocks_is_left_behind_by_default)
{
  GstElement *mix = gst_element_factory_make ("partialmix", NULL);
  guint64 timeout;

  g_object_get (mix, "push-timeout", &timeout, NULL);
  fail_unless (timeout <= 50 * GST_MSECOND);
  gst_object_unref (mix);
}

GST_END_TEST;

static Suite *
partialmix_blocked_suite (void)
{
  Suite *suite = suite_create ("partialmix-blocked");
  TCase *tc = tcase_create ("blocked");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_forwarding_to_others_goes_on);
  tcase_add_test (tc, test_a_renderer_that_blocks_holds_up_no_mixing_thread);
  tcase_add_test (tc, test_what_waits_is_bounded_and_in_order);
  tcase_add_test (tc, test_who_blocks_may_be_released);
  tcase_add_test (tc, test_the_end_comes_after_what_waits);
  tcase_add_test (tc, test_who_blocks_is_left_behind_by_default);
  return suite;
}

GST_CHECK_MAIN (partialmix_blocked);
