/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-playout.h"

#include "fairmix/base/fmx-rng.h"

/* Packets [@from, @until) arrive as they were sent; returns the last decision. */
static FmxPlayoutDecision
arrive_steadily (Fixture *f, uint64_t from, uint64_t until)
{
  while (from < until - 1)
    arrive (f, from++, 0);
  return arrive (f, from, 0);
}

static void
test_absurd_time_stamps_start_again_and_never_stall (void **state)
{
  static const int64_t steps_s[] = { 3600, -3600, 6, -6, 100000000 };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (steps_s); i++) {
    Fixture f;
    FmxPlayoutDecision d;
    FmxTime now, end;

    fixture_init (&f);
    f.media += UINT64_C (1) << 60;
    d = arrive_steadily (&f, 0, 100);
    end = d.playout + PACKET;
    now = f.media + 100 * PACKET;
    f.media += (uint64_t) (steps_s[i] * FMX_SECOND);
    d = arrive (&f, 100, fmx_time_diff (now, f.media + 100 * PACKET));
    assert_int_equal (d.action, FMX_PLAYOUT_PLAY);
    assert_true (d.playout >= end && d.playout >= now);
    assert_true (d.playout <= now + FMX_SECOND);
    assert_int_equal (playout_stats (&f.playout).n_restarts, 1);
  }
}

/* 200 ppm either way: the delay neither grows nor does the stream starve */
static void
test_a_day_of_clock_skew_is_followed (void **state)
{
  static const double skews[] = { 200e-6, -200e-6 };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (skews); i++) {
    Fixture f;
    FmxRng rng;
    const uint64_t n_packets = 24 * 3600 * 50;
    FmxPlayoutStats stats;
    FmxDuration highest = 0;

    fmx_rng_init (&rng, 3);
    fixture_init (&f);
    for (uint64_t n = 0; n < n_packets; n++) {
      double drift = (double) n * skews[i] * (double) PACKET;
      FmxPlayoutDecision d = arrive (&f, n, (FmxDuration) (drift
              + fmx_rng_next_unit (&rng) * 8.0 * MS));

      assert_true (d.action != FMX_PLAYOUT_DROP_LATE);
      if (fmx_playout_get_delay (&f.playout) > highest)
        highest = fmx_playout_get_delay (&f.playout);
    }
    fmx_playout_get_stats (&f.playout, &stats);
    assert_true (highest < 80 * MS);
    assert_int_equal (stats.n_restarts, 0);
    /* 17.28 s of drift, in packets of 20 ms or steps of 10 ms */
    assert_true (stats.n_dropped + stats.n_grown < 2 * 1728);
    assert_true (skews[i] > 0.0 || stats.n_dropped >= 864 - 10);
    assert_true (skews[i] < 0.0 || stats.n_grown >= 864 - 10);
  }
}

static void
test_a_stall_of_two_seconds_is_over_when_it_is_over (void **state)
{
  Fixture f;
  FmxPlayoutDecision d;
  FmxTime back;
  uint64_t n_late = 0;

  (void) state;
  fixture_init (&f);
  arrive_steadily (&f, 0, 500);
  back = f.media + 500 * PACKET + 2 * FMX_SECOND;
  for (uint64_t n = 500; n < 600; n++) {        /* all at once */
    d = arrive (&f, n, fmx_time_diff (back, f.media + n * PACKET));
    n_late += d.action == FMX_PLAYOUT_DROP_LATE;
    assert_true (d.action != FMX_PLAYOUT_PLAY
        || fmx_time_diff (d.playout, back) <= FMX_SECOND);
  }
  assert_true (n_late >= 49 && n_late <= 51);   /* max_delay is 1 s */
  d = arrive_steadily (&f, 600, 1000);
  assert_int_equal (d.action, FMX_PLAYOUT_PLAY);
  assert_true (fmx_playout_get_delay (&f.playout) <= 60 * MS);
}

