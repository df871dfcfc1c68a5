/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-asmp-path.h"

#include "asmp/fmx-test-asmp-tables.h"
#include "fairmix/rate/fmx-tcp-equation.h"

/* --- the paper's, packet by packet: the same path as in asmp_tables.py --- */

#define PACKETS_PER_REPORT 250u
#define OFFSET (-3 * FMX_SECOND)

static FmxDuration
table_delay (unsigned i)
{
  unsigned wave = i / 25 % 20;

  if (wave > 10)
    wave = 20 - wave;
  return (FmxDuration) (40 + i * 37 % 11 + i / PACKETS_PER_REPORT * 7 % 5
      + (i >= 8 * PACKETS_PER_REPORT ? 30 : 0)
      + (i >= 3000 ? wave : 0)) * FMX_MSECOND;
}

static bool
table_is_lost (unsigned i)
{
  unsigned k = i / PACKETS_PER_REPORT;
  unsigned permille = k < 4 ? 0 : k < 10 ? 20 : k < 14 ? 150 : 0;

  return i * 7919 % 1000 < permille;
}

static void
table_sender_report (FmxAsmpReceiver *receiver, FmxTime start, unsigned i,
    FmxTime now)
{
  FmxTime sent = start + i * (FmxTime) FRAME;

  fmx_asmp_receiver_on_sender_report (receiver, UINT32_MAX - 8000 + 160 * i,
      NTP_EPOCH + sent, NTP_EPOCH + now + (FmxTime) OFFSET, now);
}

static void
test_every_report_is_what_the_papers_formulas_give (void **state)
{
  const FmxTime start = 1000 * FMX_SECOND;
  FmxTime now = start;
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_PAPER);
  for (unsigned i = 0; i < N_ELEMENTS (report_rows) * PACKETS_PER_REPORT; i++) {
    const ReportRow *row = &report_rows[i / PACKETS_PER_REPORT];
    FmxAsmpReceiverStats stats;
    FmxAsmpRate rate;

    if (!table_is_lost (i)) {
      now = start + i * (FmxTime) FRAME + (FmxTime) table_delay (i);
      fmx_asmp_receiver_on_packet (&path.receiver, (uint16_t) (65500 + i),
          UINT32_MAX - 8000 + 160 * i,
          i < PACKETS_PER_REPORT ? 250 : 200 + i % 3 * 50, now);
    }
    if (i % 100 == 50)
      table_sender_report (&path.receiver, start, i - i % 7, now);
    if ((i + 1) % PACKETS_PER_REPORT != 0)
      continue;
    assert_true (fmx_asmp_receiver_report (&path.receiver, &rate, now));
    fmx_asmp_receiver_get_stats (&path.receiver, &stats, now);
    assert_near (stats.rate_bps, row->rate_bps, 1e-3);
    assert_near (rate.rate_bps, row->rate_bps, 1e-3);
    assert_near (fmx_time_to_s (stats.rtt), row->rtt_s, 1e-4);  /* 1/65536 s */
    assert_near (stats.loss, row->loss, 1e-6);
    assert_near (fmx_time_to_s (stats.jitter), row->jitter_s, 1e-4);

    path_tell (&path, i / PACKETS_PER_REPORT < 8 ? 100 * FMX_MSECOND
        : 160 * FMX_MSECOND, 0, 0);
  }
}

/* --- corners of both ------------------------------------------------------ */

static void
test_nothing_is_told_before_the_first_packet (void **state)
{
  FmxAsmpRate rate;
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_FAIR);
  assert_false (fmx_asmp_receiver_report (&path.receiver, &rate, path.now));
  path_tell (&path, 100 * FMX_MSECOND, 100000, 0);
  fmx_asmp_receiver_on_sender_report (&path.receiver, 0, NTP_EPOCH, NTP_EPOCH,
      path.now);
  assert_false (fmx_asmp_receiver_report (&path.receiver, &rate, path.now));
}

