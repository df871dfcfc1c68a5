/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-rate.h"

/* Feedback each 50 ms until @until. */
static FmxTime
feed (FmxRateController *rc, FmxRateFeedback fb, FmxTime from, FmxTime until)
{
  FmxTime now;

  for (now = from; now < until; now += 50 * MS)
    fmx_rate_controller_on_feedback (rc, &fb, now);
  return now;
}

/* DPM section 5.3: "one audio stream per 6-8 RTTs" */
static void
test_up_by_one_stream_per_seven_round_trips (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_dpm);
  FmxRateFeedback fb = fmx_test_feedback (1e6);

  (void) state;
  for (unsigned i = 1; i <= 10; i++) {
    feed (&rc, fb, (i - 1) * 700 * MS, i * 700 * MS);
    assert_true (fabs (fmx_rate_controller_bps (&rc) - i * 80000.0) < 1.0);
  }
  assert_string_equal (fmx_rate_controller_reason (&rc), "up");
}

static void
test_decision_interval_is_the_user_s (void **state)
{
  FmxRateParams params = fmx_test_params ();
  FmxRateController rc;

  (void) state;
  params.decision_interval_rtts = 20.0;
  fmx_rate_controller_init (&rc, &fmx_rate_dpm, &params, 0);
  feed (&rc, fmx_test_feedback (1e6), 0, 1999 * MS);
  assert_true (fmx_rate_controller_bps (&rc) == 80000.0);
  feed (&rc, fmx_test_feedback (1e6), 2000 * MS, 2001 * MS);
  assert_true (fmx_rate_controller_bps (&rc) == 160000.0);
}

/* DPM section 5.3: "immediately reduced to no more than the TCP-equivalent
 * rate" */
static void
test_down_at_once_to_the_equation (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_dpm);
  FmxTime now = feed (&rc, fmx_test_feedback (1e6), 0, 6 * S + 950 * MS);
  FmxRateFeedback fb = fmx_test_feedback_with_loss (8e5, 0.1, true);

  (void) state;
  assert_true (fmx_rate_controller_bps (&rc) > 700000.0);
  fb.heard = false;             /* even by a timeout, in mid interval */
  fmx_rate_controller_on_feedback (&rc, &fb, now + 1);
  assert_true (fmx_rate_controller_bps (&rc) == fb.equation_bps);
  assert_string_equal (fmx_rate_controller_reason (&rc), "down-loss");
  /* and not up again before seven round trips */
  fb = fmx_test_feedback_with_loss (8e5, 0.01, false);
  feed (&rc, fb, now + 2, now + 2 + 699 * MS);
  assert_true (fmx_rate_controller_bps (&rc) < 220000.0);
  fmx_rate_controller_on_feedback (&rc, &fb, now + 701 * MS);
  assert_true (fmx_rate_controller_bps (&rc) > 280000.0);
}

static void
test_approaches_the_equation_by_less_than_a_stream (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_dpm);
  FmxRateFeedback fb = fmx_test_feedback_with_loss (1e6, 0.1, false);

  (void) state;
  assert_true (fb.equation_bps > 2 * 80000.0 && fb.equation_bps < 240000.0);
  feed (&rc, fb, 0, 10 * (FmxTime) S);
  assert_true (fmx_rate_controller_bps (&rc) == fb.equation_bps);
}

/* pion/interceptor 299: an estimate that grows without bound while little is
 * sent. */
static void
test_belief_is_twice_what_was_received (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_dpm);

  (void) state;
  feed (&rc, fmx_test_feedback (100000.0), 0, 60 * (FmxTime) S);
  assert_true (fmx_rate_controller_bps (&rc) == 200000.0);
}

static void
test_silence_does_not_lower_the_rate (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_dpm);
  FmxTime now = feed (&rc, fmx_test_feedback (1e6), 0, 6 * S);
  double bps;

  (void) state;
  now = feed (&rc, fmx_test_feedback (2000.0), now, now + 2 * S);
  bps = fmx_rate_controller_bps (&rc);
  assert_true (bps > 600000.0);
  feed (&rc, fmx_test_feedback (2000.0), now, now + 60 * (FmxTime) S);
  assert_true (fmx_rate_controller_bps (&rc) == bps);
}

static void
test_one_stream_that_follows_the_target_does_not_double_it (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_dpm);
  FmxTime now = 0;

  (void) state;
  for (unsigned i = 0; i < 12; i++) {
    double before = fmx_rate_controller_bps (&rc);
    FmxRateFeedback fb = fmx_test_feedback (before);

    fb.stream_bps = before;
    now = feed (&rc, fb, now, now + 700 * MS);
    assert_true (fmx_rate_controller_bps (&rc) <= before
        + FMX_RATE_DPM_STEP_MAX_BPS);
  }
}

