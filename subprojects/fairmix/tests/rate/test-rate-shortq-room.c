/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What fairmix makes of trains of padding */
#include "fmx-test-rate-shortq.h"

/* 0.9 of what the path carries now is taken in three steps, and no more. */
static void
test_a_path_that_trains_find_wider_is_used_at_once (void **state)
{
  Told t = told_ceiling (400e3, 2);
  double ceiling_bps;

  (void) state;
  t.fb.widened = 2.0;
  told_for (&t, STEP, 0);
  t.fb.widened = 1.0;
  ceiling_bps = t.rc.state.shortq.ceiling_bps;
  told_for (&t, S, 0);
  assert_true (fabs (ceiling_bps - 800e3) < 40e3);
  assert_true (t.rc.rate_bps >= 0.9 * ceiling_bps);
  assert_true (t.rc.rate_bps < ceiling_bps);
  assert_true (t.rc.has_widened);
  assert_true (told_mode (&t) == FMX_RATE_SHORTQ_CALM);
}

/* ... but voices do not part sooner for a fifth, which noise feigns. */
static void
test_a_little_room_is_used_and_is_no_other_path (void **state)
{
  Told t = told_ceiling (400e3, 2);
  double ceiling_bps = t.rc.state.shortq.ceiling_bps;

  (void) state;
  t.fb.widened = 1.2;
  told_for (&t, STEP, 0);
  t.fb.widened = 1.0;
  told_for (&t, S, 0);
  assert_true (t.rc.rate_bps > 1.05 * ceiling_bps);
  assert_false (t.rc.has_widened);
}

static void
test_a_queue_ends_what_trains_have_told (void **state)
{
  Told t = told_ceiling (400e3, 2);

  (void) state;
  t.fb.widened = 4.0;
  told_for (&t, STEP, 0);
  t.fb.widened = 1.0;
  told_until (&t, FMX_RATE_SHORTQ_DRAINING, 60 * MS);
  told_while (&t, FMX_RATE_SHORTQ_DRAINING, 0);
  told_for (&t, S, 0);
  assert_true (t.rc.rate_bps < 0.9 * 2.0 * 400e3);
  assert_false (t.rc.has_widened);
}

static void
test_trains_are_for_who_sends_near_a_ceiling (void **state)
{
  Told t = told_calm (400e3);

  (void) state;
  told_for (&t, STEP, 0);
  assert_true (t.rc.ask_bps == 0.0);
  t = told_ceiling (400e3, 1);
  told_for (&t, STEP, 0);
  assert_true (t.rc.ask_bps == t.rc.rate_bps);
  t.sent_share = 0.3;
  told_for (&t, STEP, 0);
  assert_true (t.rc.ask_bps == 0.0);
  t.sent_share = 1.0;
  told_until (&t, FMX_RATE_SHORTQ_DRAINING, 60 * MS);
  assert_true (t.rc.ask_bps == 0.0);
}

/* A token bucket lets trains pass at once, and what is sent beyond the link is in its
 * queue: told again, as when the bucket is full again, that is not tried again soon. */
static void
test_trains_that_were_wrong_are_not_believed (void **state)
{
  Told t = told_ceiling (400e3, 2);
  double before_bps;

  (void) state;
  t.fb.widened = 4.0;
  told_for (&t, STEP, 0);
  t.fb.widened = 1.0;
  t.link_bps = 400e3;
  told_until (&t, FMX_RATE_SHORTQ_DRAINING, 60 * MS);
  told_drain (&t, 60 * MS);
  t.link_bps = HUGE_VAL;
  before_bps = t.rc.rate_bps;
  t.fb.widened = 4.0;
  told_for (&t, STEP, 0);
  t.fb.widened = 1.0;
  told_for (&t, S, 0);
  assert_true (t.rc.rate_bps < 1.1 * before_bps);
  told_limit (&t, t.rc.rate_bps);
  told_for (&t, 60 * S, 0);     /* then they are believed again */
  t.fb.widened = 4.0;
  told_for (&t, STEP, 0);
  assert_true (t.rc.state.shortq.room_bps > 0.0);
}

/* What it is beyond the ceiling when the steps become large, as a queue that would have
 * grown by that, in seconds; after @tries that a bucket of @bucket_s hid */
