/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ADAPT_STREAMS_H
#define FMX_ADAPT_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"
#include "fairmix/select/fmx-select.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_TARGET_UNLIMITED: no target: everything may stay separate. */
#define FMX_TARGET_UNLIMITED UINT64_MAX

/** FMX_ADAPT_MAX_MIXES: at most so many mixes for one neighbour. */
#define FMX_ADAPT_MAX_MIXES 16u

/** FMX_ADAPT_SEPARATE: the stream is forwarded (see #FmxAdaptPlan). */
#define FMX_ADAPT_SEPARATE (-1)
/** FMX_ADAPT_HELD: the target does not even carry a mix: nothing is sent. */
#define FMX_ADAPT_HELD (-2)

/**
 * FmxAdaptParams:
 * @mix_min_bps: the least that one mix costs on the wire, in bits/s
 * @mix_max_bps: the most that a mix may use when the target leaves room
 * @headroom: an increase (a stream more that is separate, a mix less) needs
 *     so much more than it costs, as a share of the target, in [0, 1)
 */
typedef struct
{
  uint32_t mix_min_bps;
  uint32_t mix_max_bps;
  double headroom;
} FmxAdaptParams;

/**
 * FmxAdaptPlan:
 * @n_separate: streams that are forwarded
 * @n_mixes: mixes; 0 when everything is separate (or held)
 * @mix_bps: what each mix may use on the wire, in bits/s
 * @used_bps: what the plan is expected to need, in bits/s
 * @collapsed: all groups share one mix
 */
typedef struct
{
  uint32_t n_separate;
  uint32_t n_mixes;
  uint32_t mix_bps;
  uint64_t used_bps;
  bool collapsed;
} FmxAdaptPlan;

/**
 * fmx_adapt_plan_streams:
 * @params: the user's choice
 * @target_bps: what the neighbour's path carries, in bits/s on the wire;
 *     0 = nothing, %FMX_TARGET_UNLIMITED = no limit
 * @streams: (array length=n): the streams
 * @order: (array length=n): from fmx_select_rank()
 * @assignment: (out) (array length=n): for each of @streams
 *     %FMX_ADAPT_SEPARATE, %FMX_ADAPT_HELD or the number of its mix
 * @n: how many
 * @plan: (out): the totals
 *
 * Keeps separate as many streams as fit beside the mixes of the rest: as the
 * paper asks, no more mixing than is needed.  A single stream is never "mixed"
 * alone where forwarding it costs no more and it can be forwarded.  Groups
 * get a mix each as long as these fit, then all share one.  Never-mix streams
 * are separate whatever the target is - unless it is 0.
 * Source: DPM section 3.2, 5.3.
 */
void fmx_adapt_plan_streams (const FmxAdaptParams * params,
    uint64_t target_bps, const FmxSelectStream * streams,
    const uint32_t * order, int32_t * assignment, size_t n,
    FmxAdaptPlan * plan);

#ifdef __cplusplus
}
#endif

#endif /* FMX_ADAPT_STREAMS_H */
