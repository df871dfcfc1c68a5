/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/als/fmx-als-sender.h"

/* Limits that change while what was reported before them still counts */

#define PLACES 64
#define INTERVAL FMX_SECOND

static FmxAgingSlot slots[PLACES];
static FmxAlsSenderReceiver receivers[PLACES];

/* Three layers, two receivers, and rates at which both reports count */
static void
begin (FmxAlsSender *sender, FmxDuration memory)
{
  FmxAlsSenderParams params;
  FmxAlsReport slow = { 1, 200000, 1.0, 0.0, true, 0 };
  FmxAlsReport fast = { 2, 800000, 1.0, 0.0, true, 0 };

  fmx_als_sender_params_default (&params);
  params.interval = INTERVAL;
  params.memory = memory;
  params.initial_bps = 1000000;
  fmx_als_sender_init (sender, &params, slots, receivers, PLACES, 1, 0);
  fmx_als_sender_on_report (sender, &slow, INTERVAL / 2);
  fmx_als_sender_on_report (sender, &fast, INTERVAL / 2);
}

static void
test_what_was_reported_before_keeps_the_new_limits (void **state)
{
  const FmxDuration memories[] = { INTERVAL, 10 * INTERVAL };
  FmxAlsSender sender;

  (void) state;
  for (unsigned i = 0; i < 2; i++) {
    begin (&sender, memories[i]);
    fmx_als_sender_set_limits (&sender, 100000, 8000, INTERVAL / 2);
    fmx_als_sender_on_timeout (&sender, INTERVAL);
    assert_in_range (fmx_als_sender_get_total_bps (&sender), 8000, 100000);
    assert_in_range (fmx_als_sender_get_size_bps (&sender, 0), 8000, 100000);

    begin (&sender, memories[i]);
    fmx_als_sender_set_limits (&sender, 1000000, 400000, INTERVAL / 2);
    fmx_als_sender_on_timeout (&sender, INTERVAL);
    assert_in_range (fmx_als_sender_get_rate_bps (&sender, 0), 400000, 1000000);
    assert_in_range (fmx_als_sender_get_size_bps (&sender, 0), 400000, 1000000);
  }
}

/* Reports of intervals before */
static void
test_what_is_remembered_keeps_the_new_limits (void **state)
{
  FmxAlsSender sender;

  (void) state;
  begin (&sender, 10 * INTERVAL);
  fmx_als_sender_on_timeout (&sender, INTERVAL);
  assert_in_range (fmx_als_sender_get_total_bps (&sender), 790000, 810000);
  fmx_als_sender_set_limits (&sender, 100000, 8000, INTERVAL);
  assert_int_equal (fmx_als_sender_get_total_bps (&sender), 100000);
  fmx_als_sender_on_timeout (&sender, 2 * INTERVAL);
  assert_int_equal (fmx_als_sender_get_total_bps (&sender), 100000);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_what_was_reported_before_keeps_the_new_limits),
    cmocka_unit_test (test_what_is_remembered_keeps_the_new_limits),
  };

  return cmocka_run_group_tests_name ("als/sender-limits", tests, NULL, NULL);
}
