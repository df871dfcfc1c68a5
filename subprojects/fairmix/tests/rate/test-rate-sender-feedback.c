/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-rate-sender.h"

#include <math.h>

#include "fairmix/base/fmx-rng.h"

static bool
every_50th (unsigned seq)
{
  return seq % 50 == 25;
}

static bool
in_200s (unsigned seq)
{
  return seq >= 200 && seq < 210;
}

static void
test_hold_time_is_subtracted (void **state)
{
  FmxRateSenderStats stats;

  (void) state;
  start ();
  leave (0, 60);
  report (0, 30, NULL);         /* the first one waited 580 ms */
  stats = stats_at (2 * S);
  assert_int_equal (stats.rtt, 100 * MS);
  report (30, 60, NULL);
  stats = stats_at (2 * S);
  assert_int_equal (stats.rtt, 100 * MS);
}

static void
test_loss_is_seen_in_the_feedback (void **state)
{
  FmxRateSenderStats stats;

  (void) state;
  start ();
  run (0, 1500, every_50th);
  stats = stats_at (30 * (FmxTime) S);
  assert_int_equal (stats.n_lost, 30);
  assert_int_equal (stats.n_loss_events, 30);
  assert_true (fabs (stats.loss_event_rate - 0.02) < 0.001);
  assert_true (fabs (stats.loss_fraction - 0.02) < 0.005);
}

static bool
number_250 (unsigned seq)
{
  return seq == 250;
}

/* [RFC5348 6.3.1] X_target is what was received: p is not 1 / 1 */
static void
test_the_first_loss_leaves_what_was_received (void **state)
{
  FmxRateSenderStats stats;

  (void) state;
  start ();
  run (0, 258, number_250);
  stats = stats_at (at (258));
  assert_int_equal (stats.n_loss_events, 1);
  assert_true (stats.equation_bps > 75000.0);
  assert_true (stats.equation_bps < 110000.0);
  assert_true (fmx_rate_sender_may_send (&sender));
}

/* A queue that grows by half a second a second: each packet is later than its
 * deadline foresaw, none is lost. */
static void
test_a_growing_queue_is_no_loss (void **state)
{
  unsigned acked = 0;

  (void) state;
  start ();
  run (0, 300, NULL);
  acked = 300;
  for (unsigned seq = 300; seq < 450; seq++) {
    FmxTime now = at (seq);

    leave_at ((uint16_t) seq, now);
    /* packet n comes back 100 ms + (n - 300) * 10 ms after it left */
    while (acked < seq && at (acked) + 100 * MS + (acked - 300) * 10 * MS
        <= now) {
      FmxCcfbMetric metric = { 1, (uint16_t) acked++, true, 0, 0 };

      fmx_rate_sender_on_metrics (&sender, &metric, 1, 0, now);
    }
  }
  assert_true (acked > 380);
  assert_int_equal (stats_at (at (450)).n_late, 0);
  assert_int_equal (stats_at (at (450)).n_lost, 0);
}

static void
test_a_late_acknowledgement_takes_event_and_loss_back (void **state)
{
  FmxRateSenderStats stats;

  (void) state;
  start ();
  run (0, 300, in_200s);
  stats = stats_at (6 * S);
  assert_int_equal (stats.n_lost, 10);
  assert_int_equal (stats.n_loss_events, 2);    /* 200 ms are two RTTs */
  assert_true (stats.loss_event_rate > 0.0);
  report (200, 210, NULL);      /* they had only been late */
  stats = stats_at (6 * S);
  assert_int_equal (stats.n_lost, 0);
  assert_int_equal (stats.n_late, 10);
  assert_int_equal (stats.n_loss_events, 0);
  assert_true (stats.loss_event_rate == 0.0);
  assert_true (stats.loss_fraction == 0.0);
  assert_true (stats.equation_bps == 0.0);
}

static void
test_overlapping_and_repeated_reports_count_once (void **state)
{
  FmxRateSenderStats stats;

  (void) state;
  start ();
  leave (0, 300);
  for (unsigned from = 0; from < 290; from += 3) {
    report (from, from + 10, every_50th);
    report (from, from + 10, every_50th);
  }
  stats = stats_at (6 * S);
  assert_int_equal (stats.n_lost, 6);
  assert_int_equal (stats.n_acked, 298 - 6);
  assert_true (stats.receive_bps < 100000.0);
}

