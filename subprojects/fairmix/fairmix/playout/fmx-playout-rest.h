/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_PLAYOUT_REST_H
#define FMX_PLAYOUT_REST_H

#include "fairmix/playout/fmx-playout.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Most packets of most streams go a short way: each comes in time, follows the one
 * before it, and nothing stands in the queue; both rules have the same delay, so
 * that both would sound the same.  What they cost in such a time is reckoned when
 * it is over.  It decides what the long way decides.
 */

/** fmx_playout_long_way: fmx_playout_on_packet() for each packet that does not go
 * the short way */
FmxPlayoutDecision fmx_playout_long_way (FmxPlayout * playout,
    const FmxPlayoutPacket * packet, FmxTime now);

#ifdef __cplusplus
}
#endif

#endif /* FMX_PLAYOUT_REST_H */
