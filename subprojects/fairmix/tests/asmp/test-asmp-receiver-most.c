/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What "asmp-fair" tells at most, whatever the equation says */
#include "fmx-test-asmp-path.h"

/* or the sender would forget it, and overrun it again */
static void
test_what_a_joiner_has_measured_stays_measured (void **state)
{
  FmxAsmpRate rate;
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_FAIR);
  path.loss = 0.75;
  path_run (&path, 2.0);
  assert_true (path_report (&path).measured);
  path.loss = 0.0;
  path_run (&path, 5.0);
  rate = path_report (&path);
  assert_true (rate.measured && rate.rtt == 0);
}

/* The sender's report is older than the own rate, which it obeys. */
static void
test_an_old_word_of_the_sender_does_not_raise_the_rate (void **state)
{
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_FAIR);
  path_run (&path, 60.0);
  path_tell (&path, 50 * FMX_MSECOND, 1000000, OWN);
  path.loss = 0.3;
  path_run (&path, 5.0);
  path_report (&path);
  path.loss = 0.0;
  path_run (&path, 5.0);
  path_report (&path);
  path_run (&path, 5.0);
  assert_in_range (path_report (&path).rate_bps, 50000, 126000);
}

static void
test_in_a_large_session_only_the_limiting_one_is_urgent (void **state)
{
  Path path;

  (void) state;
  for (unsigned limits = 0; limits < 2; limits++) {
    path_init (&path, FMX_ASMP_FAIR);
    path_run (&path, 5.0);
    path_tell (&path, 100 * FMX_MSECOND, 10000000, limits ? OWN : OWN + 1);
    path_report (&path);
    fmx_asmp_receiver_schedule (&path.receiver, 60 * FMX_SECOND, 0, 0.5,
        path.now);
    path.loss = 0.2;
    path_run (&path, 2.0);
    path.loss = 0.0;
    path_run (&path, 0.2);
    path_tell (&path, 0, 10000000, limits ? OWN : OWN + 1);
    assert_int_equal (fmx_asmp_receiver_take_urgent (&path.receiver, path.now),
        limits);
  }
}

/* Of many that would have more only who limits the rate holds it back: else the
 * slowest of their reports would decide. */
static void
test_only_who_limits_grows_slowly_after_a_loss (void **state)
{
  const uint32_t limiting[] = { OWN, OWN + 1 };
  const double growth[] = { 1.25, 2.0 };

  (void) state;
  for (unsigned i = 0; i < 2; i++) {
    Path path;

    path_init (&path, FMX_ASMP_FAIR);
    path_run (&path, 20.0);
    path_tell (&path, 20 * FMX_MSECOND, 100000, limiting[i]);
    path.seq++;                 /* one is lost */
    path_run (&path, 5.0);
    path_report (&path);
    path_tell (&path, 20 * FMX_MSECOND, 100000, limiting[i]);
    path.seq++;
    path_run (&path, 5.0);
    assert_in_range (path_report (&path).rate_bps, growth[i] * 98000,
        growth[i] * 102000);
  }
}

/* Two of ten packets are lost, a moment after a report: that is early, and much, and
 * of so few says nothing of the path. */
static void
test_an_early_report_of_a_few_packets_lowers_nothing (void **state)
{
  double before;
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_FAIR);
  path_run (&path, 5.0);
  path_tell (&path, 100 * FMX_MSECOND, 100000, OWN);
  path.seq++;                   /* one is lost */
  path_run (&path, 5.0);
  before = path_report (&path).rate_bps;
  assert_in_range (before, 120000, 126000);
  path_run (&path, 0.1);
  path.seq += 2;
  path.now += 2 * FRAME;
  path.ts += 320;
  path_run (&path, 0.06);
  assert_in_range (path_report (&path).rate_bps, 120000, 126000);
  /* of a whole interval it does */
  for (unsigned i = 0; i < 30; i++) {
    path_run (&path, 0.16);
    path.seq += 2;
    path.now += 2 * FRAME;
    path.ts += 320;
  }
  assert_in_range (path_report (&path).rate_bps, 70000, 85000);
}

/* A queue that counts packets drops as many small ones at any rate: what comes is not
 * what the path carries. */