/* [RFC8888 5]: a report that is lost says nothing of the packets. */
static void
test_a_lost_report_is_not_lost_media (void **state)
{
  FmxRateSenderStats stats;

  (void) state;
  start ();
  run (0, 300, NULL);
  leave (300, 320);
  report (312, 315, NULL);      /* those about 300 ... 311 were lost */
  report (315, 318, NULL);
  fmx_rate_sender_on_timeout (&sender, at (330));
  stats = stats_at (at (330));
  assert_int_equal (stats.n_lost, 0);
  assert_int_equal (stats.n_forgotten, 12);
  assert_true (stats.loss_event_rate == 0.0);
  report (300, 312, NULL);      /* unless it is said later */
  assert_int_equal (stats_at (at (330)).n_forgotten, 0);
}

static void
test_what_timed_out_in_a_gap_of_the_feedback_is_taken_back (void **state)
{
  FmxRateSenderStats stats;

  (void) state;
  start ();
  run (0, 300, NULL);
  leave (300, 360);             /* 1.2 s without feedback */
  stats = stats_at (at (360));
  assert_true (stats.n_lost > 20);
  report (355, 358, NULL);
  stats = stats_at (at (360));
  assert_int_equal (stats.n_lost, 0);
  assert_int_equal (stats.n_loss_events, 0);
}

static bool
all_of_them (unsigned seq)
{
  (void) seq;
  return true;
}

static void
test_a_report_of_losses_alone_leaves_no_hole (void **state)
{
  (void) state;
  start ();
  run (0, 300, NULL);
  leave (300, 320);
  report (300, 312, all_of_them);       /* late, and nothing arrived */
  report (312, 318, NULL);
  assert_int_equal (stats_at (at (320)).n_lost, 12);
}

/* A hole in a feedback that comes when it should is what it looks like. */
static void
test_a_receiver_that_skips_lost_packets_hides_nothing (void **state)
{
  FmxRateSenderStats stats;

  (void) state;
  start ();
  run (0, 300, NULL);
  leave (300, 310);
  report (302, 303, NULL);      /* begins after the two that are missing */
  report (303, 308, NULL);
  stats = stats_at (at (310));
  assert_int_equal (stats.n_lost, 2);
}

static void
test_ecn_marks_are_loss_events (void **state)
{
  FmxRateSenderStats stats;

  (void) state;
  start ();
  run (0, 300, NULL);
  leave (300, 303);
  {
    FmxCcfbMetric metrics[] = {
      {1, 300, true, 1, 0}, {1, 301, true, 3, 0}, {1, 302, true, 2, 0}
    };

    fmx_rate_sender_on_metrics (&sender, metrics, 3, 0, at (308));
  }
  stats = stats_at (at (310));
  assert_int_equal (stats.n_loss_events, 1);    /* [RFC5348 5.1] CE only */
  assert_int_equal (stats.n_lost, 0);
}

static bool told_only_marks;
static FmxDuration told_spread;

static void
note_only_marks (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  (void) rc;
  (void) now;
  told_only_marks = fb->only_marks;
  told_spread = fb->delay_spread;
}

static void
keep (FmxRateController *rc, FmxTime now)
{
  (void) rc;
  (void) now;
}

static const FmxRateClass listener = {
  .name = "listener",
  .description = "hears what there is to hear",
  .on_feedback = note_only_marks,
  .on_no_feedback = keep
};

static void
mark (unsigned seq)
{
  FmxCcfbMetric metric = { 1, (uint16_t) seq, true, 3, 0 };

  fmx_rate_sender_on_metrics (&sender, &metric, 1, mid32 (at (seq) + OWD),
      at (seq) + 2 * OWD);
}

static void
start_to_listen (void)
{
  FmxRateSenderParams params;

  fmx_rate_sender_params_default (&params);
  params.klass = &listener;
  fmx_rate_sender_init (&sender, &params, 0);
}

