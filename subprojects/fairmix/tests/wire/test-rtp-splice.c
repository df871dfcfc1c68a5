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

/* Of 48 kHz: whose timestamps are off by more than what a path makes of them began anew. */
static void
test_who_began_anew_is_told_from_who_is_late (void **state)
{
  const int64_t s = 48000;
  const struct
  {
    int32_t seq;
    int64_t ts;
    FmxDuration waited;
    bool fits;
  } table[] = {
    {1, 960, 0, true}, {1, 15 * s, 0, true}, {1, 15 * s + 1, 0, false},
    {1, 3600 * s, 3600 * FMX_SECOND, true}, {1, 960, 3600 * FMX_SECOND, true},
    {1, -s, 0, true}, {1, -s - 1, 0, false}, {1, -40000 * s, 0, false},
    {0, 0, 0, true}, {-50, -15 * s, 0, true}, {-50, -15 * s - 1, 0, false},
    {-50, s, 0, true}, {-50, s + 1, 0, false},
  };

  (void) state;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    FmxRtpSplice splice;
    uint16_t seq = UINT16_MAX, out_seq = seq;
    uint32_t ts = UINT32_MAX, out_ts = ts;

    fmx_rtp_splice_init (&splice, 99, 1000);
    fmx_rtp_splice_begin (&splice, seq, ts, 960);
    fmx_rtp_splice_map (&splice, &out_seq, &out_ts);
    assert_int_equal (fmx_rtp_splice_fits (&splice,
            (uint16_t) (seq + table[i].seq), (uint32_t) (ts + table[i].ts),
            48000, table[i].waited), table[i].fits);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_next_stream_goes_on_where_the_last_one_was),
    cmocka_unit_test (test_gaps_and_late_packets_stay_what_they_are),
    cmocka_unit_test (test_numbers_wrap_as_rtp_numbers_do),
    cmocka_unit_test (test_who_began_anew_is_told_from_who_is_late),
  };

  return cmocka_run_group_tests_name ("wire/rtp-splice", tests, NULL, NULL);
}
