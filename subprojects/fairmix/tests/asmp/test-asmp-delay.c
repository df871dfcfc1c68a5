/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>

#include "fmx-test-asmp.h"

#include "fairmix/asmp/fmx-asmp-delay.h"

#define CLOCK_RATE 8000
#define FRAME (20 * FMX_MSECOND)
#define NTP_EPOCH (UINT64_C (3900000000) * FMX_SECOND)

/* A path, and the clocks at its ends. */
typedef struct
{
  FmxAsmpDelay delay;
  FmxTime now;                  /* of sending */
  FmxDuration one_way;
  FmxDuration offset;           /* receiver's clock less the sender's */
  uint32_t ts;
} Path;

static void
path_init (Path *path, FmxDuration offset, uint32_t ts)
{
  fmx_asmp_delay_init (&path->delay, CLOCK_RATE);
  path->now = 1000 * FMX_SECOND;
  path->one_way = 40 * FMX_MSECOND;
  path->offset = offset;
  path->ts = ts;
}

static void
path_run (Path *path, unsigned n)
{
  for (unsigned i = 0; i < n; i++) {
    fmx_asmp_delay_on_packet (&path->delay, path->ts,
        path->now + (FmxTime) path->one_way);
    path->now += FRAME;
    path->ts += 160;
  }
}

/* of the last packet's time, come together with it */
static void
path_sender_report (Path *path)
{
  FmxTime sent = path->now - FRAME;
  FmxTime arrived = sent + (FmxTime) path->one_way;

  fmx_asmp_delay_on_sender_report (&path->delay, path->ts - 160,
      NTP_EPOCH + sent, NTP_EPOCH + arrived + (FmxTime) path->offset, arrived);
}

static double
rtt_ms (const Path *path)
{
  return (double) fmx_asmp_delay_rtt (&path->delay) / FMX_MSECOND;
}

static double
rtt_now_ms (const Path *path)
{
  return (double) fmx_asmp_delay_rtt_now (&path->delay) / FMX_MSECOND;
}

static void
test_before_the_sender_has_spoken_a_round_trip_is_twice_one_way (void **state)
{
  Path path;

  (void) state;
  path_init (&path, 0, 0);
  path_run (&path, 10);
  fmx_asmp_delay_report (&path.delay, 0.5);
  assert_int_equal (fmx_asmp_delay_rtt (&path.delay), 0);       /* no SR yet */
  path_sender_report (&path);
  fmx_asmp_delay_report (&path.delay, 0.5);
  assert_near (rtt_ms (&path), 80.0, 1e-3);
  assert_false (fmx_asmp_delay_is_measured (&path.delay));
  assert_int_equal (fmx_asmp_delay_rtt_now (&path.delay), 0);
}

/* but not where that cannot be one */
static void
test_clocks_that_differ_are_not_taken_for_a_long_path (void **state)
{
  const FmxDuration offsets[] = { -3600 * FMX_SECOND, -1 * FMX_SECOND,
    -40 * FMX_MSECOND, 2 * FMX_SECOND, 86400 * FMX_SECOND
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (offsets); i++) {
    Path path;

    path_init (&path, offsets[i], 0);
    path_run (&path, 10);
    path_sender_report (&path);
    fmx_asmp_delay_report (&path.delay, 0.5);
    assert_int_equal (fmx_asmp_delay_rtt (&path.delay), 0);
  }
}

/* [ASMP (8), (10)]: only a T1 matters */
static void
test_the_senders_word_counts_whatever_the_clocks_show (void **state)
{
  const FmxDuration offsets[] = { 0, -1 * FMX_SECOND, -40 * FMX_MSECOND,
    -3600 * FMX_SECOND, 3600 * FMX_SECOND
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (offsets); i++) {
    Path path;

    path_init (&path, offsets[i], 0);
    path_run (&path, 10);
    path_sender_report (&path);
    fmx_asmp_delay_on_rtt (&path.delay, 100 * FMX_MSECOND);
    fmx_asmp_delay_report (&path.delay, 0.5);
    assert_near (rtt_ms (&path), 100.0, 1e-6);
    assert_near (rtt_now_ms (&path), 100.0, 1e-6);
    assert_true (fmx_asmp_delay_is_measured (&path.delay));
  }
}

