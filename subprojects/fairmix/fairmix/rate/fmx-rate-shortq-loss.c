/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "fairmix/rate/fmx-rate-shortq-private.h"

/* Halved and doubled they are worth next to nothing: the mean of all families changes
 * by 0.0 and -0.4 points, and by 0.4 and -0.4 (tests/sim/constants.py). */
#define PEAK_MIN (25 * FMX_MSECOND)     /* less is no queue to be full: two packets of
                                         * 1500 bytes at 1 Mbit/s */
#define FULL_GAIN 0.25          /* the last four events count most, as the four greatest
                                 * weights of [RFC5348 5.4] */

#define STILL_FULL 0.2          /* of the peak: no lower since it overflowed */
#define SURELY 0.95             /* of the loss events are those of a full queue; without it
                                 * lossy 90: 83 */

#define SHED_TELLS (5 * FMX_SECOND)     /* two seconds longer than loss is counted */

#define POOR 0.5                /* of X */
#define FLOOR 0.7               /* of X */
#define POOR_EVENTS 3u
#define POOR_TIME (10 * FMX_SECOND)
#define OWN_TIME (5 * FMX_SECOND)       /* alone, and not yet again */
#define OWN_PART 0.7            /* of what the path carries */
#define POOR_LASTS (2 * FMX_SECOND)
#define LOSES (20 * FMX_SECOND) /* those of full queues, too: token bucket 93: 89 */

double
fmx_shortq_loss_floor_bps (const FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;

  if (s->n_poor < POOR_EVENTS
      || fmx_time_diff (now, s->poor_time) > POOR_TIME
      || fmx_time_diff (now, s->poor_since) < POOR_LASTS
      || (s->own_time > s->foreign_time
          && fmx_time_diff (now, s->own_time) < OWN_TIME))
    return 0.0;
  return FLOOR * fmx_shortq_tcp_bps (rc, fb);
}

double
fmx_shortq_floor_bps (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  double bps = fmax (fmx_shortq_loss_floor_bps (rc, fb, now),
      fmx_shortq_least_bps (rc, fb, now));

  return fmin (bps, rc->params.max_bps);
}

/* Most of what the path carries is ours: nobody else can fill its queue for long. */
static bool
has_path (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  double got_bps = fmx_shortq_got_bps (rc, fb);

  return fmx_shortq_has_link (fb, got_bps)
      || (fb->bottleneck_bps > 0.0
      && got_bps >= OWN_PART * fb->bottleneck_bps);
}

bool
fmx_shortq_loses (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;

  return s->random_loss != FMX_TIME_NONE
      && fmx_time_diff (now, s->random_loss) < LOSES && !has_path (rc, fb);
}

/* It was sent after the last cut, at less than what had come through until then,
 * or long after the last step up: it is not our own rate that is too much. */
static bool
is_foreign_loss (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  const FmxRateShortqState *s = &rc->state.shortq;

  return !has_path (rc, fb)
      && fb->loss_event_sent >= s->cut_time
      && (rc->rate_bps <= fmax (NEAR_CEILING * s->cut_bps,
          MARGIN * rc->params.min_bps)
      || fmx_time_diff (fb->loss_event_sent, s->raised) > POOR_LASTS);
}

static void
note_poor (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;

  if (fmx_time_diff (now, s->poor_time) > POOR_TIME)
    s->n_poor = 0;
  if (s->n_poor < POOR_EVENTS && !is_foreign_loss (rc, fb))
    return;
  if (rc->rate_bps >= (s->n_poor < POOR_EVENTS ? POOR : 1.0)
      * fmx_shortq_tcp_bps (rc, fb))
    return;
  if (s->n_poor++ == 0)
    s->poor_since = now;
  s->poor_time = now;
  s->poor_sent = fb->loss_event_sent;
}

/* A TCP that loses something gives way, and the queue falls.  Where it does not fall those
 * who fill it do not give way, and a TCP loses something again each round trip, though
 * small packets may find room all the time. */
static bool
stays_full (const FmxRateShortqState *s)
{
  return s->mode == FMX_RATE_SHORTQ_COMPETING && s->overflow_queue > 0
      && s->full_share >= SURELY
      && (double) fmx_queue_sense_standing (&s->queue)
      >= (double) s->overflow_queue
      - STILL_FULL * (double) fmx_queue_sense_peak (&s->queue);
}

/* A loss while the queue is near its highest is one of a full queue; TCP hears
 * of it a round trip later, and then comes the dip. */
void
fmx_shortq_note_loss (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  FmxDuration peak = fmx_queue_sense_peak (&s->queue);
  bool full = peak >= PEAK_MIN
      && fmx_queue_sense_recent (&s->queue) >= peak / 2;
  bool dip = fmx_queue_sense_take_dip (&s->queue) && !s->crest_noted;
  bool falling = fmx_queue_sense_is_falling (&s->queue);

  if (falling)
    s->crest_noted = false;
  if (fb->new_loss_event && full)
    s->overflow_queue = fmx_queue_sense_recent (&s->queue);
  else if (falling)
    s->overflow_queue = 0;
  if ((dip || (fb->new_loss_event && full) || stays_full (s))
      && fmx_full_queue_note (&s->full, fb->receive_bps, now))
    s->crest_noted = !falling;
  if (!fb->new_loss_event)
    return;
  s->loss_event = now;
  if (!full)
    s->random_loss = now;
  note_poor (rc, fb, now);
  s->full_share = s->full_known
      ? s->full_share + FULL_GAIN * (full - s->full_share) : full;
  s->full_known = true;
}

/* The rate is above X: down to it, but as a TCP not below half of what the
 * receiver gets within a round trip. */
void
fmx_shortq_obey (FmxRateController *rc, const FmxRateFeedback *fb,
    double allowed, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  double half_bps = HALF * fmx_shortq_got_bps (rc, fb);

  if (s->mode == FMX_RATE_SHORTQ_STARTING)
    fmx_shortq_enter (rc, FMX_RATE_SHORTQ_CALM, now);
  s->decided = now;
  if (fmx_time_diff (now, s->obeyed) < fb->rtt_median)
    return;
  if (s->mode == FMX_RATE_SHORTQ_COMPETING) {
    s->obeyed = now;
    fmx_shortq_lower (rc, fmax (allowed, half_bps), FMX_RATE_DOWN_LOSS);
  } else if (s->answered && fmx_shortq_may_halve (rc, fb, now)) {
    s->obeyed = now;
    fmx_shortq_halve (rc, fmax (allowed, half_bps), FMX_RATE_DOWN_LOSS, now);
  }
}

/* More than the loss limit is lost: the path became narrow.  First the rate
 * gives way, as a TCP's would; media stop only when at the least rate that
 * does not help. */
void
fmx_shortq_shed (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  FmxDuration since = fmx_time_diff (now, s->shed);
  double least = MARGIN * rc->params.min_bps;

  if (rc->rate_bps <= least && since > SHED_TELLS) {
    fmx_shortq_begin_to_probe (rc, now);
  } else if (rc->rate_bps > least && fmx_shortq_may_halve (rc, fb, now)
      && since > fb->rtt_median + fb->interval) {
    fmx_shortq_enter (rc, FMX_RATE_SHORTQ_STARTING, now);       /* as after a timeout */
    fmx_shortq_halve (rc, fmax (HALF * fmx_shortq_got_bps (rc, fb),
            least), FMX_RATE_DOWN_LOSS, now);
  }
}
