/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/wire/fmx-contributor-time.h"

static const FmxContributorTime TIME = {
  .ssrc = 0x01234567,.timestamp = 0x89abcdef,.mixed = true
};

static void
test_bytes_are_those_of_the_description (void **state)
{
  static const uint8_t expected[] = {
    0x80, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef
  };
  uint8_t data[FMX_CONTRIBUTOR_TIME_BYTES];

  (void) state;
  assert_int_equal (fmx_contributor_time_write (data, sizeof data, &TIME),
      sizeof data);
  assert_memory_equal (data, expected, sizeof expected);
}

static void
test_all_of_it_survives_a_round_trip (void **state)
{
  uint8_t data[FMX_CONTRIBUTOR_TIME_BYTES];
  FmxContributorTime time = TIME, read;

  (void) state;
  for (int mixed = 0; mixed <= 1; mixed++) {
    time.mixed = mixed;
    fmx_contributor_time_write (data, sizeof data, &time);
    assert_true (fmx_contributor_time_parse (data, sizeof data, &read));
    assert_int_equal (read.ssrc, TIME.ssrc);
    assert_int_equal (read.timestamp, TIME.timestamp);
    assert_int_equal (read.mixed, mixed);
  }
}

/* What is reserved may mean something some day. */
static void
test_other_lengths_are_refused_and_reserved_bits_are_not (void **state)
{
  uint8_t data[FMX_CONTRIBUTOR_TIME_BYTES + 1] = { 0x7f };
  FmxContributorTime time;

  (void) state;
  for (size_t size = 0; size <= sizeof data; size++)
    assert_int_equal (fmx_contributor_time_parse (data, size, &time),
        size == FMX_CONTRIBUTOR_TIME_BYTES);
  assert_false (time.mixed);
  assert_int_equal (fmx_contributor_time_write (data,
          FMX_CONTRIBUTOR_TIME_BYTES - 1, &TIME), 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_bytes_are_those_of_the_description),
    cmocka_unit_test (test_all_of_it_survives_a_round_trip),
    cmocka_unit_test (test_other_lengths_are_refused_and_reserved_bits_are_not),
  };

  return cmocka_run_group_tests_name ("wire/contributor-time", tests, NULL,
      NULL);
}
