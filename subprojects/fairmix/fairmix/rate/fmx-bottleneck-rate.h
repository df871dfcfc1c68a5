/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_BOTTLENECK_RATE_H
#define FMX_BOTTLENECK_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_BOTTLENECK_RATE_PACKETS: so many that arrived one after another are a
 * train, at least */
#define FMX_BOTTLENECK_RATE_PACKETS 5u

/** FMX_BOTTLENECK_RATE_LEAST: a train is no shorter: arrival times are multiples of
 * 1/1024 s ([RFC8888 3.1]) */
#define FMX_BOTTLENECK_RATE_LEAST (4 * FMX_MSECOND)

/** FMX_BOTTLENECK_RATE_MOST_BPS: a higher rate is not known: in so short a time a
 * packet of somebody else, or none, cannot be told apart */
#define FMX_BOTTLENECK_RATE_MOST_BPS 2e6

/** FMX_BOTTLENECK_RATE_WINDOW: trains of one to two such windows count: longer
 * than a TCP's saw-tooth, in which it pauses once */
#define FMX_BOTTLENECK_RATE_WINDOW (60 * FMX_SECOND)

/** FMX_BOTTLENECK_RATE_LATELY: likewise for what is so of late */
#define FMX_BOTTLENECK_RATE_LATELY (3 * FMX_SECOND)

/** FMX_BOTTLENECK_RATE_EMPTY: the least delay of one to two such windows is that of an empty
 * queue: clocks that differ by 1/10000 move it by 1 to 2 ms */
#define FMX_BOTTLENECK_RATE_EMPTY (10 * FMX_SECOND)

#define FMX_BOTTLENECK_RATE_ARRIVALS 256u
#define FMX_BOTTLENECK_RATE_CLASSES 48u

/**
 * FmxTrains:
 *
 * How many trains there were of which rate, in this window and the one before.
 */
typedef struct
{
  /*< private >*/
  uint32_t now[FMX_BOTTLENECK_RATE_CLASSES];
  uint32_t before[FMX_BOTTLENECK_RATE_CLASSES];
  FmxTime start;
} FmxTrains;

/**
 * FmxBottleneckRate:
 *
 * What the narrowest link of a path carries, our packets and those of others, from
 * the times at which ours arrived.
 *
 * Packets that stand one behind the other in a queue leave it at the link's rate,
 * whatever the time between them was before (Keshav, SIGCOMM 1991: packet pairs).
 * No packets are sent for that: when a TCP has filled a queue and pauses, ours are
 * alone for half a round-trip time.  The fastest trains are those without packets of
 * others in between; as a TCP's packet is as long as seven of ours, hardly any train
 * is a little slower.  Where there are such, as on a radio link that holds packets
 * back, nothing is known.  A train that came as it left tells of its sender's pace, not
 * of the link; likewise one that came faster but with the same gaps in proportion: there
 * stood others in between, fewer and fewer of them (a CUBIC sends 0.7 of what it sent, and
 * the queue drains).  Nor does one whose first packet had not to wait: a shaper's token bucket lets
 * several pass at once.
 */
typedef struct
{
  /*< private >*/
  struct
  {
    FmxTime time, sent;
    uint32_t bytes;
  } arrivals[FMX_BOTTLENECK_RATE_ARRIVALS];
  unsigned n;
  unsigned n_before;            /* of them the feedback before told of */
  double row_bps;
  double tail_bps, tail_left_bps;
  FmxTrains all, rows, late;
  FmxDuration least[2];         /* delays, in this window and the one before */
  FmxTime least_start;
  bool knows_least;
} FmxBottleneckRate;

/** fmx_bottleneck_rate_add: a packet of @bytes on the wire that left at @sent arrived
 * at @time, on the receiver's clock; any order */
void fmx_bottleneck_rate_add (FmxBottleneckRate * rate, FmxTime sent,
    FmxTime time, uint32_t bytes);

/** fmx_bottleneck_rate_end: that was all of one feedback */
void fmx_bottleneck_rate_end (FmxBottleneckRate * rate, FmxTime now);

/** fmx_bottleneck_rate_forget: the link carries another rate from now on */
void fmx_bottleneck_rate_forget (FmxBottleneckRate * rate);

/** fmx_bottleneck_rate_bps: Returns: what the link carries, in bits/s; 0 = not
 * known */
double fmx_bottleneck_rate_bps (const FmxBottleneckRate * rate);

/** fmx_bottleneck_rate_late_bps: Returns: the rate of the fastest train of late, in
 * bits/s, an upper bound if nobody else's packets were in between */
double fmx_bottleneck_rate_late_bps (const FmxBottleneckRate * rate);

/**
 * fmx_bottleneck_rate_row_bps:
 *
 * Returns: the fastest that four packets came one after the other, of those that the last
 *     feedback told of and that had to wait, in bits/s: what the link carries, if nobody
 *     else's stood in between; HUGE_VAL = not known
 */
static inline double
fmx_bottleneck_rate_row_bps (const FmxBottleneckRate *rate)
{
  return rate->row_bps;
}

/**
 * fmx_bottleneck_rate_tail_bps:
 * @left_bps: (out): how fast they left, if it is known
 *
 * Returns: how fast the last packets came that the last feedback told of, if each had to
 *     wait and they came evenly: what the path carries now, whatever came before in the same
 *     feedback; 0 = not known
 */
static inline double
fmx_bottleneck_rate_tail_bps (const FmxBottleneckRate *rate, double *left_bps)
{
  *left_bps = rate->tail_left_bps;
  return rate->tail_bps;
}

#ifdef __cplusplus
}
#endif

#endif /* FMX_BOTTLENECK_RATE_H */
