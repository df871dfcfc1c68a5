/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/playout/fmx-interarrival.h"

#define MS FMX_MSECOND

/* A source whose rate wanders between 10 and 60 Hz, with service times that
 * vary (a sum of exponentials): packets that came too late for their playout,
 * per second, and the mean wait. */
static double
stalls_per_s (const FmxInterarrivalParams *params, double *wait_ms)
{
  FmxInterarrival ia;
  FmxRng rng;
  FmxTime now = 5 * FMX_SECOND, due = 0;
  double period_ms = 30.0, wait = 0.0;
  int n_stalls = 0;
  const int n = 20000;

  fmx_rng_init (&rng, 11);
  fmx_interarrival_init (&ia, params);
  for (int i = 0; i < n; i++) {
    double gap = 0.0;
    FmxTime next;

    period_ms += 2.0 * (fmx_rng_next_unit (&rng) - 0.5);
    period_ms = fmin (100.0, fmax (17.0, period_ms));
    for (int k = 0; k < 4; k++)
      gap -= log (1.0 - fmx_rng_next_unit (&rng)) * period_ms / 4.0;
    now += (FmxTime) (gap * 1e6);
    next = fmx_interarrival_on_packet (&ia, now);
    assert_true (next >= now);
    assert_true (next >= due);
    n_stalls += i > 0 && next == now;
    due = next;
    wait += (double) (next - now) / 1e6 / n;
  }
  *wait_ms = wait;
  return n_stalls / fmx_time_to_s (fmx_time_diff (now, 5 * FMX_SECOND));
}

static void
test_a_periodic_source_keeps_its_period (void **state)
{
  FmxInterarrivalParams params;
  FmxInterarrival ia;
  FmxTime due = 0;

  (void) state;
  fmx_interarrival_params_default (&params);
  fmx_interarrival_init (&ia, &params);
  assert_int_equal (fmx_interarrival_mean (&ia), 0);
  for (int i = 0; i < 3000; i++)
    due = fmx_interarrival_on_packet (&ia, (FmxTime) (i * 40 * MS));
  assert_int_equal (fmx_interarrival_mean (&ia), 40 * MS);
  /* one packet is waiting when the next comes: two intervals to wait */
  assert_true (fabs ((double) (due - 2999 * 40 * MS) - 80.0 * MS) < 1.0 * MS);
}

static void
test_a_wandering_source_stalls_rarely_and_waits_little (void **state)
{
  FmxInterarrivalParams params;
  double wait_ms;

  (void) state;
  fmx_interarrival_params_default (&params);
  assert_true (stalls_per_s (&params, &wait_ms) < 0.6);
  assert_true (wait_ms < 120.0);
}

/* why the feedback is there */
static void
test_without_feedback_it_waits_longer_or_stalls_more (void **state)
{
  FmxInterarrivalParams params;
  double with_ms, without_ms, with, without;

  (void) state;
  fmx_interarrival_params_default (&params);
  with = stalls_per_s (&params, &with_ms);
  params.feedback = 0.0;
  without = stalls_per_s (&params, &without_ms);
  assert_true (without_ms > 1.5 * with_ms || without > 2.0 * with);
}

static void
test_a_pause_is_no_interarrival_time (void **state)
{
  FmxInterarrivalParams params;
  FmxInterarrival ia;
  FmxTime now = 0;

  (void) state;
  fmx_interarrival_params_default (&params);
  fmx_interarrival_init (&ia, &params);
  for (int i = 0; i < 100; i++, now += 40 * MS)
    fmx_interarrival_on_packet (&ia, now);
  now += 60 * FMX_SECOND;
  assert_int_equal (fmx_interarrival_on_packet (&ia, now), now);
  assert_int_equal (fmx_interarrival_mean (&ia), 40 * MS);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_periodic_source_keeps_its_period),
    cmocka_unit_test (test_a_wandering_source_stalls_rarely_and_waits_little),
    cmocka_unit_test (test_without_feedback_it_waits_longer_or_stalls_more),
    cmocka_unit_test (test_a_pause_is_no_interarrival_time),
  };

  return cmocka_run_group_tests_name ("playout/interarrival", tests, NULL,
      NULL);
}