static void
test_not_up_within_a_round_trip_of_a_loss_event (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_dpm);
  FmxRateFeedback fb = fmx_test_feedback_with_loss (1e6, 0.001, false);
  FmxTime now = feed (&rc, fb, 0, 650 * MS);

  (void) state;
  fb.new_loss_event = true;
  fmx_rate_controller_on_feedback (&rc, &fb, now + 50 * MS);
  fb.new_loss_event = false;
  fmx_rate_controller_on_feedback (&rc, &fb, now + 100 * MS);
  assert_true (fmx_rate_controller_bps (&rc) == 80000.0);
  fmx_rate_controller_on_feedback (&rc, &fb, now + 150 * MS);
  assert_true (fmx_rate_controller_bps (&rc) == 160000.0);
}

/* DPM section 5.4 */
static void
test_too_much_loss_with_one_stream_means_probing_at_once (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_dpm);
  FmxRateFeedback fb = fmx_test_feedback (1e6);

  (void) state;
  fb.loss_fraction = 0.2;
  fmx_rate_controller_on_feedback (&rc, &fb, MS);
  assert_false (fmx_rate_controller_is_probing (&rc));
  fb.loss_fraction = 0.201;
  fmx_rate_controller_on_feedback (&rc, &fb, 2 * MS);
  assert_true (fmx_rate_controller_is_probing (&rc));
  assert_string_equal (fmx_rate_controller_reason (&rc), "probe");
  assert_int_equal (fmx_rate_controller_probe_interval (&rc), S);
}

/* "goes directly to the probing mode from sending one stream" */
static void
test_too_much_loss_with_more_means_one_stream_first (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_dpm);
  FmxTime now = feed (&rc, fmx_test_feedback (1e6), 0, 5 * S);
  FmxRateFeedback fb = fmx_test_feedback_with_loss (1e6, 0.01, true);
  uint64_t n_up;

  (void) state;
  assert_true (fmx_rate_controller_bps (&rc) > 500000.0);
  fb.loss_fraction = 0.3;
  fmx_rate_controller_on_feedback (&rc, &fb, now);
  assert_true (fmx_rate_controller_bps (&rc) == 80000.0);
  assert_string_equal (fmx_rate_controller_reason (&rc), "down-loss");
  /* as long as the losses of before are in the figure */
  fb.new_loss_event = false;
  n_up = rc.stats.n_up;
  now = feed (&rc, fb, now, now + 3 * S);
  assert_true (fmx_rate_controller_bps (&rc) == 80000.0);
  assert_int_equal (rc.stats.n_up, n_up);
  feed (&rc, fb, now, now + 300 * MS);
  assert_true (fmx_rate_controller_is_probing (&rc));
}

/* 25 % are lost, more than 20 %: @stream_bps is what one stream is after some time.
 * Returns: how often the rate fell before it stopped */
static uint64_t
falls_until_probing (FmxDuration rtt, double (*stream_bps) (double s))
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_dpm);
  FmxTime now = feed (&rc, fmx_test_feedback (1e6), 0, 10 * (FmxTime) S);
  FmxRateFeedback fb = fmx_test_feedback_with_loss (1e6, 0.001, true);
  FmxRateStats before = rc.stats;
  FmxTime began = now;

  fb.loss_fraction = 0.25;
  fb.rtt = fb.rtt_median = rtt;
  while (!fmx_rate_controller_is_probing (&rc)) {
    fb.new_loss_event = now % (2 * rtt) == 0;
    fb.stream_bps = stream_bps (fmx_time_to_s (fmx_time_diff (now, began)));
    fmx_rate_controller_on_feedback (&rc, &fb, now += 50 * MS);
    assert_true (now - began < 3 * (FmxTime) S + 2 * (FmxTime) rtt + 200 * MS);
  }
  assert_int_equal (rc.stats.n_up, before.n_up);
  return rc.stats.n_down - before.n_down;
}

static double
wanders (double s)
{
  return 80000.0 + fmod (20.0 * s + 5.0, 7.0) * 500.0;
}

static double
shrinks (double s)
{
  return 80000.0 * pow (0.6, floor (s));
}

/* The streams' mean rate wanders, and with it what one stream is; and who falls
 * once more has not to wait anew. */
static void
test_too_much_loss_means_probing_whatever_one_stream_is (void **state)
{
  static const FmxDuration rtts[] = { 10 * MS, 20 * MS, 100 * MS, 500 * MS };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (rtts); i++) {
    assert_int_equal (falls_until_probing (rtts[i], wanders), 1);
    assert_true (falls_until_probing (rtts[i], shrinks) >= 3);
  }
}

/* To probing, because of loss unless it is there; then until media pass again.
 * Returns: when. */
static FmxTime
stop_and_resume (FmxRateController *rc, FmxTime now)
{
  FmxRateFeedback fb = fmx_test_feedback (1e6);

  fb.answered = true;
  fb.loss_fraction = 0.5;
  if (!fmx_rate_controller_is_probing (rc))
    fmx_rate_controller_on_feedback (rc, &fb, now);
  assert_true (fmx_rate_controller_is_probing (rc));
  fb.loss_fraction = 0.0;
  while (fmx_rate_controller_is_probing (rc))
    fmx_rate_controller_on_feedback (rc, &fb, now += 50 * MS);
  return now;
}

