/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-asmp.h"

#include "fairmix/asmp/fmx-asmp-pace.h"

static void
test_of_ten_that_report_in_turn_each_second_one_reports_each_ten (void **state)
{
  FmxAsmpPace pace;
  FmxTime now = 0;

  (void) state;
  fmx_asmp_pace_init (&pace);
  for (unsigned i = 0; i <= FMX_ASMP_PACE_LEAST; i++) {
    assert_true (fmx_asmp_pace_intervals (&pace, 10, 1.0) == 0);
    fmx_asmp_pace_on_report (&pace, now += FMX_SECOND);
  }
  assert_near ((double) fmx_asmp_pace_intervals (&pace, 10, 1.0), 1e10, 1e-9);
  assert_near ((double) fmx_asmp_pace_intervals (&pace, 10, 5.0), 5e10, 1e-9);
}

static void
test_a_new_pace_is_learned_within_some_hundred_reports (void **state)
{
  FmxAsmpPace pace;
  FmxTime now = 0;

  (void) state;
  fmx_asmp_pace_init (&pace);
  for (unsigned i = 0; i < 100; i++)
    fmx_asmp_pace_on_report (&pace, now += FMX_SECOND);
  for (unsigned i = 0; i < 300; i++)
    fmx_asmp_pace_on_report (&pace, now += 10 * FMX_SECOND);
  assert_near ((double) fmx_asmp_pace_intervals (&pace, 1, 1.0), 1e10, 0.02);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test
        (test_of_ten_that_report_in_turn_each_second_one_reports_each_ten),
    cmocka_unit_test (test_a_new_pace_is_learned_within_some_hundred_reports),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
