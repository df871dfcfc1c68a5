/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fmx-test.h"

#include "fairmix/base/fmx-rng.h"
#include "fairmix/mix/fmx-limiter.h"

#define RATE_HZ 48000u
#define N_FRAMES 9600u
#define N_VOICES 24u
#define CROWD_SECONDS 8u
#define CROWD_FRAMES (CROWD_SECONDS * RATE_HZ)
#define FIT_FRAMES 960u         /* 20 ms */

static int32_t input[2 * N_FRAMES];
static int16_t output[2 * N_FRAMES];

static void
run_in_chunks (FmxLimiter *limiter, FmxRng *rng, size_t n_frames)
{
  size_t channels = limiter->params.channels;
  size_t done = 0;

  while (done < n_frames) {
    size_t n = fmx_rng_next (rng) % 3 == 0 ? fmx_rng_next (rng) % 11
        : fmx_rng_next (rng) % 1000;

    n = n < n_frames - done ? n : n_frames - done;
    fmx_limiter_process (limiter, output + done * channels,
        input + done * channels, n);
    done += n;
  }
}

/* Stretches below the ceiling, far beyond it, and single peaks. */
static void
fill_wild (FmxRng *rng, int32_t ceiling, size_t n_samples)
{
  unsigned mode = 0, left = 0;

  for (size_t i = 0; i < n_samples; i++, left--) {
    uint32_t x = fmx_rng_next (rng);

    if (left == 0) {
      mode = x % 4;
      left = 1 + fmx_rng_next (rng) % 700;
    }
    if (mode == 0)
      input[i] = (int32_t) x;
    else if (mode == 1)
      input[i] = (int32_t) x >> 14;
    else
      input[i] = (int32_t) (x % (2 * (uint32_t) ceiling + 1)) - ceiling;
    if (mode == 2 && x % 200 == 0)
      input[i] = x % 400 == 0 ? INT32_MIN : INT32_MAX;
  }
}

static void
random_params (FmxLimiterParams *params, FmxRng *rng)
{
  const uint32_t rates[] = { 8000, 16000, 24000, 48000 };

  fmx_limiter_params_default (params, rates[fmx_rng_next (rng) >> 30],
      1 + (fmx_rng_next (rng) >> 31));
  params->look_ahead_frames = FMX_LIMITER_MIN_LOOK_AHEAD + fmx_rng_next (rng)
      % (FMX_LIMITER_MAX_LOOK_AHEAD - FMX_LIMITER_MIN_LOOK_AHEAD + 1);
  params->ceiling = 1 + (int32_t) (fmx_rng_next (rng) % INT16_MAX);
  params->release_ms = (float) (1 + fmx_rng_next (rng) % 300);
}

static void
test_nothing_is_ever_beyond_the_ceiling (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 1);
  for (unsigned i = 0; i < 300; i++) {
    FmxLimiterParams params;
    FmxLimiter limiter;

    random_params (&params, &rng);
    fmx_limiter_init (&limiter, &params);
    fill_wild (&rng, params.ceiling, N_FRAMES * params.channels);
    run_in_chunks (&limiter, &rng, N_FRAMES);
    for (size_t j = 0; j < N_FRAMES * params.channels; j++)
      assert_true (abs (output[j]) <= params.ceiling);
  }
}

static void
test_below_the_ceiling_every_sample_passes_unchanged (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 2);
  for (unsigned i = 0; i < 100; i++) {
    FmxLimiterParams params;
    FmxLimiter limiter;
    size_t n, delay;

    random_params (&params, &rng);
    n = N_FRAMES * params.channels;
    delay = params.look_ahead_frames * params.channels;
    fmx_limiter_init (&limiter, &params);
    for (size_t j = 0; j < n; j++)
      input[j] = (int32_t) (fmx_rng_next (&rng)
          % (2 * (uint32_t) params.ceiling + 1)) - params.ceiling;
    run_in_chunks (&limiter, &rng, N_FRAMES);
    for (size_t j = 0; j < delay; j++)
      assert_int_equal (output[j], 0);
    for (size_t j = delay; j < n; j++)
      assert_int_equal (output[j], input[j - delay]);
  }
}

/* The right channel carries a constant: what comes out shows the gain.  The
 * gain itself keeps the left below the ceiling, not the cut that follows. */
#define PILOT 20000

