/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What fairmix reads from a queue that drains, or does not */
#include "fmx-test-rate-shortq.h"

/* At 400 kbit/s more than 24 ms are too long, at 340 less than 12.8 short. */
#define BPS 400e3

/* It has just climbed, or long ago, and the queue is @queue. */
static Told
told_draining (FmxDuration queue, bool own)
{
  Told t = own ? told_raised (BPS) : told_calm (BPS);
  FmxTime shows;

  if (!own)
    told_held (&t);
  shows = t.now;
  told_until (&t, FMX_RATE_SHORTQ_DRAINING, queue);
  assert_true (t.now < shows + S);
  /* a long one is to drain in 0.8 s */
  assert_bps (&t, (!own ? 0.8 : queue < 120 * MS ? 0.85 :
          1.0 - fmx_time_to_s (queue) / 0.8) * BPS);
  return t;
}

/* What left before the cut tells nothing of it. */
static void
test_waits_until_the_cut_shows (void **state)
{
  Told t = told_draining (60 * MS, true);
  FmxTime cut = t.now - STEP;

  (void) state;
  t.fb.rtt_sample_min = 100 * MS;
  for (unsigned i = 0; i < 3; i++, t.now += STEP) {
    t.fb.acked_sent = cut - MS;
    fmx_rate_controller_on_feedback (&t.rc, &t.fb, t.now);
  }
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_DRAINING);
  /* and now it is long */
  told_for (&t, 300 * MS, 60 * MS);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_DRAINING);
  assert_bps (&t, 0.85 * BPS);
  told_for (&t, 300 * MS, 0);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_CALM);
}

/* After a cut of 0.375 a queue of ours falls by 375 ms in a second; @share of
 * that is what is seen, by who has lost something.  Returns: the cuts until it is over. */
static unsigned
cuts_while_it_falls (double share)
{
  Told t = told_draining (300 * MS, true);
  FmxTime began = t.now;
  double rate_bps = t.rc.rate_bps;
  unsigned n_cuts = 1;

  told_lose (&t);
  for (double s = 0.0; told_mode (&t) == FMX_RATE_SHORTQ_DRAINING;) {
    double left_s = 0.3 - share * 0.375 * s;

    told_for (&t, STEP, left_s > 0.0 ? fmx_time_from_s (left_s) : 0);
    if (t.rc.rate_bps < rate_bps)
      n_cuts++;
    rate_bps = t.rc.rate_bps;
    s = fmx_time_to_s (fmx_time_diff (t.now, began));
    assert_true (s < 10.0);
  }
  return told_mode (&t) == FMX_RATE_SHORTQ_CALM ? n_cuts : 0;
}

/* One whose queue falls too little is not alone. */
static void
test_a_queue_of_ours_falls_as_the_cut_lets_it (void **state)
{
  (void) state;
  assert_int_equal (cuts_while_it_falls (1.0), 1);
  assert_int_equal (cuts_while_it_falls (0.8), 1);
  assert_int_equal (cuts_while_it_falls (0.3), 0);
}

/* A burst of somebody else's fills the queue for a moment: it is gone before the cut can
 * have drained anything. */
static void
test_a_queue_that_passed_by_itself_takes_nothing (void **state)
{
  (void) state;
  for (unsigned own = 0; own < 2; own++) {
    Told t = told_draining (60 * MS, own);

    told_while (&t, FMX_RATE_SHORTQ_DRAINING, 0);
    assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_CALM);
    assert_bps (&t, BPS);
  }
}

/* ... also where what came through meanwhile is less than what one of many would have of a
 * link that is known. */
static void
test_nobody_gives_way_below_what_one_of_many_has (void **state)
{
  Told t = told_calm (BPS);

  (void) state;
  t.fb.path_bps = 9.0 * 0.9 * BPS;
  told_limit (&t, BPS);
  told_for (&t, 3 * S, 0);
  told_until (&t, FMX_RATE_SHORTQ_DRAINING, 60 * MS);
  assert_bps (&t, 0.9 * BPS);
}

/* Feedback has its own jitter: half a second is too little to judge. */
static void
test_a_short_time_is_no_evidence (void **state)
{
  Told t = told_draining (100 * MS, true);

  (void) state;
  told_for (&t, 600 * MS, 100 * MS);
  assert_bps (&t, 0.85 * BPS);
  told_for (&t, 400 * MS, 10 * MS);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_CALM);
}

