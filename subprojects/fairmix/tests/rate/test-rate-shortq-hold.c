/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where the path has become narrow nothing leaves until the queue has gone */
#include "fmx-test-rate-fall.h"
#include "fmx-test-rate-shortq.h"

#define HOLD (2 * S)

/* Alone, with 300 kbit/s; holds for so long at most. */
static Told
told_with_hold (FmxDuration max_hold)
{
  Told t = told_begun (300e3);
  FmxRateParams params = t.rc.params;

  params.max_hold = max_hold;
  fmx_rate_controller_set_params (&t.rc, &params);
  t.fb.row_bps = 60e3;
  told_for (&t, S, 0);
  told_limit (&t, 300e3);
  fmx_rate_controller_on_sent (&t.rc, 200, t.now);
  told_for (&t, STEP, 0);
  assert_bps (&t, 300e3);
  return t;
}

/* 60 kbit/s come, by all of a feedback. */
static void
told_fall (Told *t)
{
  fmx_rate_controller_on_sent (&t->rc, 200, t->now);
  t->fb.latest_bps = t->fb.row_bps = 60e3;
  told_for (t, STEP, 100 * MS);
}

static void
test_a_path_that_became_narrow_is_held (void **state)
{
  Told t = told_with_hold (HOLD);
  FmxTime began, until;

  (void) state;
  assert_false (fmx_rate_controller_is_holding (&t.rc));
  began = t.now;
  told_fall (&t);
  assert_true (fmx_rate_controller_is_holding (&t.rc));
  assert_int_equal (t.rc.stats.n_holds, 1);
  assert_bps (&t, 0.85 * 60e3);
  /* 100 ms stood when the newest left, 200 ms ago, and five times what comes was sent since */
  until = began + (100 + 4 * 200) * (FmxTime) MS;
  assert_true (fabs (fmx_time_to_s (fmx_time_diff
              (fmx_rate_hold_next (&t.rc.hold), until))) < 1e-3);
  assert_true (fmx_rate_controller_next_timeout (&t.rc) <= until + MS);
  fmx_rate_controller_on_timeout (&t.rc, until + MS);
  assert_false (fmx_rate_controller_is_holding (&t.rc));
}

static void
test_who_must_not_hold_does_not (void **state)
{
  Told t = told_with_hold (0);
  FmxRateParams params = t.rc.params;

  (void) state;
  params.max_hold = HOLD;
  fmx_rate_controller_set_params (&t.rc, &params);
  told_fall (&t);
  assert_true (fmx_rate_controller_is_holding (&t.rc));
  params.max_hold = 0;
  fmx_rate_controller_set_params (&t.rc, &params);
  assert_false (fmx_rate_controller_is_holding (&t.rc));

  t = told_with_hold (0);
  told_fall (&t);
  assert_false (fmx_rate_controller_is_holding (&t.rc));
  assert_true (t.rc.rate_bps < 0.85 * 60e3);
  assert_int_equal (t.rc.stats.n_holds, 0);
}

/* Others stand between some packets, or made us lose something: they fill what we leave. */
static void
test_who_is_not_alone_does_not_hold (void **state)
{
  (void) state;
  for (int others = 0; others <= 1; others++) {
    Told t = told_with_hold (HOLD);

    fmx_rate_controller_on_sent (&t.rc, 200, t.now);
    t.fb.latest_bps = 60e3;
    t.fb.row_bps = others ? 200e3 : 60e3;
    t.fb.new_loss_event = !others;
    told_for (&t, STEP, 100 * MS);
    assert_true (t.rc.rate_bps <= 0.85 * 60e3);
    assert_false (fmx_rate_controller_is_holding (&t.rc));
  }
}

/* Half of a feedback is of before the fall: the last packets tell what comes now, if they
 * left fast enough and met a queue. */
