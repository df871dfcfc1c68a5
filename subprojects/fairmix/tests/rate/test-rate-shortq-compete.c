/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How fairmix follows what a TCP takes */
#include "fmx-test-rate-shortq.h"

#define EPOCH (2 * S)
#define STEPS 40u               /* of 50 ms in an epoch */

/* A queue that counts bytes stands still, and loses a small packet now and then: the large
 * ones of a TCP would not get in. */
static void
test_a_queue_that_stays_full_hits_a_tcp_each_two_round_trips (void **state)
{
  Told t = told_competing (400e3);
  /* E = 2R: 3/2 (E - R)/R segments in each R, and what comes on top */
  double x = 1.15 * 1.5 * 12000.0 / 0.4;

  (void) state;
  for (unsigned i = 0; i < STEPS * 30; i++) {
    t.fb.new_loss_event = i % STEPS == 0;
    told_for (&t, STEP, 300 * MS);
  }
  assert_near (t.rc.rate_bps, x);
}

/* Slowly, as many give way one after the other: that is no dip.  There is room then. */
static void
test_a_queue_that_falls_by_a_third_is_not_full (void **state)
{
  Told t = told_competing (400e3);

  (void) state;
  for (unsigned i = 0; i < STEPS * 30; i++) {
    t.fb.new_loss_event = i % STEPS == 0;
    told_for (&t, STEP, 300 * MS - 100 * MS * (i % STEPS) / STEPS);
  }
  assert_true (t.rc.rate_bps > 2.5 * 1.15 * 1.5 * 12000.0 / 0.35);
}

/* A saw-tooth between 20 and 300 ms of four seconds; losses in its lower half
 * have another reason. */
static void
test_losses_half_way_up_end_none (void **state)
{
  Told a = told_competing (400e3), b = told_competing (400e3);

  (void) state;
  for (unsigned i = 0; i < 80 * 30; i++) {
    FmxDuration queue = (20 + 280 * (i % 80) / 80) * MS;

    b.fb.new_loss_event = i % 80 == 15 || i % 80 == 35;
    told_for (&a, STEP, queue);
    told_for (&b, STEP, queue);
  }
  assert_near (b.rc.rate_bps, a.rc.rate_bps);
}

/* A crest that lost something does not hide the dips to come. */
static void
test_one_loss_does_not_hide_the_dips_after_it (void **state)
{
  Told a = told_competing (400e3), b = told_competing (400e3);

  (void) state;
  for (unsigned i = 0; i < STEPS * 30; i++) {
    unsigned k = i % STEPS;
    FmxDuration queue = 200 * MS + (k < 20 ? 5 * k : 100) * MS;

    b.fb.new_loss_event = i == 22;
    told_for (&a, STEP, queue);
    told_for (&b, STEP, queue);
  }
  assert_near (b.rc.rate_bps, a.rc.rate_bps);
}

/* Of the round trip's mean, as TCP's window is: it does not swing along. */
static void
test_random_losses_count_at_the_mean_round_trip (void **state)
{
  Told t = told_competing (5e6);        /* a path without a limit */
  FmxTcpPath path = fmx_tcp_path (1460.0, 250 * MS);
  double x = fmx_tcp_equation_bps (&path, 0.05);

  (void) state;
  t.fb.loss_event_rate = 0.05;
  for (unsigned i = 0; i < 60 * 20; i++) {
    told_for (&t, STEP, (i / 40 % 2 ? 50 : 250) * MS);
    if (i > 30 * 20)
      assert_near (t.rc.rate_bps, x);
  }
}

/* Losses on a path that would carry far more allow @bps.  It is told with the
 * decision, each 2.1 s. */
static void
told_decision (Told * t, double bps)
{
  double before = t->rc.rate_bps;

  t->fb.loss_event_rate = told_loss (bps, 300 * MS);
  for (FmxTime end = t->now + 3 * (FmxTime)S; t->rc.rate_bps == before;
      told_for (t, STEP, 200 * MS))
    assert_true (t->now < end);
}

/* Competing at 400 kbit/s, to which it has just risen, where @share of it is
 * allowed from now on. */
static Told
told_allowed (double share)
{
  Told t = told_competing (5e6);

  t.fb.loss_event_rate = told_loss (300e3, 300 * MS);
  told_for (&t, 10 * S, 200 * MS);
  assert_bps (&t, 300e3);
  told_decision (&t, 400e3);
  assert_bps (&t, 400e3);
  t.fb.loss_event_rate = told_loss (share * 400e3, 300 * MS);
  return t;
}

