/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/queue/fmx-queue-average.h"

#include <assert.h>
#include <math.h>

void
fmx_queue_average_init (FmxQueueAverage *average)
{
  average->packets = 0.0;
  average->empty_since = FMX_TIME_NONE;
}

void
fmx_queue_average_on_arrival (FmxQueueAverage *average,
    const FmxQueueAverageParams *params, uint32_t n_waiting, FmxTime now)
{
  double weight = params->weight;

  assert (weight > 0.0 && weight <= 1.0);
  assert (params->packet_time >= 0);

  if (n_waiting == 0 && params->packet_time > 0
      && average->empty_since != FMX_TIME_NONE) {
    /* [Floyd93 4] m = (time - q_time) / s */
    double m = (double) fmx_time_diff (now, average->empty_since)
        / (double) params->packet_time;

    assert (m >= 0.0);
    average->packets *= pow (1.0 - weight, m);
    average->empty_since = now; /* the idle time before now has been counted */
    return;
  }
  average->packets += weight * (n_waiting - average->packets);
}

void
fmx_queue_average_on_empty (FmxQueueAverage *average, FmxTime now)
{
  average->empty_since = now;
}

double
fmx_queue_average_get (const FmxQueueAverage *average)
{
  return average->packets;
}
