/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>
#include <string.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/rate/fmx-rate-sender.h"

#define MS FMX_MSECOND
#define S FMX_SECOND

static FmxRateSender sender;
static uint16_t next_seq, next_ack;
static uint32_t packet_bytes = 200;
static FmxTime sent_at[65536];
static bool is_lost[65536];

/* What the sender told. */
static struct
{
  unsigned n;
  const char *reason[64];
  double target[64];
} told;

static void
note (void *user, const FmxEvent *event)
{
  (void) user;
  assert_string_equal (event->name, "target");
  assert_int_equal (event->n_fields, 8);
  assert_string_equal (event->fields[0].name, "target-bps");
  told.reason[told.n % 64] = event->reason;
  told.target[told.n++ % 64] = event->fields[0].value;
}

static const FmxEventSink sink = { note, NULL };

static FmxRateSenderParams
make_params (void)
{
  FmxRateSenderParams params;

  fmx_rate_sender_params_default (&params);
  params.sink = &sink;
  return params;
}

static void
start (const FmxRateSenderParams *params)
{
  memset (&told, 0, sizeof told);
  next_seq = next_ack = 0;
  fmx_rate_sender_init (&sender, params, 0);
}

static void
leave (uint32_t wire_bytes, FmxTime now)
{
  sent_at[next_seq] = now;
  fmx_rate_sender_on_sent (&sender, 1, next_seq++, wire_bytes, now);
}

/* Feedback about all that was sent 100 ms ago or earlier; @answer: whether
 * there is any, or all of that is lost, and its feedback comes later. */
static void
acknowledge (bool answer, FmxTime now)
{
  static uint16_t decided;
  FmxCcfbMetric metrics[512];
  size_t n = 0;

  if (next_ack == 0)
    decided = 0;
  for (; decided != next_seq && sent_at[decided] + 100 * MS <= now; decided++)
    is_lost[decided] = !answer;
  if (!answer)
    return;
  for (; next_ack != decided && n < N_ELEMENTS (metrics); next_ack++) {
    FmxDuration age = (FmxDuration) (now - sent_at[next_ack]);

    metrics[n++] = (FmxCcfbMetric) { 1, next_ack, !is_lost[next_ack], 0,
      age - 100 * MS
    };
  }
  if (n > 0)
    fmx_rate_sender_on_metrics (&sender, metrics, n,
        (uint32_t) (now * 65536 / S), now);
}

/* One stream of G.711 (80 kbit/s) over a path of 100 ms, feedback each 60 ms,
 * until @until. */
static FmxTime
talk (FmxTime from, FmxTime until, bool answer)
{
  FmxTime now;

  for (now = from; now < until; now += 20 * MS) {
    while (fmx_rate_sender_next_timeout (&sender) <= now) {
      fmx_rate_sender_on_timeout (&sender, now);
      if (fmx_rate_sender_take_probe (&sender, now))
        leave (68, now);
    }
    if (fmx_rate_sender_may_send (&sender))
      leave (packet_bytes, now);
    if (now / (20 * MS) % 3 == 0)
      acknowledge (answer, now);
  }
  return now;
}

static void
test_default_params_are_valid (void **state)
{
  FmxRateSenderParams params, bad;

  (void) state;
  fmx_rate_sender_params_default (&params);
  assert_true (fmx_rate_sender_params_are_valid (&params));
  assert_ptr_equal (params.klass, fmx_rate_class_find ("dpm"));
  assert_int_equal (params.segment_bytes, 1460);
  bad = params;
  bad.klass = NULL;
  assert_false (fmx_rate_sender_params_are_valid (&bad));
  bad = params;
  bad.loss_limit = -0.1;
  assert_false (fmx_rate_sender_params_are_valid (&bad));
  bad.loss_limit = 1.5;
  assert_false (fmx_rate_sender_params_are_valid (&bad));
  bad = params;
  bad.rto_min = 0;
  assert_false (fmx_rate_sender_params_are_valid (&bad));
  bad = params;
  bad.max_bps = 10;
  assert_false (fmx_rate_sender_params_are_valid (&bad));
}

