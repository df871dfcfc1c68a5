/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-rate-sender.h"

#include <math.h>

/* Two that are coupled, by weights of 0.01 and 100; and what only a lie says */
static void
test_any_share_leaves_bounds_that_are_some (void **state)
{
  static const double shares[] = { 0.01 * 2 / 100.01, 100 * 2 / 100.01, 1e-300,
    1e300
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (shares); i++) {
    start ();
    fmx_rate_sender_set_share (&sender, shares[i], 0);
    assert_in_range (fmx_rate_sender_target_bps (&sender), 79999, 80000);
    for (unsigned k = 0; k < 3000; k++) {
      leave_at ((uint16_t) k, at (k));
      if (k % 3 == 2)
        report (k - 2, k + 1, NULL);
    }
    assert_in_range (fmx_rate_sender_target_bps (&sender), 20000, 1000000000);
  }
}

/* As a jumbo frame of the loopback may be, and more */
static void
test_a_packet_of_any_size_may_have_a_small_share (void **state)
{
  (void) state;
  start ();
  fmx_rate_sender_set_share (&sender, 1e-9, 0);
  fmx_rate_sender_on_sent (&sender, 1, 1, 1u << 20, at (1));
  assert_true (sender.controller.credit_bytes < -1e9);
}

static FmxRateFeedback told;

static void
note_feedback (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  told = *fb;
  fmx_rate_gaimd.on_feedback (rc, fb, now);
}

/* Packets that come through one behind the other are as fast as all, in any share. */
static void
test_rates_of_one_flow_are_of_one_scale (void **state)
{
  static const double shares[] = { 1.0, 0.1, 5.0 };
  FmxRateClass spy = fmx_rate_gaimd;

  (void) state;
  spy.on_feedback = note_feedback;
  for (size_t i = 0; i < N_ELEMENTS (shares); i++) {
    FmxRateSenderParams params;
    FmxCcfbMetric metrics[10];
    FmxTime made = at (29) + OWD + 100 * MS;

    fmx_rate_sender_params_default (&params);
    params.klass = &spy;
    fmx_rate_sender_init (&sender, &params, 0);
    fmx_rate_sender_set_share (&sender, shares[i], 0);
    run (0, 18, NULL);
    leave (18, 30);
    report (18, 20, NULL);
    for (unsigned k = 0; k < 10; k++)   /* they wait in a queue of 0.1 s */
      metrics[k] = (FmxCcfbMetric) { 1, (uint16_t) (20 + k), true, 0,
        (FmxDuration) (at (29) - at (20 + k))
      };
    fmx_rate_sender_on_metrics (&sender, metrics, 10, mid32 (made), made + OWD);
    assert_true (told.row_bps < HUGE_VAL && told.latest_bps > 0.0);
    assert_in_range (shares[i] * told.row_bps, 79000, 81000);
    assert_in_range (shares[i] * told.latest_bps, 50000, 81000);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_any_share_leaves_bounds_that_are_some),
    cmocka_unit_test (test_a_packet_of_any_size_may_have_a_small_share),
    cmocka_unit_test (test_rates_of_one_flow_are_of_one_scale),
  };

  return cmocka_run_group_tests_name ("rate/rate-sender-share", tests, NULL,
      NULL);
}
