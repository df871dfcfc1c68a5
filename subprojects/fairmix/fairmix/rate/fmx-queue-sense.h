/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_QUEUE_SENSE_H
#define FMX_QUEUE_SENSE_H

#include <stdbool.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_QUEUE_SENSE_BASE_WINDOW: the path's time without a queue is the least
 * round trip of one to two such windows.  Long: a TCP's standing queue must
 * not pass for the path. */
#define FMX_QUEUE_SENSE_BASE_WINDOW (60 * FMX_SECOND)

/** FMX_QUEUE_SENSE_PEAK_WINDOW: the highest queue is that of one to two such
 * windows: longer than a TCP's saw-tooth. */
#define FMX_QUEUE_SENSE_PEAK_WINDOW (20 * FMX_SECOND)

/** FMX_QUEUE_SENSE_WINDOW_MIN: what stands in the queue is the least of one
 * to two windows, at least of so long. */
#define FMX_QUEUE_SENSE_WINDOW_MIN (50 * FMX_MSECOND)

/** FMX_QUEUE_SENSE_DIP: a fall of this part of the round-trip time is a dip.
 * A CUBIC flow that has half of what is under way takes away 0.3 / 2 of it, a
 * Reno flow 0.5 / 2: a third of the lesser. */
#define FMX_QUEUE_SENSE_DIP 0.05

/** FMX_QUEUE_SENSE_DIP_MIN: a smaller fall is no dip: the time that a link of
 * 1 Mbit/s takes for a large packet. */
#define FMX_QUEUE_SENSE_DIP_MIN (12 * FMX_MSECOND)

/** FMX_QUEUE_SENSE_NOISE_TIMES: what stands counts as noise up to so many times the
 * difference of delays: where packets stay in order one waits for the one before it,
 * and the least of many is far above the least of one. */
#define FMX_QUEUE_SENSE_NOISE_TIMES 1.5

/** FMX_QUEUE_SENSE_NOISE_TIME: noise is a mean of so long */
#define FMX_QUEUE_SENSE_NOISE_TIME (4 * FMX_SECOND)

/** FMX_QUEUE_SENSE_NOISE_MAX: more is a queue, whatever makes it */
#define FMX_QUEUE_SENSE_NOISE_MAX (60 * FMX_MSECOND)

/**
 * FmxExtreme:
 *
 * The least (or greatest) value of the last one to two windows.
 */
typedef struct
{
  /*< private >*/
  FmxDuration now;
  FmxDuration before;
  FmxTime start;
  bool valid;
} FmxExtreme;

/**
 * FmxQueueSense:
 *
 * What round-trip times tell of the queue on the way there:
 *
 * |[
 *   base     = least round trip of 60 to 120 s
 *   standing = least of one to two round-trip times, less base and noise
 *   latest   = that of the last feedback, less base and noise
 *   recent   = greatest of one to two round-trip times, less base
 *   peak     = greatest of 20 to 40 s, less base
 * ]|
 *
 * The least of a round trip is what stands in the queue; what a burst adds
 * passes (as CoDel has it, RFC 8289 section 3.3).
 *
 * A dip is a fall from a crest that is too deep for noise: somebody halved a
 * window because the queue was full.
 */
typedef struct
{
  /*< private >*/
  FmxExtreme base;
  FmxExtreme reverse;
  FmxExtreme least;
  FmxExtreme most;
  FmxExtreme peak;
  FmxDuration latest;
  double level_s;               /* smoothed round trip */
  double turn_s;                /* its highest since it turned up, or lowest */
  bool falling;
  bool dipped;                  /* not yet taken */
  FmxTime level_time;
  FmxDuration own;
  double noise_s;
  FmxTime noise_time;
} FmxQueueSense;

/**
 * fmx_queue_sense_add:
 * @rtt: a sample of the round-trip time
 * @reverse: what of it was the delay of the reverse path, give or take a
 *     constant: its queue, what is above the least, is not ours and is taken off
 * @window: over which the queue is judged, about a round-trip time
 */
void fmx_queue_sense_add (FmxQueueSense * sense, FmxDuration rtt,
    FmxDuration reverse, FmxDuration window, FmxTime now);

/**
 * fmx_queue_sense_add_spread:
 * @spread: greatest delay less the least, of packets that one feedback tells of
 * @packets: what of it a few packets take at the bottleneck
 *
 * More than those take is noise of the path.
 */
void fmx_queue_sense_add_spread (FmxQueueSense * sense, FmxDuration spread,
    FmxDuration packets, FmxTime now);

/** fmx_queue_sense_set_own: so much of the queue is known to be one's own, and to go */
void fmx_queue_sense_set_own (FmxQueueSense * sense, FmxDuration own);

/** Returns: what stands in the queue, >= 0; 0 before the first sample */
FmxDuration fmx_queue_sense_standing (const FmxQueueSense * sense);

/** Returns: what the latest sample says of the queue, >= 0; 0 before the first */
FmxDuration fmx_queue_sense_latest (const FmxQueueSense * sense);

/** Returns: what a packet says whose round trip was longer than the latest sample by
 * @more, >= 0; 0 before the first sample */
FmxDuration fmx_queue_sense_beyond_latest (const FmxQueueSense * sense,
    FmxDuration more);

/** Returns: the highest queue of late */
FmxDuration fmx_queue_sense_recent (const FmxQueueSense * sense);

/** Returns: the highest queue of the last saw-teeth */
FmxDuration fmx_queue_sense_peak (const FmxQueueSense * sense);

/** fmx_queue_sense_take_dip: Returns: whether there was a dip since the last
 * call */
bool fmx_queue_sense_take_dip (FmxQueueSense * sense);

/** fmx_queue_sense_is_falling: Returns: whether it has not yet turned up since
 * the last dip */
bool fmx_queue_sense_is_falling (const FmxQueueSense * sense);

/** fmx_queue_sense_restart: what stands is judged anew, from the next sample
 * on: what is older says nothing of the present rate */
void fmx_queue_sense_restart (FmxQueueSense * sense);

#ifdef __cplusplus
}
#endif

#endif /* FMX_QUEUE_SENSE_H */
