/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Media above the allowed rate wait in tfrcrate, and receivers are told how long
 * that may be. */

#include "tfrcratecheck.h"
#include "../gstfairmixgate.h"

#include "fairmix/playout/fmx-minimal-buffer.h"
#include "fairmix/rate/fmx-pacer.h"
#include "fairmix/wire/fmx-playout-delay.h"

#define EXT_ID 5
#define DELAY_CAPS RTP_CAPS_PCMU ", extmap-5=(string)" \
    "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
#define WIRE (PAYLOAD + 12 + 28)        /* a packet, in bytes on the wire */
#define LINK_BPS 300000
#define BACKOFFS_APART (300 * GST_MSECOND)

/* A sender at its target, or at @media_bps, and a path that loses a packet when the
 * rate is above LINK_BPS */
typedef struct
{
  Path path;
  guint media_bps;
  gdouble media_bits;
  gdouble above_bits, most_above_bits;  /* what left beyond the allowed rate */
  GstClockTime pushed_at[64];   /* by sequence number */
  gdouble longest_ms;           /* that packets waited */
  GstClockTime lost_at;
  guint16 next_seq;
  GstBuffer *told;              /* the last packet with a playout-delay */
  guint n_told;
} Flow;

/* Returns: whether @packet has one; @least: (out) */
static gboolean
asked_delay (GstBuffer * packet, FmxDuration * least)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  FmxDuration most;
  gboolean has;
  gpointer data;
  guint size;

  gst_rtp_buffer_map (packet, GST_MAP_READ, &rtp);
  has = gst_rtp_buffer_get_extension_onebyte_header (&rtp, EXT_ID, 0, &data,
      &size) && fmx_playout_delay_parse (data, size, least, &most);
  gst_rtp_buffer_unmap (&rtp);
  return has;
}

static void
flow_waited (Flow * flow, GstClockTime time)
{
  flow->longest_ms = MAX (flow->longest_ms, (gdouble) time / GST_MSECOND);
}

/* Path.drops, which sees each packet that left */
static gboolean
flow_loses (Path * path, GstBuffer * packet)
{
  Flow *flow = (Flow *) path;
  FmxDuration least;

  flow_waited (flow, now (&path->f) - flow->pushed_at[rtp_packet_seq (packet)
          % G_N_ELEMENTS (flow->pushed_at)]);
  flow->above_bits += 8.0 * (gst_buffer_get_size (packet) + 28);
  flow->most_above_bits = MAX (flow->most_above_bits, flow->above_bits);
  if (asked_delay (packet, &least)) {
    gst_buffer_replace (&flow->told, packet);
    flow->n_told++;
  }
  if (element_stat (path->f.element, "target-bps") < LINK_BPS
      || now (&path->f) < flow->lost_at + BACKOFFS_APART)
    return FALSE;
  flow->lost_at = now (&path->f);
  return TRUE;
}

static void
flow_setup (Flow * flow, const gchar * policy)
{
  memset (flow, 0, sizeof *flow);
  path_setup (&flow->path, 0);
  flow->path.drops = flow_loses;
  gst_util_set_object_arg (G_OBJECT (flow->path.f.element), "algorithm",
      "gaimd");
  gst_util_set_object_arg (G_OBJECT (flow->path.f.element), "policy", policy);
  g_object_set (flow->path.f.element, "segment-size", 0, "max-pacing-delay",
      1000, "max-bitrate", 1000000, NULL);
  gst_harness_set_src_caps_str (flow->path.f.rtp, DELAY_CAPS);
}

static void
flow_teardown (Flow * flow)
{
  gst_buffer_replace (&flow->told, NULL);
  path_teardown (&flow->path);
}

static void
flow_run (Flow * flow, GstClockTime duration)
{
  Fixture *f = &flow->path.f;
  GstClockTime end = now (f) + duration;

  while (now (f) < end) {
    gdouble allowed_bps = element_stat (f->element, "target-bps");

    flow->media_bits += (flow->media_bps > 0 ? flow->media_bps : target (f))
        / 1000.0;
    for (; flow->media_bits >= 8 * WIRE; flow->media_bits -= 8 * WIRE) {
      flow->pushed_at[flow->next_seq % G_N_ELEMENTS (flow->pushed_at)] =
          now (f);
      push (f, SSRC, flow->next_seq++);
      /* what may leave has left before the next one comes */
      clock_wait_idle (f->clock, f->n_waiters);
    }
    path_step (&flow->path, now (f) + GST_MSECOND);
    flow->above_bits = MAX (flow->above_bits - allowed_bps / 1000.0, 0.0);
  }
}