static void
test_the_last_packets_tell_of_a_fall_sooner (void **state)
{
  static const struct
  {
    double left_bps;
    FmxDuration spread;
    bool holds;
  } cases[] = {
    {300e3, 80 * MS, true}, {100e3, 80 * MS, false}, {300e3, 20 * MS, false},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (cases); i++) {
    Told t = told_with_hold (HOLD);

    fmx_rate_controller_on_sent (&t.rc, 200, t.now);
    t.fb.latest_bps = 200e3;
    t.fb.row_bps = 320e3;
    t.fb.tail_bps = 60e3;
    t.fb.tail_left_bps = cases[i].left_bps;
    t.fb.delay_spread = cases[i].spread;
    told_for (&t, STEP, 5 * MS);
    assert_true (fmx_rate_controller_is_holding (&t.rc) == cases[i].holds);
    assert_bps (&t, cases[i].holds ? 0.85 * 60e3 : 300e3);
  }
}

/* What a step too far had lost a moment ago was our own doing; if the last packets come evenly
 * nobody stands between them. */
static void
test_who_lost_something_holds_if_the_last_packets_tell (void **state)
{
  Told t = told_with_hold (HOLD);

  (void) state;
  t.fb.new_loss_event = true;
  told_for (&t, STEP, 0);
  fmx_rate_controller_on_sent (&t.rc, 200, t.now);
  t.fb.latest_bps = 200e3;
  t.fb.row_bps = 320e3;
  t.fb.tail_bps = 60e3;
  t.fb.tail_left_bps = 300e3;
  t.fb.delay_spread = 80 * MS;
  told_for (&t, STEP, 5 * MS);
  assert_true (fmx_rate_controller_is_holding (&t.rc));
}

/* What left before goes on to come, at @came_bps; each packet met a longer queue. */
static void
end_hold (Told *t, double came_bps)
{
  FmxDuration queue = 100 * MS;

  t->link_bps = t->fb.latest_bps = t->fb.row_bps = came_bps;
  while (fmx_rate_controller_is_holding (&t->rc)) {
    assert_true (t->now < 20 * (FmxTime) S);
    fmx_rate_controller_on_timeout (&t->rc, t->now);
    queue += fmx_time_from_s (0.05 * (1.0 - came_bps / 300e3));
    if (fmx_rate_controller_is_holding (&t->rc))
      told_for (t, STEP, queue);
  }
}

/* What comes out of the queue meanwhile is what the path carries: more than was thought, or
 * less. */
static void
test_what_comes_meanwhile_is_what_the_path_carries (void **state)
{
  static const double came_bps[] = { 80e3, 50e3 };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (came_bps); i++) {
    Told t = told_with_hold (HOLD);

    told_fall (&t);
    end_hold (&t, came_bps[i]);
    assert_bps (&t, 0.85 * came_bps[i]);
    told_for (&t, S, 0);
    assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_CALM);
    assert_true (fabs (t.rc.state.shortq.ceiling_bps - came_bps[i]) < 1.0);
    assert_true (t.rc.rate_bps >= 0.94 * came_bps[i]
        && t.rc.rate_bps <= 1.05 * came_bps[i]);
  }
}

/* The next queue would move the playout again: for ten seconds no step goes beyond it, unless
 * trains tell of more room. */
static void
test_what_came_bounds_the_rate_for_a_time (void **state)
{
  (void) state;
  for (int widened = 0; widened <= 1; widened++) {
    Told t = told_with_hold (HOLD);

    told_fall (&t);
    end_hold (&t, 80e3);
    told_for (&t, 5 * S, 0);
    assert_true (t.rc.rate_bps > 0.95 * 80e3 && t.rc.rate_bps < 80e3);
    t.link_bps = HUGE_VAL;
    t.fb.widened = widened ? 3.0 : 1.0;
    told_for (&t, STEP, 0);
    t.fb.widened = 1.0;
    told_for (&t, 3 * S, 0);
    assert_true ((t.rc.rate_bps > 1.5 * 80e3) == (bool) widened);
    told_for (&t, 6 * S, 0);
    assert_true (t.rc.rate_bps > 1.5 * 80e3);
  }
}

/* The queue has gone before the cut can have shown: it was no narrow path, and whoever waited
 * goes on. */
