/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What shortq does where the path has become narrow */
#include "fmx-test-rate-fall.h"
#include "fmx-test-rate-shortq.h"

/* Nobody made it lose anything, or somebody did a moment ago. */
static Told
told_alone (bool alone)
{
  Told t = told_begun (300e3);

  t.fb.row_bps = 60e3;
  told_for (&t, S, 0);
  told_limit (&t, 300e3);
  t.fb.new_loss_event = !alone;
  told_for (&t, STEP, 0);
  assert_bps (&t, 300e3);
  return t;
}

/* A queue stands and little comes out of it: no loss is needed to know that the path is
 * narrow.  Where more comes, or where the queue is short, it may be chance; alone it is
 * less often. */
static void
test_who_is_choked_has_what_comes_through (void **state)
{
  static const double shares[] = { 1.8, 2.5, 4.0 };

  (void) state;
  for (int alone = 0; alone <= 1; alone++)
    for (size_t i = 0; i < N_ELEMENTS (shares); i++)
      for (unsigned queue = 20; queue <= 40; queue += 20) {
        Told t = told_alone (alone);

        t.fb.latest_bps = t.fb.row_bps = t.rc.rate_bps / shares[i];
        told_for (&t, 2 * STEP, queue * MS);
        assert_true ((strcmp (t.rc.reason, FMX_RATE_DOWN_LIMIT) == 0)
            == (shares[i] > (alone ? 2.0 : 3.0) && queue > 30));
      }
}

/* ... and the first feedback that has nothing else is enough.  Alone the queue is drained,
 * with what has left before that can show; others would fill it again. */
static void
test_who_is_choked_is_told_once (void **state)
{
  (void) state;
  for (int alone = 0; alone <= 1; alone++) {
    Told t = told_alone (alone);

    t.fb.latest_bps = 60e3;
    told_for (&t, STEP, 20 * MS);
    assert_bps (&t, 300e3);
    told_for (&t, STEP, 40 * MS);
    assert_bps (&t, alone ? 40e3 : 0.85 * 60e3);
    assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_DRAINING);
  }
}

/* Half of it drains soonest, but not at the price of a mix that nobody understands. */
static void
test_a_cut_leaves_a_mix_what_it_needs (void **state)
{
  static const double came_bps[] = { 100e3, 60e3, 44e3 };
  static const double expected_bps[] = { 50e3, 40e3, 0.85 * 44e3 };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (came_bps); i++) {
    Told t = told_alone (true);

    t.fb.latest_bps = t.fb.row_bps = came_bps[i];
    told_for (&t, STEP, 150 * MS);
    assert_bps (&t, expected_bps[i]);
  }
}

/* What was known of the link is of before: a cut below a part of that is no reason to
 * believe in others.  A queue that has no room for more loses something. */
static void
test_a_narrow_path_is_not_measured_by_what_it_was (void **state)
{
  Told t = told_alone (false);

  (void) state;
  t.fb.bottleneck_bps = t.fb.train_bps = 600e3;
  t.link_bps = t.fb.latest_bps = 60e3;
  told_for (&t, STEP, 200 * MS);
  assert_bps (&t, 0.85 * 60e3);
  t.fb.new_loss_event = true;
  for (FmxDuration queue = 200 * MS; told_mode (&t) == FMX_RATE_SHORTQ_DRAINING;
      queue -= 7 * MS)
    told_for (&t, STEP, queue);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_CALM);
  assert_true (t.rc.is_narrow);
}

/* ... also where more than a third comes through, and a loss tells of it.  If the queue
 * goes sooner than our own cut drains it, somebody else has filled it. */
static void
test_a_path_narrower_by_half_is_not_measured_by_what_it_was (void **state)
{
  (void) state;
  for (int burst = 0; burst <= 1; burst++) {
    FmxDuration queue = burst ? 400 * MS : 200 * MS;
    Told t = told_alone (false);

    t.fb.bottleneck_bps = t.fb.train_bps = 600e3;
    t.link_bps = t.fb.latest_bps = 120e3;
    t.fb.new_loss_event = true;
    told_for (&t, STEP, queue);
    assert_bps (&t, 0.85 * 120e3);
    told_until (&t, FMX_RATE_SHORTQ_DRAINING, queue);
    for (; told_mode (&t) == FMX_RATE_SHORTQ_DRAINING;
        queue -= burst && t.rc.state.shortq.drain_seen ? queue : 7 * MS)
      told_for (&t, STEP, queue);
    assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_CALM);
    assert_true (t.rc.is_narrow == !burst);
  }
}

/* Some packets come faster, one after the other: the path is as wide as it was, and others
 * stood between most. */
