/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "fairmix/rate/fmx-rate-shortq-private.h"

/* Who fetches something fills the queue for a moment, and leaves the path to us until the
 * next time: such a queue says nothing of our rate.  Beside web 74 % of 144 tuned draws are
 * inside, 58 if what is empty meanwhile is not taken; "[a]" is what they are with another
 * constant. */

#define PART 0.5                /* of a queue of our own */
#define BURSTS 2u               /* so many passed, of late: another will; 1: [71] */
#define BURSTS_MOST 8u          /* that count against queues of our own: for 3, 4 and without a limit
                                 * 70, 71 and 72 % of 96 are inside, and 72 */
#define BURSTS_TIME (30 * FMX_SECOND)
#define CUT 0.7                 /* of the rate, for one that will; 0.5: [69], 0.8: [71] */
#define PASSES 0.3              /* so much of a second a queue falls by in a second; 0.2: [74], but
                                 * our own kind gives up a fifth of it */
#define TIMES 2.0               /* what our own cut explains */
#define COMES 1.2               /* of what came when the queue stood: what waited behind others
                                 * comes faster than it left; 1.1: [75], but without it late
                                 * talkers 100: 96, busy computer 98: 96 */
#define EMPTY (250 * FMX_MSECOND)       /* 500: [71] */

void
fmx_shortq_note_burst (FmxRateController *rc, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;

  if (fmx_time_diff (now, s->burst_time) > BURSTS_TIME)
    s->n_bursts = 0;
  if (s->n_bursts < BURSTS_MOST)
    s->n_bursts++;
  s->burst_time = now;
}

/* Returns: whether some have passed, of late: the next will, too */
static bool
expects_bursts (const FmxRateController *rc, FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;

  return s->n_bursts >= BURSTS
      && fmx_time_diff (now, s->burst_time) <= BURSTS_TIME;
}

double
fmx_shortq_burst_bps (const FmxRateController *rc, FmxTime now)
{
  return expects_bursts (rc, now) ? CUT * rc->rate_bps : 0.0;
}

void
fmx_shortq_begin_crest (FmxRateController *rc, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;

  s->crest_queue = fmx_queue_sense_latest (&s->queue);
  s->crest_time = now;
  s->fall_bps = 0.0;
}

void
fmx_shortq_follow_crest (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  FmxDuration latest = fmx_queue_sense_latest (&s->queue);

  s->fall_bps = fmax (s->fall_bps, fb->latest_bps);
  if (latest < s->crest_queue)
    return;
  s->crest_queue = latest;
  s->crest_time = now;
}

/* It was lost while we gave way for a path that seemed narrow. */
static bool
has_lost_since (const FmxRateShortqState *s)
{
  return s->n_drains == 0 && s->loss_event != FMX_TIME_NONE
      && s->loss_event >= s->drain_start;
}

/* The path seemed narrow, and of the queue that was to come of it our cut drains only a
 * part in the time.  A queue that is short loses the rest, and is what it was when the cut
 * showed. */
static bool
was_not_narrow (const FmxRateController *rc, FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;
  double part = rc->rate_bps / s->drain_bps;
  double drained_s = (1.0 - part)
      * fmx_time_to_s (fmx_time_diff (now, s->drain_start)) + part
      * fmx_time_to_s (fmx_rate_hold_took (&rc->hold));
  double queue_s = has_lost_since (s)
      ? fmin (s->narrow_s, fmx_time_to_s (s->drain_queue)) : s->narrow_s;

  return drained_s < PART * queue_s;
}

/* The queue fell faster than by our own cut, and our packets came faster than before: those
 * of somebody else, which stood between them, were gone. */
static bool
fell_by_itself (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;
  double path_bps = fmax (s->drain_bps, fmax (fb->link_bps, fb->path_bps));
  double own = fmax (s->drain_bps - fmin (rc->rate_bps, fb->sent_bps), 0.0)
      / path_bps;
  double fell_s = fmx_time_to_s (s->crest_queue);
  double time_s = fmx_time_to_s (fmx_time_diff (now, s->crest_time));

  return !s->drain_starts && s->fall_bps > COMES * s->drain_bps
      && fell_s > fmax (TIMES * own, PASSES) * time_s;
}

bool
fmx_shortq_was_a_burst (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  if (rc->state.shortq.n_drains == 0)
    return was_not_narrow (rc, now);
  return rc->state.shortq.n_drains == 1 && fell_by_itself (rc, fb, now);
}

/* What a burst lost is one loss event. */
void
fmx_shortq_take_back (FmxRateController *rc, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  double bps = has_lost_since (s) ? HALF * s->drain_from_bps
      : s->drain_from_bps;

  fmx_rate_hold_end (&rc->hold, now);
  fmx_shortq_note_burst (rc, now);
  fmx_shortq_enter (rc, FMX_RATE_SHORTQ_CALM, now);
  if (bps > rc->rate_bps)
    fmx_rate_controller_set (rc, bps, FMX_RATE_UP);
}

bool
fmx_shortq_take_pause (FmxRateController *rc, const FmxRateFeedback *fb,
    double allowed, FmxTime now)
{
  double path_bps =
      fmax (fmax (fb->path_bps, fb->link_bps), fb->bottleneck_bps);
  double most_bps = fmin (allowed,
      path_bps > 0.0 ? PAUSE_PART * path_bps : HUGE_VAL);

  if (!expects_bursts (rc, now) || rc->rate_bps >= most_bps
      || fmx_time_diff (now, rc->state.shortq.met_time) <= EMPTY)
    return false;
  fmx_shortq_grow (rc, fb, most_bps, START_GROWTH, now);
  return true;
}