/* Three packets, 20 ms apart, that came 20 and 50 ms apart */
static void
test_tells_by_how_much_delays_differ (void **state)
{
  FmxCcfbMetric metrics[] = {
    {1, 100, true, 0, 70 * MS}, {1, 101, true, 0, 50 * MS}, {1, 102, true, 0, 0}
  };

  (void) state;
  start_to_listen ();
  run (0, 100, NULL);
  assert_int_equal (told_spread, 0);
  leave (100, 103);
  fmx_rate_sender_on_metrics (&sender, metrics, 3, mid32 (at (102) + 2 * OWD),
      at (102) + 3 * OWD);
  assert_int_equal (told_spread, 30 * MS);
}

static void
test_marks_are_all_there_is_until_a_packet_is_lost (void **state)
{
  (void) state;
  start_to_listen ();
  run (0, 100, NULL);
  assert_false (told_only_marks);
  for (unsigned i = 100; i < 130; i += 6) {
    leave (i, i + 6);
    mark (i);
    report (i + 1, i + 6, NULL);
    assert_true (told_only_marks);
  }
  run (130, 300, number_250);
  assert_false (told_only_marks);
  for (unsigned i = 300; i < 420; i += 6) {
    leave (i, i + 6);
    mark (i);
    report (i + 1, i + 6, NULL);
    assert_false (told_only_marks && i < 330);
  }
  assert_true (told_only_marks);        /* eight intervals ago: [RFC5348 5.4] */
}

static void
test_reordering_by_two_is_no_loss (void **state)
{
  FmxRateSenderStats stats;

  (void) state;
  start ();
  leave (0, 300);
  for (unsigned seq = 0; seq < 300; seq += 3) {
    FmxCcfbMetric late[] = { {1, (uint16_t) (seq + 2), true, 0, 0} };
    FmxCcfbMetric rest[] = {
      {1, (uint16_t) seq, true, 0, 0}, {1, (uint16_t) (seq + 1), true, 0, 0}
    };

    fmx_rate_sender_on_metrics (&sender, late, 1, 0, at (seq + 7));
    fmx_rate_sender_on_metrics (&sender, rest, 2, 0, at (seq + 7) + MS);
  }
  stats = stats_at (at (310));
  assert_int_equal (stats.n_loss_events, 0);
  assert_int_equal (stats.n_late, 0);
}

static void
test_sequence_numbers_wrap (void **state)
{
  FmxRateSenderStats stats;

  (void) state;
  start ();
  run (65400, 65400 + 600, every_50th);
  stats = stats_at (at (66000));
  assert_int_equal (stats.n_lost, 12);
  assert_int_equal (stats.n_forgotten, 0);
  assert_int_equal (stats.n_acked, 588);
}

/* tfrc.c divides by the packets of the last loss event. */
static void
test_farstream_divides_by_zero_when_all_is_lost (void **state)
{
  FmxRateSenderStats stats;

  (void) state;
  start ();
  run (0, 30, NULL);
  leave (30, 3000);
  stats = stats_at (at (3000));
  assert_true (stats.loss_event_rate <= 1.0);
  assert_true (stats.loss_event_rate > 0.5);
  assert_true (stats.loss_fraction == 1.0);
  assert_true (isfinite (stats.equation_bps));
}

/* The feedback timer stays 0 if the first RTT arrives after the first packet;
 * here feedback can come at any time, even before anything is known. */
static void
test_farstream_first_rtt_comes_after_the_first_packet (void **state)
{
  FmxRateSenderStats stats;

  (void) state;
  start ();
  leave (0, 3);
  assert_true (fmx_rate_sender_next_timeout (&sender) > at (3));
  {
    /* it arrived, but nobody knows when: no RTT */
    FmxCcfbMetric metrics[] = { {1, 0, true, 0, FMX_CCFB_ATO_UNKNOWN} };

    fmx_rate_sender_on_metrics (&sender, metrics, 1, 0, at (5));
  }
  stats = stats_at (at (5));
  assert_int_equal (stats.rtt, 0);
  assert_int_equal (stats.feedback, FMX_RATE_SENDER_FEEDBACK_PER_PACKET);
  assert_true (fmx_rate_sender_next_timeout (&sender) > at (5));
  assert_true (fmx_rate_sender_next_timeout (&sender) < at (5) + 5 * S);
  assert_true (fmx_rate_sender_may_send (&sender));
}

