/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/loss/fmx-loss-intervals.h"

#define MS FMX_MSECOND
#define PACKET_INTERVAL (10 * MS)

static FmxLossIntervals
make (bool short_intervals, bool discounting)
{
  FmxLossIntervalsParams params = { short_intervals, discounting };
  FmxLossIntervals intervals;

  fmx_loss_intervals_init (&intervals, &params);
  return intervals;
}

/* Packet @number of a stream of 100 packets/s. */
static FmxLossRecord
at (uint64_t number)
{
  FmxLossRecord record = { number, number * PACKET_INTERVAL };

  return record;
}

static bool
lose (FmxLossIntervals *intervals, uint64_t number)
{
  return fmx_loss_intervals_on_lost (intervals, at (number), 100 * MS);
}

static void
reach (FmxLossIntervals *intervals, uint64_t number)
{
  fmx_loss_intervals_on_packet (intervals, at (number));
}

#define assert_close(a, b) assert_true (fabs ((a) - (b)) < 1e-9 * fabs (b))

static void
test_no_loss_is_rate_zero (void **state)
{
  FmxLossIntervals intervals = make (true, true);

  (void) state;
  assert_true (fmx_loss_intervals_rate (&intervals) == 0.0);
  reach (&intervals, 100000);
  assert_true (fmx_loss_intervals_rate (&intervals) == 0.0);
}

/* [RFC5348 5.2] T_old + R >= T_new: ten packets are one RTT here. */
static void
test_losses_within_one_rtt_are_one_event (void **state)
{
  FmxLossIntervals intervals = make (false, false);

  (void) state;
  assert_true (lose (&intervals, 1000));
  assert_false (lose (&intervals, 1001));
  assert_false (lose (&intervals, 1010));       /* just within */
  assert_true (lose (&intervals, 1011));
  assert_false (lose (&intervals, 1021));       /* counts from 1011 */
  assert_true (lose (&intervals, 1022));
  assert_int_equal (fmx_loss_intervals_n_events (&intervals), 3);
}

/* [RFC5348 5.4] By hand: I_1 ... I_8 = 10, 20, ... 80. */
static void
test_weighted_average_of_eight_intervals (void **state)
{
  FmxLossIntervals intervals = make (false, false);
  uint64_t number = 0;
  double i_tot1 = 10 + 20 + 30 + 40 + 0.8 * 50 + 0.6 * 60 + 0.4 * 70
      + 0.2 * 80;

  (void) state;
  lose (&intervals, number);
  for (unsigned length = 120; length >= 10; length -= 10)
    fmx_loss_intervals_on_lost (&intervals, at (number += length), 0);
  assert_close (fmx_loss_intervals_rate (&intervals), 6.0 / i_tot1);
  /* the open interval counts only as it makes the mean longer */
  reach (&intervals, number + 20);
  assert_close (fmx_loss_intervals_rate (&intervals), 6.0 / i_tot1);
  reach (&intervals, number + 99);
  assert_close (fmx_loss_intervals_rate (&intervals), 6.0 / (100 + 10 + 20
          + 30 + 0.8 * 40 + 0.6 * 50 + 0.4 * 60 + 0.2 * 70));
}

static void
test_first_interval_is_the_synthetic_one (void **state)
{
  FmxLossIntervals intervals = make (false, true);

  (void) state;
  assert_true (lose (&intervals, 123456));
  fmx_loss_intervals_set_first (&intervals, 50.0);
  assert_close (fmx_loss_intervals_rate (&intervals), 1.0 / 50.0);
  lose (&intervals, 123456 + 90);
  assert_close (fmx_loss_intervals_rate (&intervals), 2.0 / 140.0);
}

/* [RFC5348 5.5] By hand: I_1 = I_2 = 100, I_0 = 400: DF = 200 / 400. */
static void
test_a_long_open_interval_discounts_the_old_ones (void **state)
{
  FmxLossIntervals intervals = make (false, true);

  (void) state;
  lose (&intervals, 0);
  fmx_loss_intervals_set_first (&intervals, 100.0);
  lose (&intervals, 100);
  reach (&intervals, 100 + 399);
  assert_close (fmx_loss_intervals_rate (&intervals),
      (1 + 0.5 + 0.5) / (400 + 0.5 * 100 + 0.5 * 100));
  /* THRESHOLD: DF stays at 0.25 */
  reach (&intervals, 100 + 9999);
  assert_close (fmx_loss_intervals_rate (&intervals),
      (1 + 0.25 + 0.25) / (10000 + 0.25 * 100 + 0.25 * 100));
  /* the next event stores it: DF_2 = DF_3 = 0.25, DF_1 = 1 */
  lose (&intervals, 100 + 10000);
  assert_close (fmx_loss_intervals_rate (&intervals),
      (1 + 0.25 + 0.25) / (10000 + 0.25 * 100 + 0.25 * 100));
  /* and it goes on counting after one more */
  lose (&intervals, 100 + 20000);
  assert_close (fmx_loss_intervals_rate (&intervals),
      (2 + 0.25 + 0.25) / (20000 + 0.25 * 100 + 0.25 * 100));
}

