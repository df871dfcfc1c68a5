/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ASMP_RECEIVER_H
#define FMX_ASMP_RECEIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/asmp/fmx-asmp-carried.h"
#include "fairmix/asmp/fmx-asmp-delay.h"
#include "fairmix/asmp/fmx-asmp-events.h"
#include "fairmix/asmp/fmx-asmp-feedback.h"
#include "fairmix/asmp/fmx-asmp-loss.h"
#include "fairmix/asmp/fmx-asmp-others.h"
#include "fairmix/base/fmx-rate-meter.h"
#include "fairmix/base/fmx-restart.h"
#include "fairmix/base/fmx-time.h"
#include "fairmix/wire/fmx-asmp-app.h"

#ifdef __cplusplus
extern "C"
{
#endif

/**
 * FmxAsmpAlgorithm:
 * @FMX_ASMP_PAPER: "asmp": the paper's, see docs/algorithms/asmp.md
 * @FMX_ASMP_FAIR: "asmp-fair": rates of a TCP with full segments, from loss
 *     events; a queue that stands; a joiner measures before it counts
 */
  typedef enum
  {
    FMX_ASMP_PAPER,
    FMX_ASMP_FAIR
  } FmxAsmpAlgorithm;

/** FMX_ASMP_N_ALGORITHMS: how many there are */
#define FMX_ASMP_N_ALGORITHMS 2u

/** fmx_asmp_algorithm_names: by #FmxAsmpAlgorithm */
  extern const char *const fmx_asmp_algorithm_names[FMX_ASMP_N_ALGORITHMS];

/**
 * FmxAsmpReceiverParams:
 * @algorithm: which
 * @clock_rate_hz: of the stream's RTP times, > 0
 * @beta: weight of the newest round-trip time (ASMP (11)), in (0, 1]
 * @gamma_congested: weight of the newest rate, when the indicator says CONGESTED
 *     (ASMP (14), (19)), in (0, 1]; 1 = no smoothing, as in the paper's figure 4
 * @gamma_unloaded: the same, UNLOADED
 * @segment_bytes: of the TCP to be fair to ([RFC4828 3]); "asmp-fair" only
 * @growth: before the first loss, what may be sent for each bit that comes,
 *     >= 1; "asmp-fair" only
 * @growth_after_loss: the same after that, for the limiting receiver: reports are
 *     seconds apart, and what is too much is lost for as long
 * @fall: of what comes, at least so much may be sent, whatever was lost; 0 ... 1
 * @queue: a queue as long as this ends that growth; "asmp-fair" only
 * @settle: how long a joiner measures before its rate counts; "asmp-fair" only
 * @feedback: for large sessions
 * @rounds: it may report in each round of a large session: the caller calls
 *     fmx_asmp_receiver_schedule() before the first report, too, and when a turn has
 *     passed without one, and puts FMX_ASMP_APP_HERE into the first report, and into
 *     each without a rate.
 *     Then who wants no less than the sender sends tells nothing.  "asmp-fair" only
 */
  typedef struct
  {
    FmxAsmpAlgorithm algorithm;
    uint32_t clock_rate_hz;
    double beta;
    double gamma_congested;
    double gamma_unloaded;
    double segment_bytes;
    double growth;
    double growth_after_loss;
    double fall;
    FmxDuration queue;
    FmxDuration settle;
    FmxAsmpFeedbackParams feedback;
    bool rounds;
  } FmxAsmpReceiverParams;

/** fmx_asmp_receiver_params_default: "asmp-fair", 48 kHz, ASMP's beta 0.5 and gamma
 * 0.2 and 0.9, 1460 bytes, growth 2, 1.25 after a loss, fall 0.7, a queue of 50 ms, 1 s to settle */
  void fmx_asmp_receiver_params_default (FmxAsmpReceiverParams *params);

/**
 * FmxAsmpReceiverStats:
 * @rate_bps: what the last report told, in bits per second on the wire
 * @received_bps: what comes, likewise
 * @rtt: the round-trip time reckoned with; 0 = none known
 * @loss: the loss rate reckoned with, in [0, 1]
 * @jitter: J of RFC 3550
 * @queue: how much longer the path is than at its best
 * @congested: the congestion indicator
 * @measured: whether the rate counts
 * @n_packets: that came
 * @n_reports: that told the rate
 * @n_suppressed: that another's report stood for
 * @n_restarts: of the stream's numbers
 */
  typedef struct
  {
    double rate_bps;
    double received_bps;
    FmxDuration rtt;
    double loss;
    FmxDuration jitter;
    FmxDuration queue;
    bool congested;
    bool measured;
    uint64_t n_packets;
    uint64_t n_reports;
    uint64_t n_suppressed;
    uint64_t n_restarts;
  } FmxAsmpReceiverStats;

/**
 * FmxAsmpReceiver:
 *
 * A receiver of one stream: packets, sender reports and round-trip times in, the
 * rate that is fair on its path out, with each RTCP report.
 *
 * "asmp", with l, t, P the smoothed loss, the round-trip time, and the mean size
 * of the packets since the last report:
 *
 * |[
 *   r_inst = equation (l, t, P)          if something was lost since the last
 *                                        report, (12)
 *            r + P/t                     else, (13)
 *   r      = gamma r_inst + (1 - gamma) r, (14)
 * ]|
 *
 * where r begins as what comes.  Before there is a round-trip time it stays that.
 *
 * "asmp-fair", with p the loss event rate and X what comes:
 *
 * |[
 *   r    = max (min (TCP equation (1460, t, p), most), fall X)    after a loss
 *          most, or X while a queue stands                          before
 *   most = growth X                             something was lost since the report
 *          max (growth X, the sender's rate)    nothing was
 * ]|
 *
 * The sender hears of losses after seconds, not after a round trip: until then each
 * round trip has another loss event, and the equation alone would let a rate that
 * was too high fall to nothing.
 *
 * and round-trip times that follow each packet's delay.
 */
  typedef struct
  {
    /*< private > */
    FmxAsmpReceiverParams params;
    FmxAsmpReceiverStats stats;
    uint32_t media_ssrc;
    FmxRestart restart;
    FmxRateMeter meter;
    FmxAsmpLoss loss;
    FmxAsmpDelay delay;
    FmxAsmpEvents events;
    FmxAsmpCarried carried;
    FmxAsmpOthers others;
    FmxAsmpFeedback feedback;
    FmxTime first_packet;
    uint64_t report_bytes;      /* since the last report */
    uint32_t report_packets;
    uint64_t interval_bytes;    /* likewise, companions' too */
    FmxTime interval_start;
    double interval_bps;        /* that came in the one before */
    double rate_bps;
    bool has_rate;
    bool urgent;
    bool lost;                  /* something, in the last interval */
    double fraction;            /* of it */
    double usual_fraction;      /* the share lost of old, before it */
    double packets_per_s;       /* that came in it */
    double packet_bytes;        /* of each, in the mean */
    bool overrun;               /* much was lost once */
    FmxTime last_loss;          /* when an event began */
    uint32_t own_ssrc;          /* 0 = not known */
    uint32_t limiting_ssrc;
    double sender_bps;
    double others_rtt_s;        /* that the sender has told; 0 = none */
    double others_bps;          /* the least that others tell in this round */
    double low_others_bps;      /* below half of the sender's */
    double joiners_bps;         /* that have not measured yet */
    unsigned silenced;          /* rounds in a row, by low rates of others */
    bool speaks_up;             /* in this round, whatever those are */
  } FmxAsmpReceiver;

  void fmx_asmp_receiver_init (FmxAsmpReceiver *receiver,
      const FmxAsmpReceiverParams *params, uint32_t media_ssrc);

/** fmx_asmp_receiver_on_packet: @wire_bytes: its size with IP and UDP headers */
  void fmx_asmp_receiver_on_packet (FmxAsmpReceiver *receiver, uint16_t seq,
      uint32_t ts, uint32_t wire_bytes, FmxTime now);

/** fmx_asmp_receiver_on_companion: a packet of another stream of the same sender:
 * all of them together are held against one TCP */
  void fmx_asmp_receiver_on_companion (FmxAsmpReceiver *receiver,
      uint32_t wire_bytes, FmxTime now);

/**
 * fmx_asmp_receiver_on_sender_report:
 * @ts: an RTP time
 * @sender_time: the sender's clock at that time, NTP time in ns
 * @own_time: the own clock now, NTP time in ns; they need not agree
 */
  void fmx_asmp_receiver_on_sender_report (FmxAsmpReceiver *receiver,
      uint32_t ts, FmxTime sender_time, FmxTime own_time, FmxTime now);

/**
 * fmx_asmp_receiver_on_rtt:
 * @own_ssrc: who we are
 * @header: what the sender tells everybody
 * @data: of the packet, as fmx_asmp_rtt_read() has read it: if it tells of
 *     @own_ssrc, that is taken
 */
  void fmx_asmp_receiver_on_rtt (FmxAsmpReceiver *receiver, uint32_t own_ssrc,
      const FmxAsmpRttHeader *header, const uint8_t *data);

/** fmx_asmp_receiver_on_peer: another receiver tells its rate */
  void fmx_asmp_receiver_on_peer (FmxAsmpReceiver *receiver,
      const FmxAsmpRate *rate, FmxTime now);

/**
 * fmx_asmp_receiver_report:
 * @rate: (out): what to tell
 *
 * With each report of the session: ends the interval.
 * Returns: whether the report is to carry @rate: not before the first packet,
 *     and in a large session not when another has spoken
 */
  bool fmx_asmp_receiver_report (FmxAsmpReceiver *receiver, FmxAsmpRate *rate,
      FmxTime now);

/** fmx_asmp_receiver_schedule: see fmx_asmp_feedback_schedule(); after each
 * report */
  void fmx_asmp_receiver_schedule (FmxAsmpReceiver *receiver,
      FmxDuration interval, uint32_t n_receivers, double u, FmxTime now);

/** Returns: when fmx_asmp_receiver_on_timeout() has something to do */
  FmxTime fmx_asmp_receiver_next_timeout (const FmxAsmpReceiver *receiver);

/** Returns: whether to ask for a report now */
  bool fmx_asmp_receiver_on_timeout (FmxAsmpReceiver *receiver, FmxTime now);

/** Returns: whether the sender has said that this one limits its rate */
  bool fmx_asmp_receiver_is_limiting (const FmxAsmpReceiver *receiver);

/** fmx_asmp_receiver_take_urgent: Returns: whether something was lost that lowers
 * the sender's rate, since the last call: early feedback ([RFC4585]) is worth
 * while.  "asmp-fair" only. */
  bool fmx_asmp_receiver_take_urgent (FmxAsmpReceiver *receiver, FmxTime now);

  void fmx_asmp_receiver_get_stats (const FmxAsmpReceiver *receiver,
      FmxAsmpReceiverStats *stats, FmxTime now);

#ifdef __cplusplus
}
#endif

#endif                          /* FMX_ASMP_RECEIVER_H */
