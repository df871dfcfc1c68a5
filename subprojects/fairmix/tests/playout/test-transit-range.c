/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/base/fmx-rng.h"
#include "fairmix/playout/fmx-transit-range.h"

#define N_TRANSITS 4000
#define INTERVAL (20 * FMX_MSECOND)

/* Against the windows themselves, looked through anew for each packet */
static void
test_the_extremes_are_those_of_this_window_and_the_last (void **state)
{
  static FmxDuration transits[N_TRANSITS];
  const size_t window = FMX_TRANSIT_RANGE_WINDOW / INTERVAL;
  FmxTransitRange range;
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 1);
  for (size_t i = 0; i < N_TRANSITS; i++) {
    FmxTime now = i * (FmxTime) INTERVAL;
    size_t first = i < window ? 0 : (i / window - 1) * window;
    FmxDuration least = INT64_MAX, greatest = INT64_MIN;

    transits[i] = (FmxDuration) (1e9 * fmx_rng_next_unit (&rng));
    if (i == 0)
      fmx_transit_range_start (&range, transits[0], transits[0], now);
    else
      fmx_transit_range_add (&range, transits[i], now);
    for (size_t k = first; k <= i; k++) {
      least = transits[k] < least ? transits[k] : least;
      greatest = transits[k] > greatest ? transits[k] : greatest;
    }
    assert_int_equal (fmx_transit_range_least (&range), least);
    assert_int_equal (fmx_transit_range_greatest (&range), greatest);
  }
}

static void
test_a_start_may_know_of_faster_packets (void **state)
{
  FmxTransitRange range;

  (void) state;
  fmx_transit_range_start (&range, 100, 0, 0);
  assert_int_equal (fmx_transit_range_least (&range), 0);
  assert_int_equal (fmx_transit_range_greatest (&range), 100);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_extremes_are_those_of_this_window_and_the_last),
    cmocka_unit_test (test_a_start_may_know_of_faster_packets),
  };

  return cmocka_run_group_tests_name ("playout/transit-range", tests, NULL,
      NULL);
}