static void
test_discounting_can_be_off (void **state)
{
  FmxLossIntervals intervals = make (false, false);

  (void) state;
  lose (&intervals, 0);
  fmx_loss_intervals_set_first (&intervals, 100.0);
  reach (&intervals, 9999);
  assert_close (fmx_loss_intervals_rate (&intervals), 2.0 / 10100);
}

/* [RFC4828 3] R = 10 packets: the interval of 15 packets with 5 losses counts
 * 15 / 5, that of 21 packets (over two RTTs) counts 21. */
static void
test_short_intervals_count_every_loss (void **state)
{
  FmxLossIntervals intervals = make (true, false);

  (void) state;
  lose (&intervals, 0);
  fmx_loss_intervals_set_first (&intervals, 40.0);
  for (uint64_t i = 1; i < 5; i++)
    lose (&intervals, i);
  lose (&intervals, 15);
  assert_close (fmx_loss_intervals_rate (&intervals), 2.0 / (3 + 40));
  for (uint64_t i = 16; i < 20; i++)
    lose (&intervals, i);
  lose (&intervals, 15 + 21);
  assert_close (fmx_loss_intervals_rate (&intervals), 3.0 / (21 + 3 + 40));
}

/* [RFC4828 3] "only if more than two round-trip times have passed since the
 * beginning of that loss interval"; the newest event, not the first one. */
static void
test_a_short_open_interval_does_not_count (void **state)
{
  FmxLossIntervals intervals = make (true, false);

  (void) state;
  for (uint64_t i = 0; i <= 8; i++)
    lose (&intervals, i * 11);
  assert_close (fmx_loss_intervals_rate (&intervals), 1.0 / 11);
  reach (&intervals, 88 + 20);  /* two RTTs: still short */
  assert_close (fmx_loss_intervals_rate (&intervals), 1.0 / 11);
  reach (&intervals, 88 + 21);
  assert_close (fmx_loss_intervals_rate (&intervals), 6.0 / (22 + 5 * 11));
}

static void
test_total_loss_gives_rate_one (void **state)
{
  FmxLossIntervals intervals = make (true, true);

  (void) state;
  for (uint64_t i = 0; i < 1000; i++)
    if (lose (&intervals, i) && i == 0)
      fmx_loss_intervals_set_first (&intervals, 200.0);
  assert_close (fmx_loss_intervals_rate (&intervals), 1.0);
}

static void
test_taking_back_the_only_loss_leaves_no_trace (void **state)
{
  FmxLossIntervals intervals = make (true, true);

  (void) state;
  lose (&intervals, 500);
  fmx_loss_intervals_set_first (&intervals, 30.0);
  assert_true (fmx_loss_intervals_take_back (&intervals, at (500), NULL));
  assert_true (fmx_loss_intervals_rate (&intervals) == 0.0);
  assert_int_equal (fmx_loss_intervals_n_events (&intervals), 0);
  lose (&intervals, 600);
  fmx_loss_intervals_set_first (&intervals, 30.0);
  assert_close (fmx_loss_intervals_rate (&intervals), 1 / 30.0);
}

static void
test_taking_back_an_event_joins_its_neighbours (void **state)
{
  FmxLossIntervals intervals = make (false, true), without;

  (void) state;
  without = make (false, true);
  for (uint64_t i = 0; i <= 12; i++) {
    lose (&intervals, i * 100);
    if (i != 10)
      lose (&without, i * 100);
  }
  assert_true (fmx_loss_intervals_take_back (&intervals, at (1000), NULL));
  assert_close (fmx_loss_intervals_rate (&intervals),
      fmx_loss_intervals_rate (&without));
}

static void
test_an_event_begins_later_when_its_first_loss_is_taken_back (void **state)
{
  FmxLossIntervals intervals = make (false, true);
  FmxLossRecord next = at (107);

  (void) state;
  lose (&intervals, 0);
  fmx_loss_intervals_set_first (&intervals, 100.0);
  lose (&intervals, 100);
  lose (&intervals, 107);
  assert_int_equal (fmx_loss_intervals_event_end (&intervals, at (100)),
      110 * PACKET_INTERVAL);
  assert_false (fmx_loss_intervals_take_back (&intervals, at (100), &next));
  assert_close (fmx_loss_intervals_rate (&intervals), 2.0 / (107 + 100));
  assert_true (fmx_loss_intervals_take_back (&intervals, at (107), NULL));
  assert_int_equal (fmx_loss_intervals_n_events (&intervals), 1);
}

static void
test_a_loss_found_late_takes_its_place (void **state)
{
  FmxLossIntervals intervals = make (true, false), in_order;
  static const uint64_t late_order[] = { 0, 300, 295, 305, 150, 151 };
  static const uint64_t send_order[] = { 0, 150, 151, 295, 300, 305 };

  (void) state;
  in_order = make (true, false);
  for (size_t i = 0; i < N_ELEMENTS (late_order); i++) {
    lose (&intervals, late_order[i]);
    lose (&in_order, send_order[i]);
  }
  reach (&intervals, 400);
  reach (&in_order, 400);
  assert_int_equal (fmx_loss_intervals_n_events (&intervals), 3);
  assert_close (fmx_loss_intervals_rate (&intervals),
      fmx_loss_intervals_rate (&in_order));
}