/* No more can fall than there is; but not for ever. */
static void
test_the_rest_of_a_shortq_has_three_seconds (void **state)
{
  Told t = told_draining (40 * MS, true);

  (void) state;
  told_for (&t, 300 * MS, 40 * MS);
  told_for (&t, 2500 * MS, 20 * MS);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_DRAINING);
  assert_bps (&t, 0.85 * BPS);
  told_for (&t, 300 * MS, 20 * MS);
  assert_true (t.rc.rate_bps < 0.85 * BPS);
}

/* Half of what is too long is too long after two seconds: of the same rate. */
static void
test_what_stands_is_given_two_seconds_at_each_rate (void **state)
{
  Told t = told_calm (BPS);

  (void) state;
  told_for (&t, 1500 * MS, 20 * MS);
  t.link_bps = 220e3;
  t.fb.new_loss_event = true;
  told_for (&t, STEP, 20 * MS);
  assert_bps (&t, 0.85 * 220e3);
  told_for (&t, 1900 * MS, 20 * MS);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_CALM);
  told_for (&t, 300 * MS, 20 * MS);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_DRAINING);
}

static void
test_climbs_an_interval_after_it_has_drained (void **state)
{
  Told t = told_draining (60 * MS, false);
  double bps;

  (void) state;
  told_drain (&t, 60 * MS);
  bps = t.rc.rate_bps;
  told_for (&t, 650 * MS, 0);
  assert_bps (&t, bps);
  told_for (&t, STEP, 0);
  assert_bps (&t, bps + 16e3);
}

/* A step just above the ceiling, and a queue that grows to 20 ms in @slowly, and then is too
 * long.  Returns: what remains of what came through */
static double
remains_above (double bottleneck_bps, FmxDuration slowly)
{
  Told t = told_ceiling (BPS, 1);

  for (; t.rc.rate_bps <= BPS; told_for (&t, STEP, 0))
    assert_true (t.now < 60 * (FmxTime) S);
  t.link_bps = BPS;
  t.fb.bottleneck_bps = bottleneck_bps;
  told_for (&t, slowly, 20 * MS);
  told_until (&t, FMX_RATE_SHORTQ_DRAINING, 25 * MS);
  return t.rc.rate_bps / BPS;
}

static void
test_a_queue_that_grows_slowly_above_the_ceiling_is_our_own (void **state)
{
  (void) state;
  assert_float_equal (remains_above (0.0, 1500 * MS), 0.95, 1e-6);
  assert_float_equal (remains_above (0.9 * BPS, 1500 * MS), 0.95, 1e-6);
  assert_float_equal (remains_above (2.0 * BPS, 1500 * MS), 0.8, 1e-6);
}

/* A shaper's bucket lets five packets pass at four times the link's rate.  What arrives is
 * what arrived when our own step made the queue show before: it is ours again. */
static void
test_a_queue_at_the_ceiling_that_is_known_is_nobody_else_s (void **state)
{
  Told t = told_ceiling (BPS, 1);

  (void) state;
  t.fb.bottleneck_bps = t.fb.train_bps = 4.0 * BPS;
  t.link_bps = BPS;
  for (unsigned n = 0; n < 5; n++) {
    for (FmxTime end = t.now + 20 * (FmxTime) S; t.rc.rate_bps <= BPS;
        told_for (&t, STEP, 0))
      assert_true (t.now < end);
    told_until (&t, FMX_RATE_SHORTQ_DRAINING, 60 * MS);
    told_drain (&t, 60 * MS);
    assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_CALM);
  }
}

/* Returns: how long it stays below the ceiling from now on */
static FmxDuration
hold_of (Told * t)
{
  FmxTime drained = t->now - STEP;

  for (; t->rc.rate_bps <= 0.95 * BPS; told_for (t, STEP, 0))
    assert_true (t->now < drained + 20 * (FmxTime) S);
  return fmx_time_diff (t->now - STEP, drained);
}

/* ... after the queue has drained that showed there @n times in a row */
static FmxDuration
hold_after (unsigned n)
{
  Told t = told_ceiling (BPS, n);

  return hold_of (&t);
}

/* ... and then once more, without a step */
static FmxDuration
hold_after_another (unsigned n)
{
  Told t = told_ceiling (BPS, n);

  (void) hold_of (&t);
  told_held (&t);
  told_until (&t, FMX_RATE_SHORTQ_DRAINING, 60 * MS);
  told_drain (&t, 60 * MS);
  return hold_of (&t);
}

