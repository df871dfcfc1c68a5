/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/loss/fmx-loss-fraction.h"

#define MS FMX_MSECOND

static void
test_counts_lost_over_all (void **state)
{
  FmxLossFraction fraction;

  (void) state;
  fmx_loss_fraction_init (&fraction, 5 * FMX_SECOND);
  assert_true (fmx_loss_fraction_get (&fraction) == 0.0);
  for (unsigned i = 0; i < 100; i++)
    fmx_loss_fraction_add (&fraction, i % 4 != 0, i % 4 == 0, i * 20 * MS);
  assert_int_equal (fmx_loss_fraction_count (&fraction), 100);
  assert_true (fmx_loss_fraction_get (&fraction) == 0.25);
}

static void
test_old_packets_leave_the_window (void **state)
{
  FmxLossFraction fraction;

  (void) state;
  fmx_loss_fraction_init (&fraction, 5 * FMX_SECOND);
  fmx_loss_fraction_add (&fraction, 0, 10, 0);
  fmx_loss_fraction_add (&fraction, 10, 0, 4900 * MS);
  assert_true (fmx_loss_fraction_get (&fraction) == 0.5);
  fmx_loss_fraction_add (&fraction, 0, 0, 5000 * (FmxTime) MS);
  assert_true (fmx_loss_fraction_get (&fraction) == 0.0);
  fmx_loss_fraction_add (&fraction, 0, 7, 0);   /* too late to count */
  assert_int_equal (fmx_loss_fraction_count (&fraction), 10);
  fmx_loss_fraction_add (&fraction, 0, 1, 3600 * (FmxTime) FMX_SECOND);
  assert_true (fmx_loss_fraction_get (&fraction) == 1.0);
}

static void
test_a_loss_can_be_taken_back_as_long_as_it_counts (void **state)
{
  FmxLossFraction fraction;

  (void) state;
  fmx_loss_fraction_init (&fraction, 5 * FMX_SECOND);
  fmx_loss_fraction_add (&fraction, 3, 1, 100 * MS);
  fmx_loss_fraction_take_back (&fraction, 120 * MS);
  assert_true (fmx_loss_fraction_get (&fraction) == 0.0);
  fmx_loss_fraction_take_back (&fraction, 120 * MS);
  fmx_loss_fraction_take_back (&fraction, 9000 * (FmxTime) MS);
  assert_int_equal (fmx_loss_fraction_count (&fraction), 4);
  fmx_loss_fraction_add (&fraction, 1, 1, 20000 * (FmxTime) MS);
  fmx_loss_fraction_take_back (&fraction, 120 * MS);    /* long forgotten */
  assert_true (fmx_loss_fraction_get (&fraction) == 0.5);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_counts_lost_over_all),
    cmocka_unit_test (test_old_packets_leave_the_window),
    cmocka_unit_test (test_a_loss_can_be_taken_back_as_long_as_it_counts),
  };

  return cmocka_run_group_tests_name ("loss/loss-fraction", tests, NULL, NULL);
}
