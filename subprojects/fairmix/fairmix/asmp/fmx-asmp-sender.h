/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ASMP_SENDER_H
#define FMX_ASMP_SENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/asmp/fmx-asmp-pace.h"
#include "fairmix/asmp/fmx-asmp-receiver.h"
#include "fairmix/asmp/fmx-asmp-table.h"
#include "fairmix/base/fmx-event.h"
#include "fairmix/base/fmx-rate-meter.h"
#include "fairmix/base/fmx-time.h"
#include "fairmix/rate/fmx-rate-sender.h"
#include "fairmix/wire/fmx-asmp-app.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* Why the rate was decided anew: the reason of event "asmp-rate".  The
 * element's page has a table made of these lines (check-reasons.py --write). */

/* a receiver told a rate */
#define FMX_ASMP_REASON_RATE "rate"
/* a receiver that tells no rate reported */
#define FMX_ASMP_REASON_PLAIN_REPORT "plain-report"
/* others have told a rate since the receiver did */
#define FMX_ASMP_REASON_SPOKEN_FOR "spoken-for"
/* a receiver left */
#define FMX_ASMP_REASON_BYE "bye"
/* nothing was heard from a receiver for too long */
#define FMX_ASMP_REASON_TIME_OUT "time-out"
/* the limits were set anew */
#define FMX_ASMP_REASON_SETTINGS "settings"

/**
 * FmxAsmpSenderParams:
 * @algorithm: which
 * @initial_bps: until a receiver has spoken, in bits per second on the wire
 * @min_bps, @max_bps: the rate stays in between, 0 < min <= max
 * @lifetime: a receiver that is silent for so long has gone, and for five of the
 *     intervals at which receivers report now ([RFC3550 6.3.5]): large sessions
 *     have long ones.  "asmp-fair": the limiting receiver's rate stops counting
 *     after four of them, or of its own if those are longer, but not before 5 s
 * @patience: "asmp-fair": a receiver that has wanted less than @min_bps for so
 *     long is not waited for any more ([RFC4654 2.5.2])
 * @sink: (nullable): is told each decision
 */
  typedef struct
  {
    FmxAsmpAlgorithm algorithm;
    uint32_t initial_bps;
    uint32_t min_bps;
    uint32_t max_bps;
    FmxDuration lifetime;
    FmxDuration patience;
    const FmxEventSink *sink;
  } FmxAsmpSenderParams;

/** fmx_asmp_sender_params_default: "asmp-fair", 64 kbit/s at first, 16 kbit/s to
 * 10 Mbit/s, lifetime 25 s, patience 120 s */
  void fmx_asmp_sender_params_default (FmxAsmpSenderParams *params);

/**
 * FmxAsmpSenderStats:
 * @target_bps: what may be sent
 * @limiting_ssrc: whose rate that is; 0 = nobody's
 * @limiting_rtt: its round-trip time; 0 = not known
 * @n_receivers: remembered now
 * @n_plain: those of them whose rate comes from plain reports
 * @n_ignored: those of them whose rate is not waited for
 * @n_rates: rates that came
 * @n_implausible: of them, those that did not count: what the receiver says of
 *     its loss and its round trip gives more
 * @n_left: receivers that said goodbye
 * @n_timed_out: receivers that fell silent
 * @n_refused: receivers for which there was no memory
 */
  typedef struct
  {
    double target_bps;
    uint32_t limiting_ssrc;
    FmxDuration limiting_rtt;
    uint32_t n_receivers;
    uint32_t n_plain;
    uint32_t n_ignored;
    uint64_t n_rates;
    uint64_t n_implausible;
    uint64_t n_left;
    uint64_t n_timed_out;
    uint64_t n_refused;
  } FmxAsmpSenderStats;

/**
 * FmxAsmpReceiverInfo:
 * @ssrc: who
 * @rate_bps: what counts for it
 * @rtt: 0 = not known
 * @silence: since it was heard
 * @has_asmp: whether it tells rates; else they come from its reports
 * @counts: whether its rate does
 */
  typedef struct
  {
    uint32_t ssrc;
    uint32_t rate_bps;
    FmxDuration rtt;
    FmxDuration silence;
    bool has_asmp;
    bool counts;
  } FmxAsmpReceiverInfo;

/* The newest report for whose sender there was no room */
  typedef struct
  {
    FmxReportBlock block;
    FmxTime time;
    uint32_t ssrc;
    uint32_t rtt;
  } FmxAsmpRefused;

/**
 * FmxAsmpSender:
 *
 * The sender's side: the least of its receivers' rates,
 *
 * |[ target = min (r_1 ... r_n), between min_bps and max_bps      ASMP (1) ]|
 *
 * their round-trip times, and who of them is still there.
 *
 * A receiver that tells no rate, a plain one, gets one from its reports: ASMP's
 * own rule with the loss fractions of its last eight.
 *
 * Memory is the caller's: %FMX_ASMP_BYTES_PER_RECEIVER for each.  When it is
 * full, a newcomer whose rate counts takes the place of one with a higher rate, or
 * with none that counts, or is refused: the least rate is always known.  A report costs O(log n).
 *
 * What a receiver that lies can do: one that tells much raises nothing, since
 * the least counts.  One that tells little lowers the rate, to no less than
 * @min_bps; in "asmp-fair" only where that agrees with the loss that it tells
 * and the round trip that the sender has measured, and below @min_bps not for
 * longer than @patience.
 */
  typedef struct
  {
    /*< private > */
    FmxAsmpSenderParams params;
    FmxAsmpSenderStats stats;
    FmxAsmpTable table;
    double packet_bytes;
    double target_bps;
    double low_bps;             /* before it rose of late */
    FmxTime risen;              /* the first time of late */
    uint32_t limiting_ssrc;
    FmxRateMeter sent;
    uint32_t n_sent;            /* wraps */
    uint32_t n_plain, n_ignored;
    FmxTime told;               /* when round trips were */
    FmxAsmpPace pace;
    FmxAsmpRefused refused;
  } FmxAsmpSender;