static void
test_a_hold_for_a_moment_of_standstill_ends (void **state)
{
  Told t = told_with_hold (HOLD);
  uint64_t n_up = t.rc.stats.n_up, n_down = t.rc.stats.n_down;

  (void) state;
  told_fall (&t);
  t.fb.latest_bps = 0.0;
  told_for (&t, STEP, 0);
  assert_false (fmx_rate_controller_is_holding (&t.rc));
  assert_bps (&t, 300e3);
  assert_int_equal (t.rc.stats.n_up, n_up + 1);
  assert_int_equal (t.rc.stats.n_down, n_down + 1);
}

/* ... but not where the first packet of a feedback left before the fall, whatever was lost,
 * though it may have ended when that comes. */
static void
test_a_hold_stays_where_the_last_packet_met_a_queue (void **state)
{
  (void) state;
  for (int ended = 0; ended <= 1; ended++) {
    Told t = told_with_hold (HOLD);

    told_fall (&t);
    if (ended)
      fmx_rate_controller_on_timeout (&t.rc, fmx_rate_hold_next (&t.rc.hold));
    t.fb.new_loss_event = true;
    t.fb.delay_spread = 200 * MS;
    told_for (&t, STEP, 0);
    assert_true (fmx_rate_controller_is_holding (&t.rc) == !ended);
    assert_bps (&t, 0.85 * 60e3);
  }
}

/* Packets time out where feedback is late, and the queue need not be full. */
static void
test_a_timeout_does_not_end_a_hold (void **state)
{
  Told t = told_with_hold (HOLD);
  FmxTime end;

  (void) state;
  told_fall (&t);
  end = fmx_rate_hold_next (&t.rc.hold);
  t.fb.new_loss_event = true;
  t.fb.loss_event_sent = t.fb.acked_sent + 1;
  for (int heard = 0; heard <= 1; heard++) {
    t.fb.heard = heard;
    fmx_rate_controller_on_feedback (&t.rc, &t.fb, t.now);
    assert_true (fmx_rate_hold_next (&t.rc.hold) == end);
  }
}

/* Nothing can be heard of what was not sent. */
static void
test_a_hold_is_no_silence_of_the_receiver (void **state)
{
  Told t = told_with_hold (HOLD);

  (void) state;
  told_fall (&t);
  told_for (&t, STEP, 150 * MS);
  while (t.now < fmx_rate_hold_next (&t.rc.hold)) {
    assert_true (fmx_rate_controller_next_timeout (&t.rc) >= t.now);
    t.now += STEP;
  }
  fmx_rate_controller_on_timeout (&t.rc, t.now);
  fmx_rate_controller_on_sent (&t.rc, 200, t.now);
  fmx_rate_controller_on_timeout (&t.rc, t.now + 150 * MS);
  assert_int_equal (t.rc.stats.n_no_feedback, 0);
}

/* Some voices separate, and a mix of the others */
static void
fall_held (FmxDuration max_hold, uint64_t seed)
{
  FmxSimBundleParams params = fall_params (160);

  params.sender.max_hold = max_hold;
  params.behaviour = FMX_SIM_SELECTED;
  fall (&params, 625e3, 150e3, seed);
}

/* Returns: for how long a packet would be later than 100 ms, or nothing leaves */
static FmxDuration
spoilt (FmxDuration max_hold, uint64_t seed)
{
  FmxDuration sum = 0;
  uint64_t n_sent;

  fall_held (max_hold, seed);
  for (unsigned i = 0; i < 100; i++) {
    n_sent = bundle.n_sent;
    fmx_sim_world_run (&world, world.now + 40 * (FmxTime) MS);
    if (bundle.n_sent == n_sent || fmx_sim_link_queue_delay (&world.forward,
            world.now) > 100 * MS)
      sum += 40 * MS;
  }
  return sum;
}

static void
test_with_a_hold_less_is_spoilt (void **state)
{
  FmxDuration with = 0, without = 0;

  (void) state;
  for (uint64_t seed = 1; seed <= 8; seed++) {
    without += spoilt (0, seed);
    with += spoilt (S, seed);
    assert_int_equal (bundle.sender.controller.stats.n_holds, 1);
  }
  assert_true (with <= 8 * 960 * MS);
  assert_true (without >= 8 * 1100 * MS);
}

