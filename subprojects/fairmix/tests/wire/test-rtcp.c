/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "fmx-test.h"

#include "fairmix/base/fmx-rng.h"
#include "fairmix/wire/fmx-rtcp.h"

/* All sources that a datagram names or that leave; -1 if it is malformed. */
static int
read_names (const uint8_t *data, size_t size, FmxRtcpCname *cnames)
{
  FmxRtcpReader reader;
  FmxRtcpPacket packet;
  size_t n = 0;

  if (!fmx_rtcp_reader_init (&reader, data, size)) {
    assert_false (fmx_rtcp_reader_next (&reader, &packet));
    return -1;
  }
  while (fmx_rtcp_reader_next (&reader, &packet))
    n += fmx_rtcp_sdes_cnames (&packet, cnames + n);
  return (int) n;
}

static void
assert_name (const FmxRtcpCname *cname, uint32_t ssrc, const char *name)
{
  assert_int_equal (cname->ssrc, ssrc);
  assert_int_equal (cname->name_bytes, strlen (name));
  assert_memory_equal (cname->name, name, strlen (name));
}

/* a receiver report, then two names: one that ends within a word, one at its
 * end, so that a word of zeros follows; then a BYE of two with a reason */
static const uint8_t compound[] = {
  0x80, 201, 0, 1, 0, 0, 0, 1,
  0x82, 202, 0, 7, 0, 0, 0, 1, 2, 1, 'x', 1, 3, 'a', 'b', 'c', 0, 0, 0, 0,
  0, 0, 0, 2, 1, 2, 'd', 'e', 0, 0, 0, 0,
  0x82, 203, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 3, 'e', 'n', 'd'
};

static void
test_names_are_read_out_of_a_compound_packet (void **state)
{
  FmxRtcpCname cnames[2 * FMX_RTCP_COUNT_MAX];

  (void) state;
  assert_int_equal (read_names (compound, sizeof compound, cnames), 2);
  assert_name (&cnames[0], 1, "abc");
  assert_name (&cnames[1], 2, "de");
}

static void
test_a_bye_names_all_who_leave (void **state)
{
  uint32_t ssrcs[FMX_RTCP_COUNT_MAX];
  FmxRtcpReader reader;
  FmxRtcpPacket packet;
  size_t n = 0;

  (void) state;
  assert_true (fmx_rtcp_reader_init (&reader, compound, sizeof compound));
  while (fmx_rtcp_reader_next (&reader, &packet))
    n += fmx_rtcp_bye_ssrcs (&packet, ssrcs + n);
  assert_int_equal (n, 2);
  assert_int_equal (ssrcs[0], 1);
  assert_int_equal (ssrcs[1], 2);
}

static void
test_a_bye_has_no_more_sources_than_room (void **state)
{
  const uint8_t bye[] = { 0x9f, 203, 0, 1, 0, 0, 0, 9 };
  uint32_t ssrcs[FMX_RTCP_COUNT_MAX];
  FmxRtcpReader reader;
  FmxRtcpPacket packet;

  (void) state;
  assert_true (fmx_rtcp_reader_init (&reader, bye, sizeof bye));
  assert_true (fmx_rtcp_reader_next (&reader, &packet));
  assert_int_equal (fmx_rtcp_bye_ssrcs (&packet, ssrcs), 1);
  assert_int_equal (ssrcs[0], 9);
}

/* a sender report with one block, then a receiver report with two */
static const uint8_t reports[] = {
  0x81, 200, 0, 12, 0, 0, 0, 7,
  0xe0, 0, 0, 1, 0x80, 0, 0, 2, 0, 0, 3, 4, 0, 0, 0, 5, 0, 0, 0, 6,
  0, 0, 0, 8, 64, 0xff, 0xff, 0xfe, 0, 1, 0, 2, 0, 0, 0, 3,
  0x12, 0x34, 0x56, 0x78, 0, 0, 0x80, 0,
  0x82, 201, 0, 13, 0, 0, 0, 9,
  0, 0, 0, 10, 0, 0x7f, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0,
  4,
  0, 0, 0, 11, 255, 0x80, 0, 0, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 7, 0, 0, 0, 8
};

