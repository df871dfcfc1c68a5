/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-rate.h"

#include "fairmix/base/fmx-rng.h"

static void
test_every_class_is_valid_and_found_by_its_name (void **state)
{
  (void) state;
  for (size_t i = 0; fmx_rate_classes[i] != NULL; i++) {
    assert_true (fmx_rate_class_is_valid (fmx_rate_classes[i]));
    assert_ptr_equal (fmx_rate_class_find (fmx_rate_classes[i]->name),
        fmx_rate_classes[i]);
  }
  assert_ptr_equal (fmx_rate_class_find ("dpm"), &fmx_rate_dpm);
  assert_ptr_equal (fmx_rate_class_find ("tfrc"), &fmx_rate_tfrc);
  assert_ptr_equal (fmx_rate_class_find ("gaimd"), &fmx_rate_gaimd);
  assert_null (fmx_rate_class_find ("reno"));
}

static void
test_a_class_without_its_verbs_is_invalid (void **state)
{
  FmxRateClass klass = fmx_rate_dpm;

  (void) state;
  assert_false (fmx_rate_class_is_valid (NULL));
  klass.on_feedback = NULL;
  assert_false (fmx_rate_class_is_valid (&klass));
  klass = fmx_rate_dpm;
  klass.on_timeout = klass.on_no_feedback;      /* without next_timeout */
  assert_false (fmx_rate_class_is_valid (&klass));
  klass = fmx_rate_dpm;
  klass.name = "";
  assert_false (fmx_rate_class_is_valid (&klass));
}

static void
test_absurd_params_are_invalid (void **state)
{
  FmxRateParams good = fmx_test_params (), bad;

  (void) state;
  assert_true (fmx_rate_params_are_valid (&good));
  bad = good;
  bad.min_bps = 0.0;
  assert_false (fmx_rate_params_are_valid (&bad));
  bad = good;
  bad.max_bps = 1000.0;
  assert_false (fmx_rate_params_are_valid (&bad));
  bad = good;
  bad.decision_interval_rtts = NAN;
  assert_false (fmx_rate_params_are_valid (&bad));
  bad = good;
  bad.beta = 1.0;
  assert_false (fmx_rate_params_are_valid (&bad));
  bad = good;
  bad.max_bps = HUGE_VAL;
  assert_false (fmx_rate_params_are_valid (&bad));
}

static void
test_starts_at_the_initial_rate_within_its_bounds (void **state)
{
  FmxRateParams params = fmx_test_params ();
  FmxRateController rc;

  (void) state;
  for (size_t i = 0; fmx_rate_classes[i] != NULL; i++) {
    fmx_rate_controller_init (&rc, fmx_rate_classes[i], &params, 0);
    assert_true (fmx_rate_controller_bps (&rc) == 80000.0);
    assert_string_equal (fmx_rate_controller_reason (&rc), "start");
  }
  params.max_bps = 50000.0;
  fmx_rate_controller_init (&rc, &fmx_rate_dpm, &params, 0);
  assert_true (fmx_rate_controller_bps (&rc) == 50000.0);
}

/* Two long reports at once when many streams begin, and the third one half a
 * second later: that is no silence. */
static void
test_a_new_receiver_may_hold_back_a_report (void **state)
{
  (void) state;
  for (size_t i = 0; fmx_rate_classes[i] != NULL; i++) {
    FmxRateController rc = fmx_test_controller (fmx_rate_classes[i]);
    FmxRateFeedback fb = fmx_test_feedback (80000.0);
    double bps;

    fb.interval = 20 * MS;
    fmx_test_send (&rc, 0, 200 * MS);
    fmx_rate_controller_on_feedback (&rc, &fb, 180 * MS);
    fmx_rate_controller_on_feedback (&rc, &fb, 200 * MS);
    fmx_test_send (&rc, 200 * MS, 700 * MS);
    bps = fmx_rate_controller_bps (&rc);
    assert_true (fmx_rate_controller_next_timeout (&rc) > 700 * MS);
    fmx_rate_controller_on_timeout (&rc, 700 * MS);
    assert_true (fmx_rate_controller_bps (&rc) >= bps);
    fmx_rate_controller_on_timeout (&rc, 1 * S);
    assert_true (fmx_rate_controller_bps (&rc) < bps);
  }
}

