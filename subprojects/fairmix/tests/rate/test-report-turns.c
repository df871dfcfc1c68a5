/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <string.h>

#include "fairmix/base/fmx-units.h"
#include "fairmix/rate/fmx-report-turns.h"

#define SSRC 1000u
#define REPORT (80u + FMX_IP_UDP_BYTES)
#define NARROW_BPS 150000u

/* All of @n streams, from the @from-th on, want to report; counts in @reports who does.
 * Returns: how many */
static unsigned
report (FmxReportTurns *turns, unsigned from, unsigned n, uint64_t bps,
    unsigned *reports)
{
  unsigned sum = 0;

  for (unsigned i = from; i < from + n; i++) {
    bool takes = fmx_report_turns_take (turns, SSRC + i, REPORT, bps);

    sum += takes;
    reports[i] += takes;
  }
  return sum;
}

static void
test_the_reports_of_a_round_take_the_path_for_no_longer_than_a_packet (void
    **state)
{
  unsigned reports[24] = { 0 };
  FmxReportTurns turns;

  (void) state;
  fmx_report_turns_init (&turns);
  report (&turns, 0, 24, NARROW_BPS, reports);
  for (unsigned round = 0; round < 100; round++) {
    unsigned n = report (&turns, 0, 24, NARROW_BPS, reports);

    assert_true (8.0 * REPORT * n / NARROW_BPS
        <= fmx_time_to_s (FMX_REPORT_TURNS_TIME));
    assert_int_equal (n, 3);
  }
}

/* One is the first each time, and of the 23 others two: each of those in twelve rounds. */
static void
test_all_report_in_turn (void **state)
{
  FmxReportTurns turns;
  unsigned reports[24];

  (void) state;
  fmx_report_turns_init (&turns);
  report (&turns, 0, 24, NARROW_BPS, reports);
  for (unsigned cycle = 0; cycle < 10; cycle++) {
    memset (reports, 0, sizeof reports);
    for (unsigned round = 0; round < 12; round++)
      report (&turns, 0, 24, NARROW_BPS, reports);
    assert_int_equal (reports[0], 12);
    for (unsigned i = 1; i < 24; i++)
      assert_in_range (reports[i], 1, 2);
  }
}

static void
test_a_wide_path_has_all_reports_at_once (void **state)
{
  unsigned reports[24] = { 0 };
  FmxReportTurns turns;

  (void) state;
  fmx_report_turns_init (&turns);
  for (unsigned round = 0; round < 10; round++)
    assert_int_equal (report (&turns, 0, 24, 2000000, reports), 24);
}

static void
test_two_report_in_each_round_on_any_path (void **state)
{
  unsigned reports[8] = { 0 };
  FmxReportTurns turns;

  (void) state;
  fmx_report_turns_init (&turns);
  report (&turns, 0, 8, 0, reports);
  for (unsigned round = 0; round < 10; round++)
    assert_int_equal (report (&turns, 0, 8, 0, reports), 2);
}

static void
test_who_is_new_reports_at_once (void **state)
{
  unsigned reports[9] = { 0 };
  FmxReportTurns turns;

  (void) state;
  fmx_report_turns_init (&turns);
  assert_int_equal (report (&turns, 0, 8, NARROW_BPS, reports), 8);
  assert_int_equal (report (&turns, 0, 9, NARROW_BPS, reports), 4);
  assert_int_equal (reports[8], 1);
  assert_int_equal (report (&turns, 0, 9, NARROW_BPS, reports), 3);
}

/* ... and nobody else waits for it: the turns of who left go to the others. */
static void
test_who_has_gone_is_forgotten (void **state)
{
  unsigned reports[24] = { 0 };
  FmxReportTurns turns;

  (void) state;
  fmx_report_turns_init (&turns);
  report (&turns, 0, 24, NARROW_BPS, reports);
  report (&turns, 20, 4, NARROW_BPS, reports);
  for (unsigned round = 0; round < 10; round++)
    assert_int_equal (report (&turns, 20, 4, NARROW_BPS, reports), 3);
  assert_int_equal (turns.n, 4);
}

static void
test_who_is_beyond_the_table_reports_each_time (void **state)
{
  unsigned reports[FMX_REPORT_TURNS_STREAMS + 2] = { 0 };
  FmxReportTurns turns;

  (void) state;
  fmx_report_turns_init (&turns);
  report (&turns, 0, FMX_REPORT_TURNS_STREAMS + 2, NARROW_BPS, reports);
  assert_int_equal (report (&turns, 0, FMX_REPORT_TURNS_STREAMS + 2,
          NARROW_BPS, reports), 5);
  assert_int_equal (reports[FMX_REPORT_TURNS_STREAMS + 1], 2);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test
        (test_the_reports_of_a_round_take_the_path_for_no_longer_than_a_packet),
    cmocka_unit_test (test_all_report_in_turn),
    cmocka_unit_test (test_a_wide_path_has_all_reports_at_once),
    cmocka_unit_test (test_two_report_in_each_round_on_any_path),
    cmocka_unit_test (test_who_is_new_reports_at_once),
    cmocka_unit_test (test_who_has_gone_is_forgotten),
    cmocka_unit_test (test_who_is_beyond_the_table_reports_each_time),
  };

  return cmocka_run_group_tests_name ("rate/report-turns", tests, NULL, NULL);
}
