/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How fairmix climbs while the queue is short */
#include "fmx-test-rate-shortq.h"

#define DECISION (700 * MS)     /* 7 round trips */

/* The rate stays until the next decision, and is then @bps. */
static void
expect_step (Told * t, double bps)
{
  double before = t->rc.rate_bps;

  told_for (t, DECISION - STEP, 0);
  assert_bps (t, before);
  told_for (t, STEP, 0);
  assert_bps (t, bps);
}

static void
test_steps_double_up_to_a_stream (void **state)
{
  Told t = told_calm (400e3);

  (void) state;
  expect_step (&t, 416e3);
  expect_step (&t, 448e3);
  expect_step (&t, 512e3);
  expect_step (&t, 592e3);
  expect_step (&t, 672e3);
}

static void
test_a_step_is_a_part_of_a_small_rate (void **state)
{
  Told t = told_calm (64e3);
  double bps = 64e3;

  (void) state;
  for (unsigned n = 0; n < 6; n++) {
    FmxTime end = t.now + 2 * (FmxTime) S;

    for (double before = t.rc.rate_bps; t.rc.rate_bps == before && t.now < end;)
      told_for (&t, STEP, 0);
    assert_bps (&t, bps += bps * (n < 2 ? 0.0625 * (1u << n) : 0.25));
  }
}

static void
test_a_step_is_no_more_than_100_kbit_s (void **state)
{
  Told t = told_calm (4e6);
  double bps = 4e6;

  (void) state;
  t.fb.stream_bps = 1e6;
  for (unsigned n = 0; n < 5; n++)
    expect_step (&t, bps += fmin (16e3 * (1u << n), 100e3));
}

/* Small steps around it; where it has moved, up to a quarter of the rate. */
static void
test_a_ceiling_is_felt_for_and_forgotten_where_it_was_passed (void **state)
{
  Told t = told_ceiling (400e3, 1);
  double bps = t.rc.rate_bps;

  (void) state;
  /* ... by 0.2 s of queue that a token bucket might have hidden */
  while (bps <= 440e3 || t.rc.state.shortq.beyond_s
      + fmx_time_to_s (DECISION) * (bps / 400e3 - 1.0) < 0.2)
    expect_step (&t, bps += 16e3);
  expect_step (&t, 1.25 * bps);
}

/* Of 4 Mbit/s 16 kbit/s are little: 25 of them are the tenth that tells. */
static void
test_steps_at_a_ceiling_double_while_no_queue_shows (void **state)
{
  Told t = told_ceiling (4e6, 1);
  unsigned n_near = 0;

  (void) state;
  t.fb.stream_bps = 1e6;
  while (t.rc.rate_bps <= 1.1 * 4e6) {
    double before = t.rc.rate_bps;

    told_for (&t, DECISION, 0);
    assert_true (t.rc.rate_bps <= 1.02 * before + 1.0 || before < 0.95 * 4e6);
    n_near += before >= 0.95 * 4e6;
    assert_true (t.now < 60 * (FmxTime) S);
  }
  assert_in_range (n_near, 8, 16);
}

/* A ceiling of 400 kbit/s was found, and trains told what the path carries while others
 * filled it.  A packet meets @queue each 2 s.  Returns: the rate after 8 s */
static double
rate_where_the_path_has (double path_bps, FmxDuration queue)
{
  Told t = told_ceiling (400e3, 1);

  t.fb.path_bps = path_bps;
  for (unsigned n = 0; n < 4; n++) {
    told_for (&t, STEP, queue);
    told_for (&t, 2 * S - STEP, 0);
  }
  return t.rc.rate_bps;
}

/* The ceiling was theirs as well.  More than a half is found by steps. */
static void
test_what_is_left_of_a_known_path_is_taken_soon (void **state)
{
  double by_steps = rate_where_the_path_has (0.0, 0);

  (void) state;
  assert_true (rate_where_the_path_has (3e6, 0) > 1.5 * by_steps);
  assert_true (rate_where_the_path_has (700e3, 0) <= by_steps);
}

