/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Nothing comes back any more, or only much later than it used to */
#include "fmx-test-rate.h"

#include "sim/fmx-sim-bundle.h"

#define DELAY (70 * MS)
#define MOST 64u

static FmxSimWorld world;
static FmxSimBundle bundle;

/* When the rate was halved because nothing was heard */
static struct
{
  unsigned n;
  FmxTime time[MOST];
} halvings;

static void
on_event (void *user, const FmxEvent *event)
{
  (void) user;
  if (strcmp (event->reason, FMX_RATE_DOWN_NO_FEEDBACK) != 0)
    return;
  assert_true (halvings.n < MOST);
  halvings.time[halvings.n++] = event->time;
}

static const FmxEventSink sink = { on_event, NULL };

/* A stream of 640 kbit/s at most, on a link that is wide */
static void
begin (const FmxRateClass *klass)
{
  FmxSimLinkParams link = { 2e6, 75000, 0, DELAY, 0.0 };
  FmxSimBundleParams params;

  memset (&params, 0, sizeof params);
  memset (&halvings, 0, sizeof halvings);
  fmx_rate_sender_params_default (&params.sender);
  params.sender.klass = klass;
  params.sender.max_bps = 640000;
  params.sender.sink = &sink;
  params.behaviour = FMX_SIM_PACED;
  params.n_streams = 1;
  params.wire_bytes = 200;
  params.packet_interval = MS;
  params.back.delay = DELAY;
  fmx_sim_world_init (&world, &link, &bundle, 1, 1);
  fmx_sim_bundle_init (&bundle, &params, &world.forward, 0, 1);
}

static void
run_for (unsigned s)
{
  fmx_sim_world_run (&world, world.now + s * (FmxTime) S);
}

/* [RFC5348 4.3, 4.4] After each expiry the timer is max (4R, 2s/X) again, here 4R, down to
 * two segments in that time; a retransmission timeout that doubles would let a sender go
 * on for longer each time. */
static void
test_each_halving_of_a_silence_waits_as_long_as_the_first (void **state)
{
  (void) state;
  for (size_t i = 0; fmx_rate_classes[i] != NULL; i++) {
    double timer_s;

    begin (fmx_rate_classes[i]);
    run_for (30);
    bundle.back.params.loss = 1.0;
    timer_s = 4.0 * fmx_time_to_s (fmx_rtt_smoothed (&bundle.sender.rtt));
    fmx_sim_world_run (&world, world.now + 2500 * (FmxTime) MS);
    assert_true (timer_s * (double) fmx_rate_sender_target_bps (&bundle.sender)
        < 2.0 * 8.0 * 1460.0);
    for (unsigned j = 1; j < halvings.n; j++)
      assert_float_equal (fmx_time_to_s (fmx_time_diff (halvings.time[j],
                  halvings.time[j - 1])), timer_s, 0.01 * timer_s);
    if (fmx_rate_classes[i] == &fmx_rate_shortq)
      assert_int_equal (halvings.n, 4);
  }
}

/* A packet each two seconds, and its answer comes after the next one has left: only who
 * waits longer each time learns what answers what ([RFC6298 3, 5.5]). */
static void
test_who_speaks_rarely_learns_that_a_path_became_longer (void **state)
{
  (void) state;
  for (size_t i = 0; fmx_rate_classes[i] != NULL; i++) {
    begin (fmx_rate_classes[i]);
    run_for (30);
    bundle.params.packet_interval = 2 * S;
    run_for (9);
    halvings.n = 0;
    bundle.back.params.delay = 3 * S;
    run_for (100);
    assert_in_range (fmx_rtt_smoothed (&bundle.sender.rtt), 2900 * MS,
        3200 * MS);
    assert_true (halvings.n <= 4);
  }
}

/* Where packets are the segments 2s/X is two of them, whatever the rate: it doubles with
 * each halving by itself. */
static void
test_two_packets_are_no_less_than_two_segments (void **state)
{
  FmxRateFeedback fb = fmx_test_feedback (3000.0);
  FmxRateParams params = fmx_test_params ();

  (void) state;
  fb.rto_backed_off = 60 * S;
  params.segment_bytes = 0;
  params.min_bps = 1000.0;
  for (double bps = 3000.0; bps < 7000.0; bps += 17.0) {
    FmxRateController rc;

    params.initial_bps = bps;
    fmx_rate_controller_init (&rc, &fmx_rate_gaimd, &params, 0);
    fmx_rate_controller_on_feedback (&rc, &fb, S);
    fmx_rate_controller_on_feedback (&rc, &fb, 100 * (FmxTime) S);
    assert_float_equal (fmx_time_to_s (fmx_time_diff
            (fmx_rate_controller_next_timeout (&rc), 100 * (FmxTime) S)),
        2.0 * 8.0 * fb.packet_bytes / rc.rate_bps, 1e-6);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test
        (test_each_halving_of_a_silence_waits_as_long_as_the_first),
    cmocka_unit_test (test_who_speaks_rarely_learns_that_a_path_became_longer),
    cmocka_unit_test (test_two_packets_are_no_less_than_two_segments),
  };

  return cmocka_run_group_tests_name ("rate/rate-silence", tests, NULL, NULL);
}
