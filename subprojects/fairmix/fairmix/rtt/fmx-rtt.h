/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RTT_H
#define FMX_RTT_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_RTT_MAX: a longer round trip is not one: the sample is refused. */
#define FMX_RTT_MAX (60 * FMX_SECOND)

/** FMX_RTT_TOLERANCE: a sample may be negative by so much, since report
 * timestamps and hold times are rounded (1/1024 s in [RFC8888 3.1]). */
#define FMX_RTT_TOLERANCE (2 * FMX_MSECOND)

/** FMX_RTT_MIN: what a sample that is less, or negative by rounding, becomes. */
#define FMX_RTT_MIN (10 * FMX_USECOND)

/** FMX_RTT_MEDIAN: the median filter looks at so many samples at most. */
#define FMX_RTT_MEDIAN 5u

/**
 * FmxRttParams:
 * @rto_initial: before the first sample; 1 s ([RFC6298 2.1])
 * @rto_min: floor; 1 s ([RFC6298 2.4]); voice wants to know earlier
 * @rto_max: ceiling, also of the back-off; >= 60 s ([RFC6298 2.5])
 * @granularity: of the clock, G ([RFC6298 2])
 * @median_window: samples older than this do not outvote a new one
 * @min_window: how long a minimum is remembered, at least
 */
typedef struct
{
  FmxDuration rto_initial;
  FmxDuration rto_min;
  FmxDuration rto_max;
  FmxDuration granularity;
  FmxDuration median_window;
  FmxDuration min_window;
} FmxRttParams;

/**
 * FmxRttStats:
 * @n_samples: taken
 * @n_refused: negative or absurd
 * @n_outliers: taken, but more than four times what was used in their place
 */
typedef struct
{
  uint64_t n_samples;
  uint64_t n_refused;
  uint64_t n_outliers;
} FmxRttStats;

/**
 * FmxRtt:
 *
 * The round-trip time of a path, from samples with the receiver's hold time
 * subtracted.  Two readings of the same samples:
 *
 * - SRTT, RTTVAR and RTO from every sample, as TCP has them:
 *
 *   |[
 *     RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - sample|
 *     SRTT   = 7/8 SRTT   + 1/8 sample
 *     RTO    = clamp (SRTT + max (G, 4 RTTVAR), rto_min, rto_max) * 2^backoff
 *   ]|
 *
 *   A spike makes the RTO longer, as it should.
 *
 * - R and R_sqmean, which set the rate, from the median of the last five
 *   samples: a machine that stalls for a moment (up to two samples in five)
 *   does not look like a long path, and a queue that really grows is followed
 *   two samples later.
 *
 *   |[
 *     R        = 0.9 R + 0.1 median                        [RFC5348 4.3]
 *     R_sqmean = 0.9 R_sqmean + 0.1 sqrt (median)          [RFC5348 4.5]
 *   ]|
 *
 *   R_sqmean moves by 0.1 for each round-trip time that passed rather than for
 *   each sample, so that feedback more often than once per RTT leaves it the
 *   long-term mean that it is meant to be.
 *
 * Source: [RFC6298 2], [RFC5348 4.3, 4.5], DPM section 5.1.
 */
typedef struct
{
  /*< private >*/
  FmxRttParams params;
  FmxRttStats stats;
  FmxDuration srtt;
  FmxDuration rttvar;
  unsigned backoff;
  double r_s;
  double sqmean;
  FmxDuration median;
  FmxDuration recent[FMX_RTT_MEDIAN];
  FmxTime recent_time[FMX_RTT_MEDIAN];
  unsigned n_recent;
  FmxTime last;
  FmxDuration min_now;
  FmxDuration min_before;
  FmxTime min_start;
} FmxRtt;

/** fmx_rtt_params_default: 1 s, 1 s, 60 s, 1 ms, 3 s, 10 s */
void fmx_rtt_params_default (FmxRttParams * params);

void fmx_rtt_init (FmxRtt * rtt, const FmxRttParams * params);

/** fmx_rtt_set_params: from now on; what was measured stays */
void fmx_rtt_set_params (FmxRtt * rtt, const FmxRttParams * params);

/**
 * fmx_rtt_add:
 * @sample: round-trip time, hold time subtracted
 *
 * Ends a back-off ([RFC6298 5.7], last paragraph but one).
 * Returns: false if @sample is negative by more than %FMX_RTT_TOLERANCE or
 * longer than %FMX_RTT_MAX: then it is not used
 */
bool fmx_rtt_add (FmxRtt * rtt, FmxDuration sample, FmxTime now);

/** fmx_rtt_back_off: the RTO expired: double it ([RFC6298 5.5]) */
void fmx_rtt_back_off (FmxRtt * rtt);

/** fmx_rtt_is_known: Returns: whether there was a sample */
bool fmx_rtt_is_known (const FmxRtt * rtt);

/** fmx_rtt_smoothed: Returns: R; 0 before the first sample */
FmxDuration fmx_rtt_smoothed (const FmxRtt * rtt);

/** fmx_rtt_median: Returns: the median of the last five samples; 0 before the
 * first */
FmxDuration fmx_rtt_median (const FmxRtt * rtt);

/** fmx_rtt_min: Returns: the least sample of the last one to two
 * @min_window; 0 before the first */
FmxDuration fmx_rtt_min (const FmxRtt * rtt);

/** fmx_rtt_srtt: Returns: SRTT; 0 before the first sample */
FmxDuration fmx_rtt_srtt (const FmxRtt * rtt);

/** fmx_rtt_rttvar: Returns: RTTVAR; 0 before the first sample */
FmxDuration fmx_rtt_rttvar (const FmxRtt * rtt);

/** fmx_rtt_rto: Returns: RTO */
FmxDuration fmx_rtt_rto (const FmxRtt * rtt);

/** fmx_rtt_rto_first: Returns: what RTO was before it was backed off */
FmxDuration fmx_rtt_rto_first (const FmxRtt * rtt);

/** fmx_rtt_damping: Returns: R_sqmean / sqrt (R_sample), the factor of the
 * instantaneous rate ([RFC5348 4.5]): below 1 while a queue builds up; 1 before
 * the first sample */
double fmx_rtt_damping (const FmxRtt * rtt);

void fmx_rtt_get_stats (const FmxRtt * rtt, FmxRttStats * stats);

/**
 * fmx_rtt_from_report:
 * @ntp_now_mid32: middle 32 bits of the NTP time at which the report arrived
 * @lsr: of the report block; 0 = no SR received yet
 * @dlsr: of the report block, in 1/65536 s
 * @sample: (out): the round-trip time
 *
 * |[ sample = now - LSR - DLSR ]|, modulo 2^32 in 1/65536 s
 * ([RFC3550 6.4.1]).
 *
 * Returns: false if @lsr is 0 or the result is not a round-trip time: a lie,
 * or a clock that jumped
 */
bool fmx_rtt_from_report (uint32_t ntp_now_mid32, uint32_t lsr, uint32_t dlsr,
    FmxDuration * sample);

#ifdef __cplusplus
}
#endif

#endif /* FMX_RTT_H */
