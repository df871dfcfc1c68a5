/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/asmp/fmx-asmp-feedback.h"

#include <assert.h>
#include <math.h>

void
fmx_asmp_feedback_params_default (FmxAsmpFeedbackParams *params)
{
  params->suspend = 6500 * FMX_MSECOND;
  params->crowd = 20;           /* TFMCC's aim for a round, [RFC4654] */
  params->rand = 5 * FMX_SECOND;
  params->lambda = 10.0;
  params->similar = 0.02;       /* [ASMP 3.8] */
}

void
fmx_asmp_feedback_init (FmxAsmpFeedback *feedback,
    const FmxAsmpFeedbackParams *params)
{
  assert (params->rand > 0 && params->lambda > 0.0);
  feedback->params = *params;
  feedback->deadline = FMX_TIME_NONE;
  feedback->large = false;
  feedback->spoken_for = false;
}

FmxDuration
fmx_asmp_feedback_wait (const FmxAsmpFeedbackParams *params, double u)
{
  /* the inverse of the distribution (e^(lambda z/T) - 1) / (e^lambda - 1) */
  double z = log1p (u * expm1 (params->lambda)) / params->lambda;

  assert (u >= 0.0 && u < 1.0);
  return (FmxDuration) (z * (double) params->rand);
}

void
fmx_asmp_feedback_schedule (FmxAsmpFeedback *feedback, FmxDuration interval,
    uint32_t n_receivers, double u, FmxTime now)
{
  feedback->large = interval > feedback->params.suspend
      || n_receivers > feedback->params.crowd;
  feedback->spoken_for = false;
  feedback->deadline = !feedback->large ? FMX_TIME_NONE
      : now + (FmxTime) fmx_asmp_feedback_wait (&feedback->params, u);
}

void
fmx_asmp_feedback_on_peer (FmxAsmpFeedback *feedback, double own_bps,
    double peer_bps)
{
  if (fabs (peer_bps - own_bps) <= feedback->params.similar * own_bps)
    feedback->spoken_for = true;
}

bool
fmx_asmp_feedback_may_report (const FmxAsmpFeedback *feedback)
{
  return !feedback->large || !feedback->spoken_for;
}

FmxTime
fmx_asmp_feedback_next_timeout (const FmxAsmpFeedback *feedback)
{
  return feedback->deadline;
}

bool
fmx_asmp_feedback_on_timeout (FmxAsmpFeedback *feedback, FmxTime now)
{
  if (feedback->deadline == FMX_TIME_NONE || now < feedback->deadline)
    return false;
  feedback->deadline = FMX_TIME_NONE;
  return !feedback->spoken_for;
}
