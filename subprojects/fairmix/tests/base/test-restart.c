/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/base/fmx-restart.h"

#define CLOCK_RATE_HZ 48000u
#define PACKET_TS 960u          /* 20 ms */
#define PACKET_TIME (20 * FMX_MSECOND)

static FmxRestart restart;
static FmxTime now;
static FmxDuration silence;

static FmxRestartVerdict
packet (uint16_t seq, uint32_t ts)
{
  now += PACKET_TIME;
  return fmx_restart_on_packet (&restart, seq, ts, CLOCK_RATE_HZ, silence,
      now);
}

/* @n packets in order, the last one with these numbers. */
static void
run_up_to (uint16_t seq, uint32_t ts, unsigned n)
{
  fmx_restart_init (&restart);
  silence = 0;
  now = FMX_SECOND;
  for (unsigned i = n; i-- > 0;)
    assert_int_equal (packet ((uint16_t) (seq - i), ts - i * PACKET_TS),
        FMX_RESTART_NO);
}

static void
test_wraps_are_no_restart (void **state)
{
  (void) state;
  run_up_to (50, 50 * PACKET_TS, 200000);
}

static void
test_loss_and_misorder_are_no_restart (void **state)
{
  const uint32_t ts = 5000 * PACKET_TS;

  (void) state;
  run_up_to (5000, ts, 100);
  assert_int_equal (packet (4900, ts - 100 * PACKET_TS), FMX_RESTART_NO);
  assert_int_equal (packet (5000, ts), FMX_RESTART_NO);
  now += 2999 * PACKET_TIME;
  assert_int_equal (packet (8000, ts + 3000 * PACKET_TS), FMX_RESTART_NO);
}

static void
test_a_pause_is_no_restart (void **state)
{
  (void) state;
  run_up_to (5000, 0, 100);
  now += 3600 * FMX_SECOND;
  assert_int_equal (packet (5001, 3600 * CLOCK_RATE_HZ), FMX_RESTART_NO);
  now += 3600 * FMX_SECOND;     /* and one that stops its RTP clock, too */
  assert_int_equal (packet (5002, 3600 * CLOCK_RATE_HZ + PACKET_TS),
      FMX_RESTART_NO);
}

static void
test_one_stray_packet_is_no_restart (void **state)
{
  const uint32_t ts = 5000 * PACKET_TS;

  (void) state;
  run_up_to (5000, ts, 100);
  assert_int_equal (packet (1000, 0), FMX_RESTART_DOUBTFUL);
  assert_int_equal (packet (5001, ts + PACKET_TS), FMX_RESTART_NO);
  assert_int_equal (packet (1001, PACKET_TS), FMX_RESTART_DOUBTFUL);
  assert_int_equal (packet (1003, 3 * PACKET_TS), FMX_RESTART_DOUBTFUL);
}

static void
assert_restart (uint16_t seq, uint32_t ts)
{
  run_up_to (5000, 5000 * PACKET_TS, 100);
  assert_int_equal (packet (seq, ts), FMX_RESTART_DOUBTFUL);
  assert_int_equal (packet ((uint16_t) (seq + 1), ts + PACKET_TS),
      FMX_RESTART_YES);
  assert_int_equal (packet ((uint16_t) (seq + 2), ts + 2 * PACKET_TS),
      FMX_RESTART_NO);
}

static void
test_two_packets_in_a_row_from_elsewhere_are_a_restart (void **state)
{
  const uint32_t ts = 5000 * PACKET_TS;

  (void) state;
  assert_restart (0, ts + PACKET_TS);   /* sequence numbers go back */
  assert_restart (8001, ts + PACKET_TS);        /* or leap */
  assert_restart (5001, ts - 2 * CLOCK_RATE_HZ);        /* RTP time goes back */
  assert_restart (5001, ts + 20 * CLOCK_RATE_HZ);       /* or leaps */
  assert_restart (4950, ts + 2 * CLOCK_RATE_HZ);        /* and where the numbers */
  assert_restart (4950, ts - 20 * CLOCK_RATE_HZ);       /* might be late ones */
}

/* Padding between them, a train of it or none: what comes after a loss is not in a row. */
static void
test_padding_between_two_packets_is_no_gap (void **state)
{
  (void) state;
  for (uint16_t n = 0; n < 20; n++) {
    uint16_t seq = 65530;

    run_up_to (5000, 5000 * PACKET_TS, 100);
    fmx_restart_on_padding (&restart, (uint16_t) (seq - 1));
    assert_int_equal (packet (seq, 0), FMX_RESTART_DOUBTFUL);
    for (uint16_t i = 0; i < n; i++)
      fmx_restart_on_padding (&restart, ++seq);
    assert_int_equal (packet (++seq, PACKET_TS), FMX_RESTART_YES);

    run_up_to (5000, 5000 * PACKET_TS, 100);
    assert_int_equal (packet (seq, 0), FMX_RESTART_DOUBTFUL);
    fmx_restart_on_padding (&restart, (uint16_t) (seq + 2));
    assert_int_equal (packet ((uint16_t) (seq + 3), 3 * PACKET_TS),
        FMX_RESTART_DOUBTFUL);
  }
}

/* One packet of the first source for each two of the second. */
static void
test_a_second_source_does_not_push_out_a_first_that_goes_on (void **state)
{
  const uint32_t ts = 5000 * PACKET_TS;

  (void) state;
  run_up_to (5000, ts, 100);
  silence = 100 * FMX_MSECOND;
  for (unsigned i = 1; i < 100; i++) {
    assert_int_equal (packet ((uint16_t) (2 * i), 2 * i * PACKET_TS),
        FMX_RESTART_DOUBTFUL);
    assert_int_equal (packet ((uint16_t) (2 * i + 1), (2 * i + 1) * PACKET_TS),
        FMX_RESTART_DOUBTFUL);
    assert_int_equal (packet ((uint16_t) (5000 + i), ts + 3 * i * PACKET_TS),
        FMX_RESTART_NO);
  }
}

static void
test_a_sender_that_begins_anew_is_believed_after_the_silence (void **state)
{
  (void) state;
  run_up_to (5000, 5000 * PACKET_TS, 100);
  silence = 5 * PACKET_TIME;
  for (uint16_t seq = 1; seq < 5; seq++)
    assert_int_equal (packet (seq, seq * PACKET_TS), FMX_RESTART_DOUBTFUL);
  assert_int_equal (packet (5, 5 * PACKET_TS), FMX_RESTART_YES);
  assert_int_equal (packet (6, 6 * PACKET_TS), FMX_RESTART_NO);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_wraps_are_no_restart),
    cmocka_unit_test (test_loss_and_misorder_are_no_restart),
    cmocka_unit_test (test_a_pause_is_no_restart),
    cmocka_unit_test (test_one_stray_packet_is_no_restart),
    cmocka_unit_test (test_two_packets_in_a_row_from_elsewhere_are_a_restart),
    cmocka_unit_test (test_padding_between_two_packets_is_no_gap),
    cmocka_unit_test (test_a_second_source_does_not_push_out_a_first_that_goes_on),
    cmocka_unit_test (test_a_sender_that_begins_anew_is_believed_after_the_silence),
  };

  return cmocka_run_group_tests_name ("base/restart", tests, NULL, NULL);
}