/* At 400 kbit/s 0.62 of 2, 4 and 8 s; what is due then is due each 0.7 s. */
static void
test_who_made_it_show_again_waits_twice_as_long (void **state)
{
  (void) state;
  assert_in_range (hold_after (2), 2430 * MS, 3200 * MS);
  assert_in_range (hold_after (3), 4860 * MS, 5700 * MS);
  assert_in_range (hold_after (4), 4860 * MS, 5700 * MS);
  /* it was somebody else */
  assert_true (hold_after_another (3) < hold_after (4));
}

/* Returns: of the rate, what a second cut leaves for a queue that does not go; @path_bps: what
 * the path carries */
static double
second_cut (bool own, bool lost, double path_bps)
{
  Told t = own ? told_raised (BPS) : told_calm (BPS);
  double before_bps;

  if (!own)
    told_held (&t);
  t.fb.path_bps = path_bps;
  told_until (&t, FMX_RATE_SHORTQ_DRAINING, 60 * MS);
  before_bps = t.rc.rate_bps;

  if (lost)
    told_lose (&t);
  for (; t.rc.rate_bps >= before_bps; told_for (&t, STEP, 200 * MS))
    assert_true (t.now < 30 * (FmxTime) S);
  return t.rc.rate_bps / before_bps;
}

/* Who has come and does not give way as our like do keeps a rate: what is left beside it is
 * less than what comes through while both fill the queue. */
static void
test_the_second_cut_is_deeper_beside_who_keeps_a_rate (void **state)
{
  (void) state;
  assert_float_equal (second_cut (false, false, 0.0), 0.65, 1e-6);
  assert_float_equal (second_cut (false, true, 0.0), 0.8, 1e-6);
  assert_float_equal (second_cut (true, false, 0.0), 0.8, 1e-6);
  /* our own step just when they came */
  assert_float_equal (second_cut (true, false, 2.2 * BPS), 0.65, 1e-6);
  assert_float_equal (second_cut (true, false, 1.8 * BPS), 0.8, 1e-6);
}

/* Returns: how often it cuts for a queue that does not go, until it competes */
static unsigned
cuts_in_vain (bool lost)
{
  Told t = told_draining (60 * MS, true);
  double rate_bps;
  unsigned n_cuts = 0;

  /* those that helped do not count */
  for (unsigned i = 0; i < 3; i++) {
    told_for (&t, S, 0);
    told_until (&t, FMX_RATE_SHORTQ_DRAINING, 60 * MS);
  }
  told_for (&t, S, 0);
  rate_bps = t.rc.rate_bps;
  if (lost)
    told_lose (&t);
  for (; told_mode (&t) != FMX_RATE_SHORTQ_COMPETING; rate_bps = t.rc.rate_bps) {
    told_for (&t, STEP, 200 * MS);
    assert_true (t.now < 60 * (FmxTime) S);
    n_cuts += t.rc.rate_bps < rate_bps;
  }
  return n_cuts;
}

/* Somebody else's queue does not go: one cut, another, then compete. */
static void
test_two_cuts_in_vain_and_no_more (void **state)
{
  (void) state;
  assert_int_equal (cuts_in_vain (true), 2);
}

/* Who fills it may keep a rate, of which our cuts drain little: a TCP would have lost
 * something, and made us lose it. */
static void
test_two_cuts_more_where_nothing_has_been_lost (void **state)
{
  (void) state;
  assert_int_equal (cuts_in_vain (false), 4);
}

/* Returns: the cuts for a queue that does not go, @after a train found room for @times what
 * comes through */
static unsigned
cuts_after_room (double times, FmxDuration after)
{
  Told t = told_begin (BPS);

  told_limit (&t, BPS);
  told_for (&t, S, 0);
  t.fb.passed_bps = times * BPS;
  told_for (&t, STEP, 0);
  t.fb.passed_bps = 0.0;
  told_for (&t, after, 0);
  told_until (&t, FMX_RATE_SHORTQ_COMPETING, 200 * MS);
  return t.rc.stats.n_drains;
}

/* ... and where there was room for far more just before, it is not ours, either. */
static void
test_one_cut_beside_who_fills_a_queue_that_had_room (void **state)
{
  (void) state;
  assert_int_equal (cuts_after_room (4.0, S), 1);
  assert_int_equal (cuts_after_room (4.0, 4 * S), 4);
  assert_int_equal (cuts_after_room (1.5, S), 4);
}

/* A queue that has grown although the cut showed is not waited for; and a second cut is a
 * large one, whoever's the queue seemed to be. */
