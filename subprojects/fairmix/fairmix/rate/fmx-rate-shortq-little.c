/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "fairmix/rate/fmx-rate-shortq-private.h"

/* Who has little of what the path carries, and sees a queue.  If it is that of TCPs, to give
 * way leaves next to nothing.  If it is that of bundles like ours, whoever has more gives
 * way, or all do a little; if all competed, they would keep it full themselves. */

#define LITTLE_TIMES 1.1        /* what one of many has: eight of ours have 1.125 each; 1.5:
                                 * their queues 0.2 to 1.9 s, not 0.03 to 0.1 */
#define SMALL_TIMES 3.0         /* ... a third of the path: own flows 77: 81 without, 83 */
#define SMALL_WAITS (500 * FMX_MSECOND) /* who has more hears of the queue within that */
#define LEAST_WAITS (3 * FMX_SECOND)    /* of 150 own flows of at least 42 kbit/s 16 kept a queue
                                         * of 0.2 s and more without, 11 do with it, most of
                                         * them for the link carries no more */
#define LEANS (600 * FMX_MSECOND)       /* it was heard what the last one did */
#define LEAN 0.9
#define STANDS (4 * FMX_SECOND) /* our own kind has drained it by then; 2: 0.2 to 1.9 s */
#define CONSTANT_TIME (60 * FMX_SECOND) /* who shares it keeps a rate, and gives no way */
#define MOVES (20 * FMX_MSECOND)
#define GREW (2 * FMX_SECOND)   /* figures 4 to 6 were heard with PESQ 3.14 and 3.14 where who has the
                                 * least rate competes after LEAST_WAITS, 3.30 and 3.30 so */
#define SINKS (20 * FMX_SECOND) /* by MOVES, where a thousandth of the path is left to drain it */
#define LOST (5 * FMX_SECOND)   /* bundles alone lose nothing; never: managed 83: 69 */

bool
fmx_shortq_is_beside_constant (const FmxRateController *rc, FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;

  return s->constant_time > 0
      && fmx_time_diff (now, s->constant_time) < CONSTANT_TIME
      && (s->loss_event == FMX_TIME_NONE || s->loss_event < s->constant_time);
}

double
fmx_shortq_least_bps (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  double path_bps = fmax (fb->path_bps, fmin (fb->bottleneck_bps,
          fb->train_bps));

  if (fmx_shortq_is_beside_constant (rc, now))
    return 0.0;
  return path_bps / FMX_FULL_QUEUE_FLOWS;
}

bool
fmx_shortq_has_little (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  return fmx_shortq_got_bps (rc, fb)
      < LITTLE_TIMES * fmx_shortq_least_bps (rc, fb, now);
}

static bool
has_just_lost (const FmxRateShortqState *s, FmxTime now)
{
  return s->loss_event != FMX_TIME_NONE
      && fmx_time_diff (now, s->loss_event) < LOST;
}

bool
fmx_shortq_is_kept (const FmxRateController *rc, FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;

  return fmx_time_diff (now, s->long_since) >= STANDS || has_just_lost (s, now);
}

void
fmx_shortq_note_growth (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  FmxDuration standing = fmx_queue_sense_standing (&s->queue);

  if (fb->acked_sent < s->drain_start) {
    s->least_queue = s->most_queue = standing;
  } else if (standing > s->least_queue + MOVES) {
    s->least_queue = standing;
    s->grew_time = now;
  } else if (standing < s->most_queue - MOVES) {
    s->most_queue = standing;
    s->sank_time = now;
  }
  if (standing < s->least_queue)
    s->least_queue = standing;
  if (standing > s->most_queue)
    s->most_queue = standing;
}

/* TCPs grow until something is lost.  Who keeps a rate leaves a queue that stands, or
 * drains as slowly as our least rate lets it; whoever keeps it where it is, for long, does
 * so whatever we send. */
static bool
is_taken (const FmxRateShortqState *s, FmxTime now)
{
  return fmx_time_diff (now, s->grew_time) < GREW
      || (fmx_time_diff (now, s->long_since) >= SINKS
      && fmx_time_diff (now, s->sank_time) >= SINKS);
}

bool
fmx_shortq_has_to_compete (const FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;

  return fb->has_teeth || has_just_lost (s, now)
      || (fmx_time_diff (now, s->long_since) >= LEAST_WAITS
      && is_taken (s, now));
}

/* A tenth less now and then: eight who do that leave room for a queue to drain. */
static void
lean_back (FmxRateController *rc, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  FmxTime last = s->decided > s->long_since ? s->decided : s->long_since;

  if (fmx_time_diff (now, last) < LEANS)
    return;
  s->decided = now;
  fmx_shortq_lower (rc, LEAN * rc->rate_bps, FMX_RATE_DOWN_DELAY);
}

bool
fmx_shortq_lets_others_go_first (FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;

  if (fb->has_teeth || fmx_shortq_is_kept (rc, now))
    return false;
  if (fmx_shortq_has_little (rc, fb, now)) {
    lean_back (rc, now);
    return true;
  }
  return fmx_shortq_got_bps (rc, fb) < SMALL_TIMES * fmx_shortq_least_bps (rc,
      fb, now)
      && fmx_time_diff (now, s->long_since) < SMALL_WAITS;
}
