/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A receiver as rtpsession of GStreamer 1.26 is one: per-packet feedback when a packet
 * has the marker, which voices have at their beginning only, and when a report is full;
 * RTCP as [RFC3550 6.2] has it. */
#include "fmx-test-rate-sender.h"

#include <string.h>

#include "fairmix/base/fmx-rng.h"
#include "sim/fmx-sim-link.h"

#define DELAY (10 * MS)
#define REPORT_PACKETS 598u     /* of 1400 bytes, as rtptwcc.c reckons */
#define STREAMS 8u
#define STREAM_BPS 80e3

typedef struct
{
  FmxTime at;                   /* the next one leaves ... */
  uint16_t seq;
  uint32_t highest, received;
} Voice;

typedef struct
{
  uint32_t flow;
  uint16_t seq;
  bool has_marker;
  FmxTime arrived;              /* 0 = not yet */
} Sent;

static FmxSimLink forward;
static Voice voices[STREAMS];
static Sent sent[200000];
static uint32_t n_sent, n_reported;
static unsigned n_held, report_packets;
static FmxTime report_at;
static FmxRng rng;
static FmxRateSenderParams params;

static void
on_event (void *user, const FmxEvent *event)
{
  (void) user;
  n_held += event->fields[0].value == 0.0;
}

static const FmxEventSink sink = { on_event, NULL };

static void
begin (double link_bps)
{
  FmxSimLinkParams link = { link_bps, 20000, 0, DELAY, 0.0 };

  fmx_sim_link_init (&forward, &link, 1);
  fmx_rng_init (&rng, 1);
  memset (voices, 0, sizeof voices);
  memset (sent, 0, sizeof sent);
  n_sent = n_reported = n_held = 0;
  report_packets = REPORT_PACKETS;
  report_at = 2 * (FmxTime) S;
  fmx_rate_sender_params_default (&params);
  params.klass = &fmx_rate_shortq;
  params.max_bps = 1000000;
  params.sink = &sink;
  fmx_rate_sender_init (&sender, &params, 0);
}

static void
send_packet (uint32_t flow, uint32_t bytes, FmxTime now)
{
  Sent *packet = &sent[n_sent];

  assert_true (n_sent < N_ELEMENTS (sent));
  *packet = (Sent) { flow, voices[flow].seq, voices[flow].seq == 0, 0 };
  fmx_rate_sender_on_sent (&sender, flow + 1, packet->seq, bytes, now);
  (void) fmx_sim_link_send (&forward, (FmxSimPacket) {.flow = flow,
        .wire_bytes = bytes,.data = n_sent}, now);
  voices[flow].seq++;
  n_sent++;
}

/* All voices that the rate has room for, a packet each 20 ms or so; less than one is a
 * mix. */
static void
send_voices (FmxTime now)
{
  double bps = (double) fmx_rate_sender_target_bps (&sender);

  for (uint32_t i = 0; i < STREAMS; i++) {
    double left = bps - i * STREAM_BPS;

    if (now < voices[i].at)
      continue;
    if (left >= STREAM_BPS || (i == 0 && left > 0.0))
      send_packet (i, left < STREAM_BPS ? (uint32_t) (left * 0.0025) : 200,
          now);
    voices[i].at = now + (FmxTime) (15 + fmx_rng_next (&rng) % 11) * MS;
  }
}

/* A report of all that has come since the last one, @newest at the end. */
static void
send_report (uint32_t newest, FmxTime now)
{
  static FmxCcfbMetric metrics[N_ELEMENTS (sent)];
  size_t n = 0;

  for (uint32_t i = n_reported; i <= newest; i++)
    metrics[n++] = (FmxCcfbMetric) { sent[i].flow + 1, sent[i].seq,
      sent[i].arrived > 0, 0, (FmxDuration) (now - sent[i].arrived)
    };
  fmx_rate_sender_on_metrics (&sender, metrics, n, mid32 (now),
      now + (FmxTime) DELAY);
  n_reported = newest + 1;
}