static void
test_without_a_sender_report_the_senders_word_is_all_there_is (void **state)
{
  Path path;

  (void) state;
  path_init (&path, 0, 0);
  path_run (&path, 10);
  fmx_asmp_delay_on_rtt (&path.delay, 100 * FMX_MSECOND);
  path.one_way = 400 * FMX_MSECOND;
  path_run (&path, 10);
  fmx_asmp_delay_report (&path.delay, 0.5);
  assert_near (rtt_ms (&path), 100.0, 1e-6);
}

/* [ASMP (8), (11)]: with a = 100/40 - 1 the round trip follows one way */
static void
test_a_longer_path_is_seen_before_the_sender_says_so (void **state)
{
  Path path;

  (void) state;
  path_init (&path, 0, 0);
  path_run (&path, 10);
  path_sender_report (&path);
  fmx_asmp_delay_report (&path.delay, 0.5);
  fmx_asmp_delay_on_rtt (&path.delay, 100 * FMX_MSECOND);
  fmx_asmp_delay_report (&path.delay, 0.5);
  path.one_way = 60 * FMX_MSECOND;
  path_run (&path, 10);
  fmx_asmp_delay_report (&path.delay, 0.5);
  assert_near (rtt_ms (&path), 125.0, 1e-6);    /* (150 + 100) / 2 */
  assert_near ((double) fmx_asmp_delay_queue (&path.delay),
      20.0 * FMX_MSECOND, 1e-6);
}

/* without the ratio: 20 ms more one way; a queue that comes and goes within a
 * second is not the path's length */
static void
test_the_round_trip_now_follows_the_path_within_half_a_minute (void **state)
{
  Path path;

  (void) state;
  path_init (&path, 0, 0);
  path_run (&path, 10);
  path_sender_report (&path);
  fmx_asmp_delay_report (&path.delay, 0.5);
  fmx_asmp_delay_on_rtt (&path.delay, 100 * FMX_MSECOND);
  assert_near (rtt_now_ms (&path), 100.0, 1e-6);
  path.one_way += 20 * FMX_MSECOND;
  path_run (&path, 10);
  assert_true (rtt_now_ms (&path) < 101.0);
  path_run (&path, 30 * 50);
  assert_near (rtt_now_ms (&path), 120.0, 0.005);
}

/* A sender report that met a queue of 150 ms, and one that met none: the round
 * trips that come of them differ by it, the path does not. */
static void
test_what_the_senders_measurement_met_is_taken_off_it (void **state)
{
  Path path;

  (void) state;
  path_init (&path, 0, 0);
  path_run (&path, 50);
  for (unsigned k = 0; k < 20; k++) {
    FmxDuration queue = k % 2 == 0 ? 150 * FMX_MSECOND : 0;

    for (unsigned i = 0; i < 250; i++) {
      path.one_way = (FmxDuration) (40 + 10 * (i % 30 < 15 ? i % 30
              : 30 - i % 30)) * FMX_MSECOND;
      path_run (&path, 1);
    }
    path.one_way = 40 * FMX_MSECOND + queue;
    path_run (&path, 1);
    path_sender_report (&path);
    path.one_way = 90 * FMX_MSECOND;
    path_run (&path, 25);
    fmx_asmp_delay_report (&path.delay, 0.5);
    fmx_asmp_delay_on_rtt (&path.delay, 80 * FMX_MSECOND + queue);
    /* 80, and 75 of queue in the mean, or 50 for each eleventh packet */
    assert_true (k < 6 || (rtt_now_ms (&path) > 148.0
            && rtt_now_ms (&path) < 158.0));
  }
}

