/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/rtt/fmx-rtt.h"

#define MS FMX_MSECOND

static FmxRtt
make (FmxDuration rto_min)
{
  FmxRttParams params;
  FmxRtt rtt;

  fmx_rtt_params_default (&params);
  params.rto_min = rto_min;
  fmx_rtt_init (&rtt, &params);
  return rtt;
}

/* Computed by hand from [RFC6298 2.2, 2.3], in microseconds. */
static void
test_rto_follows_rfc6298 (void **state)
{
  static const struct
  {
    int64_t sample_us, srtt_us, rttvar_us, rto_us;
  } steps[] = {
    {100000, 100000, 50000, 300000},    /* first: R, R/2 */
    {100000, 100000, 37500, 250000},    /* no error */
    {180000, 110000, 48125, 302500},    /* |err| 80 ms */
    {110000, 110000, 36093, 254375},    /* no error */
  };
  FmxRtt rtt = make (0);

  (void) state;
  assert_int_equal (fmx_rtt_rto (&rtt), FMX_SECOND);    /* [RFC6298 2.1] */
  for (size_t i = 0; i < N_ELEMENTS (steps); i++) {
    assert_true (fmx_rtt_add (&rtt, steps[i].sample_us * 1000,
            i * 100 * (FmxTime) MS));
    assert_int_equal (fmx_rtt_srtt (&rtt) / 1000, steps[i].srtt_us);
    assert_int_equal (fmx_rtt_rttvar (&rtt) / 1000, steps[i].rttvar_us);
    assert_int_equal (fmx_rtt_rto (&rtt) / 1000, steps[i].rto_us);
  }
}

static void
test_rto_floor_and_ceiling_hold (void **state)
{
  FmxRtt rtt = make (200 * MS);

  (void) state;
  for (unsigned i = 0; i < 200; i++)
    fmx_rtt_add (&rtt, MS, i * (FmxTime) MS);
  assert_int_equal (fmx_rtt_rto (&rtt), 200 * MS);      /* [RFC6298 2.4] */
  for (unsigned i = 0; i < 100; i++)
    fmx_rtt_back_off (&rtt);
  assert_int_equal (fmx_rtt_rto (&rtt), 60 * FMX_SECOND);       /* [2.5] */
}

static void
test_back_off_doubles_and_a_sample_ends_it (void **state)
{
  FmxRtt rtt = make (200 * MS);

  (void) state;
  fmx_rtt_back_off (&rtt);
  assert_int_equal (fmx_rtt_rto (&rtt), 2 * FMX_SECOND);        /* [2.1, 5.5] */
  fmx_rtt_back_off (&rtt);
  assert_int_equal (fmx_rtt_rto (&rtt), 4 * FMX_SECOND);
  assert_int_equal (fmx_rtt_rto_first (&rtt), FMX_SECOND);
  fmx_rtt_add (&rtt, 100 * MS, 0);
  assert_int_equal (fmx_rtt_rto (&rtt), 300 * MS);
}

static void
test_granularity_keeps_rto_above_srtt (void **state)
{
  FmxRtt rtt = make (0);

  (void) state;
  for (unsigned i = 0; i < 300; i++)
    fmx_rtt_add (&rtt, 50 * MS, i * 50 * (FmxTime) MS);
  assert_true (fmx_rtt_rto (&rtt) >= 50 * MS + MS);     /* [RFC6298 4] */
}

static void
test_absurd_samples_are_refused (void **state)
{
  FmxRtt rtt = make (0);
  FmxRttStats stats;

  (void) state;
  assert_false (fmx_rtt_add (&rtt, -3 * MS, 0));
  assert_false (fmx_rtt_add (&rtt, INT64_MIN, 0));
  assert_false (fmx_rtt_add (&rtt, INT64_MAX, 0));
  assert_false (fmx_rtt_add (&rtt, FMX_RTT_MAX + 1, 0));
  assert_false (fmx_rtt_is_known (&rtt));
  assert_int_equal (fmx_rtt_rto (&rtt), FMX_SECOND);
  assert_true (fmx_rtt_add (&rtt, -1 * MS, 0)); /* rounding */
  assert_int_equal (fmx_rtt_smoothed (&rtt), FMX_RTT_MIN);
  fmx_rtt_get_stats (&rtt, &stats);
  assert_int_equal (stats.n_refused, 4);
  assert_int_equal (stats.n_samples, 1);
}

