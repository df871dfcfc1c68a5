/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>

#include "fmx-test-asmp.h"

#include "asmp/fmx-test-asmp-tables.h"
#include "fairmix/asmp/fmx-asmp-feedback.h"
#include "fairmix/base/fmx-rng.h"

#define N_MAX 10000
#define N_SEEDS 20
#define ONE_WAY (100 * FMX_MSECOND)     /* until all others have heard it */

static FmxAsmpFeedbackParams
default_params (void)
{
  FmxAsmpFeedbackParams params;

  fmx_asmp_feedback_params_default (&params);
  return params;
}

/* [ASMP (20)], normalised, against asmp_tables.py */
static void
test_the_wait_has_the_papers_density (void **state)
{
  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (wait_rows); i++) {
    FmxAsmpFeedbackParams params = default_params ();
    FmxDuration wait;

    params.rand = fmx_time_from_s (wait_rows[i].rand_s);
    params.lambda = wait_rows[i].lambda;
    wait = fmx_asmp_feedback_wait (&params, wait_rows[i].u);
    assert_true (wait >= 0 && wait <= params.rand);
    assert_true (fabs (fmx_time_to_s (wait) - wait_rows[i].wait_s) < 1e-6);
  }
}

static void
test_a_small_session_reports_as_the_session_does (void **state)
{
  FmxAsmpFeedbackParams params = default_params ();
  FmxAsmpFeedback feedback;

  (void) state;
  fmx_asmp_feedback_init (&feedback, &params);
  assert_true (fmx_asmp_feedback_may_report (&feedback));
  fmx_asmp_feedback_schedule (&feedback, params.suspend, 20, 0.5, FMX_SECOND);
  assert_true (fmx_asmp_feedback_next_timeout (&feedback) == FMX_TIME_NONE);
  fmx_asmp_feedback_on_peer (&feedback, 1e5, 1e5);
  assert_true (fmx_asmp_feedback_may_report (&feedback));
  assert_false (fmx_asmp_feedback_on_timeout (&feedback, 100 * FMX_SECOND));
}

static void
test_in_a_large_session_two_per_cent_are_similar (void **state)
{
  const struct
  {
    double peer;
    bool similar;
  } cases[] = {
    {1e5, true}, {1.0199e5, true}, {0.9801e5, true}, {1.021e5, false},
    {0.979e5, false}, {0.0, false}, {1e12, false},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (cases); i++) {
    FmxAsmpFeedbackParams params = default_params ();
    FmxAsmpFeedback feedback;
    FmxTime deadline;

    fmx_asmp_feedback_init (&feedback, &params);
    fmx_asmp_feedback_schedule (&feedback, params.suspend + 1, 0, 0.5,
        FMX_SECOND);
    deadline = fmx_asmp_feedback_next_timeout (&feedback);
    assert_in_range (deadline, FMX_SECOND, FMX_SECOND + params.rand);
    fmx_asmp_feedback_on_peer (&feedback, 1e5, cases[i].peer);
    assert_true (fmx_asmp_feedback_may_report (&feedback) != cases[i].similar);
    assert_false (fmx_asmp_feedback_on_timeout (&feedback, deadline - 1));
    assert_true (fmx_asmp_feedback_on_timeout (&feedback, deadline)
        != cases[i].similar);
    /* the next round is open again */
    fmx_asmp_feedback_schedule (&feedback, params.suspend + 1, 0, 0.5,
        deadline);
    assert_true (fmx_asmp_feedback_may_report (&feedback));
  }
}

/* however often its members may report */
static void
test_a_session_of_more_than_twenty_is_large (void **state)
{
  FmxAsmpFeedbackParams params = default_params ();
  FmxAsmpFeedback feedback;

  (void) state;
  fmx_asmp_feedback_init (&feedback, &params);
  for (uint32_t n = 20; n <= 21; n++) {
    fmx_asmp_feedback_schedule (&feedback, 5 * FMX_SECOND, n, 0.5, FMX_SECOND);
    fmx_asmp_feedback_on_peer (&feedback, 1e5, 1e5);
    assert_true (fmx_asmp_feedback_may_report (&feedback) == (n == 20));
  }
}

/* One round of @n receivers that all find the same rate.  Returns: how many
 * report; when the first does in @first. */
static unsigned
play_round (unsigned n, double lambda, uint64_t seed, FmxDuration *first)
{
  static FmxDuration waits[N_MAX];
  FmxAsmpFeedbackParams params = default_params ();
  unsigned n_reports = 0;
  FmxRng rng;

  params.lambda = lambda;
  fmx_rng_init (&rng, seed);
  *first = INT64_MAX;
  for (unsigned i = 0; i < n; i++) {
    waits[i] = fmx_asmp_feedback_wait (&params, fmx_rng_next_unit (&rng));
    *first = waits[i] < *first ? waits[i] : *first;
  }
  for (unsigned i = 0; i < n; i++)
    n_reports += waits[i] <= *first + ONE_WAY;
  return n_reports;
}

static double
mean_reports (unsigned n, double lambda)
{
  unsigned sum = 0;
  FmxDuration first;

  for (uint64_t seed = 1; seed <= N_SEEDS; seed++)
    sum += play_round (n, lambda, seed, &first);
  return (double) sum / N_SEEDS;
}

static void
test_of_ten_thousand_receivers_a_few_report_each_round (void **state)
{
  (void) state;
  for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
    FmxDuration first;
    unsigned n = play_round (N_MAX, default_params ().lambda, seed, &first);

    assert_in_range (n, 1, 20); /* TFMCC's aim, RFC 4654 */
    assert_true (first <= default_params ().rand);
  }
  assert_true (mean_reports (1000, 10.0) < 5.0);
  assert_true (mean_reports (100, 10.0) < 5.0);
}

/* why lambda = 10: less is too loud in large sessions, more gains nothing there
 * and makes small ones wait */
static void
test_lambda_is_about_the_logarithm_of_the_receivers (void **state)
{
  (void) state;
  assert_true (mean_reports (N_MAX, 5.0) > 3.0 * mean_reports (N_MAX, 10.0));
  assert_true (mean_reports (N_MAX, 15.0) > 0.5 * mean_reports (N_MAX, 10.0));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_wait_has_the_papers_density),
    cmocka_unit_test (test_a_small_session_reports_as_the_session_does),
    cmocka_unit_test (test_a_session_of_more_than_twenty_is_large),
    cmocka_unit_test (test_in_a_large_session_two_per_cent_are_similar),
    cmocka_unit_test (test_of_ten_thousand_receivers_a_few_report_each_round),
    cmocka_unit_test (test_lambda_is_about_the_logarithm_of_the_receivers),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
