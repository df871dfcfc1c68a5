/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/queue/fmx-red.h"

#include <assert.h>

void
fmx_red_init (FmxRed *red)
{
  red->count = -1;
}

double
fmx_red_probability (const FmxRedParams *params, double average)
{
  double min = params->min_packets, max = params->max_packets;

  assert (min > 0.0 && max > min);
  assert (params->max_p > 0.0 && params->max_p <= 1.0);

  if (average < min)
    return 0.0;
  if (average < max)            /* [Floyd93 4] */
    return params->max_p * (average - min) / (max - min);
  if (!params->gentle || average >= 2.0 * max)
    return 1.0;
  /* [Floyd00] from max_p at max to 1 at 2 max */
  return params->max_p + (1.0 - params->max_p) * (average - max) / max;
}

FmxQueueVerdict
fmx_red_on_arrival (FmxRed *red, const FmxRedParams *params, double average,
    bool can_mark, FmxRng *rng)
{
  double p = fmx_red_probability (params, average), spread;

  if (p <= 0.0) {
    red->count = average < params->min_packets ? -1 : red->count + 1;
    return FMX_QUEUE_TAKE;
  }
  /* [Floyd93 4] p_a = p_b / (1 - count p_b) */
  red->count++;
  spread = 1.0 - (double) red->count * p;
  if (p < 1.0 && spread > p && fmx_rng_next_unit (rng) >= p / spread)
    return FMX_QUEUE_TAKE;
  red->count = 0;
  /* [RFC3168 7] above the maximum a packet is dropped, not marked */
  if (params->ecn && can_mark && average <= params->max_packets)
    return FMX_QUEUE_MARK;
  return FMX_QUEUE_DROP;
}