/* A busy machine: 2 ms on loopback, one sample in ten is 43-214 ms late. */
static void
test_spikes_of_a_busy_machine_leave_r_alone (void **state)
{
  FmxRtt rtt = make (200 * MS);
  FmxDuration longest_rto = 0;
  FmxRttStats stats;
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 1);
  for (unsigned i = 0; i < 2000; i++) {
    FmxDuration sample = 2 * MS;

    if (i % 10 == 0)
      sample += 41 * MS + (FmxDuration) (fmx_rng_next_unit (&rng) * 171e6);
    fmx_rtt_add (&rtt, sample, i * 50 * (FmxTime) MS);
    if (i > 0)
      assert_in_range (fmx_rtt_smoothed (&rtt), 1990000, 2010000);
    if (i > 4)
      assert_true (fabs (fmx_rtt_damping (&rtt) - 1.0) < 0.01);
    if (i > 100 && fmx_rtt_rto (&rtt) > longest_rto)
      longest_rto = fmx_rtt_rto (&rtt);
  }
  assert_true (longest_rto > 220 * MS); /* the RTO saw them, as it should */
  fmx_rtt_get_stats (&rtt, &stats);
  assert_int_equal (stats.n_outliers, 199);     /* the first had no company */
}

/* After a stall of 100 ms the two reports that queued up come at once. */
static void
test_a_stall_with_two_late_reports_leaves_r_alone (void **state)
{
  FmxRtt rtt = make (200 * MS);
  FmxTime now = 0;

  (void) state;
  for (unsigned i = 0; i < 50; i++, now += 50 * MS)
    fmx_rtt_add (&rtt, 20 * MS, now);
  fmx_rtt_add (&rtt, 120 * MS, now);
  fmx_rtt_add (&rtt, 70 * MS, now);
  for (unsigned i = 0; i < 5; i++, now += 50 * MS) {
    fmx_rtt_add (&rtt, 20 * MS, now);
    assert_in_range (fmx_rtt_smoothed (&rtt), 19990000, 20010000);
  }
}

static void
test_a_queue_that_grows_is_followed_within_three_round_trips (void **state)
{
  FmxRtt rtt = make (200 * MS);
  FmxTime now = 0;

  (void) state;
  for (unsigned i = 0; i < 50; i++, now += 100 * MS)
    fmx_rtt_add (&rtt, 100 * MS, now);
  for (unsigned i = 0; i < 3; i++, now += 100 * MS)
    fmx_rtt_add (&rtt, 300 * MS, now);
  assert_int_equal (fmx_rtt_median (&rtt), 300 * MS);
  /* [RFC5348 4.5] sqrt (0.1 -> 0.3): R_sqmean moved once by a tenth */
  assert_true (fmx_rtt_damping (&rtt) < 0.63);
  assert_true (fmx_rtt_damping (&rtt) > 0.60);
  /* [RFC5348 4.3] R = 0.9 R + 0.1 sample: 20 ms of 200 */
  assert_in_range (fmx_rtt_smoothed (&rtt), 119900000, 120100000);
}

/* [RFC5348 4.5] "twice as large ... reduced by a factor of roughly 0.7" */
static void
test_damping_is_0_7_when_the_sample_doubles (void **state)
{
  FmxRtt rtt = make (0);
  FmxTime now = 0;

  (void) state;
  assert_true (fmx_rtt_damping (&rtt) == 1.0);
  for (unsigned i = 0; i < 100; i++, now += 10 * MS)
    fmx_rtt_add (&rtt, 100 * MS, now);
  for (unsigned i = 0; i < 3; i++, now += 10 * MS)
    fmx_rtt_add (&rtt, 200 * MS, now);
  assert_true (fabs (fmx_rtt_damping (&rtt) - 0.707) < 0.01);
}

static void
test_a_slow_report_is_not_outvoted_by_old_ones (void **state)
{
  FmxRtt rtt = make (0);
  FmxTime now = 0;

  (void) state;
  for (unsigned i = 0; i < 10; i++, now += 5 * FMX_SECOND)
    fmx_rtt_add (&rtt, 50 * MS, now);
  fmx_rtt_add (&rtt, 400 * MS, now);
  assert_int_equal (fmx_rtt_median (&rtt), 400 * MS);
}

