/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "fairmix/base/fmx-rng.h"

#define MAX_PACKETS (1u << 24)

static void
set_name (Trace * trace, const char *path)
{
  const char *base = strrchr (path, '/');
  char *dot;

  snprintf (trace->name, sizeof trace->name, "%s", base ? base + 1 : path);
  dot = strchr (trace->name, '.');
  if (dot)
    *dot = '\0';
}

/* Delays are relative: the smallest becomes none. */
static void
shift_to_zero (Trace * trace, const double *arrival_ms)
{
  double least = INFINITY;

  for (size_t i = 0; i < trace->n_packets; i++) {
    double delay = arrival_ms[i] - (double) trace->packets[i].send / 1e6;

    if (delay < least)          /* false for a lost one: NaN */
      least = delay;
  }
  for (size_t i = 0; i < trace->n_packets; i++) {
    double t = arrival_ms[i] - least;

    trace->packets[i].arrival = isnan (t) ? FMX_TIME_NONE :
        (FmxTime) llround (t * 1e6);
    if (trace->packets[i].arrival < trace->packets[i].send)
      trace->packets[i].arrival = trace->packets[i].send;
  }
}

bool
trace_read (Trace * trace, const char *path)
{
  gzFile file = gzopen (path, "rb");
  size_t size = 0;
  double *arrival_ms = NULL;
  char line[128];

  memset (trace, 0, sizeof *trace);
  if (file == NULL)
    return false;
  set_name (trace, path);
  while (gzgets (file, line, sizeof line)) {
    double send_ms, arrival;
    unsigned long seq;
    int n = sscanf (line, "%lu,%lf,%lf", &seq, &send_ms, &arrival);

    if (n < 2)
      continue;                 /* the header */
    if (trace->n_packets == size) {
      size = size ? 2 * size : 4096;
      if (size > MAX_PACKETS)
        abort ();
      trace->packets = realloc (trace->packets, size * sizeof (TracePacket));
      arrival_ms = realloc (arrival_ms, size * sizeof (double));
    }
    trace->packets[trace->n_packets].send = (FmxTime) llround (send_ms * 1e6);
    arrival_ms[trace->n_packets++] = n == 3 ? arrival : (double) NAN;
  }
  gzclose (file);
  if (trace->n_packets < 2) {
    free (arrival_ms);
    trace_free (trace);
    return false;
  }
  trace->interval = (FmxDuration) ((trace->packets[trace->n_packets - 1].send
          - trace->packets[0].send) / (trace->n_packets - 1));
  shift_to_zero (trace, arrival_ms);
  free (arrival_ms);
  return true;
}

void
trace_resample (Trace * trace, FmxDuration interval)
{
  FmxDuration length = (FmxDuration) trace->n_packets * trace->interval;
  size_t n = (size_t) (length / interval);
  TracePacket *packets = calloc (n, sizeof *packets);
  FmxTime last = 0;

  for (size_t i = 0; i < n; i++) {
    const TracePacket *old = &trace->packets[(size_t) ((FmxDuration) i
            * interval / trace->interval)];

    packets[i].send = (FmxTime) ((FmxDuration) i * interval);
    packets[i].arrival = FMX_TIME_NONE;
    if (old->arrival == FMX_TIME_NONE)
      continue;
    packets[i].arrival = packets[i].send + (old->arrival - old->send);
    if (packets[i].arrival < last)
      packets[i].arrival = last;
    last = packets[i].arrival;
  }
  free (trace->packets);
  trace->packets = packets;
  trace->n_packets = n;
  trace->interval = interval;
}

void
trace_make_skew (Trace * trace, double ppm, FmxDuration length)
{
  FmxRng rng;
  FmxTime last = 0;

  memset (trace, 0, sizeof *trace);
  snprintf (trace->name, sizeof trace->name, "skew%+.0fppm", ppm);
  trace->interval = 20 * FMX_MSECOND;
  trace->n_packets = (size_t) (length / trace->interval);
  trace->packets = calloc (trace->n_packets, sizeof (TracePacket));
  fmx_rng_init (&rng, 1);
  for (size_t i = 0; i < trace->n_packets; i++) {
    double send = (double) i * (double) trace->interval;
    double arrival = send * (1.0 + ppm * 1e-6)
        + fmx_rng_next_unit (&rng) * 8e6 + (double) TRACE_SKEW_START;

    trace->packets[i].send = (FmxTime) send;
    trace->packets[i].arrival = (FmxTime) arrival > last ?
        (FmxTime) arrival : last;
    last = trace->packets[i].arrival;
  }
}

void
trace_free (Trace * trace)
{
  free (trace->packets);
  memset (trace, 0, sizeof *trace);
}