static void
test_stays_within_a_tenth_of_what_is_allowed (void **state)
{
  static const double within[] = { 0.92, 1.0, 1.09 };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (within); i++) {
    Told t = told_allowed (within[i]);

    told_for (&t, 5 * S, 200 * MS);
    assert_bps (&t, 400e3);
  }
}

static void
test_falls_at_once_and_doubles_in_a_second (void **state)
{
  Told low = told_allowed (0.85), high = told_allowed (3.0);

  (void) state;
  told_for (&low, 350 * MS, 200 * MS);
  assert_bps (&low, 0.85 * 400e3);

  told_for (&high, 1000 * MS - STEP, 200 * MS); /* 7 round trips are 2.1 s */
  assert_bps (&high, 400e3);
  told_for (&high, STEP, 200 * MS);
  assert_bps (&high, 2.0 * 400e3);
  told_for (&high, 1000 * MS, 200 * MS);
  assert_bps (&high, 3.0 * 400e3);
}

/* Seven round trips where that is sooner, two and a half where the queue is so long that
 * they take more than a second: a queue of a second and a half took a minute. */
static void
test_how_soon_it_rises_again_depends_on_the_round_trip (void **state)
{
  static const struct
  {
    FmxDuration queue, due;
  } cases[] = {
    {20 * MS, 850 * MS},        /* told each 50 ms */
    {300 * MS, 1000 * MS},
    {1500 * MS, 4000 * MS},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (cases); i++) {
    Told t = told_allowed (16.0);
    FmxTime rose[2];

    for (unsigned n = 0; n < 2; n++) {
      double before = t.rc.rate_bps;

      for (; t.rc.rate_bps <= before; told_for (&t, STEP, cases[i].queue))
        assert_true (t.now < 100 * (FmxTime) S);
      rose[n] = t.now;
    }
    assert_int_equal (fmx_time_diff (rose[1], rose[0]), cases[i].due);
  }
}

/* What it had then is no ceiling now. */
static void
test_afterwards_it_climbs_as_where_nothing_is_known (void **state)
{
  Told t = told_ceiling (400e3, 2);
  double bps;

  (void) state;
  told_limit (&t, 400e3);       /* and has it, beside whoever is there */
  told_until (&t, FMX_RATE_SHORTQ_COMPETING, 200 * MS);
  told_for (&t, 60 * S, 200 * MS);
  assert_true (t.rc.rate_bps > 0.9 * 400e3 && t.rc.rate_bps <= 400e3);
  told_limit (&t, 1e9);
  told_while (&t, FMX_RATE_SHORTQ_COMPETING, 0);
  bps = t.rc.rate_bps;
  for (unsigned n = 0; n < 2; n++) {
    double step = fmin (16e3, bps / 16.0) * (1u << n);

    told_for (&t, 650 * MS, 0);
    assert_bps (&t, bps);
    told_for (&t, STEP, 0);
    assert_bps (&t, bps += n == 0 ? step : fmin (16e3, bps / 16.0) * 2.0);
  }
}

/* Competing, with less than 0.46, on a path of 1 Mbit/s with TCPs that pause after half a minute */
static Told
told_pause (void)
{
  Told t = told_competing (400e3);

  t.fb.path_bps = 1e6;
  told_limit (&t, 420e3);
  told_for (&t, 30 * S, 200 * MS);
  assert_bps (&t, 420e3);
  told_limit (&t, 1e9);
  t.link_bps = 1e6;
  told_for (&t, 500 * MS, 0);
  assert_bps (&t, 420e3);
  told_for (&t, 2500 * MS, 0);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_COMPETING);
  return t;
}

/* Who fetches something now and then leaves the path to us meanwhile, if not all of it:
 * the next queue is theirs, and then we are back where we were. */
static void
test_while_the_others_pause_it_takes_what_they_leave (void **state)
{
  Told t = told_pause ();

  (void) state;
  assert_bps (&t, 900e3);
  told_for (&t, 500 * MS, 7 * MS);      /* less than half of too long a queue */
  assert_bps (&t, 900e3);
  told_for (&t, S, 200 * MS);
  assert_true (t.rc.rate_bps < 1.06 * 460e3);
}

static void
test_while_the_others_pause_losses_count (void **state)
{
  Told t = told_pause ();

  (void) state;
  t.fb.loss_event_rate = told_loss (500e3, 100 * MS);
  told_for (&t, 200 * MS, 0);
  assert_true (t.rc.rate_bps < 1.02 * 500e3);
}

/* Its ceiling held for long, and then it had to compete: nothing is known of one any more,
 * and a part of nothing is not the most that it may have. */
