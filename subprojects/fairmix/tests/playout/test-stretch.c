/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/playout/fmx-stretch.h"

#define TAU 6.283185307179586
#define MS FMX_MSECOND

typedef float (*Signal) (size_t i, uint32_t rate_hz);

/* What went in and what came out */
typedef struct
{
  FmxStretchParams params;
  FmxStretch stretch;
  float *storage;
  Signal signal;
  float *out;
  size_t n_in, n_out, capacity;
  int64_t adjusted;
  FmxDuration packet;
} Run;

static float
tone (size_t i, uint32_t rate_hz)
{
  return (float) (0.5 * sin (TAU * 440.0 * (double) i / rate_hz));
}

/* Syllables: 180 ms of eight harmonics whose pitch glides, 40 ms of noise,
 * 30 ms of nothing */
static float
speech (size_t i, uint32_t rate_hz)
{
  double t = (double) i / rate_hz, s = fmod (t, 0.25);
  double phase = TAU * (120.0 * t + 8.0 * sin (TAU * 0.7 * t));
  double y = 0.0;

  if (s >= 0.22)
    return 0.0f;
  if (s >= 0.18)
    return (float) (0.05 * sin (1e5 * sin ((double) i)) * (0.22 - s) / 0.04);
  for (int k = 1; k <= 8; k++)
    y += sin (k * phase) / k;
  return (float) (0.2 * y * sin (TAU / 2.0 * s / 0.18));
}

static float
noise (size_t i, uint32_t rate_hz)
{
  uint32_t x = (uint32_t) i * 2654435761u;

  (void) rate_hz;
  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  x *= 3266489917u;
  x ^= x >> 16;
  return (float) x / 4294967296.0f - 0.5f;
}

static float
silence (size_t i, uint32_t rate_hz)
{
  (void) i;
  (void) rate_hz;
  return 0.0f;
}

static Run *
run_new (const FmxStretchParams *params, Signal signal)
{
  Run *run = calloc (1, sizeof *run);

  run->params = *params;
  run->signal = signal;
  run->packet = 20 * MS;
  run->storage = calloc (fmx_stretch_storage_samples (params), sizeof (float));
  fmx_stretch_init (&run->stretch, params, run->storage);
  return run;
}

static Run *
run_new_default (uint32_t rate_hz, Signal signal)
{
  FmxStretchParams params;

  fmx_stretch_params_default (&params, rate_hz, 1);
  params.hold = 20 * MS;
  return run_new (&params, signal);
}

static void
run_free (Run *run)
{
  free (run->storage);
  free (run->out);
  free (run);
}

static size_t
frames (const Run *run, FmxDuration duration)
{
  return (size_t) (duration * run->params.rate_hz / FMX_SECOND);
}

/* Channel c of the input is the signal divided by -(c + 1), or by 1. */
static float
input (const Run *run, size_t i, uint32_t channel)
{
  float x = run->signal (i, run->params.rate_hz);

  return channel == 0 ? x : -x / (float) (channel + 1);
}

static void
push (Run *run, size_t n)
{
  uint32_t channels = run->params.channels;
  float *in = malloc ((n + 1) * channels * sizeof (float));
  size_t most = fmx_stretch_max_output (&run->stretch, n);
  size_t n_out;
  int64_t hold;

  for (size_t i = 0; i < n; i++)
    for (uint32_t c = 0; c < channels; c++)
      in[i * channels + c] = input (run, run->n_in + i, c);
  run->capacity = run->n_out + most;
  run->out = realloc (run->out, (run->capacity + 1) * channels
      * sizeof (float));
  n_out = fmx_stretch_process (&run->stretch, run->out
      + run->n_out * channels, in, n);
  assert_true (n_out <= most);
  run->n_in += n;
  run->n_out += n_out;
  free (in);
  hold = (int64_t) frames (run, run->params.hold)
      - fmx_stretch_debt (&run->stretch);
  assert_true ((int64_t) fmx_stretch_held (&run->stretch)
      <= (hold > 0 ? hold : 0));
  assert_int_equal ((int64_t) run->n_out, (int64_t) run->n_in + run->adjusted
      - fmx_stretch_debt (&run->stretch)
      - (int64_t) fmx_stretch_held (&run->stretch));
}

static void
push_for (Run *run, FmxDuration duration)
{
  for (size_t end = run->n_in + frames (run, duration); run->n_in < end;)
    push (run, frames (run, run->packet));
}

static void
adjust (Run *run, int64_t n)
{
  run->adjusted += n;
  fmx_stretch_adjust (&run->stretch, n);
}

