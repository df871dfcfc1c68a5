/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-stretch.h"

#include "fairmix/base/fmx-rng.h"

static FmxStretchStats
stretch_stats (const FmxStretch *object)
{
  FmxStretchStats stats;

  fmx_stretch_get_stats (object, &stats);
  return stats;
}

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
  assert_int_equal (stretch_stats (&run->stretch).n_cuts, 1);
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
    cmocka_unit_test (test_all_channels_are_cut_alike),
    cmocka_unit_test (test_what_is_far_too_much_is_cut_out_at_once),
    cmocka_unit_test (test_drain_gives_all_and_keeps_the_debt),
    cmocka_unit_test (test_what_it_remembers_is_not_forgotten),
    cmocka_unit_test (test_nothing_upsets_it),
  };

  return cmocka_run_group_tests_name ("playout/stretch", tests, NULL, NULL);
}
