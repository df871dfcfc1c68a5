/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef JITTER_TRACE_H
#define JITTER_TRACE_H

#include <stdbool.h>
#include <stddef.h>

#include "fairmix/base/fmx-time.h"

/**
 * TracePacket:
 * @send: when it was sent, from 0 on
 * @arrival: when it arrived, on a time line of its own on which the fastest
 *     packet of the trace takes no time at all; %FMX_TIME_NONE if it was lost
 */
typedef struct
{
  FmxTime send;
  FmxTime arrival;
} TracePacket;

/**
 * Trace:
 * @name: its file's name without `.csv.gz`
 * @packets: in the order of sending, which is that of arrival as well
 * @interval: between two packets, and how much media each holds
 */
typedef struct
{
  char name[64];
  TracePacket *packets;
  size_t n_packets;
  FmxDuration interval;
} Trace;

/** trace_read: of a .csv.gz with the columns seq, send_ms, arrival_ms */
bool trace_read (Trace * trace, const char *path);

/** trace_resample: a packet each @interval, with the delay (or the loss) of
 * the one that was sent last in @trace */
void trace_resample (Trace * trace, FmxDuration interval);

/** TRACE_SKEW_START: arrivals of made-up traces begin here, so that a clock
 * that is fast does not run before its start */
#define TRACE_SKEW_START (20 * FMX_SECOND)

/**
 * trace_make_skew:
 * @ppm: by how much the sender's clock is slower
 *
 * 20 ms packets for @length, 0 ... 8 ms of jitter, seeded.
 */
void trace_make_skew (Trace * trace, double ppm, FmxDuration length);

void trace_free (Trace * trace);

#endif /* JITTER_TRACE_H */
