/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-rate-fill.h"

#include <math.h>
#include <string.h>

#define PATIENCE (4 * FMX_SECOND)       /* steps of shortq come each second or sooner */
#define PAUSE_MIN (10 * FMX_SECOND)
#define PAUSE_MAX (40 * FMX_SECOND)
#define GROWN 1.03              /* the least step at a ceiling is 2 % */
#define WIDER 1.25              /* without padding: the path is another one */
#define FALLEN 0.97
#define BURST_PACKETS 1.5       /* saved up at most */
#define MEDIA_S 2.0
#define TAKEN 0.6               /* of what lasts; people who pause have 0.43 (ITU-T P.59);
                                 * 0.5: late talkers, 35 % padding, 0.7: steps 83 % inside */
#define MOST_TIMES 4.0          /* what one more stream wants, or what lasts: all of a wide link
                                 * is for nobody */
#define AHEAD_S 0.1             /* what media sent ahead counts: many voices in step */

/* Streams wait until more lasts.  Either media uses what does, or there is enough for them
 * now, which only who sends it will keep where packets are lost. */
static bool
makes_up_a_gap (const FmxRateFill *fill)
{
  if (fill->lasting_bps <= 0.0)
    return false;
  return fill->media_bps >= TAKEN * fill->lasting_bps
      || (fill->loses && fill->lasting_bps < fill->wanted_bps
      && fill->rate_bps >= fill->wanted_bps);
}

static bool
is_on (const FmxRateFill *fill)
{
  if (fill->rate_bps <= 0.0 || fill->wanted_bps <= 0.0)
    return false;
  if (fill->others || makes_up_a_gap (fill))
    return true;
  return fill->until == 0 && fill->rate_bps < fill->wanted_bps;
}

static void
begin (FmxRateFill *fill, FmxTime now)
{
  fill->until = 0;
  fill->best_bps = fill->rate_bps;
  fill->grown = fill->last = now;
  fill->owed_bytes = 0.0;
}

static void
end (FmxRateFill *fill, FmxTime now)
{
  fill->pause = fill->pause == 0 ? PAUSE_MIN : 2 * fill->pause;
  if (fill->pause > PAUSE_MAX)
    fill->pause = PAUSE_MAX;
  fill->until = now + (FmxTime) fill->pause;
  fill->best_bps = fill->rate_bps;
}

void
fmx_rate_fill_init (FmxRateFill *fill, FmxTime now)
{
  memset (fill, 0, sizeof *fill);
  begin (fill, now);
}

void
fmx_rate_fill_set_wanted (FmxRateFill *fill, double bps, FmxTime now)
{
  bool was_on = is_on (fill);

  fill->wanted_bps = bps;
  if (fill->rate_bps >= bps)
    fill->pause = 0;
  if (!was_on && fill->until == 0)
    begin (fill, now);
}

void
fmx_rate_fill_on_rate (FmxRateFill *fill, double bps, FmxTime now)
{
  bool was_on = is_on (fill);

  fill->rate_bps = bps;
  if (bps >= fill->wanted_bps)
    fill->pause = 0;
  if (fill->until != 0) {
    if (now >= fill->until || bps > WIDER * fill->best_bps)
      begin (fill, now);
  } else if (!was_on) {
    begin (fill, now);
  } else if (bps > GROWN * fill->best_bps) {
    fill->best_bps = bps;
    fill->grown = now;
  } else if (fill->loses && bps < FALLEN * fill->best_bps) {
    begin (fill, now);
  } else if (bps < FALLEN * fill->best_bps
      || fmx_time_diff (now, fill->grown) > PATIENCE) {
    end (fill, now);
  }
}

void
fmx_rate_fill_go_on (FmxRateFill *fill, FmxTime now)
{
  if (fill->until != 0)
    begin (fill, now);
}

void
fmx_rate_fill_set_others (FmxRateFill *fill, bool others)
{
  fill->others = others;
}

void
fmx_rate_fill_set_loses (FmxRateFill *fill, bool loses)
{
  fill->loses = loses;
}

void
fmx_rate_fill_set_gap (FmxRateFill *fill, double bps, FmxTime now)
{
  bool was_on = is_on (fill);

  fill->lasting_bps = bps;
  if (was_on || !is_on (fill))
    return;
  fill->owed_bytes = 0.0;
  fill->last = now;
}

/* Media and padding together */
static double
fill_bps (const FmxRateFill *fill)
{
  return fmin (fill->rate_bps, MOST_TIMES * fmax (fill->wanted_bps,
          fill->lasting_bps));
}

static void
take (FmxRateFill *fill, uint32_t wire_bytes, FmxTime now)
{
  const double most = BURST_PACKETS * FMX_RATE_FILL_BYTES;
  const double ahead = fmax (most, AHEAD_S * fill->rate_bps / 8.0);
  double since_s = fmx_time_to_s (fmx_time_diff (now, fill->last));

  fill->owed_bytes = fmin (fill->owed_bytes + since_s * fill_bps (fill) / 8.0,
      most) - wire_bytes;
  if (fill->owed_bytes < -ahead)
    fill->owed_bytes = -ahead;
  fill->media_bps *= exp (-since_s / MEDIA_S);
  fill->last = now;
}

void
fmx_rate_fill_on_sent (FmxRateFill *fill, uint32_t wire_bytes, FmxTime now)
{
  take (fill, wire_bytes, now);
  fill->media_bps += 8.0 * wire_bytes / MEDIA_S;
}

void
fmx_rate_fill_on_padding (FmxRateFill *fill, FmxTime now)
{
  take (fill, FMX_RATE_FILL_BYTES, now);
}

FmxTime
fmx_rate_fill_next (const FmxRateFill *fill)
{
  double missing = FMX_RATE_FILL_BYTES - fill->owed_bytes;

  if (fill->until != 0 && !is_on (fill))
    return fill->wanted_bps > fill->rate_bps && fill->rate_bps > 0.0
        ? fill->until : FMX_TIME_NONE;
  if (!is_on (fill))
    return FMX_TIME_NONE;
  if (missing <= 0.0)
    return fill->last;
  return fill->last + 1
      + (FmxTime) fmx_time_from_s (missing * 8.0 / fill_bps (fill));
}
