/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/als/fmx-als-join.h"
#include "fairmix/base/fmx-rng.h"

#define RATE 48000u
#define FRAME 960u
#define MS FMX_MSECOND

/* Two layers through jitter of 10 ms each, a day long, timestamps that wrap twice:
 * both are on one grid, to the nanosecond. */
static void
test_layers_meet_whatever_the_network_does_to_them (void **state)
{
  const uint32_t first = UINT32_MAX - 5 * RATE;
  const FmxTime begin = 77 * (FmxTime) FMX_SECOND + 123456789;
  FmxAlsJoin join;
  FmxTime anchor = 0;
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 1);
  fmx_als_join_init (&join, RATE);
  for (uint64_t i = 0; i < 50 * 86400; i++) {
    uint32_t timestamp = first + (uint32_t) i * FRAME;
    FmxTime ideal = begin + i * 20 * MS;
    FmxTime base = fmx_als_join_on_base (&join, timestamp,
        ideal + fmx_rng_next (&rng) % (10 * MS));
    FmxTime layer;

    if (i == 0)
      anchor = base;
    assert_true (base == anchor + i * 20 * MS);
    assert_true (fmx_als_join_get_time (&join, timestamp - 3 * FRAME, &layer));
    assert_true (layer == base - 60 * MS);
    assert_true (fmx_als_join_get_time (&join, timestamp + 1, &layer));
    assert_true (layer == base + FMX_SECOND / RATE);
  }
  assert_int_equal (fmx_als_join_get_n_anchors (&join), 1);
}

/* 100 ppm: 40 ms after 400 s.  All layers move together. */
static void
test_a_clock_that_drifts_moves_all_layers_at_once (void **state)
{
  FmxAlsJoin join;

  (void) state;
  fmx_als_join_init (&join, RATE);
  for (uint64_t i = 0; i < 50 * 1000; i++) {
    uint32_t timestamp = (uint32_t) i * FRAME;
    FmxTime true_time = FMX_SECOND + i * 20 * MS + i * 2000;
    FmxTime base = fmx_als_join_on_base (&join, timestamp, true_time), layer;

    assert_true (fmx_time_diff (base, true_time) <= 40 * MS);
    assert_true (fmx_time_diff (true_time, base) <= 40 * MS);
    assert_true (fmx_als_join_get_time (&join, timestamp, &layer));
    assert_true (layer == base);
  }
  assert_int_equal (fmx_als_join_get_n_anchors (&join), 1 + 1000 / 400);
}

/* Another stream's timestamps, or those of a base that has been silent for half a day */
static void
test_a_layer_of_another_stream_has_no_time (void **state)
{
  const FmxTime now = 100000 * (FmxTime) FMX_SECOND;
  FmxAlsJoin join;
  FmxTime time;

  (void) state;
  fmx_als_join_init (&join, RATE);
  fmx_als_join_on_base (&join, 0, now);
  assert_true (fmx_als_join_on_layer (&join, 10 * RATE, now, &time));
  assert_true (time == now + 10 * (FmxTime) FMX_SECOND);
  assert_false (fmx_als_join_on_layer (&join, 10 * RATE + 1, now, &time));
  assert_true (fmx_als_join_on_layer (&join, 0u - 10 * RATE, now, &time));
  assert_false (fmx_als_join_on_layer (&join, 0u - 10 * RATE - 1, now, &time));
  assert_true (fmx_als_join_on_layer (&join, INT32_MAX, FMX_TIME_NONE, &time));
}

static void
test_without_a_base_a_layer_has_no_time (void **state)
{
  FmxAlsJoin join;
  FmxTime time;

  (void) state;
  fmx_als_join_init (&join, RATE);
  assert_false (fmx_als_join_get_time (&join, 1, &time));
  assert_true (fmx_als_join_on_base (&join, RATE, 5 * MS) == 5 * MS);
  assert_true (fmx_als_join_get_time (&join, RATE - 240, &time));
  assert_true (time == 0);
  /* before time began */
  assert_false (fmx_als_join_get_time (&join, RATE - 241, &time));
  fmx_als_join_restart (&join);
  assert_false (fmx_als_join_get_time (&join, RATE, &time));
  assert_true (fmx_als_join_on_base (&join, 7, 9 * MS) == 9 * MS);
}

static void
test_the_highest_that_is_heard_is_played (void **state)
{
  FmxAlsJoin join;

  (void) state;
  fmx_als_join_init (&join, 0);
  assert_int_equal (fmx_als_join_get_top (&join, 0), 0);
  fmx_als_join_heard (&join, 0, 100 * MS);
  assert_int_equal (fmx_als_join_get_top (&join, 100 * MS), 0);
  fmx_als_join_heard (&join, 2, 100 * MS);
  fmx_als_join_heard (&join, 1, 200 * MS);
  assert_int_equal (fmx_als_join_get_top (&join, 200 * MS), 2);
  assert_int_equal (fmx_als_join_get_top (&join, 400 * MS - 1), 2);
  assert_int_equal (fmx_als_join_get_top (&join, 400 * MS), 1);
  assert_int_equal (fmx_als_join_get_top (&join, 500 * MS), 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_layers_meet_whatever_the_network_does_to_them),
    cmocka_unit_test (test_a_clock_that_drifts_moves_all_layers_at_once),
    cmocka_unit_test (test_a_layer_of_another_stream_has_no_time),
    cmocka_unit_test (test_without_a_base_a_layer_has_no_time),
    cmocka_unit_test (test_the_highest_that_is_heard_is_played),
  };

  return cmocka_run_group_tests_name ("als/join", tests, NULL, NULL);
}