static double
believes_after (unsigned tries, double bucket_s)
{
  Told t = told_ceiling (400e3, 1);
  double last_bps;

  for (unsigned i = 0; i < tries; i++) {
    for (; t.rc.state.shortq.beyond_s < bucket_s; told_for (&t, STEP, 0));
    t.link_bps = 400e3;
    told_until (&t, FMX_RATE_SHORTQ_DRAINING, 60 * MS);
    told_drain (&t, 60 * MS);
    t.link_bps = HUGE_VAL;
  }
  do {
    last_bps = t.rc.rate_bps;
    told_for (&t, STEP, 0);
  } while (t.rc.rate_bps < 1.1 * last_bps);
  return t.rc.state.shortq.beyond_s;
}

static void
test_a_bucket_is_not_taken_for_a_wider_path (void **state)
{
  (void) state;
  assert_true (believes_after (0, 0.0) > 0.18);
  assert_true (believes_after (0, 0.0) < 0.4);
  assert_true (believes_after (1, 0.3) > 0.45);
}

/* A queue of our own shows when it is 0.15 s beyond the ceiling, behind a bucket or not.
 * Returns: the most that is sent, the next time, before it is @until_s beyond, as a share of
 * the ceiling */
static double
tries_hidden (double bps, bool has_bucket, double until_s)
{
  Told t = told_ceiling (bps, 1);
  const FmxRateShortqState *s = &t.rc.state.shortq;
  double most_bps = 0.0;

  t.fb.passes_bursts = has_bucket;
  for (; s->beyond_s < 0.15; told_for (&t, STEP, 0));
  t.link_bps = bps;
  told_until (&t, FMX_RATE_SHORTQ_DRAINING, 60 * MS);
  told_drain (&t, 60 * MS);
  t.link_bps = HUGE_VAL;
  t.fb.passes_bursts = !has_bucket;     /* from then on it may be a wider path */
  told_for (&t, STEP, 0);
  for (; s->beyond_s < until_s; told_for (&t, STEP, 0))
    most_bps = fmax (most_bps, t.rc.rate_bps);
  return most_bps / s->ceiling_bps;
}

/* A least step is 5 % of it, and of slower ones 6: four of them at once are 0.1 s of queue
 * when the bucket is empty. */
static void
test_a_slow_link_is_tried_by_a_step_or_two_while_a_bucket_hides_it (void
    **state)
{
  (void) state;
  assert_true (tries_hidden (300e3, true, 0.12) < 1.1);
  assert_true (tries_hidden (300e3, false, 0.12) > 1.13);
  assert_true (tries_hidden (400e3, true, 0.12) > 1.1);
  assert_true (tries_hidden (300e3, true, 0.3) > 1.1);
}

/* What comes in 0.2 s of a slow link is known to 5 %: @came times the ceiling come this time.
 * Returns: how many times the ceiling that was the new one is */
static double
ceiling_times (bool has_bucket, double came)
{
  Told t = told_ceiling (400e3, 2);
  double before_bps = t.rc.state.shortq.ceiling_bps;
  FmxTime end = t.now + 20 * (FmxTime) S;

  t.fb.passes_bursts = has_bucket;
  for (; t.rc.rate_bps <= came * before_bps; told_for (&t, STEP, 0))
    assert_true (t.now < end);
  t.link_bps = came * before_bps;
  told_until (&t, FMX_RATE_SHORTQ_DRAINING, 60 * MS);
  told_drain (&t, 60 * MS);
  return t.rc.state.shortq.ceiling_bps / before_bps;
}

static void
test_a_ceiling_behind_a_bucket_is_that_of_several_queues (void **state)
{
  (void) state;
  assert_float_equal (ceiling_times (true, 1.04), 1.01, 1e-6);
  assert_float_equal (ceiling_times (true, 0.96), 0.99, 1e-6);
  assert_float_equal (ceiling_times (false, 1.04), 1.04, 1e-6);
  assert_float_equal (ceiling_times (true, 1.2), 1.2, 1e-6);    /* another path */
}

