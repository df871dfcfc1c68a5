/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "fairmix/rate/fmx-rate-shortq-private.h"

/* The path has become narrow: a queue of seconds, or of all that is lost, is what comes of
 * each round trip in which the rate stays what it was. */

#define CHOKED (1.0 / 3.0)      /* of what is sent comes through ... */
#define CHOKED_ALONE 0.5        /* ... where nobody else is: in 14 of 48 draws of steps the queue
                                 * was longer than 60 ms at the 95th percentile, with it in 4 */
#define ROW_TIMES 1.5           /* of others, some stand between; where they count as a narrow
                                 * link web has 0.12 at the 5th percentile: 0.43 */
#define MIX_TIMES 2.0           /* the least rate, which has 4.75 kbit/s for voices: with 6 three of
                                 * five tones were not heard, with 16 all were */
#define CHOKED_QUEUE (30 * FMX_MSECOND) /* ... and so long a queue is before each packet */

/* No such queue was there of late.  What was lost since may have been our own doing. */
static bool
seems_alone (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;

  return fmx_queue_sense_latest (&s->queue) + fb->delay_spread
      >= fmx_queue_sense_peak (&s->queue)
      && s->mode != FMX_RATE_SHORTQ_COMPETING
      && !fmx_shortq_is_shared (rc, now);
}

bool
fmx_shortq_is_alone (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  return fb->row_bps <= ROW_TIMES * fb->latest_bps
      && seems_alone (rc, fb, now)
      && !fmx_shortq_has_lost (&rc->state.shortq, now);
}

/* Returns: the queue before each packet that this feedback tells of; alone, before the last
 * one, for a queue that somebody else fills may have gone by then */
static FmxDuration
queue_before (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  FmxDuration least = fmx_queue_sense_latest (&rc->state.shortq.queue);

  return fmx_shortq_is_alone (rc, fb, now) ? least + fb->delay_spread : least;
}

/* All that came since the feedback before stood in a queue, and it is far less than is
 * sent: the path has become narrow.  What it loses will be known only when the
 * queue has let through what came before. */
static bool
is_choked (const FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  double sent_bps = fmin (fb->sent_bps, rc->rate_bps);
  double part = fmx_shortq_is_alone (rc, fb, now) ? CHOKED_ALONE : CHOKED;

  return fb->latest_bps > 0.0 && fb->latest_bps < part * sent_bps
      && queue_before (rc, fb, now) > CHOKED_QUEUE;
}

/* What came before the fall, in the same feedback, need not hide it. */
static bool
is_choked_of_late (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  double sent_bps = fmin (fmin (fb->sent_bps, rc->rate_bps),
      fb->tail_left_bps);

  return rc->params.max_hold > 0 && fb->tail_bps > 0.0
      && fb->tail_bps < CHOKED_ALONE * sent_bps && seems_alone (rc, fb, now)
      && fmx_queue_sense_beyond_latest (&rc->state.shortq.queue,
      fb->delay_spread) > CHOKED_QUEUE;
}

/* Returns: what comes through of far more, now; 0 if it does not, or nobody knows */
static double
choked_bps (const FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  if (is_choked_of_late (rc, fb, now))
    return fb->tail_bps;
  return is_choked (rc, fb, now) ? fb->latest_bps : 0.0;
}

/* Returns: the queue that has to go before a cut is taken back; with a hold that before the
 * last packet: the first may have left before the fall */
static FmxDuration
queue_now (const FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  return fmx_rate_hold_is_on (&rc->hold) || fmx_rate_hold_took (&rc->hold) > 0
      ? fmx_queue_sense_beyond_latest (&rc->state.shortq.queue,
      fb->delay_spread) : queue_before (rc, fb, now);
}

/* It was no path that became narrow: before the cut can have shown, the queue is gone.
 * Something stood still for a moment.  If that lost something it is one loss event. */
void
fmx_shortq_take_back_choked (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  bool lost = s->loss_event != FMX_TIME_NONE && s->loss_event >= s->cut_time;
  double bps = lost ? HALF * s->choked_from_bps : s->choked_from_bps;

  if (s->choked_from_bps <= 0.0 || !fb->heard)
    return;
  if (!s->halved_seen && queue_now (rc, fb, now) >= CHOKED_QUEUE / 2)
    return;
  if (!s->halved_seen && bps > rc->rate_bps) {
    if (s->mode == FMX_RATE_SHORTQ_DRAINING && s->n_drains == 0)
      fmx_shortq_enter (rc, FMX_RATE_SHORTQ_CALM, now);
    fmx_rate_hold_end (&rc->hold, now);
    fmx_shortq_note_burst (rc, now);
    fmx_rate_controller_set (rc, bps, FMX_RATE_UP);
  }
  s->choked_from_bps = 0.0;
}