static void
test_starts_with_the_initial_rate_and_says_so (void **state)
{
  FmxRateSenderParams params = make_params ();
  FmxRateSenderStats stats;

  (void) state;
  start (&params);
  assert_int_equal (fmx_rate_sender_target_bps (&sender), 80000);
  assert_true (fmx_rate_sender_may_send (&sender));
  assert_false (fmx_rate_sender_take_probe (&sender, 0));
  assert_int_equal (told.n, 1);
  assert_string_equal (told.reason[0], "start");
  fmx_rate_sender_get_stats (&sender, &stats, 0);
  assert_int_equal (stats.state, FMX_RATE_SENDER_STARTING);
  assert_int_equal (stats.feedback, FMX_RATE_SENDER_FEEDBACK_NONE);
  assert_int_equal (stats.last_feedback, FMX_TIME_NONE);
  assert_int_equal (stats.rto, S);      /* [RFC6298 2.1] */
}

static void
test_measures_what_is_sent_and_received (void **state)
{
  FmxRateSenderParams params = make_params ();
  FmxRateSenderStats stats;
  FmxTime now;

  (void) state;
  start (&params);
  now = talk (0, 10 * (FmxTime) S, true);
  fmx_rate_sender_get_stats (&sender, &stats, now);
  assert_int_equal (stats.state, FMX_RATE_SENDER_SENDING);
  assert_int_equal (stats.feedback, FMX_RATE_SENDER_FEEDBACK_PER_PACKET);
  assert_true (fabs (stats.sent_bps - 80000.0) < 1.0);
  assert_true (fabs (stats.receive_bps - 80000.0) < 8000.0);
  assert_in_range (stats.rtt, 99 * MS, 121 * MS);
  assert_int_equal (stats.n_streams, 1);
  assert_true (fabs (stats.stream_bps - 80000.0) < 1.0);
  assert_int_equal (stats.n_lost, 0);
  assert_true (stats.loss_event_rate == 0.0);
  assert_int_equal (stats.n_sent, 500);
  assert_true (stats.n_acked > 485);
  /* belief is capped by what was received */
  assert_true (fmx_rate_sender_target_bps (&sender) <= 2 * 88000);
  assert_true (fmx_rate_sender_target_bps (&sender) >= 2 * 72000);
}

/* [RFC5348 4.4], RFC 8836 2.10: feedback cut off */
static void
test_feedback_cut_off_means_half_and_half_again_then_probing (void **state)
{
  FmxRateSenderParams params = make_params ();
  FmxTime now, cut;

  (void) state;
  params.loss_limit = 1.0;      /* so that timeouts alone do not stop it */
  start (&params);
  cut = now = talk (0, 10 * (FmxTime) S, true);
  now = talk (now, now + 3 * S, false);
  assert_false (fmx_rate_sender_may_send (&sender));
  assert_string_equal (told.reason[told.n - 1], "probe");
  assert_true (fmx_rate_sender_target_bps (&sender) == 0);
  assert_true (now - cut <= 3 * S);
}

/* RFC 8836 2.1: "within a second" of the evidence */
static void
test_total_loss_stops_media_within_two_seconds (void **state)
{
  FmxRateSenderParams params = make_params ();
  FmxTime now, cut;

  (void) state;
  start (&params);
  cut = now = talk (0, 10 * (FmxTime) S, true);
  while (fmx_rate_sender_may_send (&sender))
    now = talk (now, now + 20 * MS, false);
  assert_in_range (now - cut, 0, 2 * S);
}

/* DPM section 5.4: "one dummy packet per second while it is in the probing
 * mode" */
static void
test_probes_once_a_second_as_long_as_it_lasts (void **state)
{
  FmxRateSenderParams params = make_params ();
  FmxRateSenderStats before, after;
  FmxTime now;

  (void) state;
  start (&params);
  now = talk (0, 10 * (FmxTime) S, true);
  now = talk (now, now + 3 * S, false);
  assert_false (fmx_rate_sender_may_send (&sender));
  fmx_rate_sender_get_stats (&sender, &before, now);
  now = talk (now, now + 10 * (FmxTime) S, false);
  fmx_rate_sender_get_stats (&sender, &after, now);
  assert_in_range (after.n_probes - before.n_probes, 9, 11);
  assert_int_equal (after.n_sent - before.n_sent,
      after.n_probes - before.n_probes);
  now = talk (now, now + 30 * (FmxTime) S, false);
  fmx_rate_sender_get_stats (&sender, &before, now);
  now = talk (now, now + 30 * (FmxTime) S, false);
  fmx_rate_sender_get_stats (&sender, &after, now);
  assert_in_range (after.n_probes - before.n_probes, 29, 31);
  /* probing is not media: the breaker has nothing to stop */
  assert_int_equal (after.n_breaker, 0);
}

