/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_PLACES_H
#define FMX_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_PLACES_MAX: so many stand apart from each other */
#define FMX_PLACES_MAX 16

/**
 * FmxPlaces:
 *
 * Who stands where between left and right.  A newcomer takes a place that is free and
 * moves nobody; who left for a time and comes back has the place that he had.  The
 * middle is nobody's: mixes stand there.
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
 * @ssrc: who comes
 *
 * Returns: the place: that which was @ssrc's and is free; else the first that nobody had
 *     for a minute; else that which has been free for longest; where none is, that which
 *     the fewest share
 */
uint32_t fmx_places_take (FmxPlaces * places, uint32_t ssrc, FmxTime now);

/** fmx_places_leave: one of those at @place goes; he may come back */
void fmx_places_leave (FmxPlaces * places, uint32_t place, FmxTime now);

/** fmx_places_give_up: one of those at @place needs none after all */
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
 * fmx_places_toward:
 * @pan: where a mix stands
 * @goal: where the loudest in it has his place
 * @elapsed: since it stood there
 *
 * Returns: where the mix stands now: from the middle to one side in two seconds
 */
float fmx_places_toward (float pan, float goal, FmxDuration elapsed);

#ifdef __cplusplus
}
#endif

#endif /* FMX_PLACES_H */