static void
test_what_somebody_uses_is_not_taken_soon (void **state)
{
  (void) state;
  assert_true (rate_where_the_path_has (3e6, 15 * MS)
      == rate_where_the_path_has (0.0, 15 * MS));
}

/* Some packet is lost at first, if any, and a TCP would have 1 Mbit/s.  From then on a packet meets
 * @queue each second.  Returns: the rate of the same after 5 s, which was 100 kbit/s */
static double
rate_beside_losses (Told *t, unsigned n_losses, FmxDuration queue)
{
  t->fb.loss_event_rate = told_loss (1e6, 100 * MS);
  for (unsigned n = 0; n < 5; n++) {
    t->fb.new_loss_event = n == 0 && n_losses > 0;
    told_for (t, STEP, n > 0 ? queue : 0);
    told_for (t, S - STEP, 0);
  }
  return t->rc.rate_bps;
}

static void
test_where_losses_alone_tell_their_rate_is_taken_soon (void **state)
{
  Told steps = told_calm (100e3), lossy = told_calm (100e3);
  Told queue = told_calm (100e3), mine = told_calm (100e3);
  double by_steps = rate_beside_losses (&steps, 0, 0);

  (void) state;
  assert_true (by_steps < 400e3);
  assert_true (rate_beside_losses (&lossy, 1, 0) > 2.0 * by_steps);
  assert_true (lossy.rc.loses && !steps.rc.loses);
  assert_true (rate_beside_losses (&queue, 1, 40 * MS) == by_steps);
  mine.fb.bottleneck_bps = 110e3;
  assert_true (rate_beside_losses (&mine, 1, 0) == by_steps);
  assert_false (mine.rc.loses);
  told_for (&lossy, 3 * S, 0);
  assert_true (lossy.rc.rate_bps > 899e3 && lossy.rc.rate_bps <= 1e6);
}

/* Nor is a ceiling passed by it, and long after the last loss there are but steps. */
static void
test_a_loss_says_nothing_of_a_ceiling_and_is_forgotten (void **state)
{
  Told steps = told_ceiling (400e3, 1), lossy = told_ceiling (400e3, 1);
  Told old = told_calm (100e3), never = told_calm (100e3);

  (void) state;
  told_for (&steps, S, 0);      /* nothing is left of the queue */
  told_for (&lossy, S, 0);
  assert_true (rate_beside_losses (&lossy, 1, 0)
      < 1.1 * rate_beside_losses (&steps, 0, 0));
  assert_true (lossy.rc.loses && steps.rc.rate_bps < 500e3);
  told_lose (&old);
  for (unsigned i = 0; i < 2; i++) {
    Told *t = i == 0 ? &old : &never;

    told_limit (t, 100e3);
    told_for (t, 21 * S, 0);
    assert_false (t->rc.loses);
    told_limit (t, 1e9);
  }
  assert_true (rate_beside_losses (&old, 0, 0)
      == rate_beside_losses (&never, 0, 0));
}

/* Nor by those of a full queue. */
static void
test_what_a_full_queue_loses_tells_of_no_rate (void **state)
{
  (void) state;
  for (unsigned full = 0; full <= 1; full++) {
    Told t = told_calm (100e3);

    told_lose (&t);
    told_for (&t, 100 * MS, full ? 60 * MS : 0);
    assert_true (t.rc.loses == !full);
  }
}

/* It would be silent for 15 s. */
static void
test_no_step_comes_near_the_circuit_breaker (void **state)
{
  Told t = told_calm (400e3);

  (void) state;
  t.fb.breaker_bps = 600e3;
  told_for (&t, 5 * S, 0);
  assert_bps (&t, 0.8 * 600e3);
  t.fb.breaker_bps = 400e3;
  told_for (&t, S, 0);
  assert_bps (&t, 0.8 * 400e3);
}