/* Returns: what comes through, where that is much less than is sent and not by chance;
 * otherwise 0 */
static double
overrun_bps (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;
  bool lost = s->loss_event != FMX_TIME_NONE && !fb->loss_is_late
      && fb->loss_event_sent >= s->halved
      && fmx_time_diff (now, s->loss_event) <= fb->rtt_median;

  if (choked_bps (rc, fb, now) > 0.0)
    return choked_bps (rc, fb, now);
  return lost && fb->receive_bps <= OVERRUN * fmin (fmx_shortq_left_bps
      (fb), rc->rate_bps) ? fb->receive_bps : 0.0;
}

/* Returns: how long a queue there will be when a cut shows, if the path has become narrow:
 * with what has left since the last packet that is known of */
static double
queue_to_come_s (const FmxRateController *rc, const FmxRateFeedback *fb,
    double came_bps, FmxTime now)
{
  double beyond = fmin (fb->sent_bps, rc->rate_bps) / came_bps - 1.0;

  return fmx_time_to_s (queue_before (rc, fb, now))
      + beyond * fmx_time_to_s (fmx_time_diff (now, fb->acked_sent));
}

/* Alone, and so the queue is our own: a cut that drains it soon, but leaves a mix what it
 * needs to be understood.
 * Returns: to what part of what comes through */
static double
cut_of (const FmxRateController *rc, const FmxRateFeedback *fb, double queue_s,
    FmxTime now)
{
  double soon = fmax (HALF, 1.0 - queue_s / DRAINS_WITHIN_S);

  if (!fmx_shortq_is_alone (rc, fb, now))
    return CUT_OWN;
  return fmin (CUT_OWN, fmax (soon, MIX_TIMES * rc->params.min_bps
          / fb->latest_bps));
}

/* Whether it is the path that has become narrow, or somebody's burst that passes, tells
 * what our own cut has drained when the queue is gone. */
static void
give_way_choked (FmxRateController *rc, const FmxRateFeedback *fb,
    double came_bps, FmxTime now)
{
  double queue_s = queue_to_come_s (rc, fb, came_bps, now);
  double from_bps = rc->rate_bps;
  bool holds = rc->params.max_hold > 0 && (fmx_shortq_is_alone (rc, fb, now)
      || is_choked_of_late (rc, fb, now));
  double cut = holds ? CUT_OWN : cut_of (rc, fb, queue_s, now);

  fmx_shortq_halve (rc, fmax (cut * came_bps, fmx_shortq_burst_bps (rc, now)),
      FMX_RATE_DOWN_LIMIT, now);
  fmx_shortq_drain_narrowed (rc, from_bps, came_bps, queue_s, now);
  if (holds)
    fmx_shortq_hold (rc, fb, from_bps, came_bps, now);
}

/* The path carries no more.  To a part of what it does carry, at once, whoever else is
 * there ([RFC5348 4.3]: X_recv * 0.85 after a loss). */
bool
fmx_shortq_overrun (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  double came_bps = overrun_bps (rc, fb, now);
  bool choked;

  if (!fb->heard || came_bps <= 0.0 || !fmx_shortq_may_halve (rc, fb, now)
      || rc->rate_bps < fmx_shortq_loss_floor_bps (rc, fb, now)
      || fmx_time_diff (now, s->shed) < 2 * fb->rtt_median)
    return false;
  choked = choked_bps (rc, fb, now) > 0.0;
  fmx_shortq_enter (rc, FMX_RATE_SHORTQ_CALM, now);
  s->decided = s->obeyed = now;
  s->cut_time = now;
  s->cut_bps = came_bps;
  rc->has_narrowed = s->overrun = true;
  s->choked_from_bps = choked ? rc->rate_bps : 0.0;
  if (choked)
    give_way_choked (rc, fb, came_bps, now);
  else
    fmx_shortq_halve (rc, CUT_OWN * came_bps, FMX_RATE_DOWN_LIMIT, now);
  return true;
}