static void
test_media_comes_back_soon_after_an_outage (void **state)
{
  FmxRateSenderParams params = make_params ();
  FmxTime now, back;

  (void) state;
  start (&params);
  now = talk (0, 10 * (FmxTime) S, true);
  back = now = talk (now, now + 12 * (FmxTime) S, false);
  assert_false (fmx_rate_sender_may_send (&sender));
  while (!fmx_rate_sender_may_send (&sender)) {
    now = talk (now, now + 20 * MS, true);
    assert_in_range (now - back, 0, 4 * S);     /* two dummies and a bit */
  }
  assert_string_equal (told.reason[told.n - 1], "resume");
  assert_true (told.target[told.n - 1] >= 20000.0);
  /* and grows again */
  now = talk (now, now + 10 * (FmxTime) S, true);
  assert_true (fmx_rate_sender_target_bps (&sender) >= 80000);
}

static void
test_nobody_listens_then_somebody_does (void **state)
{
  FmxRateSenderParams params = make_params ();
  FmxRateSenderStats stats;
  FmxTime now;

  (void) state;
  start (&params);
  now = talk (0, 8 * (FmxTime) S, false);       /* 5 s, then halved, ... */
  assert_true (fmx_rate_sender_target_bps (&sender) <= 40000);
  now = talk (now, now + 60 * (FmxTime) S, false);
  assert_false (fmx_rate_sender_may_send (&sender));
  now = talk (now, now + 10 * (FmxTime) S, true);
  assert_true (fmx_rate_sender_may_send (&sender));
  fmx_rate_sender_get_stats (&sender, &stats, now);
  assert_int_equal (stats.state, FMX_RATE_SENDER_SENDING);
  /* what was sent when nobody was there is nobody's loss */
  assert_true (stats.n_lost <= 3);
}

/* A sender that does not listen: media although it shall probe. */
static void
test_breaker_stops_a_sender_that_is_deaf (void **state)
{
  FmxRateSenderParams params = make_params ();
  FmxRateSenderStats stats;
  FmxTime now, stopped;

  (void) state;
  start (&params);
  now = talk (0, 10 * (FmxTime) S, true);
  for (; now < 40 * (FmxTime) S; now += 20 * MS) {
    fmx_rate_sender_on_timeout (&sender, now);
    leave (200, now);
    acknowledge (false, now);
    fmx_rate_sender_get_stats (&sender, &stats, now);
    if (stats.state == FMX_RATE_SENDER_STOPPED)
      break;
  }
  assert_int_equal (stats.state, FMX_RATE_SENDER_STOPPED);
  assert_string_equal (told.reason[told.n - 1], "breaker");
  assert_false (fmx_rate_sender_may_send (&sender));
  assert_false (fmx_rate_sender_take_probe (&sender, now));
  assert_int_equal (stats.n_breaker, 1);
  /* silent for its hold, then it probes */
  stopped = now;
  now = talk (now, now + 14 * (FmxTime) S, true);
  fmx_rate_sender_get_stats (&sender, &stats, now);
  assert_int_equal (stats.state, FMX_RATE_SENDER_STOPPED);
  now = talk (now, stopped + 16 * (FmxTime) S, true);
  fmx_rate_sender_get_stats (&sender, &stats, now);
  assert_int_equal (stats.state, FMX_RATE_SENDER_PROBING);
  assert_string_equal (told.reason[told.n - 1], "breaker-closed");
  talk (now, now + 10 * (FmxTime) S, true);
  assert_true (fmx_rate_sender_may_send (&sender));
}

static void
test_breaker_can_be_off (void **state)
{
  FmxRateSenderParams params = make_params ();
  FmxRateSenderStats stats;

  (void) state;
  params.circuit_breaker = false;
  start (&params);
  for (FmxTime now = 0; now < 60 * (FmxTime) S; now += 20 * MS) {
    fmx_rate_sender_on_timeout (&sender, now);
    leave (200, now);
  }
  fmx_rate_sender_get_stats (&sender, &stats, 60 * (FmxTime) S);
  assert_int_equal (stats.n_breaker, 0);
  assert_int_equal (stats.state, FMX_RATE_SENDER_PROBING);
}