/* [RFC5348 4.3, 4.4]: Farstream keeps its last rate for ever when the feedback
 * stops.  Here each class halves it each max (4R, 2s/X) until it probes. */
static void
test_farstream_rate_is_kept_when_feedback_stops (void **state)
{
  (void) state;
  for (size_t i = 0; fmx_rate_classes[i] != NULL; i++) {
    FmxRateController rc = fmx_test_controller (fmx_rate_classes[i]);
    FmxTime now = S;
    double bps;

    for (unsigned j = 0; j < 60; j++, now += 100 * MS) {
      FmxRateFeedback fb = fmx_test_feedback_with_loss (640000.0, 0.01,
          false);

      fb.acked_sent = now - 100 * MS;
      fmx_test_send (&rc, now - 100 * MS, now);
      fmx_rate_controller_on_feedback (&rc, &fb, now);
    }
    now -= 100 * MS;            /* the last feedback */
    bps = fmx_rate_controller_bps (&rc);
    assert_true (bps > 160000.0);
    if (fmx_rate_classes[i] == &fmx_rate_dpm_literal) { /* stops at once */
      fmx_test_send (&rc, now, now + 400 * MS);
      fmx_rate_controller_on_timeout (&rc, now + 400 * MS);
      assert_true (fmx_rate_controller_is_probing (&rc));
      continue;
    }
    while (bps >= 2 * 20000.0) {
      FmxTime due = now + 400 * MS;     /* 4R; 2s/X is less */

      fmx_test_send (&rc, now, due);
      assert_int_equal (fmx_rate_controller_next_timeout (&rc), due);
      fmx_rate_controller_on_timeout (&rc, due - 1);
      assert_true (fmx_rate_controller_bps (&rc) == bps);
      fmx_rate_controller_on_timeout (&rc, due);
      assert_true (fabs (fmx_rate_controller_bps (&rc) - bps / 2.0) < 1.0);
      assert_string_equal (fmx_rate_controller_reason (&rc),
          "down-no-feedback");
      now = due;
      bps = fmx_rate_controller_bps (&rc);
    }
    fmx_test_send (&rc, now, now + 400 * MS);
    fmx_rate_controller_on_timeout (&rc, now + 400 * MS);
    assert_true (fmx_rate_controller_is_probing (&rc));
    assert_true (fmx_rate_controller_bps (&rc) == 0.0);
  }
}

/* All had been acknowledged, and then one packet left just before the timer expired. */
static void
test_who_begins_again_has_the_time_of_an_answer (void **state)
{
  (void) state;
  for (size_t i = 0; fmx_rate_classes[i] != NULL; i++) {
    FmxRateController rc = fmx_test_controller (fmx_rate_classes[i]);
    FmxRateFeedback fb = fmx_test_feedback (80000.0);
    FmxTime now = S, due, answer;
    double bps;

    fb.interval = 100 * MS;
    for (; now < 6 * (FmxTime) S; now += 100 * MS) {
      fmx_test_send (&rc, now - 100 * MS, now);
      fmx_rate_controller_on_feedback (&rc, &fb, now);
    }
    bps = fmx_rate_controller_bps (&rc);
    due = fmx_rate_controller_next_timeout (&rc);
    fmx_rate_controller_on_sent (&rc, 100, due - 1 * MS);
    answer = due - 1 * MS + (FmxTime) (fb.rto + fb.interval);
    fmx_rate_controller_on_timeout (&rc, answer - 1);
    assert_true (fmx_rate_controller_bps (&rc) == bps);
    fmx_rate_controller_on_timeout (&rc, answer);
    assert_true (fmx_rate_controller_bps (&rc) < bps);
  }
}