static void
test_rebase_renumbers_without_changing_the_rate (void **state)
{
  FmxLossIntervals intervals = make (true, true);
  double before;

  (void) state;
  for (uint64_t i = 0; i < 10; i++)
    lose (&intervals, i * 50 + i * i);
  before = fmx_loss_intervals_rate (&intervals);
  fmx_loss_intervals_rebase (&intervals, 1000000);
  assert_close (fmx_loss_intervals_rate (&intervals), before);
  lose (&intervals, 1000000 + 631);
  assert_true (fmx_loss_intervals_rate (&intervals) < before);
}

/* The rate of a Bernoulli process: n packets of R each are skipped after an
 * event, so the mean interval is R + 1 / f. */
static void
test_random_loss_is_measured_without_bias (void **state)
{
  static const double fractions[] = { 0.002, 0.01, 0.03 };

  (void) state;
  for (size_t f = 0; f < N_ELEMENTS (fractions); f++) {
    FmxLossIntervals intervals = make (false, false);
    double sum = 0.0, expected = 10.0 + 1.0 / fractions[f];
    unsigned n = 0;
    FmxRng rng;

    fmx_rng_init (&rng, f);
    for (uint64_t i = 0; i < 2000000; i++) {
      bool lost = fmx_rng_next_unit (&rng) < fractions[f];

      reach (&intervals, i);
      if (lost && lose (&intervals, i) && i > 20000) {
        sum += 1.0 / fmx_loss_intervals_rate (&intervals);
        n++;
      }
    }
    assert_true (fabs (sum / n - expected) < 0.03 * expected);
  }
}

static void
test_any_order_of_events_keeps_the_rate_a_rate (void **state)
{
  (void) state;
  for (uint64_t seed = 0; seed < 40; seed++) {
    FmxLossIntervals intervals = make (seed & 1, seed & 2);
    uint64_t lost[64], number = 0;
    unsigned n = 0;
    FmxRng rng;

    fmx_rng_init (&rng, seed);
    for (unsigned i = 0; i < 5000; i++) {
      uint32_t what = fmx_rng_next (&rng) % 4;
      double p;

      number += fmx_rng_next (&rng) % 40;
      if (what == 0) {
        reach (&intervals, number);
      } else if (what < 3) {
        uint64_t back = fmx_rng_next (&rng) % 100;

        lost[n++ % 64] = number > back && what == 1 ? number - back : number;
        if (fmx_loss_intervals_on_lost (&intervals, at (lost[(n - 1) % 64]),
                (FmxDuration) (fmx_rng_next (&rng) % (400 * MS)))
            && fmx_loss_intervals_n_events (&intervals) == 1)
          fmx_loss_intervals_set_first (&intervals, 20.0);
      } else if (n > 0) {
        FmxLossRecord next = at (number);
        uint64_t which = lost[fmx_rng_next (&rng) % (n < 64 ? n : 64)];

        fmx_loss_intervals_take_back (&intervals, at (which),
            fmx_rng_next (&rng) & 1 && number > which ? &next : NULL);
      }
      p = fmx_loss_intervals_rate (&intervals);
      assert_true (p >= 0.0 && p <= 1.0);
      assert_true ((p > 0.0) == (fmx_loss_intervals_n_events (&intervals)
              > 0));
      assert_in_range (fmx_loss_intervals_n_events (&intervals), 0,
          FMX_LOSS_INTERVALS_EVENTS);
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_no_loss_is_rate_zero),
    cmocka_unit_test (test_losses_within_one_rtt_are_one_event),
    cmocka_unit_test (test_weighted_average_of_eight_intervals),
    cmocka_unit_test (test_first_interval_is_the_synthetic_one),
    cmocka_unit_test (test_a_long_open_interval_discounts_the_old_ones),
    cmocka_unit_test (test_discounting_can_be_off),
    cmocka_unit_test (test_short_intervals_count_every_loss),
    cmocka_unit_test (test_a_short_open_interval_does_not_count),
    cmocka_unit_test (test_total_loss_gives_rate_one),
    cmocka_unit_test (test_taking_back_the_only_loss_leaves_no_trace),
    cmocka_unit_test (test_taking_back_an_event_joins_its_neighbours),
    cmocka_unit_test (test_an_event_begins_later_when_its_first_loss_is_taken_back),
    cmocka_unit_test (test_a_loss_found_late_takes_its_place),
    cmocka_unit_test (test_rebase_renumbers_without_changing_the_rate),
    cmocka_unit_test (test_random_loss_is_measured_without_bias),
    cmocka_unit_test (test_any_order_of_events_keeps_the_rate_a_rate),
  };

  return cmocka_run_group_tests_name ("loss/loss-intervals", tests, NULL,
      NULL);
}
