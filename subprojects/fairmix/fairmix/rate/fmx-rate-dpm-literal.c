/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-rate-controller.h"

/* Distributed Partial Mixing, sections 5.1 to 5.4, and nothing besides.  What it
 * lacks - patience, belief, doubt - is in fmx-rate-dpm.c. */

static void
dpm_literal_init (FmxRateController *rc, FmxTime now)
{
  rc->state.dpm.decided = now;
}

static double
stream_worth_bps (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  return fb->stream_bps > rc->params.min_bps ? fb->stream_bps
      : rc->params.min_bps;
}

/* Section 5.3: "Rate adaptation is performed once every 6-8 RTTs" */
static bool
is_decision_due (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  return (double) fmx_time_diff (now, rc->state.dpm.decided)
      >= rc->params.decision_interval_rtts * (double) fb->rtt;
}

/* Section 5.4: "it needs to have a bandwidth of one or more streams to resume
 * sending audio, and it tries to do this not more often than every 6-8 RTTs" */
static void
try_to_resume (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  if (!fb->heard || !fb->answered || !is_decision_due (rc, fb, now))
    return;
  rc->state.dpm.decided = now;
  if (fb->equation_bps >= rc->params.min_bps)
    fmx_rate_controller_resume (rc, stream_worth_bps (rc, fb));
}

static void
dpm_literal_on_feedback (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  if (rc->probing) {
    try_to_resume (rc, fb, now);
  } else if (fb->loss_fraction > fb->loss_limit
      || fb->equation_bps < rc->params.min_bps) {
    /* section 5.4: "when the packet loss rates are above 20%", "goes directly to
     * the probing mode from sending one stream" */
    rc->state.dpm.decided = now;
    fmx_rate_controller_probe (rc);
  } else if (rc->rate_bps > fb->equation_bps) {
    /* section 5.3: "immediately reduced to no more than the TCP-equivalent rate" */
    rc->state.dpm.decided = now;
    fmx_rate_controller_set (rc, fb->equation_bps, FMX_RATE_DOWN_LOSS);
  } else if (fb->heard && is_decision_due (rc, fb, now)) {
    /* section 5.3: "increased linearly (i.e. one stream at a time)" */
    double bps = rc->rate_bps + stream_worth_bps (rc, fb);

    rc->state.dpm.decided = now;
    if (bps <= fb->equation_bps)
      fmx_rate_controller_set (rc, bps, FMX_RATE_UP);
  }
}

/* Section 5.4: "when no acknowledgements are received" */
static void
dpm_literal_on_no_feedback (FmxRateController *rc, FmxTime now)
{
  rc->state.dpm.decided = now;
  fmx_rate_controller_probe (rc);
}

const FmxRateClass fmx_rate_dpm_literal = {
  .name = "dpm-literal",
  .description = "Distributed Partial Mixing word by word: losses by timeouts",
  .init = dpm_literal_init,
  .on_feedback = dpm_literal_on_feedback,
  .on_no_feedback = dpm_literal_on_no_feedback,
  .timeouts_only = true,
};
