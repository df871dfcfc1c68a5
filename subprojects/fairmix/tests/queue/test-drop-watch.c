/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/queue/fmx-drop-watch.h"

/* Ten packets a second from @from_s to @to_s, @n_dropped of them dropped.
 * Returns: the last change, and adds the number of changes to @n_changes */
static FmxDropWatchChange
seconds (FmxDropWatch *watch, int from_s, int to_s, int n_dropped,
    int *n_changes)
{
  FmxDropWatchChange last = FMX_DROP_WATCH_NONE;
  FmxDropWatchParams params;

  fmx_drop_watch_params_default (&params);
  for (int i = 10 * from_s; i < 10 * to_s; i++) {
    FmxDropWatchChange change = fmx_drop_watch_on_packet (watch, &params,
        i % 10 < n_dropped, (FmxTime) i * 100 * FMX_MSECOND);

    if (change != FMX_DROP_WATCH_NONE) {
      last = change;
      ++*n_changes;
    }
  }
  return last;
}

static void
test_three_bad_seconds_begin_it_and_a_good_one_ends_it (void **state)
{
  FmxDropWatch watch;
  int n = 0;

  (void) state;
  fmx_drop_watch_init (&watch);
  assert_int_equal (seconds (&watch, 0, 5, 0, &n), FMX_DROP_WATCH_NONE);
  assert_int_equal (seconds (&watch, 5, 8, 3, &n), FMX_DROP_WATCH_NONE);
  assert_int_equal (seconds (&watch, 8, 20, 3, &n), FMX_DROP_WATCH_BEGAN);
  assert_int_equal ((int) (10 * fmx_drop_watch_get_share (&watch) + 0.5), 3);
  assert_int_equal (seconds (&watch, 20, 22, 0, &n), FMX_DROP_WATCH_ENDED);
  assert_int_equal (seconds (&watch, 22, 40, 0, &n), FMX_DROP_WATCH_NONE);
  assert_int_equal (n, 2);
}

static void
test_bad_seconds_that_are_not_in_a_row_are_none (void **state)
{
  FmxDropWatch watch;
  int n = 0;

  (void) state;
  fmx_drop_watch_init (&watch);
  for (int s = 0; s < 60; s += 3) {
    seconds (&watch, s, s + 2, 5, &n);
    seconds (&watch, s + 2, s + 3, 0, &n);
  }
  assert_int_equal (n, 0);
}

static void
test_a_pause_is_neither_good_nor_bad (void **state)
{
  FmxDropWatch watch;
  int n = 0;

  (void) state;
  fmx_drop_watch_init (&watch);
  /* two bad seconds, an hour of nothing, two bad seconds: not three in a row */
  seconds (&watch, 0, 2, 5, &n);
  seconds (&watch, 3600, 3602, 5, &n);
  assert_int_equal (n, 0);
  seconds (&watch, 3602, 3604, 5, &n);
  assert_int_equal (n, 1);
  /* nor has it ended when packets come again and are dropped */
  seconds (&watch, 7200, 7210, 5, &n);
  assert_int_equal (n, 1);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_three_bad_seconds_begin_it_and_a_good_one_ends_it),
    cmocka_unit_test (test_bad_seconds_that_are_not_in_a_row_are_none),
    cmocka_unit_test (test_a_pause_is_neither_good_nor_bad),
  };

  return cmocka_run_group_tests_name ("queue/drop-watch", tests, NULL, NULL);
}