/**
 * fmx_asmp_sender_init:
 * @memory, @n_max, @seed: as for fmx_asmp_table_init()
 */
  void fmx_asmp_sender_init (FmxAsmpSender *sender,
      const FmxAsmpSenderParams *params, void *memory, uint32_t n_max,
      uint32_t seed);

  static inline void
      fmx_asmp_sender_get_params (const FmxAsmpSender *sender,
      FmxAsmpSenderParams *params)
  {
    *params = sender->params;
  }

/** fmx_asmp_sender_set_params: from now on */
  void fmx_asmp_sender_set_params (FmxAsmpSender *sender,
      const FmxAsmpSenderParams *params, FmxTime now);

/** fmx_asmp_sender_on_sent: @wire_bytes: a packet's size with all headers */
  void fmx_asmp_sender_on_sent (FmxAsmpSender *sender, uint32_t wire_bytes,
      FmxTime now);

/**
 * fmx_asmp_sender_on_report:
 * @ssrc: who reports
 * @block: on our stream
 * @arrival_mid32: A, the middle 32 bits of the NTP time at which it came; with
 *     the block's LSR and DLSR it gives the round-trip time (ASMP (9)); one that
 *     cannot be is left out
 *
 * If the same report tells a rate, fmx_asmp_sender_on_rate() comes after it.
 */
  void fmx_asmp_sender_on_report (FmxAsmpSender *sender, uint32_t ssrc,
      const FmxReportBlock *block, uint32_t arrival_mid32, FmxTime now);

/**
 * fmx_asmp_sender_on_no_rate:
 *
 * A report of @ssrc for which fmx_asmp_sender_on_report() was called told none.
 * "asmp-fair": who tells rates at other times leaves them out where others speak
 * for it, so the last one it told is out of date: it has risen.
 */
  void fmx_asmp_sender_on_no_rate (FmxAsmpSender *sender, uint32_t ssrc);

/** fmx_asmp_sender_on_here: @ssrc says that it has rounds: no rate is reckoned from
 * its reports, and the one it told before is out of date.  A rate in the same report
 * comes after it. */
  void fmx_asmp_sender_on_here (FmxAsmpSender *sender, uint32_t ssrc,
      FmxTime now);

/** fmx_asmp_sender_on_rate: @ssrc tells its rate */
  void fmx_asmp_sender_on_rate (FmxAsmpSender *sender, uint32_t ssrc,
      const FmxAsmpRate *rate, FmxTime now);

/** fmx_asmp_sender_on_bye: @ssrc has left */
  void fmx_asmp_sender_on_bye (FmxAsmpSender *sender, uint32_t ssrc,
      FmxTime now);

/** Returns: when a receiver will have been silent for too long, or
 * %FMX_TIME_NONE */
  FmxTime fmx_asmp_sender_next_timeout (const FmxAsmpSender *sender);
  void fmx_asmp_sender_on_timeout (FmxAsmpSender *sender, FmxTime now);

/** Returns: what may be sent, in bits per second on the wire */
  double fmx_asmp_sender_target_bps (const FmxAsmpSender *sender);

/**
 * fmx_asmp_sender_take_rtts:
 * @header: (out): for the packet; @rtts: (out) (array length=n): for it
 * @n: how many there is room for, at most %FMX_ASMP_MAX_RTTS
 *
 * Round-trip times that have not been told since they were measured: the limiting
 * receiver's, those of receivers that have told rates since, then those of others.
 */
  void fmx_asmp_sender_take_rtts (FmxAsmpSender *sender,
      FmxAsmpRttHeader *header, FmxAsmpRtt *rtts, unsigned n, FmxTime now);

/**
 * fmx_asmp_sender_get_receivers:
 * @infos: (out) (array length=n): the limiting one first, then those heard
 *     longest ago
 *
 * Returns: how many were written
 */
  unsigned fmx_asmp_sender_get_receivers (const FmxAsmpSender *sender,
      FmxAsmpReceiverInfo *infos, unsigned n, FmxTime now);

/** fmx_asmp_sender_get_rate_bps: Returns: the rate of @ssrc; 0 if none is known */
  static inline uint32_t
      fmx_asmp_sender_get_rate_bps (const FmxAsmpSender *sender, uint32_t ssrc)
  {
    uint32_t at = fmx_asmp_table_find (&sender->table, ssrc);

      return at == FMX_ASMP_NOBODY ? 0 : sender->table.entries[at].rate_bps;
  }

  void fmx_asmp_sender_get_stats (const FmxAsmpSender *sender,
      FmxAsmpSenderStats *stats);

#ifdef __cplusplus
}
#endif

#endif /* FMX_ASMP_SENDER_H */