static void
test_a_slower_route_beyond_the_limit_is_accepted_within_a_second (void **state)
{
  Fixture f;
  FmxPlayoutDecision d;
  uint64_t first = 0;

  (void) state;
  fixture_init (&f);
  arrive_steadily (&f, 0, 500);
  for (uint64_t n = 500; n < 700; n++) {
    d = arrive (&f, n, 3 * FMX_SECOND);
    if (d.action == FMX_PLAYOUT_PLAY && first == 0)
      first = n;
  }
  assert_in_range (first, 501, 552);
  assert_int_equal (d.action, FMX_PLAYOUT_PLAY);
  assert_true (fmx_playout_get_delay (&f.playout) <= 40 * MS);
}

/* the same SSRC with numbers that start lower and the old time line */
static void
test_a_sender_that_counts_anew_is_heard_within_a_second (void **state)
{
  Fixture f;
  FmxPlayoutDecision d;

  (void) state;
  fixture_init (&f);
  arrive_steadily (&f, 0, 500);
  f.seq -= 10000;
  d = arrive_steadily (&f, 500, 555);
  assert_int_equal (d.action, FMX_PLAYOUT_PLAY);
  assert_int_equal (playout_stats (&f.playout).n_restarts, 1);
}

static void
test_half_the_packets_lost_is_not_late (void **state)
{
  Fixture f;
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 17);
  fixture_init (&f);
  for (uint64_t n = 0; n < 20000; n++)
    if (fmx_rng_next_unit (&rng) < 0.5)
      assert_int_equal (arrive (&f, n, (FmxDuration) (n % 5) * MS).action,
          FMX_PLAYOUT_PLAY);
  assert_true (playout_stats (&f.playout).n_grown <= 1);
}

/* Whatever arrives: slots in order never overlap, nothing is due before it is
 * there, and the delay stays within its limits. */
static void
test_slots_never_overlap (void **state)
{
  (void) state;
  for (uint64_t seed = 1; seed <= 50; seed++) {
    FmxRng rng;
    Fixture f;
    FmxTime end = 0, last = 0;
    FmxDuration transit = 0;

    fmx_rng_init (&rng, seed);
    fixture_init (&f);
    for (uint64_t n = 0; n < 5000; n++) {
      FmxPlayoutDecision d;
      FmxTime arrival;

      if (fmx_rng_next_unit (&rng) < 0.01)
        transit = (FmxDuration) (fmx_rng_next_unit (&rng) * 2000 * MS);
      else if (transit > 0)
        transit -= (FmxDuration) (fmx_rng_next_unit (&rng) * 40 * MS);
      if (transit < 0)
        transit = 0;
      if (fmx_rng_next_unit (&rng) < 0.05)
        continue;
      arrival = f.media + n * PACKET + (uint64_t) transit;
      if (arrival < last)
        transit += fmx_time_diff (last, arrival);
      d = arrive (&f, n, transit);
      last = f.media + n * PACKET + (uint64_t) transit;
      if (d.action != FMX_PLAYOUT_PLAY)
        continue;
      assert_true (d.playout >= last);
      assert_true (d.playout >= end);
      assert_true (fmx_playout_get_delay (&f.playout) >= 0);
      assert_true (d.playout <= last + 3 * FMX_SECOND);
      end = d.playout + PACKET;
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_absurd_time_stamps_start_again_and_never_stall),
    cmocka_unit_test (test_a_day_of_clock_skew_is_followed),
    cmocka_unit_test (test_a_stall_of_two_seconds_is_over_when_it_is_over),
    cmocka_unit_test
        (test_a_slower_route_beyond_the_limit_is_accepted_within_a_second),
    cmocka_unit_test (test_a_sender_that_counts_anew_is_heard_within_a_second),
    cmocka_unit_test (test_half_the_packets_lost_is_not_late),
    cmocka_unit_test (test_slots_never_overlap),
  };

  return cmocka_run_group_tests_name ("playout/playout-path", tests, NULL, NULL);
}