/* It ends when the queue ends: the link stands idle for 40 ms in the mean (20 to 26 of 64
 * seeds), 110 at most (105), and what waits then is no longer than 80 ms. */
static void
test_a_hold_is_as_long_as_the_queue (void **state)
{
  FmxDuration sum = 0;

  (void) state;
  for (uint64_t seed = 1; seed <= 8; seed++) {
    FmxDuration idle = 0;

    fall_held (S, seed);
    while (fmx_rate_sender_may_send (&bundle.sender))
      fmx_sim_world_run (&world, world.now + (FmxTime) MS);
    while (!fmx_rate_sender_may_send (&bundle.sender)) {
      fmx_sim_world_run (&world, world.now + (FmxTime) MS);
      if (fmx_sim_link_queue_delay (&world.forward, world.now) == 0)
        idle += MS;
    }
    sum += idle;
    assert_true (idle <= 110 * MS);
    assert_true (fmx_sim_link_queue_delay (&world.forward, world.now)
        <= 80 * MS);
  }
  assert_true (sum <= 8 * 40 * MS);
}

/* Not a packet, of padding either; and the target is that of after. */
static void
test_nothing_leaves_in_a_hold (void **state)
{
  uint64_t n_sent;

  (void) state;
  fall_held (S, 1);
  while (fmx_rate_sender_may_send (&bundle.sender))
    fmx_sim_world_run (&world, world.now + (FmxTime) MS);
  n_sent = bundle.n_sent;
  while (!fmx_rate_sender_may_send (&bundle.sender)) {
    assert_int_equal (bundle.n_sent, n_sent);
    assert_true (fmx_rate_sender_target_bps (&bundle.sender) > 100000);
    assert_false (fmx_rate_sender_has_probe (&bundle.sender));
    fmx_sim_world_run (&world, world.now + (FmxTime) MS);
  }
}

/* The packets after it make up for nothing, and what comes in it is measured. */
static void
test_a_hold_is_no_standstill_of_the_computer (void **state)
{
  (void) state;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    fall_held (S, seed);
    while (fmx_rate_sender_may_send (&bundle.sender))
      fmx_sim_world_run (&world, world.now + (FmxTime) MS);
    while (!fmx_rate_sender_may_send (&bundle.sender))
      fmx_sim_world_run (&world, world.now + (FmxTime) MS);
    assert_true (bundle.sender.receive.bps < 170e3);
    fmx_sim_world_run (&world, world.now + 40 * (FmxTime) MS);
    assert_int_equal (fmx_sender_stall_queue (&bundle.sender.stall,
            world.now), 0);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_path_that_became_narrow_is_held),
    cmocka_unit_test (test_who_must_not_hold_does_not),
    cmocka_unit_test (test_who_is_not_alone_does_not_hold),
    cmocka_unit_test (test_the_last_packets_tell_of_a_fall_sooner),
    cmocka_unit_test (test_who_lost_something_holds_if_the_last_packets_tell),
    cmocka_unit_test (test_what_comes_meanwhile_is_what_the_path_carries),
    cmocka_unit_test (test_what_came_bounds_the_rate_for_a_time),
    cmocka_unit_test (test_a_hold_for_a_moment_of_standstill_ends),
    cmocka_unit_test (test_a_hold_stays_where_the_last_packet_met_a_queue),
    cmocka_unit_test (test_a_timeout_does_not_end_a_hold),
    cmocka_unit_test (test_a_hold_is_no_silence_of_the_receiver),
    cmocka_unit_test (test_with_a_hold_less_is_spoilt),
    cmocka_unit_test (test_a_hold_is_as_long_as_the_queue),
    cmocka_unit_test (test_nothing_leaves_in_a_hold),
    cmocka_unit_test (test_a_hold_is_no_standstill_of_the_computer),
  };

  return cmocka_run_group_tests_name ("rate/rate-shortq-hold", tests, NULL,
      NULL);
}