static void
run_with_pilot (FmxLimiter *limiter, FmxRng *rng, int32_t loudest)
{
  for (size_t i = 0; i < N_FRAMES; i++) {
    uint32_t x = fmx_rng_next (rng);

    if (i / 1200 % 2 == 0)
      input[2 * i] = (int32_t) (x % 20000);
    else
      input[2 * i] = (int32_t) (x % (2 * (uint32_t) loudest)) - loudest;
    input[2 * i + 1] = PILOT;
  }
  run_in_chunks (limiter, rng, N_FRAMES);
}

static void
test_the_gain_alone_keeps_peaks_below_the_ceiling (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 3);
  for (uint32_t look_ahead = FMX_LIMITER_MIN_LOOK_AHEAD;
      look_ahead <= FMX_LIMITER_MAX_LOOK_AHEAD; look_ahead++) {
    FmxLimiterParams params;
    FmxLimiter limiter;

    fmx_limiter_params_default (&params, RATE_HZ, 2);
    params.look_ahead_frames = look_ahead;
    fmx_limiter_init (&limiter, &params);
    run_with_pilot (&limiter, &rng, 400000);
    for (size_t i = look_ahead; i < N_FRAMES; i++) {
      double gain = output[2 * i + 1] / (double) PILOT;
      double left = abs (input[2 * (i - look_ahead)]);

      assert_true (left * gain <= 32767 + left * 0.5 / PILOT + 0.5);
    }
  }
}

static void
test_both_channels_get_the_same_gain (void **state)
{
  FmxLimiterParams params;
  FmxLimiter limiter;
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 4);
  fmx_limiter_params_default (&params, RATE_HZ, 2);
  fmx_limiter_init (&limiter, &params);
  run_with_pilot (&limiter, &rng, 100000);
  for (size_t i = params.look_ahead_frames; i < N_FRAMES; i++) {
    double gain = output[2 * i + 1] / (double) PILOT;
    double left = input[2 * (i - params.look_ahead_frames)];

    assert_true (fabs (output[2 * i] - left * gain)
        <= fabs (left) * 0.5 / PILOT + 1.0);
  }
}

/* No click: the gain moves by 1 in no less than half the look-ahead. */
static void
test_the_gain_never_steps (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 5);
  for (uint32_t look_ahead = FMX_LIMITER_MIN_LOOK_AHEAD;
      look_ahead <= FMX_LIMITER_MAX_LOOK_AHEAD; look_ahead++) {
    FmxLimiterParams params;
    FmxLimiter limiter;
    double steepest = 0;

    fmx_limiter_params_default (&params, RATE_HZ, 2);
    params.look_ahead_frames = look_ahead;
    fmx_limiter_init (&limiter, &params);
    run_with_pilot (&limiter, &rng, INT32_MAX / 2);
    for (size_t i = look_ahead + 1; i < N_FRAMES; i++) {
      double step = abs (output[2 * i + 1] - output[2 * i - 1]);

      steepest = step > steepest ? step : steepest;
    }
    assert_true (steepest <= PILOT * 2.0 / look_ahead + 1);
    assert_true (steepest > PILOT * 0.5 / look_ahead);  /* it did work */
  }
}

static void
test_the_gain_recovers_exponentially_and_then_for_good (void **state)
{
  FmxLimiterParams params;
  FmxLimiter limiter;
  size_t settled, quiet_from = 120 + 1;
  double gain;

  (void) state;
  fmx_limiter_params_default (&params, RATE_HZ, 1);
  params.release_ms = 10;       /* 480 frames */
  fmx_limiter_init (&limiter, &params);
  for (size_t i = 0; i < N_FRAMES; i++)
    input[i] = i == 0 ? 65534 : 10000;  /* a single peak: gain 0.5 */
  fmx_limiter_process (&limiter, output, input, N_FRAMES);
  assert_in_range (output[120], 32766, 32767);
  /* The gain stays for as long as the attack took, then recovers. */
  gain = output[quiet_from + 120 + 480] / 10000.0;
  assert_true (fabs (gain - (1 - 0.5 * exp (-1))) < 0.03);
  for (size_t i = quiet_from + 1; i < N_FRAMES; i++)
    assert_true (output[i] >= output[i - 1]);
  /* One peak counts as a crowd of 5 % of its depth, gone in 0.13 s; five time
   * constants after that the gain is one. */
  settled = quiet_from + 240 + 6240 + 5 * 480;
  for (size_t i = settled; i < N_FRAMES; i++)
    assert_int_equal (output[i], 10000);
  assert_true (limiter.n_idle > limiter.n_attack);
}

