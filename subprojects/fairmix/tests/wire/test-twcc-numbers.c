/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <string.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/wire/fmx-twcc-numbers.h"

#define UNIT (250 * FMX_USECOND)
#define REFERENCE (64 * FMX_MSECOND)
#define MAX_BYTES 2048

static FmxTwccNumbers numbers;

/* A feedback packet about @n packets from @base on, written as plainly as the
 * format allows: a run for each packet, large deltas.  @arrivals: in units of
 * 250 us after the reference time, < 0 = it did not arrive. */
static size_t
write_feedback (uint8_t *packet, uint16_t base, const int32_t *arrivals,
    uint16_t n, uint32_t reference)
{
  size_t size = 20, words;
  int32_t before = 0;

  memset (packet, 0, MAX_BYTES);
  packet[0] = 0x80 | 15;
  packet[1] = 205;
  packet[12] = (uint8_t) (base >> 8);
  packet[13] = (uint8_t) base;
  packet[14] = (uint8_t) (n >> 8);
  packet[15] = (uint8_t) n;
  packet[16] = (uint8_t) (reference >> 16);
  packet[17] = (uint8_t) (reference >> 8);
  packet[18] = (uint8_t) reference;
  for (uint16_t i = 0; i < n; i++) {
    packet[size++] = arrivals[i] >= 0 ? 0x40 : 0;
    packet[size++] = 1;
  }
  for (uint16_t i = 0; i < n; i++) {
    int32_t delta = arrivals[i] - before;

    if (arrivals[i] < 0)
      continue;
    packet[size++] = (uint8_t) ((uint32_t) delta >> 8);
    packet[size++] = (uint8_t) delta;
    before = arrivals[i];
  }
  words = (size + 3) / 4;
  packet[2] = (uint8_t) ((words - 1) >> 8);
  packet[3] = (uint8_t) (words - 1);
  return 4 * words;
}

static void
test_numbers_go_on_across_streams_and_wrap (void **state)
{
  (void) state;
  fmx_twcc_numbers_init (&numbers, 65534);
  assert_int_equal (fmx_twcc_numbers_give (&numbers, 1, 100), 65534);
  assert_int_equal (fmx_twcc_numbers_give (&numbers, 2, 7), 65535);
  assert_int_equal (fmx_twcc_numbers_give (&numbers, 1, 101), 0);
}

static void
test_feedback_is_told_by_stream_and_sequence_number (void **state)
{
  static const int32_t arrivals[] = { 40, -1, 120, 100 };
  static const FmxCcfbMetric expected[] = {
    {1, 100, true, 0, 80 * UNIT},
    {2, 7, false, 0, 0},
    {1, 101, true, 0, 0},
    {3, 9, true, 0, 20 * UNIT},
  };
  uint8_t packet[MAX_BYTES];
  FmxTwccFeedback feedback;
  FmxCcfbMetric metric;
  uint32_t mid32;
  size_t size;

  (void) state;
  fmx_twcc_numbers_init (&numbers, 65534);
  for (size_t i = 0; i < 4; i++)
    fmx_twcc_numbers_give (&numbers, expected[i].ssrc, expected[i].seq);
  size = write_feedback (packet, 65534, arrivals, 4, 5);
  assert_true (fmx_twcc_numbers_read (&numbers, &feedback, packet, size,
          &mid32));
  for (size_t i = 0; i < 4; i++) {
    assert_true (fmx_twcc_numbers_next (&numbers, &feedback, &metric));
    assert_int_equal (metric.ssrc, expected[i].ssrc);
    assert_int_equal (metric.seq, expected[i].seq);
    assert_true (metric.received == expected[i].received);
    assert_int_equal (metric.ecn, 0);
    assert_true (metric.arrival_offset == expected[i].arrival_offset);
  }
  assert_false (fmx_twcc_numbers_next (&numbers, &feedback, &metric));
}

static void
test_who_claims_what_was_not_sent_yet_is_refused (void **state)
{
  static const int32_t all[] = { 1, 2, 3 }, but_the_last[] = { 1, 2, -1 };
  uint8_t packet[MAX_BYTES];
  FmxTwccFeedback feedback;
  FmxCcfbMetric metric;
  uint32_t mid32;
  size_t size;

  (void) state;
  fmx_twcc_numbers_init (&numbers, 10);
  fmx_twcc_numbers_give (&numbers, 1, 100);
  fmx_twcc_numbers_give (&numbers, 1, 101);
  size = write_feedback (packet, 10, all, 3, 0);
  assert_false (fmx_twcc_numbers_read (&numbers, &feedback, packet, size,
          &mid32));
  size = write_feedback (packet, 10, but_the_last, 3, 0);
  assert_true (fmx_twcc_numbers_read (&numbers, &feedback, packet, size,
          &mid32));
  assert_true (fmx_twcc_numbers_next (&numbers, &feedback, &metric));
  assert_true (fmx_twcc_numbers_next (&numbers, &feedback, &metric));
  assert_false (fmx_twcc_numbers_next (&numbers, &feedback, &metric));
}

