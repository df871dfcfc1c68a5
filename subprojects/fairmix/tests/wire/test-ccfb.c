/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "fmx-test.h"

#include "fairmix/base/fmx-rng.h"
#include "fairmix/wire/fmx-ccfb.h"

/* Two streams, drawn by hand after [RFC8888 3.1], figure 1. */
static const uint8_t two_streams[] = {
  0x8b, 205, 0x00, 0x09,        /* V=2, FMT=11, PT=205, 10 words */
  0x11, 0x22, 0x33, 0x44,       /* the packet's sender */
  0xca, 0xfe, 0x00, 0x01,       /* 1st stream */
  0xff, 0xfe, 0x00, 0x03,       /* from 65534, three packets */
  0x84, 0x00, 0x00, 0x00,       /* 1 s ago; not received */
  0xe2, 0x00, 0x00, 0x00,       /* CE, 0.5 s ago; padding */
  0xca, 0xfe, 0x00, 0x02,       /* 2nd stream */
  0x00, 0x07, 0x00, 0x02,       /* from 7, two packets */
  0x9f, 0xff, 0xbf, 0xfe,       /* unavailable; ECT(1), over range */
  0xde, 0xad, 0xbe, 0xef,       /* report timestamp */
};

static const FmxCcfbMetric two_streams_metrics[] = {
  {0xcafe0001, 65534, true, 0, FMX_SECOND},
  {0xcafe0001, 65535, false, 0, FMX_CCFB_ATO_UNKNOWN},
  {0xcafe0001, 0, true, 3, FMX_SECOND / 2},
  {0xcafe0002, 7, true, 0, FMX_CCFB_ATO_UNKNOWN},
  {0xcafe0002, 8, true, 1, FMX_CCFB_ATO_UNKNOWN},
};

static void
assert_metric_equal (const FmxCcfbMetric *a, const FmxCcfbMetric *b)
{
  assert_int_equal (a->ssrc, b->ssrc);
  assert_int_equal (a->seq, b->seq);
  assert_int_equal (a->received, b->received);
  assert_int_equal (a->ecn, b->ecn);
  assert_true (a->arrival_offset == b->arrival_offset);
}

static void
test_a_packet_drawn_by_hand_reads_as_meant (void **state)
{
  FmxCcfbReader reader;
  FmxCcfbMetric metric;
  uint32_t sender = 0;

  (void) state;
  assert_true (fmx_ccfb_reader_init_packet (&reader, two_streams,
          sizeof two_streams, &sender));
  assert_int_equal (sender, 0x11223344);
  assert_int_equal (fmx_ccfb_reader_timestamp (&reader), 0xdeadbeef);
  for (size_t i = 0; i < N_ELEMENTS (two_streams_metrics); i++) {
    assert_true (fmx_ccfb_reader_next (&reader, &metric));
    assert_metric_equal (&metric, &two_streams_metrics[i]);
  }
  assert_false (fmx_ccfb_reader_next (&reader, &metric));
  assert_false (fmx_ccfb_reader_next (&reader, &metric));
}

static void
test_what_follows_the_senders_ssrc_reads_the_same (void **state)
{
  FmxCcfbReader reader;
  FmxCcfbMetric metric;
  size_t n = 0;

  (void) state;
  assert_true (fmx_ccfb_reader_init (&reader, two_streams + 8,
          sizeof two_streams - 8));
  while (fmx_ccfb_reader_next (&reader, &metric))
    assert_metric_equal (&metric, &two_streams_metrics[n++]);
  assert_int_equal (n, N_ELEMENTS (two_streams_metrics));
}

static void
test_the_writer_makes_the_same_bytes (void **state)
{
  uint8_t data[sizeof two_streams];
  FmxCcfbWriter writer;

  (void) state;
  memset (data, 0xa5, sizeof data);
  assert_true (fmx_ccfb_writer_init (&writer, data, sizeof data, 0x11223344));
  assert_true (fmx_ccfb_writer_begin_stream (&writer, 0xcafe0001, 65534));
  assert_true (fmx_ccfb_writer_add (&writer, true, 0, FMX_SECOND));
  assert_true (fmx_ccfb_writer_add (&writer, false, 3, FMX_SECOND));
  assert_true (fmx_ccfb_writer_add (&writer, true, 3, FMX_SECOND / 2));
  assert_true (fmx_ccfb_writer_begin_stream (&writer, 0xcafe0002, 7));
  assert_true (fmx_ccfb_writer_add (&writer, true, 0, FMX_CCFB_ATO_UNKNOWN));
  assert_true (fmx_ccfb_writer_add (&writer, true, 1, 9 * FMX_SECOND));
  assert_int_equal (fmx_ccfb_writer_finish (&writer, 0xdeadbeef),
      sizeof two_streams);
  assert_memory_equal (data, two_streams, sizeof two_streams);
}

