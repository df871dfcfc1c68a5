/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-stretch.h"

static double
rms (const float *x, size_t n)
{
  double sum = 0.0;

  for (size_t i = 0; i < n; i++)
    sum += (double) x[i] * x[i];
  return sqrt (sum / (double) n);
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

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_what_is_not_joined_leaves_to_the_bit),
    cmocka_unit_test (test_no_joint_is_a_click),
    cmocka_unit_test (test_the_pitch_stays),
    cmocka_unit_test (test_the_level_stays),
    cmocka_unit_test (test_joints_wait_for_a_good_place),
    cmocka_unit_test (test_silence_is_free),
  };

  return cmocka_run_group_tests_name ("playout/stretch-sound", tests, NULL, NULL);
}
