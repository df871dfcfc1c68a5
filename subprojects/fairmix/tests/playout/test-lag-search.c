/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/playout/fmx-lag-search.h"

#define N 4096
#define TAU 6.283185307179586

static float scratch[N];

static FmxLagRange
range_at (uint32_t rate_hz, int32_t direction)
{
  FmxLagRange range = {
    .n_samples = rate_hz / 100,
    .shortest = rate_hz / 400,
    .longest = rate_hz * 15 / 1000,
    .direction = direction,
    .coarse = rate_hz / 8000,
  };

  assert_true (fmx_lag_search_scratch_samples (&range) <= N);
  return range;
}

/* A voice: twenty harmonics, each weaker than the one below */
static void
make_voice (float *x, double rate_hz, double pitch_hz)
{
  for (int i = 0; i < N; i++) {
    x[i] = 0.0f;
    for (int k = 1; k <= 20 && k * pitch_hz < rate_hz / 2; k++)
      x[i] +=
          (float) (0.2 / k * sin (TAU * k * pitch_hz * i / rate_hz + k * k));
  }
}

static void
test_finds_whole_pitch_periods (void **state)
{
  static const uint32_t rates_hz[] = { 8000, 16000, 44100, 48000 };
  static float x[N];

  (void) state;
  for (size_t r = 0; r < N_ELEMENTS (rates_hz); r++)
    for (double pitch_hz = 70.0; pitch_hz < 390.0; pitch_hz *= 1.13)
      for (int direction = -1; direction <= 1; direction += 2) {
        FmxLagRange range = range_at (rates_hz[r], direction);
        FmxLag lag;
        double periods;

        make_voice (x, rates_hz[r], pitch_hz);
        lag = fmx_lag_search (x + N / 2, &range, scratch);
        periods = lag.n_samples * pitch_hz / rates_hz[r];
        assert_true (fabs (periods - round (periods)) < 0.08);
        assert_true (round (periods) >= 1.0);
        assert_true (lag.similarity > 0.85f);
        assert_true (lag.similarity < 1.0001f);
      }
}

/* The two-step search may end on another peak, but not on a much lower one. */
static void
test_coarse_steps_find_as_good_a_lag (void **state)
{
  static float x[N];
  FmxRng rng;
  float worst = 0.0f;

  (void) state;
  fmx_rng_init (&rng, 7);
  for (int trial = 0; trial < 20; trial++) {
    FmxLagRange range = range_at (48000, trial % 2 ? 1 : -1);
    FmxLag quick, slow;
    float low = 0.0f;

    for (int i = 0; i < N; i++) {       /* noise with most below 1 kHz */
      low += 0.1f * ((float) fmx_rng_next_unit (&rng) - 0.5f - low);
      x[i] = low;
    }
    quick = fmx_lag_search (x + N / 2, &range, scratch);
    range.coarse = 1;
    slow = fmx_lag_search (x + N / 2, &range, scratch);
    if (slow.similarity - quick.similarity > worst)
      worst = slow.similarity - quick.similarity;
  }
  assert_true (worst < 0.1f);
}

static void
test_one_lag_is_taken_as_it_is (void **state)
{
  static float x[N];
  FmxLagRange range = range_at (48000, 1);
  FmxLag lag;

  (void) state;
  make_voice (x, 48000.0, 100.0);
  range.shortest = range.longest = 37;
  lag = fmx_lag_search (x, &range, scratch);
  assert_int_equal (lag.n_samples, 37);
  assert_true (lag.similarity
      == fmx_lag_similarity (x, x + 37, range.n_samples));
}

static void
test_all_lags_lie_in_the_range (void **state)
{
  static float x[N];
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 3);
  for (int i = 0; i < N; i++)
    x[i] = (float) fmx_rng_next_unit (&rng) - 0.5f;
  for (int trial = 0; trial < 200; trial++) {
    FmxLagRange range = range_at (48000, trial % 2 ? 1 : -1);
    FmxLag lag;

    range.shortest = 1 + (uint32_t) (fmx_rng_next_unit (&rng) * 700.0);
    range.longest = range.shortest
        + (uint32_t) (fmx_rng_next_unit (&rng) * 30.0);
    lag = fmx_lag_search (x + N / 2, &range, scratch);
    assert_true (lag.n_samples >= range.shortest);
    assert_true (lag.n_samples <= range.longest);
  }
}

static void
test_similarity_knows_sign_and_silence (void **state)
{
  static float x[N], y[N], zero[N];

  (void) state;
  make_voice (x, 48000.0, 100.0);
  for (int i = 0; i < N; i++)
    y[i] = -0.25f * x[i];
  assert_true (fabsf (fmx_lag_similarity (x, x, N) - 1.0f) < 1e-4f);
  assert_true (fabsf (fmx_lag_similarity (x, y, N) + 1.0f) < 1e-4f);
  assert_true (fmx_lag_similarity (x, zero, N) == 0.0f);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_finds_whole_pitch_periods),
    cmocka_unit_test (test_coarse_steps_find_as_good_a_lag),
    cmocka_unit_test (test_one_lag_is_taken_as_it_is),
    cmocka_unit_test (test_all_lags_lie_in_the_range),
    cmocka_unit_test (test_similarity_knows_sign_and_silence),
  };

  return cmocka_run_group_tests_name ("playout/lag-search", tests, NULL, NULL);
}