/* A joiner has no say before it has measured. */
static void
test_a_joiner_says_that_it_has_not_measured_yet (void **state)
{
  FmxAsmpRate rate;
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_FAIR);
  path_run (&path, 1.0);
  rate = path_report (&path);
  assert_false (rate.measured);
  assert_near (rate.rate_bps, 100000.0, 0.05);  /* what comes */
  path_tell (&path, 100 * FMX_MSECOND, 100000, 0);
  assert_false (path_report (&path).measured);  /* not long enough */
  path_run (&path, 2.0);
  assert_true (path_report (&path).measured);

  path_init (&path, FMX_ASMP_PAPER);
  path_run (&path, 10.0);
  assert_false (path_report (&path).measured);  /* no round-trip time */
}

/* On a path that loses much no sender report may come for long. */
static void
test_a_joiner_that_loses_tells_what_arrives (void **state)
{
  FmxAsmpRate rate;
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_FAIR);
  path.loss = 0.75;
  path_run (&path, 5.0);
  rate = path_report (&path);
  assert_true (rate.measured && rate.rtt == 0);
  assert_true (rate.rate_bps >= 0.65 * rate.received_bps);
  assert_true (rate.rate_bps <= 1.25 * rate.received_bps);
}

static void
test_what_comes_is_what_all_streams_of_the_sender_bring (void **state)
{
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_FAIR);
  path_run (&path, 5.0);
  path_tell (&path, 100 * FMX_MSECOND, 100000, 0);
  path_report (&path);
  for (unsigned i = 0; i < 100; i++) {
    path_run (&path, 0.02);
    fmx_asmp_receiver_on_companion (&path.receiver, 500,
        path.now + (FmxTime) path.one_way);
  }
  assert_near (path_report (&path).rate_bps, 600000.0, 0.02);
}

/* [RFC4828]: small packets, the rate of a TCP with full segments, from a sender
 * that follows */
static void
test_with_loss_the_rate_is_a_tcps (void **state)
{
  const double losses[] = { 0.005, 0.01, 0.02, 0.05 };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (losses); i++) {
    FmxTcpPath tcp = fmx_tcp_path (1460, 100 * FMX_MSECOND);
    double sum = 0.0;
    Path path;

    tcp.rto = 300 * FMX_MSECOND;
    path_init (&path, FMX_ASMP_FAIR);
    path.loss = losses[i];
    for (unsigned k = 0; k < 500; k++) {
      FmxAsmpRate rate;

      path_run (&path, 5.0);
      rate = path_report (&path);
      path_tell (&path, 100 * FMX_MSECOND, rate.rate_bps, OWN);
      path.wire_bytes = rate.rate_bps / 400;
      sum += k < 100 ? 0.0 : rate.rate_bps;
    }
    assert_true (sum / 400 > 0.9 * fmx_tcp_equation_bps (&tcp, losses[i]));
    assert_true (sum / 400 < 1.25 * fmx_tcp_equation_bps (&tcp, losses[i]));
  }
}

static void
test_the_paper_at_100_per_cent_tells_what_it_told_last (void **state)
{
  uint32_t before;
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_PAPER);
  path_run (&path, 5.0);
  path_report (&path);
  path_tell (&path, 100 * FMX_MSECOND, 0, 0);
  path_run (&path, 5.0);
  before = path_report (&path).rate_bps;
  path.loss = 1.0;
  path_run (&path, 5.0);
  assert_int_equal (path_report (&path).rate_bps, before);
  assert_int_equal (path_report (&path).received_bps, 0);
  path.loss = 0.0;
  path_run (&path, 5.0);        /* 250 of 500 */
  assert_near (path_report (&path).loss, 0.5 / 3.0, 0.01);
  assert_true (path_report (&path).rate_bps < before);
}