/* 0.3 s of queue are gone in 0.8 s, and what came through before comes again soon. */
static void
test_a_long_queue_of_its_own_is_drained_at_once (void **state)
{
  Told t = told_ceiling (400e3, 1);
  double most_bps;

  (void) state;
  t.link_bps = 400e3;
  told_until (&t, FMX_RATE_SHORTQ_DRAINING, 300 * MS);
  most_bps = t.rc.state.shortq.drain_bps;
  assert_true (t.rc.rate_bps < 0.65 * most_bps);
  assert_true (t.rc.rate_bps >= 0.5 * most_bps);
  told_drain (&t, 300 * MS);
  told_for (&t, 2 * S, 0);
  assert_true (t.rc.rate_bps > 0.9 * most_bps);
  assert_true (t.rc.rate_bps < 1.1 * most_bps);
}

/* Seconds until it tries the ceiling again, after it has been there six times while trains
 * told of @link_bps; then they tell of @then_bps, or of nothing */
static double
holds_for (double link_bps, double then_bps)
{
  Told t = told_ceiling (400e3, 1);
  FmxTime since;

  t.fb.link_bps = link_bps;
  for (unsigned i = 0; i < 6; i++) {
    for (; t.rc.rate_bps <= 0.96 * t.rc.state.shortq.ceiling_bps;
        told_for (&t, STEP, 0));
    t.link_bps = 400e3;
    told_until (&t, FMX_RATE_SHORTQ_DRAINING, 60 * MS);
    told_drain (&t, 60 * MS);
    t.link_bps = HUGE_VAL;
  }
  t.fb.link_bps = then_bps;
  since = t.now;
  for (; t.rc.rate_bps <= 0.96 * t.rc.state.shortq.ceiling_bps;
      told_for (&t, STEP, 0));
  return fmx_time_to_s (fmx_time_diff (t.now, since));
}

static void
test_who_has_all_of_the_link_tries_it_rarely (void **state)
{
  (void) state;
  assert_true (holds_for (0.0, 0.0) < 8.0);
  assert_true (holds_for (800e3, 800e3) < 8.0);
  assert_true (holds_for (400e3, 400e3) > 15.0);
}

/* A link that has become wider behind a token bucket lets trains pass at once, which tells
 * nothing of it. */
static void
test_it_tries_again_where_trains_would_not_tell (void **state)
{
  (void) state;
  assert_true (holds_for (400e3, 0.0) < 8.0);
}

static void
test_a_step_beyond_all_of_a_link_is_a_trial (void **state)
{
  Told t = told_ceiling (400e3, 1);
  const FmxRateShortqState *s = &t.rc.state.shortq;

  (void) state;
  for (; t.rc.rate_bps <= 0.96 * s->ceiling_bps; told_for (&t, STEP, 0));
  told_for (&t, STEP, 0);
  assert_true (t.rc.tried_from_bps == 0.0);
  t.fb.link_bps = 400e3;
  told_for (&t, STEP, 0);
  assert_float_equal (t.rc.tried_from_bps, 0.95 * s->ceiling_bps, 1.0);
}

/* Behind a TCP that never lets its queue run empty the path seems longer than it is, and of
 * what the queue adds some always stands: 80 kbit/s of 16 Mbit/s were sent for ever. */
static void
test_who_has_little_of_a_path_gets_more_whatever_delay_says (void **state)
{
  Told t = told_ceiling (400e3, 1);
  double before_bps;

  (void) state;
  t.fb.path_bps = 9.0 * 1.6e6;
  told_for (&t, STEP, 0);
  assert_true (t.rc.has_little);
  before_bps = t.rc.rate_bps;
  told_for (&t, S, 18 * MS);    /* half too long a queue: somebody else may give way */
  assert_true (t.rc.rate_bps > 1.2 * before_bps);
  told_for (&t, 20 * S, 30 * MS);
  assert_true (t.rc.rate_bps > 0.9 * 1.6e6);
}

