/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-ccfb.h"

static Receiver receiver;

/* Returns: the metric of (@ssrc, @seq) in the next report */
static FmxCcfbMetric
report_of (uint32_t ssrc, uint16_t seq, FmxTime now)
{
  uint8_t data[MTU];
  FmxCcfbReader reader;
  FmxCcfbMetric metric, found;
  size_t length;
  unsigned n = 0;

  memset (&found, 0, sizeof found);
  length = fmx_ccfb_collector_write (&receiver.collector, data, sizeof data, 0,
      now);
  assert_true (fmx_ccfb_reader_init_packet (&reader, data, length, NULL));
  while (fmx_ccfb_reader_next (&reader, &metric))
    if (metric.ssrc == ssrc && metric.seq == seq) {
      found = metric;
      n++;
    }
  assert_int_equal (n, 1);
  return found;
}

/* [RFC8888 3.1] the first copy's arrival time; CE if any copy is marked */
static void
test_of_duplicates_the_first_counts_and_any_mark (void **state)
{
  const FmxCcfbArrival plain = { 7, 1, 1, 100, 0 }, marked = { 7, 1, 3, 100, 0 };
  const FmxDuration ms125 = 125 * FMX_MSECOND;
  FmxCcfbMetric metric;

  (void) state;
  receiver_init_default (&receiver);
  fmx_ccfb_collector_on_packet (&receiver.collector, &plain, START);
  fmx_ccfb_collector_on_packet (&receiver.collector, &plain, START + ms125);
  metric = report_of (7, 1, START + 2 * ms125);
  assert_true (metric.arrival_offset == 2 * ms125);
  assert_int_equal (metric.ecn, 1);
  fmx_ccfb_collector_on_packet (&receiver.collector, &plain, START + 3 * ms125);
  assert_true (fmx_ccfb_collector_next_timeout (&receiver.collector) ==
      FMX_TIME_NONE);
  /* A mark that comes late is told, too. */
  fmx_ccfb_collector_on_packet (&receiver.collector, &marked, START + 4 * ms125);
  metric = report_of (7, 1, START + 4 * ms125);
  assert_true (metric.arrival_offset == 4 * ms125);
  assert_int_equal (metric.ecn, 3);
  assert_int_equal (collector_stats (&receiver.collector).n_duplicates,
      3);
}

static void
test_a_jump_is_believed_when_the_next_packet_confirms_it (void **state)
{
  const uint16_t to[] = { 2000, 40000, 65000 };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (to); i++) {
    receiver_init_default (&receiver);
    arrive (&receiver, 1, 10, 100, START);
    report_of (1, 10, START);
    arrive (&receiver, 1, to[i], 100, START + FMX_MSECOND);
    assert_true (fmx_ccfb_collector_next_timeout (&receiver.collector) ==
        FMX_TIME_NONE);
    arrive (&receiver, 1, 11, 100, START + 2 * FMX_MSECOND);       /* it was a stray */
    assert_true (report_of (1, 11, START + 2 * FMX_MSECOND).received);
    assert_int_equal (collector_stats (&receiver.collector).n_restarts,
        0);
    arrive (&receiver, 1, to[i], 100, START + 3 * FMX_MSECOND);
    arrive (&receiver, 1, (uint16_t) (to[i] + 1), 100, START + 4 * FMX_MSECOND);
    arrive (&receiver, 1, (uint16_t) (to[i] + 2), 100, START + 5 * FMX_MSECOND);
    assert_true (report_of (1, to[i], START + 6 * FMX_MSECOND).received);
    assert_int_equal (collector_stats (&receiver.collector).n_restarts,
        1);
    assert_int_equal (collector_stats (&receiver.collector).n_ignored,
        1);
  }
}

static void
test_a_long_silence_is_not_taken_for_loss (void **state)
{
  uint8_t data[MTU];

  (void) state;
  receiver_init_default (&receiver);
  arrive (&receiver, 1, 10, 100, START);
  report_of (1, 10, START + FMX_MSECOND);
  arrive (&receiver, 1, 400, 100, START + 9 * FMX_SECOND);
  /* One metric, and its padding */
  assert_int_equal (fmx_ccfb_collector_write (&receiver.collector, data,
          sizeof data, 0, START + 9 * FMX_SECOND), 24);
  assert_int_equal (data[15], 1);
}

static void
test_a_clock_that_steps_back_does_no_harm (void **state)
{
  (void) state;
  receiver_init_default (&receiver);
  arrive (&receiver, 1, 10, 100, START);
  arrive (&receiver, 1, 11, 100, START - 50 * FMX_SECOND);
  arrive (&receiver, 1, 12, 100, 0);
  assert_true (report_of (1, 12, 5).arrival_offset == 0);
  arrive (&receiver, 1, 13, 100, START + FMX_SECOND);
  assert_true (report_of (1, 13, START + FMX_SECOND).received);
}

/* It waited in the kernel, while another stream's packet was read and a report was made. */
static void
test_a_packet_that_waited_is_as_old_as_it_is (void **state)
{
  const FmxCcfbArrival late = { 1, 10, 0, 100, 60 * FMX_MSECOND };

  (void) state;
  receiver_init_default (&receiver);
  arrive (&receiver, 2, 20, 100, START);
  report_of (2, 20, START + 20 * FMX_MSECOND);
  arrive (&receiver, 2, 21, 100, START + 40 * FMX_MSECOND);
  fmx_ccfb_collector_on_packet (&receiver.collector, &late, START
      + 50 * FMX_MSECOND);
  assert_true (report_of (1, 10, START
          + 115 * FMX_MSECOND).arrival_offset == 125 * FMX_MSECOND);
}

static void
test_without_packets_there_is_no_report (void **state)
{
  uint8_t data[MTU];

  (void) state;
  receiver_init_default (&receiver);
  assert_true (fmx_ccfb_collector_next_timeout (&receiver.collector) ==
      FMX_TIME_NONE);
  assert_int_equal (fmx_ccfb_collector_write (&receiver.collector, data,
          sizeof data, 0, START), 0);
}

static void
test_the_reports_carry_our_ssrc (void **state)
{
  uint8_t data[MTU];
  FmxCcfbReader reader;
  uint32_t ssrc = 0;
  size_t length;

  (void) state;
  receiver_init_default (&receiver);
  fmx_ccfb_collector_set_sender_ssrc (&receiver.collector, 0xfeedbeef);
  arrive (&receiver, 1, 10, 100, START);
  length = fmx_ccfb_collector_write (&receiver.collector, data, sizeof data, 0,
      START);
  assert_true (fmx_ccfb_reader_init_packet (&reader, data, length, &ssrc));
  assert_int_equal (ssrc, 0xfeedbeef);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_of_duplicates_the_first_counts_and_any_mark),
    cmocka_unit_test (test_a_jump_is_believed_when_the_next_packet_confirms_it),
    cmocka_unit_test (test_a_long_silence_is_not_taken_for_loss),
    cmocka_unit_test (test_a_clock_that_steps_back_does_no_harm),
    cmocka_unit_test (test_a_packet_that_waited_is_as_old_as_it_is),
    cmocka_unit_test (test_without_packets_there_is_no_report),
    cmocka_unit_test (test_the_reports_carry_our_ssrc),
  };

  return cmocka_run_group_tests_name ("wire/ccfb-collector", tests, NULL, NULL);
}
