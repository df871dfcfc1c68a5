/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ASMP_DELAY_H
#define FMX_ASMP_DELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C"
{
#endif

/** FMX_ASMP_DELAY_BASE_WINDOW: the path's time without a queue is the least of
 * one to two such windows: clocks that differ by 100 ppm part by 6 ms in two. */
#define FMX_ASMP_DELAY_BASE_WINDOW (30 * FMX_SECOND)

/**
 * FmxAsmpDelay:
 *
 * What a receiver knows of time: how regularly packets come, how long the path
 * is, and whether a queue grows on it.
 *
 * With R_i the arrival and S_i the RTP time of packet i,
 *
 * |[
 *   D_i  = (R_i - R_(i-1)) - (S_i - S_(i-1))              ASMP (4)
 *   J   += (|D_i| - J) / 16                               ASMP (5), [RFC3550 A.8]
 *   CJ_i = CJ_(i-1) + D_i = (R_i - R_1) - (S_i - S_1)     "cumulative jitter"
 *   A_i  = A_(i-1) + (CJ_i - A_(i-1)) / i                 ASMP (16), (17)
 *   congested: mean of CJ since the last report >= A      ASMP (18)
 *
 *   T1   = own time of arrival - sender's time of sending ASMP (6)
 *   t    = (1 + a) T1                                     ASMP (8); a = 1: (7)
 *   a    = RTT that the sender has measured / T1 - 1      ASMP (10)
 *   rtt  = beta t + (1 - beta) rtt                        ASMP (11), each report
 * ]|
 *
 * ASMP prints D without the bars in (5), against [RFC3550 A.8], which it cites;
 * without them jitter of both signs cancels.  For the indicator it is the other
 * way round: a sum of |D| can only grow, so that its newest values were always
 * above its mean; a sum of D "has increasing values" as a queue grows and
 * "almost constant values" where none does, as the text demands, and is how
 * much longer the path is now than for the first packet.
 *
 * Clocks need not agree: a carries their difference, also where T1 is negative.
 * When a sender report moves T1, because a clock was set, a is reckoned anew so
 * that t stays what it was.  Where T1 says nothing (no sender report yet, T1
 * about 0, or of another sign than before), t is what the sender measured last.
 */
  typedef struct
  {
    /*< private > */
    uint32_t clock_rate_hz;
    bool started;
    uint32_t last_ts;
    int64_t ticks;              /* S of the last packet, less S_1 */
    FmxTime first_arrival;
    double transit_s;           /* CJ of the last packet */
    double jitter_s;
    /* the congestion indicator */
    uint64_t n_long;
    double long_s;
    uint32_t n_short;
    double short_s;
    bool congested;
    /* the round trip */
    bool has_base, has_a, has_measured, has_rtt;
    double base_s;              /* T1 - CJ */
    double a;
    double measured_s;          /* what the sender said last */
    double mean_transit_s;      /* CJ, over some seconds */
    double sender_transit_s;    /* CJ when the newest sender report came */
    double reported_transit_s;  /* the same, as of the own last report */
    double rest_s;              /* of the round trip, less CJ */
    double rtt_s;
    /* the queue */
    FmxTime window_start;
    double window_least_s, before_least_s;
    bool has_before;
  } FmxAsmpDelay;

/** fmx_asmp_delay_init: @clock_rate_hz: of the RTP times, > 0 */
  void fmx_asmp_delay_init (FmxAsmpDelay *delay, uint32_t clock_rate_hz);

/** fmx_asmp_delay_restart: RTP times begin anew with the next packet; the round
 * trip is what it was */
  void fmx_asmp_delay_restart (FmxAsmpDelay *delay);

/** fmx_asmp_delay_on_packet: a packet with this RTP time has come */
  void fmx_asmp_delay_on_packet (FmxAsmpDelay *delay, uint32_t ts, FmxTime now);

/**
 * fmx_asmp_delay_on_sender_report:
 * @ts: an RTP time
 * @sender_time: the sender's clock at that time, in ns
 * @own_time: the own clock now, in ns; the same kind of clock (NTP time)
 */
  void fmx_asmp_delay_on_sender_report (FmxAsmpDelay *delay, uint32_t ts,
      FmxTime sender_time, FmxTime own_time, FmxTime now);

/** fmx_asmp_delay_on_rtt: the sender has measured @rtt, > 0 */
  void fmx_asmp_delay_on_rtt (FmxAsmpDelay *delay, FmxDuration rtt);

/**
 * fmx_asmp_delay_report:
 * @beta: weight of the newest value, in (0, 1]
 *
 * Ends the interval of a report: smooths the round-trip time, and judges the
 * network.
 */
  void fmx_asmp_delay_report (FmxAsmpDelay *delay, double beta);

/** Returns: the smoothed round-trip time; 0 = none known */
  FmxDuration fmx_asmp_delay_rtt (const FmxAsmpDelay *delay);

/** Returns: whether the sender has told a round-trip time */
  bool fmx_asmp_delay_is_measured (const FmxAsmpDelay *delay);

/**
 * fmx_asmp_delay_rtt_now:
 *
 * The round-trip time over the last seconds, without the clocks' difference.  What
 * the sender measures holds the queue that one of its reports met, some seconds ago:
 * CJ then goes off, and the mean of CJ now comes on.
 * Returns: > 0, or 0 = none known
 */
  FmxDuration fmx_asmp_delay_rtt_now (const FmxAsmpDelay *delay);

/** Returns: what the last report's indicator said: true = CONGESTED */
  bool fmx_asmp_delay_is_congested (const FmxAsmpDelay *delay);

/** Returns: J */
  FmxDuration fmx_asmp_delay_jitter (const FmxAsmpDelay *delay);

/** Returns: how much longer the path is than it was at its best of late, >= 0 */
  FmxDuration fmx_asmp_delay_queue (const FmxAsmpDelay *delay);

#ifdef __cplusplus
}
#endif

#endif                          /* FMX_ASMP_DELAY_H */
