/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-rate.h"

#include "fairmix/adapt/fmx-adapt-policy.h"
#include "fairmix/base/fmx-aimd.h"

/* "Minimal buffering", (3.6): the pairs of its figures */
static void
test_fair_pairs_of_the_paper (void **state)
{
  (void) state;
  assert_true (fabs (fmx_aimd_fair_alpha (1.0 / 2.0) - 1.0) < 1e-9);
  assert_true (fabs (fmx_aimd_fair_alpha (4.0 / 5.0) - 1.0 / 3.0) < 1e-9);
  assert_true (fabs (fmx_aimd_fair_alpha (7.0 / 8.0) - 1.0 / 5.0) < 1e-9);
}

static void
test_adds_alpha_segments_per_round_trip (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_gaimd);
  FmxRateFeedback fb = fmx_test_feedback (1e9);

  (void) state;
  /* 1460 bytes / 100 ms / 100 ms, whatever the feedback's interval */
  for (FmxTime now = 0; now <= 2 * (FmxTime) S; now += 10 * MS)
    fmx_rate_controller_on_feedback (&rc, &fb, now);
  assert_true (fabs (fmx_rate_controller_bps (&rc) - 80000.0
          - 20 * 116800.0) < 10.0);
}

/* [Li01 3.1] A path of 20 ms whose feedback comes each 5 to 300 ms: 1460 bytes
 * / 20 ms / 20 ms, as far as the last whole feedback */
static void
test_growth_does_not_depend_on_how_often_feedback_comes (void **state)
{
  static const FmxDuration intervals[] = { 5 * MS, 20 * MS, 30 * MS, 100 * MS,
    300 * MS
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (intervals); i++) {
    FmxRateController rc = fmx_test_controller (&fmx_rate_gaimd);
    FmxRateFeedback fb = fmx_test_feedback (1e9);

    fb.rtt = fb.rtt_median = fb.rtt_sample_min = fb.rtt_min = 20 * MS;
    fb.interval = intervals[i];
    for (FmxTime now = 0; now <= 3 * (FmxTime) S; now += (FmxTime) fb.interval)
      fmx_rate_controller_on_feedback (&rc, &fb, now);
    assert_true (fabs (fmx_rate_controller_bps (&rc) - 80000.0
            - 3.0 / 0.02 * 584000.0) < 1000.0);
    /* nor is a minute without any a reason to grow for a minute */
    fmx_rate_controller_on_feedback (&rc, &fb, 63 * (FmxTime) S);
    assert_true (fmx_rate_controller_bps (&rc) - 80000.0
        < (3.0 + 0.31) / 0.02 * 584000.0);
  }
}

static void
test_multiplies_by_beta_on_a_loss_event (void **state)
{
  FmxRateParams params = fmx_test_params ();
  FmxRateFeedback fb = fmx_test_feedback_with_loss (1e6, 0.01, true);
  FmxRateController rc;

  (void) state;
  params.beta = 0.875;
  fmx_rate_controller_init (&rc, &fmx_rate_gaimd, &params, 0);
  fmx_rate_controller_on_feedback (&rc, &fb, 0);
  assert_true (fmx_rate_controller_bps (&rc) == 70000.0);
  assert_string_equal (fmx_rate_controller_reason (&rc), "down-loss");
}

/* [RFC3168 6.1.2] Packets that were sent before the decrease are lost or marked
 * by the queue that it was about. */
static void
test_decreases_once_for_each_window (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_gaimd);
  FmxRateFeedback fb = fmx_test_feedback_with_loss (1e6, 0.01, true);

  (void) state;
  fb.loss_event_sent = 900 * MS;
  fmx_rate_controller_on_feedback (&rc, &fb, 1000 * MS);
  assert_true (fmx_rate_controller_bps (&rc) == 40000.0);
  fb.loss_event_sent = 990 * MS;
  fmx_rate_controller_on_feedback (&rc, &fb, 1090 * MS);
  assert_true (fmx_rate_controller_bps (&rc) >= 40000.0);
  fb.loss_event_sent = 1010 * MS;
  fmx_rate_controller_on_feedback (&rc, &fb, 1110 * MS);
  assert_true (fmx_rate_controller_bps (&rc) < 30000.0 + 80000.0);
  assert_string_equal (fmx_rate_controller_reason (&rc), "down-loss");
}

/* Whoever is marked again and again says less and less, and never nothing; who loses, does. */
static void
test_marks_alone_do_not_silence (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_gaimd);
  FmxRateFeedback fb = fmx_test_feedback_with_loss (1e5, 0.1, true);
  FmxTime now = 1 * (FmxTime) S;

  (void) state;
  fb.only_marks = true;
  for (unsigned i = 0; i < 20; i++, now += 100 * MS) {
    fb.loss_event_sent = now;
    fmx_rate_controller_on_feedback (&rc, &fb, now);
    assert_false (fmx_rate_controller_is_probing (&rc));
  }
  assert_true (fmx_rate_controller_bps (&rc) == rc.params.min_bps);
  fb.only_marks = false;
  fb.loss_event_sent = now;
  fmx_rate_controller_on_feedback (&rc, &fb, now);
  assert_true (fmx_rate_controller_is_probing (&rc));
}

static void
test_does_not_grow_beyond_twice_what_was_received (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_gaimd);
  FmxRateFeedback fb = fmx_test_feedback (100000.0);

  (void) state;
  for (FmxTime now = 0; now <= 9 * (FmxTime) S; now += 50 * MS)
    fmx_rate_controller_on_feedback (&rc, &fb, now);
  assert_true (fmx_rate_controller_bps (&rc) == 200000.0);
}

