/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "sim/fmx-sim-draw.h"
#include "sim/fmx-sim-voices.h"

#define S FMX_SECOND
#define WIRE_BYTES (FMX_SIM_VOICES_BPS / 50 / 8)

static FmxSimVoices voices;

/* In bits/s: what leaves, of voices and of the mix. */
static double
sent_bps (void)
{
  return voices.plan.n_separate * (double) FMX_SIM_VOICES_BPS
      + voices.mix_wire_bytes * 8.0 * 50.0;
}

static void
test_what_leaves_is_no_more_than_the_target_and_not_much_less (void **state)
{
  (void) state;
  fmx_sim_voices_init (&voices, 20, WIRE_BYTES, 0);
  for (uint64_t bps = 30000; bps < 1200000; bps += 7000) {
    fmx_sim_voices_follow (&voices, bps, (FmxTime) bps);
    assert_true (sent_bps () <= (double) bps);
    /* the headroom, and what a mix cannot use: a ladder, few names of few */
    assert_true (sent_bps () >= 0.95 * (double) bps - 40e3
        || voices.plan.n_separate == 20);
  }
  assert_int_equal (voices.plan.n_separate, 20);
  assert_int_equal (voices.mix_wire_bytes, 0);
}

static void
test_changes_are_plans_that_send_somebody_another_way (void **state)
{
  (void) state;
  fmx_sim_voices_init (&voices, 8, WIRE_BYTES, 0);
  fmx_sim_voices_follow (&voices, 200000, 0);
  assert_int_equal (voices.plan.n_separate, 3);
  assert_int_equal (voices.n_changes, 1);
  for (unsigned i = 1; i < 10; i++)
    fmx_sim_voices_follow (&voices, 200000 + i % 2 * 4000, i * (FmxTime) S);
  assert_int_equal (voices.n_changes, 1);
  fmx_sim_voices_follow (&voices, 100000, 10 * (FmxTime) S);
  assert_int_equal (voices.plan.n_separate, 1);
  assert_int_equal (voices.n_changes, 2);
}

/* Who sends what the selection makes of the target has what a stream of packets at
 * that rate has, within what whole voices leave. */
static void
test_voices_use_a_link_as_paced_packets_do (void **state)
{
  FmxSimDraw draw = fmx_sim_draw (FMX_SIM_ALONE, 24);
  FmxSimSubject subject = { &fmx_rate_shortq, true };
  double paced = fmx_sim_draw_run (&draw, &subject).used, used;

  (void) state;
  subject.paced = false;
  used = fmx_sim_draw_run (&draw, &subject).used;
  assert_true (used > 0.9 && paced > 0.9);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test
        (test_what_leaves_is_no_more_than_the_target_and_not_much_less),
    cmocka_unit_test (test_changes_are_plans_that_send_somebody_another_way),
    cmocka_unit_test (test_voices_use_a_link_as_paced_packets_do),
  };

  return cmocka_run_group_tests_name ("sim/sim-voices", tests, NULL, NULL);
}