static void
assert_never_above (const Flow * flow, gdouble bps)
{
  gdouble most = 8.0 * (WIRE + 8) + bps * FMX_PACER_LATENESS / FMX_SECOND
      + bps / 1000.0;

  fail_unless (flow->most_above_bits <= most, "%.0f bits above, at most %.0f",
      flow->most_above_bits, most);
}

/* The formula has (alpha, beta) = (1, 1/2) and the round-trip time, which the element
 * does not look at: it goes by the saw-tooth.  A packet and what the last guess
 * was wrong by may wait besides. */
static void
assert_told_as_the_formula_says (Flow * flow)
{
  FmxMinimalBufferParams params = {.alpha = 1.0,.beta = 0.5,.mss_bytes = WIRE };
  GstElement *element = flow->path.f.element;
  gdouble Bps = element_stat (element, "sawtooth-bps") / 8.0;
  gdouble bytes = element_stat (element, "buffer-discrete-bytes"), expected;
  gdouble told_ms = element_stat (element, "playout-delay") / GST_MSECOND;

  params.rtt = (FmxDuration) element_stat (element, "rtt");
  expected = fmx_minimal_buffer_bytes_discrete (&params, Bps);
  fail_unless (bytes > 0.75 * expected && bytes < 1.25 * expected,
      "%f bytes, by the formula %f", bytes, expected);
  fail_unless (told_ms >= 999.0 * bytes / Bps
      && told_ms < 1300.0 * bytes / Bps, "%f ms, of the last saw-tooth %f",
      told_ms, 1000.0 * bytes / Bps);
  fail_unless (flow->longest_ms <= told_ms + 1000.0 * WIRE / Bps + 10.0
      && flow->longest_ms > 0.7 * told_ms, "%f told, waited for %f", told_ms,
      flow->longest_ms);
}

GST_START_TEST (test_media_wait_as_long_as_receivers_are_told)
{
  GstElement *element;
  FmxDuration least;
  Flow flow;

  flow_setup (&flow, "average");
  element = flow.path.f.element;
  flow_run (&flow, 5 * GST_SECOND);
  flow.longest_ms = 0.0;
  flow_run (&flow, 5 * GST_SECOND);
  fail_unless (element_stat (element, "n-sawteeth") >= 10);
  assert_never_above (&flow, 1.4 * LINK_BPS);
  assert_told_as_the_formula_says (&flow);
  fail_unless_equals_int (element_stat (element, "n-pacing-dropped"), 0);
  fail_unless_equals_int (flow.path.n_gaps, 0);

  flow_run (&flow, GST_SECOND);
  fail_unless (flow.told != NULL && asked_delay (flow.told, &least));
  fail_unless_equals_int64 (least, 10 * GST_MSECOND * (gint64)
      ceil (element_stat (element, "playout-delay") / 10 / GST_MSECOND));
  fail_unless (flow.n_told < flow.path.n_packets / 2);

  fail_unless (least > 0);
  /* not any more on another path, nor where nothing waits */
  if (__i__ == 0)
    g_signal_emit_by_name (element, "change-path");
  else
    g_object_set (element, "max-pacing-delay", 0, NULL);
  fail_unless_equals_int (element_stat (element, "playout-delay"), 0);
  flow_run (&flow, 2 * GST_SECOND);
  fail_unless (__i__ == 0 || (asked_delay (flow.told, &least) && least == 0));
  flow_teardown (&flow);
}

GST_END_TEST;

GST_START_TEST (test_qmjitterbuffer_plays_with_the_delay_that_is_told)
{
  GstHarness *receiver = gst_harness_new ("qmjitterbuffer");
  GstStructure *stats;
  FmxDuration least;
  GstBuffer *packet;
  guint64 asked;
  Flow flow;

  flow_setup (&flow, "average");
  flow_run (&flow, 4 * GST_SECOND);
  fail_unless (flow.told != NULL && asked_delay (flow.told, &least));
  fail_unless (least >= 20 * FMX_MSECOND);
  packet = gst_buffer_copy (flow.told);
  GST_BUFFER_PTS (packet) = GST_BUFFER_DTS (packet) = 0;
  gst_harness_set_src_caps_str (receiver, DELAY_CAPS);
  gst_harness_push (receiver, packet);
  packet = gst_harness_pull (receiver);
  fail_unless_equals_int64 (GST_BUFFER_PTS (packet), least);
  gst_buffer_unref (packet);
  g_object_get (receiver->element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, "qm-asked-delay", &asked));
  fail_unless_equals_int64 ((gint64) asked, least);
  gst_structure_free (stats);
  gst_harness_teardown (receiver);
  flow_teardown (&flow);
}

GST_END_TEST;