static void
test_a_clock_that_is_set_changes_nothing (void **state)
{
  const FmxDuration steps[] = { FMX_SECOND, -FMX_SECOND, -39 * FMX_MSECOND,
    -3600 * FMX_SECOND
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (steps); i++) {
    Path path;

    path_init (&path, 0, 0);
    path_run (&path, 10);
    path_sender_report (&path);
    fmx_asmp_delay_on_rtt (&path.delay, 100 * FMX_MSECOND);
    fmx_asmp_delay_report (&path.delay, 0.5);
    path.offset = steps[i];
    path_run (&path, 10);
    path_sender_report (&path);
    fmx_asmp_delay_report (&path.delay, 0.5);
    assert_near (rtt_ms (&path), 100.0, 1e-6);
    assert_near (rtt_now_ms (&path), 100.0, 1e-6);
  }
}

static void
test_rtp_times_wrap_without_a_trace (void **state)
{
  Path path;

  (void) state;
  path_init (&path, 0, UINT32_MAX - 800);
  path_run (&path, 3);
  path_sender_report (&path);
  fmx_asmp_delay_on_rtt (&path.delay, 100 * FMX_MSECOND);
  path_run (&path, 20);
  path_sender_report (&path);
  fmx_asmp_delay_report (&path.delay, 1.0);
  assert_near (rtt_ms (&path), 100.0, 1e-6);
  assert_true (fmx_asmp_delay_jitter (&path.delay) < 1000);
  assert_true (fmx_asmp_delay_queue (&path.delay) < 1000);
}

static void
test_after_a_restart_the_round_trip_is_what_it_was (void **state)
{
  Path path;

  (void) state;
  path_init (&path, 0, 5);
  path_run (&path, 10);
  path_sender_report (&path);
  fmx_asmp_delay_on_rtt (&path.delay, 100 * FMX_MSECOND);
  fmx_asmp_delay_report (&path.delay, 0.5);
  fmx_asmp_delay_restart (&path.delay);
  path.ts = 0x80000000u;
  path_run (&path, 10);
  fmx_asmp_delay_report (&path.delay, 0.5);
  assert_near (rtt_ms (&path), 100.0, 1e-6);
  path_sender_report (&path);
  fmx_asmp_delay_report (&path.delay, 0.5);
  assert_near (rtt_ms (&path), 100.0, 1e-6);
  assert_near (rtt_now_ms (&path), 100.0, 1e-6);
}

/* [ASMP (16)-(18)] */
static void
test_a_queue_that_grows_is_congestion_one_that_shrinks_is_none (void **state)
{
  Path path;

  (void) state;
  path_init (&path, 0, 0);
  path_run (&path, 50);
  fmx_asmp_delay_report (&path.delay, 0.5);
  for (unsigned i = 0; i < 50; i++) {
    path.one_way += FMX_MSECOND;
    path_run (&path, 1);
  }
  fmx_asmp_delay_report (&path.delay, 0.5);
  assert_true (fmx_asmp_delay_is_congested (&path.delay));
  path.one_way = 41 * FMX_MSECOND;
  path_run (&path, 50);
  fmx_asmp_delay_report (&path.delay, 0.5);
  assert_false (fmx_asmp_delay_is_congested (&path.delay));
  /* no packet: what was said last */
  fmx_asmp_delay_report (&path.delay, 0.5);
  assert_false (fmx_asmp_delay_is_congested (&path.delay));
}

/* Both means are the same: [ASMP (18)] has "at least". */
static void
test_where_nothing_changes_the_paper_says_congested (void **state)
{
  Path path;

  (void) state;
  path_init (&path, 0, 0);
  path_run (&path, 50);
  fmx_asmp_delay_report (&path.delay, 0.5);
  assert_true (fmx_asmp_delay_is_congested (&path.delay));
}

/* [RFC3550 A.8]: signs do not cancel */
static void
test_jitter_of_both_signs_counts (void **state)
{
  Path path;

  (void) state;
  path_init (&path, 0, 0);
  for (unsigned i = 0; i < 200; i++) {
    path.one_way = (i % 2 == 0 ? 40 : 50) * FMX_MSECOND;
    path_run (&path, 1);
  }
  assert_near ((double) fmx_asmp_delay_jitter (&path.delay),
      10.0 * FMX_MSECOND, 1e-3);
}