static void
test_a_queue_that_grows_has_no_time (void **state)
{
  Told t = told_draining (30 * MS, true);
  double rate_bps = t.rc.rate_bps;

  (void) state;
  while (!t.rc.state.shortq.drain_seen)
    told_for (&t, STEP, 30 * MS);
  told_for (&t, 200 * MS, 45 * MS);
  assert_bps (&t, rate_bps);
  told_for (&t, 300 * MS, 60 * MS);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_DRAINING);
  assert_bps (&t, 0.8 * rate_bps);
}

/* There is no room for a cut: it would only give way to who makes it lose packets. */
static void
test_at_the_least_rate_it_competes_at_once (void **state)
{
  Told low = told_calm (21e3), near = told_calm (25e3);

  (void) state;
  told_lose (&low);
  told_while (&low, FMX_RATE_SHORTQ_CALM, S);
  assert_int_equal (told_mode (&low), FMX_RATE_SHORTQ_COMPETING);
  assert_bps (&low, 21e3);

  told_while (&near, FMX_RATE_SHORTQ_CALM, S);
  assert_int_equal (told_mode (&near), FMX_RATE_SHORTQ_DRAINING);
  while (told_mode (&near) == FMX_RATE_SHORTQ_DRAINING) {
    told_lose (&near);
    told_for (&near, STEP, S);
    assert_true (near.now < 20 * (FmxTime) S);
    assert_int_equal (near.rc.state.shortq.n_drains, 1);
  }
  assert_int_equal (told_mode (&near), FMX_RATE_SHORTQ_COMPETING);
}

/* It says that it drains only of its own accord, or all would ask each other for ever. */
static void
test_one_of_several_drains_with_the_others (void **state)
{
  Told t = told_calm (400e3);

  (void) state;
  fmx_rate_controller_drain_too (&t.rc);
  told_for (&t, STEP, 0);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_DRAINING);
  assert_true (fmx_rate_controller_bps (&t.rc) < 0.9 * 400e3);
  assert_int_equal (t.rc.stats.n_drains, 0);
  told_while (&t, FMX_RATE_SHORTQ_DRAINING, 0);
  told_until (&t, FMX_RATE_SHORTQ_DRAINING, 200 * MS);
  assert_int_equal (t.rc.stats.n_drains, 1);
}

static void
test_who_has_the_least_does_not_compete_for_others (void **state)
{
  Told t = told_calm (400e3);

  (void) state;
  fmx_rate_controller_set (&t.rc, t.rc.params.min_bps, FMX_RATE_COUPLED);
  fmx_rate_controller_drain_too (&t.rc);
  told_for (&t, STEP, 0);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_CALM);
  assert_false (t.rc.drains_too);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_waits_until_the_cut_shows),
    cmocka_unit_test (test_a_queue_of_ours_falls_as_the_cut_lets_it),
    cmocka_unit_test (test_a_queue_that_passed_by_itself_takes_nothing),
    cmocka_unit_test (test_nobody_gives_way_below_what_one_of_many_has),
    cmocka_unit_test (test_a_short_time_is_no_evidence),
    cmocka_unit_test (test_the_rest_of_a_shortq_has_three_seconds),
    cmocka_unit_test (test_what_stands_is_given_two_seconds_at_each_rate),
    cmocka_unit_test
        (test_a_queue_that_grows_slowly_above_the_ceiling_is_our_own),
    cmocka_unit_test
        (test_a_queue_at_the_ceiling_that_is_known_is_nobody_else_s),
    cmocka_unit_test (test_climbs_an_interval_after_it_has_drained),
    cmocka_unit_test (test_who_made_it_show_again_waits_twice_as_long),
    cmocka_unit_test (test_the_second_cut_is_deeper_beside_who_keeps_a_rate),
    cmocka_unit_test (test_two_cuts_in_vain_and_no_more),
    cmocka_unit_test (test_two_cuts_more_where_nothing_has_been_lost),
    cmocka_unit_test (test_one_cut_beside_who_fills_a_queue_that_had_room),
    cmocka_unit_test (test_a_queue_that_grows_has_no_time),
    cmocka_unit_test (test_at_the_least_rate_it_competes_at_once),
    cmocka_unit_test (test_one_of_several_drains_with_the_others),
    cmocka_unit_test (test_who_has_the_least_does_not_compete_for_others),
  };

  return cmocka_run_group_tests_name ("rate/rate-shortq-drain", tests, NULL,
      NULL);
}