static void
test_nothing_is_written_beyond_the_memory_given (void **state)
{
  (void) state;
  for (size_t size = 0; size < 64; size++) {
    uint8_t data[80];
    FmxCcfbWriter writer;
    FmxCcfbReader reader;
    size_t length;

    memset (data, 0xa5, sizeof data);
    if (fmx_ccfb_writer_init (&writer, data, size, 1)) {
      for (unsigned i = 0; i < 3; i++)
        if (fmx_ccfb_writer_begin_stream (&writer, i, 0))
          for (unsigned j = 0; j < 5; j++)
            fmx_ccfb_writer_add (&writer, true, 0, 0);
      length = fmx_ccfb_writer_finish (&writer, 2);
      assert_true (length <= size);
      assert_true (fmx_ccfb_reader_init_packet (&reader, data, length, NULL));
    } else {
      assert_true (size < 12);
    }
    for (size_t i = size; i < sizeof data; i++)
      assert_int_equal (data[i], 0xa5);
  }
}

/* [RFC8888 3.1] ATO: 1/1024 s; 0x1FFD is the last value; later, unknown */
static void
test_arrival_offsets_are_coded_as_the_rfc_says (void **state)
{
  const struct
  {
    FmxDuration offset;
    unsigned ato;
  } cases[] = {
    {0, 0},
    {FMX_SECOND / 2048 - 1, 0},
    {FMX_SECOND / 2048 + 1, 1},
    {512 * FMX_SECOND / 1024, 512},
    {INT64_C (7997070312), 0x1ffd},
    {INT64_C (7997070313), 0x1ffe},
    {INT64_MAX, 0x1ffe},
    {-1, 0x1fff},
    {FMX_CCFB_ATO_UNKNOWN, 0x1fff},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (cases); i++) {
    uint8_t data[24];
    FmxCcfbWriter writer;

    fmx_ccfb_writer_init (&writer, data, sizeof data, 1);
    fmx_ccfb_writer_begin_stream (&writer, 2, 3);
    fmx_ccfb_writer_add (&writer, true, 0, cases[i].offset);
    fmx_ccfb_writer_finish (&writer, 0);
    assert_int_equal (data[16] << 8 | data[17], 0x8000 | cases[i].ato);
  }
}

static void
test_every_metric_survives_a_round_trip (void **state)
{
  (void) state;
  for (unsigned bits = 0x8000; bits <= 0xffff; bits++) {
    uint8_t data[24] = { 0x8b, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 0, 3, 0, 1 };
    uint8_t again[24];
    FmxCcfbReader reader;
    FmxCcfbWriter writer;
    FmxCcfbMetric metric;

    data[16] = (uint8_t) (bits >> 8);
    data[17] = (uint8_t) bits;
    assert_true (fmx_ccfb_reader_init_packet (&reader, data, 24, NULL));
    assert_true (fmx_ccfb_reader_next (&reader, &metric));
    fmx_ccfb_writer_init (&writer, again, sizeof again, 1);
    fmx_ccfb_writer_begin_stream (&writer, metric.ssrc, metric.seq);
    fmx_ccfb_writer_add (&writer, metric.received, metric.ecn,
        metric.arrival_offset);
    fmx_ccfb_writer_finish (&writer, 0);
    /* "Over range" reads as unknown and is written as such. */
    if ((bits & 0x1fff) == 0x1ffe)
      data[17]++;
    assert_memory_equal (again, data, 24);
  }
}

static void
test_a_stream_without_metrics_and_no_stream_are_valid (void **state)
{
  const uint8_t none[12] = { 0x8b, 205, 0, 2, 0, 0, 0, 1, 9, 8, 7, 6 };
  const uint8_t empty[20] = { 0x8b, 205, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0, 3, 0,
    0, 9, 8, 7, 6
  };
  FmxCcfbReader reader;
  FmxCcfbMetric metric;

  (void) state;
  assert_true (fmx_ccfb_reader_init_packet (&reader, none, 12, NULL));
  assert_false (fmx_ccfb_reader_next (&reader, &metric));
  assert_int_equal (fmx_ccfb_reader_timestamp (&reader), 0x09080706);
  assert_true (fmx_ccfb_reader_init_packet (&reader, empty, 20, NULL));
  assert_false (fmx_ccfb_reader_next (&reader, &metric));
}

static void
test_rtcp_padding_is_cut_off (void **state)
{
  uint8_t data[sizeof two_streams + 8];
  FmxCcfbReader reader;

  (void) state;
  memset (data, 0, sizeof data);
  memcpy (data, two_streams, sizeof two_streams);
  data[0] |= 0x20;
  data[3] += 2;
  data[sizeof data - 1] = 8;
  assert_true (fmx_ccfb_reader_init_packet (&reader, data, sizeof data, NULL));
  assert_int_equal (fmx_ccfb_reader_timestamp (&reader), 0xdeadbeef);
  /* ... but not if it is nonsense */
  for (unsigned padding = 0; padding < 256; padding++) {
    data[sizeof data - 1] = (uint8_t) padding;
    if (padding == 0 || padding % 4 != 0 || padding > sizeof data - 8)
      assert_false (fmx_ccfb_reader_init_packet (&reader, data, sizeof data,
              NULL));
  }
}