static void
test_what_a_path_carries_is_checked_where_nothing_else_tells (void **state)
{
  Told t = told_calm (400e3);

  (void) state;
  told_for (&t, STEP, 0);
  assert_true (t.rc.check_bps <= 0.0);  /* there was no queue, ... */
  told_lose (&t);
  told_for (&t, 2 * STEP, 0);
  assert_true (t.rc.check_bps > 0.0);   /* ... or it was full from the first packet on */
  t = told_ceiling (400e3, 1);
  told_for (&t, STEP, 0);
  assert_true (t.rc.check_bps > 1.9 * t.rc.rate_bps);
  t.fb.path_bps = 2.0 * t.rc.rate_bps;
  told_for (&t, STEP, 0);
  assert_true (t.rc.check_bps <= 0.0);
  t.fb.path_bps = 0.0;
  t.fb.link_bps = t.rc.rate_bps;
  told_for (&t, STEP, 0);
  assert_true (t.rc.check_bps <= 0.0);
  t.fb.link_bps = 0.0;
  t.fb.bottleneck_bps = t.rc.rate_bps;
  told_for (&t, STEP, 0);
  assert_true (t.rc.check_bps <= 0.0);
  t = told_ceiling (5e6, 1);
  told_for (&t, STEP, 0);
  assert_true (t.rc.rate_bps > 3.5e6);
  assert_true (t.rc.check_bps <= 0.0);  /* no train would tell */
}

/* Ten packets of padding are 0.04 s of queue on a link of 635 kbit/s. */
static void
test_what_a_path_carries_is_not_checked_while_a_queue_drains (void **state)
{
  Told t = told_ceiling (400e3, 1);

  (void) state;
  told_until (&t, FMX_RATE_SHORTQ_DRAINING, 200 * MS);
  told_for (&t, STEP, 200 * MS);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_DRAINING);
  assert_true (t.rc.check_bps <= 0.0);
  told_drain (&t, 200 * MS);
  told_for (&t, STEP, 0);
  assert_true (t.rc.check_bps > 0.0);
}

/* What media shows of it counts too, while it shows it of late. */
static void
test_packets_in_a_row_tell_of_little_while_they_come (void **state)
{
  Told t = told_ceiling (400e3, 1);

  (void) state;
  t.fb.bottleneck_bps = t.fb.train_bps = 4.5e6;
  told_for (&t, STEP, 0);
  assert_true (t.rc.has_little);
  t.fb.train_bps = 600e3;
  told_for (&t, STEP, 0);
  assert_false (t.rc.has_little);
}

static void
test_what_arrives_far_less_makes_a_path_unknown (void **state)
{
  Told t = told_ceiling (400e3, 1);

  (void) state;
  assert_false (t.rc.has_narrowed);
  t.fb.path_bps = 9.0 * 600e3;          /* so much less than one of many that no loss ... */
  t.link_bps = 150e3;
  t.fb.new_loss_event = true;
  told_for (&t, STEP, 0);
  assert_true (t.rc.has_narrowed);      /* ... would otherwise ask for less */
  assert_true (t.rc.rate_bps < 150e3);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_path_that_trains_find_wider_is_used_at_once),
    cmocka_unit_test (test_a_little_room_is_used_and_is_no_other_path),
    cmocka_unit_test (test_a_queue_ends_what_trains_have_told),
    cmocka_unit_test (test_trains_are_for_who_sends_near_a_ceiling),
    cmocka_unit_test (test_trains_that_were_wrong_are_not_believed),
    cmocka_unit_test (test_a_bucket_is_not_taken_for_a_wider_path),
    cmocka_unit_test
        (test_a_slow_link_is_tried_by_a_step_or_two_while_a_bucket_hides_it),
    cmocka_unit_test (test_a_ceiling_behind_a_bucket_is_that_of_several_queues),
    cmocka_unit_test (test_a_long_queue_of_its_own_is_drained_at_once),
    cmocka_unit_test (test_who_has_all_of_the_link_tries_it_rarely),
    cmocka_unit_test (test_it_tries_again_where_trains_would_not_tell),
    cmocka_unit_test (test_a_step_beyond_all_of_a_link_is_a_trial),
    cmocka_unit_test
        (test_who_has_little_of_a_path_gets_more_whatever_delay_says),
    cmocka_unit_test
        (test_what_a_path_carries_is_checked_where_nothing_else_tells),
    cmocka_unit_test
        (test_what_a_path_carries_is_not_checked_while_a_queue_drains),
    cmocka_unit_test
        (test_packets_in_a_row_tell_of_little_while_they_come),
    cmocka_unit_test (test_what_arrives_far_less_makes_a_path_unknown),
  };

  return cmocka_run_group_tests_name ("rate/rate-shortq-room", tests, NULL,
      NULL);
}
