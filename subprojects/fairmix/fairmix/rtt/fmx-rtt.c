/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rtt/fmx-rtt.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define R_GAIN 0.1              /* 1 - q, [RFC5348 4.3] */
#define SQMEAN_GAIN 0.1         /* 1 - q2, [RFC5348 4.5] */
#define OUTLIER_FACTOR 4
#define MAX_BACKOFF 16u

void
fmx_rtt_params_default (FmxRttParams *params)
{
  params->rto_initial = FMX_SECOND;     /* [RFC6298 2.1] */
  params->rto_min = FMX_SECOND; /* [RFC6298 2.4] */
  params->rto_max = 60 * FMX_SECOND;    /* [RFC6298 2.5] */
  params->granularity = FMX_MSECOND;
  params->median_window = 3 * FMX_SECOND;
  params->min_window = 10 * FMX_SECOND;
}

void
fmx_rtt_set_params (FmxRtt *rtt, const FmxRttParams *params)
{
  assert (params->rto_initial > 0 && params->rto_min >= 0);
  assert (params->rto_max >= params->rto_min && params->granularity >= 0);
  assert (params->median_window >= 0 && params->min_window > 0);

  rtt->params = *params;
}

void
fmx_rtt_init (FmxRtt *rtt, const FmxRttParams *params)
{
  memset (rtt, 0, sizeof *rtt);
  fmx_rtt_set_params (rtt, params);
  rtt->last = FMX_TIME_NONE;
  rtt->min_start = FMX_TIME_NONE;
}

/* [RFC6298 2.2, 2.3] */
static void
update_rto (FmxRtt *rtt, FmxDuration sample)
{
  FmxDuration error;

  if (rtt->stats.n_samples == 0) {
    rtt->srtt = sample;
    rtt->rttvar = sample / 2;
    return;
  }
  error = rtt->srtt > sample ? rtt->srtt - sample : sample - rtt->srtt;
  rtt->rttvar += (error - rtt->rttvar) / 4;
  rtt->srtt += (sample - rtt->srtt) / 8;
}

/* The median of those of the last samples that are recent; of an even number
 * the lower one. */
static FmxDuration
filter (FmxRtt *rtt, FmxDuration sample, FmxTime now)
{
  FmxDuration sorted[FMX_RTT_MEDIAN];
  unsigned n = 0;
  unsigned slot = (unsigned) (rtt->stats.n_samples % FMX_RTT_MEDIAN);

  rtt->recent[slot] = sample;
  rtt->recent_time[slot] = now;
  if (rtt->n_recent < FMX_RTT_MEDIAN)
    rtt->n_recent++;

  for (unsigned i = 0; i < rtt->n_recent; i++) {
    unsigned at = n;

    if (fmx_time_diff (now, rtt->recent_time[i]) > rtt->params.median_window)
      continue;
    for (; at > 0 && sorted[at - 1] > rtt->recent[i]; at--)
      sorted[at] = sorted[at - 1];
    sorted[at] = rtt->recent[i];
    n++;
  }
  return sorted[(n - 1) / 2];
}

static void
update_rate_estimates (FmxRtt *rtt, FmxTime now)
{
  double sample_s = fmx_time_to_s (rtt->median);
  double root = sqrt (sample_s);
  double rounds = 1.0;

  /* As long as the filter is filling its median is the best there is: a first
   * sample that is an outlier must not linger for dozens of round trips. */
  if (rtt->stats.n_samples < FMX_RTT_MEDIAN) {
    rtt->r_s = sample_s;
    rtt->sqmean = root;
    return;
  }
  /* [RFC5348 4.3] step 2 */
  rtt->r_s += R_GAIN * (sample_s - rtt->r_s);
  /* [RFC5348 4.5] R_sqmean = q2*R_sqmean + (1-q2)*sqrt(R_sample) */
  rounds = fmx_time_to_s (fmx_time_diff (now, rtt->last)) / rtt->r_s;
  if (rounds > 1.0)
    rounds = 1.0;
  rtt->sqmean += (1.0 - pow (1.0 - SQMEAN_GAIN, rounds))
      * (root - rtt->sqmean);
}

