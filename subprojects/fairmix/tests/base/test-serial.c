/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/base/fmx-serial.h"

static void
test_differences_wrap (void **state)
{
  (void) state;
  assert_int_equal (fmx_serial_diff16 (0, 65535), 1);
  assert_int_equal (fmx_serial_diff16 (65535, 0), -1);
  assert_int_equal (fmx_serial_diff16 (32768, 0), -32768);
  assert_true (fmx_serial_diff32 (5, UINT32_MAX) == 6);
  assert_true (fmx_serial_diff32 (UINT32_MAX, 5) == -6);
}

static void
test_extension_is_continuous_over_ten_wraps (void **state)
{
  FmxSerial serial = { 0, false };
  uint64_t first = fmx_serial_extend16 (&serial, 65000);

  (void) state;
  for (uint64_t i = 1; i < 10 * 65536; i++)
    assert_true (fmx_serial_extend16 (&serial, (uint16_t) (65000 + i))
        == first + i);
}

static void
test_late_numbers_do_not_move_the_highest (void **state)
{
  FmxSerial serial = { 0, false };
  uint64_t first = fmx_serial_extend16 (&serial, 2);

  (void) state;
  assert_true (fmx_serial_extend16 (&serial, 65534) == first - 4);
  assert_true (fmx_serial_extend16 (&serial, 3) == first + 1);
}

static void
test_timestamps_extend_in_32_bits (void **state)
{
  FmxSerial serial = { 0, false };
  uint64_t first = fmx_serial_extend32 (&serial, UINT32_MAX - 959);

  (void) state;
  assert_true (fmx_serial_extend32 (&serial, 0) == first + 960);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_differences_wrap),
    cmocka_unit_test (test_extension_is_continuous_over_ten_wraps),
    cmocka_unit_test (test_late_numbers_do_not_move_the_highest),
    cmocka_unit_test (test_timestamps_extend_in_32_bits),
  };

  return cmocka_run_group_tests_name ("base/serial", tests, NULL, NULL);
}
