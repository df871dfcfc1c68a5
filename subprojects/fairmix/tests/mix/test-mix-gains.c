/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fmx-test.h"

#include "fairmix/base/fmx-rng.h"
#include "fairmix/mix/fmx-mix-kernels.h"

static void
test_ramps_start_and_end_exactly (void **state)
{
  const float ends[] = { 0.0f, 0.25f, 1.0f, 8.0f };
  int16_t in[961];

  (void) state;
  for (unsigned i = 0; i < 961; i++)
    in[i] = 16384;
  for (size_t a = 0; a < N_ELEMENTS (ends); a++)
    for (size_t b = 0; b < N_ELEMENTS (ends); b++) {
      int32_t total[961] = { 0 };
      int32_t from = (int32_t) (16384 * ends[a]);
      int32_t to = (int32_t) (16384 * ends[b]);

      /* Two ramps on end: the second starts where the first would go on. */
      fmx_mix_add_ramp (total, in, 480, ends[a], ends[b]);
      fmx_mix_add_ramp (total + 480, in, 481, ends[b], ends[b]);
      assert_int_equal (total[0], from);
      for (unsigned i = 480; i < 961; i++)
        assert_int_equal (total[i], to);
      for (int i = 0; i < 480; i++)
        assert_true (fabs (total[i] - (from + (to - from) * i / 480.0))
            <= 0.51);
    }
}

static void
test_a_ramp_down_and_a_ramp_up_add_to_the_whole (void **state)
{
  FmxRng rng;
  int16_t in[960];
  int32_t total[960] = { 0 };

  (void) state;
  fmx_rng_init (&rng, 1);
  for (unsigned i = 0; i < 960; i++)
    in[i] = (int16_t) fmx_rng_next (&rng);
  fmx_mix_add_ramp (total, in, 960, 1.0f, 0.0f);
  fmx_mix_add_ramp (total, in, 960, 0.0f, 1.0f);
  for (unsigned i = 0; i < 960; i++)
    assert_true (abs (total[i] - in[i]) <= 1);
}

static void
test_unity_gain_is_exact (void **state)
{
  FmxRng rng;
  int16_t in[100];
  int32_t total[100] = { 0 };

  (void) state;
  fmx_rng_init (&rng, 2);
  for (unsigned i = 0; i < 100; i++)
    in[i] = (int16_t) fmx_rng_next (&rng);
  fmx_mix_add_ramp (total, in, 100, 1.0f, 1.0f);
  for (unsigned i = 0; i < 100; i++)
    assert_int_equal (total[i], in[i]);
}

static void
test_panning_keeps_the_power (void **state)
{
  (void) state;
  for (int i = -100; i <= 100; i++) {
    float left, right;

    fmx_mix_pan_gains ((float) i / 100.0f, &left, &right);
    assert_true (left >= 0 && right >= 0);
    assert_true (fabs (left * left + right * right - 1.0) < 1e-6);
  }
}

static void
test_panning_is_symmetric_and_hard_at_the_ends (void **state)
{
  float left, right, mirrored_left, mirrored_right;

  (void) state;
  fmx_mix_pan_gains (-1.0f, &left, &right);
  assert_true (left == 1.0f && right == 0.0f);
  fmx_mix_pan_gains (1.0f, &left, &right);
  assert_true (left == 0.0f && right == 1.0f);
  fmx_mix_pan_gains (0.0f, &left, &right);
  assert_true (fabs (left - sqrt (0.5)) < 1e-6 && left == right);
  fmx_mix_pan_gains (0.3f, &left, &right);
  fmx_mix_pan_gains (-0.3f, &mirrored_left, &mirrored_right);
  assert_true (fabsf (left - mirrored_right) < 1e-6f);
  assert_true (fabsf (right - mirrored_left) < 1e-6f);
}

static void
test_scaling_saturates (void **state)
{
  int16_t samples[] = { INT16_MIN, -1, 0, 1, 4095, 4096, INT16_MAX };
  const int16_t times_eight[] = {
    INT16_MIN, -8, 0, 8, 32760, INT16_MAX, INT16_MAX
  };
  const int16_t silent[N_ELEMENTS (samples)] = { 0 };
  int16_t before[N_ELEMENTS (samples)];

  (void) state;
  memcpy (before, samples, sizeof before);
  fmx_mix_scale (samples, N_ELEMENTS (samples), 1.0f);
  assert_memory_equal (samples, before, sizeof before);
  fmx_mix_scale (samples, N_ELEMENTS (samples), 8.0f);
  assert_memory_equal (samples, times_eight, sizeof samples);
  fmx_mix_scale (samples, N_ELEMENTS (samples), 0.0f);
  assert_memory_equal (samples, silent, sizeof samples);
}

static void
test_a_split_gain_is_the_gain (void **state)
{
  (void) state;
  for (int i = 0; i <= 800; i++) {
    float given = (float) i / 100.0f;
    float gain = given;
    uint32_t weight = fmx_mix_gain_split (&gain);

    assert_true (gain <= 1.0f);
    assert_true (gain * (float) weight == given);
    assert_true (weight == 1 || gain > 0.5f);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_split_gain_is_the_gain),
    cmocka_unit_test (test_ramps_start_and_end_exactly),
    cmocka_unit_test (test_a_ramp_down_and_a_ramp_up_add_to_the_whole),
    cmocka_unit_test (test_unity_gain_is_exact),
    cmocka_unit_test (test_panning_keeps_the_power),
    cmocka_unit_test (test_panning_is_symmetric_and_hard_at_the_ends),
    cmocka_unit_test (test_scaling_saturates),
  };

  return cmocka_run_group_tests_name ("mix/mix-gains", tests, NULL, NULL);
}
