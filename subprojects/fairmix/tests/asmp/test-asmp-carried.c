/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "fmx-test-asmp.h"

#include "fairmix/asmp/fmx-asmp-carried.h"

static void
test_half_at_once_and_the_whole_when_that_has_come (void **state)
{
  FmxAsmpCarried carried;
  FmxTime now = FMX_SECOND;

  (void) state;
  fmx_asmp_carried_init (&carried);
  assert_true (fmx_asmp_carried_bps (&carried, 1e6, now) == 0.0);
  fmx_asmp_carried_note (&carried, 1e6, HUGE_VAL, now);
  fmx_asmp_carried_note (&carried, 1e5, HUGE_VAL, now + FMX_SECOND);
  assert_near (fmx_asmp_carried_bps (&carried, 1e5, now), 5e5, 1e-9);
  assert_near (fmx_asmp_carried_bps (&carried, 4e5, now), 8e5, 1e-9);
  assert_near (fmx_asmp_carried_bps (&carried, 5e5, now), 1e6, 1e-9);
  assert_near (fmx_asmp_carried_bps (&carried, 9e5, now), 1e6, 1e-9);
}

static void
test_after_five_minutes_nothing_is_known (void **state)
{
  FmxTime now = FMX_SECOND, later = now + FMX_ASMP_CARRIED_LIFETIME;
  FmxAsmpCarried carried;

  (void) state;
  fmx_asmp_carried_init (&carried);
  fmx_asmp_carried_note (&carried, 1e6, HUGE_VAL, now);
  assert_near (fmx_asmp_carried_bps (&carried, 1e5, later), 5e5, 1e-9);
  assert_true (fmx_asmp_carried_bps (&carried, 1e5, later + 1) == 0.0);
  fmx_asmp_carried_note (&carried, 1e5, HUGE_VAL, later + 1);
  assert_near (fmx_asmp_carried_bps (&carried, 5e4, later + 1), 1e5, 1e-9);
}

/* one loss may be chance; losses again and again are another path */
static void
test_losses_bring_it_down_to_what_a_tcp_gets_now (void **state)
{
  FmxAsmpCarried carried;
  FmxTime now = FMX_SECOND;

  (void) state;
  fmx_asmp_carried_init (&carried);
  fmx_asmp_carried_note (&carried, 1e6, HUGE_VAL, now);
  fmx_asmp_carried_note (&carried, 1e5, 2e6, now);
  assert_near (fmx_asmp_carried_bps (&carried, 1e6, now), 1e6, 1e-9);
  fmx_asmp_carried_note (&carried, 1e5, 2e5, now);
  assert_near (fmx_asmp_carried_bps (&carried, 1e6, now), 6e5, 1e-9);
  for (unsigned i = 0; i < 10; i++)
    fmx_asmp_carried_note (&carried, 1e5, 2e5, now);
  assert_near (fmx_asmp_carried_bps (&carried, 1e6, now), 2e5, 0.01);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_half_at_once_and_the_whole_when_that_has_come),
    cmocka_unit_test (test_after_five_minutes_nothing_is_known),
    cmocka_unit_test (test_losses_bring_it_down_to_what_a_tcp_gets_now),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
