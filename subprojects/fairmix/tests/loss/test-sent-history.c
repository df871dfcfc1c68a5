/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <string.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/loss/fmx-sent-history.h"

#define MS FMX_MSECOND

static FmxSentHistory history;

static uint64_t
add (uint32_t ssrc, uint16_t seq, FmxDuration timeout, FmxTime now)
{
  FmxSentPacket packet = { 0, ssrc, seq, 200, 0 };

  fmx_sent_history_add (&history, &packet, timeout, now);
  return packet.number;
}

static FmxSentAck
ack (uint32_t ssrc, uint16_t seq)
{
  FmxSentPacket packet;

  return fmx_sent_history_acknowledge (&history, ssrc, seq, &packet);
}

static unsigned
count_lost (FmxTime now)
{
  FmxSentPacket packet;
  unsigned n = 0;

  while (fmx_sent_history_next_lost (&history, &packet, now))
    n++;
  return n;
}

static void
test_three_later_acknowledgements_mean_loss (void **state)
{
  FmxSentPacket packet;

  (void) state;
  fmx_sent_history_init (&history);
  for (uint16_t i = 0; i < 5; i++)
    add (1, i, FMX_SECOND, i * 20 * MS);
  ack (1, 1);
  ack (1, 2);
  assert_int_equal (count_lost (100 * MS), 0);
  ack (1, 3);                   /* [RFC5348 5.1] NDUPACK = 3 */
  assert_true (fmx_sent_history_next_lost (&history, &packet, 100 * MS));
  assert_int_equal (packet.seq, 0);
  assert_int_equal (packet.number, 0);
  assert_int_equal (packet.sent, 0);
  assert_int_equal (packet.wire_bytes, 200);
  assert_int_equal (count_lost (100 * MS), 0);
}

static void
test_streams_of_a_bundle_share_one_order (void **state)
{
  (void) state;
  fmx_sent_history_init (&history);
  for (uint32_t ssrc = 0; ssrc < 4; ssrc++)
    add (ssrc, (uint16_t) (1000 * ssrc), FMX_SECOND, 0);
  ack (1, 1000);
  ack (2, 2000);
  assert_int_equal (count_lost (MS), 0);
  ack (3, 3000);
  assert_int_equal (count_lost (MS), 1);        /* stream 0, unheard of */
}

static void
test_reordering_by_two_is_no_loss (void **state)
{
  (void) state;
  fmx_sent_history_init (&history);
  for (uint16_t i = 0; i < 300; i++)
    add (1, i, FMX_SECOND, i * MS);
  for (uint16_t i = 0; i < 300; i += 3) {
    ack (1, (uint16_t) (i + 2));
    assert_int_equal (count_lost (300 * MS), 0);
    ack (1, (uint16_t) (i + 1));
    assert_int_equal (count_lost (300 * MS), 0);
    ack (1, i);
  }
  assert_int_equal (fmx_sent_history_n_undecided (&history), 0);
}

static void
test_every_packet_times_out_when_all_are_lost (void **state)
{
  FmxSentHistoryStats stats;

  (void) state;
  fmx_sent_history_init (&history);
  for (uint16_t i = 0; i < 100; i++)
    add (1, i, 300 * MS, i * 20 * MS);
  assert_int_equal (fmx_sent_history_next_deadline (&history), 300 * MS);
  assert_int_equal (count_lost (299 * MS), 0);
  for (unsigned i = 0; i < 100; i++)
    assert_int_equal (count_lost (300 * MS + i * 20 * MS), 1);
  assert_int_equal (fmx_sent_history_next_deadline (&history), FMX_TIME_NONE);
  fmx_sent_history_get_stats (&history, &stats);
  assert_int_equal (stats.n_lost, 100);
}

