/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "fairmix/rate/fmx-rate-shortq-private.h"

/* Who starts grows by a quarter each time, and each packet that leaves until a queue stands
 * makes it longer.  Alone it is known to be one's own before it stands. */

#define LAST 1.5                /* of the last packet alone: it may be late by chance */
#define LEAST (30 * FMX_MSECOND)        /* with half of it, beside TCPs whose queue is never
                                         * longer 0.15: 0.68; beside TCP 85: 85 */

bool
fmx_shortq_starts_alone (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  double sent_bps = rc->data_limited ? fmin (fb->sent_bps, rc->rate_bps)
      : rc->rate_bps;

  return rc->state.shortq.mode == FMX_RATE_SHORTQ_STARTING
      && fb->latest_bps < NEAR_CEILING * sent_bps
      && fmx_shortq_is_alone (rc, fb, now);
}

double
fmx_shortq_own_queue (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  const FmxQueueSense *queue = &rc->state.shortq.queue;
  double latest = (double) fmx_queue_sense_latest (queue);
  double last =
      (double) fmx_queue_sense_beyond_latest (queue, fb->delay_spread);
  double limit =
      fmax ((double) fmx_shortq_queue_limit (rc, fb), (double) LEAST);

  if (!fmx_shortq_starts_alone (rc, fb, now))
    return 0.0;
  return fmax (latest, last / LAST) / limit;
}
