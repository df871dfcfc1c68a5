/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "fairmix/rate/fmx-rate-shortq-private.h"

#define FLOOR_TELLS (400 * FMX_MSECOND) /* and a round trip: what came of a step */
#define FLOOR_TIME (3 * FMX_SECOND)     /* of two steps to the floor */
#define FLOOR_GAIN 0.1          /* of what is sent more arrives, or ... */
#define FLOOR_VAIN 4u           /* ... so often in a row it does not */
#define FLOOR_PART 0.7          /* of what the path carries: more, and the queue is ours;
                                 * [0, -0.4] as below, alone 79: 79, 75 */
#define START_RTTS 2.5
#define START_QUEUES 2.0        /* who was there before gives way first */
#define OWN_HOLD FMX_SECOND     /* a last packet may be late by chance: not for ever */

/* "[a, b]": percentage points that the mean of all families gains where the constant
 * is halved, and doubled, and what that comes from (tests/sim/constants.py, 24 tuned
 * draws of each: a draw is 4 points of its family and 0.5 of the mean). */
#define STEP_BPS 16000.0        /* the first, then it doubles: [-2.7, -0.8]; steps
                                 * 62: 42, 71, alone 79: 79, 71 */
#define STEP_SHARE 0.0625       /* or so much of the rate: [1.4, 1.3]; alone 79: 92, 71,
                                 * managed 50: 54, 62 */
#define STEP_MAX_SHARE 0.25     /* and no more: [-1.8, -2.9]; steps 62: 50, 54, alone
                                 * 79: 79, 67, own flows 96: 96, 83 */
#define NEAR_STEPS 2u           /* at the ceiling, until they double: [1.3, 0]; steps 71:
                                 * 75, 67; where they never did, of 48 draws: steps 67: 65 */
#define NEAR_SHARE 0.02         /* and no more: 20 ms of queue in a second, a limit's worth;
                                 * [-0.6, 1.3], steps 71: 62, 75 */
#define HEARD_MAX (100 * FMX_MSECOND)   /* a longer pause is an exception: [0, 0] */
#define STEP_SHOWS 0.05         /* a smaller step shows as soon, 600 ms at most: [-0.6, 0] */
#define SHOWS_MAX_S 0.03        /* half of 60 ms: a few packets of a slow link are no queue;
                                 * [-0.9, -0.6], alone 79: 75, 79 */
#define EMPTY_TIME (4 * FMX_SECOND)     /* no packet has met a queue for so long, ... */
#define EMPTY_PART 0.5          /* ... and so much of a path that is known is left to two; own
                                 * flows 81: 94, held out 83: 94; 0.22 81, 0.33 85; after 1 s 98,
                                 * and many 17: 0, not 17 */
#define EMPTY_GROWTH 1.125
#define CAUGHT_UP 0.9           /* of the equation's rate.  In time, 96 tuned draws, lossy: without
                                 * 56, at 0.7 74, 79; faster by a half each time 83, managed
                                 * inside 83: 80 */
#define NO_QUEUE_TIME (2 * FMX_SECOND)  /* 1 s: packets inside 75: 72 */
#define STAYS (2 * FMX_SECOND)  /* so long, half too long is too long: [0.6, 0.4] */

/* A small step first, then twice as much each time, up to a stream; small steps
 * at the ceiling; where it has moved, up to a part of the rate. */
static double
step_bps (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  const FmxRateShortqState *s = &rc->state.shortq;
  double small = fmin (STEP_BPS, STEP_SHARE * rc->rate_bps);
  double step = fmin (STEP_MAX_SHARE * rc->rate_bps,
      ldexp (small, (int) s->n_steps));
  double near =
      fmax (small, fmin (ldexp (small, (int) (s->n_near / NEAR_STEPS)),
          NEAR_SHARE * rc->rate_bps));

  if (s->ceiling_bps <= 0.0
      || rc->rate_bps + step <= NEAR_CEILING * s->ceiling_bps)
    return fmin (step, fmin (fb->stream_bps, STEP_MAX_BPS));
  return fmx_shortq_is_past_ceiling (rc) ? step : near;
}

/* The ceiling is not tried again until then. */
static FmxTime
holds_until (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  const FmxRateShortqState *s = &rc->state.shortq;

  return fb->link_bps > 0.0 ? s->hold_until : s->hold_unknown_until;
}

/* When feedback tells of what was sent after the last step */
static FmxDuration
heard_after (const FmxRateFeedback *fb)
{
  return fb->rtt + (fb->interval_mean < HEARD_MAX ? fb->interval_mean
      : HEARD_MAX);
}