static void
test_timer_waits_for_a_receiver_that_reports_rarely (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_dpm);
  FmxRateFeedback fb = fmx_test_feedback (80000.0);

  (void) state;
  fb.interval = 5 * S;
  fmx_rate_controller_on_feedback (&rc, &fb, S);
  assert_int_equal (fmx_rate_controller_next_timeout (&rc), 11 * (FmxTime) S);
}

static void
test_first_feedback_has_five_seconds (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_dpm);

  (void) state;
  assert_int_equal (fmx_rate_controller_next_timeout (&rc), FMX_TIME_NONE);
  fmx_rate_controller_on_sent (&rc, 200, 3 * S);
  assert_int_equal (fmx_rate_controller_next_timeout (&rc), 8 * (FmxTime) S);
}

/* [RFC5348 4.4] "the allowed sending rate is not reduced below the
 * recover_rate", [RFC7661 4.4] */
static void
test_an_idle_sender_keeps_a_rate_and_sleeps (void **state)
{
  (void) state;
  for (size_t i = 0; fmx_rate_classes[i] != NULL; i++) {
    FmxRateController rc = fmx_test_controller (fmx_rate_classes[i]);
    FmxRateFeedback fb = fmx_test_feedback_with_loss (640000.0, 0.01, false);
    double before;
    unsigned n = 0;

    for (FmxTime now = S; now < 9 * (FmxTime) S; now += 100 * MS)
      fmx_rate_controller_on_feedback (&rc, &fb, now);
    before = fmx_rate_controller_bps (&rc);
    while (fmx_rate_controller_next_timeout (&rc) != FMX_TIME_NONE) {
      fmx_rate_controller_on_timeout (&rc,
          fmx_rate_controller_next_timeout (&rc));
      assert_in_range (n++, 0, 20);
    }
    assert_false (fmx_rate_controller_is_probing (&rc));
    assert_true (fmx_rate_controller_bps (&rc) >= 80000.0);
    if (fmx_rate_classes[i] != &fmx_rate_tfrc)
      assert_true (fmx_rate_controller_bps (&rc) == before);
    fmx_rate_controller_on_sent (&rc, 200, 200 * (FmxTime) S);
    assert_int_equal (fmx_rate_controller_next_timeout (&rc),
        200 * (FmxTime) S + 400 * MS);
    fmx_rate_controller_on_sent (&rc, 200, 600 * (FmxTime) S);
    assert_true (fmx_rate_controller_bps (&rc) == 80000.0);
    assert_string_equal (fmx_rate_controller_reason (&rc), "down-idle");
  }
}

/* [RFC5348 8.2.1] */
static bool
is_data_limited (double share, FmxDuration feedback_interval)
{
  FmxRateParams params = fmx_test_params ();
  FmxRateController rc;
  FmxTime next_packet = 0, next_feedback = 0;

  params.max_bps = 400000.0;
  fmx_rate_controller_init (&rc, &fmx_rate_tfrc, &params, 0);
  for (FmxTime now = 0; now < 5 * S; now += MS) {
    if (now >= next_packet) {
      fmx_rate_controller_on_sent (&rc, 200, now);
      next_packet += (FmxTime) fmx_time_from_s (1600.0 / (share
              * rc.rate_bps));
    }
    if (now >= next_feedback) {
      FmxRateFeedback fb = fmx_test_feedback (400000.0);

      fb.acked_sent = now > 110 * MS ? now - 110 * MS : 0;
      fmx_rate_controller_on_feedback (&rc, &fb, now);
      next_feedback += (FmxTime) feedback_interval;
    }
  }
  return rc.data_limited;
}

