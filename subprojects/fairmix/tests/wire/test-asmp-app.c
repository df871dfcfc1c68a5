/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "fmx-test.h"

#include "fairmix/base/fmx-rng.h"
#include "fairmix/wire/fmx-asmp-app.h"

#define N_RANDOM 100000

/* Drawn by hand after docs/algorithms/wire.md. */
static const uint8_t rate_drawn[FMX_ASMP_RATE_BYTES] = {
  1, 0xa0, 0, 0,                /* version 1; measured, small packets */
  0xca, 0xfe, 0x00, 0x01,       /* the stream */
  0x00, 0x07, 0xa1, 0x20,       /* 500 kbit/s */
  0x00, 0x00, 0x40, 0x00,       /* 0.25 s */
  0x80, 0x00, 0x00, 0x00,       /* one half */
  0x00, 0x03, 0xd0, 0x90,       /* 250 kbit/s */
};

static const uint8_t rtt_drawn[FMX_ASMP_RTT_BYTES (2)] = {
  1, 2, 0, 0,                   /* version 1; two receivers */
  0x11, 0x22, 0x33, 0x44,       /* the limiting one */
  0x00, 0x07, 0xa1, 0x20,       /* 500 kbit/s */
  0x11, 0x22, 0x33, 0x44, 0x00, 0x00, 0x40, 0x00,       /* 0.25 s */
  0x55, 0x66, 0x77, 0x88, 0x00, 0x02, 0x80, 0x00,       /* 2.5 s */
};

static void
test_packets_drawn_by_hand_read_and_are_written_as_meant (void **state)
{
  const FmxAsmpRtt rtts[] = {
    {0x11223344, FMX_SECOND / 4}, {0x55667788, 5 * FMX_SECOND / 2}
  };
  FmxAsmpRttHeader header;
  FmxAsmpRate rate;
  uint8_t data[64];

  (void) state;
  assert_true (fmx_asmp_rate_read (&rate, rate_drawn, sizeof rate_drawn));
  assert_true (rate.measured && rate.small_packets && !rate.congested);
  assert_int_equal (rate.media_ssrc, 0xcafe0001);
  assert_int_equal (rate.rate_bps, 500000);
  assert_true (rate.rtt == FMX_SECOND / 4);
  assert_true (rate.loss == 0.5);
  assert_int_equal (rate.received_bps, 250000);
  assert_int_equal (fmx_asmp_rate_write (&rate, data, sizeof data),
      sizeof rate_drawn);
  assert_memory_equal (data, rate_drawn, sizeof rate_drawn);

  assert_true (fmx_asmp_rtt_read (&header, rtt_drawn, sizeof rtt_drawn));
  assert_int_equal (header.limiting_ssrc, 0x11223344);
  assert_int_equal (header.rate_bps, 500000);
  assert_int_equal (header.n_rtts, 2);
  for (unsigned i = 0; i < 2; i++) {
    FmxAsmpRtt rtt = fmx_asmp_rtt_get (rtt_drawn, i);

    assert_int_equal (rtt.ssrc, rtts[i].ssrc);
    assert_true (rtt.rtt == rtts[i].rtt);
  }
  assert_int_equal (fmx_asmp_rtt_write (&header, rtts, data, sizeof data),
      sizeof rtt_drawn);
  assert_memory_equal (data, rtt_drawn, sizeof rtt_drawn);
}

static void
test_any_rate_survives_a_round_trip (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 1);
  for (unsigned i = 0; i < N_RANDOM; i++) {
    uint32_t bits = fmx_rng_next (&rng);
    FmxAsmpRate rate = {
      fmx_rng_next (&rng), fmx_rng_next (&rng),
      (FmxDuration) (fmx_rng_next_unit (&rng) * 100e9),
      fmx_rng_next_unit (&rng), fmx_rng_next (&rng),
      bits & 1, bits & 2, bits & 4
    };
    uint8_t data[FMX_ASMP_RATE_BYTES], again[FMX_ASMP_RATE_BYTES];
    FmxAsmpRate read;

    fmx_asmp_rate_write (&rate, data, sizeof data);
    assert_true (fmx_asmp_rate_read (&read, data, sizeof data));
    assert_int_equal (read.media_ssrc, rate.media_ssrc);
    assert_int_equal (read.rate_bps, rate.rate_bps);
    assert_int_equal (read.received_bps, rate.received_bps);
    assert_true (read.measured == rate.measured
        && read.congested == rate.congested
        && read.small_packets == rate.small_packets);
    assert_in_range (read.rtt - rate.rtt + 16000, 0, 32000);
    assert_true (read.loss - rate.loss < 1e-9 && rate.loss - read.loss < 1e-9);
    fmx_asmp_rate_write (&read, again, sizeof again);
    assert_memory_equal (data, again, sizeof data);
  }
}

