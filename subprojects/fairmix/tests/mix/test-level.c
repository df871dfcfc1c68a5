/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "fmx-test.h"

#include "fairmix/mix/fmx-level.h"

static void
test_a_full_scale_square_wave_is_zero (void **state)
{
  const uint64_t loudest = UINT64_C (32768) * 32768;

  (void) state;
  assert_int_equal (fmx_level_from_energy (loudest * 960, 960), 0);
  assert_int_equal (fmx_level_from_energy (UINT64_MAX, 1), 0);
}

/* [RFC6465 4] a full-scale sine wave is 3 dB below */
static void
test_a_full_scale_sine_is_three (void **state)
{
  uint64_t energy = 0;

  (void) state;
  for (unsigned i = 0; i < 960; i++) {
    double x = rint (32767 * sin (6.283185307179586 * i / 48));

    energy += (uint64_t) (x * x);
  }
  assert_int_equal (fmx_level_from_energy (energy, 960), 3);
}

static void
test_silence_is_127 (void **state)
{
  (void) state;
  assert_int_equal (fmx_level_from_energy (0, 960), 127);
  assert_int_equal (fmx_level_from_energy (5, 0), 127);
  assert_int_equal (fmx_level_from_energy (1, 1000000000000), 127);
}

static void
test_every_level_is_rounded_to_the_nearest (void **state)
{
  (void) state;
  for (int level = 0; level < 90; level++)
    for (int tenth = -4; tenth <= 4; tenth++) {
      double db = level + tenth / 10.0;
      double energy = 1e6 * 32768.0 * 32768.0 * pow (10.0, -db / 10.0);

      if (db >= 0)
        assert_int_equal (fmx_level_from_energy ((uint64_t) energy, 1000000),
            level);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_full_scale_square_wave_is_zero),
    cmocka_unit_test (test_a_full_scale_sine_is_three),
    cmocka_unit_test (test_silence_is_127),
    cmocka_unit_test (test_every_level_is_rounded_to_the_nearest),
  };

  return cmocka_run_group_tests_name ("mix/level", tests, NULL, NULL);
}
