/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_PLACES_H
#define FMX_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_PLACES_MAX: so many voices stand apart from each other; more of them share places */
#define FMX_PLACES_MAX 16

/**
 * FmxPlaces:
 *
 * Which voice stands where between left and right, for one listener.  A newcomer takes a
 * free place and moves nobody.  A voice that left and comes back within a minute gets the
 * place that it had.  No place is in the middle, where mixes stand.
 */
typedef struct
{
  /*< private >*/
  struct
  {
    uint32_t ssrc;              /* who came here last */
    uint32_t n_here;            /* more than one where all places are taken */
    bool used;
    FmxTime left_at;
  } places[FMX_PLACES_MAX];
} FmxPlaces;

void fmx_places_init (FmxPlaces * places);

/**
 * fmx_places_take:
 * @ssrc: whose voice comes
 * @now: on any clock that fmx_places_leave() is told of as well
 *
 * Returns: its place, less than %FMX_PLACES_MAX: the one that it had, if that is free;
 *     else the first that nobody had for a minute; else the one that has been free for
 *     longest; if none is free, one that the fewest share
 */
uint32_t fmx_places_take (FmxPlaces * places, uint32_t ssrc, FmxTime now);

/** fmx_places_leave: one of those at @place goes; he may come back */
void fmx_places_leave (FmxPlaces * places, uint32_t place, FmxTime now);

/** fmx_places_give_up: one of those at @place was no voice, and needs none; nobody comes
 * back to it */
void fmx_places_give_up (FmxPlaces * places, uint32_t place);

/**
 * fmx_places_find:
 * @place: (out): where @ssrc stands or stood, if anywhere
 *
 * Returns: whether there is such a place
 */
bool fmx_places_find (const FmxPlaces * places, uint32_t ssrc,
    uint32_t * place);

/** fmx_places_pan: Returns: where @place is, from -1, left, to 1, right */
float fmx_places_pan (uint32_t place);

/**
 * fmx_places_goal:
 * @ssrcs: (array length=n): whom a mix names
 * @levels: (array length=n) (nullable): theirs, in -dBov [RFC6465]; %NULL: they are not told
 * @pan: (out): where the loudest of them has a place, or had one; 0, the middle, if that is
 *     not known
 *
 * Returns: whether the mix is to go there; false: none of them is louder than -60 dBov
 */
bool fmx_places_goal (const FmxPlaces * places, const uint32_t * ssrcs,
    const uint8_t * levels, uint32_t n, float *pan);

/**
 * fmx_places_toward:
 * @pan: where a mix stood, from -1, left, to 1, right
 * @goal: where it goes
 * @elapsed: since then, >= 0
 *
 * Returns: where the mix stands now: nearer to @goal by up to 0.4 in a second
 */
float fmx_places_toward (float pan, float goal, FmxDuration elapsed);

#ifdef __cplusplus
}
#endif

#endif /* FMX_PLACES_H */
