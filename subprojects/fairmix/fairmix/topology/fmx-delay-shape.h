/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_DELAY_SHAPE_H
#define FMX_DELAY_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C"
{
#endif

/** FMX_DELAY_SHAPE_MAX: the most intervals that are remembered */
#define FMX_DELAY_SHAPE_MAX 64u

/**
 * FmxDelayShapeParams:
 * @interval: T, over which delays are averaged; 350 ms
 * @n_crossings: N, intervals for oscillation and loss; 50, up to
 *     %FMX_DELAY_SHAPE_MAX
 * @n_shape: M, intervals for skewness and variability; 30, up to @n_crossings
 * @n_flat: F, the newest of those, which count alike; those before count less the
 *     older they are; 20, up to @n_shape
 * @c_s: skewness below this: the path is congested, -1 ... 1; 0.1
 * @c_h: ... below this, if it was congested before; 0.3
 * @p_l: loss above this: the path is congested, 0 ... 1; 0.1
 * @p_v: a crossing of the mean counts from so many mean deviations on; 0.7
 *
 * [RFC8382 2.2]; it has no number for p_l.
 */
  typedef struct
  {
    FmxDuration interval;
    uint32_t n_crossings;
    uint32_t n_shape;
    uint32_t n_flat;
    double c_s;
    double c_h;
    double p_l;
    double p_v;
  } FmxDelayShapeParams;

/**
 * FmxDelayShapeStats:
 * @n_intervals: that have ended; from 2 M on the others have their full accuracy
 * @interval: the number of the last one, which began at @interval T
 * @has_mean: whether a packet that was sent in it arrived
 * @mean_s: their mean delay, in seconds, of an origin of its own
 * @congested: whether the path is
 * @skewness: of the delays, -1 ... 1: positive where most are below their mean
 * @variability_s: their mean deviation, in seconds
 * @frequency: how often the mean of an interval crosses the long-term mean, 0 ... 1
 * @loss: share of packets lost, 0 ... 1
 */
  typedef struct
  {
    uint64_t n_intervals;
    uint64_t interval;
    bool has_mean;
    double mean_s;
    bool congested;
    double skewness;
    double variability_s;
    double frequency;
    double loss;
  } FmxDelayShapeStats;

/** FmxDelayInterval: what is kept of one interval T. */
  typedef struct
  {
    /*< private > */
    double mean;                /* ns */
    double deviation;           /* sum of |delay - mean of the one before|, ns */
    int32_t skew;               /* samples below the long-term mean - above it */
    uint32_t n;                 /* samples */
    uint32_t n_shape;           /* ... that were compared with a mean */
    uint32_t lost;
    bool congested;             /* then @deviation counts */
    bool crossing;
  } FmxDelayInterval;

/**
 * FmxDelayShape:
 *
 * The shape of one path's delays: what flows that share a bottleneck have in
 * common.  The delays may be relative: only their differences matter.
 *
 * A sample costs a few additions, an interval O(N); 3 KiB.
 *
 * Source: [RFC8382 3.2, 4].
 */
  typedef struct
  {
    /*< private > */
    FmxDelayShapeParams params;
    FmxDelayShapeStats stats;
    FmxDelayInterval now;
    int64_t sum;                /* of the delays, ns, less @origin */
    FmxDuration origin;
    FmxDuration last;
    bool begun;
    bool has_origin;
    double long_mean;           /* ns; of the M intervals before this one */
    double last_mean;           /* ns; of the interval before this one */
    bool has_long_mean;
    int side;                   /* of the long-term mean, at the last crossing */
    uint32_t newest;            /* in @history */
    FmxDelayInterval history[FMX_DELAY_SHAPE_MAX];
  } FmxDelayShape;

  void fmx_delay_shape_params_default (FmxDelayShapeParams *params);

  void fmx_delay_shape_init (FmxDelayShape *shape,
      const FmxDelayShapeParams *params);

/**
 * fmx_delay_shape_add:
 * @delay: of a packet that arrived, between two clocks that need not agree.  A jump
 *     of 10 s is a clock that was set: all begins anew.
 * @sent: when, not before those of earlier calls by more than an interval
 */
  void fmx_delay_shape_add (FmxDelayShape *shape, FmxDuration delay,
      FmxTime sent);

/** fmx_delay_shape_add_lost: a packet sent at @sent, or not long before, is lost */
  void fmx_delay_shape_add_lost (FmxDelayShape *shape, FmxTime sent);

/** fmx_delay_shape_get_stats: a snapshot, as of the last interval that has ended */
  void fmx_delay_shape_get_stats (const FmxDelayShape *shape,
      FmxDelayShapeStats *stats);

#ifdef __cplusplus
}
#endif

#endif                          /* FMX_DELAY_SHAPE_H */
