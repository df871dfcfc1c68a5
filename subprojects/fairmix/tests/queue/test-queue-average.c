/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/queue/fmx-queue-average.h"

#define MS FMX_MSECOND

/* [Floyd93 4]: w 1/4, packet time 2 ms.  By hand:
 *   2 / 4 = 0.5; 0.5 + (4 - 0.5) / 4 = 1.375;
 *   two packet times of nothing: 1.375 * 0.75^2 = 0.7734375 */
static void
test_samples_are_weighted_and_idle_time_decays (void **state)
{
  const FmxQueueAverageParams params = { 0.25, 2 * MS };
  FmxQueueAverage average;

  (void) state;
  fmx_queue_average_init (&average);
  fmx_queue_average_on_arrival (&average, &params, 0, 0);
  assert_true (fmx_queue_average_get (&average) == 0.0);
  fmx_queue_average_on_arrival (&average, &params, 2, 1 * MS);
  assert_true (fmx_queue_average_get (&average) == 0.5);
  fmx_queue_average_on_arrival (&average, &params, 4, 2 * MS);
  assert_true (fmx_queue_average_get (&average) == 1.375);
  fmx_queue_average_on_empty (&average, 10 * MS);
  fmx_queue_average_on_arrival (&average, &params, 0, 14 * MS);
  assert_true (fabs (fmx_queue_average_get (&average) - 0.7734375) < 1e-12);
}

/* Two arrivals that the queue refused, 4 ms after it ran empty and 2 ms later,
 * count the idle time once: 6 ms, three packet times. */
static void
test_idle_time_is_counted_once (void **state)
{
  const FmxQueueAverageParams params = { 0.5, 2 * MS };
  FmxQueueAverage average;

  (void) state;
  fmx_queue_average_init (&average);
  fmx_queue_average_on_arrival (&average, &params, 16, 0);
  assert_true (fmx_queue_average_get (&average) == 8.0);
  fmx_queue_average_on_empty (&average, 10 * MS);
  fmx_queue_average_on_arrival (&average, &params, 0, 14 * MS);
  fmx_queue_average_on_arrival (&average, &params, 0, 16 * MS);
  assert_true (fabs (fmx_queue_average_get (&average) - 1.0) < 1e-12);
}

static void
test_without_a_packet_time_nothing_is_a_sample (void **state)
{
  const FmxQueueAverageParams params = { 0.5, 0 };
  FmxQueueAverage average;

  (void) state;
  fmx_queue_average_init (&average);
  fmx_queue_average_on_arrival (&average, &params, 16, 0);
  fmx_queue_average_on_empty (&average, 1 * MS);
  fmx_queue_average_on_arrival (&average, &params, 0, 3600 * FMX_SECOND);
  assert_true (fmx_queue_average_get (&average) == 4.0);
}

/* The recursion against its closed form, sum of w (1 - w)^age n */
static void
test_it_agrees_with_the_sum_over_all_samples (void **state)
{
  const FmxQueueAverageParams params = { 0.02, 0 };
  static uint32_t samples[3000];
  FmxQueueAverage average;
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 11);
  fmx_queue_average_init (&average);
  for (size_t i = 0; i < N_ELEMENTS (samples); i++) {
    double sum = 0.0;

    samples[i] = fmx_rng_next (&rng) % 100;
    fmx_queue_average_on_arrival (&average, &params, samples[i], i);
    if (i % 100 != 0)
      continue;
    for (size_t k = 0; k <= i; k++)
      sum += 0.02 * pow (0.98, (double) (i - k)) * samples[k];
    assert_true (fabs (fmx_queue_average_get (&average) - sum) < 1e-9);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_samples_are_weighted_and_idle_time_decays),
    cmocka_unit_test (test_idle_time_is_counted_once),
    cmocka_unit_test (test_without_a_packet_time_nothing_is_a_sample),
    cmocka_unit_test (test_it_agrees_with_the_sum_over_all_samples),
  };

  return cmocka_run_group_tests_name ("queue/queue-average", tests, NULL, NULL);
}