/* a policy lets the media have @media_bps, of which @sent_bps are used: for 9 s */
static double
grown_bps (double media_bps, double sent_bps)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_gaimd);
  FmxRateFeedback fb = fmx_test_feedback (sent_bps);

  for (FmxTime now = 0; now <= 9 * (FmxTime) S; now += 50 * MS) {
    fmx_rate_controller_set_media_bps (&rc, media_bps);
    fmx_rate_controller_on_feedback (&rc, &fb, now);
  }
  return fmx_rate_controller_bps (&rc);
}

/* Two back-offs from there the media have what was sent twice over. */
static void
test_media_that_a_policy_keeps_below_the_rate_do_not_hold_it_down (void **state)
{
  (void) state;
  assert_true (grown_bps (70000.0, 60000.0) == 480000.0);
  /* nor do whole talkers, who use no less than half */
  assert_true (grown_bps (70000.0, 36000.0) == 288000.0);
  /* but who says next to nothing does */
  assert_true (grown_bps (70000.0, 34000.0) == 80000.0);
  /* and who may send all of it */
  assert_true (grown_bps (HUGE_VAL, 60000.0) == 120000.0);
}

static void
test_media_that_follow_the_rate_are_not_held_back (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_gaimd);
  FmxRateFeedback fb = fmx_test_feedback (100000.0);

  (void) state;
  for (FmxTime now = 0; now <= 9 * (FmxTime) S; now += 50 * MS) {
    if (now % (200 * MS) == 0)  /* in whole bits, and now and then */
      fmx_rate_controller_set_media_bps (&rc,
          floor (fmx_rate_controller_bps (&rc)));
    fmx_rate_controller_on_feedback (&rc, &fb, now);
  }
  assert_true (fmx_rate_controller_bps (&rc) == 200000.0);
}

/* Whole talkers of 80 kbit/s below the lowest rate of the last saw-tooth, of which
 * one in 300 packets is lost: (A.5) says 240 kbit/s */
static void
test_a_conservative_policy_does_not_only_go_down (void **state)
{
  double sum = 0.0, media_bps = 80000.0, packets = 0.0;
  FmxRateParams params = fmx_test_params ();
  FmxAdaptPolicyParams how;
  FmxAdaptPolicy policy;
  FmxRateController rc;

  (void) state;
  params.segment_bytes = 200;
  fmx_adapt_policy_params_default (&how);
  how.klass = &fmx_adapt_policy_conservative;
  fmx_adapt_policy_init (&policy, &how);
  fmx_rate_controller_init (&rc, &fmx_rate_gaimd, &params, 0);
  for (FmxTime now = 0; now < 600 * (FmxTime) S; now += 100 * MS) {
    double sent_bps = fmax (1.0, floor (media_bps / 80000.0)) * 80000.0;
    FmxRateFeedback fb = fmx_test_feedback (sent_bps * 299.0 / 300.0);

    packets += sent_bps * 0.1 / 1600.0;
    fb.loss_event_sent = now;
    fb.new_loss_event = packets >= 300.0;
    if (fb.new_loss_event)
      packets -= 300.0;
    fmx_rate_controller_on_feedback (&rc, &fb, now);
    media_bps = (double) fmx_adapt_policy_on_rate (&policy,
        (uint64_t) fmx_rate_controller_bps (&rc), now);
    fmx_rate_controller_set_media_bps (&rc, media_bps);
    sum += sent_bps / 6000.0;
  }
  assert_true (sum > 150000.0);
}

/* (A.5): sqrt (alpha (1 + beta) / (2 (1 - beta))) s / (R sqrt p), that of TCP;
 * a regular loss event every 1/p segments */
static void
test_all_fair_pairs_get_the_same_rate (void **state)
{
  static const double betas[] = { 0.5, 0.8, 0.875 };
  const double p = 0.005;

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (betas); i++) {
    FmxRateParams params = fmx_test_params ();
    double segments = 0.0, sum = 0.0;
    FmxRateController rc;
    unsigned n = 0;

    params.beta = betas[i];
    fmx_rate_controller_init (&rc, &fmx_rate_gaimd, &params, 0);
    for (FmxTime now = 0; now < 2000 * (FmxTime) S; now += 100 * MS) {
      FmxRateFeedback fb = fmx_test_feedback (1e9);

      segments += rc.rate_bps * 0.1 / 11680.0;
      fb.loss_event_sent = now;
      fb.new_loss_event = segments >= 1.0 / p;
      if (fb.new_loss_event)
        segments -= 1.0 / p;
      fmx_rate_controller_on_feedback (&rc, &fb, now);
      if (now > 100 * (FmxTime) S) {
        sum += rc.rate_bps;
        n++;
      }
    }
    assert_true (fabs (sum / n - sqrt (1.5 / p) * 116800.0)
        < 0.05 * sqrt (1.5 / p) * 116800.0);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_fair_pairs_of_the_paper),
    cmocka_unit_test (test_adds_alpha_segments_per_round_trip),
    cmocka_unit_test (test_growth_does_not_depend_on_how_often_feedback_comes),
    cmocka_unit_test (test_multiplies_by_beta_on_a_loss_event),
    cmocka_unit_test (test_decreases_once_for_each_window),
    cmocka_unit_test (test_marks_alone_do_not_silence),
    cmocka_unit_test (test_does_not_grow_beyond_twice_what_was_received),
    cmocka_unit_test
        (test_media_that_a_policy_keeps_below_the_rate_do_not_hold_it_down),
    cmocka_unit_test (test_media_that_follow_the_rate_are_not_held_back),
    cmocka_unit_test (test_a_conservative_policy_does_not_only_go_down),
    cmocka_unit_test (test_all_fair_pairs_get_the_same_rate),
  };

  return cmocka_run_group_tests_name ("rate/rate-gaimd", tests, NULL, NULL);
}
