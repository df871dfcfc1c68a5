/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is said between packets that wait in tfrcrate is heard, whatever becomes of
 * these. */

#include "tfrcratecheck.h"
#include "../gstfairmixgate.h"

/* Packets wait, and caps with that payload type between them. */
static void
let_caps_wait (Fixture * f, gint payload_type)
{
  GstCaps *caps = gst_caps_from_string (RTP_CAPS_PCMU);

  push_burst (f, 0, 3);
  gst_caps_set_simple (caps, "payload", G_TYPE_INT, payload_type, NULL);
  fail_unless (gst_harness_push_event (f->rtp, gst_event_new_caps (caps)));
  gst_caps_unref (caps);
  push_burst (f, 3, 1);
  fail_unless_equals_int (element_stat (f->element, "pacing-packets"), 3);
}

static void
assert_caps_known (Fixture * f, gint payload_type)
{
  GstCaps *caps = gst_pad_get_current_caps (f->rtp->sinkpad);
  gint payload = -1;

  fail_unless (caps != NULL);
  gst_structure_get_int (gst_caps_get_structure (caps, 0), "payload", &payload);
  fail_unless_equals_int (payload, payload_type);
  gst_caps_unref (caps);
}

GST_START_TEST (test_caps_that_wait_outlive_a_flush)
{
  GstSegment segment;
  Fixture f;

  setup_slow (&f);
  let_caps_wait (&f, 8);
  fail_unless_equals_int (drain (f.rtp), 1);
  gst_harness_push_event (f.rtp, gst_event_new_flush_start ());
  gst_harness_push_event (f.rtp, gst_event_new_flush_stop (TRUE));
  fail_unless_equals_int (element_stat (f.element, "pacing-packets"), 0);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (f.rtp, gst_event_new_segment (&segment));
  advance (&f, GST_SECOND);
  push_burst (&f, 4, 1);
  fail_unless_equals_int (drain (f.rtp), 1);
  assert_caps_known (&f, 8);
  teardown (&f);
}

GST_END_TEST;

/* Whoever pushes is told once of what came of the packets. */
GST_START_TEST (test_caps_that_wait_outlive_a_time_without_a_link)
{
  GstPad *src, *peer;
  Fixture f;

  setup_slow (&f);
  src = gst_element_get_static_pad (f.element, "src");
  peer = gst_pad_get_peer (src);
  let_caps_wait (&f, 8);
  fail_unless (gst_pad_unlink (src, peer));
  advance (&f, FRAME);
  fail_unless_equals_int (element_stat (f.element, "pacing-packets"), 0);
  fail_unless_equals_int (gst_pad_link (src, peer), GST_PAD_LINK_OK);
  drain (f.rtp);
  fail_unless_equals_int (push (&f, SSRC, 4), GST_FLOW_NOT_LINKED);
  advance (&f, FRAME);
  fail_unless_equals_int (push (&f, SSRC, 5), GST_FLOW_OK);
  advance (&f, FRAME);
  fail_unless_equals_int (drain (f.rtp), 2);
  assert_caps_known (&f, 8);
  gst_object_unref (src);
  gst_object_unref (peer);
  teardown (&f);
}

GST_END_TEST;

/* Whoever asks that all be out, and downstream that is asked */
typedef struct
{
  Fixture *f;
  gboolean answer;
  guint n_packets;              /* that had come; atomic */
  guint n_before;               /* of those when the query came; atomic */
} Asker;

static gpointer
ask_to_drain (gpointer data)
{
  Asker *asker = data;
  GstQuery *query = gst_query_new_drain ();

  asker->answer = gst_pad_peer_query (asker->f->rtp->srcpad, query);
  gst_query_unref (query);
  return NULL;
}

static GstPadProbeReturn
note_packet (GstPad * pad, GstPadProbeInfo * info, gpointer data)
{
  g_atomic_int_inc (&((Asker *) data)->n_packets);
  return GST_PAD_PROBE_OK;
}

static gboolean
answer_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  Asker *asker = g_object_get_data (G_OBJECT (pad), "asker");

  if (GST_QUERY_TYPE (query) != GST_QUERY_DRAIN)
    return gst_pad_query_default (pad, parent, query);
  g_atomic_int_set (&asker->n_before, g_atomic_int_get (&asker->n_packets));
  return TRUE;
}

/* Three packets, of which two wait, and a query, which waits for them */
static void
asker_start (Asker * asker, Runner * runner, Fixture * f)
{
  *asker = (Asker) {
  .f = f};
  setup_slow (f);
  g_object_set_data (G_OBJECT (f->rtp->sinkpad), "asker", asker);
  gst_pad_set_query_function (f->rtp->sinkpad, answer_query);
  gst_pad_add_probe (f->rtp->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, note_packet,
      asker, NULL);
  push_burst (f, 0, 3);
  runner_start (runner, "asker", ask_to_drain, asker);
  while (gst_test_clock_peek_id_count (f->clock) < 2
      && !runner_is_done (runner))
    g_thread_yield ();
  fail_if (runner_is_done (runner));
  fail_unless_equals_int (g_atomic_int_get (&asker->n_packets), 1);
  fail_unless_equals_int (g_atomic_int_get (&asker->n_before), 0);
}

/* Moves the clock on to where somebody waits, if that is not far */
static void
crank_within (Fixture * f, GstClockTime most)
{
  GstClockID id = NULL;

  if (gst_test_clock_peek_next_pending_id (f->clock, &id)
      && gst_clock_id_get_time (id) <= now (f) + most)
    gst_test_clock_crank (f->clock);
  g_clear_pointer (&id, gst_clock_id_unref);
  g_thread_yield ();
}

GST_START_TEST (test_who_drains_waits_for_the_packets_that_wait)
{
  Runner runner;
  Asker asker;
  Fixture f;

  asker_start (&asker, &runner, &f);
  while (!runner_is_done (&runner))
    crank_within (&f, FRAME);
  runner_join (&runner);
  fail_unless (asker.answer);
  fail_unless_equals_int (asker.n_before, 3);
  fail_unless_equals_int (drain (f.rtp), 3);
  teardown (&f);
}

GST_END_TEST;

/* A flush, or the end */
GST_START_TEST (test_who_drains_is_let_go)
{
  Runner runner;
  Asker asker;
  Fixture f;

  asker_start (&asker, &runner, &f);
  if (__i__ == 0)
    gst_harness_push_event (f.rtp, gst_event_new_flush_start ());
  else
    gst_element_set_state (f.element, GST_STATE_READY);
  runner_join (&runner);
  fail_if (asker.answer);
  fail_unless_equals_int (asker.n_packets, 1);
  if (__i__ == 0)
    gst_harness_push_event (f.rtp, gst_event_new_flush_stop (TRUE));
  teardown (&f);
}

GST_END_TEST;

static Suite *
tfrcrate_pacing_events_suite (void)
{
  Suite *s = suite_create ("tfrcrate-pacing-events");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_caps_that_wait_outlive_a_flush);
  tcase_add_test (tc, test_caps_that_wait_outlive_a_time_without_a_link);
  tcase_add_test (tc, test_who_drains_waits_for_the_packets_that_wait);
  tcase_add_loop_test (tc, test_who_drains_is_let_go, 0, 2);
  return s;
}

GST_CHECK_MAIN (tfrcrate_pacing_events);
