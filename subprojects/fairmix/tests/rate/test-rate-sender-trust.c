/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Receivers that claim what cannot be, and those who speak in their name. */

#include "fmx-test-rate-sender.h"

#include <math.h>
#include <string.h>

#include "fairmix/base/fmx-rng.h"

#define HONEST 11u
#define LIAR 22u

static unsigned n_void_events;

static void
count_event (void *user, const FmxEvent *event)
{
  (void) user;
  n_void_events += strcmp (event->reason, FMX_RATE_FEEDBACK_VOID) == 0;
}

static const FmxEventSink sink = { count_event, NULL };

static uint32_t number;         /* of the next packet, without the wrap */

static void
start_with_skips (void)
{
  FmxRateSenderParams params;

  fmx_rate_sender_params_default (&params);
  params.skip_packets = 100;
  params.seed = 4711;
  params.sink = &sink;
  fmx_rate_sender_init (&sender, &params, 0);
  number = 60000;
  n_void_events = 0;
}

/* One packet each 20 ms, as an element sends them.  Returns: its number */
static uint32_t
send_one (FmxTime now)
{
  if (fmx_rate_sender_take_skip (&sender))
    number++;
  leave_at ((uint16_t) number, now);
  return number++;
}

/* Per-packet feedback that claims [@from, @until) but what @has says no to. */
static void
acknowledge (uint64_t source, uint32_t from, uint32_t until,
    bool (*has) (uint32_t number), FmxTime now)
{
  FmxCcfbMetric metrics[256];
  size_t n = 0;

  for (uint32_t i = from; i < until && n < N_ELEMENTS (metrics); i++)
    metrics[n++] = (FmxCcfbMetric) { 1, (uint16_t) i, has == NULL || has (i),
      0, 20 * MS
    };
  fmx_rate_sender_set_source (&sender, source);
  fmx_rate_sender_on_metrics (&sender, metrics, n, mid32 (now), now);
}

static bool sent[70000 + 20000];

static bool
was_sent (uint32_t i)
{
  return sent[i];
}

static void
report_block (uint64_t source, uint32_t highest, int32_t lost, FmxTime now)
{
  FmxReportBlock block = { .ssrc = 1, .ext_highest_seq = highest,
    .cumulative_lost = lost, .lsr = mid32 (now - 200 * MS),
    .dlsr = mid32 (100 * MS)
  };

  fmx_rate_sender_set_source (&sender, source);
  fmx_rate_sender_on_report_block (&sender, &block, mid32 (now), now);
}

static void
test_a_block_about_what_was_never_sent_says_nothing (void **state)
{
  FmxRateSenderStats stats;

  (void) state;
  start ();
  for (unsigned seq = 0; seq < 1500; seq++) {
    leave_at ((uint16_t) seq, at (seq));
    if (seq % 50 == 49)
      report_block (0, seq, 0, at (seq));
    if (seq % 50 == 20 && seq > 50)     /* 30,000 ahead, and all of it lost */
      report_block (0, seq + 30000, 30000, at (seq));
    if (seq % 50 == 30 && seq > 50)     /* a whole cycle ahead */
      report_block (0, seq + 65536, 65536, at (seq));
  }
  stats = stats_at (at (1500));
  assert_int_equal (stats.n_lost, 0);
  assert_int_equal (stats.n_impossible, 58);
  assert_int_equal (stats.n_void, 0);
  assert_true (fmx_rate_sender_target_bps (&sender) > 150000);
}

/* It hides its losses by acknowledging all there is, or is not there at all. */
static void
test_who_acknowledges_what_was_left_out_is_not_believed (void **state)
{
  FmxRateSenderStats stats;
  FmxTime now = 0;

  (void) state;
  start_with_skips ();
  for (unsigned i = 0; i < 3000; i++, now += 20 * MS) {
    uint32_t highest = send_one (now);

    if (i % 5 == 4)
      acknowledge (LIAR, highest - 10, highest - 2, NULL, now);
  }
  stats = stats_at (now);
  assert_int_equal (stats.n_void, 1);
  assert_int_equal (n_void_events, 1);
  assert_true (stats.n_impossible >= 2);
  assert_false (fmx_rate_sender_may_send (&sender));
}

static void
test_who_acknowledges_what_comes_yet_is_not_believed (void **state)
{
  FmxTime now = 0;

  (void) state;
  start_with_skips ();
  for (unsigned i = 0; i < 1500; i++, now += 20 * MS) {
    uint32_t highest = send_one (now);

    if (i % 5 == 4)
      acknowledge (LIAR, highest + 1, highest + 6, NULL, now);
  }
  assert_int_equal (stats_at (now).n_void, 1);
  assert_false (fmx_rate_sender_may_send (&sender));
}

static uint32_t acknowledged;   /* up to here, by the honest receiver */

static void
start_with_an_honest_receiver (void)
{
  start_with_skips ();
  memset (sent, 0, sizeof sent);
  acknowledged = number;
}

static uint32_t
send_to_the_honest_receiver (FmxTime now)
{
  uint32_t highest = send_one (now);

  sent[highest] = true;
  return highest;
}