/* [RFC5348 4.3] recv_limit; [RFC7661] */
static void
test_who_sends_little_keeps_the_rate (void **state)
{
  static const double shares[] = { 0.2, 0.45 };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (shares); i++) {
    Told t = told_calm (400e3);

    t.sent_share = shares[i];
    told_for (&t, 5 * S, 0);
    assert_bps (&t, 400e3);
  }
}

/* Of 400 kbit/s that it may send it sends 180, and 100 come through: what it did
 * not send says nothing of the link. */
static void
test_who_sends_little_falls_to_what_arrives (void **state)
{
  Told t = told_calm (400e3);

  (void) state;
  t.sent_share = 0.45;
  told_for (&t, 2 * S, 0);
  t.link_bps = 100e3;
  told_for (&t, S, 100 * MS);
  assert_string_equal (fmx_rate_controller_reason (&t.rc), "down-delay");
  assert_true (t.rc.rate_bps < 100e3);
}

static void
test_no_step_passes_the_equation (void **state)
{
  FmxTcpPath path = fmx_tcp_path (1460.0, 100 * MS);
  double x = fmx_tcp_equation_bps (&path, 0.06);
  Told calm = told_calm (0.99 * x), starting = told_begin (0.99 * x);

  (void) state;
  calm.fb.loss_event_rate = starting.fb.loss_event_rate = 0.06;
  expect_step (&calm, x);
  /* nor a start, not even for a moment */
  while (starting.rc.rate_bps < x && starting.now < 5 * (FmxTime) S)
    told_for (&starting, STEP, 0);
  assert_bps (&starting, x);
}

/* As elsewhere: of a packet's size if none is given. */
static void
test_the_equation_has_the_segments_that_are_asked_for (void **state)
{
  (void) state;
  for (unsigned given = 0; given < 2; given++) {
    Told t = told_calm (4e6);
    FmxTcpPath path = fmx_tcp_path (given ? 1460.0 : 200.0, 100 * MS);
    FmxRateParams params = t.rc.params;

    params.segment_bytes = given ? 1460 : 0;
    fmx_rate_controller_set_params (&t.rc, &params);
    t.fb.loss_event_rate = 0.01;
    told_for (&t, 5 * S, 0);
    assert_bps (&t, fmx_tcp_equation_bps (&path, 0.01));
  }
}

/* Who was there before gives way first. */
static void
test_a_start_bears_twice_the_queue (void **state)
{
  (void) state;
  for (unsigned starting = 0; starting < 2; starting++) {
    Told t = starting ? told_begin (400e3) : told_calm (400e3);

    told_for (&t, STEP, 0);
    told_for (&t, 4 * STEP, 35 * MS);
    assert_int_equal (told_mode (&t), starting ? FMX_RATE_SHORTQ_STARTING
        : FMX_RATE_SHORTQ_DRAINING);
    /* and no more */
    told_for (&t, 4 * STEP, 60 * MS);
    assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_DRAINING);
  }
}

/* A queue that is full at 27 ms is never twice too long: a start sent 1.1 times what
 * the link carries until the circuit breaker stopped it. */
static void
test_a_start_that_loses_bears_no_longer_queue (void **state)
{
  Told t = told_begun (400e3);

  (void) state;
  told_for (&t, STEP, 0);
  told_for (&t, 4 * STEP, 35 * MS);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_STARTING);
  t.fb.new_loss_event = true;
  told_for (&t, STEP, 35 * MS);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_DRAINING);
}

/* Three packets of 200 bytes are 200 ms of 24 kbit/s; half of 100 ms is borne there. */
static void
test_a_few_packets_are_no_queue (void **state)
{
  Told t = told_calm (24e3);

  (void) state;
  told_for (&t, 2 * S, 45 * MS);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_CALM);
  assert_true (t.rc.rate_bps > 24e3);
}

