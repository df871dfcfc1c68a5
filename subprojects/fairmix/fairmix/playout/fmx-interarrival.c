/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/playout/fmx-interarrival.h"

#include <assert.h>
#include <string.h>

void
fmx_interarrival_params_default (FmxInterarrivalParams *params)
{
  params->gain = 1.0 / 16.0;
  params->feedback = 0.05;
  params->target = 1.0;
  params->max_gap = FMX_SECOND;
}

void
fmx_interarrival_init (FmxInterarrival *interarrival,
    const FmxInterarrivalParams *params)
{
  assert (params->gain > 0.0 && params->gain <= 1.0);
  assert (params->feedback >= 0.0 && params->feedback <= 0.25);

  memset (interarrival, 0, sizeof *interarrival);
  interarrival->params = *params;
  interarrival->mean = -1.0;
  interarrival->last_arrival = FMX_TIME_NONE;
  interarrival->last_due = FMX_TIME_NONE;
}

static void
track (FmxInterarrival *interarrival, FmxTime now)
{
  const FmxInterarrivalParams *params = &interarrival->params;
  FmxDuration gap;

  if (interarrival->last_arrival == FMX_TIME_NONE)
    return;
  gap = fmx_time_diff (now, interarrival->last_arrival);
  if (gap < 0 || gap > params->max_gap)
    return;
  if (interarrival->mean < 0.0)
    interarrival->mean = (double) gap;
  else
    interarrival->mean += params->gain * ((double) gap - interarrival->mean);
}

/* The time to the next playout, with @waiting until the last one */
static FmxDuration
interval (const FmxInterarrival *interarrival, FmxDuration waiting)
{
  const FmxInterarrivalParams *params = &interarrival->params;
  double mean = interarrival->mean;
  double n, factor;

  if (mean <= 0.0)
    return 0;
  n = (double) waiting / mean;
  factor = 1.0 - params->feedback * (n - params->target);
  if (factor < 0.5)
    factor = 0.5;
  if (factor > 2.0)
    factor = 2.0;
  return (FmxDuration) (mean * factor);
}

FmxTime
fmx_interarrival_on_packet (FmxInterarrival *interarrival, FmxTime now)
{
  FmxTime due = now;

  track (interarrival, now);
  if (interarrival->last_due != FMX_TIME_NONE) {
    FmxDuration waiting = fmx_time_diff (interarrival->last_due, now);

    /* after a pause there is no rhythm to keep */
    if (waiting > -interarrival->params.max_gap) {
      FmxTime next = interarrival->last_due + (FmxTime)
          interval (interarrival, waiting > 0 ? waiting : 0);

      if (next > now)
        due = next;
    }
  }
  interarrival->last_arrival = now;
  interarrival->last_due = due;
  return due;
}

FmxDuration
fmx_interarrival_mean (const FmxInterarrival *interarrival)
{
  return interarrival->mean > 0.0 ? (FmxDuration) interarrival->mean : 0;
}