static void
test_the_size_of_the_pieces_does_not_matter (void **state)
{
  static int16_t whole[2 * N_FRAMES];
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 6);
  for (unsigned i = 0; i < 60; i++) {
    FmxLimiterParams params;
    FmxLimiter a, b;

    random_params (&params, &rng);
    fmx_limiter_init (&a, &params);
    fmx_limiter_init (&b, &params);
    fill_wild (&rng, params.ceiling, N_FRAMES * params.channels);
    fmx_limiter_process (&a, whole, input, N_FRAMES);
    run_in_chunks (&b, &rng, N_FRAMES);
    assert_memory_equal (whole, output,
        N_FRAMES * params.channels * sizeof *output);
  }
}

static void
test_all_kernels_limit_alike (void **state)
{
  static int16_t reference[2 * N_FRAMES];
  const FmxMixKernels *const *all = fmx_mix_kernels_available ();
  FmxRng rng;

  (void) state;
  for (; *all != NULL; all++) {
    fmx_rng_init (&rng, 7);
    for (unsigned i = 0; i < 20; i++) {
      FmxLimiterParams params;
      FmxLimiter a, b;

      random_params (&params, &rng);
      fmx_limiter_init (&a, &params);
      fmx_limiter_init (&b, &params);
      b.kernels = *all;
      fill_wild (&rng, params.ceiling, N_FRAMES * params.channels);
      fmx_limiter_process (&a, reference, input, N_FRAMES);
      fmx_limiter_process (&b, output, input, N_FRAMES);
      assert_memory_equal (reference, output,
          N_FRAMES * params.channels * sizeof *output);
    }
  }
}

static void
test_a_copy_goes_on_like_the_original (void **state)
{
  int16_t other[1000];
  FmxLimiterParams params;
  FmxLimiter limiter, copy;
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 8);
  fmx_limiter_params_default (&params, RATE_HZ, 1);
  fmx_limiter_init (&limiter, &params);
  fill_wild (&rng, params.ceiling, 2003);
  fmx_limiter_process (&limiter, output, input, 1003);
  copy = limiter;
  fmx_limiter_process (&limiter, output, input + 1003, 1000);
  fmx_limiter_process (&copy, other, input + 1003, 1000);
  assert_memory_equal (other, output, sizeof other);
}

static void
test_reset_forgets_everything (void **state)
{
  FmxLimiterParams params;
  FmxLimiter limiter;
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 9);
  fmx_limiter_params_default (&params, RATE_HZ, 2);
  fmx_limiter_init (&limiter, &params);
  fill_wild (&rng, params.ceiling, 2 * 1000);
  fmx_limiter_process (&limiter, output, input, 1000);
  fmx_limiter_reset (&limiter);
  for (unsigned i = 0; i < 2000; i++)
    input[i] = 7;
  fmx_limiter_process (&limiter, output, input, 1000);
  for (unsigned i = 0; i < 2000; i++)
    assert_int_equal (output[i], i < 240 ? 0 : 7);
}

/* Speech-like: pulses of a wandering pitch through two resonances that change
 * with each syllable, with pauses; about -14 dBFS while it speaks. */