/* ... but of a path that is known to carry more they are a moment. */
static void
test_a_few_packets_of_a_wide_path_are_a_queue (void **state)
{
  (void) state;
  for (unsigned known = 0; known <= 2; known++) {
    Told t = told_calm (40e3);

    t.fb.path_bps = known == 1 ? 300e3 : 0.0;
    t.fb.bottleneck_bps = known == 2 ? 300e3 : 0.0;
    told_for (&t, 3 * S, 45 * MS);
    assert_true (known > 0 ? t.rc.rate_bps < 40e3 : t.rc.rate_bps > 40e3);
  }
}

static void
test_a_round_trip_that_was_not_heard_is_none (void **state)
{
  Told t = told_calm (400e3);

  (void) state;
  t.fb.heard = false;
  told_for (&t, S, 200 * MS);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_CALM);
  assert_bps (&t, 400e3);
}

/* What it does depends on what has passed, not on what the clock shows. */
static void
test_a_clock_that_shows_hours_makes_no_difference (void **state)
{
  Told early = told_begin (400e3), late = told_begin (400e3);

  (void) state;
  late.now = 3600 * (FmxTime) S;
  fmx_rate_controller_init (&late.rc, &fmx_rate_shortq, &early.rc.params,
      late.now);
  for (unsigned i = 0; i < 2400; i++) {
    FmxDuration queue = i / 200 % 3 == 1 ? (unsigned) (i % 40) * 8 * MS : 0;
    Told *both[] = { &early, &late };

    for (unsigned k = 0; k < 2; k++) {
      both[k]->fb.new_loss_event = i % 40 == 1;
      both[k]->link_bps = i % 50 < 8 ? 100e3 : HUGE_VAL;
      both[k]->fb.loss_fraction = i / 600 == 2 ? 0.3 : 0.01;
      both[k]->fb.answered = i % 30 == 0;
      told_for (both[k], STEP, queue);
    }
    assert_true (early.rc.rate_bps == late.rc.rate_bps);
    assert_int_equal (told_mode (&early), told_mode (&late));
  }
  assert_true (early.rc.stats.n_down > 10 && early.rc.stats.n_up > 10);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_steps_double_up_to_a_stream),
    cmocka_unit_test (test_a_step_is_a_part_of_a_small_rate),
    cmocka_unit_test (test_a_step_is_no_more_than_100_kbit_s),
    cmocka_unit_test
        (test_a_ceiling_is_felt_for_and_forgotten_where_it_was_passed),
    cmocka_unit_test (test_steps_at_a_ceiling_double_while_no_queue_shows),
    cmocka_unit_test (test_what_is_left_of_a_known_path_is_taken_soon),
    cmocka_unit_test (test_what_somebody_uses_is_not_taken_soon),
    cmocka_unit_test (test_where_losses_alone_tell_their_rate_is_taken_soon),
    cmocka_unit_test (test_a_loss_says_nothing_of_a_ceiling_and_is_forgotten),
    cmocka_unit_test (test_what_a_full_queue_loses_tells_of_no_rate),
    cmocka_unit_test (test_no_step_comes_near_the_circuit_breaker),
    cmocka_unit_test (test_who_sends_little_keeps_the_rate),
    cmocka_unit_test (test_who_sends_little_falls_to_what_arrives),
    cmocka_unit_test (test_no_step_passes_the_equation),
    cmocka_unit_test (test_the_equation_has_the_segments_that_are_asked_for),
    cmocka_unit_test (test_a_start_bears_twice_the_queue),
    cmocka_unit_test (test_a_start_that_loses_bears_no_longer_queue),
    cmocka_unit_test (test_a_few_packets_are_no_queue),
    cmocka_unit_test (test_a_few_packets_of_a_wide_path_are_a_queue),
    cmocka_unit_test (test_a_round_trip_that_was_not_heard_is_none),
    cmocka_unit_test (test_a_clock_that_shows_hours_makes_no_difference),
  };

  return cmocka_run_group_tests_name ("rate/rate-shortq-steps", tests, NULL,
      NULL);
}
