/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RATE_DPM_H
#define FMX_RATE_DPM_H

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FMX_RATE_DPM_STEP_MAX_BPS:
 *
 * One stream's worth is the mean rate of the bundle's streams, but never more
 * than this, in bits/s: a single stream whose encoder follows the target would
 * otherwise double it at each decision.
 */
#define FMX_RATE_DPM_STEP_MAX_BPS 128000.0

/** FMX_RATE_DPM_SETTLE: the share of lost packets looks back so far. */
#define FMX_RATE_DPM_SETTLE (3 * FMX_SECOND)

/** FMX_RATE_DPM_ONE_STREAM: up to so many streams' worth is one stream. */
#define FMX_RATE_DPM_ONE_STREAM 1.5

/** FMX_RATE_DPM_RESUME: media begins again when the equation allows so many
 * times @min_bps: with exactly one the queue that overflowed would hardly have
 * drained. */
#define FMX_RATE_DPM_RESUME 1.8

/** FMX_RATE_DPM_LASTING: media that passes for longer is no failed attempt. */
#define FMX_RATE_DPM_LASTING (30 * FMX_SECOND)

/** FMX_RATE_DPM_DOUBLINGS: of the wait between two attempts to send again. */
#define FMX_RATE_DPM_DOUBLINGS 4u

/**
 * FmxRateDpmState:
 *
 * The rate adapter of Distributed Partial Mixing.  The target T is the TCP
 * equation's rate; a stream's worth s is the mean rate of the streams.
 *
 * - Overload, rate > T: rate = T, at once.
 * - Underload, once every @decision_interval_rtts round-trip times since the
 *   last decision, whichever way it went:
 *   |[ rate = min (T, rate + s, 2 max (X_recv)) ]| if that is more, but not
 *   within a round-trip time of a loss event.
 *   The rate is not lowered to 2 max (X_recv): silence is not congestion.
 * - Loss above the limit: one stream, and no more as long as it stays above.
 *   Loss above the limit for longer than the figure looks back, or with one
 *   stream, or T below @min_bps: probing, one dummy packet a second; after a decision
 *   interval at the earliest, when packets come through and T allows for
 *   %FMX_RATE_DPM_RESUME streams, media again with one.  When that does not last
 *   %FMX_RATE_DPM_LASTING, the next wait is twice as long, up to
 *   2^%FMX_RATE_DPM_DOUBLINGS times, as TCP backs off; and from the third such
 *   attempt on, two of three end when T is below what began them.
 * - No feedback although something was sent: half the rate ([RFC5348 4.4]),
 *   down to probing.  Silence keeps it ([RFC7661]).
 *
 * Source: DPM sections 5.3, 5.4.
 */
typedef struct
{
  /*< private >*/
  FmxTime decided;              /* last change, or decision not to change */
  FmxTime resumed;              /* last end of probing */
  unsigned n_failed;            /* ends of it soon after, in a row */
  FmxTime loss_event;           /* when the last one was noticed */
  FmxTime lowered;              /* to one stream, for too much loss */
  double receive_max[2];        /* since the last decision, and before */
} FmxRateDpmState;

#ifdef __cplusplus
}
#endif

#endif /* FMX_RATE_DPM_H */
