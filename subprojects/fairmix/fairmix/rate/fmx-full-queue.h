/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_FULL_QUEUE_H
#define FMX_FULL_QUEUE_H

#include <stdbool.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_FULL_QUEUE_GAIN: of an epoch in the mean; as many count as there are
 * loss intervals in [RFC5348 5.4] */
#define FMX_FULL_QUEUE_GAIN (1.0 / 8.0)

/** FMX_FULL_QUEUE_RTTS: what comes within so many round-trip times is one full
 * queue: it goes on overflowing until TCP has heard of it */
#define FMX_FULL_QUEUE_RTTS 2

/**
 * FmxFullQueue:
 *
 * What a TCP makes of a queue that is full now and then.
 *
 * A full queue hits a TCP once in a saw-tooth, whatever we send and whatever
 * of it is lost: where a queue counts bytes there is room for a small packet
 * when a large one is dropped.  So epochs are counted in time, not in packets.
 * With T the mean epoch, less the round trip in which TCP repairs its loss, at
 * a mean round-trip time of R, a TCP has on average so many segments of s =
 * 1500 bytes under way:
 *
 * |[
 *   reno  = 3/2 T/R                    from W/2 to W, one each R
 *   cubic = (1 - 0.3/4) 0.4/0.3 T^3    from 0.7 W to W = 0.4/0.3 T^3
 *   n     = cubic <= reno ? reno : sqrt (reno cubic)
 *   X     = n s / R
 * ]|
 *
 * reno is the TCP equation with one loss event in X T / s segments, cubic the
 * window function of [RFC9438 4.2]; we stand between the two, since it is not
 * known which of them is on the other side.
 */
typedef struct
{
  /*< private >*/
  double mean_s;                /* of the epochs, T + R */
  unsigned n_epochs;
  FmxTime start;                /* of this epoch */
} FmxFullQueue;

/** fmx_full_queue_init: as if the epochs had been such that X = @bps; @rtt:
 * mean round-trip time; both > 0 */
void fmx_full_queue_init (FmxFullQueue * full, double bps, FmxDuration rtt,
    FmxTime now);

/** fmx_full_queue_note: the queue is full; @most_bps: an epoch counts as if X
 * of it alone were not more.  Returns: whether an epoch ended */
bool fmx_full_queue_note (FmxFullQueue * full, double most_bps,
    FmxDuration rtt, FmxTime now);

/** fmx_full_queue_bps: Returns: X, in bits/s on the wire; as if the queue were
 * full now if that makes it greater */
double fmx_full_queue_bps (const FmxFullQueue * full, double most_bps,
    FmxDuration rtt, FmxTime now);

#ifdef __cplusplus
}
#endif

#endif /* FMX_FULL_QUEUE_H */
