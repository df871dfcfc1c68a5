/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/playout/fmx-needed-buffer.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* More than a smooth controller's rate moves between two decisions, less than any
 * back-off takes */
#define BACKOFF 0.05

void
fmx_needed_buffer_init (FmxNeededBuffer *needed)
{
  memset (needed, 0, sizeof *needed);
  needed->start = FMX_TIME_NONE;
}

static void
begin (FmxNeededBuffer *needed, double bps, FmxTime start)
{
  needed->start = start;
  needed->low_bps = needed->high_bps = bps;
}

/* The saw-tooth from @low_bps to @high_bps has ended.  alpha is in bytes, that
 * is of segments of one byte: nothing but alpha MSS matters. */
static void
take_tooth (FmxNeededBuffer *needed, FmxDuration length, FmxDuration rtt)
{
  FmxNeededBufferStats *stats = &needed->stats;
  double rtts = (double) length / (double) rtt;
  double rise_bps = needed->high_bps - needed->low_bps;
  double Bps = (needed->high_bps + needed->low_bps) / 2.0 / 8.0;
  FmxMinimalBufferParams params;
  double *delay_s;

  stats->beta = needed->low_bps / needed->high_bps;
  stats->increase_bps = rise_bps / rtts;
  stats->rate_bps = 8.0 * Bps;
  params.alpha = stats->increase_bps / 8.0 * fmx_time_to_s (rtt);
  params.beta = stats->beta;
  params.mss_bytes = 1;
  params.rtt = rtt;
  stats->bytes = fmx_minimal_buffer_bytes (&params, Bps);
  stats->discrete_bytes = fmx_minimal_buffer_bytes_discrete (&params, Bps);
  stats->two_backoffs_bytes =
      fmx_minimal_buffer_bytes_two_backoffs (&params, Bps);

  delay_s = needed->delay_s[stats->n_sawteeth++ % FMX_NEEDED_BUFFER_TEETH];
  delay_s[0] = stats->discrete_bytes / Bps;
  delay_s[1] = delay_s[0] * stats->two_backoffs_bytes / stats->bytes;
}

static void
fall (FmxNeededBuffer *needed, double bps, FmxDuration rtt, FmxTime now)
{
  if (!needed->falls && needed->start != FMX_TIME_NONE && rtt > 0
      && now > needed->start && needed->high_bps > needed->low_bps)
    take_tooth (needed, fmx_time_diff (now, needed->start), rtt);
  needed->falls = true;
  begin (needed, bps, now);
}

void
fmx_needed_buffer_on_rate (FmxNeededBuffer *needed, double bps,
    FmxDuration rtt, FmxTime now)
{
  assert (bps >= 0.0 && rtt >= 0);

  if (bps <= 0.0 || needed->high_bps <= 0.0) {
    begin (needed, bps, FMX_TIME_NONE);
    needed->falls = false;
  } else if (needed->falls ? bps <= needed->low_bps
      : bps < (1.0 - BACKOFF) * needed->high_bps) {
    fall (needed, bps, rtt, now);
  } else {
    needed->falls = false;
    needed->high_bps = fmax (needed->high_bps, bps);
  }
}

FmxDuration
fmx_needed_buffer_delay (const FmxNeededBuffer *needed, unsigned n_backoffs)
{
  double most_s = 0.0;

  assert (n_backoffs <= 2);
  if (n_backoffs == 0)
    return 0;
  for (unsigned i = 0; i < FMX_NEEDED_BUFFER_TEETH; i++)
    most_s = fmax (most_s, needed->delay_s[i][n_backoffs - 1]);
  return fmx_time_from_s (most_s);
}

void
fmx_needed_buffer_get_stats (const FmxNeededBuffer *needed,
    FmxNeededBufferStats *stats)
{
  *stats = needed->stats;
}