static void
test_repeated_attempts_fail_when_they_would_not_be_made (void **state)
{
  static const bool strict[] = { false, false, true, true, false, true, true,
    false
  };
  FmxRateController rc = fmx_test_controller (&fmx_rate_dpm);
  FmxRateFeedback fb = fmx_test_feedback (1e6);
  FmxTime now = stop_and_resume (&rc, 0);

  (void) state;
  fb.equation_bps = 25000.0;    /* enough for one, not for 1.8 */
  for (size_t i = 0; i < N_ELEMENTS (strict); i++) {
    fmx_rate_controller_on_feedback (&rc, &fb, now + MS);
    assert_int_equal (fmx_rate_controller_is_probing (&rc), strict[i]);
    now = stop_and_resume (&rc, now + 2 * MS);
  }
}

static void
test_less_than_one_stream_means_probing (void **state)
{
  FmxRateParams params = fmx_test_params ();
  FmxRateFeedback fb = fmx_test_feedback_with_loss (1e5, 0.25, true);
  FmxRateController rc;

  (void) state;
  params.min_bps = 78400.0;
  fmx_rate_controller_init (&rc, &fmx_rate_dpm, &params, 0);
  assert_true (fb.equation_bps < 78400.0);
  fmx_rate_controller_on_feedback (&rc, &fb, MS);
  assert_true (fmx_rate_controller_is_probing (&rc));
}

/* DPM section 5.4: "needs to have a bandwidth of one or more streams to resume
 * sending audio, and it tries to do this not more often than every 6-8 RTTs" */
static void
test_resumes_with_one_stream_when_answered_and_allowed (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_dpm);
  FmxRateFeedback fb = fmx_test_feedback (1e6);

  (void) state;
  feed (&rc, fb, 0, 5 * S);
  fb.equation_bps = 1000.0;
  fmx_rate_controller_on_feedback (&rc, &fb, 5 * S);
  fb.equation_bps = HUGE_VAL;
  feed (&rc, fb, 5 * S, 10 * (FmxTime) S);      /* nobody answers */
  assert_true (fmx_rate_controller_is_probing (&rc));
  fb.answered = true;
  fb.equation_bps = 35999.0;    /* too little */
  feed (&rc, fb, 10 * (FmxTime) S, 11 * (FmxTime) S);
  assert_true (fmx_rate_controller_is_probing (&rc));
  fb.equation_bps = 500000.0;
  fmx_rate_controller_on_feedback (&rc, &fb, 11 * (FmxTime) S);
  assert_true (fmx_rate_controller_bps (&rc) == 80000.0);
  assert_string_equal (fmx_rate_controller_reason (&rc), "resume");
}

static void
test_attempts_that_fail_are_made_more_rarely (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_dpm);
  FmxDuration expected[] = { 700 * MS, 1400 * MS, 2800 * MS, 5600 * MS,
    11200 * MS, 11200 * MS
  };
  FmxTime now = 0;

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (expected); i++) {
    FmxTime began = now;

    now = stop_and_resume (&rc, now);
    assert_int_equal (now - began, expected[i]);
  }
  /* one that lasts is no failure */
  now += (FmxTime) FMX_RATE_DPM_LASTING + S;
  assert_int_equal (stop_and_resume (&rc, now) - now, 700 * MS);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_up_by_one_stream_per_seven_round_trips),
    cmocka_unit_test (test_decision_interval_is_the_user_s),
    cmocka_unit_test (test_down_at_once_to_the_equation),
    cmocka_unit_test (test_approaches_the_equation_by_less_than_a_stream),
    cmocka_unit_test (test_belief_is_twice_what_was_received),
    cmocka_unit_test (test_silence_does_not_lower_the_rate),
    cmocka_unit_test
        (test_one_stream_that_follows_the_target_does_not_double_it),
    cmocka_unit_test (test_not_up_within_a_round_trip_of_a_loss_event),
    cmocka_unit_test (test_too_much_loss_with_one_stream_means_probing_at_once),
    cmocka_unit_test (test_too_much_loss_with_more_means_one_stream_first),
    cmocka_unit_test (test_too_much_loss_means_probing_whatever_one_stream_is),
    cmocka_unit_test (test_repeated_attempts_fail_when_they_would_not_be_made),
    cmocka_unit_test (test_less_than_one_stream_means_probing),
    cmocka_unit_test (test_resumes_with_one_stream_when_answered_and_allowed),
    cmocka_unit_test (test_attempts_that_fail_are_made_more_rarely),
  };

  return cmocka_run_group_tests_name ("rate/rate-dpm", tests, NULL, NULL);
}