static void
test_small_packets_that_are_lost_at_any_rate_keep_their_share (void **state)
{
  uint32_t bps = 60000;
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_FAIR);
  path_run (&path, 5.0);
  path_tell (&path, 370 * FMX_MSECOND, bps, OWN);
  path_report (&path);
  path.loss = 0.15;
  for (unsigned i = 0; i < 40; i++) {
    path.wire_bytes = bps / 8 / 50;
    path_run (&path, 5.0);
    bps = path_report (&path).rate_bps;
    path_tell (&path, 370 * FMX_MSECOND, bps, OWN);
  }
  assert_in_range (bps, 30000, 90000);
}

/* Some flows fill a queue whatever it drops: who goes down to what comes whenever a
 * little more than a tenth was lost goes on doing so. */
static void
test_what_is_lost_at_any_rate_is_not_much (void **state)
{
  unsigned n_grown = 0;
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_FAIR);
  path.wire_bytes = 1000;
  path_run (&path, 5.0);
  path_tell (&path, 2 * FMX_MSECOND, 400000, OWN);
  path_report (&path);
  path.loss = 0.11;
  for (unsigned i = 0; i < 40; i++) {
    uint32_t bps;

    path_run (&path, 5.0);
    bps = path_report (&path).rate_bps;
    path_tell (&path, 2 * FMX_MSECOND, 400000, OWN);
    n_grown += i >= 10 && bps > 400000;
  }
  assert_in_range (n_grown, 24, 30);
  path.loss = 0.25;             /* that is much there, too */
  path_run (&path, 5.0);
  assert_in_range (path_report (&path).rate_bps, 190000, 330000);
}

static void
test_of_others_round_trips_the_mean_counts (void **state)
{
  const FmxAsmpRttHeader header = { OWN + 1, 100000, 1 };
  FmxAsmpRtt told = { OWN + 1, 100 * FMX_MSECOND };
  uint8_t data[FMX_ASMP_RTT_BYTES (1)];
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_FAIR);
  for (unsigned i = 0; i < 2; i++) {
    fmx_asmp_rtt_write (&header, &told, data, sizeof data);
    fmx_asmp_receiver_on_rtt (&path.receiver, OWN, &header, data);
    told.rtt = 900 * FMX_MSECOND;
  }
  assert_near (path.receiver.others_rtt_s, 0.2, 0.01);
}

/* but twice as much as usual is */
static void
test_twice_of_what_is_lost_at_any_rate_is_much (void **state)
{
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_FAIR);
  path.wire_bytes = 740;
  path_run (&path, 5.0);
  path_tell (&path, 2 * FMX_MSECOND, 296000, OWN);
  path_report (&path);
  path.loss = 0.08;
  for (unsigned i = 0; i < 30; i++) {
    path_run (&path, 5.0);
    path_report (&path);
    path_tell (&path, 2 * FMX_MSECOND, 296000, OWN);
  }
  path.loss = 0.16;
  path_run (&path, 3.0);
  assert_in_range (path_report (&path).rate_bps, 240000, 255000);
}

/* The sender has no room for all round trips: until it has told ours, those of
 * others keep us from speaking as if ours were half a second. */
static void
test_in_a_large_session_others_round_trips_do_at_first (void **state)
{
  const FmxAsmpRttHeader header = { OWN + 1, 100000, 1 };
  const FmxAsmpRtt told = { OWN + 1, 100 * FMX_MSECOND };
  uint8_t data[FMX_ASMP_RTT_BYTES (1)];
  uint32_t rates[2];
  FmxAsmpRate rate;
  Path path;

  (void) state;
  fmx_asmp_rtt_write (&header, &told, data, sizeof data);
  for (unsigned large = 0; large < 2; large++) {
    path_init (&path, FMX_ASMP_FAIR);
    path.wire_bytes = 1000;
    path_run (&path, 5.0);
    path_report (&path);
    fmx_asmp_receiver_schedule (&path.receiver, 5 * FMX_SECOND,
        large ? 21 : 20, 0.5, path.now);
    fmx_asmp_receiver_on_rtt (&path.receiver, OWN, &header, data);
    path.loss = 0.08;
    path_run (&path, 60.0);
    assert_int_equal (fmx_asmp_receiver_report (&path.receiver, &rate,
            path.now), !large);
    assert_false (rate.measured);
    rates[large] = rate.rate_bps;
  }
  assert_true (rates[1] > rates[0] + rates[0] / 10);
}

