/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>

#include "fairmix/rate/fmx-stream-table.h"

#define MS FMX_MSECOND

static FmxStreamTable table;

static FmxTime
talk (uint32_t ssrc, uint32_t wire_bytes, FmxDuration interval, FmxTime from,
    FmxDuration length)
{
  FmxTime now;

  for (now = from; now < from + (FmxTime) length; now += (FmxTime) interval)
    fmx_stream_table_on_sent (&table, ssrc, wire_bytes, now);
  return now;
}

static void
test_totals_are_those_of_the_active_streams (void **state)
{
  FmxStreamTotals totals;

  (void) state;
  fmx_stream_table_init (&table);
  talk (1, 200, 20 * MS, 0, 3 * FMX_SECOND);    /* 80 kbit/s: G.711 */
  talk (2, 80, 20 * MS, 0, 3 * FMX_SECOND);     /* 32 kbit/s */
  talk (3, 60, 400 * MS, 0, 3 * FMX_SECOND);    /* comfort noise */
  talk (4, 200, 20 * MS, 0, 900 * MS);  /* fell silent */
  fmx_stream_table_totals (&table, &totals, 3 * FMX_SECOND);
  assert_int_equal (totals.n, 2);
  assert_true (fabs (totals.mean_bps - 56000.0) < 1.0);
  assert_true (fabs (totals.smallest_bps - 32000.0) < 1.0);
  assert_true (fabs (totals.smallest_payload_bps - 16000.0) < 1.0);
  assert_int_equal (totals.packet_interval, 20 * MS);
}

static void
test_a_young_stream_counts_at_once (void **state)
{
  FmxStreamTotals totals;

  (void) state;
  fmx_stream_table_init (&table);
  fmx_stream_table_totals (&table, &totals, 0);
  assert_int_equal (totals.n, 0);
  talk (1, 200, 20 * MS, 0, 200 * MS);
  fmx_stream_table_totals (&table, &totals, 200 * MS);
  assert_int_equal (totals.n, 1);
  assert_true (fabs (totals.mean_bps - 80000.0) < 1.0);
}

static void
test_a_stream_that_comes_back_is_measured_anew (void **state)
{
  FmxStreamTotals totals;

  (void) state;
  fmx_stream_table_init (&table);
  talk (1, 200, 20 * MS, 0, 3 * FMX_SECOND);
  talk (1, 200, 20 * MS, 60 * (FmxTime) FMX_SECOND, 300 * MS);
  fmx_stream_table_totals (&table, &totals, 60 * (FmxTime) FMX_SECOND
      + 300 * MS);
  assert_int_equal (totals.n, 1);
  assert_true (fabs (totals.mean_bps - 80000.0) < 1.0);
}

static void
test_a_flood_of_ssrcs_keeps_the_one_that_talks (void **state)
{
  FmxTime now = 0;

  (void) state;
  fmx_stream_table_init (&table);
  for (uint32_t i = 0; i < 20000; i++, now += MS) {
    fmx_stream_table_on_sent (&table, 7, 200, now);
    fmx_stream_table_on_sent (&table, 100000 + i * 65537, 200, now);
  }
  assert_non_null (fmx_stream_table_find (&table, 7));
  assert_null (fmx_stream_table_find (&table, 100000));
  assert_non_null (fmx_stream_table_find (&table, 100000 + 19999 * 65537u));
  assert_int_equal (table.n, FMX_STREAM_TABLE_STREAMS);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_totals_are_those_of_the_active_streams),
    cmocka_unit_test (test_a_young_stream_counts_at_once),
    cmocka_unit_test (test_a_stream_that_comes_back_is_measured_anew),
    cmocka_unit_test (test_a_flood_of_ssrcs_keeps_the_one_that_talks),
  };

  return cmocka_run_group_tests_name ("rate/stream-table", tests, NULL, NULL);
}