static void
add_voice (int32_t *total, uint64_t seed)
{
  FmxRng rng;
  double pitch_hz, phase = 0, y[2][2] = { {0} }, envelope = 0, goal = 0;
  double a[2] = { 0 }, r[2] = { 0.985, 0.97 }, gain = 0, energy = 0;
  static float voice[CROWD_FRAMES];
  unsigned left = 0, n_active = 1;

  fmx_rng_init (&rng, seed);
  pitch_hz = 90 + 140 * fmx_rng_next_unit (&rng);
  for (unsigned i = 0; i < CROWD_FRAMES; i++, left--) {
    double x = 0.02 * (fmx_rng_next_unit (&rng) - 0.5);

    if (left == 0) {
      left = RATE_HZ / 8 + fmx_rng_next (&rng) % (RATE_HZ / 6);
      goal = fmx_rng_next (&rng) % 5 == 0 ? 0 : fmx_rng_next_unit (&rng) + 0.3;
      pitch_hz *= 0.95 + 0.1 * fmx_rng_next_unit (&rng);
      a[0] = cos (6.2832 * (300 + 500 * fmx_rng_next_unit (&rng)) / RATE_HZ);
      a[1] = cos (6.2832 * (900 + 1400 * fmx_rng_next_unit (&rng)) / RATE_HZ);
    }
    envelope += (goal - envelope) / (0.02 * RATE_HZ);
    phase += pitch_hz / RATE_HZ;
    if (phase >= 1) {
      phase -= 1;
      x += 1;
    }
    for (unsigned k = 0; k < 2; k++) {
      double out = x + 2 * r[k] * a[k] * y[k][0] - r[k] * r[k] * y[k][1];

      y[k][1] = y[k][0];
      y[k][0] = out;
      x = out;
    }
    voice[i] = (float) (envelope * x);
    if (goal > 0) {
      energy += (double) voice[i] * voice[i];
      n_active++;
    }
  }
  gain = 32768 * pow (10, -14 / 20.0) / sqrt (energy / n_active);
  for (unsigned i = 0; i < CROWD_FRAMES; i++) {
    double x = fmax (-32768, fmin (32767, gain * voice[i]));

    total[i] += (int32_t) lrint (x);
  }
}

/* Signal to distortion, a gain fitted to each 20 ms: a slow change of level is
 * none, clipping and pumping are. */
static double
distortion_db (const int32_t *clean, const int16_t *limited)
{
  double signal = 0, distortion = 0;

  for (size_t i = 0; i + FIT_FRAMES <= CROWD_FRAMES; i += FIT_FRAMES) {
    double xx = 1e-9, xy = 0;

    for (size_t j = i; j < i + FIT_FRAMES; j++) {
      xx += (double) clean[j] * clean[j];
      xy += (double) clean[j] * limited[j];
    }
    for (size_t j = i; j < i + FIT_FRAMES; j++) {
      double wanted = xy / xx * clean[j];

      signal += wanted * wanted;
      distortion += (limited[j] - wanted) * (limited[j] - wanted);
    }
  }
  return 10 * log10 (signal / distortion);
}

static void
test_a_crowd_of_24_stays_clear (void **state)
{
  static int32_t crowd[CROWD_FRAMES];
  static int16_t limited[CROWD_FRAMES + 120], clamped[CROWD_FRAMES];
  const int32_t silence[120] = { 0 };
  FmxLimiterParams params;
  FmxLimiter limiter;
  double limiter_db, clamp_db;

  (void) state;
  for (unsigned i = 0; i < N_VOICES; i++)
    add_voice (crowd, i);
  fmx_limiter_params_default (&params, RATE_HZ, 1);
  fmx_limiter_init (&limiter, &params);
  fmx_limiter_process (&limiter, limited, crowd, CROWD_FRAMES);
  fmx_limiter_process (&limiter, limited + CROWD_FRAMES, silence, 120);
  fmx_mix_kernels_best ()->narrow (clamped, crowd, CROWD_FRAMES);
  limiter_db = distortion_db (crowd, limited + 120);
  clamp_db = distortion_db (crowd, clamped);
  print_message ("# limiter %.1f dB, clamp %.1f dB\n", limiter_db, clamp_db);
  assert_true (limiter_db >= 27.0);
  assert_true (limiter_db >= clamp_db + 10.0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_nothing_is_ever_beyond_the_ceiling),
    cmocka_unit_test (test_below_the_ceiling_every_sample_passes_unchanged),
    cmocka_unit_test (test_the_gain_alone_keeps_peaks_below_the_ceiling),
    cmocka_unit_test (test_both_channels_get_the_same_gain),
    cmocka_unit_test (test_the_gain_never_steps),
    cmocka_unit_test (test_the_gain_recovers_exponentially_and_then_for_good),
    cmocka_unit_test (test_the_size_of_the_pieces_does_not_matter),
    cmocka_unit_test (test_all_kernels_limit_alike),
    cmocka_unit_test (test_a_copy_goes_on_like_the_original),
    cmocka_unit_test (test_reset_forgets_everything),
    cmocka_unit_test (test_a_crowd_of_24_stays_clear),
  };

  return cmocka_run_group_tests_name ("mix/limiter", tests, NULL, NULL);
}
