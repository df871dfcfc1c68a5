/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/wire/fmx-playout-delay.h"

#define MS FMX_MSECOND

static void
test_both_delays_survive_a_round_trip (void **state)
{
  uint8_t data[FMX_PLAYOUT_DELAY_BYTES];
  FmxDuration least, most;

  (void) state;
  for (int low = 0; low <= 4095; low += 5) {
    for (int high = low; high <= 4095; high += 91) {
      assert_int_equal (fmx_playout_delay_write (data, sizeof data,
              low * 10 * MS, high * 10 * MS), sizeof data);
      assert_true (fmx_playout_delay_parse (data, sizeof data, &least, &most));
      assert_int_equal (least, low * 10 * MS);
      assert_int_equal (most, high * 10 * MS);
    }
  }
}

/* Twelve bits of each, in hundredths of a second */
static void
test_bytes_are_those_of_the_description (void **state)
{
  uint8_t data[FMX_PLAYOUT_DELAY_BYTES];

  (void) state;
  fmx_playout_delay_write (data, sizeof data, 0x123 * 10 * MS, 0xabc * 10 * MS);
  assert_int_equal (data[0], 0x12);
  assert_int_equal (data[1], 0x3a);
  assert_int_equal (data[2], 0xbc);
}

static void
test_what_cannot_be_said_is_rounded_up_and_cut (void **state)
{
  uint8_t data[FMX_PLAYOUT_DELAY_BYTES];
  FmxDuration least, most;

  (void) state;
  fmx_playout_delay_write (data, sizeof data, 1, INT64_MAX);
  assert_true (fmx_playout_delay_parse (data, sizeof data, &least, &most));
  assert_int_equal (least, 10 * MS);
  assert_int_equal (most, FMX_PLAYOUT_DELAY_MOST);
  assert_int_equal (fmx_playout_delay_write (data, 2, 0, 0), 0);
}

static void
test_nonsense_is_refused (void **state)
{
  const uint8_t backwards[3] = { 0x00, 0x20, 0x01 };
  const uint8_t four[4] = { 0, 0, 1, 1 };
  FmxDuration least = -1, most = -1;

  (void) state;
  assert_false (fmx_playout_delay_parse (backwards, 3, &least, &most));
  for (size_t size = 0; size <= 4; size++)
    assert_int_equal (fmx_playout_delay_parse (four, size, &least, &most),
        size == 3);
  assert_int_equal (least, 0);
  assert_int_equal (most, 10 * MS);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_both_delays_survive_a_round_trip),
    cmocka_unit_test (test_bytes_are_those_of_the_description),
    cmocka_unit_test (test_what_cannot_be_said_is_rounded_up_and_cut),
    cmocka_unit_test (test_nonsense_is_refused),
  };

  return cmocka_run_group_tests_name ("wire/playout-delay", tests, NULL, NULL);
}
