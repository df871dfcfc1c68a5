/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-rate-sender.h"

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

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_any_share_leaves_bounds_that_are_some),
    cmocka_unit_test (test_a_packet_of_any_size_may_have_a_small_share),
  };

  return cmocka_run_group_tests_name ("rate/rate-sender-share", tests, NULL,
      NULL);
}