static void
test_data_limited_is_who_sends_less_than_allowed (void **state)
{
  static const FmxDuration intervals[] = { 20 * MS, 100 * MS, 700 * MS };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (intervals); i++) {
    assert_false (is_data_limited (1.05, intervals[i]));
    assert_false (is_data_limited (1.0, intervals[i]));
    assert_false (is_data_limited (0.95, intervals[i]));
    assert_true (is_data_limited (0.8, intervals[i]));
    assert_true (is_data_limited (0.3, intervals[i]));
  }
}

/* [RFC5348 4.3] "data-limited over the *entire* interval": what a feedback
 * covers is more than a round-trip time when it comes less often. */
static void
test_an_interval_is_as_long_as_its_feedback_covers (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_tfrc);
  FmxRateFeedback fb = fmx_test_feedback (80000.0);

  (void) state;
  fb.interval = S;
  fmx_rate_controller_on_feedback (&rc, &fb, S);
  fmx_test_send (&rc, S, S + 500 * MS); /* then nothing for half a second */
  fb.acked_sent = 2 * S - 10 * MS;
  fmx_rate_controller_on_sent (&rc, 200, fb.acked_sent);
  fmx_rate_controller_on_feedback (&rc, &fb, 2 * S);
  assert_false (rc.data_limited);
  fb.acked_sent = 3 * (FmxTime) S - 10 * MS;
  fmx_rate_controller_on_sent (&rc, 200, fb.acked_sent);
  fmx_rate_controller_on_feedback (&rc, &fb, 3 * (FmxTime) S);
  assert_true (rc.data_limited);
}

static void
test_max_rate_is_never_exceeded (void **state)
{
  FmxRateParams params = fmx_test_params ();

  (void) state;
  params.max_bps = 300000.0;
  for (size_t i = 0; fmx_rate_classes[i] != NULL; i++) {
    FmxRateFeedback fb = fmx_test_feedback (1e9);
    FmxRateController rc;

    fmx_rate_controller_init (&rc, fmx_rate_classes[i], &params, 0);
    for (FmxTime now = S; now < 60 * (FmxTime) S; now += 100 * MS) {
      fmx_rate_controller_on_feedback (&rc, &fb, now);
      assert_true (fmx_rate_controller_bps (&rc) <= 300000.0);
    }
    assert_true (fmx_rate_controller_bps (&rc) == 300000.0);
    params.max_bps = 100000.0;
    fmx_rate_controller_set_params (&rc, &params);
    assert_true (fmx_rate_controller_bps (&rc) == 100000.0);
    params.max_bps = 300000.0;
  }
}

static void
test_a_least_rate_that_rises_takes_the_rate_along (void **state)
{
  (void) state;
  for (size_t i = 0; fmx_rate_classes[i] != NULL; i++) {
    FmxRateController rc = fmx_test_controller (fmx_rate_classes[i]);
    FmxRateParams params = fmx_test_params ();

    params.min_bps = 90000.0;
    fmx_rate_controller_set_params (&rc, &params);
    assert_true (fmx_rate_controller_bps (&rc) == 90000.0);
    /* but it ends no probing */
    fmx_rate_controller_probe (&rc);
    params.min_bps = 100000.0;
    fmx_rate_controller_set_params (&rc, &params);
    assert_true (fmx_rate_controller_is_probing (&rc));
  }
}

static FmxRateFeedback
random_feedback (FmxRng *rng, FmxTime now)
{
  double receive = pow (10.0, 7.0 * fmx_rng_next_unit (rng));
  double p = fmx_rng_next (rng) % 3 == 0 ? 0.0
      : pow (10.0, -6.0 * fmx_rng_next_unit (rng));
  FmxRateFeedback fb = fmx_test_feedback (receive);
  FmxTcpPath path;

  fb.heard = fmx_rng_next (rng) % 5 != 0;
  fb.rtt = 10000 + (FmxDuration) (fmx_rng_next_unit (rng) * 2e9);
  fb.damping = 0.3 + fmx_rng_next_unit (rng);
  fb.rto = fb.rtt + 200 * MS;
  fb.interval = fmx_rng_next (rng) % (int64_t) S;
  fb.loss_event_rate = p;
  fb.new_loss_event = p > 0.0 && fmx_rng_next (rng) % 3 == 0;
  fb.loss_fraction = fmx_rng_next_unit (rng) / 3.0;
  path = fmx_tcp_path (1460.0, fb.rtt);
  fb.equation_bps = fmx_tcp_equation_bps (&path, p);
  fb.packet_bytes = 40.0 + fmx_rng_next (rng) % 1400;
  fb.stream_bps = fmx_rng_next_unit (rng) * 3e5;
  fb.answered = fmx_rng_next (rng) & 1;
  fb.acked_sent = now - (FmxTime) fb.rtt % now;
  return fb;
}

