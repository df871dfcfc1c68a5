/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>

#include "fmx-test-ccfb.h"

#include "fairmix/base/fmx-rng.h"

#define MAX_PACKETS 40000u

/* What a sender learns of one packet, beside what is true. */
typedef struct
{
  uint32_t ssrc;
  uint16_t seq;
  bool arrived;
  FmxTime arrival;
  unsigned n_reports;
  bool reported_lost;
  bool reported_received;
  FmxTime first_report;
  FmxDuration arrival_error;
} Packet;

/* A steady load and what becomes of it. */
typedef struct
{
  unsigned n_streams;
  FmxDuration spacing;          /* of one stream's packets */
  uint32_t wire_bytes;
  double loss;
  unsigned drop_report;         /* every n-th report is lost; 0: none */
  size_t report_size;
} Load;

typedef struct
{
  Receiver receiver;
  Packet packets[MAX_PACKETS];
  unsigned n_packets;
  unsigned n_reports;
  FmxTime last_report;
  FmxDuration longest_interval;
  uint64_t media_bytes;
} Bench;

static Bench bench;

static void
bench_init (void)
{
  memset (&bench, 0, sizeof bench);
  receiver_init_default (&bench.receiver);
  bench.last_report = FMX_TIME_NONE;
}

static Packet *
find_packet (uint32_t ssrc, uint16_t seq)
{
  for (unsigned i = bench.n_packets; i-- > 0;)
    if (bench.packets[i].ssrc == ssrc && bench.packets[i].seq == seq)
      return &bench.packets[i];
  return NULL;
}

static uint32_t
ntp_mid32 (FmxTime now)
{
  return (uint32_t) (now * 65536.0 / FMX_SECOND);
}

/* The sender reads a report. */
static void
read_report (const uint8_t *data, size_t length, FmxTime now)
{
  FmxCcfbReader reader;
  FmxCcfbMetric metric;

  assert_true (fmx_ccfb_reader_init_packet (&reader, data, length, NULL));
  assert_int_equal (fmx_ccfb_reader_timestamp (&reader), ntp_mid32 (now));
  while (fmx_ccfb_reader_next (&reader, &metric)) {
    Packet *packet = find_packet (metric.ssrc, metric.seq);

    assert_non_null (packet);
    if (packet->n_reports++ == 0)
      packet->first_report = now;
    if (metric.received) {
      assert_true (packet->arrived);
      packet->reported_received = true;
      packet->arrival_error = fmx_time_diff (now, packet->arrival)
          - metric.arrival_offset;
    } else {
      packet->reported_lost = true;
    }
  }
}

static void
write_reports (FmxTime now, const Load *load)
{
  uint8_t data[MTU];
  size_t length;

  if (bench.last_report != FMX_TIME_NONE
      && fmx_time_diff (now, bench.last_report) > bench.longest_interval)
    bench.longest_interval = fmx_time_diff (now, bench.last_report);
  while ((length = fmx_ccfb_collector_write (&bench.receiver.collector, data,
              load->report_size, ntp_mid32 (now), now)) > 0) {
    assert_true (length <= load->report_size);
    bench.n_reports++;
    bench.last_report = now;
    if (load->drop_report == 0 || bench.n_reports % load->drop_report != 0)
      read_report (data, length, now);
  }
}

static void
take_packet (uint32_t ssrc, uint16_t seq, uint32_t wire_bytes, FmxTime now)
{
  bench.media_bytes += wire_bytes;
  arrive (&bench.receiver, ssrc, seq, wire_bytes, now);
}

static Packet *
send_packet (uint32_t ssrc, uint16_t seq, bool arrives, FmxTime now)
{
  Packet *packet = &bench.packets[bench.n_packets++];

  assert_true (bench.n_packets <= MAX_PACKETS);
  memset (packet, 0, sizeof *packet);
  packet->ssrc = ssrc;
  packet->seq = seq;
  packet->arrived = arrives;
  packet->arrival = now;
  return packet;
}