static void
test_a_late_acknowledgement_takes_the_loss_back (void **state)
{
  FmxSentHistoryStats stats;

  (void) state;
  fmx_sent_history_init (&history);
  add (1, 7, 100 * MS, 0);
  assert_int_equal (count_lost (100 * MS), 1);
  assert_int_equal (ack (1, 7), FMX_SENT_ACK_LATE);
  assert_int_equal (ack (1, 7), FMX_SENT_ACK_AGAIN);
  fmx_sent_history_get_stats (&history, &stats);
  assert_int_equal (stats.n_lost, 0);
  assert_int_equal (stats.n_acked, 1);
  assert_int_equal (stats.n_late, 1);
  assert_int_equal (stats.n_again, 1);
}

/* [RFC6298 5.3] */
static void
test_no_packet_times_out_while_acknowledgements_come (void **state)
{
  (void) state;
  fmx_sent_history_init (&history);
  add (1, 0, 100 * MS, 0);
  add (1, 1, 100 * MS, 20 * MS);
  fmx_sent_history_postpone (&history, 150 * MS);
  assert_int_equal (fmx_sent_history_next_deadline (&history), 150 * MS);
  assert_int_equal (count_lost (149 * MS), 0);
  ack (1, 0);
  fmx_sent_history_postpone (&history, 200 * MS);
  assert_int_equal (count_lost (199 * MS), 0);
  assert_int_equal (count_lost (200 * MS), 1);
}

static void
test_deadlines_keep_send_order_when_the_timeout_shrinks (void **state)
{
  (void) state;
  fmx_sent_history_init (&history);
  add (1, 0, FMX_SECOND, 0);
  add (1, 1, 100 * MS, 20 * MS);
  assert_int_equal (count_lost (999 * MS), 0);
  assert_int_equal (count_lost (1000 * MS), 2);
}

static void
test_sequence_numbers_wrap (void **state)
{
  unsigned n_lost = 0;

  (void) state;
  fmx_sent_history_init (&history);
  for (uint32_t i = 0; i < 200000; i++) {
    add (5, (uint16_t) i, FMX_SECOND, i * (FmxTime) MS);
    if (i % 10 != 0)
      assert_int_equal (ack (5, (uint16_t) i), FMX_SENT_ACK_NEW);
    n_lost += count_lost (i * (FmxTime) MS);
  }
  assert_int_equal (n_lost, 20000);     /* every tenth, across three wraps */
  assert_int_equal (ack (5, (uint16_t) 199990), FMX_SENT_ACK_LATE);
}

static void
test_unknown_acknowledgements_change_nothing (void **state)
{
  FmxSentHistoryStats stats;

  (void) state;
  fmx_sent_history_init (&history);
  assert_int_equal (ack (1, 1), FMX_SENT_ACK_UNKNOWN);
  assert_false (fmx_sent_history_knows (&history, 1, 1));
  add (1, 1, FMX_SECOND, 0);
  assert_true (fmx_sent_history_knows (&history, 1, 1));
  assert_int_equal (ack (2, 1), FMX_SENT_ACK_UNKNOWN);
  assert_int_equal (ack (1, 2), FMX_SENT_ACK_UNKNOWN);
  assert_int_equal (fmx_sent_history_n_undecided (&history), 1);
  fmx_sent_history_get_stats (&history, &stats);
  assert_int_equal (stats.n_unknown, 3);
}

static void
test_more_packets_than_fit_are_forgotten_not_lost (void **state)
{
  FmxSentHistoryStats stats;

  (void) state;
  fmx_sent_history_init (&history);
  for (uint32_t i = 0; i < FMX_SENT_HISTORY_PACKETS + 100; i++)
    add (i, 0, FMX_SECOND, 0);  /* a flood of SSRCs */
  fmx_sent_history_get_stats (&history, &stats);
  assert_int_equal (stats.n_forgotten, 100);
  assert_int_equal (stats.n_lost, 0);
  assert_int_equal (ack (99, 0), FMX_SENT_ACK_UNKNOWN);
  assert_int_equal (ack (100, 0), FMX_SENT_ACK_NEW);
  assert_int_equal (count_lost (2 * FMX_SECOND), FMX_SENT_HISTORY_PACKETS - 1);
}