/* Returns: how much went in until nothing remained to be done */
static FmxDuration
push_until_done (Run *run)
{
  size_t start = run->n_in;

  while (fmx_stretch_debt (&run->stretch) != 0
      || fmx_stretch_held (&run->stretch) != 0) {
    push (run, frames (run, run->packet));
    assert_true (run->n_in - start < frames (run, 200 * FMX_SECOND));
  }
  return (FmxDuration) (run->n_in - start) * FMX_SECOND / run->params.rate_hz;
}

static float
largest_step (const float *x, size_t n)
{
  float largest = 0.0f;

  for (size_t i = 1; i < n; i++)
    largest = fmaxf (largest, fabsf (x[i] - x[i - 1]));
  return largest;
}

static double
rms (const float *x, size_t n)
{
  double sum = 0.0;

  for (size_t i = 0; i < n; i++)
    sum += (double) x[i] * x[i];
  return sqrt (sum / (double) n);
}

static float *
input_of (const Run *run, size_t n)
{
  float *x = malloc (n * sizeof (float));

  for (size_t i = 0; i < n; i++)
    x[i] = run->signal (i, run->params.rate_hz);
  return x;
}

/* --- claims --- */

static const Signal signals[] = { tone, speech, noise, silence };

static void
test_without_a_debt_nothing_is_touched (void **state)
{
  Run *run = run_new_default (48000, noise);

  (void) state;
  push_for (run, FMX_SECOND);
  assert_int_equal (run->n_out, run->n_in);
  assert_int_equal (fmx_stretch_held (&run->stretch), 0);
  for (size_t i = 0; i < run->n_out; i++)
    assert_true (run->out[i] == noise (i, 48000));
  run_free (run);
}

/* The counts are checked after every packet, in push(). */
static void
test_every_debt_is_worked_off_to_the_frame (void **state)
{
  static const uint32_t rates_hz[] = { 8000, 44100, 96000 };
  static const int debts_us[] = { 20000, -20000, 10000, -60000, 1, -1, 333,
    -7777, 19999, -100000
  };

  (void) state;
  for (size_t r = 0; r < N_ELEMENTS (rates_hz); r++)
    for (size_t s = 0; s < N_ELEMENTS (signals); s++) {
      Run *run = run_new_default (rates_hz[r], signals[s]);

      for (size_t d = 0; d < N_ELEMENTS (debts_us); d++) {
        int64_t n = (int64_t) debts_us[d] * rates_hz[r] / 1000000;

        push_for (run, 100 * MS);
        adjust (run, n);
        assert_true (push_until_done (run) <= run->params.patience
            + 200 * MS + llabs (debts_us[d]) * FMX_USECOND);
        assert_int_equal (run->n_out, (int64_t) run->n_in + run->adjusted);
      }
      run_free (run);
    }
}

/* Packets of 2.5 ms, and nothing may be held but what is too much */
static void
test_short_packets_are_enough (void **state)
{
  FmxStretchParams params;
  Run *run;

  (void) state;
  fmx_stretch_params_default (&params, 48000, 1);
  run = run_new (&params, speech);
  run->packet = 2500 * FMX_USECOND;
  for (int i = 0; i < 10; i++) {
    push_for (run, 300 * MS);
    adjust (run, -960);
    assert_true (push_until_done (run) <= params.patience + 50 * MS);
  }
  run_free (run);
}

static void
test_what_is_not_joined_leaves_to_the_bit (void **state)
{
  (void) state;
  for (int64_t n = -960; n <= 960; n += 1920) {
    Run *run = run_new_default (48000, speech);
    FmxDuration done;
    size_t n_other = 0;

    push_for (run, 500 * MS);
    adjust (run, n);
    done = push_until_done (run);
    push_for (run, 500 * MS);
    /* before the first joint nothing has moved, after the last one all by n;
     * in between it is neither */
    for (size_t i = 0; i < run->n_out; i++)
      n_other += run->out[i] != speech (i, 48000)
          && run->out[i] != speech ((size_t) ((int64_t) i - n), 48000);
    assert_true (n_other > 0);
    assert_true (n_other < frames (run, done));
    for (size_t i = run->n_out - frames (run, 500 * MS); i < run->n_out; i++)
      assert_true (run->out[i]
          == speech ((size_t) ((int64_t) i - n), 48000));
    run_free (run);
  }
}

static void
test_no_joint_is_a_click (void **state)
{
  (void) state;
  for (size_t s = 0; s < 2; s++) {
    Run *run = run_new_default (48000, signals[s]);
    float *in;

    for (int i = 0; i < 20; i++) {
      push_for (run, 137 * MS);
      adjust (run, i % 2 ? 960 : -1440);
      push_until_done (run);
    }
    in = input_of (run, run->n_in);
    assert_true (largest_step (run->out, run->n_out)
        <= 1.05f * largest_step (in, run->n_in));
    free (in);
    run_free (run);
  }
}

