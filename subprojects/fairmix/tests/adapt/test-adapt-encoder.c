/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/adapt/fmx-adapt-encoder.h"

static FmxTime
feed (FmxAdaptEncoder *encoder, unsigned n, FmxDuration interval,
    uint32_t header_bytes, FmxTime now)
{
  while (n-- > 0) {
    fmx_adapt_encoder_on_packet (encoder, header_bytes, now);
    now += (FmxTime) interval;
  }
  return now;
}

static void
assert_near (uint64_t a, uint64_t b, uint64_t tolerance)
{
  assert_in_range (a, b - tolerance, b + tolerance);
}

static void
test_headers_of_the_measured_packet_time_are_taken_off (void **state)
{
  /* 8 * header / interval: 40 B every 20 ms are 16 kbit/s, every 60 ms 5333,
   * 56 B (a header extension) every 10 ms 44.8 kbit/s */
  static const struct
  {
    FmxDuration interval;
    uint32_t header_bytes;
    uint64_t encoder_bps;
  } cases[] = {
    {20 * FMX_MSECOND, 40, 64000},
    {60 * FMX_MSECOND, 40, 74667},
    {10 * FMX_MSECOND, 56, 35200},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (cases); i++) {
    FmxAdaptEncoder encoder;

    fmx_adapt_encoder_init (&encoder);
    feed (&encoder, 200, cases[i].interval, cases[i].header_bytes, 77);
    assert_near (fmx_adapt_encoder_bps (&encoder, 80000),
        cases[i].encoder_bps, 10);
  }
}

static void
test_before_any_packet_20_ms_are_assumed (void **state)
{
  FmxAdaptEncoder encoder;

  (void) state;
  fmx_adapt_encoder_init (&encoder);
  assert_near (fmx_adapt_encoder_bps (&encoder, 80000), 64000, 1);
}

static void
test_a_target_below_the_headers_leaves_nothing (void **state)
{
  FmxAdaptEncoder encoder;

  (void) state;
  fmx_adapt_encoder_init (&encoder);
  assert_int_equal (fmx_adapt_encoder_bps (&encoder, 15999), 0);
  assert_int_equal (fmx_adapt_encoder_bps (&encoder, 0), 0);
}

static void
test_pauses_are_not_packet_times (void **state)
{
  FmxAdaptEncoder encoder;
  FmxTime now = 0;

  (void) state;
  fmx_adapt_encoder_init (&encoder);
  for (int i = 0; i < 20; i++) {
    now = feed (&encoder, 10, 20 * FMX_MSECOND, 40, now);
    now += 400 * FMX_MSECOND;
  }
  assert_near (fmx_adapt_encoder_bps (&encoder, 80000), 64000, 10);
}

static void
test_asks_to_be_asked_again_once_the_packet_time_changed (void **state)
{
  FmxAdaptEncoder encoder;
  FmxTime now;
  bool news = false;

  (void) state;
  fmx_adapt_encoder_init (&encoder);
  now = feed (&encoder, 100, 20 * FMX_MSECOND, 40, 0);
  assert_false (fmx_adapt_encoder_on_packet (&encoder, 40, now));
  for (int i = 0; i < 5 && !news; i++) {
    now += 60 * FMX_MSECOND;
    news = fmx_adapt_encoder_on_packet (&encoder, 40, now);
  }
  assert_true (news);
  fmx_adapt_encoder_bps (&encoder, 80000);
  assert_false (fmx_adapt_encoder_on_packet (&encoder, 40, now + 1));
}

static void
test_a_burst_of_packets_stays_finite (void **state)
{
  FmxAdaptEncoder encoder;

  (void) state;
  fmx_adapt_encoder_init (&encoder);
  feed (&encoder, 1000, 0, 40, 5);
  assert_int_equal (fmx_adapt_encoder_bps (&encoder, 80000), 0);
  assert_near (fmx_adapt_encoder_bps (&encoder, 1000000), 680000, 1);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_headers_of_the_measured_packet_time_are_taken_off),
    cmocka_unit_test (test_before_any_packet_20_ms_are_assumed),
    cmocka_unit_test (test_a_target_below_the_headers_leaves_nothing),
    cmocka_unit_test (test_pauses_are_not_packet_times),
    cmocka_unit_test (test_asks_to_be_asked_again_once_the_packet_time_changed),
    cmocka_unit_test (test_a_burst_of_packets_stays_finite),
  };

  return cmocka_run_group_tests_name ("adapt/adapt-encoder", tests, NULL, NULL);
}
