/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-queue-sense.h"

#include <math.h>

/* Packets of others come and go one by one: a quarter of a round trip. */
#define LEVEL_TIME 0.25

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

/* The turning points of the smoothed round trip.  Where none is left, a clock was set. */
static void
follow_level (FmxQueueSense *sense, double sample_s, FmxTime now)
{
  double passed_s = fmx_time_to_s (fmx_time_diff (now, sense->level_time));
  double dip_s = fmx_time_to_s (FMX_QUEUE_SENSE_DIP_MIN);

  sense->level_time = now;
  if (sample_s <= 0.0)
    return;
  if (sense->level_s <= 0.0)
    sense->level_s = sense->turn_s = sample_s;
  sense->level_s += (sample_s - sense->level_s)
      * (1.0 - exp (-passed_s / (LEVEL_TIME * sense->level_s)));
  dip_s = fmax (dip_s, FMX_QUEUE_SENSE_DIP * fmax (sense->turn_s,
          sense->level_s));
  if (sense->falling) {
    sense->turn_s = fmin (sense->turn_s, sense->level_s);
    if (sense->level_s > sense->turn_s + dip_s) {
      sense->falling = false;
      sense->turn_s = sense->level_s;
    }
  } else {
    sense->turn_s = fmax (sense->turn_s, sense->level_s);
    if (sense->level_s < sense->turn_s - dip_s) {
      sense->falling = sense->dipped = true;
      sense->turn_s = sense->level_s;
    }
  }
}

static void
shift (FmxExtreme *e, FmxDuration by)
{
  e->now += by;
  e->before += by;
}

/* The delay of the reverse path is known by what it was at its least.  When that is
 * another, all that was learnt of the way there would have been so much more, or
 * less. */
static void
add_reverse (FmxQueueSense *sense, FmxDuration reverse, FmxTime now)
{
  bool known = sense->reverse.valid;
  FmxDuration before = known ? get (&sense->reverse, -1) : 0, by;

  add (&sense->reverse, reverse, FMX_QUEUE_SENSE_BASE_WINDOW, -1, now);
  by = get (&sense->reverse, -1) - before;
  if (!known || by == 0)
    return;
  shift (&sense->base, by);
  shift (&sense->least, by);
  shift (&sense->most, by);
  shift (&sense->peak, by);
  sense->latest += by;
  sense->level_s += fmx_time_to_s (by);
  sense->turn_s += fmx_time_to_s (by);
}

/* Not below the base, if the whole is not: clocks are set now and then. */
static FmxDuration
without_reverse_queue (FmxQueueSense *sense, FmxDuration rtt,
    FmxDuration reverse, FmxTime now)
{
  FmxDuration there, base;

  add_reverse (sense, reverse, now);
  there = rtt - (reverse - get (&sense->reverse, -1));
  base = sense->base.valid ? get (&sense->base, -1) : rtt;
  if (there < base)
    return rtt < base ? rtt : base;
  return there;
}

void
fmx_queue_sense_add (FmxQueueSense *sense, FmxDuration rtt, FmxDuration reverse,
    FmxDuration window, FmxTime now)
{
  FmxDuration sample = without_reverse_queue (sense, rtt, reverse, now);

  if (window < FMX_QUEUE_SENSE_WINDOW_MIN)
    window = FMX_QUEUE_SENSE_WINDOW_MIN;
  add (&sense->base, sample, FMX_QUEUE_SENSE_BASE_WINDOW, -1, now);
  add (&sense->least, sample, window, -1, now);
  add (&sense->most, sample, window, 1, now);
  add (&sense->peak, sample, FMX_QUEUE_SENSE_PEAK_WINDOW, 1, now);
  sense->latest = sample;
  follow_level (sense, fmx_time_to_s (sample), now);
}

static FmxDuration
above_base (const FmxQueueSense *sense, const FmxExtreme *e, int sign)
{
  FmxDuration queue = get (e, sign) - get (&sense->base, -1);

  return e->valid && queue > 0 ? queue : 0;
}

void
fmx_queue_sense_add_spread (FmxQueueSense *sense, FmxDuration spread,
    FmxDuration packets, FmxTime now)
{
  double passed = (double) fmx_time_diff (now, sense->noise_time);
  double noise_s = FMX_QUEUE_SENSE_NOISE_TIMES * fmx_time_to_s (spread)
      - fmx_time_to_s (packets);

  sense->noise_s += (fmax (noise_s, 0.0) - sense->noise_s)
      * fmin (passed / (double) FMX_QUEUE_SENSE_NOISE_TIME, 0.25);
  sense->noise_time = now;
}

void
fmx_queue_sense_set_own (FmxQueueSense *sense, FmxDuration own)
{
  sense->own = own;
}

static FmxDuration
above_noise (const FmxQueueSense *sense, FmxDuration queue)
{
  FmxDuration noise = fmx_time_from_s (sense->noise_s);

  if (noise > FMX_QUEUE_SENSE_NOISE_MAX)
    noise = FMX_QUEUE_SENSE_NOISE_MAX;
  noise += sense->own;
  return queue > noise ? queue - noise : 0;
}

FmxDuration
fmx_queue_sense_standing (const FmxQueueSense *sense)
{
  return above_noise (sense, above_base (sense, &sense->least, -1));
}

FmxDuration
fmx_queue_sense_latest (const FmxQueueSense *sense)
{
  return fmx_queue_sense_beyond_latest (sense, 0);
}

FmxDuration
fmx_queue_sense_beyond_latest (const FmxQueueSense *sense, FmxDuration more)
{
  return sense->base.valid ? above_noise (sense,
      sense->latest + more - get (&sense->base, -1)) : 0;
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

bool
fmx_queue_sense_take_dip (FmxQueueSense *sense)
{
  bool dipped = sense->dipped;

  sense->dipped = false;
  return dipped;
}

bool
fmx_queue_sense_is_falling (const FmxQueueSense *sense)
{
  return sense->falling;
}

void
fmx_queue_sense_restart (FmxQueueSense *sense)
{
  sense->least.valid = false;
  sense->most.valid = false;
}
