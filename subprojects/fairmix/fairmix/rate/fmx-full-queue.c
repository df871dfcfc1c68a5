/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-full-queue.h"

#include <math.h>

#include "fairmix/rate/fmx-tcp-equation.h"

#define SEGMENT_BITS (8.0 * (FMX_TCP_SEGMENT_BYTES + 40u))
#define RENO 1.5
#define CUBIC ((1.0 - 0.3 / 4.0) * 0.4 / 0.3)
#define CUBIC_LIKELY 4.0        /* times our rate: more of it is less likely ... */
#define CUBIC_DOUBLINGS 2.0     /* ... and so many doublings more it has not */
#define EPOCH_MOST 2.0          /* of what comes through: X of one epoch ... */
#define FIRST_EPOCH_MOST 4.0    /* ... of the first ones */
#define PATH_CUBIC 2.0          /* times what the path carries: no CUBIC would have that */
#define PATH_MOST 0.5           /* one other at least */
#define RTT_TIME_S 16.0         /* round-trip times are a mean of so long ... */
#define RTT_EPOCHS 2.0          /* ... or of so many epochs */

/* How much we believe in a CUBIC that would have @ratio of our rate. */
static double
cubic_weight (double ratio)
{
  double doublings = fmax (log2 (ratio / CUBIC_LIKELY), 0.0);

  return 0.5 * fmax (1.0 - doublings / CUBIC_DOUBLINGS, 0.0);
}

/* Who would have more than all of the path, or less than one of many, is not there. */
static double
part_of_path (double reno_bps, double cubic_bps, double path_bps)
{
  double most_bps = PATH_MOST * path_bps;
  double least_bps = path_bps / FMX_FULL_QUEUE_FLOWS;
  double more_bps = fmax (fmin (fmax (cubic_bps, reno_bps), most_bps), least_bps);

  if (reno_bps >= most_bps)
    return reno_bps;
  if (reno_bps < least_bps && cubic_bps < PATH_CUBIC * path_bps)
    return more_bps;
  return sqrt (fmax (reno_bps, least_bps) * more_bps);
}

/* A Reno's window still grows until it hears of the loss, a CUBIC's stands. */
static double
tcp_bps (double epoch_s, double receive_bps, double path_bps, double rtt_s)
{
  double reno_s = fmax (epoch_s - rtt_s, 0.0);
  double cubic_s = fmax (reno_s - rtt_s, 0.0);
  double reno_bps = RENO * reno_s / rtt_s * SEGMENT_BITS / rtt_s;
  double cubic_bps = CUBIC * cubic_s * cubic_s * cubic_s * SEGMENT_BITS / rtt_s;

  if (path_bps > 0.0)
    return part_of_path (reno_bps, cubic_bps, path_bps);
  if (cubic_bps <= reno_bps)
    return reno_bps;
  return reno_bps * pow (cubic_bps / reno_bps,
      cubic_weight (cubic_bps / receive_bps));
}

/* The epoch in which a Reno comes to @bps. */
static double
epoch_of (double bps, double rtt_s)
{
  return rtt_s + bps * rtt_s * rtt_s / (SEGMENT_BITS * RENO);
}

void
fmx_full_queue_init (FmxFullQueue *full, double bps, FmxDuration rtt,
    FmxTime now)
{
  full->rtt_s = fmx_time_to_s (rtt);
  full->rtt_time = now;
  full->mean_s = epoch_of (bps, full->rtt_s);
  full->n_epochs = 0;
  full->start = now;
}

/* Over some epochs: within one the queue rises and falls. */
void
fmx_full_queue_add_rtt (FmxFullQueue *full, FmxDuration rtt, FmxTime now)
{
  double rtt_s = fmx_time_to_s (rtt);
  double passed_s = fmx_time_to_s (fmx_time_diff (now, full->rtt_time));
  double time_s = fmax (RTT_TIME_S, RTT_EPOCHS * full->mean_s);

  if (full->rtt_s <= 0.0)
    full->rtt_s = rtt_s;
  full->rtt_s += fmin (passed_s / time_s, 1.0) * (rtt_s - full->rtt_s);
  full->rtt_time = now;
}

FmxDuration
fmx_full_queue_rtt (const FmxFullQueue *full)
{
  return fmx_time_from_s (full->rtt_s);
}

/* The first ones count for more: the mean of all so far.  That of the beginning
 * had begun before: it counts if it is long all the same. */
static double
mean_with (const FmxFullQueue *full, double receive_bps, FmxTime now)
{
  double epoch_s = fmx_time_to_s (fmx_time_diff (now, full->start));
  double gain = fmax (FMX_FULL_QUEUE_GAIN,
      1.0 / (fmax (full->n_epochs, 1.0) + 1.0));
  double most_bps;

  most_bps = (gain > FMX_FULL_QUEUE_GAIN ? FIRST_EPOCH_MOST : EPOCH_MOST)
      * receive_bps;
  epoch_s = fmin (epoch_s, epoch_of (most_bps, full->rtt_s));
  if (full->n_epochs == 0)
    epoch_s = fmax (epoch_s, full->mean_s);
  return full->mean_s + gain * (epoch_s - full->mean_s);
}

bool
fmx_full_queue_note (FmxFullQueue *full, double receive_bps, FmxTime now)
{
  double passed_s = fmx_time_to_s (fmx_time_diff (now, full->start));

  if (passed_s < FMX_FULL_QUEUE_RTTS * full->rtt_s)
    return false;
  full->mean_s = mean_with (full, receive_bps, now);
  full->n_epochs++;
  full->start = now;
  return true;
}

double
fmx_full_queue_bps (const FmxFullQueue *full, double receive_bps,
    double path_bps, FmxTime now)
{
  double epoch_s = fmax (full->mean_s, mean_with (full, receive_bps, now));

  return tcp_bps (epoch_s, receive_bps, path_bps, full->rtt_s);
}
