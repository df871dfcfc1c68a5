/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef JITTER_POLICY_ELEMENT_H
#define JITTER_POLICY_ELEMENT_H

#include "score.h"

/**
 * policy_element:
 * @description: as in a gst-launch line: "rtpjitterbuffer latency=60"
 * @playouts: one for each packet of @trace
 *
 * Feeds the trace to an element in virtual time: a GstTestClock stands still
 * until everything that can come out has come out.  A packet is due at its
 * timestamp plus the latency that the element reports.
 */
void policy_element (const Trace * trace, const char *description,
    Playout * playouts);

/**
 * policy_element_feed:
 * @description: of an element or "( a bin )"; "" for none
 *
 * Feeds @trace, of which every packet must come out, one by one, and notes
 * nothing: to count what that costs.
 */
void policy_element_feed (const Trace * trace, const char *description);

#endif /* JITTER_POLICY_ELEMENT_H */
