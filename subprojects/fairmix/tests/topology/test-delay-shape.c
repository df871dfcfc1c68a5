/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/topology/fmx-delay-shape.h"

#define T (350 * FMX_MSECOND)
#define STEP (20 * FMX_MSECOND)
#define N_INTERVALS 120
#define MOST 20                 /* samples in an interval */

/* All that was sent, to be computed with afterwards, in seconds. */
typedef struct
{
  double delay[N_INTERVALS][MOST];
  int n[N_INTERVALS];
  int lost[N_INTERVALS];
} Record;

/* What [RFC8382 3.2, 4] says, from the whole record, in no hurry. */
typedef struct
{
  double mean[N_INTERVALS], long_mean[N_INTERVALS];
  double deviation[N_INTERVALS];
  double skew[N_INTERVALS];
  int n_shape[N_INTERVALS];
  bool congested[N_INTERVALS], crossing[N_INTERVALS];
  double skewness, variability, frequency, loss;
} Expected;

static double
weighted (const double *value, int now)
{
  double sum = 0;

  for (int age = 0; age < 30 && age <= now; age++)
    sum += (age < 20 ? 11 : 30 - age) * value[now - age];
  return sum;
}

static void
expect_means (Expected *e, const Record *r, int now)
{
  double sum = 0, n = 0, lost = 0, all = 0;

  for (int i = 0; i < r->n[now]; i++)
    sum += r->delay[now][i];
  e->mean[now] = sum / r->n[now];
  for (int i = 0; now > 0 && i < r->n[now]; i++) {
    double d = r->delay[now][i];

    e->skew[now] += (d < e->long_mean[now - 1]) - (d > e->long_mean[now - 1]);
    e->deviation[now] += fabs (d - e->mean[now - 1]);
    e->n_shape[now]++;
  }
  sum = 0;
  for (int i = now; i >= 0 && i > now - 30; i--, n++)
    sum += e->mean[i];
  e->long_mean[now] = sum / n;
  for (int i = now; i >= 0 && i > now - 50; i--) {
    lost += r->lost[i];
    all += r->lost[i] + r->n[i];
  }
  e->loss = lost / all;
}

static void
expect_interval (Expected *e, const Record *r, int now, int *side)
{
  double counts[N_INTERVALS] = { 0 }, valid[N_INTERVALS] = { 0 };
  double deviations[N_INTERVALS] = { 0 };
  int where;

  expect_means (e, r, now);
  for (int i = 0; i <= now; i++)
    counts[i] = e->n_shape[i];
  e->skewness = now > 0 ? weighted (e->skew, now) / weighted (counts, now) : 1;
  e->congested[now] = e->skewness < 0.1 || e->loss > 0.1
      || (now > 0 && e->congested[now - 1] && e->skewness < 0.3);
  for (int i = 0; i <= now; i++) {
    valid[i] = e->congested[i] ? e->n_shape[i] : 0;
    deviations[i] = e->congested[i] ? e->deviation[i] : 0;
  }
  e->variability = weighted (valid, now) > 0 ?
      weighted (deviations, now) / weighted (valid, now) : 0;
  where = e->mean[now] > e->long_mean[now] + 0.7 * e->variability ? 1 :
      e->mean[now] < e->long_mean[now] - 0.7 * e->variability ? -1 : 0;
  if (e->congested[now]) {
    e->crossing[now] = where * *side < 0;
    *side = where != 0 ? where : *side;
  }
  e->frequency = 0;
  for (int i = now; i >= 0 && i > now - 50; i--)
    e->frequency += e->crossing[i] / 50.0;
}