/* Two buckets, each a window long: what the older one knew is forgotten one to
 * two windows later. */
static void
update_min (FmxRtt *rtt, FmxDuration sample, FmxTime now)
{
  if (rtt->min_start == FMX_TIME_NONE) {
    rtt->min_start = now;
    rtt->min_now = rtt->min_before = sample;
  } else if (fmx_time_diff (now, rtt->min_start) >= rtt->params.min_window) {
    rtt->min_start = now;
    rtt->min_before = rtt->min_now;
    rtt->min_now = sample;
  }
  if (sample < rtt->min_now)
    rtt->min_now = sample;
}

bool
fmx_rtt_add (FmxRtt *rtt, FmxDuration sample, FmxTime now)
{
  if (sample < -FMX_RTT_TOLERANCE || sample > FMX_RTT_MAX) {
    rtt->stats.n_refused++;
    return false;
  }
  if (sample < FMX_RTT_MIN)
    sample = FMX_RTT_MIN;

  update_rto (rtt, sample);
  rtt->median = filter (rtt, sample, now);
  if (sample > OUTLIER_FACTOR * rtt->median)
    rtt->stats.n_outliers++;
  update_rate_estimates (rtt, now);
  update_min (rtt, sample, now);
  rtt->backoff = 0;
  rtt->last = now;
  rtt->stats.n_samples++;
  return true;
}

void
fmx_rtt_back_off (FmxRtt *rtt)
{
  if (rtt->backoff < MAX_BACKOFF)
    rtt->backoff++;
}

bool
fmx_rtt_is_known (const FmxRtt *rtt)
{
  return rtt->stats.n_samples > 0;
}

FmxDuration
fmx_rtt_smoothed (const FmxRtt *rtt)
{
  return fmx_time_from_s (rtt->r_s);
}

FmxDuration
fmx_rtt_median (const FmxRtt *rtt)
{
  return rtt->median;
}

FmxDuration
fmx_rtt_min (const FmxRtt *rtt)
{
  return rtt->min_now < rtt->min_before ? rtt->min_now : rtt->min_before;
}

FmxDuration
fmx_rtt_srtt (const FmxRtt *rtt)
{
  return rtt->srtt;
}

FmxDuration
fmx_rtt_rttvar (const FmxRtt *rtt)
{
  return rtt->rttvar;
}

FmxDuration
fmx_rtt_rto_first (const FmxRtt *rtt)
{
  const FmxRttParams *params = &rtt->params;
  FmxDuration rto = params->rto_initial;
  FmxDuration variance = 4 * rtt->rttvar;

  if (rtt->stats.n_samples > 0)
    rto = rtt->srtt
        + (variance > params->granularity ? variance : params->granularity);
  if (rto < params->rto_min)
    rto = params->rto_min;
  return rto < params->rto_max ? rto : params->rto_max;
}

FmxDuration
fmx_rtt_rto (const FmxRtt *rtt)
{
  FmxDuration most = rtt->params.rto_max, rto = fmx_rtt_rto_first (rtt);

  for (unsigned i = 0; i < rtt->backoff && rto < most; i++)
    rto *= 2;
  return rto < most ? rto : most;
}

double
fmx_rtt_damping (const FmxRtt *rtt)
{
  if (rtt->stats.n_samples == 0)
    return 1.0;
  return rtt->sqmean / sqrt (fmx_time_to_s (rtt->median));
}

void
fmx_rtt_get_stats (const FmxRtt *rtt, FmxRttStats *stats)
{
  *stats = rtt->stats;
}

bool
fmx_rtt_from_report (uint32_t ntp_now_mid32, uint32_t lsr, uint32_t dlsr,
    FmxDuration *sample)
{
  /* [RFC3550 6.4.1] A - LSR - DLSR, all modulo 2^32 */
  int32_t units = (int32_t) (ntp_now_mid32 - lsr - dlsr);
  FmxDuration d = (FmxDuration) units * FMX_SECOND / 65536;

  if (lsr == 0 || d < -FMX_RTT_TOLERANCE || d > FMX_RTT_MAX)
    return false;
  *sample = d;
  return true;
}
