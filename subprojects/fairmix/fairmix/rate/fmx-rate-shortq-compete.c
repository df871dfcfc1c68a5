/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "fairmix/rate/fmx-rate-shortq-private.h"

#define MOST_OF_CEILING 0.55    /* beside another; with the dead zone a half */
/* So long it is believed, and twice as much for as long again: one that was found in a
 * crowd would hold as long as somebody keeps the queue. */
#define MOST_HOLDS (60 * FMX_SECOND)
#define DEAD_ZONE 0.1
/* Half of the longest hold; halved and doubled: -0.4 and -0.4 points in the mean of all
 * families, own flows 96: 96, 88 (tests/sim/constants.py) */
#define SHORT_TIME (4 * FMX_SECOND)
#define COUPLED_TIME (10 * FMX_SECOND)  /* dpmmixer says it each 400 ms */
#define EACH_S 1.0              /* steps up, where a long queue makes 7 round trips longer ... */
#define EACH_RTTS 2.5           /* ... but by when this one shows, as at the start; beside TCP
                                 * 71: 73, with 0.5 s and 1 RTT 71 */
#define GROWTH 2.0              /* who gave way to a TCP begins with next to nothing; 1.5 each 2 s:
                                 * in time beside others 33: 29 */

#define PAUSE (500 * FMX_MSECOND)       /* TCPs that pause leave no queue for so long */
#define PAUSE_GROWTH 1.5
/* Of the path: nothing tells how many BBRs there are, but this is 0.56 of what one of them has,
 * and 2.25 times what each of four.  0.35 and 0.38: beside BBR 86: 85, 81 (of 96) */
#define BBR_PART 0.36

/* What one of several found where nobody else was is its part of what they had together,
 * not the path: half of that says nothing of a fair part, and the others' is another. */
static bool
is_coupled (const FmxRateController *rc, FmxTime now)
{
  return rc->coupled != FMX_TIME_NONE
      && fmx_time_diff (now, rc->coupled) < COUPLED_TIME;
}

void
fmx_shortq_begin_to_compete (FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  bool was_alone = s->alone_bps > 0.0
      && fmx_time_diff (now, s->alone_time) < HOLD_MAX;

  fmx_shortq_enter (rc, FMX_RATE_SHORTQ_COMPETING, now);
  fmx_full_queue_init (&s->full, fmax (rc->rate_bps,
          was_alone ? HALF * s->alone_bps : 0.0), fb->rtt_median, now);
  s->overrun = false;
  s->most_bps = s->hold >= HOLD_MAX && s->ceiling_bps > 0.0
      && !is_coupled (rc, now) ? MOST_OF_CEILING * s->ceiling_bps : rc->params.max_bps;
  s->most_until = now + (FmxTime) MOST_HOLDS;
}

/* Behind a queue of a second 7 round trips are 7 s, and a rate that starts low takes a
 * minute to X, which is a mean in any case.  Returns: how many are between two steps up */
static double
step_rtts (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  double rtts = fmax (EACH_S / fmx_time_to_s (fb->rtt), EACH_RTTS);

  return fmin (rtts, rc->params.decision_interval_rtts);
}

double
fmx_shortq_beside_bbr_bps (const FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now)
{
  double path_bps = fmax (fb->path_bps, fb->bottleneck_bps);

  if (!fmx_bbr_sense_is_there (&rc->state.shortq.bbr, now))
    return 0.0;
  if (path_bps > 0.0)
    return BBR_PART * path_bps;
  return fb->loss_event_rate > 0.0 ? fmx_shortq_tcp_bps (rc, fb) : 0.0;
}

double
fmx_shortq_pause_bps (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  return fmx_time_diff (now, rc->state.shortq.met_time) > PAUSE
      ? PAUSE_PART * fmax (fb->path_bps, fb->bottleneck_bps) : 0.0;
}

void
fmx_shortq_compete (FmxRateController *rc, const FmxRateFeedback *fb,
    double allowed, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;

  if (is_coupled (rc, now))
    s->most_bps = rc->params.max_bps;
  if (now > s->most_until) {
    s->most_bps *= 2.0;
    s->most_until = now + (FmxTime) MOST_HOLDS;
  }
  if (rc->rate_bps * (1.0 - DEAD_ZONE) > allowed) {
    fmx_shortq_obey (rc, fb, allowed, now);
  } else if (fmx_time_diff (now, s->short_since) > SHORT_TIME) {
    fmx_shortq_enter (rc, FMX_RATE_SHORTQ_CALM, now);
    s->ceiling_bps = 0.0;
  } else if (fmx_shortq_pause_bps (rc, fb, now) > 0.0) {
    fmx_shortq_grow (rc, fb, allowed, PAUSE_GROWTH, now);
  } else if (fmx_shortq_is_due (rc, fb, step_rtts (rc, fb), now)) {
    s->decided = now;
    if (allowed > rc->rate_bps * (1.0 + DEAD_ZONE))
      fmx_shortq_raise (rc, fb, fmin (allowed, GROWTH * rc->rate_bps), now);
  }
}