GST_START_TEST (test_media_below_the_rate_ask_for_nothing)
{
  Flow flow;

  flow_setup (&flow, __i__ == 0 ? "conservative" : "aggressive");
  flow_run (&flow, 5 * GST_SECOND);
  fail_unless (element_stat (flow.path.f.element, "n-sawteeth") >= 3);
  fail_unless_equals_int (element_stat (flow.path.f.element,
          "playout-delay"), 0);
  fail_unless_equals_int (flow.n_told, 0);
  flow_teardown (&flow);
}

GST_END_TEST;

/* No encoder obeys: the queue is bounded, the oldest packets go, and what is left
 * is numbered without a gap. */
GST_START_TEST (test_media_far_above_the_rate_lose_the_oldest)
{
  Flow flow;

  flow_setup (&flow, "aggressive");
  g_object_set (flow.path.f.element, "max-pacing-delay", 200, "max-bitrate",
      100000, NULL);
  flow.media_bps = 400000;
  flow_run (&flow, 3 * GST_SECOND);
  assert_never_above (&flow, 100000);
  fail_unless (element_stat (flow.path.f.element,
          "pacing-delay") <= 200 * GST_MSECOND);
  fail_unless (element_stat (flow.path.f.element, "n-pacing-dropped") > 300);
  fail_unless (flow.path.n_packets > 0.95 * 3 * 100000 / (8 * WIRE));
  fail_unless_equals_int (flow.path.n_gaps, 0);
  flow_teardown (&flow);
}

GST_END_TEST;

GST_START_TEST (test_events_wait_for_the_packets_before_them)
{
  GstEvent *event;
  Fixture f;

  setup_slow (&f);
  while ((event = gst_harness_try_pull_event (f.rtp)) != NULL)
    gst_event_unref (event);
  push_burst (&f, 0, 3);
  fail_unless (gst_harness_push_event (f.rtp,
          gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
              gst_structure_new_empty ("mark"))));
  push_burst (&f, 3, 1);
  fail_unless (gst_harness_push_event (f.rtp, gst_event_new_eos ()));
  fail_unless_equals_int (drain (f.rtp), 1);
  advance (&f, FRAME);
  fail_unless_equals_int (drain (f.rtp), 1);
  fail_unless (gst_harness_try_pull_event (f.rtp) == NULL);
  advance (&f, FRAME);
  fail_unless_equals_int (drain (f.rtp), 1);
  event = gst_harness_pull_event (f.rtp);
  fail_unless (gst_event_has_name (event, "mark"));
  gst_event_unref (event);
  fail_unless (gst_harness_try_pull_event (f.rtp) == NULL);
  advance (&f, FRAME);
  fail_unless_equals_int (drain (f.rtp), 1);
  event = gst_harness_pull_event (f.rtp);
  fail_unless_equals_int (GST_EVENT_TYPE (event), GST_EVENT_EOS);
  gst_event_unref (event);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_a_flush_empties_the_queue)
{
  Fixture f;

  setup_slow (&f);
  push_burst (&f, 0, 5);
  fail_unless_equals_int (element_stat (f.element, "pacing-packets"), 4);
  gst_harness_push_event (f.rtp, gst_event_new_flush_start ());
  gst_harness_push_event (f.rtp, gst_event_new_flush_stop (TRUE));
  fail_unless_equals_int (element_stat (f.element, "pacing-packets"), 0);
  fail_unless_equals_int (element_stat (f.element, "pacing-bytes"), 0);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_where_nothing_runs_nothing_waits)
{
  Fixture f;

  setup_slow (&f);
  push_burst (&f, 0, 5);
  fail_unless (element_stat (f.element, "pacing-delay") > 0);
  gst_element_set_state (f.element, GST_STATE_READY);
  fail_unless (element_stat (f.element, "pacing-packets") == 0);
  fail_unless (element_stat (f.element, "pacing-delay") == 0, "%f s",
      element_stat (f.element, "pacing-delay") / GST_SECOND);
  teardown (&f);
}

GST_END_TEST;

/* Whoever turns it off gets what waits at once; lists wait as single packets do. */
GST_START_TEST (test_without_pacing_nothing_waits)
{
  GstBufferList *list = gst_buffer_list_new ();
  Fixture f;

  setup_slow (&f);
  for (guint16 i = 0; i < 4; i++)
    gst_buffer_list_add (list, rtp_packet_new (SSRC, i, PAYLOAD));
  fail_unless_equals_int (gst_pad_push_list (f.rtp->srcpad, list), GST_FLOW_OK);
  fail_unless_equals_int (drain (f.rtp), 1);
  g_object_set (f.element, "max-pacing-delay", 0, NULL);
  push_burst (&f, 4, 2);
  fail_unless_equals_int (drain (f.rtp), 5);
  fail_unless_equals_int (element_stat (f.element, "pacing-packets"), 0);
  teardown (&f);
}

GST_END_TEST;

/* --- threads --- */

#define N_ROUNDS 200

typedef struct
{
  Fixture f;
  Gate start;                   /* all at the same time */
} Crowd;