static void
test_reports_are_read_with_all_their_blocks (void **state)
{
  FmxRtcpReader reader;
  FmxRtcpPacket packet;
  FmxRtcpReport report;
  FmxReportBlock block;

  (void) state;
  assert_true (fmx_rtcp_reader_init (&reader, reports, sizeof reports));
  assert_true (fmx_rtcp_reader_next (&reader, &packet));
  assert_true (fmx_rtcp_report_read (&report, &packet));
  assert_int_equal (report.ssrc, 7);
  assert_true (report.has_sender_info);
  assert_true (report.ntp_time == UINT64_C (0xe000000180000002));
  assert_int_equal (report.rtp_time, 0x304);
  assert_int_equal (report.n_blocks, 1);
  fmx_rtcp_report_block (&report, 0, &block);
  assert_int_equal (block.ssrc, 8);
  assert_int_equal (block.fraction_lost, 64);
  assert_int_equal (block.cumulative_lost, -2);
  assert_int_equal (block.ext_highest_seq, 0x10002);
  assert_int_equal (block.jitter_ts, 3);
  assert_int_equal (block.lsr, 0x12345678);
  assert_int_equal (block.dlsr, 0x8000);

  assert_true (fmx_rtcp_reader_next (&reader, &packet));
  assert_true (fmx_rtcp_report_read (&report, &packet));
  assert_int_equal (report.ssrc, 9);
  assert_false (report.has_sender_info);
  assert_int_equal (report.n_blocks, 2);
  fmx_rtcp_report_block (&report, 0, &block);
  assert_int_equal (block.cumulative_lost, 0x7fffff);
  fmx_rtcp_report_block (&report, 1, &block);
  assert_int_equal (block.ssrc, 11);
  assert_int_equal (block.fraction_lost, 255);
  assert_int_equal (block.cumulative_lost, -0x800000);
  assert_int_equal (block.dlsr, 8);
  assert_false (fmx_rtcp_reader_next (&reader, &packet));
}

/* Of either kind, with more blocks announced than there are, at any length */
static void
test_a_report_that_is_too_short_tells_nothing (void **state)
{
  uint8_t bytes[64];
  FmxRtcpReader reader;
  FmxRtcpPacket packet;
  FmxRtcpReport report;

  (void) state;
  for (uint32_t type = FMX_RTCP_SR; type <= FMX_RTCP_SDES; type++) {
    size_t needed = type == FMX_RTCP_SR ? 52 : 32;

    for (size_t size = 4; size <= sizeof bytes; size += 4) {
      memset (bytes, 0, sizeof bytes);
      bytes[0] = 0x81;
      bytes[1] = (uint8_t) type;
      bytes[3] = (uint8_t) (size / 4 - 1);
      assert_true (fmx_rtcp_reader_init (&reader, bytes, size));
      assert_true (fmx_rtcp_reader_next (&reader, &packet));
      assert_ptr_equal (packet.data, bytes);
      assert_int_equal (packet.bytes, size);
      assert_true (fmx_rtcp_report_read (&report, &packet)
          == (type != FMX_RTCP_SDES && size >= needed));
    }
  }
}

/* The item says that it is longer than the packet; behind it in memory stands
 * what an earlier datagram left there. */
static void
test_a_short_sdes_names_nobody (void **state)
{
  static const struct
  {
    const char *what;
    uint8_t bytes[16];
    size_t size;
    int names;
  } rows[] = {
    {"the name is longer than the packet",
          {0x81, 202, 0, 2, 0, 0, 0, 1, 1, 32, 'a', 'b', 's', 't', 'a', 'l'},
        12, 0},
    {"no room for its length",
        {0x81, 202, 0, 1, 0, 0, 0, 1, 1, 3, 's', 't', 'a', 'l', 'e', 0}, 8, 0},
    {"the items have no end",
        {0x81, 202, 0, 2, 0, 0, 0, 1, 1, 2, 'a', 'b', 0, 0, 0, 0}, 12, 0},
    {"a chunk without a source", {0x81, 202, 0, 0, 0, 0, 0, 1}, 4, 0},
    {"more chunks than there are",
        {0x9f, 202, 0, 3, 0, 0, 0, 1, 1, 2, 'a', 'b', 0, 0, 0, 0}, 16, 1},
    {"an empty name", {0x81, 202, 0, 2, 0, 0, 0, 1, 1, 0, 0, 0}, 12, 1},
  };
  FmxRtcpCname cnames[FMX_RTCP_COUNT_MAX];

  (void) state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    assert_int_equal (read_names (rows[i].bytes, rows[i].size, cnames),
        rows[i].names);
}

