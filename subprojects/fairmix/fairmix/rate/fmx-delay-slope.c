/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-delay-slope.h"

#include <math.h>

#define PAUSE (500 * FMX_MSECOND)       /* nothing was sent: what came in between? */
#define TEETH_S 0.05            /* falls of so much, some dips of 12 ms or one great one */
#define TEETH_TIMES 3.0         /* and three quarters of what is steep are falls */

void
fmx_delay_slope_add (FmxDelaySlope *slope, FmxTime sent, FmxDuration delay)
{
  unsigned i;

  if (slope->n == FMX_DELAY_SLOPE_PACKETS)
    return;
  for (i = slope->n; i > 0 && slope->packets[i - 1].sent > sent; i--)
    slope->packets[i] = slope->packets[i - 1];
  slope->packets[i].sent = sent;
  slope->packets[i].delay = delay;
  slope->n++;
}

/* A queue cannot drain faster than time passes, so a steeper fall is that of a
 * clock that was set.  The least delay may be the first packet's or the last's:
 * twice the time. */
static void
compare (FmxDelaySlope *slope)
{
  FmxDuration took = fmx_time_diff (slope->start, slope->start_before);
  FmxDuration rise = slope->least - slope->least_before;
  double steep = FMX_DELAY_SLOPE_STEEP * (double) took;

  if (took > PAUSE || rise < -2 * took)
    return;
  if ((double) rise < -steep)
    slope->falls_s -= fmx_time_to_s (rise);
  else if ((double) rise > steep)
    slope->rises_s += fmx_time_to_s (rise);
}

static void
take (FmxDelaySlope *slope, FmxTime sent, FmxDuration delay)
{
  if (slope->n_since > 0 && sent < slope->start)
    return;
  if (slope->n_since > 0 && (slope->n_since < FMX_DELAY_SLOPE_LEAST
          || fmx_time_diff (sent, slope->start) < FMX_DELAY_SLOPE_TIME)) {
    slope->n_since++;
    if (delay < slope->least)
      slope->least = delay;
    return;
  }
  if (slope->n_since > 0 && slope->has_before)
    compare (slope);
  slope->has_before = slope->n_since > 0;
  slope->start_before = slope->start;
  slope->least_before = slope->least;
  slope->start = sent;
  slope->least = delay;
  slope->n_since = 1;
}

void
fmx_delay_slope_end (FmxDelaySlope *slope, FmxTime now)
{
  double passed_s = fmx_time_to_s (fmx_time_diff (now, slope->time));
  double keep = exp (-passed_s / FMX_DELAY_SLOPE_MEMORY_S);

  slope->falls_s *= keep;
  slope->rises_s *= keep;
  slope->time = now;
  for (unsigned i = 0; i < slope->n; i++)
    take (slope, slope->packets[i].sent, slope->packets[i].delay);
  slope->n = 0;
}

bool
fmx_delay_slope_has_teeth (const FmxDelaySlope *slope)
{
  return slope->falls_s > TEETH_S
      && slope->falls_s > TEETH_TIMES * slope->rises_s;
}