/* In whatever order things happen: the rate is 0 or within bounds, not above
 * the equation after a feedback (but for TFRC's floor), and time passes. */
static void
test_any_order_of_events_keeps_the_bounds (void **state)
{
  FmxRateParams params = fmx_test_params ();

  (void) state;
  params.max_bps = 5e6;
  for (uint64_t seed = 0; seed < 60; seed++) {
    const FmxRateClass *klass = fmx_rate_classes[seed % 3];
    FmxRateController rc;
    FmxTime now = S;
    FmxRng rng;

    fmx_rng_init (&rng, seed);
    fmx_rate_controller_init (&rc, klass, &params, 0);
    for (unsigned i = 0; i < 3000; i++) {
      double bps;

      now += 1 + fmx_rng_next (&rng) % (300 * MS);
      if (fmx_rng_next (&rng) % 3 == 0) {
        FmxRateFeedback fb = random_feedback (&rng, now);

        fmx_rate_controller_on_feedback (&rc, &fb, now);
        if (klass != &fmx_rate_gaimd)
          assert_true (fmx_rate_controller_bps (&rc)
              <= 1.0001 * fb.damping * fb.equation_bps
              || fmx_rate_controller_bps (&rc) <= fb.equation_bps);
      } else if (fmx_rng_next (&rng) & 1) {
        fmx_rate_controller_on_sent (&rc, fmx_rng_next (&rng) % 1500, now);
      } else {
        fmx_rate_controller_on_timeout (&rc, now);
        assert_true (fmx_rate_controller_next_timeout (&rc) > now);
      }
      bps = fmx_rate_controller_bps (&rc);
      assert_true (bps == 0.0 || (bps >= params.min_bps
              && bps <= params.max_bps));
      assert_true ((bps == 0.0) == fmx_rate_controller_is_probing (&rc));
      assert_true (fmx_rate_controller_probe_interval (&rc) > 0);
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_every_class_is_valid_and_found_by_its_name),
    cmocka_unit_test (test_a_class_without_its_verbs_is_invalid),
    cmocka_unit_test (test_absurd_params_are_invalid),
    cmocka_unit_test (test_starts_at_the_initial_rate_within_its_bounds),
    cmocka_unit_test (test_a_new_receiver_may_hold_back_a_report),
    cmocka_unit_test (test_farstream_rate_is_kept_when_feedback_stops),
    cmocka_unit_test (test_who_begins_again_has_the_time_of_an_answer),
    cmocka_unit_test (test_timer_waits_for_a_receiver_that_reports_rarely),
    cmocka_unit_test (test_first_feedback_has_five_seconds),
    cmocka_unit_test (test_an_idle_sender_keeps_a_rate_and_sleeps),
    cmocka_unit_test (test_data_limited_is_who_sends_less_than_allowed),
    cmocka_unit_test (test_an_interval_is_as_long_as_its_feedback_covers),
    cmocka_unit_test (test_max_rate_is_never_exceeded),
    cmocka_unit_test (test_a_least_rate_that_rises_takes_the_rate_along),
    cmocka_unit_test (test_any_order_of_events_keeps_the_bounds),
  };

  return cmocka_run_group_tests_name ("rate/rate-controller", tests, NULL,
      NULL);
}