static void
test_a_path_that_has_become_longer_for_good_is_no_queue (void **state)
{
  Path path;

  (void) state;
  path_init (&path, 0, 0);
  path_run (&path, 100);
  path.one_way = 140 * FMX_MSECOND;
  path_run (&path, 100);
  assert_near ((double) fmx_asmp_delay_queue (&path.delay),
      100.0 * FMX_MSECOND, 1e-6);
  path_run (&path, 2 * 30 * 50 + 100);
  assert_true (fmx_asmp_delay_queue (&path.delay) < FMX_MSECOND);
}

static void
test_a_round_trip_that_cannot_be_is_ignored (void **state)
{
  Path path;

  (void) state;
  path_init (&path, 0, 0);
  path_run (&path, 10);
  fmx_asmp_delay_on_rtt (&path.delay, 0);
  fmx_asmp_delay_on_rtt (&path.delay, 61 * FMX_SECOND);
  assert_false (fmx_asmp_delay_is_measured (&path.delay));
}

/* T1 is 10 us, by chance of the clocks, so a is 9,999: 10 ms more would be 100 s. */
static void
test_a_ratio_that_gives_no_round_trip_does_not_count (void **state)
{
  Path path;

  (void) state;
  path_init (&path, -40 * FMX_MSECOND + 10 * FMX_USECOND, 0);
  path_run (&path, 10);
  path_sender_report (&path);
  fmx_asmp_delay_on_rtt (&path.delay, 100 * FMX_MSECOND);
  path.one_way += 10 * FMX_MSECOND;
  path_run (&path, 10);
  fmx_asmp_delay_report (&path.delay, 0.5);
  assert_near (rtt_ms (&path), 100.0, 1e-6);
}

/* a hundredth of a second in thirty, as no clock does */
static void
test_clocks_that_part_leave_half_of_the_round_trip (void **state)
{
  Path path;

  (void) state;
  path_init (&path, 0, 0);
  path_run (&path, 10);
  path_sender_report (&path);
  fmx_asmp_delay_report (&path.delay, 0.5);
  fmx_asmp_delay_on_rtt (&path.delay, 100 * FMX_MSECOND);
  for (unsigned i = 0; i < 10; i++) {
    path.one_way -= 10 * FMX_MSECOND;
    path_run (&path, 30 * 50);
  }
  assert_near (rtt_now_ms (&path), 50.0, 1e-6);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test
        (test_before_the_sender_has_spoken_a_round_trip_is_twice_one_way),
    cmocka_unit_test (test_clocks_that_differ_are_not_taken_for_a_long_path),
    cmocka_unit_test (test_the_senders_word_counts_whatever_the_clocks_show),
    cmocka_unit_test
        (test_without_a_sender_report_the_senders_word_is_all_there_is),
    cmocka_unit_test (test_a_longer_path_is_seen_before_the_sender_says_so),
    cmocka_unit_test
        (test_the_round_trip_now_follows_the_path_within_half_a_minute),
    cmocka_unit_test (test_what_the_senders_measurement_met_is_taken_off_it),
    cmocka_unit_test (test_a_clock_that_is_set_changes_nothing),
    cmocka_unit_test (test_rtp_times_wrap_without_a_trace),
    cmocka_unit_test (test_after_a_restart_the_round_trip_is_what_it_was),
    cmocka_unit_test
        (test_a_queue_that_grows_is_congestion_one_that_shrinks_is_none),
    cmocka_unit_test (test_where_nothing_changes_the_paper_says_congested),
    cmocka_unit_test (test_jitter_of_both_signs_counts),
    cmocka_unit_test (test_a_ratio_that_gives_no_round_trip_does_not_count),
    cmocka_unit_test (test_clocks_that_part_leave_half_of_the_round_trip),
    cmocka_unit_test (test_a_path_that_has_become_longer_for_good_is_no_queue),
    cmocka_unit_test (test_a_round_trip_that_cannot_be_is_ignored),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