static void
test_who_is_choked_by_a_burst_is_not_alone (void **state)
{
  (void) state;
  for (int burst = 0; burst <= 1; burst++) {
    Told t = told_alone (true);

    t.fb.latest_bps = 120e3;
    t.fb.row_bps = burst ? 200e3 : 160e3;
    told_for (&t, STEP, 40 * MS);
    assert_true ((t.rc.rate_bps < 120e3) == !burst);
  }
}

/* There was as long a queue a moment ago, and it went: somebody's. */
static void
test_a_queue_that_was_there_before_is_no_narrow_path_s (void **state)
{
  (void) state;
  for (unsigned before = 20; before <= 60; before += 40) {
    Told t = told_alone (true);

    told_for (&t, STEP, before * MS);
    told_for (&t, S, 0);
    assert_bps (&t, 300e3);
    t.fb.latest_bps = t.fb.row_bps = 120e3;
    told_for (&t, STEP, 40 * MS);
    assert_true ((t.rc.rate_bps < 120e3) == (before < 40));
  }
}

/* Packet by packet the queue grows: alone that before the last one is what counts. */
static void
test_alone_the_last_packet_tells_that_a_path_is_narrow (void **state)
{
  (void) state;
  for (int alone = 0; alone <= 1; alone++) {
    Told t = told_alone (alone);

    t.fb.latest_bps = 60e3;
    t.fb.delay_spread = 80 * MS;
    told_for (&t, STEP, 8 * MS);
    assert_true ((strcmp (t.rc.reason, FMX_RATE_DOWN_LIMIT) == 0)
        == (bool) alone);
  }
}

/* Of what left meanwhile little makes no long queue: no more than 15 % goes. */
static void
test_a_path_that_is_narrower_by_half_is_cut_a_little (void **state)
{
  Told t = told_alone (true);

  (void) state;
  t.fb.latest_bps = 145e3;
  told_for (&t, STEP, 35 * MS);
  assert_bps (&t, (1.0 - (0.035 + 0.135 * (300.0 / 145.0 - 1.0)) / 0.8) * 145e3);
}

/* Alone it is soon what it was, but for a tenth, and knows what the path carries. */
static void
test_alone_a_narrow_path_is_used_again_soon (void **state)
{
  Told t = told_alone (true);

  (void) state;
  t.link_bps = t.fb.latest_bps = t.fb.row_bps = 100e3;
  told_for (&t, STEP, 100 * MS);
  assert_bps (&t, 50e3);
  for (FmxDuration queue = 300 * MS; queue > 0; queue -= STEP / 2)
    told_for (&t, STEP, queue); /* half of what the path carries is free */
  assert_true (t.rc.is_narrow);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_CALM);
  assert_true (fabs (t.rc.state.shortq.ceiling_bps - 100e3) < 1.0);
  told_for (&t, 2 * S, 0);
  assert_true (t.rc.rate_bps >= 90e3);
}

/* Before the cut can have shown the queue is gone: something stood still, and no path became
 * narrow.  What was lost meanwhile is one loss event; and where the queue stays it is no
 * moment. */
static void
test_a_cut_for_a_moment_of_standstill_is_taken_back (void **state)
{
  static const struct
  {
    FmxDuration queue;
    bool lost;
    double expected_bps;
  } cases[] = {
    {0, false, 300e3}, {0, true, 150e3}, {20 * MS, false, 51e3},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (cases); i++) {
    Told t = told_calm (300e3);

    told_for (&t, S, 0);
    told_limit (&t, 300e3);
    t.fb.latest_bps = 60e3;
    told_for (&t, STEP, 40 * MS);
    assert_bps (&t, 51e3);
    t.fb.latest_bps = 0.0;
    t.fb.new_loss_event = cases[i].lost;
    told_for (&t, STEP, cases[i].queue);
    assert_bps (&t, cases[i].expected_bps);
  }
}

/* The ceiling is what the path carries: steps are small there, and no jump goes beyond
 * it because what was left after two cuts has been passed. */
static void
test_after_a_path_became_narrow_its_rate_is_the_ceiling (void **state)
{
  Told t = told_alone (false);

  (void) state;
  t.link_bps = t.fb.latest_bps = 60e3;
  while (t.rc.rate_bps > 60e3) {
    assert_true (t.now < 8 * (FmxTime) S);
    told_for (&t, STEP, 100 * MS);
  }
  assert_bps (&t, 0.85 * 60e3);
  while (t.rc.state.shortq.n_drains == 0) {     /* in vain, it seems */
    assert_true (t.now < 12 * (FmxTime) S);
    t.fb.rtt = t.fb.rtt_median = t.fb.rtt_sample_min = 300 * MS;
    t.fb.receive_bps = 60e3;    /* the queue lets it out */
    t.fb.acked_sent = t.now - 300 * MS;
    fmx_rate_controller_on_feedback (&t.rc, &t.fb, t.now);
    t.now += STEP;
  }
  told_drain (&t, 100 * MS);
  assert_true (fabs (t.rc.state.shortq.ceiling_bps - 60e3) < 1.0);
}

