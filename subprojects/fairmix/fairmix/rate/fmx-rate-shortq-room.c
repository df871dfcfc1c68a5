/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "fairmix/rate/fmx-rate-shortq-private.h"

/* What trains of padding tell: FmxRateTrain */

#define WIDENED_MOST 4.0
#define ROOM 0.9                /* of what the path carries now */
#define GROWTH 1.5
#define LINK_PART 0.8           /* of what trains of 1/1024 s tell */
#define FOREIGN_LATE (20 * FMX_SECOND)  /* as long as what lasts is remembered */
#define LOSS_LATE (10 * FMX_SECOND)     /* without, 24 draws: lossy, 18 % padding and not 7,
                                 * managed, 5.5 voices apart and not 6.5 */
#define ASKS 0.6                /* of the ceiling: less says nothing of what stands there */

void
fmx_shortq_note_room (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;

  rc->ask_bps = 0.0;
  if (s->mode == FMX_RATE_SHORTQ_COMPETING)
    s->room_bps = 0.0;
  if (s->mode == FMX_RATE_SHORTQ_COMPETING || s->ceiling_bps <= 0.0
      || fb->widened <= 1.0)
    return;
  s->ceiling_bps *= fmin (fb->widened, WIDENED_MOST);
  s->room_bps = ROOM * s->ceiling_bps;
  s->hold_until = s->decided = now;
}

bool
fmx_shortq_has_link (const FmxRateFeedback *fb, double bps)
{
  return fb->link_bps > 0.0 && bps > LINK_PART * fb->link_bps;
}

static bool
was_of_late (unsigned n, FmxTime time, FmxDuration late, FmxTime now)
{
  return n > 0 && fmx_time_diff (now, time) < late;
}

/* Nothing tells of a TCP: who competes takes what there is when there is. */
static bool
is_calm (const FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;

  return s->mode != FMX_RATE_SHORTQ_COMPETING
      && fmx_shortq_floor_bps (rc, fb, now) <= 0.0
      && !was_of_late (s->n_foreign, s->foreign_time, FOREIGN_LATE, now)
      && !was_of_late (s->n_foreign_queues, s->foreign_queue_time,
      FOREIGN_LATE, now)
      && !was_of_late (s->loss_event != FMX_TIME_NONE, s->loss_event,
      LOSS_LATE, now);
}

/* At a ceiling of which trains say that it is all of the link a step is a trial each time. */
void
fmx_shortq_note_lasting (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;
  double lasts_bps = NEAR_CEILING * s->ceiling_bps;

  rc->is_calm = is_calm (rc, fb, now);
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
  if (rc->rate_bps >= NEAR_CEILING * s->room_bps)
    s->room_bps = 0.0;
  if (s->room_bps <= 0.0)
    return false;
  fmx_shortq_grow (rc, fb, fmin (allowed, s->room_bps), GROWTH, now);
  return true;
}