static void
test_who_competes_again_has_no_ceiling_to_take_a_part_of (void **state)
{
  Told t = told_ceiling (400e3, 4);

  (void) state;
  assert_true (t.rc.state.shortq.hold >= 8 * S);
  told_until (&t, FMX_RATE_SHORTQ_COMPETING, 200 * MS);
  told_while (&t, FMX_RATE_SHORTQ_COMPETING, 0);
  told_until (&t, FMX_RATE_SHORTQ_COMPETING, 200 * MS);
  told_for (&t, 2 * S, 200 * MS);
  assert_true (t.rc.rate_bps > 100e3);
}

/* The most that it may have beside another, if @ago it was said to be one of several */
static double
most_beside_another (FmxDuration ago)
{
  Told t = told_ceiling (400e3, 4);

  assert_true (t.now > (FmxTime) ago);
  fmx_rate_controller_set_coupled (&t.rc, t.now - (FmxTime) ago);
  told_until (&t, FMX_RATE_SHORTQ_COMPETING, 200 * MS);
  return t.rc.state.shortq.most_bps;
}

/* The ceiling of a flow that is coupled is that of its part. */
static void
test_one_of_several_takes_no_part_of_its_own_ceiling (void **state)
{
  (void) state;
  assert_true (most_beside_another (4 * S) > 400e3);
  assert_near (most_beside_another (10 * S), 0.55 * 400e3);
}

/* Nor one that became so later. */
static void
test_who_becomes_one_of_several_drops_its_part (void **state)
{
  Told t = told_ceiling (400e3, 4);

  (void) state;
  told_until (&t, FMX_RATE_SHORTQ_COMPETING, 200 * MS);
  assert_near (t.rc.state.shortq.most_bps, 0.55 * 400e3);
  fmx_rate_controller_set_coupled (&t.rc, t.now);
  told_for (&t, STEP, 200 * MS);
  assert_true (t.rc.state.shortq.most_bps > 400e3);
}

/* It was found in a crowd, and the queue never falls. */
static void
test_a_part_of_a_ceiling_is_not_for_ever (void **state)
{
  Told t = told_ceiling (400e3, 4);

  (void) state;
  told_until (&t, FMX_RATE_SHORTQ_COMPETING, 200 * MS);
  told_for (&t, 59 * S, 200 * MS);
  assert_near (t.rc.state.shortq.most_bps, 0.55 * 400e3);
  told_for (&t, 2 * S, 200 * MS);
  assert_near (t.rc.state.shortq.most_bps, 2.0 * 0.55 * 400e3);
}

/* What was ours alone ten seconds ago may be another's by now. */
static void
test_who_was_alone_long_ago_begins_with_its_rate (void **state)
{
  Told t = told_calm (400e3);
  double x;

  (void) state;
  told_limit (&t, 400e3);
  told_for (&t, 15 * S, 0);
  assert_true (t.rc.state.shortq.alone_bps > 0.0);
  t.link_bps = 60e3;
  for (FmxTime end = t.now + 10 * (FmxTime)S; t.now < end;) {
    told_for (&t, 2 * S, 0);
    told_until (&t, FMX_RATE_SHORTQ_DRAINING, 200 * MS);
    told_drain (&t, 200 * MS);
  }
  told_lose (&t);
  told_for (&t, STEP, 0);
  told_until (&t, FMX_RATE_SHORTQ_COMPETING, 200 * MS);
  x = fmx_full_queue_bps (&t.rc.state.shortq.full, 400e3, 0.0, t.now);
  assert_near (x, t.rc.rate_bps);
}

/* What comes through after an overrun is not all that we had. */
static void
test_who_was_overrun_was_alone_before (void **state)
{
  Told t = told_calm (400e3);
  double x;

  (void) state;
  told_limit (&t, 400e3);
  told_for (&t, 15 * S, 0);
  t.link_bps = 150e3;
  t.fb.new_loss_event = true;
  told_for (&t, STEP, 0);
  told_limit (&t, 150e3);
  assert_true (t.rc.rate_bps < 150e3);
  told_for (&t, 5 * S, 0);
  told_until (&t, FMX_RATE_SHORTQ_COMPETING, 200 * MS);
  x = fmx_full_queue_bps (&t.rc.state.shortq.full, 400e3, 0.0, t.now);
  assert_near (x, 200e3);
}