static void
test_the_minimum_is_forgotten_after_two_windows (void **state)
{
  FmxRtt rtt = make (0);
  FmxTime now = 0;

  (void) state;
  assert_int_equal (fmx_rtt_min (&rtt), 0);
  fmx_rtt_add (&rtt, 30 * MS, now);
  for (; now < 9 * (FmxTime) FMX_SECOND; now += 100 * MS)
    fmx_rtt_add (&rtt, 90 * MS, now);
  assert_int_equal (fmx_rtt_min (&rtt), 30 * MS);
  for (; now < 21 * (FmxTime) FMX_SECOND; now += 100 * MS)
    fmx_rtt_add (&rtt, 90 * MS, now);
  assert_int_equal (fmx_rtt_min (&rtt), 90 * MS);
}

/* [RFC3550 6.4.1] has the example of figure 2: 6.125 s. */
static void
test_lsr_dlsr_arithmetic (void **state)
{
  static const struct
  {
    uint32_t now, lsr, dlsr;
    bool ok;
    int64_t us;
  } rows[] = {
    {0xb7108000, 0xb7052000, 0x00054000, true, 6125000},        /* RFC 3550 */
    {0x00008000, 0xfffff000, 0x00001000, true, 500000}, /* wraps: 18 h */
    {0x00000000, 0xfffe0000, 0x00010000, true, 1000000},
    {0x12345678, 0x12345678, 0, true, 0},
    {0x12345678, 0, 0, false, 0},       /* no SR yet */
    {0x00010000, 0x00020000, 0, false, 0},      /* negative: 1 s */
    {0x00010000, 0x0000ff00, 0x00010000, false, 0},     /* hold too long */
    {0x0000fff0, 0x00010000, 0, true, -244},    /* rounding: passes on */
    {0x00500000, 0x00010000, 0, false, 0},      /* 79 s */
    {0x80000000, 0x00000001, 0, false, 0},
    {0x00000001, 0x00000001, 0xffffffff, true, 15},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (rows); i++) {
    FmxDuration sample = 0;

    assert_int_equal (fmx_rtt_from_report (rows[i].now, rows[i].lsr,
            rows[i].dlsr, &sample), rows[i].ok);
    if (rows[i].ok)
      assert_int_equal (sample / 1000, rows[i].us);
  }
}

static void
test_any_samples_keep_all_estimates_in_range (void **state)
{
  (void) state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    FmxRtt rtt = make (100 * MS);
    FmxRng rng;
    FmxTime now = 0;

    fmx_rng_init (&rng, seed);
    for (unsigned i = 0; i < 5000; i++) {
      double exponent = fmx_rng_next_unit (&rng) * 12.0;
      FmxDuration sample = (FmxDuration) pow (10.0, exponent) - 5 * MS;

      now += fmx_rng_next (&rng) % 200000000;
      fmx_rtt_add (&rtt, sample, now);
      if (fmx_rng_next (&rng) % 8 == 0)
        fmx_rtt_back_off (&rtt);
      assert_in_range (fmx_rtt_rto (&rtt), 100 * MS, 60 * FMX_SECOND);
      assert_in_range (fmx_rtt_smoothed (&rtt), 0, FMX_RTT_MAX);
      assert_in_range (fmx_rtt_min (&rtt), 0, FMX_RTT_MAX);
      assert_in_range (fmx_rtt_rttvar (&rtt), 0, FMX_RTT_MAX);
      assert_true (isfinite (fmx_rtt_damping (&rtt)));
      assert_true (fmx_rtt_damping (&rtt) > 0.0);
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_rto_follows_rfc6298),
    cmocka_unit_test (test_rto_floor_and_ceiling_hold),
    cmocka_unit_test (test_back_off_doubles_and_a_sample_ends_it),
    cmocka_unit_test (test_granularity_keeps_rto_above_srtt),
    cmocka_unit_test (test_absurd_samples_are_refused),
    cmocka_unit_test (test_spikes_of_a_busy_machine_leave_r_alone),
    cmocka_unit_test (test_a_stall_with_two_late_reports_leaves_r_alone),
    cmocka_unit_test (test_a_queue_that_grows_is_followed_within_three_round_trips),
    cmocka_unit_test (test_damping_is_0_7_when_the_sample_doubles),
    cmocka_unit_test (test_a_slow_report_is_not_outvoted_by_old_ones),
    cmocka_unit_test (test_the_minimum_is_forgotten_after_two_windows),
    cmocka_unit_test (test_lsr_dlsr_arithmetic),
    cmocka_unit_test (test_any_samples_keep_all_estimates_in_range),
  };

  return cmocka_run_group_tests_name ("rtt/rtt", tests, NULL, NULL);
}
