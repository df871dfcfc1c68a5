/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How shortq begins: both ends, on a link in virtual time */
#include "fmx-test-rate.h"

#include "sim/fmx-sim-bundle.h"

static FmxSimWorld world;
static FmxSimBundle bundle;

/* Twelve voices of 80 kbit/s on a link of 50 ms each way, with a queue of 0.3 s */
static void
begin (double rate_bps, const FmxSimLinkNature *nature)
{
  FmxSimLinkParams link = { rate_bps, (uint32_t) (0.3 * rate_bps / 8.0), 0,
    50 * MS, 0.0
  };
  FmxSimBundleParams params;

  memset (&params, 0, sizeof params);
  fmx_rate_sender_params_default (&params.sender);
  params.sender.klass = &fmx_rate_shortq;
  params.behaviour = FMX_SIM_SELECTED;
  params.n_streams = 12;
  params.wire_bytes = 200;
  params.jitter = 2 * MS;
  params.back.delay = 50 * MS;
  fmx_sim_world_init (&world, &link, &bundle, 1, 1);
  if (nature != NULL)
    fmx_sim_link_set_nature (&world.forward, nature, NULL, 1);
  fmx_sim_bundle_init (&bundle, &params, &world.forward, 0, 1);
}

/* Returns: the longest queue until @end */
static FmxDuration
longest_queue (FmxTime end)
{
  FmxDuration most = 0;

  while (world.now < end) {
    FmxDuration queue = fmx_sim_link_queue_delay (&world.forward, world.now);

    most = queue > most ? queue : most;
    fmx_sim_world_run (&world, world.now + 20 * (FmxTime) MS);
  }
  return most;
}

/* Alone, a queue is one's own, and the latest packets tell of it before it stands: it was
 * up to 137 ms, and 281 behind a token bucket, which hides what one step too many makes and
 * lets short trains pass.  The link is known by it: it is used from then on. */
static void
test_who_starts_alone_makes_a_short_queue (void **state)
{
  static const double rates[] = { 150e3, 250e3, 400e3, 625e3, 900e3 };
  const FmxSimLinkNature shaper = {.burst_bytes = 1600 };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (rates); i++)
    for (unsigned shaped = 0; shaped <= 1; shaped++) {
      begin (rates[i], shaped ? &shaper : NULL);
      assert_true (longest_queue (10 * (FmxTime) S)
          < (shaped ? 120 : 90) * MS);
      fmx_sim_bundle_restart_counters (&bundle, world.now);
      fmx_sim_world_run (&world, 15 * (FmxTime) S);
      assert_true (8.0 * (double) bundle.received_bytes
          > 0.85 * rates[i] * 5.0);
    }
}

/* A quarter more each 2.5 round trips of 0.25 s takes 10 s.  What is free is taken sooner, and
 * the queue is no longer for it. */
static void
test_a_long_path_that_is_free_is_taken_soon (void **state)
{
  const double rate_bps = 4e6;
  FmxSimBundleParams params;

  (void) state;
  begin (rate_bps, NULL);
  world.forward.params.delay = 125 * MS;
  params = bundle.params;
  params.back.delay = 125 * MS;
  params.wire_bytes = 1000;
  fmx_sim_bundle_init (&bundle, &params, &world.forward, 0, 1);
  assert_true (longest_queue (5 * (FmxTime) S) < 80 * MS);
  fmx_sim_bundle_restart_counters (&bundle, world.now);
  fmx_sim_world_run (&world, 6 * (FmxTime) S);
  assert_true (8.0 * (double) bundle.received_bytes > 0.8 * rate_bps);
}

/* The first that comes back tells of a packet or two, and of most of the time before nothing could
 * come: that is no path that carries less than was sent, though one of them was lost. */
static void
test_the_first_feedback_tells_of_no_overrun (void **state)
{
  (void) state;
  begin (1e6, NULL);
  while (bundle.sender.receive.bps <= 0.0)
    fmx_sim_world_run (&world, world.now + (FmxTime) MS);
  assert_true (bundle.sender.receive.bps < 60e3);
  assert_float_equal (bundle.sender.receive.left_bps,
      bundle.sender.receive.bps, 1.0);
  begin (1e6, NULL);
  fmx_sim_world_run (&world, 60 * (FmxTime) MS);
  world.forward.params.loss = 1.0;
  fmx_sim_world_run (&world, 110 * (FmxTime) MS);
  world.forward.params.loss = 0.0;
  fmx_sim_world_run (&world, 500 * (FmxTime) MS);
  assert_int_equal (bundle.sender.controller.state.shortq.mode,
      FMX_RATE_SHORTQ_COMPETING);
  assert_int_equal (fmx_rate_sender_target_bps (&bundle.sender), 40000);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_who_starts_alone_makes_a_short_queue),
    cmocka_unit_test (test_a_long_path_that_is_free_is_taken_soon),
    cmocka_unit_test (test_the_first_feedback_tells_of_no_overrun),
  };

  return cmocka_run_group_tests_name ("rate/rate-shortq-start", tests, NULL,
      NULL);
}
