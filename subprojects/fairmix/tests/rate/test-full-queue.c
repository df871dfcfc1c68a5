/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>

#include "fairmix/rate/fmx-full-queue.h"

#define MS FMX_MSECOND
#define S FMX_SECOND
#define MOST 1e9
#define SEGMENT_BITS 12000.0

static bool
is_near (double value, double expected)
{
  return fabs (value - expected) < 0.01 * expected;
}

/* X after many full queues, @epoch apart, while @receive_bps come through. */
static double
after_epochs_on (double path_bps, FmxDuration epoch, FmxDuration rtt,
    double receive_bps)
{
  FmxFullQueue full;
  FmxTime now = 0;

  fmx_full_queue_init (&full, 100000.0, rtt, now);
  for (unsigned i = 0; i < 100; i++) {
    now += (FmxTime) epoch;
    assert_true (fmx_full_queue_note (&full, receive_bps, now));
  }
  return fmx_full_queue_bps (&full, receive_bps, path_bps, now);
}

static double
after_epochs (FmxDuration epoch, FmxDuration rtt, double receive_bps)
{
  return after_epochs_on (0.0, epoch, rtt, receive_bps);
}

/* W/2 round trips between two losses, and one for repair: 3/4 W each R. */
static void
test_short_epochs_give_what_reno_takes (void **state)
{
  const double window = 12.0, rtt_s = 0.3;
  double x = after_epochs (fmx_time_from_s ((window / 2.0 + 1.0) * rtt_s),
      fmx_time_from_s (rtt_s), MOST);

  (void) state;
  assert_true (is_near (x, 0.75 * window * SEGMENT_BITS / rtt_s));
}

/* [RFC9438 4.2] K = cbrt (W (1 - 0.7) / 0.4) */
static void
test_long_ones_what_is_between_reno_and_cubic (void **state)
{
  const double rtt_s = 0.1, window = 300.0;
  double k_s = cbrt (window * 0.3 / 0.4);
  double reno = 1.5 * (k_s + rtt_s) / rtt_s * SEGMENT_BITS / rtt_s;
  double cubic = 0.925 * window * SEGMENT_BITS / rtt_s;

  (void) state;
  assert_true (reno < cubic / 2.0);
  for (double share = 0.25; share <= 1.0; share *= 2.0)
    assert_true (is_near (after_epochs (fmx_time_from_s (k_s + 2.0 * rtt_s),
                fmx_time_from_s (rtt_s), share * cubic),
            sqrt (reno * cubic)));
}

/* In 12 s a CUBIC's window comes to a thousand segments: nobody has that beside
 * twenty of ours. */
static void
test_who_would_have_too_much_as_a_cubic_is_a_reno (void **state)
{
  const double rtt_s = 0.9, segments = 20.0;
  double epoch_s = (segments / 1.5 + 1.0) * rtt_s;
  double x = segments * SEGMENT_BITS / rtt_s;

  (void) state;
  assert_true (is_near (after_epochs (fmx_time_from_s (epoch_s),
              fmx_time_from_s (rtt_s), x), x));
}

/* A window of 700 segments behind a queue of 0.9 s is a CUBIC's in 8 s; two of them fill
 * 17 Mbit/s, where there would be place for hundreds of Renos. */
static void
test_a_path_too_wide_for_renos_has_cubics (void **state)
{
  const double rtt_s = 0.9, window = 700.0;
  double cubic = 0.925 * window * SEGMENT_BITS / rtt_s;
  FmxDuration epoch = fmx_time_from_s (cbrt (window * 0.3 / 0.4) + 2.0 * rtt_s);

  (void) state;
  for (unsigned n = 2; n <= 5; n++)
    assert_true (is_near (after_epochs_on (n * cubic, epoch,
                fmx_time_from_s (rtt_s), cubic), cubic));
  /* of one beside us no more than a half */
  assert_true (is_near (after_epochs_on (cubic, epoch, fmx_time_from_s (rtt_s),
              cubic), 0.5 * cubic));
  /* and no less than if there were eight */
  assert_true (is_near (after_epochs_on (20.0 * cubic, epoch,
              fmx_time_from_s (rtt_s), cubic), 20.0 / 9.0 * cubic));
}

/* 40 s at 1 s: as a CUBIC it would have a hundred times the path.  A Reno that lost
 * something each time, or several that took turns */
static void
test_a_path_too_narrow_for_a_cubic_has_renos (void **state)
{
  const double reno = 1.5 * 39.0 * SEGMENT_BITS;

  (void) state;
  for (unsigned n = 2; n <= 16; n *= 2)
    assert_true (is_near (after_epochs_on (n * reno, 40 * S, S, n * reno),
            sqrt (fmax (reno, n * reno / 9.0) * n * reno / 2.0)));
  /* whoever fits nowhere is a Reno all the same: others bound that */
  assert_true (is_near (after_epochs_on (reno, 40 * S, S, reno), reno));
}

