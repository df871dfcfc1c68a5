/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "fairmix/rate/fmx-rate-shortq-private.h"

/* What trains of padding tell: FmxRateTrain */

#define WIDENED_MOST 4.0
#define ROOM 0.9                /* of what the path carries now */
#define GROWTH 1.5
#define LINK_PART 0.8           /* of what trains of 1/1024 s tell */
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
