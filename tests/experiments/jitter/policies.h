/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef JITTER_POLICIES_H
#define JITTER_POLICIES_H

#include "fairmix/playout/fmx-playout.h"
#include "score.h"

/* Each says when every packet of @trace is played, into @playouts, which has
 * room for all of them. */

/** policy_lib: libfairmix alone, without an element around it */
void policy_lib (const Trace * trace, const FmxPlayoutParams * params,
    Playout * playouts);

/** policy_none: no buffer: at each tick of the display, a packet time apart,
 * what arrived since the last one; if that is several packets, the newest */
void policy_none (const Trace * trace, Playout * playouts);

/** policy_clairvoyant: a constant delay for each second, chosen by somebody
 * who knows what will come: for each 10 s the compromise between loss and
 * delay that is rated best.  A bound, with an elastic sink. */
bool policy_clairvoyant (const Trace * trace, Playout * playouts);

/** policy_speex: the jitter buffer of speexdsp, asked once a packet time, with
 * a margin of one packet, as Mumble uses it.  False if it was not built in. */
bool policy_speex (const Trace * trace, Playout * playouts);

#endif /* JITTER_POLICIES_H */
