/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/wire/fmx-rtp-splice.h"

static void
check (FmxRtpSplice *splice, uint16_t seq, uint32_t ts, uint16_t out_seq,
    uint32_t out_ts)
{
  fmx_rtp_splice_map (splice, &seq, &ts);
  assert_int_equal (seq, out_seq);
  assert_int_equal (ts, out_ts);
}

static void
test_the_next_stream_goes_on_where_the_last_one_was (void **state)
{
  FmxRtpSplice splice;

  (void) state;
  fmx_rtp_splice_init (&splice, 99, 1000);
  fmx_rtp_splice_begin (&splice, 5000, 70000, 960);
  check (&splice, 5000, 70000, 100, 1960);
  check (&splice, 5001, 70960, 101, 2920);
  fmx_rtp_splice_begin (&splice, 3, 5, 4800);
  check (&splice, 3, 5, 102, 7720);
  check (&splice, 4, 965, 103, 8680);
}

static void
test_gaps_and_late_packets_stay_what_they_are (void **state)
{
  FmxRtpSplice splice;

  (void) state;
  fmx_rtp_splice_init (&splice, 99, 1000);
  fmx_rtp_splice_begin (&splice, 10, 0, 960);
  check (&splice, 10, 0, 100, 1960);
  check (&splice, 13, 2880, 103, 4840);
  check (&splice, 12, 1920, 102, 3880);
  /* what follows goes on after the highest */
  fmx_rtp_splice_begin (&splice, 500, 0, 960);
  check (&splice, 500, 0, 104, 5800);
}

static void
test_numbers_wrap_as_rtp_numbers_do (void **state)
{
  FmxRtpSplice splice;

  (void) state;
  fmx_rtp_splice_init (&splice, UINT16_MAX - 1, UINT32_MAX - 959);
  fmx_rtp_splice_begin (&splice, UINT16_MAX, 0, 960);
  check (&splice, UINT16_MAX, 0, UINT16_MAX, 0);
  check (&splice, 0, 960, 0, 960);
  fmx_rtp_splice_begin (&splice, 0, UINT32_MAX, 960);
  check (&splice, 0, UINT32_MAX, 1, 1920);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_next_stream_goes_on_where_the_last_one_was),
    cmocka_unit_test (test_gaps_and_late_packets_stay_what_they_are),
    cmocka_unit_test (test_numbers_wrap_as_rtp_numbers_do),
  };

  return cmocka_run_group_tests_name ("wire/rtp-splice", tests, NULL, NULL);
}