/* Behind a path that has carried 100 kbit/s, with 30 sent because of another:
 * half of it when that one leaves, and the whole when the half has come. */
static void
test_what_the_path_has_carried_comes_back_in_two_reports (void **state)
{
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_FAIR);
  path_run (&path, 5.0);
  path_tell (&path, 100 * FMX_MSECOND, 100000, OWN);
  path.seq++;                   /* one is lost */
  path_run (&path, 5.0);
  path_report (&path);
  path.wire_bytes = 50;         /* 20 kbit/s */
  path_tell (&path, 0, 20000, OWN + 1);
  for (unsigned i = 0; i < 10; i++) {
    path_run (&path, 5.0);
    assert_in_range (path_report (&path).rate_bps, 50000, 52000);
  }
  path.wire_bytes = 125;
  path_tell (&path, 0, 50000, OWN);
  path_run (&path, 5.0);
  assert_in_range (path_report (&path).rate_bps, 99000, 103000);
}

/* Nobody waits for what a queue or a loss says cannot be. */
static void
test_what_the_path_has_carried_is_not_tried_against_a_queue (void **state)
{
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_FAIR);
  path_run (&path, 5.0);
  path_tell (&path, 100 * FMX_MSECOND, 100000, OWN);
  path.seq++;
  path_run (&path, 5.0);
  path_report (&path);
  path.wire_bytes = 50;
  path_tell (&path, 0, 20000, OWN + 1);
  path.one_way += 60 * FMX_MSECOND;
  path_run (&path, 5.0);
  assert_in_range (path_report (&path).rate_bps, 38000, 41000);
}

/* More than a tenth was lost: what comes is what the path carries. */
static void
test_where_much_is_lost_the_rate_is_what_comes (void **state)
{
  FmxAsmpRate rate;
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_FAIR);
  path_run (&path, 60.0);
  path_tell (&path, 20 * FMX_MSECOND, 100000, OWN);
  path_report (&path);
  path.loss = 0.2;
  path_run (&path, 5.0);
  rate = path_report (&path);
  assert_in_range (rate.rate_bps, 70000, 85000);
}

/* silence is no sign of congestion */
static void
test_a_sender_that_falls_silent_keeps_its_rate (void **state)
{
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_FAIR);
  path_run (&path, 5.0);
  path_tell (&path, 100 * FMX_MSECOND, 160000, 0);
  path_report (&path);
  path.wire_bytes = 50;
  path_run (&path, 5.0);
  assert_int_equal (path_report (&path).rate_bps, 160000);
}

static void
test_without_loss_the_rate_doubles_until_a_queue_stands (void **state)
{
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_FAIR);
  path_run (&path, 5.0);
  path_tell (&path, 100 * FMX_MSECOND, 100000, 0);
  assert_near (path_report (&path).rate_bps, 200000.0, 0.02);
  path.one_way += 60 * FMX_MSECOND;
  path_run (&path, 5.0);
  assert_near (path_report (&path).rate_bps, 100000.0, 0.02);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_what_a_joiner_has_measured_stays_measured),
    cmocka_unit_test (test_an_old_word_of_the_sender_does_not_raise_the_rate),
    cmocka_unit_test (test_in_a_large_session_only_the_limiting_one_is_urgent),
    cmocka_unit_test (test_only_who_limits_grows_slowly_after_a_loss),
    cmocka_unit_test (test_an_early_report_of_a_few_packets_lowers_nothing),
    cmocka_unit_test
        (test_small_packets_that_are_lost_at_any_rate_keep_their_share),
    cmocka_unit_test (test_what_is_lost_at_any_rate_is_not_much),
    cmocka_unit_test (test_twice_of_what_is_lost_at_any_rate_is_much),
    cmocka_unit_test (test_of_others_round_trips_the_mean_counts),
    cmocka_unit_test (test_in_a_large_session_others_round_trips_do_at_first),
    cmocka_unit_test (test_what_the_path_has_carried_comes_back_in_two_reports),
    cmocka_unit_test
        (test_what_the_path_has_carried_is_not_tried_against_a_queue),
    cmocka_unit_test (test_where_much_is_lost_the_rate_is_what_comes),
    cmocka_unit_test (test_a_sender_that_falls_silent_keeps_its_rate),
    cmocka_unit_test (test_without_loss_the_rate_doubles_until_a_queue_stands),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
