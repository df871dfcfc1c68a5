/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <string.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/wire/fmx-twcc.h"

#define UNIT (250 * FMX_USECOND)
#define MAX_BYTES 4096

/* As the draft's figures have it, field by field: base 10, eight packets; a run
 * of two that arrived, seven symbols of two bits of which one is left out, 1 ms
 * apart but for one that was early; reference time 3 x 64 ms. */
static const uint8_t example[] = {
  0x8f, 205, 0, 7,
  0, 0, 0, 1,
  0, 0, 0, 2,
  0, 10, 0, 8,
  0, 0, 3, 42,
  0x20, 0x02,                   /* run: small delta, 2 */
  0xd5, 0x14,                   /* two bits each: 1 1 1 0 1 1 0 */
  4, 4, 4, 4, 4, 4, 4, 0
};

static const struct
{
  uint16_t seq;
  bool received;
  FmxDuration arrival;
} expected[] = {
  {10, true, 192 * FMX_MSECOND + 4 * UNIT},
  {11, true, 192 * FMX_MSECOND + 8 * UNIT},
  {12, true, 192 * FMX_MSECOND + 12 * UNIT},
  {13, true, 192 * FMX_MSECOND + 16 * UNIT},
  {14, true, 192 * FMX_MSECOND + 20 * UNIT},
  {15, false, 0},
  {16, true, 192 * FMX_MSECOND + 24 * UNIT},
  {17, true, 192 * FMX_MSECOND + 28 * UNIT},
};

static void
test_runs_and_vectors_are_read (void **state)
{
  FmxTwccReader reader;
  FmxTwccStatus status;
  uint32_t media = 0;

  (void) state;
  assert_true (fmx_twcc_reader_init (&reader, example, sizeof example,
          &media));
  assert_int_equal (media, 2);
  assert_int_equal (fmx_twcc_reader_count (&reader), 42);
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    assert_true (fmx_twcc_reader_next (&reader, &status));
    assert_int_equal (status.seq, expected[i].seq);
    assert_true (status.received == expected[i].received);
    assert_true (!status.received || status.arrival == expected[i].arrival);
  }
  assert_false (fmx_twcc_reader_next (&reader, &status));
}

static void
test_a_packet_may_come_before_the_one_before_it (void **state)
{
  static const uint8_t packet[] = {
    0x8f, 205, 0, 6, 0, 0, 0, 1, 0, 0, 0, 2,
    0xff, 0xff, 0, 2,           /* the numbers wrap */
    0xff, 0xff, 0xff, 0,        /* reference time -64 ms */
    0x40, 0x02,                 /* run: large delta, 2 */
    0x7f, 0xff,                 /* + 8.19175 s */
    0xff, 0xfe,                 /* - 0.5 ms */
    0, 0
  };
  FmxTwccReader reader;
  FmxTwccStatus status;

  (void) state;
  assert_true (fmx_twcc_reader_init (&reader, packet, sizeof packet, NULL));
  assert_true (fmx_twcc_reader_next (&reader, &status));
  assert_int_equal (status.seq, 65535);
  assert_true (status.arrival == -64 * FMX_MSECOND + 32767 * UNIT);
  assert_true (fmx_twcc_reader_next (&reader, &status));
  assert_int_equal (status.seq, 0);
  assert_true (status.arrival == -64 * FMX_MSECOND + 32765 * UNIT);
}

static void
test_what_is_malformed_is_refused (void **state)
{
  const struct
  {
    const char *claim;
    size_t at;
    uint8_t byte;
  } table[] = {
    {"another version", 0, 0x4f},
    {"another format", 0, 0x8b},
    {"another packet type", 1, 206},
    {"longer than the datagram", 3, 8},
    {"shorter than its header", 3, 3},
    {"more packets than chunks", 15, 200},
    {"a run of nobody", 21, 0},
    {"a symbol without a meaning", 20, 0x60},
    {"fewer deltas than packets", 22, 0xea},    /* large ones */
    {"padding that reaches into the header", 0, 0xaf},
  };
  FmxTwccReader reader;

  (void) state;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    uint8_t packet[sizeof example];

    memcpy (packet, example, sizeof example);
    packet[table[i].at] = table[i].byte;
    if (table[i].byte == 0xaf)
      packet[sizeof packet - 1] = 30;
    if (fmx_twcc_reader_init (&reader, packet, sizeof packet, NULL))
      fail_msg ("%s", table[i].claim);
  }
  for (size_t size = 0; size < sizeof example; size++)
    assert_false (fmx_twcc_reader_init (&reader, example, size, NULL));
}