/* Packets and reports in the order of their times, until @end. */
static void
run_load (const Load *load, FmxTime end, uint64_t seed)
{
  FmxRng rng;
  FmxDuration step = load->spacing / load->n_streams;
  unsigned n = 0;

  fmx_rng_init (&rng, seed);
  for (FmxTime now = START; now < end; now += (uint64_t) step, n++) {
    uint32_t ssrc = 1000 + n % load->n_streams;
    uint16_t seq = (uint16_t) (65500 + n / load->n_streams);
    bool arrives = fmx_rng_next_unit (&rng) >= load->loss;
    FmxTime due;

    while ((due = fmx_ccfb_collector_next_timeout (&bench.receiver.collector)) <= now)
      write_reports (due, load);
    send_packet (ssrc, seq, arrives, now);
    if (arrives)
      take_packet (ssrc, seq, load->wire_bytes, now);
  }
  for (;;) {
    FmxTime due = fmx_ccfb_collector_next_timeout (&bench.receiver.collector);

    if (due == FMX_TIME_NONE)
      break;
    write_reports (due, load);
  }
}

/* Of each stream, packets before the first and after the last that arrived
 * cannot be known to the receiver. */
static bool
is_knowable (const Packet *packet)
{
  bool earlier = false, later = false;

  for (unsigned i = 0; i < bench.n_packets; i++) {
    const Packet *other = &bench.packets[i];

    if (other->ssrc != packet->ssrc || !other->arrived)
      continue;
    earlier = earlier || other <= packet;
    later = later || other >= packet;
  }
  return earlier && later;
}

static void
assert_all_is_told (void)
{
  for (unsigned i = 0; i < bench.n_packets; i++) {
    const Packet *packet = &bench.packets[i];

    if (!is_knowable (packet))
      continue;
    assert_true (packet->n_reports > 0);
    assert_int_equal (packet->reported_received, packet->arrived);
    if (packet->arrived) {
      /* 1/1024 s steps, rounded, and 1 us of the memory */
      assert_true (llabs (packet->arrival_error) <= FMX_SECOND / 2048 + 1000);
      assert_false (packet->reported_lost);
    } else {
      assert_true (packet->reported_lost);
    }
  }
}

/* Wire sizes and spacings of speech: Opus 24 kbit/s, G.711, and a bundle. */
static const Load loads[] = {
  {1, 20 * FMX_MSECOND, 100, 0.0, 0, MTU},
  {2, 20 * FMX_MSECOND, 120, 0.05, 0, MTU},
  {8, 20 * FMX_MSECOND, 196, 0.0, 0, MTU},
  {8, 20 * FMX_MSECOND, 196, 0.1, 0, MTU},
  {32, 20 * FMX_MSECOND, 120, 0.02, 0, MTU},
  {64, 60 * FMX_MSECOND, 80, 0.3, 0, 200},
  {3, 10 * FMX_MSECOND, 70, 0.01, 0, FMX_CCFB_MIN_PACKET_BYTES},
  {1, FMX_MSECOND, 1228, 0.01, 0, MTU},
};

static void
test_every_packet_is_told_of_with_its_arrival_time (void **state)
{
  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (loads); i++) {
    bench_init ();
    run_load (&loads[i], START + 3 * FMX_SECOND, i);
    assert_all_is_told ();
    assert_int_equal (collector_stats (&bench.receiver.collector).n_unreported, 0);
  }
}

/* [RFC3550 6.2] five per cent, beyond one longest interval's credit */
static void
test_reports_take_no_more_than_their_part_of_the_rate (void **state)
{
  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (loads); i++) {
    FmxCcfbCollectorStats stats;
    double share, duration_s = 6.0;

    bench_init ();
    run_load (&loads[i], START + (FmxDuration) duration_s * FMX_SECOND, i);
    fmx_ccfb_collector_get_stats (&bench.receiver.collector, &stats);
    assert_true (stats.media_bytes == bench.media_bytes);
    share = (double) stats.report_bytes / (double) stats.media_bytes;
    if (loads[i].report_size == MTU && share > 0.05 * (1 + 1.0 / duration_s))
      fail_msg ("load %zu: %.2f %%", i, 100 * share);
  }
}