static void
test_packets_in_a_gap_of_the_feedback_are_not_lost (void **state)
{
  FmxSentHistoryStats stats;
  FmxSentPacket packet;

  (void) state;
  fmx_sent_history_init (&history);
  for (uint16_t i = 0; i < 20; i++)
    add (1, (uint16_t) (65530 + i), FMX_SECOND, i * 50 * MS);
  assert_int_equal (count_lost (1000 * MS), 1);
  assert_true (fmx_sent_history_forget (&history, 1, 65530, &packet));
  assert_int_equal (packet.number, 0);  /* whose loss is to be taken back */
  for (uint16_t i = 1; i < 10; i++)
    assert_false (fmx_sent_history_forget (&history, 1,
            (uint16_t) (65530 + i), &packet));
  for (uint16_t i = 10; i < 20; i++)
    ack (1, (uint16_t) (65530 + i));
  assert_int_equal (count_lost (9 * FMX_SECOND), 0);
  fmx_sent_history_get_stats (&history, &stats);
  assert_int_equal (stats.n_forgotten, 10);
  assert_int_equal (stats.n_lost, 0);
  /* unless a later report covers them once more */
  assert_int_equal (ack (1, 65530), FMX_SENT_ACK_NEW);
  fmx_sent_history_get_stats (&history, &stats);
  assert_int_equal (stats.n_forgotten, 9);
  assert_int_equal (stats.n_acked, 11);
}

static void
test_packets_before_the_receiver_came_are_not_lost (void **state)
{
  FmxSentHistoryStats stats;

  (void) state;
  fmx_sent_history_init (&history);
  for (uint16_t i = 0; i < 20; i++)
    add (1, i, 100 * MS, 0);
  for (uint16_t i = 12; i < 20; i++)
    ack (1, i);
  fmx_sent_history_forget_before (&history, 12);
  assert_int_equal (count_lost (FMX_SECOND), 0);
  fmx_sent_history_get_stats (&history, &stats);
  assert_int_equal (stats.n_forgotten, 12);
}

static void
test_bytes_are_those_of_the_packets_that_are_remembered (void **state)
{
  const uint64_t kept = FMX_SENT_HISTORY_PACKETS, n = kept + 100;

  (void) state;
  fmx_sent_history_init (&history);
  assert_int_equal (fmx_sent_history_bytes (&history, 0, 9), 0);
  for (uint64_t i = 0; i < n; i++) {
    FmxSentPacket packet = { 0, 1, (uint16_t) i, 100 + (uint32_t) (i % 2), 0 };

    fmx_sent_history_add (&history, &packet, FMX_SECOND, 0);
  }
  assert_int_equal (fmx_sent_history_bytes (&history, 300, 300), 100);
  assert_int_equal (fmx_sent_history_bytes (&history, 301, 304), 402);
  assert_int_equal (fmx_sent_history_bytes (&history, 304, 301), 0);
  assert_int_equal (fmx_sent_history_bytes (&history, n - 1, UINT64_MAX), 101);
  assert_int_equal (fmx_sent_history_bytes (&history, 0, UINT64_MAX),
      kept * 100 + kept / 2);
}

static void
test_find_lost_skips_what_arrived (void **state)
{
  FmxSentPacket packet;

  (void) state;
  fmx_sent_history_init (&history);
  for (uint16_t i = 0; i < 10; i++)
    add (1, i, FMX_SECOND, i * 20 * MS);
  for (uint16_t i = 0; i < 10; i++)
    if (i != 2 && i != 5)
      ack (1, i);
  assert_int_equal (count_lost (200 * MS), 2);
  assert_true (fmx_sent_history_find_lost (&history, 2, 200 * MS, &packet));
  assert_int_equal (packet.number, 5);
  assert_false (fmx_sent_history_find_lost (&history, 2, 99 * MS, &packet));
  assert_false (fmx_sent_history_find_lost (&history, 5, 200 * MS, &packet));
}