static void
test_a_stream_that_begins_anew_is_not_lost (void **state)
{
  FmxAsmpReceiverStats stats;
  Path path;

  (void) state;
  for (FmxAsmpAlgorithm a = FMX_ASMP_PAPER; a <= FMX_ASMP_FAIR; a++) {
    path_init (&path, a);
    path_run (&path, 5.0);
    path_tell (&path, 100 * FMX_MSECOND, 100000, 0);
    path_report (&path);
    path.seq += 20000;
    path.ts += 0x50000000u;
    path_run (&path, 5.0);
    path_report (&path);
    fmx_asmp_receiver_get_stats (&path.receiver, &stats, path.now);
    assert_int_equal (stats.n_restarts, 1);
    assert_true (stats.loss < 0.005);
    assert_near ((double) stats.rtt, 100.0 * FMX_MSECOND, 1e-3);
  }
}

static FmxAsmpRate
peer_rate (uint32_t bps, bool measured)
{
  FmxAsmpRate rate = { 0 };

  rate.media_ssrc = MEDIA;
  rate.rate_bps = bps;
  rate.measured = measured;
  return rate;
}

static bool
is_suppressed_by (Path * path, uint32_t peer, uint32_t limiting, bool measured)
{
  FmxAsmpRate rate = peer_rate (peer, measured);

  path_tell (path, 0, 100000, limiting);
  fmx_asmp_receiver_schedule (&path->receiver, 60 * FMX_SECOND, 0, 0.5,
      path->now);
  fmx_asmp_receiver_on_peer (&path->receiver, &rate, path->now);
  return !fmx_asmp_receiver_report (&path->receiver, &rate, path->now);
}

/* [RFC4654 2.5.3], and a liar silences nobody.  Its own rate is 200 kbit/s, twice of
 * what comes. */
static void
test_a_lower_rate_speaks_for_higher_ones_but_for_the_limiting_one (void **state)
{
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_FAIR);
  path_run (&path, 5.0);
  path_tell (&path, 100 * FMX_MSECOND, 100000, 0);
  path_report (&path);
  assert_true (is_suppressed_by (&path, 100000, 1, true));
  assert_true (is_suppressed_by (&path, 210000, 1, true));
  assert_false (is_suppressed_by (&path, 250000, 1, true));
  assert_false (is_suppressed_by (&path, 100000, OWN, true));
  assert_false (is_suppressed_by (&path, 100000, 1, false));
  assert_false (is_suppressed_by (&path, 10000, 1, true));
}

/* In a large session the last report is long ago. */
static void
test_what_others_tell_is_held_against_the_rate_of_now (void **state)
{
  FmxAsmpRate rate = peer_rate (100000, true);
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_FAIR);
  path.wire_bytes = 50;
  path_run (&path, 5.0);
  path_tell (&path, 100 * FMX_MSECOND, 20000, 1);
  assert_in_range (path_report (&path).rate_bps, 20000, 60000);
  path_tell (&path, 0, 100000, 1);
  fmx_asmp_receiver_schedule (&path.receiver, 60 * FMX_SECOND, 0, 0.5,
      path.now);
  fmx_asmp_receiver_on_peer (&path.receiver, &rate, path.now);
  path.wire_bytes = 250;
  path_run (&path, 5.0);
  assert_false (fmx_asmp_receiver_on_timeout (&path.receiver, path.now));
  assert_false (fmx_asmp_receiver_report (&path.receiver, &rate, path.now));
}

/* The sender counts no rate without a round trip, and has many to tell. */
static void
test_in_a_large_session_a_joiner_tells_one_rate_before_it_has_measured (void
    **state)
{
  FmxAsmpRate rate;
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_FAIR);
  for (unsigned i = 0; i < 3; i++) {
    path_run (&path, 10.0);
    assert_false (fmx_asmp_receiver_on_timeout (&path.receiver, path.now));
    assert_int_equal (fmx_asmp_receiver_report (&path.receiver, &rate,
            path.now), i == 0);
    fmx_asmp_receiver_schedule (&path.receiver, 60 * FMX_SECOND, 0, 0.5,
        path.now);
  }
  path_tell (&path, 100 * FMX_MSECOND, 100000, 1);
  path_run (&path, 10.0);
  assert_true (fmx_asmp_receiver_on_timeout (&path.receiver, path.now));
  assert_true (path_report (&path).measured);
}