static void
test_begins_with_the_rate_that_is_given (void **state)
{
  static const double rates[] = { 50e3, 500e3, 50e6 };
  FmxFullQueue full;

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (rates); i++) {
    fmx_full_queue_init (&full, rates[i], 200 * MS, 0);
    assert_true (is_near (fmx_full_queue_bps (&full, MOST, 0.0, 0), rates[i]));
  }
}

static void
test_an_overflow_of_two_round_trips_is_one (void **state)
{
  FmxFullQueue full;

  (void) state;
  fmx_full_queue_init (&full, 100e3, 100 * MS, 0);
  assert_true (fmx_full_queue_note (&full, MOST, 300 * MS));
  assert_false (fmx_full_queue_note (&full, MOST, 400 * MS));
  assert_false (fmx_full_queue_note (&full, MOST, 499 * MS));
  assert_true (fmx_full_queue_note (&full, MOST, 500 * MS));
}

static void
test_a_long_time_without_raises_it_by_a_part (void **state)
{
  FmxFullQueue full;
  FmxTime now = 0;
  double x;

  (void) state;
  fmx_full_queue_init (&full, 100e3, 100 * MS, now);
  for (unsigned i = 0; i < 100; i++)
    fmx_full_queue_note (&full, MOST, now += S);
  x = fmx_full_queue_bps (&full, MOST, 0.0, now);
  /* a shorter time does not lower it */
  assert_true (fmx_full_queue_bps (&full, MOST, 0.0, now + S / 2) == x);
  /* T - R: from 0.9 s by an eighth of what is more */
  assert_true (is_near (fmx_full_queue_bps (&full, MOST, 0.0, now
              + 2 * (FmxTime) S), x * (0.9 + 1.0 / 8.0) / 0.9));
  /* but not as if it had been more than is possible */
  assert_true (fmx_full_queue_bps (&full, x / 1.5, 0.0, now
          + 1000 * (FmxTime) S) < 1.1 * x);
}

static void
test_the_epoch_under_way_at_the_beginning_counts_if_it_is_long (void **state)
{
  double x = 100e3;             /* a Reno's in 0.8 s */

  (void) state;
  for (unsigned is_long = 0; is_long < 2; is_long++) {
    FmxFullQueue full;
    FmxTime now = is_long ? 20 * (FmxTime) S : 700 * MS;
    double then;

    fmx_full_queue_init (&full, x, 300 * MS, 0);
    assert_true (fmx_full_queue_note (&full, x, now));
    then = fmx_full_queue_bps (&full, x, 0.0, now);
    /* as four times of what comes through at most */
    assert_true (is_near (then, is_long ? (1.0 + 4.0) / 2.0 * x : x));
  }
}

/* ... of 16 s, or of two epochs of 20 s */
static void
test_the_round_trip_is_a_mean_over_epochs (void **state)
{
  (void) state;
  for (unsigned is_long = 0; is_long < 2; is_long++) {
    FmxFullQueue full = { 0 };
    double time_s = is_long ? 40.0 : 16.0;
    FmxTime now = S;

    full.rtt_time = now;
    fmx_full_queue_add_rtt (&full, 100 * MS, now);
    assert_int_equal (fmx_full_queue_rtt (&full), 100 * MS);
    full.mean_s = is_long ? 20.0 : 1.0;
    for (; now < 11 * (FmxTime) S; now += 50 * MS)
      fmx_full_queue_add_rtt (&full, 200 * MS, now);
    assert_true (is_near (fmx_time_to_s (fmx_full_queue_rtt (&full)),
            0.2 - 0.1 * exp (-10.0 / time_s)));
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_short_epochs_give_what_reno_takes),
    cmocka_unit_test (test_long_ones_what_is_between_reno_and_cubic),
    cmocka_unit_test (test_who_would_have_too_much_as_a_cubic_is_a_reno),
    cmocka_unit_test (test_a_path_too_wide_for_renos_has_cubics),
    cmocka_unit_test (test_a_path_too_narrow_for_a_cubic_has_renos),
    cmocka_unit_test (test_begins_with_the_rate_that_is_given),
    cmocka_unit_test (test_an_overflow_of_two_round_trips_is_one),
    cmocka_unit_test (test_a_long_time_without_raises_it_by_a_part),
    cmocka_unit_test
        (test_the_epoch_under_way_at_the_beginning_counts_if_it_is_long),
    cmocka_unit_test (test_the_round_trip_is_a_mean_over_epochs),
  };

  return cmocka_run_group_tests_name ("rate/full-queue", tests, NULL, NULL);
}
