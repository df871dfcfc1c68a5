/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fmx-test.h"

#include "fairmix/base/fmx-rng.h"
#include "fairmix/mix/fmx-mix-kernels.h"

#define MAX_SAMPLES 131u        /* more than two of the longest blocks */
#define MAX_INPUTS 9u
#define OFFSETS 8u              /* alignments */
#define GUARD 16u
#define GUARD_WORD 0x5aa5c33c
#define GUARD_HALF 0x3cc3

/* Destinations stand between guards, at any alignment. */
static int32_t wide_memory[GUARD + OFFSETS + 2 * MAX_SAMPLES + GUARD];
static int16_t narrow_memory[GUARD + OFFSETS + 2 * MAX_SAMPLES + GUARD];
static int16_t inputs[MAX_INPUTS][OFFSETS + 2 * MAX_SAMPLES];
static int32_t totals[OFFSETS + 2 * MAX_SAMPLES];

typedef enum
{
  RANDOM,
  LOWEST,
  HIGHEST,
  QUIET,
  N_PROGRAMMES
} Programme;

static int16_t
random_sample (FmxRng *rng, Programme programme)
{
  switch (programme) {
    case LOWEST:
      return INT16_MIN;
    case HIGHEST:
      return INT16_MAX;
    case QUIET:
      return (int16_t) (fmx_rng_next (rng) >> 29);
    default:
      return (int16_t) (fmx_rng_next (rng) >> 16);
  }
}

static void
fill_inputs (FmxRng *rng, Programme programme)
{
  for (unsigned j = 0; j < MAX_INPUTS; j++)
    for (unsigned i = 0; i < N_ELEMENTS (inputs[0]); i++)
      inputs[j][i] = random_sample (rng, programme);
  for (unsigned i = 0; i < N_ELEMENTS (totals); i++)
    totals[i] = (int32_t) fmx_rng_next (rng) >> 8;
}

static int32_t *
guarded_wide (unsigned offset)
{
  for (unsigned i = 0; i < N_ELEMENTS (wide_memory); i++)
    wide_memory[i] = GUARD_WORD;
  return wide_memory + GUARD + offset;
}

static int16_t *
guarded_narrow (unsigned offset)
{
  for (unsigned i = 0; i < N_ELEMENTS (narrow_memory); i++)
    narrow_memory[i] = GUARD_HALF;
  return narrow_memory + GUARD + offset;
}

static void
assert_guards (unsigned offset, size_t n)
{
  for (size_t i = 0; i < N_ELEMENTS (wide_memory); i++)
    if (i < GUARD + offset || i >= GUARD + offset + n)
      assert_int_equal (wide_memory[i], GUARD_WORD);
}

static void
assert_narrow_guards (unsigned offset, size_t n)
{
  for (size_t i = 0; i < N_ELEMENTS (narrow_memory); i++)
    if (i < GUARD + offset || i >= GUARD + offset + n)
      assert_int_equal (narrow_memory[i], GUARD_HALF);
}

/* Calls @check for every kernel set, length, alignment and programme. */
static void
for_all (void (*check) (const FmxMixKernels *, FmxRng *, size_t, unsigned))
{
  const FmxMixKernels *const *all = fmx_mix_kernels_available ();
  FmxRng rng;

  fmx_rng_init (&rng, 4711);
  for (; *all != NULL; all++)
    for (int programme = 0; programme < N_PROGRAMMES; programme++)
      for (size_t n = 0; n < MAX_SAMPLES; n++) {
        fill_inputs (&rng, (Programme) programme);
        for (unsigned offset = 0; offset < OFFSETS; offset++)
          check (*all, &rng, n, offset);
      }
}

static void
check_sum (const FmxMixKernels *kernels, FmxRng *rng, size_t n, unsigned offset)
{
  const int16_t *in[MAX_INPUTS];
  size_t n_in = fmx_rng_next (rng) % (MAX_INPUTS + 1);
  int32_t *total = guarded_wide (offset);

  for (size_t j = 0; j < n_in; j++)
    in[j] = inputs[j] + fmx_rng_next (rng) % OFFSETS;
  kernels->sum (total, in, n_in, n);
  for (size_t i = 0; i < n; i++) {
    int64_t expected = 0;

    for (size_t j = 0; j < n_in; j++)
      expected += in[j][i];
    assert_true (total[i] == expected);
  }
  assert_guards (offset, n);
}

static void
test_sum_equals_a_wide_sum (void **state)
{
  (void) state;
  for_all (check_sum);
}

static void
check_add_and_subtract (const FmxMixKernels *kernels, FmxRng *rng, size_t n,
    unsigned offset)
{
  const int16_t *in = inputs[0] + fmx_rng_next (rng) % OFFSETS;
  int32_t *total = guarded_wide (offset);

  memcpy (total, totals, n * sizeof *total);
  kernels->add (total, in, n);
  for (size_t i = 0; i < n; i++)
    assert_true (total[i] == (int64_t) totals[i] + in[i]);
  kernels->subtract (total, in, n);
  assert_memory_equal (total, totals, n * sizeof *total);
  assert_guards (offset, n);
}

