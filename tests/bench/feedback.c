/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What congestion control feedback costs and how fast it is, in virtual time:
 * n streams of one kind, 60 s, 2 % of the packets lost; the reports as the
 * collector schedules them.
 *
 *   feedback [--csv]
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/wire/fmx-ccfb-collector.h"
#include "fairmix/wire/fmx-ccfb.h"

#define MAX_STREAMS 64u
#define MTU 1172u
#define LOSS 0.02
#define SPACING (20 * FMX_MSECOND)
#define DURATION (60 * FMX_SECOND)
#define WARM_UP (2 * FMX_SECOND)

typedef struct
{
  const char *name;
  unsigned n_streams;
  uint32_t wire_bytes;          /* IP, UDP and RTP headers included */
} Load;

typedef struct
{
  unsigned n_reports;
  FmxTime last_report;
  FmxDuration longest;
  unsigned n_losses;            /* whose next packet arrived */
  FmxDuration loss_sum;         /* from that packet to the report */
  FmxDuration loss_longest;
  uint64_t n_told;
  uint64_t n_metrics;
} Result;

/* A gap that its stream's next packet has shown. */
typedef struct
{
  uint32_t ssrc;
  uint16_t seq;
  FmxTime shown;
} Gap;

static const Load loads[] = {
  {"Opus 24 kbit/s", 1, 100},
  {"Opus 24 kbit/s", 2, 100},
  {"Opus 24 kbit/s", 4, 100},
  {"Opus 24 kbit/s", 8, 100},
  {"Opus 24 kbit/s", 16, 100},
  {"Opus 24 kbit/s", 32, 100},
  {"Opus 24 kbit/s", 64, 100},
  {"G.711", 1, 200},
  {"G.711", 2, 200},
  {"G.711", 4, 200},
  {"G.711", 8, 200},
  {"G.711", 16, 200},
  {"G.711", 32, 200},
  {"G.711", 64, 200},
};

static FmxCcfbStream streams[MAX_STREAMS];
static Gap gaps[MAX_STREAMS * 16];
static size_t n_gaps;

static void
read_report (Result * result, const uint8_t * data, size_t length, FmxTime now)
{
  FmxCcfbReader reader;
  FmxCcfbMetric metric;

  if (!fmx_ccfb_reader_init_packet (&reader, data, length, NULL))
    abort ();
  while (fmx_ccfb_reader_next (&reader, &metric)) {
    result->n_metrics++;
    for (size_t i = 0; i < n_gaps && !metric.received; i++) {
      FmxDuration delay = fmx_time_diff (now, gaps[i].shown);

      if (gaps[i].ssrc != metric.ssrc || gaps[i].seq != metric.seq)
        continue;
      gaps[i] = gaps[--n_gaps];
      if (gaps[i].shown < (FmxTime) WARM_UP)
        break;
      result->n_losses++;
      result->loss_sum += delay;
      if (delay > result->loss_longest)
        result->loss_longest = delay;
      break;
    }
  }
}

static void
write_reports (FmxCcfbCollector * collector, Result * result, FmxTime now)
{
  uint8_t data[MTU];
  size_t length;
  bool counts = now >= (FmxTime) WARM_UP;

  if (counts && result->last_report != FMX_TIME_NONE) {
    FmxDuration interval = fmx_time_diff (now, result->last_report);

    result->n_reports++;
    if (interval > result->longest)
      result->longest = interval;
  }
  if (counts)
    result->last_report = now;
  while ((length = fmx_ccfb_collector_write (collector, data, sizeof data, 0,
              now)) > 0)
    read_report (result, data, length, now);
}

static void
run (const Load * load, FmxCcfbCollector * collector, Result * result)
{
  FmxCcfbCollectorParams params;
  FmxRng rng;
  uint16_t lost_since[MAX_STREAMS] = { 0 };

  fmx_rng_init (&rng, 1);
  fmx_ccfb_collector_params_default (&params);
  fmx_ccfb_collector_init (collector, &params, streams, MAX_STREAMS);
  memset (result, 0, sizeof *result);
  result->last_report = FMX_TIME_NONE;
  n_gaps = 0;
  for (unsigned n = 0;; n++) {
    FmxTime now = n * (FmxTime) SPACING / load->n_streams, due;
    uint32_t ssrc = n % load->n_streams;
    FmxCcfbArrival arrival = { ssrc, (uint16_t) (n / load->n_streams), 0,
      load->wire_bytes, 0
    };

    if (now > (FmxTime) DURATION)
      return;
    while ((due = fmx_ccfb_collector_next_timeout (collector)) <= now)
      write_reports (collector, result, due);
    result->n_told++;
    if (fmx_rng_next_unit (&rng) < LOSS) {
      lost_since[ssrc]++;
      continue;
    }
    for (; lost_since[ssrc] > 0; lost_since[ssrc]--)
      if (n_gaps < sizeof gaps / sizeof *gaps)
        gaps[n_gaps++] = (Gap) {
        ssrc, (uint16_t) (arrival.seq - lost_since[ssrc]), now};
    fmx_ccfb_collector_on_packet (collector, &arrival, now);
  }
}

int
main (int argc, char **argv)
{
  bool csv = argc == 2 && strcmp (argv[1], "--csv") == 0;
  static FmxCcfbCollector collector;

  if (argc > 1 && !csv) {
    fprintf (stderr, "usage: %s [--csv]\n", argv[0]);
    return 2;
  }
  printf (csv ? "codec,streams,media_kbps,share_percent,interval_ms,"
      "longest_interval_ms,loss_told_ms,loss_told_longest_ms,times_said\n"
      : "%-16s %7s %8s %7s %9s %9s %10s %9s %6s\n", "codec", "streams",
      "kbit/s", "share %", "interval", "longest", "loss told", "longest",
      "said");
  for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
    FmxCcfbCollectorStats stats;
    Result result;

    run (&loads[i], &collector, &result);
    fmx_ccfb_collector_get_stats (&collector, &stats);
    printf (csv ? "%s,%u,%.1f,%.2f,%.1f,%.1f,%.1f,%.1f,%.2f\n"
        : "%-16s %7u %8.1f %7.2f %6.1f ms %6.1f ms %7.1f ms %6.1f ms %6.2f\n",
        loads[i].name, loads[i].n_streams,
        loads[i].n_streams * loads[i].wire_bytes * 8.0
        / ((double) SPACING / FMX_MSECOND),
        100.0 * (double) stats.report_bytes / (double) stats.media_bytes,
        (double) (DURATION - WARM_UP) / FMX_MSECOND / result.n_reports,
        (double) result.longest / FMX_MSECOND,
        (double) result.loss_sum / FMX_MSECOND / result.n_losses,
        (double) result.loss_longest / FMX_MSECOND,
        (double) result.n_metrics / (double) result.n_told);
  }
  return 0;
}
