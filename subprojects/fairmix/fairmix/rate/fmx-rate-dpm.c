/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-rate-dpm.h"

#include "fairmix/rate/fmx-rate-controller.h"

static void
dpm_init (FmxRateController *rc, FmxTime now)
{
  rc->state.dpm.decided = now;
  rc->state.dpm.resumed = FMX_TIME_NONE;
  rc->state.dpm.loss_event = FMX_TIME_NONE;
  rc->state.dpm.lowered = FMX_TIME_NONE;
}

static double
stream_worth_bps (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  double worth = fb->stream_bps;

  if (worth > FMX_RATE_DPM_STEP_MAX_BPS)
    worth = FMX_RATE_DPM_STEP_MAX_BPS;
  return worth > rc->params.min_bps ? worth : rc->params.min_bps;
}

/* Whether @n decision intervals have passed. */
static bool
is_decision_due (const FmxRateController *rc, const FmxRateFeedback *fb,
    unsigned n, FmxTime now)
{
  double since = (double) fmx_time_diff (now, rc->state.dpm.decided);

  return since >= n * rc->params.decision_interval_rtts * (double) fb->rtt;
}

static void
decided (FmxRateDpmState *dpm, FmxTime now)
{
  dpm->decided = now;
  dpm->receive_max[1] = dpm->receive_max[0];
  dpm->receive_max[0] = 0.0;
}

static bool
is_losing (const FmxRateDpmState *dpm, const FmxRateFeedback *fb, FmxTime now)
{
  return dpm->loss_event != FMX_TIME_NONE
      && fmx_time_diff (now, dpm->loss_event) < fb->rtt;
}

static double
belief_bps (const FmxRateDpmState *dpm)
{
  double most = dpm->receive_max[0] > dpm->receive_max[1]
      ? dpm->receive_max[0] : dpm->receive_max[1];

  return 2.0 * most;            /* recv_limit, [RFC5348 4.3] */
}

/* Up by one stream, not beyond T and not beyond belief. */
static void
increase (FmxRateController *rc, const FmxRateFeedback *fb)
{
  double bps = rc->rate_bps + stream_worth_bps (rc, fb);
  double belief = belief_bps (&rc->state.dpm);

  if (bps > fb->equation_bps)
    bps = fb->equation_bps;
  if (bps > belief)
    bps = belief;
  if (bps > rc->rate_bps)
    fmx_rate_controller_set (rc, bps, FMX_RATE_UP);
}

/* DPM section 5.4: "it needs to have a bandwidth of one or more streams to
 * resume sending audio, and it tries to do this not more often than every 6-8
 * RTTs". */
static void
try_to_resume (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  double bps = stream_worth_bps (rc, fb);
  unsigned doublings = rc->state.dpm.n_failed < FMX_RATE_DPM_DOUBLINGS
      ? rc->state.dpm.n_failed : FMX_RATE_DPM_DOUBLINGS;

  if (!fb->heard || !fb->answered
      || !is_decision_due (rc, fb, 1u << doublings, now))
    return;
  if (fb->equation_bps < FMX_RATE_DPM_RESUME * rc->params.min_bps)
    return;
  if (bps > fb->equation_bps)
    bps = fb->equation_bps;
  fmx_rate_controller_resume (rc, bps);
  rc->state.dpm.resumed = now;
  decided (&rc->state.dpm, now);
}

static bool
is_attempt (const FmxRateDpmState *dpm, FmxTime now)
{
  return dpm->resumed != FMX_TIME_NONE
      && fmx_time_diff (now, dpm->resumed) <= FMX_RATE_DPM_LASTING;
}

static void
begin_to_probe (FmxRateController *rc, FmxTime now)
{
  FmxRateDpmState *dpm = &rc->state.dpm;

  dpm->n_failed = is_attempt (dpm, now) ? dpm->n_failed + 1 : 0;
  fmx_rate_controller_probe (rc);
}

/* What T must allow.  After two attempts to send again that failed, the next
 * ones have failed as soon as they would not be made now; but every third is
 * as patient as the first, lest one who shares a full path never gets in. */
