/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-queue-sense.h"

static void
add (FmxExtreme *e, FmxDuration value, FmxDuration window, int sign,
    FmxTime now)
{
  if (!e->valid) {
    e->valid = true;
    e->now = e->before = value;
    e->start = now;
    return;
  }
  if (fmx_time_diff (now, e->start) > window) {
    e->before = e->now;
    e->now = value;
    e->start = now;
  }
  if (sign * value > sign * e->now)
    e->now = value;
}

static FmxDuration
get (const FmxExtreme *e, int sign)
{
  return sign * e->now > sign * e->before ? e->now : e->before;
}

void
fmx_queue_sense_add (FmxQueueSense *sense, FmxDuration sample,
    FmxDuration window, FmxTime now)
{
  if (window < FMX_QUEUE_SENSE_WINDOW_MIN)
    window = FMX_QUEUE_SENSE_WINDOW_MIN;
  add (&sense->base, sample, FMX_QUEUE_SENSE_BASE_WINDOW, -1, now);
  add (&sense->least, sample, window, -1, now);
  add (&sense->most, sample, window, 1, now);
  add (&sense->peak, sample, FMX_QUEUE_SENSE_PEAK_WINDOW, 1, now);
}

static FmxDuration
above_base (const FmxQueueSense *sense, const FmxExtreme *e, int sign)
{
  FmxDuration queue = get (e, sign) - get (&sense->base, -1);

  return e->valid && queue > 0 ? queue : 0;
}

FmxDuration
fmx_queue_sense_standing (const FmxQueueSense *sense)
{
  return above_base (sense, &sense->least, -1);
}

FmxDuration
fmx_queue_sense_recent (const FmxQueueSense *sense)
{
  return above_base (sense, &sense->most, 1);
}

FmxDuration
fmx_queue_sense_peak (const FmxQueueSense *sense)
{
  return above_base (sense, &sense->peak, 1);
}

void
fmx_queue_sense_restart (FmxQueueSense *sense)
{
  sense->least.valid = false;
  sense->most.valid = false;
}