/* What others fill is measured while they do, and bounds what is ours of it. */
static void
test_who_competes_asks_what_the_path_carries (void **state)
{
  Told t = told_calm (400e3);

  (void) state;
  assert_true (t.rc.look_bps <= 0.0);
  t.fb.bottleneck_bps = 700e3;
  told_until (&t, FMX_RATE_SHORTQ_COMPETING, 200 * MS);
  /* who keeps a rate lets the queue drain, if late */
  assert_true (t.rc.look_bps <= 0.0);
  told_for (&t, S + STEP, 200 * MS);
  assert_near (t.rc.look_bps, 700e3);
  t.fb.bottleneck_bps = 0.0;
  told_for (&t, STEP, 200 * MS);
  assert_near (t.rc.look_bps, 2.0 * t.rc.rate_bps);
  t.fb.path_bps = 5e6;
  told_for (&t, 30 * S, 200 * MS);
  assert_true (t.rc.rate_bps > 700e3);
  t.fb.breaker_bps = 500e3;
  told_for (&t, 10 * S, 200 * MS);
  assert_true (t.rc.rate_bps < 0.61 * 500e3);
  told_while (&t, FMX_RATE_SHORTQ_COMPETING, 0);
  assert_true (t.rc.look_bps <= 0.0);
}

static void
test_who_competes_asks_at_once_where_nobody_knows (void **state)
{
  Told t = told_calm (400e3);

  (void) state;
  told_until (&t, FMX_RATE_SHORTQ_COMPETING, 200 * MS);
  told_for (&t, STEP, 200 * MS);
  assert_near (t.rc.look_bps, 2.0 * t.rc.rate_bps);
}

/* Nobody of our kind keeps a queue full, and whoever does gives no way.  A mark comes before
 * a queue is full; what left after a moment of standstill fills one for a moment; and who has
 * had room for seconds may have filled it. */
static void
test_who_begins_at_a_full_queue_competes (void **state)
{
  static const struct
  {
    bool marked, late, long_ago;
    FmxRateShortqMode mode;
  } cases[] = {
    {false, false, false, FMX_RATE_SHORTQ_COMPETING},
    {true, false, false, FMX_RATE_SHORTQ_STARTING},
    {false, true, false, FMX_RATE_SHORTQ_STARTING},
    {false, false, true, FMX_RATE_SHORTQ_STARTING},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (cases); i++) {
    Told t = cases[i].long_ago ? told_begun (400e3) : told_begin (400e3);

    if (!cases[i].long_ago)
      t.now = 60 * (FmxTime) S; /* nobody was heard until then */
    told_lose (&t);
    t.fb.only_marks = cases[i].marked;
    t.fb.loss_is_late = cases[i].late;
    told_for (&t, STEP, 0);
    assert_int_equal (told_mode (&t), cases[i].mode);
    if (cases[i].mode == FMX_RATE_SHORTQ_COMPETING)
      assert_bps (&t, 0.5 * 400e3);
    else
      assert_true (t.rc.rate_bps >= 400e3);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test
        (test_a_queue_that_stays_full_hits_a_tcp_each_two_round_trips),
    cmocka_unit_test (test_a_queue_that_falls_by_a_third_is_not_full),
    cmocka_unit_test (test_losses_half_way_up_end_none),
    cmocka_unit_test (test_one_loss_does_not_hide_the_dips_after_it),
    cmocka_unit_test (test_random_losses_count_at_the_mean_round_trip),
    cmocka_unit_test (test_stays_within_a_tenth_of_what_is_allowed),
    cmocka_unit_test (test_falls_at_once_and_doubles_in_a_second),
    cmocka_unit_test (test_how_soon_it_rises_again_depends_on_the_round_trip),
    cmocka_unit_test (test_afterwards_it_climbs_as_where_nothing_is_known),
    cmocka_unit_test
        (test_who_competes_again_has_no_ceiling_to_take_a_part_of),
    cmocka_unit_test (test_one_of_several_takes_no_part_of_its_own_ceiling),
    cmocka_unit_test (test_who_becomes_one_of_several_drops_its_part),
    cmocka_unit_test (test_a_part_of_a_ceiling_is_not_for_ever),
    cmocka_unit_test (test_who_was_alone_long_ago_begins_with_its_rate),
    cmocka_unit_test (test_while_the_others_pause_it_takes_what_they_leave),
    cmocka_unit_test (test_while_the_others_pause_losses_count),
    cmocka_unit_test (test_who_was_overrun_was_alone_before),
    cmocka_unit_test (test_who_competes_asks_what_the_path_carries),
    cmocka_unit_test (test_who_competes_asks_at_once_where_nobody_knows),
    cmocka_unit_test (test_who_begins_at_a_full_queue_competes),
  };

  return cmocka_run_group_tests_name ("rate/rate-shortq-compete", tests, NULL,
      NULL);
}