/* It says which of those @has that came since it said so, but for the last two: and again
 * of the last @again of those before. */
static void
acknowledge_honestly (uint32_t highest, uint32_t again,
    bool (*has) (uint32_t number), FmxTime now)
{
  acknowledge (HONEST, acknowledged > 60000 + again ? acknowledged - again
      : acknowledged, highest - 2, has, now);
  acknowledged = highest - 2;
}

static bool
is_received (uint32_t i)
{
  return sent[i] && i % 17 != 3;
}

static void
test_an_honest_receiver_is_believed_for_ever (void **state)
{
  FmxRateSenderStats stats;
  FmxTime now = 0;

  (void) state;
  start_with_an_honest_receiver ();
  for (unsigned i = 0; i < 20000; i++, now += 20 * MS) {
    uint32_t highest = send_to_the_honest_receiver (now);

    if (i % 5 == 4)
      acknowledge_honestly (highest, 20, is_received, now);
  }
  stats = stats_at (now);
  assert_true (stats.n_skipped > 150 && stats.n_skipped < 250);
  assert_int_equal (stats.n_void + stats.n_impossible, 0);
  assert_true (fmx_rate_sender_may_send (&sender));
  /* what was left out is not lost */
  assert_true (fabs ((double) stats.n_lost - 20000.0 / 17.0) < 30.0);
}

/* One forged packet, or one of the numbering before, is no proof. */
static void
test_one_impossible_claim_harms_nobody (void **state)
{
  FmxRateSenderStats stats;
  FmxTime now = 0;

  (void) state;
  start_with_an_honest_receiver ();
  for (unsigned i = 0; i < 3000; i++, now += 20 * MS) {
    uint32_t highest = send_to_the_honest_receiver (now);

    if (i == 1500)
      acknowledge (HONEST, highest + 100, highest + 110, NULL, now);
    if (i % 5 == 4)
      acknowledge_honestly (highest, 0, was_sent, now);
  }
  stats = stats_at (now);
  assert_int_equal (stats.n_impossible, 1);
  assert_int_equal (stats.n_void, 0);
  assert_int_equal (stats.n_lost, 0);
}

/* It counts as another numbering, and the next one as a gap after it. */
static void
test_a_packet_that_is_sent_far_too_late_makes_nobody_a_liar (void **state)
{
  FmxRateSenderStats stats;
  FmxTime now = 0;

  (void) state;
  start_with_an_honest_receiver ();
  for (unsigned i = 0; i < 3000; i++, now += 20 * MS) {
    uint32_t highest = send_to_the_honest_receiver (now);

    if (i % 500 == 299)
      leave_at ((uint16_t) (highest - 150), now);
    if (i % 5 == 4)
      acknowledge_honestly (highest, 0, was_sent, now);
  }
  stats = stats_at (now);
  assert_int_equal (stats.n_impossible, 0);
  assert_int_equal (stats.n_void, 0);
}

static void
test_a_second_source_does_not_count_while_the_first_is_there (void **state)
{
  FmxRateSenderStats stats;
  FmxTime now = 0;

  (void) state;
  start_with_an_honest_receiver ();
  for (unsigned i = 0; i < 1500; i++, now += 20 * MS) {
    uint32_t highest = send_to_the_honest_receiver (now);

    if (i % 5 == 4 && i < 1000)
      acknowledge_honestly (highest, 0, is_received, now);
    if (i % 5 == 4)             /* another hides the losses */
      acknowledge (LIAR, highest - 20, highest - 2, was_sent, now + MS);
    if (i == 999) {
      stats = stats_at (now);
      assert_true (stats.n_refused > 150);
      assert_true (stats.n_lost > 50);
    }
  }
  /* the first has gone: the second may be where it moved to */
  assert_int_equal (stats_at (now).n_void, 0);
  assert_true (fmx_rate_sender_may_send (&sender));
}

/* Reports each second of which each 10th packet is missing; per-packet feedback
 * of @source from 20 s on, that claims what @has has. */
static FmxTime
reports_and_a_newcomer (uint64_t source, bool (*has) (uint32_t number))
{
  FmxTime now = 0;
  int32_t lost = 0;

  start_with_skips ();
  memset (sent, 0, sizeof sent);
  for (unsigned i = 0; i < 3000; i++, now += 20 * MS) {
    uint32_t before = number, highest = send_one (now);

    lost += (int32_t) (highest - before) + (highest % 10 == 3);
    sent[highest] = true;
    if (i % 50 == 49)
      report_block (HONEST, highest, lost, now);
    if (i % 5 == 4 && i > 1000)
      acknowledge (source, highest - 10, highest - 2, has, now);
  }
  return now;
}

static bool
not_each_10th (uint32_t i)
{
  return sent[i] && i % 10 != 3;
}