static void
test_subtract_takes_back_what_add_added (void **state)
{
  (void) state;
  for_all (check_add_and_subtract);
}

static void
check_energy (const FmxMixKernels *kernels, FmxRng *rng, size_t n,
    unsigned offset)
{
  const int16_t *in = inputs[1] + offset;
  uint64_t expected = 0;

  (void) rng;
  for (size_t i = 0; i < n; i++)
    expected += (uint64_t) ((int64_t) in[i] * in[i]);
  assert_true (kernels->energy (in, n) == expected);
}

static void
test_energy_equals_a_wide_sum_of_squares (void **state)
{
  (void) state;
  for_all (check_energy);
}

static void
check_peak (const FmxMixKernels *kernels, FmxRng *rng, size_t n,
    unsigned offset)
{
  int32_t *in = guarded_wide (offset);
  uint32_t expected = 0;

  memcpy (in, totals, n * sizeof *in);
  if (n > 0) {
    const int32_t ends[4] = { INT32_MIN, INT32_MAX, -1, 0 };

    in[fmx_rng_next (rng) % n] = ends[fmx_rng_next (rng) >> 30];
  }
  for (size_t i = 0; i < n; i++) {
    uint32_t magnitude = (uint32_t) llabs ((int64_t) in[i]);

    expected = magnitude > expected ? magnitude : expected;
  }
  assert_int_equal (kernels->peak (in, n), expected);
}

static void
test_peak_finds_the_largest_magnitude (void **state)
{
  (void) state;
  for_all (check_peak);
}

static void
check_narrow (const FmxMixKernels *kernels, FmxRng *rng, size_t n,
    unsigned offset)
{
  const int32_t *in = totals + fmx_rng_next (rng) % OFFSETS;
  int16_t *out = guarded_narrow (offset);

  kernels->narrow (out, in, n);
  for (size_t i = 0; i < n; i++)
    assert_int_equal (out[i], in[i] > INT16_MAX ? INT16_MAX :
        in[i] < INT16_MIN ? INT16_MIN : in[i]);
  assert_narrow_guards (offset, n);
}

static void
test_narrow_saturates (void **state)
{
  (void) state;
  for_all (check_narrow);
}

static FmxMixRamp
random_ramp (FmxRng *rng, size_t n)
{
  FmxMixRamp ramp;

  ramp.gain = (float) (8.0 * fmx_rng_next_unit (rng));
  ramp.gain_step = ((float) (8.0 * fmx_rng_next_unit (rng)) - ramp.gain)
      / (float) (n + 20);
  ramp.first_frame = fmx_rng_next (rng) % 20;
  ramp.channels = 1 + (fmx_rng_next (rng) >> 31);
  ramp.ceiling = 1 + (int32_t) (fmx_rng_next (rng) % INT16_MAX);
  return ramp;
}

static float
gain_at (const FmxMixRamp *ramp, size_t i)
{
  return ramp->gain + ramp->gain_step
      * (float) (ramp->first_frame + i / ramp->channels);
}

static void
check_scale (const FmxMixKernels *kernels, FmxRng *rng, size_t n,
    unsigned offset)
{
  FmxMixRamp ramp = random_ramp (rng, n);
  const int32_t *in = totals + fmx_rng_next (rng) % OFFSETS;
  int16_t *out = guarded_narrow (offset), again[MAX_SAMPLES];

  kernels->scale (out, in, n, &ramp);
  for (size_t i = 0; i < n; i++) {
    double exact = (double) in[i] * gain_at (&ramp, i);

    exact = fmin (fmax (exact, -ramp.ceiling), ramp.ceiling);
    assert_true (fabs (out[i] - exact) <= 0.502);
  }
  assert_narrow_guards (offset, n);
  fmx_mix_kernels_best ()->scale (again, in, n, &ramp);
  assert_memory_equal (again, out, n * sizeof *out);
}

static void
test_scale_is_rounded_cut_at_the_ceiling_and_the_same_everywhere (void **state)
{
  (void) state;
  for_all (check_scale);
}

static void
test_scale_cuts_the_largest_numbers_on_their_own_side (void **state)
{
  const int32_t in[16] = { INT32_MAX, INT32_MIN, INT32_MAX - 1,
    INT32_MIN + 1, 1 << 30, -(1 << 30), 40000, -40000,
    INT32_MAX, INT32_MIN, INT32_MIN, INT32_MAX, 0, 1, -1, INT32_MIN
  };
  const FmxMixRamp ramp = { 8.0f, 0.0f, 0, 1, 30000 };
  const FmxMixKernels *const *all = fmx_mix_kernels_available ();

  (void) state;
  for (; *all != NULL; all++) {
    int16_t out[16];

    (*all)->scale (out, in, 16, &ramp);
    for (unsigned i = 0; i < 16; i++)
      assert_int_equal (out[i], abs (in[i] / 2) > 1000 ? (in[i] > 0 ? 30000 :
              -30000) : 8 * in[i]);
  }
}

