/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>

#include "fairmix/base/fmx-rate-meter.h"

static FmxTime
feed (FmxRateMeter *meter, FmxTime from, FmxDuration length,
    FmxDuration interval, uint32_t wire_bytes)
{
  FmxTime t;

  for (t = from; t < from + (FmxTime) length; t += (FmxTime) interval)
    fmx_rate_meter_add (meter, wire_bytes, t);
  return t;
}

static void
test_constant_stream_reads_constant (void **state)
{
  FmxRateMeter meter;
  FmxTime now = 12345 * FMX_MSECOND;

  (void) state;
  fmx_rate_meter_init (&meter, FMX_SECOND);
  now = feed (&meter, now, 2 * FMX_SECOND, 20 * FMX_MSECOND, 200);
  for (int i = 0; i < 200; i++) {
    now = feed (&meter, now, 20 * FMX_MSECOND, 20 * FMX_MSECOND, 200);
    assert_true (fmx_rate_meter_bps (&meter, now) == 80000.0);
  }
}

static void
test_a_young_stream_reads_as_an_old_one (void **state)
{
  FmxRateMeter meter;
  FmxTime now;

  (void) state;
  fmx_rate_meter_init (&meter, FMX_SECOND);
  now = feed (&meter, 0, 300 * FMX_MSECOND, 20 * FMX_MSECOND, 200);
  assert_true (fabs (fmx_rate_meter_bps (&meter, now) - 80000.0) < 0.1);
  fmx_rate_meter_init (&meter, FMX_SECOND);
  now = feed (&meter, 0, 110 * FMX_MSECOND, 20 * FMX_MSECOND, 200);
  assert_true (fabs (fmx_rate_meter_bps (&meter, now) - 80000.0) < 0.1);
}

static void
test_silence_reads_zero_after_a_window (void **state)
{
  FmxRateMeter meter;
  FmxTime now;

  (void) state;
  fmx_rate_meter_init (&meter, FMX_SECOND);
  assert_true (fmx_rate_meter_bps (&meter, 0) == 0.0);
  now = feed (&meter, 0, 5 * FMX_SECOND, 20 * FMX_MSECOND, 200);
  assert_true (fmx_rate_meter_bps (&meter, now + 500 * FMX_MSECOND) > 30000.0);
  assert_true (fmx_rate_meter_bps (&meter, now + 1100 * FMX_MSECOND) == 0.0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_constant_stream_reads_constant),
    cmocka_unit_test (test_a_young_stream_reads_as_an_old_one),
    cmocka_unit_test (test_silence_reads_zero_after_a_window),
  };

  return cmocka_run_group_tests_name ("base/rate-meter", tests, NULL, NULL);
}