static void
test_forged_feedback_does_not_take_over_from_reports (void **state)
{
  FmxRateSenderStats stats;
  FmxTime now;

  (void) state;
  now = reports_and_a_newcomer (LIAR, was_sent);
  stats = stats_at (now);
  assert_int_equal (stats.feedback, FMX_RATE_SENDER_FEEDBACK_REPORT_BLOCKS);
  assert_int_equal (stats.n_void, 1);
  assert_true (fabs (stats.loss_fraction - 0.1) < 0.03);
}

static void
test_feedback_that_agrees_with_reports_takes_over (void **state)
{
  FmxRateSenderStats stats;
  FmxTime now;

  (void) state;
  now = reports_and_a_newcomer (LIAR, not_each_10th);
  stats = stats_at (now);
  assert_int_equal (stats.feedback, FMX_RATE_SENDER_FEEDBACK_PER_PACKET);
  assert_int_equal (stats.n_void, 0);
  assert_true (fabs (stats.loss_fraction - 0.1) < 0.03);
}

static FmxTime
report_for (unsigned n_reports, bool hides)
{
  FmxTime now = 0;
  int32_t lost = 0;
  FmxRng rng;

  fmx_rng_init (&rng, 5);
  start_with_skips ();
  for (unsigned i = 0; i < 250 * n_reports; i++, now += 20 * MS) {
    uint32_t before = number, highest = send_one (now);

    lost += (int32_t) (highest - before);
    if (fmx_rng_next_unit (&rng) < 0.01)
      lost--;                   /* a duplicate */
    if (i % 250 == 249)
      report_block (HONEST, highest, hides ? 0 : lost, now);
  }
  return now;
}

static void
test_left_out_numbers_are_no_loss_in_reports (void **state)
{
  FmxRateSenderStats stats;
  FmxTime now;

  (void) state;
  now = report_for (200, false);
  stats = stats_at (now);
  assert_true (stats.n_skipped > 300);
  assert_int_equal (stats.n_void, 0);
  /* duplicates of 1 % hide some of them, never the other way round */
  assert_int_equal (stats.n_lost, 0);
  assert_true (fmx_rate_sender_may_send (&sender));
}

static void
test_reports_that_never_miss_what_was_left_out_are_void (void **state)
{
  FmxTime now;

  (void) state;
  now = report_for (30, true);
  assert_int_equal (stats_at (now).n_void, 1);
  assert_false (fmx_rate_sender_may_send (&sender));
}

/* Behind a queue of 300 ms from the fifth second on.  Each report says of its last packet
 * that it came, not when, and so no round trip is ever known. */
static void
send_without_round_trips (const FmxRateClass *klass)
{
  FmxRateSenderParams params;
  unsigned told = 0;

  fmx_rate_sender_params_default (&params);
  params.klass = klass;
  fmx_rate_sender_init (&sender, &params, 0);
  for (unsigned seq = 0; seq < 3000; seq++) {
    FmxTime delay = (FmxTime) OWD + (seq < 250 ? 0 : 300 * MS);
    FmxCcfbMetric metrics[64];
    size_t n = 0;

    leave_at ((uint16_t) seq, at (seq));
    for (; seq % 3 == 2 && at (told) + delay <= at (seq); told++)
      metrics[n++] = (FmxCcfbMetric) { 1, (uint16_t) told, true, 0,
        (FmxDuration) (at (seq) - at (told) - delay)
      };
    if (n == 0)
      continue;
    metrics[n - 1].arrival_offset = FMX_CCFB_ATO_UNKNOWN;
    fmx_rate_sender_on_metrics (&sender, metrics, n, mid32 (at (seq)),
        at (seq) + 10 * MS);
  }
}

static void
test_who_hides_when_the_newest_came_does_no_harm (void **state)
{
  (void) state;
  for (size_t i = 0; fmx_rate_classes[i] != NULL; i++) {
    send_without_round_trips (fmx_rate_classes[i]);
    assert_int_equal (stats_at (at (3000)).rtt, 0);
    assert_true (fmx_rate_sender_may_send (&sender));
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_block_about_what_was_never_sent_says_nothing),
    cmocka_unit_test (test_who_acknowledges_what_was_left_out_is_not_believed),
    cmocka_unit_test (test_who_acknowledges_what_comes_yet_is_not_believed),
    cmocka_unit_test (test_an_honest_receiver_is_believed_for_ever),
    cmocka_unit_test (test_one_impossible_claim_harms_nobody),
    cmocka_unit_test (test_who_hides_when_the_newest_came_does_no_harm),
    cmocka_unit_test
        (test_a_packet_that_is_sent_far_too_late_makes_nobody_a_liar),
    cmocka_unit_test
        (test_a_second_source_does_not_count_while_the_first_is_there),
    cmocka_unit_test (test_forged_feedback_does_not_take_over_from_reports),
    cmocka_unit_test (test_feedback_that_agrees_with_reports_takes_over),
    cmocka_unit_test (test_left_out_numbers_are_no_loss_in_reports),
    cmocka_unit_test (test_reports_that_never_miss_what_was_left_out_are_void),
  };

  return cmocka_run_group_tests_name ("rate/rate-sender-trust", tests, NULL, NULL);
}
