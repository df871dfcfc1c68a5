/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_DELAY_SLOPE_H
#define FMX_DELAY_SLOPE_H

#include <stdbool.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_DELAY_SLOPE_TIME: the delay is the least of so long ... */
#define FMX_DELAY_SLOPE_TIME (20 * FMX_MSECOND)

/** FMX_DELAY_SLOPE_LEAST: ... and of so many packets: one waits for a packet of
 * somebody else, or does not.  With four, 50 packets/s and 24 ms for a TCP's packet that
 * alone looks steep, up as often as down. */
#define FMX_DELAY_SLOPE_LEAST 8u

/** FMX_DELAY_SLOPE_STEEP: seconds a second; a cut to 0.8, the greatest of shortq,
 * drains a queue at 0.2, and nobody else of its kind does more */
#define FMX_DELAY_SLOPE_STEEP 0.3

/** FMX_DELAY_SLOPE_MEMORY_S: what was seen counts e times less after so long; some
 * saw-teeth of a TCP */
#define FMX_DELAY_SLOPE_MEMORY_S 10.0

#define FMX_DELAY_SLOPE_PACKETS 256u

/**
 * FmxDelaySlope:
 *
 * Whether the queue on a path has a TCP's saw-teeth, from when packets left and
 * arrived.
 *
 * A TCP that has heard of a loss sends nothing until a part of its window has been
 * acknowledged (0.5 of it, CUBIC 0.3): the queue falls by up to a second a second.
 * Then it grows, by a packet a round trip.  So a TCP's queue falls steeply and rises
 * slowly.  What we do ourselves is slow both ways, and so is our like; delays that
 * wander, as on radio links, rise as steeply as they fall.
 *
 * That needs no knowledge of the delay without a queue, which nobody sees where TCPs
 * never let a queue run empty.
 */
typedef struct
{
  /*< private >*/
  struct
  {
    FmxTime sent;
    FmxDuration delay;
  } packets[FMX_DELAY_SLOPE_PACKETS];
  unsigned n;
  FmxTime start;                /* of what is gathered now */
  FmxDuration least;            /* delay since */
  unsigned n_since;             /* packets */
  FmxTime start_before;         /* likewise what was gathered before */
  FmxDuration least_before;
  bool has_before;
  double falls_s;               /* steep ones, in all */
  double rises_s;
  FmxTime time;                 /* to which they are faded */
} FmxDelaySlope;

/** fmx_delay_slope_add: a packet that was @sent took @delay, give or take a
 * constant; any order within one feedback */
void fmx_delay_slope_add (FmxDelaySlope * slope, FmxTime sent,
    FmxDuration delay);

/** fmx_delay_slope_end: that was all of one feedback */
void fmx_delay_slope_end (FmxDelaySlope * slope, FmxTime now);

/** fmx_delay_slope_has_teeth: Returns: whether a TCP makes the queue, by what was
 * seen of late */
bool fmx_delay_slope_has_teeth (const FmxDelaySlope * slope);

#ifdef __cplusplus
}
#endif

#endif /* FMX_DELAY_SLOPE_H */
