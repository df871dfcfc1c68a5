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

/** FMX_FULL_QUEUE_FLOWS: who shares a path at most: eight others, and ours */
#define FMX_FULL_QUEUE_FLOWS 9.0

/**
 * FmxFullQueue:
 *
 * What a TCP makes of a queue that is full now and then.
 *
 * A full queue hits a TCP once in a saw-tooth, whatever we send and whatever
 * of it is lost: where a queue counts bytes there is room for a small packet
 * when a large one is dropped.  So epochs are counted in time, not in packets.
 * With E the mean epoch at a mean round-trip time of R, a TCP has on average so
 * many segments of s = 1500 bytes under way:
 *
 * |[
 *   reno  = 3/2 T/R                    T = E - R, from W/2 to W, one each R
 *   cubic = (1 - 0.3/4) 0.4/0.3 K^3    K = E - 2R, from 0.7 W to W = 0.4/0.3 K^3
 *   n     = cubic <= reno ? reno : reno^(1-w) cubic^w
 *   X     = n s / R
 * ]|
 *
 * reno is the TCP equation with one loss event in X T / s segments, cubic the
 * window function of [RFC9438 4.2].  It takes a round trip to hear of a loss,
 * in which a Reno's window still grows, and one to repair it.
 *
 * It is not known which of them is on the other side: w = 1/2, as long as that
 * gives a CUBIC no more than four times what comes through here, falling to 0
 * at sixteen times: in a queue of a second a Reno needs ten seconds and more,
 * in which the window of a CUBIC would be that of quite another link.
 *
 * Where it is known what the path carries, that tells.  Who has more than twice of all of
 * it is none that is there, and who has less than a ninth would have to be one of more than
 * eight: if a Reno would have so little and a CUBIC not so much, X is a CUBIC's.  Otherwise
 * X is the geometric mean of both, a ninth and a half counting as the bounds of each.
 */
typedef struct
{
  /*< private >*/
  double mean_s;                /* of the epochs: E */
  unsigned n_epochs;
  FmxTime start;                /* of this epoch */
  double rtt_s;                 /* R */
  FmxTime rtt_time;
} FmxFullQueue;

/** fmx_full_queue_init: as if the epochs had been such that a Reno had @bps;
 * @rtt: R so far; both > 0 */
void fmx_full_queue_init (FmxFullQueue * full, double bps, FmxDuration rtt,
    FmxTime now);

/** fmx_full_queue_add_rtt: a round-trip time was @rtt */
void fmx_full_queue_add_rtt (FmxFullQueue * full, FmxDuration rtt,
    FmxTime now);

/** fmx_full_queue_rtt: Returns: R; 0 before the first */
FmxDuration fmx_full_queue_rtt (const FmxFullQueue * full);

/** fmx_full_queue_note: the queue is full, while @receive_bps come through;
 * an epoch counts as if X of it alone were not more than twice that, one of the
 * first eight four times.
 * Returns: whether an epoch ended */
bool fmx_full_queue_note (FmxFullQueue * full, double receive_bps,
    FmxTime now);

/** fmx_full_queue_bps: Returns: X, in bits/s on the wire; as if the queue were
 * full now if that makes it greater; @path_bps: what the path carries, 0 = not known */
double fmx_full_queue_bps (const FmxFullQueue * full, double receive_bps,
    double path_bps, FmxTime now);

#ifdef __cplusplus
}
#endif

#endif /* FMX_FULL_QUEUE_H */
