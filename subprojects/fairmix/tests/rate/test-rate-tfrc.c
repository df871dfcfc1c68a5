/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-rate.h"

/* One round trip of 100 ms at the full rate, then feedback. */
static FmxTime
round_trip (FmxRateController *rc, FmxRateFeedback fb, FmxTime now)
{
  fmx_test_send (rc, now, now + 100 * MS);
  now += 100 * MS;
  fb.acked_sent = now - 10 * MS;
  fmx_rate_controller_on_feedback (rc, &fb, now);
  return now;
}

static FmxTime
round_trips (FmxRateController *rc, FmxRateFeedback fb, unsigned n, FmxTime now)
{
  for (unsigned i = 0; i < n; i++)
    now = round_trip (rc, fb, now);
  return now;
}

/* One, but hardly anything is sent: the interval is data-limited. */
static FmxTime
lazy_round_trip (FmxRateController *rc, FmxRateFeedback fb, FmxTime now)
{
  fmx_rate_controller_on_sent (rc, 200, now + 50 * MS);
  now += 100 * MS;
  fb.acked_sent = now - 10 * MS;
  fmx_rate_controller_on_feedback (rc, &fb, now);
  return now;
}

/* [RFC5348 4.2] W_init / R = 4380 bytes per 100 ms */
static void
test_first_feedback_sets_the_initial_rate (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_tfrc);

  (void) state;
  round_trip (&rc, fmx_test_feedback (0.0), 0);
  assert_true (fabs (fmx_rate_controller_bps (&rc) - 350400.0) < 1.0);
}

/* [RFC5348 4.3] step 4, initial slow-start */
static void
test_slow_start_doubles_each_round_trip (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_tfrc);
  FmxTime now = round_trip (&rc, fmx_test_feedback (0.0), 0);
  double bps = fmx_rate_controller_bps (&rc);

  (void) state;
  for (unsigned i = 0; i < 6; i++) {
    FmxRateFeedback fb = fmx_test_feedback (bps);

    now = round_trip (&rc, fb, now);
    assert_true (fabs (fmx_rate_controller_bps (&rc) - 2.0 * bps) < 1.0);
    /* not twice within one round trip */
    fb.acked_sent = now;
    fmx_rate_controller_on_feedback (&rc, &fb, now + 10 * MS);
    assert_true (fabs (fmx_rate_controller_bps (&rc) - 2.0 * bps) < 1.0);
    bps *= 2.0;
  }
}

/* [RFC5348 4.3] recv_limit = 2 * max (X_recv_set), two round-trip times */
static void
test_is_limited_by_twice_what_was_received (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_tfrc);
  FmxRateFeedback fb = fmx_test_feedback_with_loss (2e6, 0.0001, false);
  FmxTime now = round_trips (&rc, fb, 10, 0);

  (void) state;
  assert_true (fabs (fmx_rate_controller_bps (&rc) - 4e6) < 1.0);
  fb.receive_bps = 100000.0;
  now = round_trip (&rc, fb, now);
  now = round_trip (&rc, fb, now);
  assert_true (fabs (fmx_rate_controller_bps (&rc) - 4e6) < 1.0);
  now = round_trip (&rc, fb, now);
  assert_true (fabs (fmx_rate_controller_bps (&rc) - 2e5) < 1.0);
  assert_string_equal (fmx_rate_controller_reason (&rc), "down-limit");
}

static void
test_follows_the_equation_under_loss (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_tfrc);
  FmxRateFeedback fb = fmx_test_feedback_with_loss (1e6, 0.02, false);

  (void) state;
  round_trips (&rc, fb, 5, 0);
  assert_true (fmx_rate_controller_bps (&rc) == fb.equation_bps);
}

/* [RFC5348 4.3] a data-limited interval without loss: X_recv_set keeps the
 * largest value, however long it takes */
static void
test_pauses_do_not_lower_the_rate (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_tfrc);
  FmxRateFeedback fb = fmx_test_feedback_with_loss (500000.0, 0.02, false);
  FmxTime now = round_trips (&rc, fb, 10, 0);
  double bps;

  (void) state;
  bps = fmx_rate_controller_bps (&rc);
  assert_true (bps == fb.equation_bps);
  fb.receive_bps = 16000.0;
  for (unsigned i = 0; i < 100; i++)
    now = lazy_round_trip (&rc, fb, now);
  assert_true (rc.data_limited);
  assert_true (fmx_rate_controller_bps (&rc) == bps);
}

/* [RFC5348 4.3] ... with a new loss event: halve the entries, X_recv * 0.85,
 * recv_limit = max; the round trip after is not held to that */
static void
test_loss_in_a_data_limited_interval_limits_the_rate (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_tfrc);
  FmxRateFeedback fb = fmx_test_feedback_with_loss (400000.0, 0.002, false);
  FmxTime now = round_trips (&rc, fb, 10, 0);

  (void) state;
  now = lazy_round_trip (&rc, fb, now);
  now = lazy_round_trip (&rc, fb, now);
  fb.new_loss_event = true;
  now = lazy_round_trip (&rc, fb, now);
  assert_true (fabs (fmx_rate_controller_bps (&rc) - 0.85 * 400000.0) < 1.0);
  fb.new_loss_event = false;
  now = lazy_round_trip (&rc, fb, now);
  assert_true (fabs (fmx_rate_controller_bps (&rc) - 800000.0) < 1.0
      || fmx_rate_controller_bps (&rc) == fb.equation_bps);
}

