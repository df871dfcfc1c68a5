/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef NET_DELAY_SERIES_H
#define NET_DELAY_SERIES_H

#include <stdbool.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/base/fmx-time.h"

#include "../jitter/trace.h"

/* A way whose delay wanders, over the time; how much it carries is not its affair.
 * Packets keep their order. */

/**
 * DelaySeries:
 * @even: a packet is late by an evenly random part of this; 0 = not so
 * @burst: all are held until a multiple of this; 0 = not so
 * @trace: else this one's delays, for ever
 * @rng: of @even
 * @begin: the first packet's place in @trace
 * @origin: when @trace began, this time round
 * @at: the packet of @trace that was sent last
 * @last: when the last packet arrived
 */
typedef struct
{
  FmxDuration even;
  FmxDuration burst;
  Trace trace;
  FmxRng rng;
  FmxTime begin;
  FmxTime origin;
  size_t at;
  FmxTime last;
} DelaySeries;

/**
 * delay_series_open:
 * @what: "even:MS", "bursts:MS", the name of a made-up trace, or a trace's file
 * @seed: of what is random; a trace begins somewhere else with another
 *
 * What is lost in a trace says nothing about the delay: losses are not replayed.
 * A made-up trace is made finer than one packet in 20 ms, as a bundle has hundreds a second.
 *
 * Returns: %FALSE if there is no such
 */
bool delay_series_open (DelaySeries * series, const char *what, uint64_t seed);

/**
 * delay_series_arrival:
 * @now: when it is sent, never before the last one
 *
 * A packet between two of the trace's has the delay of the earlier one, but has
 * arrived when the later one does: so a stall holds what was sent in it, and all of
 * it arrives when it ends.
 *
 * Returns: when the packet arrives
 */
FmxTime delay_series_arrival (DelaySeries * series, FmxTime now);

void delay_series_close (DelaySeries * series);

#endif /* NET_DELAY_SERIES_H */
