/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_PLAYOUT_START_H
#define FMX_PLAYOUT_START_H

#include "fairmix/playout/fmx-playout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a schedule begins, and when it begins anew. */

/** FMX_PLAYOUT_RESTART_STEP: of the transit time, that no network makes: another time line */
#define FMX_PLAYOUT_RESTART_STEP (5 * FMX_SECOND)

/** fmx_playout_start: on a time line of which nothing is known, but not before what was
 * scheduled on the one before has been played */
void fmx_playout_start (FmxPlayout * playout, const FmxPlayoutPacket * packet,
    FmxTime now);

/** fmx_playout_learn_fastest: of a packet that came @now.  When the first window is over, and
 * its fastest packets are slower than what the start took for them, the minimum is
 * short of by as much, until silence. */
void fmx_playout_learn_fastest (FmxPlayout * playout, FmxTime now);

/** fmx_playout_is_absurd: Returns: whether no network makes that time stamp of the last
 * one: it is off by seconds, or asks to wait for longer than anything may */
bool fmx_playout_is_absurd (const FmxPlayout * playout,
    const FmxPlayoutPacket * packet, FmxTime now);

/** fmx_playout_follows_silence: Returns: whether there was nothing to hear between the
 * last packet and this one */
bool fmx_playout_follows_silence (const FmxPlayout * playout,
    const FmxPlayoutPacket * packet);

/** fmx_playout_had_waited: Returns: whether the first packets were held up for something
 * that this one, after a pause, did not wait for: it is as if it were the first */
bool fmx_playout_had_waited (const FmxPlayout * playout,
    const FmxPlayoutPacket * packet, FmxTime now);

#ifdef __cplusplus
}
#endif

#endif /* FMX_PLAYOUT_START_H */
