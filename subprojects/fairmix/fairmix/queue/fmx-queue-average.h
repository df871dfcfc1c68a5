/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_QUEUE_AVERAGE_H
#define FMX_QUEUE_AVERAGE_H

#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxQueueAverageParams:
 * @weight: of the newest sample, in (0, 1]; 0.002 follows over some 500
 *     arrivals
 * @packet_time: how long the link takes for a typical packet: so many samples
 *     of nothing are made up for the time in which nothing waited; 0: none
 */
typedef struct
{
  double weight;
  FmxDuration packet_time;
} FmxQueueAverageParams;

/**
 * FmxQueueAverage:
 *
 * The exponentially weighted average of how many packets wait, sampled by each
 * packet that arrives.
 *
 * Source: Floyd, Jacobson, "Random Early Detection Gateways for Congestion
 * Avoidance", 1993, section 4.
 */
typedef struct
{
  /*< private >*/
  double packets;
  FmxTime empty_since;
} FmxQueueAverage;

/** fmx_queue_average_init: nothing waits, and never did */
void fmx_queue_average_init (FmxQueueAverage * average);

/**
 * fmx_queue_average_on_arrival:
 * @n_waiting: packets that the arriving one finds, itself not counted
 *
 * |[
 *   avg = (1 - w) avg + w n              some wait
 *   avg = (1 - w)^m avg                  none, for m packet times
 * ]|
 */
void fmx_queue_average_on_arrival (FmxQueueAverage * average,
    const FmxQueueAverageParams * params, uint32_t n_waiting, FmxTime now);

/** fmx_queue_average_on_empty: the last packet left */
void fmx_queue_average_on_empty (FmxQueueAverage * average, FmxTime now);

/** Returns: packets */
double fmx_queue_average_get (const FmxQueueAverage * average);

#ifdef __cplusplus
}
#endif

#endif /* FMX_QUEUE_AVERAGE_H */
