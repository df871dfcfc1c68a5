/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RED_H
#define FMX_RED_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-rng.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxQueueVerdict:
 * @FMX_QUEUE_TAKE: the packet joins the queue
 * @FMX_QUEUE_MARK: it joins, marked "congestion experienced"
 * @FMX_QUEUE_DROP: it does not
 */
typedef enum
{
  FMX_QUEUE_TAKE,
  FMX_QUEUE_MARK,
  FMX_QUEUE_DROP
} FmxQueueVerdict;

/**
 * FmxRedParams:
 * @min_packets: below this average nothing is dropped; > 0
 * @max_packets: at this average a packet is dropped with probability @max_p;
 *     > @min_packets
 * @max_p: in (0, 1]
 * @gentle: above @max_packets the probability rises to 1 at twice that; without
 *     it is 1 at once
 * @ecn: packets whose transport says so are marked, not dropped, while the
 *     average is at most @max_packets
 */
typedef struct
{
  double min_packets;
  double max_packets;
  double max_p;
  bool gentle;
  bool ecn;
} FmxRedParams;

/**
 * FmxRed:
 *
 * Random early detection: tells senders that the queue grows, before it is
 * full, and tells those most who send most.
 *
 * Source: Floyd, Jacobson, "Random Early Detection Gateways for Congestion
 * Avoidance", 1993; "gentle": Floyd, "Recommendation on using the gentle_
 * variant of RED", 2000; marking: RFC 3168, section 7.
 */
typedef struct
{
  /*< private >*/
  int64_t count;                /* packets since the last one that was hit */
} FmxRed;

void fmx_red_init (FmxRed * red);

/**
 * fmx_red_probability:
 * @average: average number of packets that wait
 *
 * Returns: p_b, the probability with which one packet would be hit that came
 *     alone, in [0, 1]
 */
double fmx_red_probability (const FmxRedParams * params, double average);

/**
 * fmx_red_on_arrival:
 * @average: average number of packets that wait, with this arrival's sample
 * @can_mark: whether the packet's transport understands a mark (ECT)
 *
 * With a constant average the number of packets from one that is hit to the
 * next is uniform in [1, 1 / p_b - 1]: p_a = p_b / (1 - count p_b).
 */
FmxQueueVerdict fmx_red_on_arrival (FmxRed * red, const FmxRedParams * params,
    double average, bool can_mark, FmxRng * rng);

#ifdef __cplusplus
}
#endif

#endif /* FMX_RED_H */