static void
check_add_ramp (const FmxMixKernels *kernels, FmxRng *rng, size_t n,
    unsigned offset)
{
  FmxMixRamp ramp = random_ramp (rng, n);
  const int16_t *in = inputs[2] + fmx_rng_next (rng) % OFFSETS;
  int32_t *total = guarded_wide (offset), again[MAX_SAMPLES];

  memcpy (total, totals, n * sizeof *total);
  kernels->add_ramp (total, in, n, &ramp);
  for (size_t i = 0; i < n; i++) {
    double exact = totals[i] + (double) in[i] * gain_at (&ramp, i);

    assert_true (fabs (total[i] - exact) <= 0.52);
  }
  assert_guards (offset, n);
  memcpy (again, totals, n * sizeof *again);
  fmx_mix_kernels_best ()->add_ramp (again, in, n, &ramp);
  assert_memory_equal (again, total, n * sizeof *total);
}

static void
test_add_ramp_is_rounded_and_the_same_everywhere (void **state)
{
  (void) state;
  for_all (check_add_ramp);
}

static void
check_add_panned (const FmxMixKernels *kernels, FmxRng *rng, size_t n,
    unsigned offset)
{
  FmxMixRamp left = random_ramp (rng, n), right = random_ramp (rng, n);
  const int16_t *in = inputs[3] + fmx_rng_next (rng) % OFFSETS;
  int32_t *stereo = guarded_wide (offset), again[2 * MAX_SAMPLES];

  left.channels = right.channels = 1;
  memcpy (stereo, totals, 2 * n * sizeof *stereo);
  kernels->add_panned (stereo, in, n, &left, &right);
  for (size_t i = 0; i < n; i++) {
    double l = totals[2 * i] + (double) in[i] * gain_at (&left, i);
    double r = totals[2 * i + 1] + (double) in[i] * gain_at (&right, i);

    assert_true (fabs (stereo[2 * i] - l) <= 0.52);
    assert_true (fabs (stereo[2 * i + 1] - r) <= 0.52);
  }
  assert_guards (offset, 2 * n);
  memcpy (again, totals, 2 * n * sizeof *again);
  fmx_mix_kernels_best ()->add_panned (again, in, n, &left, &right);
  assert_memory_equal (again, stereo, 2 * n * sizeof *stereo);
}

static void
test_add_panned_is_rounded_and_the_same_everywhere (void **state)
{
  (void) state;
  for_all (check_add_panned);
}

static void
test_the_reference_is_last_and_always_there (void **state)
{
  const FmxMixKernels *const *all = fmx_mix_kernels_available ();
  size_t n = 0;

  (void) state;
  assert_ptr_equal (all[0], fmx_mix_kernels_best ());
  while (all[n + 1] != NULL)
    n++;
  assert_string_equal (all[n]->name, "c");
}

static void
test_a_panned_stream_is_two_ramped_ones (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 3);
  for (size_t n = 0; n < MAX_SAMPLES; n++) {
    float left_from = (float) fmx_rng_next_unit (&rng) * 2;
    float left_to = (float) fmx_rng_next_unit (&rng) * 2;
    float right_from = (float) fmx_rng_next_unit (&rng) * 2;
    float right_to = (float) fmx_rng_next_unit (&rng) * 2;
    int32_t left[MAX_SAMPLES], right[MAX_SAMPLES];
    int32_t *stereo = guarded_wide (0);

    fill_inputs (&rng, RANDOM);
    memcpy (stereo, totals, 2 * n * sizeof *stereo);
    fmx_mix_add_panned (stereo, inputs[0], n, left_from, left_to, right_from,
        right_to);
    for (size_t i = 0; i < n; i++) {
      left[i] = totals[2 * i];
      right[i] = totals[2 * i + 1];
    }
    fmx_mix_add_ramp (left, inputs[0], n, left_from, left_to);
    fmx_mix_add_ramp (right, inputs[0], n, right_from, right_to);
    for (size_t i = 0; i < n; i++) {
      assert_int_equal (stereo[2 * i], left[i]);
      assert_int_equal (stereo[2 * i + 1], right[i]);
    }
    assert_guards (0, 2 * n);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_sum_equals_a_wide_sum),
    cmocka_unit_test (test_subtract_takes_back_what_add_added),
    cmocka_unit_test (test_energy_equals_a_wide_sum_of_squares),
    cmocka_unit_test (test_peak_finds_the_largest_magnitude),
    cmocka_unit_test (test_narrow_saturates),
    cmocka_unit_test
        (test_scale_is_rounded_cut_at_the_ceiling_and_the_same_everywhere),
    cmocka_unit_test (test_scale_cuts_the_largest_numbers_on_their_own_side),
    cmocka_unit_test (test_add_ramp_is_rounded_and_the_same_everywhere),
    cmocka_unit_test (test_add_panned_is_rounded_and_the_same_everywhere),
    cmocka_unit_test (test_the_reference_is_last_and_always_there),
    cmocka_unit_test (test_a_panned_stream_is_two_ramped_ones),
  };

  return cmocka_run_group_tests_name ("mix/mix-kernels", tests, NULL, NULL);
}
