/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>
#include <stdlib.h>

#include "fairmix/queue/fmx-red.h"

static const FmxRedParams gentle = { 5.0, 15.0, 0.1, true, true };
static const FmxRedParams harsh = { 5.0, 15.0, 0.1, false, false };

/* [Floyd93 4], [Floyd00]: straight lines from (5, 0) to (15, 0.1) to (30, 1) */
static void
test_probability_follows_two_straight_lines (void **state)
{
  static const struct
  {
    double average, gentle, harsh;
  } table[] = {
    {0.0, 0.0, 0.0},
    {4.999, 0.0, 0.0},
    {5.0, 0.0, 0.0},
    {6.0, 0.01, 0.01},
    {10.0, 0.05, 0.05},
    {14.9, 0.099, 0.099},
    {15.0, 0.1, 1.0},
    {20.0, 0.4, 1.0},
    {22.5, 0.55, 1.0},
    {30.0, 1.0, 1.0},
    {1000.0, 1.0, 1.0},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (table); i++) {
    double average = table[i].average;

    assert_true (fabs (fmx_red_probability (&gentle, average)
            - table[i].gentle) < 1e-12);
    assert_true (fabs (fmx_red_probability (&harsh, average)
            - table[i].harsh) < 1e-12);
  }
}

/* [Floyd93 7] with p_b = 1/20 gaps are uniform in 1 ... 19: mean 10, and each
 * of them within four standard deviations of its share */
static void
test_gaps_between_hits_are_uniform (void **state)
{
  int n_gaps[21] = { 0 }, gap = 0, n = 0;
  FmxRed red;
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 3);
  fmx_red_init (&red);
  while (fmx_red_on_arrival (&red, &harsh, 10.0, false, &rng)
      != FMX_QUEUE_DROP);
  while (n < 19000) {
    gap++;
    if (fmx_red_on_arrival (&red, &harsh, 10.0, false, &rng) == FMX_QUEUE_DROP) {
      assert_true (gap >= 1 && gap <= 20);
      n_gaps[gap]++;
      gap = 0;
      n++;
    }
  }
  assert_int_equal (n_gaps[20], 0);
  for (int i = 1; i < 20; i++)
    assert_true (abs (n_gaps[i] - 1000) < 4 * 32);
}

static void
test_below_the_minimum_all_pass_and_the_count_begins_anew (void **state)
{
  FmxRed red;
  FmxRng rng;
  int n_first = 0;

  (void) state;
  fmx_rng_init (&rng, 4);
  fmx_red_init (&red);
  /* each time the average comes back, the first packet is hit with p_b = 1/20
   * and no more, however many came since the last hit */
  for (int i = 0; i < 20000; i++) {
    assert_int_equal (fmx_red_on_arrival (&red, &gentle, 4.9, true, &rng),
        FMX_QUEUE_TAKE);
    n_first += fmx_red_on_arrival (&red, &gentle, 10.0, true, &rng)
        != FMX_QUEUE_TAKE;
  }
  assert_true (abs (n_first - 1000) < 4 * 31);
}

/* [RFC3168 7] */
static void
test_packets_that_can_be_marked_are_not_dropped_up_to_the_maximum (void **state)
{
  static const struct
  {
    double average;
    bool ecn, can_mark;
    FmxQueueVerdict hit;
  } table[] = {
    {10.0, true, true, FMX_QUEUE_MARK},
    {15.0, true, true, FMX_QUEUE_MARK},
    {15.1, true, true, FMX_QUEUE_DROP},
    {10.0, true, false, FMX_QUEUE_DROP},
    {10.0, false, true, FMX_QUEUE_DROP},
  };
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 5);
  for (size_t i = 0; i < N_ELEMENTS (table); i++) {
    FmxRedParams params = gentle;
    int n_hit = 0;
    FmxRed red;

    params.ecn = table[i].ecn;
    fmx_red_init (&red);
    for (int k = 0; k < 1000; k++) {
      FmxQueueVerdict verdict = fmx_red_on_arrival (&red, &params,
          table[i].average, table[i].can_mark, &rng);

      if (verdict != FMX_QUEUE_TAKE) {
        assert_int_equal (verdict, table[i].hit);
        n_hit++;
      }
    }
    assert_true (n_hit > 50);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_probability_follows_two_straight_lines),
    cmocka_unit_test (test_gaps_between_hits_are_uniform),
    cmocka_unit_test
        (test_below_the_minimum_all_pass_and_the_count_begins_anew),
    cmocka_unit_test
        (test_packets_that_can_be_marked_are_not_dropped_up_to_the_maximum),
  };

  return cmocka_run_group_tests_name ("queue/red", tests, NULL, NULL);
}
