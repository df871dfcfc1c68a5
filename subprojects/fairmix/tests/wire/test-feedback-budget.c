/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/wire/fmx-feedback-budget.h"

#define START (100 * FMX_SECOND)
#define MAX_INTERVAL (500 * FMX_MSECOND)

/* A second of 100-byte packets, 20 ms apart: 40 kbit/s, 250 bytes/s of which
 * are for feedback. */
static FmxTime
earn_for_a_second (FmxFeedbackBudget *budget, FmxTime now)
{
  for (unsigned i = 0; i < 50; i++, now += 20 * FMX_MSECOND)
    fmx_feedback_budget_earn (budget, 100, now);
  return now;
}

static FmxTime
begin_with_two_seconds (FmxFeedbackBudget *budget)
{
  fmx_feedback_budget_init (budget, 0.05, MAX_INTERVAL);
  return earn_for_a_second (budget, earn_for_a_second (budget, START));
}

static void
test_feedback_may_take_its_part_of_the_rate (void **state)
{
  FmxFeedbackBudget budget;
  FmxTime now = begin_with_two_seconds (&budget);

  (void) state;
  assert_true (fmx_feedback_budget_rate (&budget, now) > 245.0);
  assert_true (fmx_feedback_budget_rate (&budget, now) < 255.0);
}

static void
test_a_report_waits_until_the_one_before_it_is_paid (void **state)
{
  FmxFeedbackBudget budget;
  FmxTime now = begin_with_two_seconds (&budget);

  (void) state;
  assert_true (fmx_feedback_budget_wait (&budget) == 0);
  fmx_feedback_budget_spend (&budget, 50.0, false, false);
  /* 50 of 250 bytes/s */
  assert_in_range (fmx_feedback_budget_wait (&budget) / FMX_MSECOND, 195, 205);
  for (unsigned i = 0; i < 10; i++, now += 20 * FMX_MSECOND) {
    assert_true (fmx_feedback_budget_wait (&budget) > 0);
    fmx_feedback_budget_earn (&budget, 100, now);
  }
  assert_true (fmx_feedback_budget_wait (&budget) == 0);
}

static void
test_no_wait_is_longer_than_the_longest_interval (void **state)
{
  FmxFeedbackBudget budget;

  (void) state;
  fmx_feedback_budget_init (&budget, 0.05, MAX_INTERVAL);
  fmx_feedback_budget_spend (&budget, 1e9, false, false);
  assert_true (fmx_feedback_budget_wait (&budget) == MAX_INTERVAL);
  fmx_feedback_budget_spend (&budget, 50.0, false, true);
  earn_for_a_second (&budget, START);
  assert_true (fmx_feedback_budget_wait (&budget) == 0);
}

static void
test_one_report_goes_on_credit_and_not_two (void **state)
{
  FmxFeedbackBudget budget;

  (void) state;
  fmx_feedback_budget_init (&budget, 0.05, MAX_INTERVAL);
  earn_for_a_second (&budget, START);
  fmx_feedback_budget_spend (&budget, 60.0, false, false);
  fmx_feedback_budget_spend (&budget, 60.0, true, false);
  assert_true (fmx_feedback_budget_has_credit (&budget));
  fmx_feedback_budget_spend (&budget, 60.0, false, false);
  assert_false (fmx_feedback_budget_has_credit (&budget));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_feedback_may_take_its_part_of_the_rate),
    cmocka_unit_test (test_a_report_waits_until_the_one_before_it_is_paid),
    cmocka_unit_test (test_no_wait_is_longer_than_the_longest_interval),
    cmocka_unit_test (test_one_report_goes_on_credit_and_not_two),
  };

  return cmocka_run_group_tests_name ("wire/feedback-budget", tests, NULL,
      NULL);
}