/* The queue is gone long before the cut can have drained what a narrow path would have
 * made: somebody's burst.  What that lost is one loss event. */
static void
test_a_queue_that_is_soon_gone_was_a_burst (void **state)
{
  (void) state;
  for (int alone = 0; alone <= 1; alone++)
    for (int lost = 0; lost <= 1; lost++) {
      Told t = told_alone (alone);

      t.fb.latest_bps = 60e3;
      told_for (&t, STEP, 120 * MS);
      assert_bps (&t, alone ? 40e3 : 0.85 * 60e3);
      t.fb.new_loss_event = lost;
      while (!t.rc.state.shortq.drain_seen)
        told_for (&t, STEP, 600 * MS);
      told_while (&t, FMX_RATE_SHORTQ_DRAINING, 0);
      assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_CALM);
      assert_bps (&t, lost ? 150e3 : 300e3);
    }
}

/* What has no room in a short queue is lost, and the cut drains the rest before it shows. */
static void
test_a_short_queue_that_a_cut_drains_is_no_burst (void **state)
{
  Told t = told_alone (true);

  (void) state;
  t.fb.latest_bps = 60e3;
  told_for (&t, STEP, 40 * MS);
  assert_bps (&t, 40e3);
  t.fb.new_loss_event = true;
  told_while (&t, FMX_RATE_SHORTQ_DRAINING, 16 * MS);
  assert_bps (&t, 40e3);
}

/* Returns: for how long the queue is longer than 100 ms */
static FmxDuration
long_queue_after (double narrow_bps, uint64_t seed)
{
  const FmxSimBundleParams params = fall_params (120);
  FmxDuration sum = 0;

  fall (&params, 625e3, narrow_bps, seed);
  for (unsigned i = 0; i < 400; i++) {
    fmx_sim_world_run (&world, world.now + 20 * (FmxTime) MS);
    if (fmx_sim_link_queue_delay (&world.forward, world.now) > 100 * MS)
      sum += 20 * MS;
  }
  return sum;
}

static void
test_the_queue_of_a_link_that_narrows_soon_goes (void **state)
{
  static const double narrow_bps[] = { 150e3, 250e3 };
  FmxDuration sum = 0;

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (narrow_bps); i++)
    for (uint64_t seed = 1; seed <= 8; seed++)
      sum += long_queue_after (narrow_bps[i], seed);
  assert_true (sum / 16 <= 1200 * MS);
}

static void
test_what_a_link_carried_that_has_narrowed_is_forgotten (void **state)
{
  const FmxSimBundleParams params = fall_params (120);

  (void) state;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    const FmxBottleneckRate *known = &bundle.sender.bottleneck;

    fall (&params, 500e3, 150e3, seed);
    assert_true (fmx_bottleneck_rate_bps (known) > 400e3);
    fmx_sim_world_run (&world, world.now + 8 * (FmxTime) S);
    assert_true (fmx_bottleneck_rate_bps (known) < 200e3);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_who_is_choked_has_what_comes_through),
    cmocka_unit_test (test_who_is_choked_is_told_once),
    cmocka_unit_test (test_a_short_queue_that_a_cut_drains_is_no_burst),
    cmocka_unit_test (test_a_cut_leaves_a_mix_what_it_needs),
    cmocka_unit_test (test_a_narrow_path_is_not_measured_by_what_it_was),
    cmocka_unit_test
        (test_a_path_narrower_by_half_is_not_measured_by_what_it_was),
    cmocka_unit_test (test_who_is_choked_by_a_burst_is_not_alone),
    cmocka_unit_test (test_a_queue_that_was_there_before_is_no_narrow_path_s),
    cmocka_unit_test (test_alone_the_last_packet_tells_that_a_path_is_narrow),
    cmocka_unit_test (test_a_path_that_is_narrower_by_half_is_cut_a_little),
    cmocka_unit_test (test_alone_a_narrow_path_is_used_again_soon),
    cmocka_unit_test (test_a_queue_that_is_soon_gone_was_a_burst),
    cmocka_unit_test (test_a_cut_for_a_moment_of_standstill_is_taken_back),
    cmocka_unit_test (test_the_queue_of_a_link_that_narrows_soon_goes),
    cmocka_unit_test (test_what_a_link_carried_that_has_narrowed_is_forgotten),
    cmocka_unit_test (test_after_a_path_became_narrow_its_rate_is_the_ceiling),
  };

  return cmocka_run_group_tests_name ("rate/rate-shortq-narrow", tests, NULL,
      NULL);
}
