/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What fairmix does about a queue on a path of which it has little */
#include "fmx-test-rate-shortq.h"
#include "sim/fmx-sim-draw.h"

/* Of a path that nine share it has @times a ninth. */
static Told
told_part (double times)
{
  Told t = told_raised (500e3);

  t.fb.path_bps = 9.0 * 500e3 / times;
  return t;
}

static FmxDuration
until_it_leaves_calm (Told *t, FmxDuration queue)
{
  FmxTime from = t->now, end = t->now + 8 * (FmxTime) S;

  for (; told_mode (t) == FMX_RATE_SHORTQ_CALM; told_for (t, STEP, queue))
    assert_true (t->now < end);
  return fmx_time_diff (t->now, from);
}

/* Eight who each have an eighth would compete with each other for ever: a queue of theirs
 * has gone when each has given way a little. */
static void
test_who_has_little_gives_way_a_little_and_then_competes (void **state)
{
  Told t = told_part (1.05);
  double before_bps = t.rc.rate_bps;

  (void) state;
  told_for (&t, S, 60 * MS);
  assert_true (t.rc.rate_bps >= 0.89 * before_bps);
  told_for (&t, 2 * S, 60 * MS);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_CALM);
  assert_true (t.rc.rate_bps <= 0.9 * before_bps);
  assert_true (t.rc.rate_bps >= 0.7 * before_bps);
  until_it_leaves_calm (&t, 60 * MS);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_COMPETING);
}

static void
test_a_queue_that_goes_meanwhile_was_that_of_others (void **state)
{
  Told t = told_part (1.05);
  double before_bps = t.rc.rate_bps;

  (void) state;
  for (unsigned i = 0; i < 10; i++) {
    told_for (&t, 500 * MS, 60 * MS);
    told_for (&t, 500 * MS, 0);
  }
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_CALM);
  assert_true (t.rc.rate_bps >= 0.9 * before_bps);
}

static void
test_where_something_was_lost_it_competes_at_once (void **state)
{
  Told t = told_part (1.05);

  (void) state;
  t.fb.new_loss_event = true;
  assert_true (until_it_leaves_calm (&t, 60 * MS) < S);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_COMPETING);
  t = told_part (1.05);
  t.fb.has_teeth = true;        /* nobody but a TCP makes them */
  assert_true (until_it_leaves_calm (&t, 60 * MS) < S);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_COMPETING);
}

/* Who has more is to give way first, and needs a round trip to hear of the queue. */
static void
test_who_has_less_than_a_third_waits_for_those_who_have_more (void **state)
{
  static const double parts[] = { 2.5, 3.5 };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (parts); i++) {
    Told t = told_part (parts[i]);
    FmxDuration waited = until_it_leaves_calm (&t, 60 * MS);

    assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_DRAINING);
    assert_true ((waited >= 500 * MS) == (i == 0));
  }
}

/* Whoever has less than one of many is not cut, and does not compete for a queue that others
 * soon drain. */
static void
test_below_the_least_it_waits_as_well (void **state)
{
  Told t = told_part (0.9);
  double before_bps = t.rc.rate_bps;

  (void) state;
  told_for (&t, 3 * S, 60 * MS);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_CALM);
  assert_true (t.rc.rate_bps >= before_bps);
  until_it_leaves_calm (&t, 60 * MS);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_COMPETING);
}

/* Returns: how long who has the least rate waits, behind a queue that moves by @by_s in a
 * second; 60 s = for ever */
static FmxDuration
waits_at_the_least_rate (double by_s)
{
  Told t = told_calm (21e3);
  double queue_s = 0.2;

  for (FmxDuration waited = 0; waited < 60 * S; waited += STEP) {
    told_for (&t, STEP, fmx_time_from_s (queue_s));
    queue_s = fmax (queue_s + by_s * fmx_time_to_s (STEP), 0.1);
    if (told_mode (&t) == FMX_RATE_SHORTQ_COMPETING)
      return waited;
  }
  return 60 * S;
}

/* Who cannot give way waits for those who can, but not for ever.  A queue that somebody
 * fills grows; beside who keeps a rate it sinks, slowly. */
static void
test_at_the_least_rate_it_waits_for_three_seconds (void **state)
{
  FmxDuration stands = waits_at_the_least_rate (0.0);
  FmxDuration grows = waits_at_the_least_rate (0.05);
  Told t = told_calm (21e3);

  (void) state;
  assert_true (grows >= 3 * S && grows < 3500 * MS);
  assert_true (stands >= 20 * S && stands < 21 * S);
  assert_true (waits_at_the_least_rate (-0.0015) >= 60 * S);
  t.fb.has_teeth = true;
  assert_true (until_it_leaves_calm (&t, 200 * MS) < S);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_COMPETING);
}