static double
least_bps (const FmxRateController *rc, FmxTime now)
{
  const FmxRateDpmState *dpm = &rc->state.dpm;

  if (is_attempt (dpm, now) && dpm->n_failed >= 2 && dpm->n_failed % 3 != 1)
    return FMX_RATE_DPM_RESUME * rc->params.min_bps;
  return rc->params.min_bps;
}

/* What is lost may still be of the time before the rate fell to one stream; a
 * second fall soon after the first is part of it. */
static bool
is_settling (const FmxRateDpmState *dpm, const FmxRateFeedback *fb,
    unsigned n, FmxTime now)
{
  return dpm->lowered != FMX_TIME_NONE && fmx_time_diff (now, dpm->lowered)
      <= n * (FMX_RATE_DPM_SETTLE + 2 * fb->rtt);
}

/* The mean rate of the streams wanders. */
static bool
is_more_than_one_stream (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  return rc->rate_bps > FMX_RATE_DPM_ONE_STREAM * stream_worth_bps (rc, fb);
}

static void
fall_back_to_one_stream (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  double bps = stream_worth_bps (rc, fb);

  if (bps > fb->equation_bps)
    bps = fb->equation_bps;
  fmx_rate_controller_set (rc, bps, FMX_RATE_DOWN_LOSS);
  if (!is_settling (&rc->state.dpm, fb, 2, now))
    rc->state.dpm.lowered = now;
  decided (&rc->state.dpm, now);
}

/* DPM section 5.4: "when the packet loss rates are above 20%", "goes directly to
 * the probing mode from sending one stream".  What was lost before it sent but
 * one does not count against that one; from then on the rate does not rise. */
static bool
is_lossy_with_one_stream (const FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now)
{
  const FmxRateDpmState *dpm = &rc->state.dpm;

  return fb->loss_fraction > fb->loss_limit
      && !is_more_than_one_stream (rc, fb) && !is_settling (dpm, fb, 1, now);
}

static void
dpm_on_feedback (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  FmxRateDpmState *dpm = &rc->state.dpm;

  if (rc->probing) {
    try_to_resume (rc, fb, now);
    return;
  }
  if (fb->receive_bps > dpm->receive_max[0])
    dpm->receive_max[0] = fb->receive_bps;
  if (fb->new_loss_event)
    dpm->loss_event = now;

  if (fb->equation_bps < least_bps (rc, now)
      || is_lossy_with_one_stream (rc, fb, now)) {
    begin_to_probe (rc, now);
    decided (dpm, now);
  } else if (fb->loss_fraction > fb->loss_limit
      && is_more_than_one_stream (rc, fb)) {
    fall_back_to_one_stream (rc, fb, now);
  } else if (rc->rate_bps > fb->equation_bps) {
    /* DPM section 5.3: "immediately reduced to no more than the TCP-equivalent
     * rate" */
    fmx_rate_controller_set (rc, fb->equation_bps, FMX_RATE_DOWN_LOSS);
    decided (dpm, now);
  } else if (fb->heard && is_decision_due (rc, fb, 1, now)
      && fb->loss_fraction <= fb->loss_limit && !is_losing (dpm, fb, now)) {
    increase (rc, fb);
    decided (dpm, now);
  }
}

static void
dpm_on_no_feedback (FmxRateController *rc, FmxTime now)
{
  double bps = rc->rate_bps / 2.0;

  if (rc->probing)
    return;
  if (bps < rc->params.min_bps)
    begin_to_probe (rc, now);
  else
    fmx_rate_controller_set (rc, bps, FMX_RATE_DOWN_NO_FEEDBACK);
  decided (&rc->state.dpm, now);
}

const FmxRateClass fmx_rate_dpm = {
  .name = "dpm",
  .description =
      "streams one by one, TCP equation (after Distributed Partial Mixing)",
  .init = dpm_init,
  .on_feedback = dpm_on_feedback,
  .on_no_feedback = dpm_on_no_feedback,
};
