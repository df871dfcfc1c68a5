/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_PLAYOUT_OTHERS_H
#define FMX_PLAYOUT_OTHERS_H

#include "fairmix/playout/fmx-playout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a stream takes over from those that come over the same path. */

/**
 * fmx_playout_ask_others:
 * @transit: of the first packet
 * @delay: (out): to begin with, beyond the fastest packets
 *
 * A stream begins.  What others have found out holds, and who came with them in a queue
 * is not the fastest.
 *
 * Returns: the transit time of the fastest packets
 */
FmxDuration fmx_playout_ask_others (FmxPlayout * playout, FmxDuration transit,
    FmxTime now, FmxDuration * delay);

/** fmx_playout_join_others: it goes on after silence, in which nobody hears that its
 * delay grows to what others have who came meanwhile; after a long one, that it shrinks
 * to that */
void fmx_playout_join_others (FmxPlayout * playout,
    const FmxPlayoutPacket * packet, FmxTime now);

/** fmx_playout_is_apart: Returns: whether the stream is not where it was told to be, or
 * where it need not be any more */
bool fmx_playout_is_apart (const FmxPlayout * playout);

/** fmx_playout_take_place: nobody hears that it goes to the delay that it was told, or is
 * free of it */
void fmx_playout_take_place (FmxPlayout * playout,
    const FmxPlayoutPacket * packet, FmxTime now);

#ifdef __cplusplus
}
#endif

#endif /* FMX_PLAYOUT_OTHERS_H */
