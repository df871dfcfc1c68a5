/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_SHARED_BOTTLENECK_H
#define FMX_SHARED_BOTTLENECK_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"
#include "fairmix/topology/fmx-delay-shape.h"

#ifdef __cplusplus
extern "C"
{
#endif

/** FMX_SHARED_BOTTLENECK_MAX: the most flows */
#define FMX_SHARED_BOTTLENECK_MAX 256u

/** FMX_SHARED_BOTTLENECK_INTERVALS: whose mean delays are compared, a power of 2 */
#define FMX_SHARED_BOTTLENECK_INTERVALS 64u

/** FMX_SHARED_BOTTLENECK_PAIRS: of @n flows */
#define FMX_SHARED_BOTTLENECK_PAIRS(n) ((size_t) (n) * ((n) - 1) / 2)

/** FMX_NO_GROUP: a flow that shares its bottleneck with no other, or has none */
#define FMX_NO_GROUP UINT32_MAX

/**
 * FmxSharedBottleneckParams:
 * @by_shape: the shapes of the delays tell flows apart, too, as in [RFC8382]; false
 * @p_f, @p_mad, @p_s, @p_d: then flows are told apart that differ by more in frequency,
 *     variability (relative), skewness, loss (relative); 0.1, 0.1, 0.15, 0.1
 * @p_l: loss counts from here on; 0.1
 * @least_correlation: flows are told apart whose delays do not rise and fall
 *     together, -1 ... 1; 0.95; -1, and @by_shape: [RFC8382] to the letter
 * @n_intervals: over which that is judged, up to %FMX_SHARED_BOTTLENECK_INTERVALS; 60
 * @memory: over so many intervals it is judged whether two stay together; 60
 * @tie, @untie: of those they must have been together in this share before they
 *     count as together, and in less than that before they do not any more; 0.75, 0.3
 *
 * [RFC8382 2.2], and what is ours: see docs/algorithms/topology.md.
 */
  typedef struct
  {
    bool by_shape;
    double p_f;
    double p_mad;
    double p_s;
    double p_d;
    double p_l;
    double least_correlation;
    uint32_t n_intervals;
    double memory;
    double tie;
    double untie;
  } FmxSharedBottleneckParams;

/** FmxSharedFlow: what is known of one flow. */
  typedef struct
  {
    /*< private > */
    bool present;
    bool fresh;                 /* something new since the last update */
    FmxDelayShapeStats shape;
    uint64_t interval[FMX_SHARED_BOTTLENECK_INTERVALS];
    float mean_s[FMX_SHARED_BOTTLENECK_INTERVALS];
  } FmxSharedFlow;

/** FmxSharedPair: what is known of two. */
  typedef struct
  {
    /*< private > */
    float together;             /* smoothed, 0 ... 1 */
    bool tied;
  } FmxSharedPair;

/**
 * FmxSharedBottleneck:
 *
 * Which of many flows go through the same bottleneck, by the shape of their delays
 * and by whether they rise and fall together.
 *
 * |[
 *   each interval T, for each flow:
 *     fmx_delay_shape_get_stats (&shape, &stats);
 *     fmx_shared_bottleneck_set (&sb, flow, &stats);
 *   fmx_shared_bottleneck_update (&sb);
 * ]|
 *
 * O(n^2) an update.  Source: [RFC8382 3.3].
 */
  typedef struct
  {
    /*< private > */
    FmxSharedBottleneckParams params;
    uint32_t n;
    FmxSharedFlow *flows;
    FmxSharedPair *pairs;
    uint32_t groups_now[FMX_SHARED_BOTTLENECK_MAX];
    uint32_t groups[FMX_SHARED_BOTTLENECK_MAX];
  } FmxSharedBottleneck;

  void fmx_shared_bottleneck_params_default (FmxSharedBottleneckParams *params);

/**
 * fmx_shared_bottleneck_init:
 * @flows: (array length=n): the caller's memory, to live as long
 * @pairs: FMX_SHARED_BOTTLENECK_PAIRS (n), likewise
 * @n: how many flows there may be, up to %FMX_SHARED_BOTTLENECK_MAX
 */
  void fmx_shared_bottleneck_init (FmxSharedBottleneck *sb,
      const FmxSharedBottleneckParams *params, FmxSharedFlow *flows,
      FmxSharedPair *pairs, uint32_t n);

/** fmx_shared_bottleneck_set: what @flow looks like after an interval */
  void fmx_shared_bottleneck_set (FmxSharedBottleneck *sb, uint32_t flow,
      const FmxDelayShapeStats *shape);

/** fmx_shared_bottleneck_forget: @flow is no more; the number may be used again */
  void fmx_shared_bottleneck_forget (FmxSharedBottleneck *sb, uint32_t flow);

/** fmx_shared_bottleneck_update: once each T */
  void fmx_shared_bottleneck_update (FmxSharedBottleneck *sb);

/** fmx_shared_bottleneck_group: Returns: the group that @flow is in, named by the
 * lowest flow in it; %FMX_NO_GROUP */
  uint32_t fmx_shared_bottleneck_group (const FmxSharedBottleneck *sb,
      uint32_t flow);

/** fmx_shared_bottleneck_correlation: Returns: how much the delays of two flows
 * rise and fall together, -1 ... 1; 0 if too little is known */
  double fmx_shared_bottleneck_correlation (const FmxSharedBottleneck *sb,
      uint32_t a, uint32_t b);

#ifdef __cplusplus
}
#endif

#endif                          /* FMX_SHARED_BOTTLENECK_H */