/* Any row of arrivals, written with either kind of chunk, reads the same. */
static uint32_t
symbol_of (int32_t delta)
{
  if (delta == INT32_MIN)
    return 0;
  return delta >= 0 && delta < 256 ? 1 : 2;
}

static size_t
write_random (FmxRng *rng, uint8_t *packet, const int32_t *delta, uint32_t n)
{
  size_t size = 20;
  uint32_t at = 0;

  memset (packet, 0, MAX_BYTES);
  memcpy (packet, example, 20);
  packet[14] = (uint8_t) (n >> 8);
  packet[15] = (uint8_t) n;
  while (at < n) {
    bool vector = fmx_rng_next (rng) % 2 == 0;
    uint32_t symbol = symbol_of (delta[at]);
    uint32_t chunk = 0xc000, run = 0;

    for (uint32_t k = 0; vector && k < 7 && at < n; k++, at++)
      chunk |= symbol_of (delta[at]) << (12 - 2 * k);
    while (!vector && at < n && symbol_of (delta[at]) == symbol)
      at++, run++;
    if (!vector)
      chunk = symbol << 13 | run;
    packet[size++] = (uint8_t) (chunk >> 8);
    packet[size++] = (uint8_t) chunk;
  }
  for (at = 0; at < n; at++) {
    if (delta[at] == INT32_MIN)
      continue;
    if (delta[at] < 0 || delta[at] > 255)
      packet[size++] = (uint8_t) ((uint32_t) delta[at] >> 8);
    packet[size++] = (uint8_t) delta[at];
  }
  size = (size + 3) / 4 * 4;
  packet[2] = (uint8_t) ((size / 4 - 1) >> 8);
  packet[3] = (uint8_t) (size / 4 - 1);
  return size;
}

static void
test_what_is_written_is_read (void **state)
{
  static uint8_t packet[MAX_BYTES];
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 4);
  for (int round = 0; round < 2000; round++) {
    uint32_t n = 1 + fmx_rng_next (&rng) % 300;
    int32_t delta[300];
    FmxTwccReader reader;
    FmxTwccStatus status;
    FmxDuration arrival = 192 * FMX_MSECOND;
    size_t size;

    for (uint32_t i = 0; i < n; i++) {
      uint32_t kind = fmx_rng_next (&rng) % 8;

      delta[i] = kind == 0 ? INT32_MIN : kind == 1
          ? (int32_t) (fmx_rng_next (&rng) % 65536) - 32768
          : (int32_t) (fmx_rng_next (&rng) % 256);
    }
    size = write_random (&rng, packet, delta, n);
    assert_true (fmx_twcc_reader_init (&reader, packet, size, NULL));
    for (uint32_t i = 0; i < n; i++) {
      assert_true (fmx_twcc_reader_next (&reader, &status));
      assert_int_equal (status.seq, 10 + i);
      assert_true (status.received == (delta[i] != INT32_MIN));
      if (!status.received)
        continue;
      arrival += delta[i] * UNIT;
      assert_true (status.arrival == arrival);
    }
    assert_false (fmx_twcc_reader_next (&reader, &status));
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_runs_and_vectors_are_read),
    cmocka_unit_test (test_a_packet_may_come_before_the_one_before_it),
    cmocka_unit_test (test_what_is_malformed_is_refused),
    cmocka_unit_test (test_what_is_written_is_read),
  };

  return cmocka_run_group_tests_name ("wire/twcc", tests, NULL, NULL);
}
