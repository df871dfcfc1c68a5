/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_INTERARRIVAL_H
#define FMX_INTERARRIVAL_H

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxInterarrivalParams:
 * @gain: weight of the newest inter-arrival time in the mean, in (0, 1]
 * @feedback: by what part of the mean an interval is shortened for each packet
 *     that the queue holds beyond @target, or lengthened for each that it
 *     lacks, in [0, 0.25]
 * @target: how many packets should be waiting
 * @max_gap: a longer pause is one of the source's and no inter-arrival time
 */
typedef struct
{
  double gain;
  double feedback;
  double target;
  FmxDuration max_gap;
} FmxInterarrivalParams;

/**
 * FmxInterarrival:
 *
 * Playout times for a source that is not periodic and whose time stamps do not
 * say when its samples were taken: the mean inter-arrival time, tracked, is
 * the time between two playouts.
 *
 * |[
 *   m        = (1 - g) m + g (arrival - previous arrival)
 *   interval = m (1 - f (n - target)), in [m / 2, 2 m]
 * ]|
 *
 * Without the second line an error of the mean, however small, fills or
 * empties the queue.
 *
 * Source: nanoManipulator 2002, section 3.2 ("explicitly track the mean
 * interarrival time"); the feedback is ours.
 */
typedef struct
{
  /*< private >*/
  FmxInterarrivalParams params;
  double mean;                  /* ns; < 0 while unknown */
  FmxTime last_arrival;
  FmxTime last_due;
} FmxInterarrival;

void fmx_interarrival_params_default (FmxInterarrivalParams * params);
void fmx_interarrival_init (FmxInterarrival * interarrival,
    const FmxInterarrivalParams * params);

/**
 * fmx_interarrival_on_packet:
 * @now: when it arrived
 *
 * Returns: when it is to be played, not before @now and not before the packet
 *     that came before it
 */
FmxTime fmx_interarrival_on_packet (FmxInterarrival * interarrival,
    FmxTime now);

/** Returns: the mean inter-arrival time; 0 while unknown */
FmxDuration fmx_interarrival_mean (const FmxInterarrival * interarrival);

#ifdef __cplusplus
}
#endif

#endif /* FMX_INTERARRIVAL_H */
