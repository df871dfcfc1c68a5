/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/adapt/fmx-adapt-protection.h"

static FmxAdaptProtection protection;
static FmxTime now;
static uint32_t from_bps, n_changes;

static int
setup (void **state)
{
  (void) state;
  fmx_adapt_protection_init (&protection);
  now = FMX_SECOND;
  from_bps = n_changes = 0;
  return 0;
}

/* Feedback ten times a second tells of a loss of @share. */
static void
lose (double share, unsigned seconds)
{
  for (unsigned i = 0; i < 10 * seconds; i++, now += 100 * FMX_MSECOND) {
    uint32_t next = fmx_adapt_protection_on_loss (&protection, share, now);

    n_changes += next != from_bps;
    from_bps = next;
  }
}

/* Returns: the loss that an encoder of @bitrate_bps is told of */
static uint32_t
percent (uint64_t bitrate_bps)
{
  return fmx_adapt_protection_percent (from_bps, bitrate_bps);
}

/* More than 5 % is what libopus adds FEC for; more than that is worse. */
static void
test_it_is_on_while_there_is_loss (void **state)
{
  const double losses[] = { 0.025, 0.05, 0.10, 0.50 };

  (void) state;
  for (unsigned i = 0; i < sizeof losses / sizeof losses[0]; i++) {
    lose (losses[i], 60);
    assert_int_equal (percent (20000), FMX_ADAPT_PROTECTION_PERCENT);
    assert_int_equal (percent (64000), 6);
    assert_int_equal (percent (19999), 0);
  }
  n_changes = 0;
  lose (0.0, 60);
  assert_int_equal (percent (UINT32_MAX), 0);
  assert_int_equal (n_changes, 2);
}

/* The copies are a smaller part of a higher bitrate. */
static void
test_it_begins_where_the_copies_are_worth_their_bits (void **state)
{
  (void) state;
  lose (0.015, 600);
  assert_int_equal (percent (32000), FMX_ADAPT_PROTECTION_PERCENT);
  assert_int_equal (percent (31999), 0);
  assert_int_equal (percent (24000), 0);
  assert_int_equal (n_changes, 1);
  lose (0.03, 60);
  assert_int_equal (percent (24000), FMX_ADAPT_PROTECTION_PERCENT);
  lose (0.015, 600);            /* until it is half of what it began at */
  assert_int_equal (percent (24000), FMX_ADAPT_PROTECTION_PERCENT);
  lose (0.009, 600);
  assert_int_equal (percent (24000), 0);
  assert_int_equal (percent (32000), FMX_ADAPT_PROTECTION_PERCENT);
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
  const double around[] = { 0.01, 0.02 };

  (void) state;
  for (unsigned k = 0; k < sizeof around / sizeof around[0]; k++) {
    lose (1.5 * around[k], 60);
    assert_int_equal (percent (k == 0 ? 32000 : 20000),
        FMX_ADAPT_PROTECTION_PERCENT);
    n_changes = 0;
    for (unsigned i = 0; i < 60; i++)
      lose ((i % 2 == 0 ? 0.4 : 1.4) * around[k], 2);
    assert_int_equal (n_changes, 0);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup (test_it_is_on_while_there_is_loss, setup),
    cmocka_unit_test_setup
        (test_it_begins_where_the_copies_are_worth_their_bits, setup),
    cmocka_unit_test_setup (test_little_loss_is_not_worth_it, setup),
    cmocka_unit_test_setup (test_it_does_not_flap, setup),
  };

  return cmocka_run_group_tests_name ("adapt/protection", tests, NULL, NULL);
}