/* A queue that rises and falls, with noise, on clocks that do not agree. */
static void
test_the_statistics_are_those_of_the_whole_record (void **state)
{
  (void) state;
  for (uint64_t seed = 0; seed < 8; seed++) {
    static Record record;
    static Expected expected;
    FmxDelayShapeParams params;
    FmxDelayShapeStats stats;
    FmxDelayShape shape;
    FmxRng rng;
    int side = 0, done = 0, n_congested = 0;

    memset (&record, 0, sizeof record);
    memset (&expected, 0, sizeof expected);
    fmx_rng_init (&rng, seed);
    fmx_delay_shape_params_default (&params);
    fmx_delay_shape_init (&shape, &params);
    for (FmxTime t = 0; t < (FmxTime) (N_INTERVALS * T); t += STEP) {
      int now = (int) (t / T);
      double queue_ms = 40 * pow (fabs (sin ((double) t / 1e9
                  * (1.0 + (double) seed))), 0.4 + 0.2 * (double) seed);
      FmxDuration delay = 7000 * FMX_SECOND
          + (FmxDuration) ((queue_ms + 5 * fmx_rng_next_unit (&rng)) * 1e6);

      if (now > done) {
        expect_interval (&expected, &record, done++, &side);
        fmx_delay_shape_add (&shape, delay, t);
        fmx_delay_shape_get_stats (&shape, &stats);
        assert_int_equal (stats.n_intervals, done);
        assert_float_equal (stats.skewness, expected.skewness, 1e-9);
        assert_float_equal (stats.variability_s, expected.variability, 1e-9);
        assert_float_equal (stats.frequency, expected.frequency, 1e-9);
        assert_float_equal (stats.loss, expected.loss, 1e-9);
        assert_int_equal (stats.congested, expected.congested[done - 1]);
        n_congested += stats.congested;
      } else if (fmx_rng_next (&rng) % 10 == 0) {
        fmx_delay_shape_add_lost (&shape, t);
        record.lost[now] += t > 0;
        continue;
      } else {
        fmx_delay_shape_add (&shape, delay, t);
      }
      record.delay[now][record.n[now]++] = (double) delay / 1e9 - 7000;
    }
    assert_true (n_congested > 10);     /* else half of this was not tried */
  }
}

/* [RFC8382 3.2.2] a queue that is mostly empty: most are below the mean */
static void
test_a_path_that_is_mostly_empty_is_not_congested (void **state)
{
  FmxDelayShapeParams params;
  FmxDelayShapeStats stats;
  FmxDelayShape shape;
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 1);
  fmx_delay_shape_params_default (&params);
  for (int full = 0; full < 2; full++) {
    fmx_delay_shape_init (&shape, &params);
    for (FmxTime t = 0; t < (FmxTime) (80 * T); t += STEP) {
      bool peak = fmx_rng_next (&rng) % 10 == 0;

      fmx_delay_shape_add (&shape, (peak != full) ? 60 * FMX_MSECOND :
          10 * FMX_MSECOND, t);
    }
    fmx_delay_shape_get_stats (&shape, &stats);
    assert_int_equal (stats.congested, full);
    assert_true (full ? stats.skewness < -0.5 : stats.skewness > 0.5);
  }
}

static void
test_much_loss_is_congestion_whatever_the_delays (void **state)
{
  FmxDelayShapeParams params;
  FmxDelayShapeStats stats;
  FmxDelayShape shape;
  int n = 0;

  (void) state;
  fmx_delay_shape_params_default (&params);
  params.c_s = params.c_h = -1.0;
  fmx_delay_shape_init (&shape, &params);
  fmx_delay_shape_add_lost (&shape, 0); /* before anything arrived: no path yet */
  for (FmxTime t = 0; t < (FmxTime) (80 * T); t += STEP, n++)
    if (n % 5 == 4)
      fmx_delay_shape_add_lost (&shape, t);
    else
      fmx_delay_shape_add (&shape, 10 * FMX_MSECOND, t);
  fmx_delay_shape_get_stats (&shape, &stats);
  assert_float_equal (stats.loss, 0.2, 0.01);
  assert_true (stats.congested);
}

static void
test_a_clock_that_is_set_and_a_long_pause_begin_anew (void **state)
{
  FmxDelayShapeParams params;
  FmxDelayShapeStats stats;
  FmxDelayShape shape;
  FmxTime t = 1000 * (FmxTime) FMX_SECOND;

  (void) state;
  fmx_delay_shape_params_default (&params);
  fmx_delay_shape_init (&shape, &params);
  for (int round = 0; round < 3; round++) {
    FmxDuration delay = round == 1 ? -65536 * FMX_SECOND : 0;

    for (int i = 0; i < 1000; i++, t += STEP)
      fmx_delay_shape_add (&shape, delay, t);
    fmx_delay_shape_get_stats (&shape, &stats);
    assert_in_range (stats.n_intervals, 56, 57);
    assert_true (stats.has_mean && stats.mean_s == 0.0);
    if (round == 1)
      t += 30 * (FmxTime) FMX_SECOND;
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_statistics_are_those_of_the_whole_record),
    cmocka_unit_test (test_a_path_that_is_mostly_empty_is_not_congested),
    cmocka_unit_test (test_much_loss_is_congestion_whatever_the_delays),
    cmocka_unit_test (test_a_clock_that_is_set_and_a_long_pause_begin_anew),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
