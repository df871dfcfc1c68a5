/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-rate-sender.h"

#include <math.h>

/* Report blocks: @lost of @received + @lost since the last one. */
static FmxTime
send_reports (FmxTime from, FmxDuration interval, unsigned n, unsigned lost)
{
  static uint32_t highest;
  static int32_t cumulative;
  unsigned packets = (unsigned) (interval / (20 * MS));
  FmxTime now = from;

  if (from == 0) {
    highest = UINT32_C (0x0001fff0);
    cumulative = 0;
  }
  for (unsigned i = 0; i < n; i++) {
    FmxReportBlock block = {.ssrc = 1 };

    for (unsigned j = 0; j < packets; j++, now += 20 * MS)
      leave_at ((uint16_t) ++highest, now);
    cumulative += (int32_t) lost;
    block.ext_highest_seq = highest;
    block.cumulative_lost = cumulative;
    block.fraction_lost = (uint8_t) (256 * lost / packets);
    block.lsr = mid32 (now - 2 * S);
    block.dlsr = mid32 (2 * S - 150 * MS);
    fmx_rate_sender_on_report_block (&sender, &block, mid32 (now), now);
  }
  fmx_rate_sender_on_timeout (&sender, now + 20 * MS);
  return now;
}

static void
test_report_blocks_alone_are_enough (void **state)
{
  FmxRateSenderStats stats;
  FmxTime now;

  (void) state;
  start ();
  now = send_reports (0, S, 20, 0);
  stats = stats_at (now);
  assert_int_equal (stats.feedback, FMX_RATE_SENDER_FEEDBACK_REPORT_BLOCKS);
  assert_in_range (stats.rtt, 149 * MS, 151 * MS);
  assert_int_equal (stats.n_lost, 0);
  assert_true (fabs (stats.receive_bps - 80000.0) < 2000.0);
  assert_true (fmx_rate_sender_target_bps (&sender) > 150000);

  /* 4 %: m = 7.5 packets per RTT, one event for each 7.5 + 25 packets */
  now = send_reports (now, S, 60, 2);
  stats = stats_at (now);
  assert_int_equal (stats.n_lost, 120);
  assert_true (stats.loss_event_rate > 0.02);
  assert_true (stats.loss_event_rate < 0.045);
  assert_true (fabs (stats.loss_fraction - 0.04) < 0.01);
}

static void
test_report_blocks_that_tell_of_too_much_loss_stop_media (void **state)
{
  FmxTime now;

  (void) state;
  start ();
  now = send_reports (0, S, 10, 0);
  send_reports (now, S, 10, 15);        /* 30 % */
  assert_false (fmx_rate_sender_may_send (&sender));
}

static void
test_plain_rtcp_of_five_seconds_is_not_silence (void **state)
{
  FmxRateSenderStats stats;
  FmxTime now;

  (void) state;
  start ();
  now = send_reports (0, 4900 * MS, 20, 0);
  stats = stats_at (now);
  assert_int_equal (stats.n_no_feedback, 0);
  assert_true (fmx_rate_sender_may_send (&sender));
  assert_true (fmx_rate_sender_target_bps (&sender) >= 150000);
}

static void
test_duplicates_do_not_make_loss_negative (void **state)
{
  FmxReportBlock block = {.ssrc = 1,.ext_highest_seq = 100 };
  FmxRateSenderStats stats;

  (void) state;
  start ();
  leave (0, 300);
  fmx_rate_sender_on_report_block (&sender, &block, 0, at (100));
  block.ext_highest_seq = 200;
  block.cumulative_lost = -40;
  fmx_rate_sender_on_report_block (&sender, &block, 0, at (200));
  block.ext_highest_seq = 299;
  block.cumulative_lost = INT32_MAX;    /* a lie */
  fmx_rate_sender_on_report_block (&sender, &block, 0, at (300));
  fmx_rate_sender_on_timeout (&sender, at (310));
  stats = stats_at (at (310));
  assert_int_equal (stats.n_lost, 99);
}

static void
test_per_packet_feedback_takes_over_from_report_blocks (void **state)
{
  FmxRateSenderStats stats;
  FmxTime now;

  (void) state;
  start ();
  now = send_reports (0, S, 60, 1);
  stats = stats_at (now);
  assert_true (stats.loss_event_rate > 0.01);
  for (unsigned i = 0; i < 3000; i++, now += 20 * MS) {
    FmxCcfbMetric metric = { 1, (uint16_t) (i - 5), i >= 5, 0, 0 };

    leave_at ((uint16_t) i, now);
    fmx_rate_sender_on_metrics (&sender, &metric, 1, mid32 (now), now);
  }
  stats = stats_at (now);
  assert_int_equal (stats.feedback, FMX_RATE_SENDER_FEEDBACK_PER_PACKET);
  assert_in_range (stats.rtt, 99 * MS, 101 * MS);
  /* the losses before count less and less */
  assert_true (stats.loss_event_rate > 0.0);
  assert_true (stats.loss_event_rate < 0.003);
}

static void
test_report_blocks_take_over_when_per_packet_feedback_ends (void **state)
{
  FmxRateSenderStats stats;
  FmxTime now;

  (void) state;
  start ();
  run (0, 300, NULL);
  now = at (300);
  for (unsigned i = 0; i < 30; i++) {
    FmxReportBlock block = {.ssrc = 1,.ext_highest_seq = 300 + 50 * i };

    for (unsigned j = 0; j < 50; j++, now += 20 * MS)
      leave_at ((uint16_t) (300 + 50 * i + j), now);
    fmx_rate_sender_on_report_block (&sender, &block, 0, now);
  }
  stats = stats_at (now);
  assert_int_equal (stats.feedback, FMX_RATE_SENDER_FEEDBACK_REPORT_BLOCKS);
  assert_true (fmx_rate_sender_may_send (&sender));
}

