/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "delay-series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../jitter/synth.h"

#define SYNTH_INTERVAL (1 * FMX_MSECOND)
#define NAME_BYTES 64

/* Those that arrived; the first of them is sent at 0. */
static void
keep_arrived (Trace * trace)
{
  size_t n = 0;
  FmxTime first;

  for (size_t i = 0; i < trace->n_packets; i++)
    if (trace->packets[i].arrival != FMX_TIME_NONE)
      trace->packets[n++] = trace->packets[i];
  trace->n_packets = n;
  first = n > 0 ? trace->packets[0].send : 0;
  for (size_t i = 0; i < n; i++) {
    trace->packets[i].send -= first;
    trace->packets[i].arrival -= first;
  }
}

static FmxDuration
length_of (const Trace * trace)
{
  return (FmxDuration) trace->packets[trace->n_packets - 1].send
      + trace->interval;
}

static bool
open_trace (DelaySeries * series, const char *what, uint64_t seed)
{
  char name[NAME_BYTES];

  if (strncmp (what, "syn_", 4) != 0) {
    if (!trace_read (&series->trace, what))
      return false;
  } else {
    snprintf (name, sizeof name, "%s:%llu", what, (unsigned long long) seed);
    if (!synth_make_every (&series->trace, name, SYNTH_INTERVAL))
      return false;
  }
  keep_arrived (&series->trace);
  if (series->trace.n_packets == 0) {
    trace_free (&series->trace);
    return false;
  }
  series->begin = (FmxTime) (fmx_rng_next_unit (&series->rng)
      * (double) length_of (&series->trace));
  return true;
}

bool
delay_series_open (DelaySeries * series, const char *what, uint64_t seed)
{
  double ms;

  memset (series, 0, sizeof *series);
  fmx_rng_init (&series->rng, seed);
  if (sscanf (what, "even:%lf", &ms) == 1)
    series->even = fmx_time_from_s (ms / 1e3);
  else if (sscanf (what, "bursts:%lf", &ms) == 1)
    series->burst = fmx_time_from_s (ms / 1e3);
  else
    return open_trace (series, what, seed);
  return ms > 0.0;
}

/* When a packet of the trace arrives, this time round. */
static FmxTime
arrival_of (const DelaySeries * series, size_t i)
{
  const Trace *trace = &series->trace;

  if (i == trace->n_packets)    /* the first, next time */
    return series->origin + (FmxTime) length_of (trace)
        + trace->packets[0].arrival;
  return series->origin + trace->packets[i].arrival;
}

static FmxTime
sent_of (const DelaySeries * series, size_t i)
{
  const Trace *trace = &series->trace;

  if (i == trace->n_packets)
    return series->origin + (FmxTime) length_of (trace);
  return series->origin + trace->packets[i].send;
}

/* @now is on the trace's own time line */
static FmxTime
replay (DelaySeries * series, FmxTime now)
{
  FmxTime held, next;

  while (sent_of (series, series->at + 1) <= now)
    if (++series->at == series->trace.n_packets) {
      series->origin += (FmxTime) length_of (&series->trace);
      series->at = 0;
    }
  held = now + (arrival_of (series, series->at) - sent_of (series, series->at));
  next = arrival_of (series, series->at + 1);
  return held < next ? held : next;
}

FmxTime
delay_series_arrival (DelaySeries * series, FmxTime now)
{
  FmxTime arrival;

  if (series->even > 0)
    arrival = now + (FmxTime) (fmx_rng_next_unit (&series->rng)
        * (double) series->even);
  else if (series->burst > 0)
    arrival = (now + (FmxTime) series->burst - 1) / (FmxTime) series->burst
        * (FmxTime) series->burst;
  else
    arrival = replay (series, now + series->begin) - series->begin;
  if (arrival < series->last)
    arrival = series->last;
  series->last = arrival;
  return arrival;
}

void
delay_series_close (DelaySeries * series)
{
  trace_free (&series->trace);
}