static void
test_malformed_feedback_changes_nothing_but_a_counter (void **state)
{
  uint8_t data[64];
  FmxRateSenderStats before, after;
  FmxRng rng;

  (void) state;
  start ();
  run (0, 300, NULL);
  before = stats_at (6 * S);
  assert_false (fmx_rate_sender_on_ccfb (&sender, NULL, 0, 6 * S));
  fmx_rng_init (&rng, 1);
  for (unsigned i = 0; i < 2000; i++) {
    for (size_t j = 0; j < sizeof data; j++)
      data[j] = (uint8_t) fmx_rng_next (&rng);
    data[6] = 0xff;             /* more reports than there is room for */
    assert_false (fmx_rate_sender_on_ccfb (&sender, data,
            8 + fmx_rng_next (&rng) % (sizeof data - 8), 6 * S));
  }
  after = stats_at (6 * S);
  assert_int_equal (after.n_malformed, 2001);
  after.n_malformed = 0;
  assert_memory_equal (&before, &after, sizeof before);
}

static void
test_feedback_about_strangers_changes_nothing (void **state)
{
  FmxCcfbMetric metrics[] = {
    {77, 1, true, 0, 0}, {1, 40000, true, 0, 0}, {1, 5000, false, 0, 0}
  };
  FmxReportBlock block = {.ssrc = 99,.fraction_lost = 255 };
  FmxRateSenderStats stats;

  (void) state;
  start ();
  leave (0, 10);
  fmx_rate_sender_on_metrics (&sender, metrics, 3, 0, at (10));
  fmx_rate_sender_on_report_block (&sender, &block, 0, at (10));
  stats = stats_at (at (10));
  assert_int_equal (stats.feedback, FMX_RATE_SENDER_FEEDBACK_NONE);
  assert_int_equal (stats.n_unknown, 3);
  assert_int_equal (stats.n_lost, 0);
}

/* Each 18 hours: what the delays look like goes on being known. */
static void
test_the_receivers_clock_wraps_unnoticed (void **state)
{
  FmxDelayShapeStats shape;

  (void) state;
  start ();
  for (unsigned seq = 0; seq < 6000; seq++) {
    FmxDuration offset = at (3) - (FmxTime) OWD;
    FmxCcfbMetric metric = { 1, (uint16_t) (seq - 3), true, 0, offset };

    leave_at ((uint16_t) seq, at (seq));
    if (seq >= 3)
      fmx_rate_sender_on_metrics (&sender, &metric, 1, mid32 (at (seq))
          - mid32 (60 * S), at (seq) + OWD / 4);
  }
  fmx_rate_sender_get_delay_shape (&sender, &shape);
  assert_in_range (shape.n_intervals, 330, 343);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_hold_time_is_subtracted),
    cmocka_unit_test (test_loss_is_seen_in_the_feedback),
    cmocka_unit_test (test_the_first_loss_leaves_what_was_received),
    cmocka_unit_test (test_a_growing_queue_is_no_loss),
    cmocka_unit_test (test_a_late_acknowledgement_takes_event_and_loss_back),
    cmocka_unit_test (test_overlapping_and_repeated_reports_count_once),
    cmocka_unit_test (test_a_lost_report_is_not_lost_media),
    cmocka_unit_test
        (test_what_timed_out_in_a_gap_of_the_feedback_is_taken_back),
    cmocka_unit_test (test_a_report_of_losses_alone_leaves_no_hole),
    cmocka_unit_test (test_a_receiver_that_skips_lost_packets_hides_nothing),
    cmocka_unit_test (test_ecn_marks_are_loss_events),
    cmocka_unit_test (test_tells_by_how_much_delays_differ),
    cmocka_unit_test (test_marks_are_all_there_is_until_a_packet_is_lost),
    cmocka_unit_test (test_reordering_by_two_is_no_loss),
    cmocka_unit_test (test_sequence_numbers_wrap),
    cmocka_unit_test (test_farstream_divides_by_zero_when_all_is_lost),
    cmocka_unit_test (test_farstream_first_rtt_comes_after_the_first_packet),
    cmocka_unit_test (test_malformed_feedback_changes_nothing_but_a_counter),
    cmocka_unit_test (test_feedback_about_strangers_changes_nothing),
    cmocka_unit_test (test_the_receivers_clock_wraps_unnoticed),
  };

  return cmocka_run_group_tests_name ("rate/rate-sender-feedback", tests, NULL,
      NULL);
}