static void
test_malformed_packets_are_refused (void **state)
{
  const struct
  {
    const char *what;
    size_t offset;
    uint8_t value;
  } cases[] = {
    {"version 1", 0, 0x4b},
    {"another format (15, transport-wide)", 0, 0x8f},
    {"another packet type (PSFB)", 1, 206},
    {"longer than the data", 3, 10},
    {"a word short: a timestamp taken from the metrics", 3, 8},
    {"without a sender", 3, 0},
    {"without a timestamp", 3, 1},
    {"more metrics than bytes", 15, 40},
    {"fewer metrics than bytes, the rest no block", 15, 1},
    {"more than a quarter of the sequence numbers", 14, 0x40},
    {"last block beyond the timestamp", 31, 5},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (cases); i++) {
    uint8_t data[sizeof two_streams];
    FmxCcfbReader reader;
    FmxCcfbMetric metric;

    memcpy (data, two_streams, sizeof data);
    data[cases[i].offset] = cases[i].value;
    if (fmx_ccfb_reader_init_packet (&reader, data, sizeof data, NULL))
      fail_msg ("taken for valid: %s", cases[i].what);
    assert_false (fmx_ccfb_reader_next (&reader, &metric));
    assert_int_equal (fmx_ccfb_reader_timestamp (&reader), 0);
  }
}

static void
test_every_truncation_is_refused (void **state)
{
  FmxCcfbReader reader;

  (void) state;
  for (size_t size = 0; size < sizeof two_streams; size++)
    assert_false (fmx_ccfb_reader_init_packet (&reader, two_streams, size,
            NULL));
  for (size_t size = 0; size < sizeof two_streams - 8; size++)
    if (size % 4 != 0)
      assert_false (fmx_ccfb_reader_init (&reader, two_streams + 8, size));
}

static void
test_more_than_16384_metrics_are_neither_written_nor_read (void **state)
{
  static uint8_t data[40000];
  FmxCcfbWriter writer;
  FmxCcfbReader reader;

  (void) state;
  fmx_ccfb_writer_init (&writer, data, sizeof data, 1);
  assert_false (fmx_ccfb_writer_add (&writer, true, 0, 0));     /* no stream */
  fmx_ccfb_writer_begin_stream (&writer, 1, 0);
  for (unsigned i = 0; i < FMX_CCFB_MAX_REPORTS; i++)
    assert_true (fmx_ccfb_writer_add (&writer, true, 0, 0));
  assert_false (fmx_ccfb_writer_add (&writer, true, 0, 0));
  assert_int_equal (fmx_ccfb_writer_finish (&writer, 0), 20 + 2 * 16384);
  assert_true (fmx_ccfb_reader_init_packet (&reader, data, sizeof data, NULL));
  /* [RFC8888 3.1] ... nor may they be read: two more */
  data[3]++;
  data[15] += 2;
  assert_false (fmx_ccfb_reader_init_packet (&reader, data, sizeof data, NULL));
}

static void
test_random_bytes_are_read_within_their_bounds (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 8888);
  for (unsigned i = 0; i < 20000; i++) {
    uint8_t data[96];
    FmxCcfbReader reader;
    FmxCcfbMetric metric;
    size_t size = fmx_rng_next (&rng) % (sizeof data + 1) & ~(size_t) 3;
    size_t n = 0;

    for (size_t j = 0; j < size; j++)
      data[j] = (uint8_t) (fmx_rng_next (&rng) >> 24);
    for (size_t j = 6; j < size; j += 8)
      data[j] = 0;              /* or hardly any count would fit */
    for (size_t j = 7; j < size; j += 8)
      data[j] &= 7;
    if (!fmx_ccfb_reader_init (&reader, data, size))
      continue;
    while (fmx_ccfb_reader_next (&reader, &metric))
      n++;
    assert_true (n * 2 <= size);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_packet_drawn_by_hand_reads_as_meant),
    cmocka_unit_test (test_what_follows_the_senders_ssrc_reads_the_same),
    cmocka_unit_test (test_the_writer_makes_the_same_bytes),
    cmocka_unit_test (test_nothing_is_written_beyond_the_memory_given),
    cmocka_unit_test (test_arrival_offsets_are_coded_as_the_rfc_says),
    cmocka_unit_test (test_every_metric_survives_a_round_trip),
    cmocka_unit_test (test_a_stream_without_metrics_and_no_stream_are_valid),
    cmocka_unit_test (test_rtcp_padding_is_cut_off),
    cmocka_unit_test (test_malformed_packets_are_refused),
    cmocka_unit_test (test_every_truncation_is_refused),
    cmocka_unit_test
        (test_more_than_16384_metrics_are_neither_written_nor_read),
    cmocka_unit_test (test_random_bytes_are_read_within_their_bounds),
  };

  return cmocka_run_group_tests_name ("wire/ccfb", tests, NULL, NULL);
}