/* Packets, a list of them, and an event between */
static gpointer
push_much (gpointer data)
{
  Fixture *f = &((Crowd *) data)->f;

  gate_pass (&((Crowd *) data)->start);
  for (guint16 seq = 0; seq < 4 * N_ROUNDS; seq += 4) {
    GstBufferList *list = gst_buffer_list_new ();

    push_burst (f, seq, 2);
    gst_pad_push_event (f->rtp->srcpad,
        gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
            gst_structure_new_empty ("mark")));
    gst_buffer_list_add (list, rtp_packet_new (SSRC, seq + 2, PAYLOAD));
    gst_buffer_list_add (list, rtp_packet_new (SSRC, seq + 3, PAYLOAD));
    gst_pad_push_list (f->rtp->srcpad, list);
  }
  return NULL;
}

static gpointer
report_much (gpointer data)
{
  Fixture *f = &((Crowd *) data)->f;

  gate_pass (&((Crowd *) data)->start);
  for (guint i = 0; i < N_ROUNDS; i++) {
    FmxReportBlock block = {.ssrc = SSRC,.fraction_lost = (guint8) (i % 3),
      .ext_highest_seq = i
    };

    gst_harness_push (f->rtcp, receiver_report_new (&block, 1));
  }
  return NULL;
}

static gpointer
turn_on_and_off (gpointer data)
{
  Fixture *f = &((Crowd *) data)->f;

  gate_pass (&((Crowd *) data)->start);
  for (guint i = 0; i < N_ROUNDS; i++) {
    g_object_set (f->element, "max-pacing-delay", i % 2 == 0 ? 20 : 1000, NULL);
    if (i % 10 == 0)
      g_object_set (f->element, "max-pacing-delay", 0, NULL);
    element_stat (f->element, "pacing-delay");
  }
  g_object_set (f->element, "max-pacing-delay", 1000, NULL);
  return NULL;
}

/* Returns: packets that came out, their numbers without a gap */
static guint
drain_in_order (Fixture * f)
{
  GstBuffer *packet;
  guint n = 0;

  for (; (packet = gst_harness_try_pull (f->rtp)) != NULL; n++) {
    fail_unless_equals_int (rtp_packet_seq (packet), n);
    gst_buffer_unref (packet);
  }
  return n;
}

/* Whoever pushes, reports, changes settings and lets time pass does so at the same
 * time; ThreadSanitizer watches when it runs this.  What is reported may end in
 * probes, which are numbered with the packets. */
GST_START_TEST (test_every_packet_leaves_once_whoever_meets_in_the_queue)
{
  Runner pushes, reports, turns;
  Crowd crowd;
  Fixture *f = &crowd.f;

  setup_slow (f);
  gate_init (&crowd.start);
  runner_start (&pushes, "pushes", push_much, &crowd);
  runner_start (&reports, "reports", report_much, &crowd);
  runner_start (&turns, "turns", turn_on_and_off, &crowd);
  gate_open (&crowd.start);
  while (!runner_is_done (&pushes) || !runner_is_done (&reports)
      || !runner_is_done (&turns))
    advance (f, GST_MSECOND);
  runner_join (&pushes);
  runner_join (&reports);
  runner_join (&turns);
  g_object_set (f->element, "max-pacing-delay", 0, NULL);
  push (f, SSRC, 4 * N_ROUNDS);
  fail_unless_equals_int (element_stat (f->element, "pacing-packets"), 0);
  fail_unless_equals_int (drain_in_order (f)
      + element_stat (f->element, "n-pacing-dropped")
      + element_stat (f->element, "n-dropped"), 4 * N_ROUNDS + 1
      + element_stat (f->element, "n-probes"));
  teardown (f);
  gate_clear (&crowd.start);
}

GST_END_TEST;

static Suite *
tfrcrate_pacing_suite (void)
{
  Suite *s = suite_create ("tfrcrate-pacing");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_media_wait_as_long_as_receivers_are_told, 0, 2);
  tcase_add_test (tc, test_qmjitterbuffer_plays_with_the_delay_that_is_told);
  tcase_add_loop_test (tc, test_media_below_the_rate_ask_for_nothing, 0, 2);
  tcase_add_test (tc, test_media_far_above_the_rate_lose_the_oldest);
  tcase_add_test (tc, test_events_wait_for_the_packets_before_them);
  tcase_add_test (tc, test_a_flush_empties_the_queue);
  tcase_add_test (tc, test_where_nothing_runs_nothing_waits);
  tcase_add_test (tc, test_without_pacing_nothing_waits);
  tcase_add_test (tc, test_every_packet_leaves_once_whoever_meets_in_the_queue);
  return s;
}

GST_CHECK_MAIN (tfrcrate_pacing);
