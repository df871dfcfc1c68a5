/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RATE_FAIRMIX_H
#define FMX_RATE_FAIRMIX_H

#include <stdbool.h>

#include "fairmix/base/fmx-time.h"
#include "fairmix/rate/fmx-queue-sense.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxRateFairmixState:
 *
 * A rate adapter that keeps queues short while it is among its like, and gives
 * way to loss-based TCP - and no more than that - where one fills them.
 *
 * X is the TCP equation's rate with loss intervals counted in segments where
 * the queue was full: a full queue hits a TCP once per saw-tooth, whatever the
 * size of our packets.  The bound on the rate is
 *
 * |[
 *   calm:       min (X, what keeps the standing queue below q_high)
 *   competing:  X
 * ]|
 *
 * Calm.  Doubling per round trip until the queue shows; then one stream per
 * decision interval while the queue stands below q_low.  Above q_high: back to
 * a part of what the receiver got, and down again until it drains.  The rate
 * at which the queue appeared is a ceiling that is not tried again for a time
 * that doubles while it stays the same, so that nothing flaps.
 *
 * Competing, when the queue did not drain as it must if nobody else filled
 * it.  The rate follows X, in steps; now and then it is lowered for a moment
 * to see whether the queue drains after all.
 */
typedef struct
{
  /*< private >*/
  FmxQueueSense queue;
  bool starting;                /* doubling */
  bool competing;
  FmxTime decided;              /* last step up, or decision against it */
  double mean_rtt_s;            /* over saw-teeth */
  FmxTime mean_time;
  double full_share;            /* of the loss events: of a full queue */
  bool full_known;
  FmxTime obeyed;               /* last fall to X */
  /* draining */
  bool draining;
  bool drain_seen;              /* a packet came back that left after the cut */
  FmxTime drain_start;
  FmxTime drain_time;
  FmxDuration drain_queue;      /* what stood when the cut showed */
  double drain_expected_s;      /* what must have gone if we are alone */
  double drain_bps;             /* what the receiver got then */
  unsigned n_tests;             /* of a competitor that was still there */
  FmxTime tested;
  /* ceiling */
  double ceiling_bps;
  FmxDuration hold;
  FmxTime hold_until;
  FmxTime loss_event;           /* the last */
  FmxTime shed;                 /* last fall for too much loss */
  /* probing */
  FmxTime resumed;
  unsigned n_again;
} FmxRateFairmixState;

#ifdef __cplusplus
}
#endif

#endif /* FMX_RATE_FAIRMIX_H */
