/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Nothing leaves until a queue has gone */
#include "fmx-test.h"

#include <math.h>
#include <stdlib.h>

#include "fairmix/rate/fmx-rate-hold.h"

#define MS FMX_MSECOND
#define S FMX_SECOND

static FmxRateHold hold;

static FmxRateHoldNews
news (FmxTime sent, FmxDuration queue)
{
  FmxRateHoldNews news = { sent, queue, 100e3, false };

  return news;
}

/* At 1 s; what left 200 ms ago met a queue of 100 ms, and twice what comes was sent since, or
 * 1 + @growth times that. */
static void
begin (FmxDuration most, double growth)
{
  FmxRateHoldNews first = news (800 * MS, 100 * MS);

  fmx_rate_hold_begin (&hold, most, S, growth, &first, S);
}

static void
assert_next (FmxTime expected)
{
  assert_true (fmx_rate_hold_is_on (&hold));
  assert_true (llabs (fmx_time_diff (fmx_rate_hold_next (&hold), expected))
      < MS / 100);
}

/* The last packet that left has to wait for what was there, and for what came since. */
static void
test_it_ends_when_the_last_packet_has_left_the_queue (void **state)
{
  (void) state;
  begin (5 * S, 1.0);
  assert_next ((1000 + 100 + 200) * MS);
  begin (5 * S, 3.0);
  assert_next ((1000 + 100 + 600) * MS);
  assert_int_equal (fmx_rate_hold_took (&hold), 0);
  fmx_rate_hold_end (&hold, 1710 * MS);
  fmx_rate_hold_end (&hold, 1720 * MS);
  assert_int_equal (fmx_rate_hold_took (&hold), 710 * MS);
  assert_false (fmx_rate_hold_is_on (&hold));
  assert_true (fmx_rate_hold_next (&hold) == FMX_TIME_NONE);
  fmx_rate_hold_init (&hold);
  assert_int_equal (fmx_rate_hold_took (&hold), 0);
}

static void
test_it_lasts_no_longer_than_it_may (void **state)
{
  FmxRateHoldNews later = news (900 * MS, 5 * S);

  (void) state;
  begin (400 * MS, 3.0);
  assert_next (1400 * MS);
  fmx_rate_hold_on_feedback (&hold, &later, 1200 * MS);
  assert_next (1400 * MS);
}

/* The next feedback tells of packets that left later: how fast the queue grew before them
 * is how fast it grew. */
static void
test_feedback_tells_how_fast_the_queue_grew (void **state)
{
  FmxRateHoldNews later = news (900 * MS, 150 * MS);

  (void) state;
  begin (5 * S, 3.0);
  fmx_rate_hold_on_feedback (&hold, &later, 1100 * MS);
  assert_next ((1000 + 150 + 50) * MS);
}

/* Packets that left at once, nearly, tell of no growth. */
static void
test_feedback_of_next_to_nothing_tells_of_no_growth (void **state)
{
  FmxRateHoldNews later = news (810 * MS, 200 * MS);

  (void) state;
  begin (5 * S, 1.0);
  fmx_rate_hold_on_feedback (&hold, &later, 1100 * MS);
  assert_next ((1000 + 200 + 190) * MS);
}

/* What was lost is not in the queue, whichever feedback says so. */
static void
test_a_full_queue_does_not_grow (void **state)
{
  FmxRateHoldNews later = news (900 * MS, 200 * MS), again = later;

  (void) state;
  begin (5 * S, 3.0);
  fmx_rate_hold_on_feedback (&hold, &later, 1100 * MS);
  assert_next ((1000 + 200 + 100) * MS);
  again.is_full = true;
  fmx_rate_hold_on_feedback (&hold, &again, 1110 * MS);
  assert_next ((1000 + 200) * MS);
  later = news (950 * MS, 300 * MS);
  fmx_rate_hold_on_feedback (&hold, &later, 1120 * MS);
  assert_next ((1000 + 300) * MS);
}

/* ... nor than it may by now. */
static void
test_less_time_ends_it_sooner (void **state)
{
  (void) state;
  begin (5 * S, 3.0);
  assert_true (fmx_rate_hold_next (&hold) > 1000 * MS + 150 * MS);
  fmx_rate_hold_set_most (&hold, 150 * MS);
  assert_next (1000 * MS + 150 * MS);
  fmx_rate_hold_set_most (&hold, 5 * S);
  assert_next (1000 * MS + 150 * MS);
  fmx_rate_hold_end (&hold, 1150 * MS);
  fmx_rate_hold_set_most (&hold, MS);
  assert_false (fmx_rate_hold_is_on (&hold));
}

/* It has gone already, and whoever asks is told so. */
static void
test_an_end_that_has_passed_is_now (void **state)
{
  FmxRateHoldNews later = news (1000 * MS, 100 * MS);

  (void) state;
  begin (5 * S, 3.0);
  fmx_rate_hold_on_feedback (&hold, &later, 1300 * MS);
  assert_next (1300 * MS);
}

/* A packet that left 100 ms after another, and met 100 ms more of queue, comes 200 ms
 * later. */
static void
test_what_came_meanwhile_is_known (void **state)
{
  FmxRateHoldNews later = news (900 * MS, 200 * MS);

  (void) state;
  begin (5 * S, 1.0);
  assert_true (fmx_rate_hold_came_bps (&hold) <= 0.0);
  later.came_bps = 120e3;
  fmx_rate_hold_on_feedback (&hold, &later, 1100 * MS);
  assert_true (fabs (fmx_rate_hold_came_bps (&hold) - 120e3) < 1.0);
  later = news (1000 * MS, 200 * MS);
  later.came_bps = 90e3;
  fmx_rate_hold_on_feedback (&hold, &later, 1150 * MS);
  assert_true (fabs (fmx_rate_hold_came_bps (&hold) - 110e3) < 1.0);
  later.sent += 10 * MS;
  later.came_bps = 0.0;
  fmx_rate_hold_on_feedback (&hold, &later, 1160 * MS);
  assert_true (fabs (fmx_rate_hold_came_bps (&hold) - 110e3) < 1.0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_it_ends_when_the_last_packet_has_left_the_queue),
    cmocka_unit_test (test_it_lasts_no_longer_than_it_may),
    cmocka_unit_test (test_less_time_ends_it_sooner),
    cmocka_unit_test (test_feedback_tells_how_fast_the_queue_grew),
    cmocka_unit_test (test_feedback_of_next_to_nothing_tells_of_no_growth),
    cmocka_unit_test (test_a_full_queue_does_not_grow),
    cmocka_unit_test (test_an_end_that_has_passed_is_now),
    cmocka_unit_test (test_what_came_meanwhile_is_known),
  };

  return cmocka_run_group_tests_name ("rate/rate-hold", tests, NULL, NULL);
}
