/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The path has become narrow, and its queue is our own: nothing leaves until that has gone. */

#include <math.h>

#include "fairmix/rate/fmx-rate-shortq-private.h"

#define LOOSENS_S 0.005         /* each second: what comes is known to a few packets, and the next
                                 * queue moves the playout again */
#define LOOSE (10 * FMX_SECOND) /* then steps find what there is */

static FmxRateHoldNews
news_of (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  FmxRateHoldNews news;

  news.sent = fb->acked_sent;
  news.queue = fmx_queue_sense_beyond_latest (&rc->state.shortq.queue,
      fb->delay_spread);
  news.came_bps = fb->latest_bps;
  /* a timeout may be one of feedback that is late */
  news.is_full = fb->new_loss_event && fb->loss_event_sent <= fb->acked_sent;
  return news;
}

void
fmx_shortq_hold (FmxRateController *rc, const FmxRateFeedback *fb,
    double from_bps, double came_bps, FmxTime now)
{
  FmxRateHoldNews news = news_of (rc, fb);
  double sent_bps = fmin (fb->sent_bps, from_bps);

  if (rc->params.max_hold <= 0)
    return;
  fmx_rate_hold_begin (&rc->hold, rc->params.max_hold, rc->last_sent,
      sent_bps / came_bps - 1.0, &news, now);
  rc->stats.n_holds++;
}

double
fmx_shortq_held_bps (const FmxRateController *rc, FmxTime now)
{
  double came_bps = fmx_rate_hold_came_bps (&rc->hold);
  FmxDuration since = fmx_time_diff (now, fmx_rate_hold_ended (&rc->hold));

  if (fmx_rate_hold_took (&rc->hold) == 0 || came_bps <= 0.0
      || since > LOOSE || rc->state.shortq.room_bps > 0.0)
    return HUGE_VAL;
  return (NEAR_CEILING + LOOSENS_S * fmx_time_to_s (since)) * came_bps;
}

void
fmx_shortq_follow_hold (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  FmxRateHoldNews news = news_of (rc, fb);
  double came_bps;

  if (!fb->heard)
    return;
  fmx_rate_hold_on_feedback (&rc->hold, &news, now);
  came_bps = fmx_rate_hold_came_bps (&rc->hold);
  if (came_bps <= 0.0)
    return;
  s->drain_bps = s->drain_most_bps = s->cut_bps = came_bps;
  fmx_rate_controller_set (rc, fmax (CUT_OWN * came_bps,
          rc->params.min_bps), FMX_RATE_DOWN_LIMIT);
}