static void
test_values_out_of_range_are_cut (void **state)
{
  const struct
  {
    FmxDuration rtt, read_rtt;
    double loss, read_loss;
  } cases[] = {
    {-1, 0, -1.0, 0.0},
    {0, 0, 0.0, 0.0},
    {1, 15259, 1e-12, 0.0},     /* known, so not 0 */
    {INT64_MAX, 65535 * FMX_SECOND, 1.0, 1.0 - 1.0 / 4294967296.0},
    {FMX_SECOND, FMX_SECOND, 7.0, 1.0 - 1.0 / 4294967296.0},
    {FMX_SECOND, FMX_SECOND, 0.0 / 0.0, 0.0},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (cases); i++) {
    FmxAsmpRate rate = { 0 };
    uint8_t data[FMX_ASMP_RATE_BYTES];

    rate.rtt = cases[i].rtt;
    rate.loss = cases[i].loss;
    fmx_asmp_rate_write (&rate, data, sizeof data);
    fmx_asmp_rate_read (&rate, data, sizeof data);
    assert_true (rate.rtt == cases[i].read_rtt);
    assert_true (rate.loss == cases[i].read_loss);
  }
}

static void
test_other_versions_and_short_packets_are_refused (void **state)
{
  FmxAsmpRttHeader header;
  FmxAsmpRate rate;
  uint8_t data[sizeof rtt_drawn];

  (void) state;
  for (size_t size = 0; size < sizeof rate_drawn; size++)
    assert_false (fmx_asmp_rate_read (&rate, rate_drawn, size));
  for (size_t size = 0; size < sizeof rtt_drawn; size++)
    assert_false (fmx_asmp_rtt_read (&header, rtt_drawn, size));
  for (unsigned version = 0; version < 256; version++) {
    memcpy (data, rate_drawn, sizeof rate_drawn);
    data[0] = (uint8_t) version;
    assert_true (fmx_asmp_rate_read (&rate, data, sizeof rate_drawn)
        == (version == FMX_ASMP_APP_VERSION));
    memcpy (data, rtt_drawn, sizeof rtt_drawn);
    data[0] = (uint8_t) version;
    assert_true (fmx_asmp_rtt_read (&header, data, sizeof rtt_drawn)
        == (version == FMX_ASMP_APP_VERSION));
  }
}

/* What a later release may add */
static void
test_what_follows_and_reserved_bits_are_ignored (void **state)
{
  uint8_t data[FMX_ASMP_RATE_BYTES + 8];
  FmxAsmpRate rate;

  (void) state;
  memset (data, 0xff, sizeof data);
  memcpy (data, rate_drawn, sizeof rate_drawn);
  data[1] |= 0x1f;
  data[2] = data[3] = 0xff;
  assert_true (fmx_asmp_rate_read (&rate, data, sizeof data));
  assert_int_equal (rate.rate_bps, 500000);
  assert_true (rate.measured && rate.small_packets && !rate.congested);
}

static void
test_nothing_is_written_beyond_the_memory_given (void **state)
{
  const FmxAsmpRate rate = { 0 };
  static FmxAsmpRtt rtts[FMX_ASMP_MAX_RTTS];
  uint8_t data[FMX_ASMP_RTT_BYTES (FMX_ASMP_MAX_RTTS) + 4];

  (void) state;
  for (size_t size = 0; size <= 40; size++) {
    FmxAsmpRttHeader header = { 0, 0, 2 };

    memset (data, 0xa5, sizeof data);
    assert_int_equal (fmx_asmp_rate_write (&rate, data, size),
        size < FMX_ASMP_RATE_BYTES ? 0 : FMX_ASMP_RATE_BYTES);
    assert_int_equal (data[size], 0xa5);
    assert_int_equal (fmx_asmp_rtt_write (&header, rtts, data, size),
        size < 28 ? 0 : 28);
    assert_int_equal (data[size], 0xa5);
  }
  for (unsigned n = 0; n <= FMX_ASMP_MAX_RTTS; n++) {
    FmxAsmpRttHeader header = { 0, 0, n };

    assert_int_equal (fmx_asmp_rtt_write (&header, rtts, data, sizeof data),
        12 + 8 * n);
  }
}

static void
test_who_tells_no_rate_says_that_it_is_there (void **state)
{
  uint8_t data[FMX_ASMP_HERE_BYTES + 1] = { 7, 7, 7, 7, 7 };

  (void) state;
  for (size_t size = 0; size < FMX_ASMP_HERE_BYTES; size++) {
    assert_int_equal (fmx_asmp_here_write (data, size), 0);
    assert_int_equal (data[0], 7);
  }
  assert_int_equal (fmx_asmp_here_write (data, sizeof data),
      FMX_ASMP_HERE_BYTES);
  assert_memory_equal (data, "\1\0\0\0\7", sizeof data);
  memset (data + 1, 0xff, 3);
  for (size_t size = 0; size <= sizeof data; size++)
    assert_int_equal (fmx_asmp_here_read (data, size),
        size >= FMX_ASMP_HERE_BYTES);
  data[0] = 2;
  assert_false (fmx_asmp_here_read (data, sizeof data));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_packets_drawn_by_hand_read_and_are_written_as_meant),
    cmocka_unit_test (test_any_rate_survives_a_round_trip),
    cmocka_unit_test (test_values_out_of_range_are_cut),
    cmocka_unit_test (test_other_versions_and_short_packets_are_refused),
    cmocka_unit_test (test_what_follows_and_reserved_bits_are_ignored),
    cmocka_unit_test (test_nothing_is_written_beyond_the_memory_given),
    cmocka_unit_test (test_who_tells_no_rate_says_that_it_is_there),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