static void
test_lengths_that_do_not_add_up_are_refused (void **state)
{
  static const struct
  {
    const char *what;
    uint8_t bytes[12];
    size_t size;
    bool good;
  } rows[] = {
    {"nothing", {0}, 0, false},
    {"half a header", {0x80, 201, 0, 0}, 3, false},
    {"a header alone", {0x80, 201, 0, 0}, 4, true},
    {"version 1", {0x40, 201, 0, 0}, 4, false},
    {"RTP", {0x80, 96, 0, 0}, 4, false},
    {"a packet longer than the datagram", {0x80, 201, 0, 2, 0, 0, 0, 1}, 8,
        false},
    {"something after the last packet", {0x80, 201, 0, 0, 0x80, 201}, 6,
        false},
    {"a word of padding", {0xa0, 201, 0, 2, 0, 0, 0, 1, 0, 0, 0, 4}, 12, true},
    {"no padding where it says so", {0xa0, 201, 0, 1, 0, 0, 0, 0}, 8, false},
    {"more padding than packet", {0xa0, 201, 0, 1, 0, 0, 0, 8}, 8, false},
    {"part of a word of padding", {0xa0, 201, 0, 1, 0, 0, 0, 3}, 8, true},
    {"padding before the last packet",
        {0xa0, 201, 0, 1, 0, 0, 0, 4, 0x80, 201, 0, 0}, 12, false},
  };
  FmxRtcpReader reader;

  (void) state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (fmx_rtcp_reader_init (&reader, rows[i].bytes, rows[i].size)
        != rows[i].good)
      fail_msg ("%s", rows[i].what);
}

static void
test_packets_are_read_up_to_what_is_none (void **state)
{
  static const uint8_t bytes[] = { 0x80, 201, 0, 0, 0x81, 203, 0, 1, 0, 0, 0, 1,
    0x80, 0, 0, 1, 7, 7
  };
  FmxRtcpReader reader;
  FmxRtcpPacket packet;

  (void) state;
  assert_false (fmx_rtcp_reader_init (&reader, bytes, sizeof bytes));
  assert_false (fmx_rtcp_reader_next (&reader, &packet));
  fmx_rtcp_reader_init_prefix (&reader, bytes, sizeof bytes);
  assert_true (fmx_rtcp_reader_next (&reader, &packet));
  assert_true (fmx_rtcp_reader_next (&reader, &packet));
  assert_int_equal (packet.type, FMX_RTCP_BYE);
  assert_false (fmx_rtcp_reader_next (&reader, &packet));
}

/* Whatever comes: what is read lies within the datagram, in memory of just that
 * length for the sanitizers. */
static void
test_nothing_is_read_beyond_the_datagram (void **state)
{
  FmxRtcpCname cnames[64 * FMX_RTCP_COUNT_MAX];
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 6);
  for (int round = 0; round < 200000; round++) {
    size_t size = 1 + fmx_rng_next (&rng) % sizeof compound;
    uint8_t *data = malloc (size);
    int n;

    memcpy (data, compound, size);
    for (uint64_t k = fmx_rng_next (&rng) % 4; k > 0; k--)
      data[fmx_rng_next (&rng) % size] = (uint8_t) fmx_rng_next (&rng);
    n = read_names (data, size, cnames);
    for (int i = 0; i < n; i++) {
      assert_true (cnames[i].name >= data);
      assert_true (cnames[i].name + cnames[i].name_bytes <= data + size);
    }
    free (data);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_names_are_read_out_of_a_compound_packet),
    cmocka_unit_test (test_a_bye_names_all_who_leave),
    cmocka_unit_test (test_a_bye_has_no_more_sources_than_room),
    cmocka_unit_test (test_reports_are_read_with_all_their_blocks),
    cmocka_unit_test (test_a_report_that_is_too_short_tells_nothing),
    cmocka_unit_test (test_a_short_sdes_names_nobody),
    cmocka_unit_test (test_lengths_that_do_not_add_up_are_refused),
    cmocka_unit_test (test_packets_are_read_up_to_what_is_none),
    cmocka_unit_test (test_nothing_is_read_beyond_the_datagram),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