/* Amplitude of the part of @x at @hz */
static double
amplitude_at (const float *x, size_t n, double hz, double rate_hz)
{
  double re = 0.0, im = 0.0;

  for (size_t i = 0; i < n; i++) {
    double w = 1.0 - cos (TAU * (double) i / (double) n);

    re += w * x[i] * cos (TAU * hz * (double) i / rate_hz);
    im += w * x[i] * sin (TAU * hz * (double) i / rate_hz);
  }
  return 2.0 * sqrt (re * re + im * im) / (double) n;
}

/* 440 Hz stays 440 Hz, and what a resampler would make of it is not there. */
static void
test_the_pitch_stays (void **state)
{
  Run *run = run_new_default (48000, tone);
  size_t from;
  double ratio, rest;

  (void) state;
  push_for (run, 200 * MS);
  from = run->n_out;
  for (int i = 0; i < 10; i++) {
    adjust (run, -2727);        /* 25 periods */
    push_until_done (run);
  }
  ratio = (double) (run->n_in - from) / (double) (run->n_out - from);
  assert_true (ratio > 1.05);
  assert_true (amplitude_at (run->out + from, run->n_out - from, 440.0,
          48000.0) > 0.4);
  rest = amplitude_at (run->out + from, run->n_out - from, 440.0 * ratio,
      48000.0);
  assert_true (rest < 0.01);
  run_free (run);
}

static void
test_the_level_stays (void **state)
{
  static const Signal level[] = { tone, noise };

  (void) state;
  for (size_t s = 0; s < N_ELEMENTS (level); s++) {
    Run *run = run_new_default (48000, level[s]);
    size_t window = frames (run, 10 * MS);
    double usual, lowest = 1.0, highest = 0.0;

    for (int i = 0; i < 10; i++) {
      adjust (run, i % 2 ? 960 : -960);
      push_until_done (run);
      push_for (run, 100 * MS);
    }
    usual = rms (run->out, frames (run, 100 * MS));
    for (size_t i = 0; i + window < run->n_out; i += window / 2) {
      double now = rms (run->out + i, window);

      lowest = fmin (lowest, now);
      highest = fmax (highest, now);
    }
    assert_true (20.0 * log10 (lowest / usual) > -1.5);
    assert_true (20.0 * log10 (highest / usual) < 1.5);
    run_free (run);
  }
}

/* Half a second of 400 Hz, 8 periods of which are 20 ms, and one of 440 Hz */
static float
two_tones (size_t i, uint32_t rate_hz)
{
  double hz = i % rate_hz < rate_hz / 2 ? 400.0 : 440.0;

  return (float) (0.5 * sin (TAU * hz * (double) i / rate_hz));
}

static void
test_joints_wait_for_a_good_place (void **state)
{
  Run *run = run_new_default (48000, two_tones);

  (void) state;
  push_for (run, 600 * MS);
  adjust (run, -960);
  assert_true (push_until_done (run) < 500 * MS);
  /* 40 ms before the end of 440 Hz a joint sees the other tone */
  for (size_t i = 0; i < frames (run, 960 * MS); i++)
    assert_true (run->out[i] == two_tones (i, 48000));
  run_free (run);
}

static float
word (size_t i, uint32_t rate_hz)
{
  return i % rate_hz < rate_hz / 2 ? 0.0f : noise (i, rate_hz);
}

/* In a pause all goes at once, and the words are left alone. */
static void
test_silence_is_free (void **state)
{
  (void) state;
  for (int64_t n = -2400; n <= 960; n += 3360) {
    Run *run = run_new_default (48000, word);

    push_for (run, 1100 * MS);
    adjust (run, n);
    assert_true (push_until_done (run) <= 140 * MS);
    push_for (run, 820 * MS);
    for (size_t i = 0; i < frames (run, 450 * MS); i++)
      assert_true (run->out[run->n_out - 1 - i]
          == word (run->n_in - 1 - i, 48000));
    run_free (run);
  }
}

static void
test_all_channels_are_cut_alike (void **state)
{
  FmxStretchParams params;
  Run *run;

  (void) state;
  fmx_stretch_params_default (&params, 16000, 3);
  params.hold = 20 * MS;
  run = run_new (&params, speech);
  for (int i = 0; i < 6; i++) {
    push_for (run, 200 * MS);
    adjust (run, i % 2 ? 320 : -500);
    push_until_done (run);
  }
  for (size_t i = 0; i < run->n_out; i++) {
    const float *f = run->out + 3 * i;

    assert_true (fabsf (f[1] + f[0] / 2.0f) < 1e-6f);
    assert_true (fabsf (f[2] + f[0] / 3.0f) < 1e-6f);
  }
  run_free (run);
}