static void
test_a_bundle_gets_reports_once_a_round_trip (void **state)
{
  (void) state;
  bench_init ();
  run_load (&loads[2], START + 10 * FMX_SECOND, 0);
  /* Eight G.711 streams: 50 ms on the average */
  assert_in_range (bench.n_reports, 180, 300);
  assert_true (bench.longest_interval < 100 * FMX_MSECOND);
}

static void
test_no_report_is_held_back_longer_than_the_longest_interval (void **state)
{
  const Load thin = { 1, 250 * FMX_MSECOND, 60, 0.0, 0, MTU };

  (void) state;
  bench_init ();
  run_load (&thin, START + 20 * FMX_SECOND, 0);
  for (unsigned i = 0; i < bench.n_packets; i++)
    assert_true (fmx_time_diff (bench.packets[i].first_report,
            bench.packets[i].arrival) <= 500 * FMX_MSECOND);
}

static void
test_one_lost_report_loses_nothing_where_the_budget_allows (void **state)
{
  Load load = loads[2];

  (void) state;
  load.drop_report = 2;
  bench_init ();
  run_load (&load, START + 3 * FMX_SECOND, 0);
  for (unsigned i = 0; i < bench.n_packets; i++) {
    /* While the rate is not known yet nothing can be said twice. */
    if (bench.packets[i].arrival > START + 200 * FMX_MSECOND)
      assert_true (bench.packets[i].reported_received);
  }
  assert_true (collector_stats (&bench.receiver.collector).n_repeats > 0);
}

static void
test_a_thin_stream_says_nothing_twice (void **state)
{
  (void) state;
  bench_init ();
  run_load (&loads[0], START + 10 * FMX_SECOND, 0);
  assert_true (collector_stats (&bench.receiver.collector).n_repeats == 0);
  for (unsigned i = 0; i < bench.n_packets; i++)
    assert_int_equal (bench.packets[i].n_reports, 1);
}

/* Returns: the time at which the loss of packet @lost is told */
static FmxTime
run_with_one_loss (unsigned lost, bool comes_late)
{
  const Load load = { 1, 20 * FMX_MSECOND, 100, 0.0, 0, MTU };
  FmxTime now = START, told = FMX_TIME_NONE;

  bench_init ();
  for (unsigned i = 0; i < lost + 40; i++, now += 20 * FMX_MSECOND) {
    FmxTime due;
    Packet *packet;

    while ((due = fmx_ccfb_collector_next_timeout (&bench.receiver.collector)) <= now)
      write_reports (due, &load);
    packet = send_packet (1, (uint16_t) i, i != lost || comes_late, now);
    if (i != lost)
      take_packet (1, (uint16_t) i, 100, now);
    if (i == lost + 2 && comes_late)
      take_packet (1, (uint16_t) lost, 100, now + 1);
    if (i == lost && comes_late)
      packet->arrival = now + 40 * FMX_MSECOND + 1;
  }
  for (unsigned i = 0; i < bench.n_packets; i++)
    if (bench.packets[i].reported_lost)
      told = fmx_time_min (told, bench.packets[i].first_report);
  return told;
}

static void
test_a_loss_is_told_at_the_third_packet_after_it (void **state)
{
  (void) state;
  for (unsigned lost = 60; lost < 100; lost++) {
    FmxTime third = START + (lost + 3) * (uint64_t) (20 * FMX_MSECOND);

    assert_true (run_with_one_loss (lost, false) <= third);
  }
}

static void
test_a_packet_that_is_only_late_hastens_nothing (void **state)
{
  (void) state;
  for (unsigned lost = 60; lost < 100; lost++) {
    run_with_one_loss (lost, true);
    assert_true (collector_stats (&bench.receiver.collector).n_urgent == 0);
    assert_true (collector_stats (&bench.receiver.collector).n_late == 1);
    assert_true (find_packet (1, (uint16_t) lost)->reported_received);
  }
}

