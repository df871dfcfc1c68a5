/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-full-queue.h"

#include <math.h>

#include "fairmix/rate/fmx-tcp-equation.h"

#define SEGMENT_BITS (8.0 * (FMX_TCP_SEGMENT_BYTES + 40u))
#define RENO 1.5
#define CUBIC ((1.0 - 0.3 / 4.0) * 0.4 / 0.3)

static double
tcp_bps (double epoch_s, double rtt_s)
{
  double t_s = fmax (epoch_s - rtt_s, 0.0);
  double reno = RENO * t_s / rtt_s;
  double cubic = CUBIC * t_s * t_s * t_s;
  double segments = cubic <= reno ? reno : sqrt (reno * cubic);

  return segments * SEGMENT_BITS / rtt_s;
}

/* The epoch of which tcp_bps() makes @bps. */
static double
epoch_of (double bps, double rtt_s)
{
  double segments = bps * rtt_s / SEGMENT_BITS;
  double reno_s = segments * rtt_s / RENO;
  double ours_s = sqrt (segments * sqrt (rtt_s / (RENO * CUBIC)));

  return rtt_s + fmin (reno_s, ours_s);
}

void
fmx_full_queue_init (FmxFullQueue *full, double bps, FmxDuration rtt,
    FmxTime now)
{
  full->mean_s = epoch_of (bps, fmx_time_to_s (rtt));
  full->n_epochs = 0;
  full->start = now;
}

/* The first ones count for more: the mean of all so far. */
static double
mean_with (const FmxFullQueue *full, double most_bps, double rtt_s, FmxTime now)
{
  double epoch_s = fmx_time_to_s (fmx_time_diff (now, full->start));
  double gain = fmax (FMX_FULL_QUEUE_GAIN, 1.0 / (full->n_epochs + 2.0));

  epoch_s = fmin (epoch_s, epoch_of (most_bps, rtt_s));
  return full->mean_s + gain * (epoch_s - full->mean_s);
}

bool
fmx_full_queue_note (FmxFullQueue *full, double most_bps, FmxDuration rtt,
    FmxTime now)
{
  if (fmx_time_diff (now, full->start) < FMX_FULL_QUEUE_RTTS * rtt)
    return false;
  full->mean_s = mean_with (full, most_bps, fmx_time_to_s (rtt), now);
  full->n_epochs++;
  full->start = now;
  return true;
}

double
fmx_full_queue_bps (const FmxFullQueue *full, double most_bps,
    FmxDuration rtt, FmxTime now)
{
  double rtt_s = fmx_time_to_s (rtt);

  return tcp_bps (fmax (full->mean_s, mean_with (full, most_bps, rtt_s, now)),
      rtt_s);
}