/* The definition, told naively, against the real thing. */
#define MODEL_PACKETS 3000
typedef struct
{
  uint32_t ssrc;
  uint16_t seq;
  FmxTime deadline;
  char fate;                    /* '?', 'a', 'l' */
} ModelPacket;

static unsigned
model_lose (ModelPacket *packets, unsigned n, FmxTime now)
{
  unsigned lost = 0;

  for (unsigned i = 0; i < n; i++) {
    unsigned later = 0;

    if (packets[i].fate != '?')
      continue;
    for (unsigned j = i + 1; j < n && later < 3; j++)
      later += packets[j].fate == 'a';
    if (later < 3 && now < packets[i].deadline)
      break;
    packets[i].fate = 'l';
    lost++;
  }
  return lost;
}

static void
test_any_order_of_events_agrees_with_the_definition (void **state)
{
  static ModelPacket packets[MODEL_PACKETS];

  (void) state;
  for (uint64_t seed = 0; seed < 12; seed++) {
    FmxRng rng;
    FmxTime now = 0, last_deadline = 0;
    unsigned n = 0;
    uint16_t seqs[5] = { 0, 65500, 65535, 1, 32767 };

    fmx_rng_init (&rng, seed);
    fmx_sent_history_init (&history);
    while (n < MODEL_PACKETS) {
      unsigned what = fmx_rng_next (&rng) % 8;

      now += fmx_rng_next (&rng) % (5 * MS);
      if (what < 4) {
        uint32_t ssrc = fmx_rng_next (&rng) % 5;
        FmxDuration timeout = (1 + fmx_rng_next (&rng) % 200) * MS;
        ModelPacket *packet = &packets[n];

        packet->ssrc = ssrc;
        packet->seq = seqs[ssrc]++;
        packet->fate = '?';
        packet->deadline = now + (FmxTime) timeout;
        if (packet->deadline < last_deadline)
          packet->deadline = last_deadline;
        last_deadline = packet->deadline;
        /* whole microseconds, as the ring keeps them */
        packet->deadline = now + (packet->deadline - now) / 1000 * 1000;
        assert_int_equal (add (ssrc, packet->seq, timeout, now), n);
        n++;
      } else if (what < 7 && n > 0) {
        unsigned back = fmx_rng_next (&rng) % 60;
        ModelPacket *packet = &packets[back < n ? n - 1 - back : 0];
        FmxSentAck expected = packet->fate == '?' ? FMX_SENT_ACK_NEW
            : packet->fate == 'l' ? FMX_SENT_ACK_LATE : FMX_SENT_ACK_AGAIN;

        assert_int_equal (ack (packet->ssrc, packet->seq), expected);
        packet->fate = 'a';
      }
      assert_int_equal (count_lost (now), model_lose (packets, n, now));
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_three_later_acknowledgements_mean_loss),
    cmocka_unit_test (test_streams_of_a_bundle_share_one_order),
    cmocka_unit_test (test_reordering_by_two_is_no_loss),
    cmocka_unit_test (test_every_packet_times_out_when_all_are_lost),
    cmocka_unit_test (test_a_late_acknowledgement_takes_the_loss_back),
    cmocka_unit_test (test_no_packet_times_out_while_acknowledgements_come),
    cmocka_unit_test (test_deadlines_keep_send_order_when_the_timeout_shrinks),
    cmocka_unit_test (test_sequence_numbers_wrap),
    cmocka_unit_test (test_unknown_acknowledgements_change_nothing),
    cmocka_unit_test (test_more_packets_than_fit_are_forgotten_not_lost),
    cmocka_unit_test (test_packets_in_a_gap_of_the_feedback_are_not_lost),
    cmocka_unit_test (test_packets_before_the_receiver_came_are_not_lost),
    cmocka_unit_test (test_bytes_are_those_of_the_packets_that_are_remembered),
    cmocka_unit_test (test_find_lost_skips_what_arrived),
    cmocka_unit_test (test_any_order_of_events_agrees_with_the_definition),
  };

  return cmocka_run_group_tests_name ("loss/sent-history", tests, NULL, NULL);
}
