/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ADAPT_STREAMS_H
#define FMX_ADAPT_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
 * @headroom: a plan that costs more than the present one must leave so much
 *     of the target unused, as a share of it, in [0, 1); a plan that costs no
 *     more need not
 * @max_streams: how many streams the neighbour can take, mixes included; 0 =
 *     any number.  Who has a few decoders, or a few places in a browser, is a
 *     bottleneck like a narrow link (DPM 3.2: the end system).
 * @lasting_bps: a plan that costs more than the present one may come to that and no more,
 *     and leaves the headroom of it; the mixes may use the rest of the target.  0 = the
 *     target
 *
 * @mix_min_bps must not exceed @mix_max_bps.
 */
typedef struct
{
  uint32_t mix_min_bps;
  uint32_t mix_max_bps;
  double headroom;
  uint32_t max_streams;
  uint64_t lasting_bps;
} FmxAdaptParams;

/**
 * FmxAdaptPlan:
 * @n_separate: streams that are forwarded
 * @n_mixes: mixes, numbered 0, 1, ...; 0 when everything is separate (or
 *     held)
 * @mix_bps: what each mix may use on the wire, in bits/s
 * @used_bps: what the plan is expected to need, in bits/s
 * @next_bps: the target at which one stream more would be separate, or, where they are
 *     held, none held any more; 0 = there is none, or the target is 0
 * @collapsed: streams of different groups share the only mix
 */
typedef struct
{
  uint32_t n_separate;
  uint32_t n_mixes;
  uint32_t mix_bps;
  uint64_t used_bps;
  uint64_t next_bps;
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
 * paper asks, no more mixing than is needed.
 *
 * - Streams become separate in the order given.  Where one does not fit,
 *   smaller ones of the same priority may pass it; lower priorities may not.
 * - Each group has a mix of its own, streams without a group share one.  Where
 *   even with the least separate streams there is no room for all these, those
 *   of the highest group numbers join the streams without a group, one by
 *   one, until there is one mix.
 * - No mix is made where forwarding its streams costs no more, and they can be
 *   forwarded: one small stream alone, or two (not for want of room, though).
 * - Where there are more streams than @max_streams, mixes are made for their
 *   number's sake as well, and every stream that may yet speak counts, a silent
 *   one like a loud one.
 * - Never-mix streams are separate whatever the target is, unless it is 0.  But
 *   of more than @max_streams - 1 of them, with others beside them, only the
 *   first in the order are.
 * - Where not even one mix fits, everything else is held.  Nothing but
 *   never-mix streams ever exceeds the target, nor a mix that is made only for
 *   want of places, of streams that cost less than @mix_min_bps together: it
 *   counts what they do.
 * - The mixes share what the target leaves, between @mix_min_bps and
 *   @mix_max_bps each.
 *
 * @streams says what the present plan is (separate, mix).  When the result is
 * written back there and nothing else changes, the next plan is the same -
 * unless a stream has just lost its place that protected louder ones (see
 * fmx_select_rank()): then these may lose theirs.
 *
 * O(n) for a few groups, no memory beyond @assignment.
 * Source: DPM section 3.2, 5.3; docs/algorithms/adapt.md.
 */
void fmx_adapt_plan_streams (const FmxAdaptParams * params,
    uint64_t target_bps, const FmxSelectStream * streams,
    const uint32_t * order, int32_t * assignment, size_t n,
    FmxAdaptPlan * plan);

#ifdef __cplusplus
}
#endif

#endif /* FMX_ADAPT_STREAMS_H */
