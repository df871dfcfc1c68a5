/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sections 5.1 to 5.4 of Distributed Partial Mixing, sentence by sentence. */

#include "fmx-test-rate-sender.h"
#include "fmx-test-rate.h"

static FmxRateFeedback
feedback (double equation_bps)
{
  FmxRateFeedback fb = fmx_test_feedback (1e6);

  fb.equation_bps = equation_bps;
  return fb;
}

/* Feedback each 50 ms until @until. */
static void
feed (FmxRateController *rc, FmxRateFeedback fb, FmxTime from, FmxTime until)
{
  for (FmxTime now = from; now < until; now += 50 * MS)
    fmx_rate_controller_on_feedback (rc, &fb, now);
}

/* 5.3: whole streams, one per decision interval, as long as T has room */
static void
test_up_by_whole_streams_under_the_equation (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_dpm_literal);

  (void) state;
  feed (&rc, feedback (350000.0), 0, 60 * (FmxTime) S);
  assert_true (fabs (fmx_rate_controller_bps (&rc) - 4 * 80000.0) < 1.0);
  /* whatever was received: nothing is said of belief */
  feed (&rc, feedback (900000.0), 60 * (FmxTime) S, 120 * (FmxTime) S);
  assert_true (fabs (fmx_rate_controller_bps (&rc) - 11 * 80000.0) < 1.0);
}

static void
test_down_to_the_equation_at_once (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_dpm_literal);
  FmxRateFeedback fb = feedback (234567.0);

  (void) state;
  feed (&rc, feedback (1e6), 0, 10 * (FmxTime) S);
  fb.heard = false;
  fmx_rate_controller_on_feedback (&rc, &fb, 10 * (FmxTime) S);
  assert_true (fmx_rate_controller_bps (&rc) == 234567.0);
}

/* 5.4: from whatever was sent */
static void
test_too_much_loss_means_probing_at_once (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_dpm_literal);
  FmxRateFeedback fb = feedback (1e6);

  (void) state;
  feed (&rc, fb, 0, 10 * (FmxTime) S);
  fb.loss_fraction = fb.loss_limit + 0.001;
  fmx_rate_controller_on_feedback (&rc, &fb, 10 * (FmxTime) S);
  assert_true (fmx_rate_controller_is_probing (&rc));
  assert_int_equal (fmx_rate_controller_probe_interval (&rc), S);
}

static void
test_resumes_each_decision_interval_with_room_for_one (void **state)
{
  FmxRateController rc = fmx_test_controller (&fmx_rate_dpm_literal);
  FmxRateFeedback fb = feedback (1e6);

  (void) state;
  for (FmxTime now = 10 * (FmxTime) S; now < 60 * (FmxTime) S; now += 10 * S) {
    fb.loss_fraction = 0.5;
    fmx_rate_controller_on_feedback (&rc, &fb, now);
    assert_true (fmx_rate_controller_is_probing (&rc));
    fb.loss_fraction = 0.0;
    fb.answered = true;
    fb.equation_bps = 20001.0;  /* min_bps is 20000 */
    feed (&rc, fb, now, now + 699 * MS);
    assert_true (fmx_rate_controller_is_probing (&rc));
    fmx_rate_controller_on_feedback (&rc, &fb, now + 700 * MS);
    assert_false (fmx_rate_controller_is_probing (&rc));
    fb.equation_bps = 1e6;
  }
}

static bool
each_40th (unsigned seq)
{
  return seq % 40 == 20;
}

/* How long after 35 others had arrived behind it a packet is known to be lost. */
static FmxTime
noticed (const FmxRateClass *klass)
{
  FmxRateSenderParams params;

  fmx_rate_sender_params_default (&params);
  params.klass = klass;
  fmx_rate_sender_init (&sender, &params, 0);
  run (0, 420, each_40th);
  for (unsigned seq = 420; seq < 600; seq++) {
    leave_at ((uint16_t) seq, at (seq));
    if (stats_at (at (seq)).n_lost > 10)
      return at (seq) - at (420);
    if (seq % 3 == 2)
      report (seq - 8, seq - 5, each_40th);
  }
  return FMX_TIME_NONE;
}

/* 5.2: "If the timeout expires before the packet is acknowledged, the
 * corresponding packet is considered to be lost": gaps tell nothing. */
static void
test_losses_are_found_by_timeouts_alone (void **state)
{
  FmxTime literal = noticed (&fmx_rate_dpm_literal);
  FmxTime practical = noticed (&fmx_rate_dpm);

  (void) state;
  assert_true (practical != FMX_TIME_NONE && literal != FMX_TIME_NONE);
  /* RTO: round trip 100 ms, 200 ms at least beyond, and the feedback's pace */
  assert_true (literal >= practical + 100 * MS);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_up_by_whole_streams_under_the_equation),
    cmocka_unit_test (test_down_to_the_equation_at_once),
    cmocka_unit_test (test_too_much_loss_means_probing_at_once),
    cmocka_unit_test (test_resumes_each_decision_interval_with_room_for_one),
    cmocka_unit_test (test_losses_are_found_by_timeouts_alone),
  };

  return cmocka_run_group_tests_name ("rate/rate-dpm-literal", tests, NULL,
      NULL);
}
