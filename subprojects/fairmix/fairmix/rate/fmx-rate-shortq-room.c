/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "fairmix/rate/fmx-rate-shortq-private.h"

/* Room beyond the ceiling: what trains of padding tell of it (FmxRateTrain), and what a
 * token bucket feigns, as shapers have one: a path that was not used to the full passes
 * so many bytes at once, a train or what is sent too much, without a queue. */

#define WIDENED_MOST 4.0
#define ROOM 0.9                /* of what the path carries now */
#define GROWTH 1.5
#define LINK_PART 0.8           /* of what trains of 1/1024 s tell */
#define TRUE_WIDER 1.3          /* more came through than before: trains were right */
#define ANOTHER_PATH 1.6        /* of the ceiling; 1.3: own flows 77: 73, 2 tells as much */
#define DOUBT_MIN (60 * FMX_SECOND)
#define DOUBT_MAX (480 * FMX_SECOND)
#define HIDDEN_LEAST_S 0.2      /* so deep are most buckets of slow links ... */
#define HIDDEN_LEAST_BITS 128e3 /* ... and so much in bits; beyond, it is learnt */
#define HIDDEN_TIMES 1.5        /* 2: steps 85: 85, token bucket 73: 73 */
#define HIDDEN_MOST_S 1.0
#define HIDDEN_FADES 0.8
#define HIDDEN_BPS 320e3        /* up to 800, a link of 200 to 900 kbit/s used 0.79: 0.84 in real pipelines,
                                 * and 0.90 without; at all rates steps 88: 86 */
#define BEYOND 0.05             /* one step; 96 tuned draws: token bucket 83: 93, own flows 96: 95 */
#define STANDS_LONG FMX_SECOND  /* beside constant rates competing 0.28 -> 0.17 */
#define LOOK_TIMES 2.0          /* the rate: somebody else has as much */
#define CHECK_MOST_BPS 3.5e6    /* what is nine times as wide no train tells */
#define CHECK_PART 0.33         /* thrice what one of many has */
#define ASKS 0.6                /* of the ceiling: less says nothing of what stands there */

/* Whoever fills it gave way once, or has filled it for long, or nobody knows what the path
 * carries. */
static bool
is_filled_by_others (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;

  return s->mode == FMX_RATE_SHORTQ_COMPETING
      && (s->full.n_epochs > 0 || fb->bottleneck_bps <= 0.0
      || fmx_time_diff (now, s->long_since) >= STANDS_LONG)
      && fmx_queue_sense_standing (&s->queue)
      > fmx_shortq_queue_limit (rc, fb) / 2;
}

/* A queue showed, or was full when the first packet came to it, and trains that are made for
 * the rate are over at once: the path carries far more than that and others fill it, or a
 * bucket let them pass.  While a queue of our own drains a train would fill it anew, as it
 * would beside who keeps a rate. */
static bool
may_have_little (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;

  return s->mode != FMX_RATE_SHORTQ_COMPETING
      && s->mode != FMX_RATE_SHORTQ_DRAINING
      && (s->ceiling_bps > 0.0 || fmx_shortq_has_lost (s, now))
      && !fmx_shortq_is_beside_constant (rc, now)
      && fb->link_bps <= 0.0 && fb->bottleneck_bps <= 0.0
      && rc->rate_bps < CHECK_MOST_BPS
      && (fb->path_bps <= 0.0 || rc->rate_bps < CHECK_PART * fb->path_bps);
}

/* So much more than the ceiling comes through, and again so much more. */
static void
note_wider (FmxRateController *rc, const FmxRateFeedback *fb)
{
  FmxRateShortqState *s = &rc->state.shortq;
  double came_bps = fmin (fb->receive_bps, rc->rate_bps);

  if (s->mode == FMX_RATE_SHORTQ_COMPETING || s->ceiling_bps <= 0.0
      || came_bps <= ANOTHER_PATH * s->widest_bps)
    return;
  s->widest_bps = came_bps;
  rc->has_widened = true;
}