/* 2,000 tiny packets a second: 5 % of them cannot pay for their metrics. */
static void
test_the_window_never_overflows (void **state)
{
  Load tiny = { 1, FMX_MSECOND / 2, 40, 0.05, 0, MTU };

  (void) state;
  for (; tiny.loss < 0.5; tiny.loss += 0.4) {
    bench_init ();
    run_load (&tiny, START + 3 * FMX_SECOND, 0);
    assert_all_is_told ();
    assert_int_equal (collector_stats (&bench.receiver.collector).n_unreported, 0);
  }
}

/* 50 packets a second that leave out 299 numbers each: a window is full with every
 * other one, and costs thirty times what two packets can pay. */
static void
test_numbers_that_are_left_out_buy_no_reports (void **state)
{
  const Load load = { 1, 0, 0, 0.0, 0, MTU };
  FmxTime now = START;

  (void) state;
  bench_init ();
  for (unsigned i = 0; i < 500; i++, now += 20 * FMX_MSECOND) {
    FmxTime due;

    while ((due = fmx_ccfb_collector_next_timeout (&bench.receiver.collector))
        <= now) {
      uint8_t data[MTU];

      bench.n_reports += fmx_ccfb_collector_write (&bench.receiver.collector,
          data, load.report_size, ntp_mid32 (due), due) > 0;
    }
    take_packet (1, (uint16_t) (300 * i), 40, now);
  }
  /* one each 500 ms, and one after it on credit */
  assert_in_range (bench.n_reports, 15, 42);
}

static void
test_a_flood_of_ssrcs_pushes_out_the_idle_only (void **state)
{
  FmxRng rng;
  FmxTime now = START;
  FmxCcfbCollectorStats stats;

  (void) state;
  fmx_rng_init (&rng, 64);
  bench_init ();
  for (unsigned i = 0; i < 500; i++, now += 20 * FMX_MSECOND) {
    for (uint32_t talker = 0; talker < 8; talker++) {
      send_packet (talker, (uint16_t) i, true, now);
      take_packet (talker, (uint16_t) i, 100, now);
    }
    for (unsigned j = 0; j < 50; j++) {
      uint32_t ssrc = fmx_rng_next (&rng) | 0x80000000;
      uint16_t seq = (uint16_t) fmx_rng_next (&rng);

      take_packet (ssrc, seq, 60, now);
      if (bench.n_packets < MAX_PACKETS - 8)
        send_packet (ssrc, seq, true, now);
    }
    if (i < 250)
      write_reports (now, &loads[2]);
  }
  fmx_ccfb_collector_get_stats (&bench.receiver.collector, &stats);
  assert_int_equal (stats.n_streams, MAX_STREAMS);
  assert_true (stats.n_evicted > 20000);
  for (unsigned i = 0; i < bench.n_packets; i++)
    if (bench.packets[i].ssrc < 8
        && bench.packets[i].arrival < START + 249 * 20 * FMX_MSECOND)
      assert_true (bench.packets[i].reported_received);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_every_packet_is_told_of_with_its_arrival_time),
    cmocka_unit_test (test_reports_take_no_more_than_their_part_of_the_rate),
    cmocka_unit_test (test_a_bundle_gets_reports_once_a_round_trip),
    cmocka_unit_test
        (test_no_report_is_held_back_longer_than_the_longest_interval),
    cmocka_unit_test
        (test_one_lost_report_loses_nothing_where_the_budget_allows),
    cmocka_unit_test (test_a_thin_stream_says_nothing_twice),
    cmocka_unit_test (test_a_loss_is_told_at_the_third_packet_after_it),
    cmocka_unit_test (test_a_packet_that_is_only_late_hastens_nothing),
    cmocka_unit_test (test_the_window_never_overflows),
    cmocka_unit_test (test_numbers_that_are_left_out_buy_no_reports),
    cmocka_unit_test (test_a_flood_of_ssrcs_pushes_out_the_idle_only),
  };

  return cmocka_run_group_tests_name ("wire/ccfb-collector-load", tests, NULL, NULL);
}