/* Stream 2 said one thing and fell silent; the report about it comes in a packet
 * of its own, as browsers send them. */
static void
test_a_report_about_a_silent_stream_loses_nothing (void **state)
{
  FmxRateSenderStats stats;
  uint64_t before;

  (void) state;
  start ();
  fmx_rate_sender_on_sent (&sender, 2, 1, 120, 0);
  for (unsigned seq = 0; seq < 6000; seq++) {
    FmxReportBlock talks = {.ssrc = 1,.ext_highest_seq = seq };
    FmxReportBlock silent = {.ssrc = 2,.ext_highest_seq = 1 };

    leave_at ((uint16_t) seq, at (seq));
    if (seq % 250 == 20)
      fmx_rate_sender_on_report_block (&sender, &talks, 0, at (seq));
    if (seq % 250 == 240)
      fmx_rate_sender_on_report_block (&sender, &silent, 0, at (seq));
  }
  stats = stats_at (at (6000));
  assert_int_equal (stats.n_lost, 0);
  assert_int_equal (stats.n_breaker, 0);
  assert_true (fabs (stats.receive_bps - 80000.0) < 4000.0);
  before = fmx_rate_sender_target_bps (&sender);
  assert_true (before > 150000);
}

/* Each stream by a reporter of its own, one after the other. */
static void
test_streams_reported_apart_give_the_rate_of_all (void **state)
{
  FmxRateSenderStats stats;

  (void) state;
  start ();
  for (unsigned seq = 0; seq < 1500; seq++) {
    FmxReportBlock block = {.ssrc = 1,.ext_highest_seq = seq,
      .cumulative_lost = (int32_t) (seq / 50)
    };

    leave_at ((uint16_t) seq, at (seq));
    fmx_rate_sender_on_sent (&sender, 2, (uint16_t) seq, 200, at (seq));
    if (seq % 50 == 10)
      fmx_rate_sender_on_report_block (&sender, &block, 0, at (seq));
    block.ssrc = 2;
    if (seq % 50 == 35)
      fmx_rate_sender_on_report_block (&sender, &block, 0, at (seq));
  }
  stats = stats_at (at (1500));
  assert_in_range (stats.n_lost, 56, 60);
  assert_true (fabs (stats.receive_bps - 160000.0) < 8000.0);
  assert_true (fabs (stats.loss_fraction - 0.02) < 0.005);
}

/* The receiver is there, the way to it is not: its blocks stand still. */
static void
test_what_a_standing_block_leaves_out_is_lost_once (void **state)
{
  FmxReportBlock block = {.ssrc = 1 };
  FmxRateSenderStats stats;

  (void) state;
  start ();
  for (unsigned seq = 0; seq < 600; seq++) {
    leave_at ((uint16_t) seq, at (seq));
    if (seq < 300 || seq >= 500) {
      block.ext_highest_seq = seq;
      block.cumulative_lost = seq < 300 ? 0 : 200;
    }
    block.lsr = mid32 (at (seq) - 200 * MS);
    block.dlsr = mid32 (100 * MS);
    if (seq % 25 == 24)
      fmx_rate_sender_on_report_block (&sender, &block, mid32 (at (seq)),
          at (seq));
    if (seq == 475) {
      stats = stats_at (at (seq));
      assert_in_range (stats.n_lost, 140, 175);
    }
  }
  fmx_rate_sender_on_timeout (&sender, at (601));
  stats = stats_at (at (601));
  assert_int_equal (stats.n_lost, 200);
}

/* What is on its way is not lost because a report came before it. */
static void
test_what_is_on_its_way_is_not_lost (void **state)
{
  FmxReportBlock block = {.ssrc = 1 };

  (void) state;
  start ();
  for (unsigned seq = 0; seq < 600; seq++) {
    leave_at ((uint16_t) seq, at (seq));
    block.ext_highest_seq = seq - seq % 10;     /* stands for 200 ms */
    fmx_rate_sender_on_report_block (&sender, &block, 0, at (seq) + 10 * MS);
  }
  assert_int_equal (stats_at (at (600)).n_lost, 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_report_blocks_alone_are_enough),
    cmocka_unit_test (test_report_blocks_that_tell_of_too_much_loss_stop_media),
    cmocka_unit_test (test_plain_rtcp_of_five_seconds_is_not_silence),
    cmocka_unit_test (test_duplicates_do_not_make_loss_negative),
    cmocka_unit_test (test_per_packet_feedback_takes_over_from_report_blocks),
    cmocka_unit_test
        (test_report_blocks_take_over_when_per_packet_feedback_ends),
    cmocka_unit_test (test_a_report_about_a_silent_stream_loses_nothing),
    cmocka_unit_test (test_streams_reported_apart_give_the_rate_of_all),
    cmocka_unit_test (test_what_a_standing_block_leaves_out_is_lost_once),
    cmocka_unit_test (test_what_is_on_its_way_is_not_lost),
  };

  return cmocka_run_group_tests_name ("rate/rate-sender-blocks", tests, NULL,
      NULL);
}