/* [RFC5348 4.5] X_inst; the rate comes back with R_sqmean */
static void
test_a_growing_queue_damps_the_rate (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_tfrc);
  FmxRateFeedback fb = fmx_test_feedback_with_loss (1e6, 0.02, false);
  FmxTime now = round_trips (&rc, fb, 5, 0);

  (void) state;
  fb.damping = 0.7;
  now = round_trip (&rc, fb, now);
  assert_true (fabs (fmx_rate_controller_bps (&rc) - 0.7 * fb.equation_bps)
      < 1.0);
  fb.damping = 1.0;
  round_trip (&rc, fb, now);
  assert_true (fmx_rate_controller_bps (&rc) == fb.equation_bps);
}

/* [RFC5348 4.3] "at least one packet every 64 seconds" */
static void
test_floor_is_a_packet_in_64_seconds (void **state)
{
  FmxRateParams params = fmx_test_params ();
  FmxRateController rc;
  FmxRateFeedback fb = fmx_test_feedback_with_loss (100.0, 1.0, false);
  FmxTime now = 0;

  (void) state;
  params.min_bps = 1.0;
  fmx_rate_controller_init (&rc, &fmx_rate_tfrc, &params, 0);
  fb.rtt = 10 * S;
  fb.equation_bps = 0.1;
  now = round_trips (&rc, fb, 10, now);
  assert_true (fabs (fmx_rate_controller_bps (&rc) - 1600.0 / 64.0) < 1e-6);
  for (unsigned i = 0; i < 5; i++) {
    FmxTime next = fmx_rate_controller_next_timeout (&rc);

    /* RTO = max (4R, 2s/X) = 128 s */
    assert_int_equal ((next - now) / S, 128);
    fmx_test_send (&rc, now, next);
    fmx_rate_controller_on_timeout (&rc, next);
    assert_true (fabs (fmx_rate_controller_bps (&rc) - 25.0) < 1e-6);
    now = next;
  }
}

/* [RFC5348 4.4] "still allows the sender to slow-start, doubling its sending
 * rate each RTT, if feedback messages resume reporting no losses" */
static void
test_recovers_fast_when_only_the_feedback_was_lost (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_tfrc);
  FmxRateFeedback fb = fmx_test_feedback_with_loss (500000.0, 0.02, false);
  FmxTime now = round_trips (&rc, fb, 5, 0);
  double bps;

  (void) state;
  for (unsigned i = 0; i < 3; i++) {
    FmxTime next = fmx_rate_controller_next_timeout (&rc);

    fmx_test_send (&rc, now, next);
    fmx_rate_controller_on_timeout (&rc, now = next);
  }
  bps = fmx_rate_controller_bps (&rc);
  assert_true (fabs (bps - fb.equation_bps / 8.0) < 1.0);
  for (unsigned i = 0; i < 4; i++) {
    fb.receive_bps = bps;
    now = round_trip (&rc, fb, now);
    bps = fmx_rate_controller_bps (&rc);
  }
  assert_true (bps == fb.equation_bps);
}

/* Below the least useful rate dummies go out at the allowed rate, so that it
 * can grow again. */
static void
test_probes_at_its_allowed_rate (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_tfrc);
  FmxRateFeedback fb = fmx_test_feedback_with_loss (16000.0, 0.6, false);
  FmxTime now = round_trips (&rc, fb, 5, 0);

  (void) state;
  assert_true (fmx_rate_controller_is_probing (&rc));
  assert_int_equal (fmx_rate_controller_probe_interval (&rc),
      fmx_time_from_s (1600.0 / fb.equation_bps));
  fb = fmx_test_feedback_with_loss (16000.0, 0.01, false);
  round_trip (&rc, fb, now);
  assert_false (fmx_rate_controller_is_probing (&rc));
  assert_string_equal (fmx_rate_controller_reason (&rc), "resume");
}

static void
test_a_timeout_lowers_the_rate_at_once (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_tfrc);
  FmxRateFeedback fb = fmx_test_feedback (1e6);
  FmxTime now = round_trips (&rc, fb, 5, 0);

  (void) state;
  fb = fmx_test_feedback_with_loss (1e6, 0.05, true);
  fb.heard = false;
  fmx_rate_controller_on_feedback (&rc, &fb, now + MS);
  assert_true (fmx_rate_controller_bps (&rc) == fb.equation_bps);
  assert_string_equal (fmx_rate_controller_reason (&rc), "down-loss");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_first_feedback_sets_the_initial_rate),
    cmocka_unit_test (test_slow_start_doubles_each_round_trip),
    cmocka_unit_test (test_is_limited_by_twice_what_was_received),
    cmocka_unit_test (test_follows_the_equation_under_loss),
    cmocka_unit_test (test_pauses_do_not_lower_the_rate),
    cmocka_unit_test (test_loss_in_a_data_limited_interval_limits_the_rate),
    cmocka_unit_test (test_a_growing_queue_damps_the_rate),
    cmocka_unit_test (test_floor_is_a_packet_in_64_seconds),
    cmocka_unit_test (test_recovers_fast_when_only_the_feedback_was_lost),
    cmocka_unit_test (test_probes_at_its_allowed_rate),
    cmocka_unit_test (test_a_timeout_lowers_the_rate_at_once),
  };

  return cmocka_run_group_tests_name ("rate/rate-tfrc", tests, NULL, NULL);
}
