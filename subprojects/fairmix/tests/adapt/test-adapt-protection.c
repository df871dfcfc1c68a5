/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/adapt/fmx-adapt-protection.h"

static FmxAdaptProtection protection;
static FmxTime now;
static uint32_t percent, n_changes;

static int
setup (void **state)
{
  (void) state;
  fmx_adapt_protection_init (&protection);
  now = FMX_SECOND;
  percent = n_changes = 0;
  return 0;
}

/* Feedback ten times a second tells of a loss of @share. */
static void
lose (double share, unsigned seconds)
{
  for (unsigned i = 0; i < 10 * seconds; i++, now += 100 * FMX_MSECOND) {
    uint32_t next = fmx_adapt_protection_on_loss (&protection, share, now);

    n_changes += next != percent;
    percent = next;
  }
}

/* More than 5 % is what libopus adds FEC for; more than that is worse. */
static void
test_it_is_on_while_there_is_loss (void **state)
{
  const double losses[] = { 0.02, 0.05, 0.10, 0.50 };

  (void) state;
  for (unsigned i = 0; i < sizeof losses / sizeof losses[0]; i++) {
    lose (losses[i], 60);
    assert_int_equal (percent, FMX_ADAPT_PROTECTION_PERCENT);
    assert_int_equal (percent, 6);
  }
  lose (0.0, 60);
  assert_int_equal (percent, 0);
  assert_int_equal (n_changes, 2);
}

static void
test_little_loss_is_not_worth_it (void **state)
{
  (void) state;
  lose (0.009, 600);
  assert_int_equal (n_changes, 0);
  /* nor is a moment of much */
  setup (state);
  lose (0.08, 1);
  assert_int_equal (n_changes, 0);
}

static void
test_it_does_not_flap (void **state)
{
  (void) state;
  lose (0.015, 60);
  assert_int_equal (percent, FMX_ADAPT_PROTECTION_PERCENT);
  n_changes = 0;
  for (unsigned i = 0; i < 60; i++)
    lose (i % 2 == 0 ? 0.004 : 0.014, 2);
  assert_int_equal (n_changes, 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup (test_it_is_on_while_there_is_loss, setup),
    cmocka_unit_test_setup (test_little_loss_is_not_worth_it, setup),
    cmocka_unit_test_setup (test_it_does_not_flap, setup),
  };

  return cmocka_run_group_tests_name ("adapt/protection", tests, NULL, NULL);
}
