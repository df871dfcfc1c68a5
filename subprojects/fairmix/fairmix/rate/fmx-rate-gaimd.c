/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-rate-gaimd.h"

#include "fairmix/base/fmx-aimd.h"
#include "fairmix/base/fmx-units.h"
#include "fairmix/rate/fmx-rate-controller.h"

static void
gaimd_init (FmxRateController *rc, FmxTime now)
{
  rc->state.gaimd.increased = now;
  rc->state.gaimd.decreased = now;
}

/* Who sends less than half of what it may has shown nothing of the rest
 * ([RFC7661 4.3]).  What it may is the media's rate where a policy keeps that below X:
 * the paper's X grows as if all of it were used.  If X kept below 2 X_recv then, each
 * back-off would leave less than is sent, and a policy that sends less than that would
 * only ever go down.  But X is never more than two back-offs above 2 X_recv: what one
 * leaves is then at once the media's. */
static double
most_bps (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  double validated = 2.0 * fb->receive_bps;

  if (rc->media_bps >= rc->rate_bps)
    return validated;
  if (rc->media_bps > validated)
    return rc->rate_bps;
  return validated / (rc->params.beta * rc->params.beta);
}

static void
increase (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  FmxRateGaimdState *gaimd = &rc->state.gaimd;
  double alpha = rc->params.alpha > 0.0 ? rc->params.alpha
      : fmx_aimd_fair_alpha (rc->params.beta);
  double segment = rc->params.segment_bytes > 0
      ? (double) rc->params.segment_bytes : fb->packet_bytes;
  FmxDuration since = fmx_time_diff (now, gaimd->increased);
  FmxDuration most = fb->interval > fb->rtt ? fb->interval : fb->rtt;
  double rounds, bps;

  /* [Li01 3.1] W + alpha MSS for each round-trip time, also where feedback
   * comes less often; a pause of the feedback is no reason to grow */
  gaimd->increased = now;
  rounds = (double) (since < most ? since : most) / (double) fb->rtt;
  bps = rc->rate_bps + rounds * alpha * fmx_rate_bps (segment, fb->rtt);
  if (bps > most_bps (rc, fb))
    bps = most_bps (rc, fb);
  if (bps > rc->rate_bps)
    fmx_rate_controller_set (rc, bps, FMX_RATE_UP);
}

static void
decrease (FmxRateController *rc, double factor, const char *why, FmxTime now)
{
  double bps = rc->rate_bps * factor;

  rc->state.gaimd.decreased = now;
  if (bps < rc->params.min_bps)
    fmx_rate_controller_probe (rc);
  else
    fmx_rate_controller_set (rc, bps, why);
}

/* Marks ask for less and take nothing away: the least rate is heard as well as any, so
 * they are no reason to say nothing at all ([RFC3714 5] speaks of persistent loss). */
static void
decrease_for_marks (FmxRateController *rc, FmxTime now)
{
  double bps = rc->rate_bps * rc->params.beta;

  rc->state.gaimd.decreased = now;
  if (bps < rc->params.min_bps)
    bps = rc->params.min_bps;
  fmx_rate_controller_set (rc, bps, FMX_RATE_DOWN_LOSS);
}

/* A loss event of packets that were sent before the last decrease is what that
 * one was about: once for each window, as TCP does it ([RFC3168 6.1.2]). */
static void
gaimd_on_feedback (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  FmxRateGaimdState *gaimd = &rc->state.gaimd;

  if (rc->probing) {
    FmxDuration since = fmx_time_diff (now, gaimd->decreased);

    if (fb->heard && fb->answered && (double) since
        >= rc->params.decision_interval_rtts * (double) fb->rtt)
      fmx_rate_controller_resume (rc, rc->params.min_bps);
    gaimd->increased = now;
  } else if (fb->loss_fraction > fb->loss_limit) {
    fmx_rate_controller_probe (rc);
    gaimd->decreased = now;
  } else if (fb->new_loss_event && fb->loss_event_sent >= gaimd->decreased) {
    if (fb->only_marks)
      decrease_for_marks (rc, now);
    else
      decrease (rc, rc->params.beta, FMX_RATE_DOWN_LOSS, now);
    gaimd->increased = now;
  } else if (fb->heard) {
    increase (rc, fb, now);
  }
}

static void
gaimd_on_no_feedback (FmxRateController *rc, FmxTime now)
{
  if (rc->probing)
    return;
  decrease (rc, 0.5, FMX_RATE_DOWN_NO_FEEDBACK, now);
}

const FmxRateClass fmx_rate_gaimd = {
  .name = "gaimd",
  .description = "additive increase, multiplicative decrease (alpha, beta)",
  .init = gaimd_init,
  .on_feedback = gaimd_on_feedback,
  .on_no_feedback = gaimd_on_no_feedback,
};