static void
test_what_is_too_old_or_was_never_ours_is_left_out (void **state)
{
  static const int32_t arrivals[] = { 1, 2 };
  uint8_t packet[MAX_BYTES];
  FmxTwccFeedback feedback;
  FmxCcfbMetric metric;
  uint32_t mid32;
  size_t size;

  (void) state;
  fmx_twcc_numbers_init (&numbers, 0);
  fmx_twcc_numbers_give (&numbers, 1, 0);
  /* the one before the first */
  size = write_feedback (packet, 65535, arrivals, 2, 0);
  assert_true (fmx_twcc_numbers_read (&numbers, &feedback, packet, size,
          &mid32));
  assert_true (fmx_twcc_numbers_next (&numbers, &feedback, &metric));
  assert_int_equal (metric.seq, 0);
  assert_false (fmx_twcc_numbers_next (&numbers, &feedback, &metric));
  /* the first one is forgotten when so many more were given */
  for (uint32_t i = 1; i <= FMX_TWCC_NUMBERS_SPAN; i++)
    fmx_twcc_numbers_give (&numbers, 1, (uint16_t) i);
  size = write_feedback (packet, 0, arrivals, 2, 0);
  assert_true (fmx_twcc_numbers_read (&numbers, &feedback, packet, size,
          &mid32));
  assert_true (fmx_twcc_numbers_next (&numbers, &feedback, &metric));
  assert_int_equal (metric.seq, 1);
  assert_false (fmx_twcc_numbers_next (&numbers, &feedback, &metric));
}

/* Told each minute, across the 12 days after which the reference time wraps. */
static void
test_the_receivers_clock_goes_on_when_its_time_wraps (void **state)
{
  static const int32_t arrivals[] = { 0 };
  uint8_t packet[MAX_BYTES];
  uint32_t reference = 0xffff00, step = 60 * FMX_SECOND / REFERENCE;
  uint32_t mid32, before = 0;
  FmxTwccFeedback feedback;

  (void) state;
  fmx_twcc_numbers_init (&numbers, 0);
  for (uint32_t i = 0; i < 5; i++) {
    size_t size = write_feedback (packet,
        fmx_twcc_numbers_give (&numbers, 1, (uint16_t) i), arrivals, 1,
        (reference + i * step) & 0xffffff);

    assert_true (fmx_twcc_numbers_read (&numbers, &feedback, packet, size,
            &mid32));
    if (i > 0)
      assert_in_range (mid32 - before,
          step * REFERENCE * 65536 / FMX_SECOND - 1,
          step * REFERENCE * 65536 / FMX_SECOND + 1);
    before = mid32;
  }
}

/* Whatever was sent, in whichever order the streams take turns, and whatever is
 * lost on the way: what comes back is what went in. */
static void
test_random_streams_come_back_as_they_were_sent (void **state)
{
  static uint32_t ssrcs[65536];
  static uint16_t seqs[65536];
  uint8_t packet[MAX_BYTES];
  uint16_t next_seq[5] = { 0 };
  FmxRng rng;
  uint16_t base;

  (void) state;
  fmx_rng_init (&rng, 7);
  base = (uint16_t) fmx_rng_next (&rng);
  fmx_twcc_numbers_init (&numbers, base);
  for (int round = 0; round < 3000; round++) {
    uint16_t n = (uint16_t) (1 + fmx_rng_next (&rng) % 60);
    int32_t arrivals[60], last = 0;
    FmxTwccFeedback feedback;
    FmxCcfbMetric metric;
    uint32_t mid32;
    size_t size;

    for (uint16_t i = 0; i < n; i++) {
      uint32_t ssrc = (uint32_t) (fmx_rng_next (&rng) % 5);
      uint16_t seq = next_seq[ssrc]++;
      uint16_t number = fmx_twcc_numbers_give (&numbers, ssrc, seq);

      assert_int_equal (number, (uint16_t) (base + i));
      ssrcs[number] = ssrc;
      seqs[number] = seq;
      arrivals[i] = fmx_rng_next (&rng) % 10 == 0 ? -1
          : (int32_t) (fmx_rng_next (&rng) % 4000);
      if (arrivals[i] > last)
        last = arrivals[i];
    }
    size = write_feedback (packet, base, arrivals, n, (uint32_t) round);
    assert_true (fmx_twcc_numbers_read (&numbers, &feedback, packet, size,
            &mid32));
    for (uint16_t i = 0; i < n; i++) {
      uint16_t number = (uint16_t) (base + i);

      assert_true (fmx_twcc_numbers_next (&numbers, &feedback, &metric));
      assert_int_equal (metric.ssrc, ssrcs[number]);
      assert_int_equal (metric.seq, seqs[number]);
      assert_true (metric.received == (arrivals[i] >= 0));
      if (metric.received)
        assert_true (metric.arrival_offset == (last - arrivals[i]) * UNIT);
    }
    assert_false (fmx_twcc_numbers_next (&numbers, &feedback, &metric));
    base = (uint16_t) (base + n);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_numbers_go_on_across_streams_and_wrap),
    cmocka_unit_test (test_feedback_is_told_by_stream_and_sequence_number),
    cmocka_unit_test (test_who_claims_what_was_not_sent_yet_is_refused),
    cmocka_unit_test (test_what_is_too_old_or_was_never_ours_is_left_out),
    cmocka_unit_test (test_the_receivers_clock_goes_on_when_its_time_wraps),
    cmocka_unit_test (test_random_streams_come_back_as_they_were_sent),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