/* ... and half of too long a queue would stand: beyond the link by the share x it grows
 * by x seconds in a second. */
FmxDuration
fmx_shortq_shows_after (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  double queue_s = fmin (SHOWS_MAX_S,
      fmx_time_to_s (fmx_shortq_queue_limit (rc, fb)) / 2.0);

  return heard_after (fb)
      + fmx_time_from_s (queue_s / fmax (rc->state.shortq.step_share,
          STEP_SHOWS));
}

static void
climb (FmxRateController *rc, const FmxRateFeedback *fb, double allowed,
    FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  double bps = fmin (allowed, rc->rate_bps + step_bps (rc, fb));

  if (!fmx_shortq_is_due (rc, fb, rc->params.decision_interval_rtts, now)
      || (!fmx_shortq_is_shared (rc, now)
          && fmx_time_diff (now, s->decided) < fmx_shortq_shows_after (rc, fb)))
    return;
  s->decided = now;
  if (now < holds_until (rc, fb) && bps > NEAR_CEILING * s->ceiling_bps)
    return;
  if (fmx_shortq_may_be_hidden (rc))
    return;
  fmx_shortq_raise (rc, fb, bps, now);
  if (bps > NEAR_CEILING * s->ceiling_bps && s->n_near < 32)
    s->n_near++;
  if (s->n_steps < 8)
    s->n_steps++;
}

void
fmx_shortq_grow (FmxRateController *rc, const FmxRateFeedback *fb,
    double most_bps, double growth, FmxTime now)
{
  if (!fmx_shortq_is_due (rc, fb, START_RTTS, now)
      || fmx_time_diff (now, rc->state.shortq.decided)
      < heard_after (fb) + FMX_QUEUE_SENSE_WINDOW_MIN)
    return;
  rc->state.shortq.decided = now;
  rc->state.shortq.passed_bps = 0.0;    /* it was before that */
  fmx_shortq_raise (rc, fb, fmin (most_bps, growth * rc->rate_bps), now);
}

/* Where more is sent and no more arrives, nobody is there to share with. */
static void
step_to_floor (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  double asked = rc->rate_bps - s->floor_bps;

  if (!fmx_shortq_is_due (rc, fb, START_RTTS, now)
      || fmx_time_diff (now, s->floor_time) < fb->rtt_median + FLOOR_TELLS)
    return;
  if (fmx_time_diff (now, s->floor_time) < FLOOR_TIME && asked > 0.0) {
    bool in_vain = fb->receive_bps - s->floor_got_bps < FLOOR_GAIN * asked;

    s->n_in_vain = in_vain ? s->n_in_vain + 1 : 0;
    if (s->n_in_vain >= FLOOR_VAIN) {
      s->n_in_vain = s->n_poor = 0;
      s->own_time = now;
    }
  }
  s->decided = s->floor_time = now;
  s->floor_bps = rc->rate_bps;
  s->floor_got_bps = fb->receive_bps;
  fmx_shortq_raise (rc, fb, fmin (START_GROWTH * fmin (rc->rate_bps,
              START_GROWTH * fb->receive_bps),
          fmx_shortq_floor_bps (rc, fb, now)), now);
}

/* Losses let us have more, and yet a queue stands that is not all ours: whoever keeps
 * it there does not mind. */
static bool
others_keep_a_queue (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  return fmx_queue_sense_standing (&rc->state.shortq.queue)
      > fmx_shortq_queue_limit (rc, fb)
      && !fmx_shortq_has_link (fb, fmx_shortq_got_bps (rc, fb))
      && (fb->bottleneck_bps <= 0.0 || fmx_shortq_got_bps (rc, fb)
      < FLOOR_PART * fb->bottleneck_bps);
}

/* Who starts bears twice the queue, for who was there before gives way first; but not
 * where packets are lost, as a full one may be no longer. */
static double
queues_borne (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;
  bool loses = s->loss_event != FMX_TIME_NONE
      && fmx_time_diff (now, s->loss_event) < fb->rtt_median + FLOOR_TELLS;

  return s->mode == FMX_RATE_SHORTQ_STARTING && !loses ? START_QUEUES : 1.0;
}

/* It has stood for long, or it is longer than is borne. */
static bool
is_too_long (const FmxRateController *rc, const FmxRateFeedback *fb, double own,
    FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;

  return fmx_time_diff (now, s->long_since) > STAYS || own > 1.0
      || (double) fmx_queue_sense_standing (&s->queue)
      > queues_borne (rc, fb, now) * (double) fmx_shortq_queue_limit (rc, fb);
}