static void
receive (FmxTime now)
{
  FmxSimPacket packet;

  while (fmx_sim_link_receive (&forward, &packet, now)) {
    Sent *it = &sent[packet.data];
    Voice *voice = &voices[it->flow];

    it->arrived = now;
    voice->highest = it->seq;
    voice->received++;
    if (it->has_marker || packet.data + 1 - n_reported >= report_packets)
      send_report ((uint32_t) packet.data, now);
  }
}

static void
send_rtcp (FmxTime now)
{
  for (uint32_t i = 0; i < STREAMS; i++) {
    FmxReportBlock block = {.ssrc = i + 1,
      .ext_highest_seq = voices[i].highest,
      .cumulative_lost =
          (int32_t) (voices[i].highest + 1 - voices[i].received),
      .lsr = mid32 (now - (FmxTime) S),
      .dlsr = mid32 ((FmxTime) (S - 2 * DELAY))
    };

    if (voices[i].received > 0)
      fmx_rate_sender_on_report_block (&sender, &block, mid32 (now), now);
  }
  report_at = now + (FmxTime) (5.0 / 1.21 * (0.5 + fmx_rng_next_unit (&rng))
      * (double) S);
}

static void
run_until_s (FmxTime from_s, FmxTime until_s)
{
  for (FmxTime now = from_s * (FmxTime) S; now < until_s * (FmxTime) S;
      now += MS) {
    if (fmx_rate_sender_next_timeout (&sender) <= now)
      fmx_rate_sender_on_timeout (&sender, now);
    send_voices (now);
    if (fmx_rate_sender_take_probe (&sender, now))
      send_packet (0, 60, now);
    receive (now);
    if (now >= report_at)
      send_rtcp (now);
  }
}

/* Returns: after how many seconds the rate was @bps, 0 = not before @until_s */
static unsigned
climb (double bps, unsigned until_s)
{
  for (unsigned t = 0; t < until_s; t++) {
    run_until_s (t, t + 1);
    if ((double) fmx_rate_sender_target_bps (&sender) >= bps)
      return t + 1;
  }
  return 0;
}

static void
test_the_rate_climbs_where_reports_of_packets_are_rare (void **state)
{
  (void) state;
  begin (0.0);
  assert_in_range (climb (400e3, 60), 20, 60);
  assert_int_equal (n_held, 0);
  assert_int_equal (stats_at (60 * S).feedback,
      FMX_RATE_SENDER_FEEDBACK_REPORT_BLOCKS);
}

/* Its first packet arrived 5 s ago: the report was held back, and nobody was cut off. */
static void
test_it_climbs_by_reports_of_five_seconds_alone (void **state)
{
  (void) state;
  begin (0.0);
  report_at = FMX_TIME_NONE;
  report_packets = 250;
  assert_in_range (climb (400e3, 100), 20, 100);
  assert_int_equal (n_held, 0);
}

static void
test_it_stays_near_what_the_link_carries (void **state)
{
  (void) state;
  begin (400e3);
  assert_in_range (climb (400e3, 60), 20, 60);
  run_until_s (60, 180);
  assert_int_equal (n_held, 0);
  assert_in_range (fmx_rate_sender_target_bps (&sender), 250000, 800000);
  assert_true (forward.n_dropped < n_sent / 5);
}

/* Once it comes often again, for longer than between two reports, it counts again. */
static void
test_who_reports_often_again_counts_again (void **state)
{
  (void) state;
  begin (0.0);
  run_until_s (0, 20);
  assert_int_equal (stats_at (20 * S).feedback,
      FMX_RATE_SENDER_FEEDBACK_REPORT_BLOCKS);
  report_packets = 5;
  run_until_s (20, 25);
  assert_int_equal (stats_at (25 * S).feedback,
      FMX_RATE_SENDER_FEEDBACK_REPORT_BLOCKS);
  run_until_s (25, 30);
  assert_int_equal (stats_at (30 * S).feedback,
      FMX_RATE_SENDER_FEEDBACK_PER_PACKET);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_rate_climbs_where_reports_of_packets_are_rare),
    cmocka_unit_test (test_it_climbs_by_reports_of_five_seconds_alone),
    cmocka_unit_test (test_it_stays_near_what_the_link_carries),
    cmocka_unit_test (test_who_reports_often_again_counts_again),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
