/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-rate.h"

#include "fairmix/rate/fmx-rate-lasting.h"

static FmxRateLasting lasting;

static double
after (double bps, double seconds)
{
  fmx_rate_lasting_on_rate (&lasting, bps, (FmxTime) (seconds * S));
  return fmx_rate_lasting_bps (&lasting);
}

static void
test_a_rate_that_never_fell_lasts (void **state)
{
  (void) state;
  fmx_rate_lasting_init (&lasting, 0);
  for (unsigned i = 1; i < 100; i++)
    assert_float_equal (after (10e3 * i, 0.1 * i), 10e3 * i, 1.0);
}

static void
test_of_saw_teeth_the_lowest_lasts_for_20_s (void **state)
{
  (void) state;
  fmx_rate_lasting_init (&lasting, 0);
  (void) after (400e3, 1.0);
  assert_float_equal (after (320e3, 2.0), 320e3, 1.0);
  assert_float_equal (after (420e3, 9.0), 320e3, 1.0);
  assert_float_equal (after (340e3, 10.0), 320e3, 1.0);
  assert_float_equal (after (400e3, 19.0), 320e3, 1.0);
  assert_float_equal (after (400e3, 23.0), 340e3, 1.0);
  assert_float_equal (after (400e3, 31.0), 400e3, 1.0);
}

static void
test_what_lasts_is_never_more_than_the_rate (void **state)
{
  (void) state;
  fmx_rate_lasting_init (&lasting, 0);
  (void) after (400e3, 1.0);
  assert_float_equal (after (320e3, 2.0), 320e3, 1.0);
  assert_float_equal (after (100e3, 3.0), 100e3, 1.0);
}

static void
test_a_tenth_beyond_the_highest_the_path_is_another (void **state)
{
  (void) state;
  fmx_rate_lasting_init (&lasting, 0);
  (void) after (400e3, 1.0);
  (void) after (320e3, 2.0);
  assert_float_equal (after (435e3, 3.0), 320e3, 1.0);
  assert_float_equal (after (445e3, 4.0), 445e3, 1.0);
}

static void
test_silence_is_no_fall (void **state)
{
  (void) state;
  fmx_rate_lasting_init (&lasting, 0);
  (void) after (400e3, 1.0);
  (void) after (0.0, 2.0);
  assert_float_equal (after (400e3, 3.0), 400e3, 1.0);
}

static void
test_long_ago_is_forgotten_at_once (void **state)
{
  (void) state;
  fmx_rate_lasting_init (&lasting, 0);
  (void) after (400e3, 1.0);
  (void) after (320e3, 2.0);
  assert_float_equal (after (330e3, 1e6), 330e3, 1.0);
  (void) after (300e3, 1e6 + 1.0);
  assert_float_equal (after (330e3, 1e6 + 2.0), 300e3, 1.0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_rate_that_never_fell_lasts),
    cmocka_unit_test (test_of_saw_teeth_the_lowest_lasts_for_20_s),
    cmocka_unit_test (test_what_lasts_is_never_more_than_the_rate),
    cmocka_unit_test (test_a_tenth_beyond_the_highest_the_path_is_another),
    cmocka_unit_test (test_silence_is_no_fall),
    cmocka_unit_test (test_long_ago_is_forgotten_at_once),
  };

  return cmocka_run_group_tests_name ("rate/rate-lasting", tests, NULL, NULL);
}
