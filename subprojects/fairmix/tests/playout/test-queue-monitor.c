/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/playout/fmx-queue-monitor.h"

static FmxQueueMonitor
monitor_of (uint64_t threshold, uint32_t length, double decay,
    FmxQueueMonitorAfterDrop after_drop)
{
  FmxQueueMonitor monitor;
  FmxQueueMonitorParams params = {
    .threshold = threshold,
    .length = length,
    .decay = decay,
    .after_drop = after_drop,
  };

  fmx_queue_monitor_init (&monitor, &params);
  return monitor;
}

/* How many arrivals at a standing queue of @n until one is to be dropped */
static uint32_t
arrivals_until_drop (FmxQueueMonitor *monitor, uint32_t n)
{
  for (uint32_t i = 1; i <= 100000; i++) {
    fmx_queue_monitor_on_arrival (monitor, n, 1);
    if (fmx_queue_monitor_exceeds (monitor, 1, 1))
      return i;
  }
  return 0;
}

/* [nanoManipulator 3.2] */
static void
test_a_queue_that_stands_at_its_length_is_shortened (void **state)
{
  FmxQueueMonitor monitor = monitor_of (30, 2, 1.0, FMX_QUEUE_MONITOR_RESET);

  (void) state;
  assert_int_equal (arrivals_until_drop (&monitor, 2), 31);
}

static void
test_a_queue_below_its_length_is_left_alone (void **state)
{
  FmxQueueMonitor monitor = monitor_of (30, 2, 1.0, FMX_QUEUE_MONITOR_RESET);

  (void) state;
  assert_int_equal (arrivals_until_drop (&monitor, 1), 0);
}

static void
test_a_dip_starts_the_count_again (void **state)
{
  FmxQueueMonitor monitor = monitor_of (30, 2, 1.0, FMX_QUEUE_MONITOR_RESET);

  (void) state;
  for (int i = 0; i < 30; i++)
    fmx_queue_monitor_on_arrival (&monitor, 5, 1);
  fmx_queue_monitor_on_arrival (&monitor, 1, 1);
  assert_int_equal (fmx_queue_monitor_count (&monitor, 1), 31);
  assert_int_equal (fmx_queue_monitor_count (&monitor, 2), 0);
  assert_int_equal (fmx_queue_monitor_count (&monitor, 5), 0);
  assert_int_equal (arrivals_until_drop (&monitor, 2), 31);
}

static void
test_thresholds_decay_above_the_length (void **state)
{
  static const struct
  {
    uint32_t n, arrivals;
  } table[] = {
    {2, 121},                   /* 120 */
    {3, 61},                    /* 60 */
    {4, 31},                    /* 30 */
    {8, 2},                     /* 1.875 */
    {9, 1},                     /* 0.94: at once */
    {64, 1},
    {1000, 1},                  /* more than there are positions */
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (table); i++) {
    FmxQueueMonitor monitor = monitor_of (120, 2, 2.0, FMX_QUEUE_MONITOR_SHIFT);

    assert_int_equal (arrivals_until_drop (&monitor, table[i].n),
        table[i].arrivals);
  }
}

/* A queue that has long stood at 5 and is shortened at each drop: how many
 * arrivals is it until it stands at 1? */
static uint32_t
arrivals_from_five_to_one (FmxQueueMonitorAfterDrop after_drop)
{
  FmxQueueMonitor monitor = monitor_of (30, 2, 1.0, after_drop);
  uint32_t n_arrivals = 0;

  fmx_queue_monitor_on_arrival (&monitor, 5, 30);
  for (uint32_t n = 5; n > 1; n--) {
    n_arrivals += arrivals_until_drop (&monitor, n);
    fmx_queue_monitor_on_drop (&monitor);
  }
  assert_int_equal (arrivals_until_drop (&monitor, 1), 0);
  return n_arrivals;
}

static void
test_after_a_drop_the_counts_do_as_told (void **state)
{
  (void) state;
  /* what is known to be too much goes at once */
  assert_int_equal (arrivals_from_five_to_one (FMX_QUEUE_MONITOR_SHIFT), 4);
  assert_int_equal (arrivals_from_five_to_one (FMX_QUEUE_MONITOR_KEPT), 4);
  /* or one packet a threshold */
  assert_int_equal (arrivals_from_five_to_one (FMX_QUEUE_MONITOR_RESET),
      1 + 3 * 31);
}

/* Position 3 was taken for only 10 arrivals, position 2 for 31: shift knows
 * that a queue one shorter would have held 2 for 10 arrivals only. */
static void
test_shift_keeps_what_a_shorter_queue_would_remember (void **state)
{
  FmxQueueMonitor shift = monitor_of (30, 2, 1.0, FMX_QUEUE_MONITOR_SHIFT);
  FmxQueueMonitor kept = monitor_of (30, 2, 1.0, FMX_QUEUE_MONITOR_KEPT);

  (void) state;
  for (int i = 0; i < 31; i++) {
    fmx_queue_monitor_on_arrival (&shift, i < 21 ? 2 : 3, 1);
    fmx_queue_monitor_on_arrival (&kept, i < 21 ? 2 : 3, 1);
  }
  assert_true (fmx_queue_monitor_exceeds (&shift, 1, 1));
  fmx_queue_monitor_on_drop (&shift);
  fmx_queue_monitor_on_drop (&kept);
  assert_int_equal (fmx_queue_monitor_count (&shift, 1), 31);
  assert_int_equal (fmx_queue_monitor_count (&shift, 2), 10);
  assert_int_equal (fmx_queue_monitor_count (&kept, 2), 31);
  assert_int_equal (arrivals_until_drop (&shift, 2), 21);
  assert_int_equal (arrivals_until_drop (&kept, 2), 1);
}

static void
test_weights_count_time_instead_of_packets (void **state)
{
  FmxQueueMonitor monitor = monitor_of (1000, 1, 1.0, FMX_QUEUE_MONITOR_RESET);

  (void) state;
  for (int i = 0; i < 50; i++) {
    fmx_queue_monitor_on_arrival (&monitor, 1, 20);
    assert_false (fmx_queue_monitor_exceeds (&monitor, 1, 1));
  }
  fmx_queue_monitor_on_arrival (&monitor, 1, 20);
  assert_true (fmx_queue_monitor_exceeds (&monitor, 1, 1));
}

static void
test_a_fraction_of_the_threshold_drops_earlier (void **state)
{
  FmxQueueMonitor monitor = monitor_of (120, 2, 2.0, FMX_QUEUE_MONITOR_SHIFT);

  (void) state;
  for (int i = 0; i < 31; i++)
    fmx_queue_monitor_on_arrival (&monitor, 2, 1);
  assert_false (fmx_queue_monitor_exceeds (&monitor, 1, 1));
  assert_true (fmx_queue_monitor_exceeds (&monitor, 1, 4));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_queue_that_stands_at_its_length_is_shortened),
    cmocka_unit_test (test_a_queue_below_its_length_is_left_alone),
    cmocka_unit_test (test_a_dip_starts_the_count_again),
    cmocka_unit_test (test_thresholds_decay_above_the_length),
    cmocka_unit_test (test_after_a_drop_the_counts_do_as_told),
    cmocka_unit_test (test_shift_keeps_what_a_shorter_queue_would_remember),
    cmocka_unit_test (test_weights_count_time_instead_of_packets),
    cmocka_unit_test (test_a_fraction_of_the_threshold_drops_earlier),
  };

  return cmocka_run_group_tests_name ("playout/queue-monitor", tests, NULL,
      NULL);
}