/* Two minutes too many are not played in a hurry. */
static void
test_what_is_far_too_much_is_cut_out_at_once (void **state)
{
  Run *run = run_new_default (8000, tone);
  float *in;

  (void) state;
  push_for (run, 200 * MS);
  adjust (run, -8000 * 120);
  assert_true (push_until_done (run) < 124 * FMX_SECOND);
  assert_int_equal (fmx_stretch_stats (&run->stretch)->n_cuts, 1);
  assert_int_equal (run->n_out, (int64_t) run->n_in + run->adjusted);
  in = input_of (run, run->n_in);
  assert_true (largest_step (run->out, run->n_out)
      <= 1.05f * largest_step (in, run->n_in));
  free (in);
  run_free (run);
}

static void
test_drain_gives_all_and_keeps_the_debt (void **state)
{
  Run *run = run_new_default (48000, speech);
  float rest[9600];
  size_t held;
  int64_t debt;

  (void) state;
  push_for (run, 100 * MS);
  adjust (run, -2880);
  push (run, 960);
  held = fmx_stretch_held (&run->stretch);
  debt = fmx_stretch_debt (&run->stretch);
  assert_true (held > 0 && held < 9600 && debt < 0);
  assert_int_equal (fmx_stretch_drain (&run->stretch, rest), held);
  for (size_t i = 0; i < held; i++)
    assert_true (rest[held - 1 - i] == speech (run->n_in - 1 - i, 48000));
  assert_int_equal (fmx_stretch_held (&run->stretch), 0);
  assert_int_equal (fmx_stretch_debt (&run->stretch), debt);
  fmx_stretch_restart (&run->stretch, 5);
  assert_int_equal (fmx_stretch_debt (&run->stretch), 5);
  fmx_stretch_reset (&run->stretch);
  assert_int_equal (fmx_stretch_debt (&run->stretch), 0);
  run_free (run);
}

/* What passed it by is there to be repeated at once. */
static void
test_what_it_remembers_is_not_forgotten (void **state)
{
  static const float passed[480];
  Run *run = run_new_default (48000, silence);

  (void) state;
  fmx_stretch_remember (&run->stretch, passed, 480);
  adjust (run, 480);
  push (run, 960);
  assert_int_equal (fmx_stretch_debt (&run->stretch), 0);
  run_free (run);
}

/* Any packet sizes, any adjustments, at any time, also not-a-number */
static float
absurd (size_t i, uint32_t rate_hz)
{
  if (i % 7919 == 0)
    return NAN;
  return i % 5003 == 0 ? 1e30f : speech (i, rate_hz);
}

static void
test_nothing_upsets_it (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 5);
  for (int trial = 0; trial < 15; trial++) {
    FmxStretchParams params;
    Run *run;

    fmx_stretch_params_default (&params, trial % 3 ? 8000 : 44100,
        1 + (uint32_t) trial % 2);
    params.hold = (trial % 5) * 10 * MS;
    run = run_new (&params, absurd);
    for (int i = 0; i < 200; i++) {
      int64_t most = (int64_t) frames (run, params.hold)
          - fmx_stretch_debt (&run->stretch);

      if (fmx_rng_next_unit (&rng) < 0.1)
        adjust (run, (int64_t) (fmx_rng_next_unit (&rng) * (double) most));
      if (fmx_rng_next_unit (&rng) < 0.1)
        adjust (run, -(int64_t) (pow (fmx_rng_next_unit (&rng), 4.0) * 1e5));
      push (run, (size_t) (pow (fmx_rng_next_unit (&rng), 3.0) * 3000.0));
    }
    push_until_done (run);
    run_free (run);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_without_a_debt_nothing_is_touched),
    cmocka_unit_test (test_every_debt_is_worked_off_to_the_frame),
    cmocka_unit_test (test_short_packets_are_enough),
    cmocka_unit_test (test_what_is_not_joined_leaves_to_the_bit),
    cmocka_unit_test (test_no_joint_is_a_click),
    cmocka_unit_test (test_the_pitch_stays),
    cmocka_unit_test (test_the_level_stays),
    cmocka_unit_test (test_joints_wait_for_a_good_place),
    cmocka_unit_test (test_silence_is_free),
    cmocka_unit_test (test_all_channels_are_cut_alike),
    cmocka_unit_test (test_what_is_far_too_much_is_cut_out_at_once),
    cmocka_unit_test (test_drain_gives_all_and_keeps_the_debt),
    cmocka_unit_test (test_what_it_remembers_is_not_forgotten),
    cmocka_unit_test (test_nothing_upsets_it),
  };

  return cmocka_run_group_tests_name ("playout/stretch", tests, NULL, NULL);
}
