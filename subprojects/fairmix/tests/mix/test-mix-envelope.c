/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>
#include <string.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/mix/fmx-mix-envelope.h"

#define N 100

static double
gain (const FmxMixEnvelope *envelope, int64_t x)
{
  double edge = fmin ((double) (x - envelope->from),
      (double) (envelope->until - x));

  if (x < envelope->from || x >= envelope->until)
    return 0.0;
  return envelope->ramp == 0 ? 1.0 : fmin (1.0, edge / envelope->ramp);
}

static void
test_any_envelope_gives_the_formula (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 3);
  for (int round = 0; round < 2000; round++) {
    int64_t pos = 1000;
    int64_t from = 900 + fmx_rng_next (&rng) % 300;
    FmxMixEnvelope envelope = {.from = from,
      .until = from + fmx_rng_next (&rng) % 200,
      .ramp = fmx_rng_next (&rng) % 40
    };
    int32_t total[N] = { 0 };
    int16_t in[N];

    for (int i = 0; i < N; i++)
      in[i] = 10000;
    fmx_mix_add_envelope (total, in, N, &envelope, pos);
    for (int i = 0; i < N; i++)
      assert_true (fabs (total[i] - 10000.0 * gain (&envelope, pos + i)) < 2.0);
  }
}

static void
test_crossing_envelopes_add_up_to_one (void **state)
{
  FmxMixEnvelope away = { INT64_MIN / 2, 1000 + 40, 40 };
  FmxMixEnvelope towards = { 1000, INT64_MAX, 40 };
  int32_t total[N] = { 0 };
  int16_t in[N];

  (void) state;
  for (int i = 0; i < N; i++)
    in[i] = (int16_t) (i * 300 - 15000);
  fmx_mix_add_envelope (total, in, N, &away, 990);
  fmx_mix_add_envelope (total, in, N, &towards, 990);
  for (int i = 0; i < N; i++)
    assert_true (total[i] - in[i] >= -1 && total[i] - in[i] <= 1);
}

/* A stay that began before the first sample of all, or so long ago as can be, and has no
 * end */
static void
test_a_stay_without_an_end_may_have_begun_before_zero (void **state)
{
  const int64_t begins[] = { -5, -30, -1000, INT64_MIN / 2 };
  int16_t in[N];

  (void) state;
  for (int i = 0; i < N; i++)
    in[i] = 10000;
  for (unsigned k = 0; k < sizeof begins / sizeof begins[0]; k++) {
    FmxMixEnvelope envelope = { begins[k], INT64_MAX, 40 };
    int32_t total[N] = { 0 };

    fmx_mix_add_envelope (total, in, N, &envelope, 0);
    for (int i = 0; i < N; i++)
      assert_true (fabs (total[i] - 10000.0 * gain (&envelope, i)) < 2.0);
  }
}

static void
test_full_means_gain_one_everywhere (void **state)
{
  FmxMixEnvelope envelope = { 0, 1000, 50 };

  (void) state;
  assert_true (fmx_mix_envelope_is_full (&envelope, 50, 900));
  assert_false (fmx_mix_envelope_is_full (&envelope, 49, 900));
  assert_false (fmx_mix_envelope_is_full (&envelope, 50, 901));
}

static void
test_a_cross_fade_has_no_step (void **state)
{
  int16_t samples[N], before[N];

  (void) state;
  for (int i = 0; i < N; i++) {
    before[i] = INT16_MAX;
    samples[i] = INT16_MIN;
  }
  fmx_mix_cross_fade (samples, before, N);
  assert_true (samples[0] > INT16_MAX - 2 * 65536 / N);
  assert_true (samples[N - 1] < INT16_MIN + 2 * 65536 / N);
  for (int i = 1; i < N; i++)
    assert_true (samples[i - 1] - samples[i] <= 65536 / N);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_any_envelope_gives_the_formula),
    cmocka_unit_test (test_crossing_envelopes_add_up_to_one),
    cmocka_unit_test (test_a_stay_without_an_end_may_have_begun_before_zero),
    cmocka_unit_test (test_full_means_gain_one_everywhere),
    cmocka_unit_test (test_a_cross_fade_has_no_step),
  };

  return cmocka_run_group_tests_name ("mix/envelope", tests, NULL, NULL);
}