void
fmx_shortq_note_room (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;

  note_wider (rc, fb);
  rc->ask_bps = rc->look_bps = rc->try_bps = 0.0;
  rc->check_bps =
      may_have_little (rc, fb, now) ? LOOK_TIMES * rc->rate_bps : 0.0;
  if (is_filled_by_others (rc, fb, now))
    rc->look_bps = fb->bottleneck_bps > 0.0 ? fb->bottleneck_bps
        : LOOK_TIMES * rc->rate_bps;
  rc->has_little = rc->rate_bps < (rc->look_bps > 0.0
      ? CHECK_PART * fb->path_bps : fmx_shortq_least_bps (rc, fb, now));
  if (s->mode == FMX_RATE_SHORTQ_COMPETING)
    s->room_bps = 0.0;
  if (s->mode == FMX_RATE_SHORTQ_COMPETING || s->ceiling_bps <= 0.0
      || fb->widened <= 1.0 || now < s->doubt_until)
    return;
  s->room_from_bps = s->ceiling_bps;
  s->ceiling_bps *= fmin (fb->widened, WIDENED_MOST);
  s->room_bps = ROOM * s->ceiling_bps;
  s->hold_until = s->hold_unknown_until = s->decided = now;
}

void
fmx_shortq_note_no_room (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  double came_bps = fmx_shortq_used_bps (rc, fb);

  if (s->room_bps > 0.0 && came_bps < TRUE_WIDER * s->room_from_bps) {
    s->doubt = s->doubt == 0 ? DOUBT_MIN : 2 * s->doubt;
    if (s->doubt > DOUBT_MAX)
      s->doubt = DOUBT_MAX;
    s->doubt_until = now + (FmxTime) s->doubt;
    s->ceiling_bps = s->room_from_bps;
  }
  s->room_bps = 0.0;
}

/* ... and the queue that so much beyond it makes would show by now */
bool
fmx_shortq_is_past_ceiling (const FmxRateController *rc)
{
  const FmxRateShortqState *s = &rc->state.shortq;
  double least_s = fmin (HIDDEN_LEAST_S, HIDDEN_LEAST_BITS / s->ceiling_bps);

  return rc->rate_bps > (1.0 + SAME_CEILING) * s->ceiling_bps
      && s->beyond_s >= fmax (least_s, HIDDEN_TIMES * s->hidden_s);
}

/* On a slow link a few of the least steps are a fifth of the rate: when the bucket is empty
 * that is a queue of 0.1 s before it is known.  One step shows as late as the last time. */
bool
fmx_shortq_may_be_hidden (const FmxRateController *rc)
{
  const FmxRateShortqState *s = &rc->state.shortq;

  return s->has_bucket && s->ceiling_bps > 0.0 && rc->rate_bps < HIDDEN_BPS
      && rc->rate_bps > (1.0 + BEYOND) * s->ceiling_bps
      && s->beyond_s < s->hidden_s;
}

void
fmx_shortq_note_hidden (FmxRateController *rc)
{
  FmxRateShortqState *s = &rc->state.shortq;

  if (s->ceiling_bps > 0.0
      && s->drain_most_bps < (1.0 + SAME_CEILING) * s->ceiling_bps)
    s->hidden_s = fmin (fmax (HIDDEN_FADES * s->hidden_s, s->beyond_s),
        HIDDEN_MOST_S);
}

bool
fmx_shortq_has_link (const FmxRateFeedback *fb, double bps)
{
  return fb->link_bps > 0.0 && bps > LINK_PART * fb->link_bps;
}

/* At a ceiling of which trains say that it is all of the link a step is a trial each time. */
void
fmx_shortq_note_lasting (FmxRateController *rc, const FmxRateFeedback *fb)
{
  const FmxRateShortqState *s = &rc->state.shortq;
  double lasts_bps = NEAR_CEILING * s->ceiling_bps;

  rc->tried_from_bps = s->mode == FMX_RATE_SHORTQ_CALM
      && rc->rate_bps > lasts_bps
      && rc->rate_bps <= (1.0 + SAME_CEILING) * s->ceiling_bps
      && fmx_shortq_has_link (fb, fmx_shortq_got_bps (rc, fb)) ? lasts_bps : 0.0;
}

bool
fmx_shortq_take_room (FmxRateController *rc, const FmxRateFeedback *fb,
    double allowed, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;

  if (s->ceiling_bps > 0.0 && rc->rate_bps > ASKS * s->ceiling_bps
      && fb->sent_bps > HALF * rc->rate_bps && fb->own_queue <= 0)
    rc->ask_bps = rc->rate_bps;
  if (s->room_bps <= 0.0)
    return false;
  if (rc->rate_bps >= NEAR_CEILING * s->room_bps) {
    /* noise looks like a little more: who parts by it parts in vain; noise, changes 78: 82 */
    rc->has_widened = s->room_bps > ROOM * TRUE_WIDER * s->room_from_bps;
    s->room_bps = 0.0;
    s->doubt = 0;
    return false;
  }
  fmx_shortq_grow (rc, fb, fmin (allowed, s->room_bps), GROWTH, now);
  return true;
}