/* A queue shows that may go: somebody else may give way. */
static bool
is_to_wait (const FmxRateController *rc, const FmxRateFeedback *fb, double own,
    FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;

  return fmx_queue_sense_standing (&s->queue)
      > fmx_shortq_queue_limit (rc, fb) / 2
      || (own > HALF && fmx_time_diff (now, s->raised) < OWN_HOLD);
}

/* What the path carries became known while others filled it, and nothing stands there now:
 * the ceiling was theirs as well.  Returns: whether the rate grows faster than by steps */
static bool
take_what_is_empty (FmxRateController *rc, const FmxRateFeedback *fb,
    double allowed, FmxTime now)
{
  double most_bps = fmin (allowed, EMPTY_PART * fb->path_bps);

  FmxRateShortqState *s = &rc->state.shortq;

  if (rc->rate_bps >= most_bps || fmx_time_diff (now, s->met_time) <= EMPTY_TIME
      || fmx_shortq_is_beside_constant (rc, now))
    return false;
  fmx_shortq_grow (rc, fb, most_bps, EMPTY_GROWTH, now);
  return true;
}

/* What is lost is lost for no queue: the equation alone tells what a TCP has there, and first
 * it tells of the one packet that was lost. */
static bool
catch_up (FmxRateController *rc, const FmxRateFeedback *fb, double allowed,
    FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;
  double most_bps = CAUGHT_UP * allowed;

  if (!rc->loses || s->overrun || fmx_shortq_is_beside_constant (rc, now)
      || fmx_time_diff (now, s->met_time) <= NO_QUEUE_TIME)
    return false;
  if (s->ceiling_bps > 0.0)
    most_bps = fmin (most_bps, NEAR_CEILING * s->ceiling_bps);
  if (rc->rate_bps >= most_bps)
    return false;
  fmx_shortq_grow (rc, fb, most_bps, START_GROWTH, now);
  return true;
}

/* Returns: whether something tells of room, and so the rate grows faster than by steps */
static bool
grows_fast (FmxRateController *rc, const FmxRateFeedback *fb, double allowed,
    FmxTime now)
{
  return fmx_shortq_take_pause (rc, fb, allowed, now)
      || take_what_is_empty (rc, fb, allowed, now)
      || catch_up (rc, fb, allowed, now)
      || fmx_shortq_take_room (rc, fb, allowed, now);
}

static void
start_or_recover (FmxRateController *rc, const FmxRateFeedback *fb,
    double allowed, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;

  if (s->mode != FMX_RATE_SHORTQ_STARTING)
    fmx_shortq_grow (rc, fb, fmin (allowed, s->recover_bps), START_GROWTH, now);
  else if (!fmx_shortq_take_free (rc, fb, allowed, now))
    fmx_shortq_grow (rc, fb, allowed, START_GROWTH, now);
}

static void
give_way (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  if (fmx_shortq_beside_bbr_bps (rc, fb, now) > rc->rate_bps)
    fmx_shortq_begin_to_compete (rc, fb, now);
  else if (rc->rate_bps > MARGIN * rc->params.min_bps)
    fmx_shortq_begin_to_drain (rc, fb, now);
  else if (!rc->drains_too && fmx_shortq_has_to_compete (rc, fb, now))
    fmx_shortq_begin_to_compete (rc, fb, now);
  rc->drains_too = false;
}

void
fmx_shortq_climb_or_drain (FmxRateController *rc,
    const FmxRateFeedback *fb, double allowed, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  bool starting = s->mode == FMX_RATE_SHORTQ_STARTING;
  double own = fmx_shortq_own_queue (rc, fb, now);

  fmx_shortq_note_excess (rc, fb, now);
  if (fmx_shortq_meets_full_queue (rc, fb, now))
    return;
  if (rc->drains_too) {
    give_way (rc, fb, now);
  } else if (!starting
      && rc->rate_bps < fmin (allowed, fmx_shortq_floor_bps (rc, fb, now))) {
    if (!others_keep_a_queue (rc, fb))
      step_to_floor (rc, fb, now);
    else if (fmx_shortq_is_kept (rc, now))
      fmx_shortq_begin_to_compete (rc, fb, now);
  } else if (rc->rate_bps > allowed) {
    fmx_shortq_obey (rc, fb, allowed, now);
  } else if (!s->halved_seen) {
    return;                     /* what is heard was sent before */
  } else if (is_too_long (rc, fb, own, now)) {
    give_way (rc, fb, now);
  } else if (is_to_wait (rc, fb, own, now)) {
    return;
  } else if (starting || rc->rate_bps < s->recover_bps) {
    start_or_recover (rc, fb, allowed, now);
  } else if (!grows_fast (rc, fb, allowed, now)) {
    climb (rc, fb, allowed, now);
  }
}