static void
test_in_the_paper_only_similar_rates_do (void **state)
{
  Path path;

  (void) state;
  for (unsigned similar = 0; similar < 2; similar++) {
    path_init (&path, FMX_ASMP_PAPER);
    path_run (&path, 5.0);
    path_report (&path);
    assert_int_equal (is_suppressed_by (&path, similar ? 101000 : 50000, 0,
            true), similar);
  }
}

/* [RFC4585]: what is worth an early report */
static void
test_only_a_loss_that_lowers_the_senders_rate_is_urgent (void **state)
{
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_FAIR);
  path_run (&path, 5.0);
  path_tell (&path, 100 * FMX_MSECOND, 100000, 0);
  path_report (&path);
  assert_false (fmx_asmp_receiver_take_urgent (&path.receiver, path.now));
  path.loss = 0.2;
  path_run (&path, 2.0);
  path.loss = 0.0;
  path_run (&path, 0.2);
  path_tell (&path, 0, 10000000, 0);
  assert_true (fmx_asmp_receiver_take_urgent (&path.receiver, path.now));
  assert_false (fmx_asmp_receiver_take_urgent (&path.receiver, path.now));
  path.seq++;
  path_run (&path, 0.2);
  path_tell (&path, 0, 1000, 0);        /* it sends less already */
  assert_false (fmx_asmp_receiver_take_urgent (&path.receiver, path.now));
}

/* A joiner that knows neither its round trip nor what is sent yet: what it loses says that
 * it is too much, after the second that makes a rate count. */
static void
test_a_joiner_that_loses_much_is_urgent_before_its_first_report (void **state)
{
  const struct
  {
    double loss, seconds;
    bool is_urgent;
  } table[] = {
    {0.5, 0.9, false}, {0.5, 2.0, true}, {0.05, 2.0, false},
  };

  (void) state;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    Path path;

    path_init (&path, FMX_ASMP_FAIR);
    path.loss = table[i].loss;
    path_run (&path, table[i].seconds);
    assert_int_equal (fmx_asmp_receiver_take_urgent (&path.receiver, path.now
            + (FmxTime) path.one_way), table[i].is_urgent);
    if (table[i].is_urgent)
      assert_true (path_report (&path).measured);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_every_report_is_what_the_papers_formulas_give),
    cmocka_unit_test (test_nothing_is_told_before_the_first_packet),
    cmocka_unit_test (test_a_joiner_says_that_it_has_not_measured_yet),
    cmocka_unit_test (test_a_joiner_that_loses_tells_what_arrives),
    cmocka_unit_test (test_what_comes_is_what_all_streams_of_the_sender_bring),
    cmocka_unit_test (test_with_loss_the_rate_is_a_tcps),
    cmocka_unit_test (test_the_paper_at_100_per_cent_tells_what_it_told_last),
    cmocka_unit_test (test_a_stream_that_begins_anew_is_not_lost),
    cmocka_unit_test
        (test_a_lower_rate_speaks_for_higher_ones_but_for_the_limiting_one),
    cmocka_unit_test (test_what_others_tell_is_held_against_the_rate_of_now),
    cmocka_unit_test
        (test_in_a_large_session_a_joiner_tells_one_rate_before_it_has_measured),
    cmocka_unit_test (test_in_the_paper_only_similar_rates_do),
    cmocka_unit_test (test_only_a_loss_that_lowers_the_senders_rate_is_urgent),
    cmocka_unit_test
        (test_a_joiner_that_loses_much_is_urgent_before_its_first_report),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
