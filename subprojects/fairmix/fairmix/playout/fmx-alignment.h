/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ALIGNMENT_H
#define FMX_ALIGNMENT_H

#include <stdbool.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_ALIGNMENT_HOLDS: so long after it was told last it is believed */
#define FMX_ALIGNMENT_HOLDS (60 * FMX_SECOND)

/**
 * FmxAlignment:
 *
 * With what delay a stream is to be played so that its voice does not move when it goes
 * into a mix or comes out of one, as whoever mixes has told.
 */
typedef struct
{
  /*< private >*/
  FmxDuration delay;
  FmxTime told;
  FmxTime exact_at;             /* when an exact one was told, or FMX_TIME_NONE */
} FmxAlignment;

/** fmx_alignment_init: nothing was told */
void fmx_alignment_init (FmxAlignment * alignment);

/**
 * fmx_alignment_tell:
 * @delay: of playout, beyond the stream's media time
 * @exact: it is in the mix; else that is where it would be, reckoned from when one packet
 *     came there
 *
 * What is exact holds.  Of the others the least counts, for packets come late, not early;
 * so that clocks may drift, it rises slowly.
 */
void fmx_alignment_tell (FmxAlignment * alignment, FmxDuration delay,
    bool exact, FmxTime now);

/** fmx_alignment_move: whoever told is played so much later than when he did; < 0: sooner */
static inline void
fmx_alignment_move (FmxAlignment *alignment, FmxDuration by)
{
  alignment->delay += by;
}

/** fmx_alignment_get: @delay: (out).  Returns: false if none is known */
bool fmx_alignment_get (const FmxAlignment * alignment, FmxTime now,
    FmxDuration * delay);

#ifdef __cplusplus
}
#endif

#endif /* FMX_ALIGNMENT_H */