static void
test_params_change_while_it_runs (void **state)
{
  FmxRateSenderParams params = make_params ();
  FmxTime now;

  (void) state;
  start (&params);
  now = talk (0, 10 * (FmxTime) S, true);
  params.max_bps = 100000;
  fmx_rate_sender_set_params (&sender, &params, now);
  assert_int_equal (fmx_rate_sender_target_bps (&sender), 100000);
  params.klass = fmx_rate_class_find ("tfrc");
  params.max_bps = 50000;
  fmx_rate_sender_set_params (&sender, &params, now);
  assert_int_equal (fmx_rate_sender_target_bps (&sender), 50000);
  params.max_bps = 1000000;
  fmx_rate_sender_set_params (&sender, &params, now);
  talk (now, now + 5 * (FmxTime) S, true);
  assert_true (fmx_rate_sender_target_bps (&sender) > 50000);
  assert_true (fmx_rtt_rto (&sender.rtt) < 400 * MS);
  params.rto_min = 700 * MS;
  fmx_rate_sender_set_params (&sender, &params, now);
  assert_true (fmx_rtt_rto (&sender.rtt) >= 700 * MS);
}

static void
test_next_timeout_always_moves_on (void **state)
{
  FmxRateSenderParams params = make_params ();
  FmxTime now = 0;

  (void) state;
  start (&params);
  for (unsigned i = 0; i < 10; i++)
    leave (200, i * 20 * MS);
  for (unsigned i = 0; i < 200; i++) {
    FmxTime next = fmx_rate_sender_next_timeout (&sender);

    if (next == FMX_TIME_NONE)
      return;
    assert_true (next >= now);
    now = next;
    fmx_rate_sender_on_timeout (&sender, now);
    (void) fmx_rate_sender_take_probe (&sender, now);
    assert_true (fmx_rate_sender_next_timeout (&sender) > now);
  }
}

static void
test_a_flood_of_ssrcs_costs_no_more (void **state)
{
  FmxRateSenderParams params = make_params ();
  FmxRateSenderStats stats;
  FmxTime now = talk (0, 0, false);

  (void) state;
  start (&params);
  for (uint32_t i = 0; i < 100000; i++, now += MS / 4) {
    fmx_rate_sender_on_sent (&sender, i * 2654435761u, (uint16_t) i, 200, now);
    if (i % 100 == 0)
      fmx_rate_sender_on_timeout (&sender, now);
  }
  fmx_rate_sender_get_stats (&sender, &stats, now);
  assert_int_equal (stats.n_sent, 100000);
  assert_in_range (stats.n_forgotten, 90000, 100000);
}

/* Of four that are coupled, one has 1.6 equal parts: its rate is 1.6 times what a flow finds
 * that has one. */
static void
test_a_share_is_so_many_times_what_an_equal_part_finds (void **state)
{
  FmxRateSenderParams params = make_params ();
  double bps[2];

  (void) state;
  params.klass = fmx_rate_class_find ("gaimd");
  for (unsigned i = 0; i < 2; i++) {
    double share = i == 0 ? 1.0 : 1.6;

    packet_bytes = (uint32_t) (200 * share);
    start (&params);
    fmx_rate_sender_set_share (&sender, share, 0);
    assert_int_equal (fmx_rate_sender_target_bps (&sender), 80000);
    fmx_rate_sender_set_bps (&sender, 80000 * share, 0);
    assert_float_equal (fmx_rate_sender_target_bps (&sender), 80000 * share, 2);
    talk (0, 9 * S, true);
    bps[i] = (double) fmx_rate_sender_target_bps (&sender);
  }
  packet_bytes = 200;
  assert_true (bps[0] > 140000.0);
  assert_float_equal (bps[1] / bps[0], 1.6, 0.02);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_default_params_are_valid),
    cmocka_unit_test (test_starts_with_the_initial_rate_and_says_so),
    cmocka_unit_test (test_measures_what_is_sent_and_received),
    cmocka_unit_test
        (test_feedback_cut_off_means_half_and_half_again_then_probing),
    cmocka_unit_test (test_total_loss_stops_media_within_two_seconds),
    cmocka_unit_test (test_probes_once_a_second_as_long_as_it_lasts),
    cmocka_unit_test (test_media_comes_back_soon_after_an_outage),
    cmocka_unit_test (test_nobody_listens_then_somebody_does),
    cmocka_unit_test (test_breaker_stops_a_sender_that_is_deaf),
    cmocka_unit_test (test_breaker_can_be_off),
    cmocka_unit_test (test_params_change_while_it_runs),
    cmocka_unit_test (test_next_timeout_always_moves_on),
    cmocka_unit_test (test_a_flood_of_ssrcs_costs_no_more),
    cmocka_unit_test (test_a_share_is_so_many_times_what_an_equal_part_finds),
  };

  return cmocka_run_group_tests_name ("rate/rate-sender", tests, NULL, NULL);
}
