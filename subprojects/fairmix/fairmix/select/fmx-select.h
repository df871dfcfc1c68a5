/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_SELECT_H
#define FMX_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_LEVEL_SILENCE: the lowest audio level, in -dBov ([RFC6464 3]). */
#define FMX_LEVEL_SILENCE 127u

/**
 * FmxSelectStream:
 * @priority: who stays separate longest; higher is longer, 0 is everybody
 * @group: streams of one group are mixed together before groups are mixed
 *     with each other; 0 is no group
 * @never_mix: stays separate whatever the target is
 * @must_mix: cannot be forwarded (the neighbour does not take its encoding)
 * @separate: whether it is separate now
 * @level: smoothed audio level, in -dBov, 0 loudest ... 127 silence
 * @wire_bps: what it costs to forward, in bits/s on the wire
 * @since: when it last changed between separate and mixed, or appeared
 * @mix: the number of the mix that it is in now, when it is not separate;
 *     0 when that is not known
 *
 * What the Selector knows of one stream that one neighbour may hear.
 */
typedef struct
{
  int32_t priority;
  uint32_t group;
  bool never_mix;
  bool must_mix;
  bool separate;
  uint8_t level;
  uint32_t wire_bps;
  FmxTime since;
  uint32_t mix;
} FmxSelectStream;

/**
 * FmxSelectParams:
 * @level_hysteresis_db: a mixed stream must be louder by so much than a
 *     separate one of the same priority to take its place, in dB
 * @min_stay: and the separate one must have been so for at least so long
 * @silence_level: levels from here on are all silence and equal, so that
 *     background noise gains no place; in -dBov; 0 makes no such difference
 */
typedef struct
{
  uint8_t level_hysteresis_db;
  FmxDuration min_stay;
  uint8_t silence_level;
} FmxSelectParams;

/** fmx_select_params_default: 10 dB, 2 s, -55 dBov */
void fmx_select_params_default (FmxSelectParams * params);

/**
 * fmx_select_rank:
 * @params: the user's choice
 * @streams: (array length=n): the streams
 * @order: (out) (array length=n): indices into @streams, the stream that
 *     deserves to stay separate most first, those that must be mixed last
 * @n: how many
 * @now: the time
 *
 * Never-mix first, then by priority, then by speech activity - but a stream
 * that is separate keeps its place against a mixed one of its priority unless
 * both conditions of @params are met.  The quietest of the separate ones is
 * the one whose place is taken: while that one may stay, so may the louder
 * ones.  A stream that is both never-mix and must-mix is mixed: it cannot be
 * forwarded.  Equal streams stay in the order in which they are given, so the
 * result is stable: nothing changes places unless something else changed.
 *
 * O(n log n), no memory beyond @order; @n is below 2^23.
 */
void fmx_select_rank (const FmxSelectParams * params,
    const FmxSelectStream * streams, uint32_t * order, size_t n, FmxTime now);

#ifdef __cplusplus
}
#endif

#endif /* FMX_SELECT_H */