/* A queue grows until cuts have led to the least rate.  Returns: how long it is then */
static double
grow_until_the_least_rate (Told *t)
{
  double queue_s = 0.15;

  for (; t->rc.rate_bps > 1.1 * t->rc.params.min_bps; queue_s += 0.002) {
    assert_true (queue_s < 1.0);
    told_for (t, STEP, fmx_time_from_s (queue_s));
  }
  assert_int_equal (told_mode (t), FMX_RATE_SHORTQ_DRAINING);
  return queue_s;
}

/* A queue that has grown until our cut showed, and since has not, is no reason. */
static void
test_at_the_least_rate_what_came_before_the_cut_is_no_reason (void **state)
{
  Told t = told_calm (50e3);
  double queue_s = grow_until_the_least_rate (&t);

  (void) state;
  while (!t.rc.state.shortq.drain_seen)
    told_for (&t, STEP, fmx_time_from_s (queue_s));
  told_for (&t, 6 * S, fmx_time_from_s (queue_s));
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_DRAINING);
  told_for (&t, S, fmx_time_from_s (queue_s + 0.03));
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_COMPETING);
}

/* Cut to the least rate, it drains @by_s of queue in a second.  Returns: the rate some seconds
 * later, where a ninth of the path would be 40 kbit/s */
static double
rate_after_a_queue_that_sank (double by_s, bool lost)
{
  Told t = told_calm (40e3);

  for (double queue_s = grow_until_the_least_rate (&t);
      told_mode (&t) == FMX_RATE_SHORTQ_DRAINING;
      queue_s = fmax (queue_s - by_s * fmx_time_to_s (STEP), 0.0))
    told_for (&t, STEP, fmx_time_from_s (queue_s));
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_CALM);
  if (lost)
    told_lose (&t);
  told_for (&t, 2 * STEP, 0);
  assert_true ((t.rc.check_bps > 0.0) == (lost || by_s > 0.1));
  t.fb.path_bps = 9.0 * 40e3;
  told_for (&t, 3 * S, 0);
  return t.rc.rate_bps;
}

/* What one of many has of the path is left to nobody where somebody keeps a rate, as the
 * queue tells that sinks slowly; until something is lost, as beside a TCP that comes. */
static void
test_beside_who_keeps_a_rate_a_ninth_is_no_floor (void **state)
{
  (void) state;
  assert_true (rate_after_a_queue_that_sank (0.02, false) < 30e3);
  assert_true (rate_after_a_queue_that_sank (0.02, true) >= 40e3);
  assert_true (rate_after_a_queue_that_sank (0.4, false) >= 40e3);
}

/* In real pipelines a mix needs 42 kbit/s.  Two or three of ours who had no more, and saw the
 * queue of the others, competed at once, and all kept it full: 0.5 to 1.8 s. */
static void
test_who_has_the_least_rate_lets_our_kind_drain_the_queue (void **state)
{
  static const uint64_t seeds[] = { 188, 226, 274, 294 };
  FmxSimSubject who = {.klass = &fmx_rate_shortq,.min_bps = 42400 };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (seeds); i++) {
    FmxSimDraw draw = fmx_sim_draw (FMX_SIM_OWN, seeds[i]);
    FmxSimOutcome out = fmx_sim_draw_run (&draw, &who);

    if (!out.ok || out.queue_s > 0.2 || out.loss > 0.01)
      fail_msg ("draw %u: a queue of %.2f s", (unsigned) seeds[i],
          out.queue_s);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test
        (test_who_has_little_gives_way_a_little_and_then_competes),
    cmocka_unit_test (test_a_queue_that_goes_meanwhile_was_that_of_others),
    cmocka_unit_test (test_where_something_was_lost_it_competes_at_once),
    cmocka_unit_test
        (test_who_has_less_than_a_third_waits_for_those_who_have_more),
    cmocka_unit_test
        (test_who_has_the_least_rate_lets_our_kind_drain_the_queue),
    cmocka_unit_test (test_at_the_least_rate_it_waits_for_three_seconds),
    cmocka_unit_test
        (test_at_the_least_rate_what_came_before_the_cut_is_no_reason),
    cmocka_unit_test (test_below_the_least_it_waits_as_well),
    cmocka_unit_test (test_beside_who_keeps_a_rate_a_ninth_is_no_floor),
  };

  return cmocka_run_group_tests_name ("rate/rate-shortq-little", tests, NULL,
      NULL);
}
