/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_LOSS_INTERVALS_H
#define FMX_LOSS_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_LOSS_INTERVALS_N: closed intervals that count ([RFC5348 5.4]). */
#define FMX_LOSS_INTERVALS_N 8u

/** FMX_LOSS_INTERVALS_EVENTS: loss events remembered: more than count, so that
 * one that is taken back leaves a full history. */
#define FMX_LOSS_INTERVALS_EVENTS 16u

/**
 * FmxLossIntervalsParams:
 * @short_intervals: count every loss in intervals of at most two round-trip
 *     times, as small packets must ([RFC4828 3])
 * @discounting: forget old intervals faster while the current one grows long
 *     ([RFC5348 5.5])
 */
typedef struct
{
  bool short_intervals;
  bool discounting;
} FmxLossIntervalsParams;

/**
 * FmxLossIntervalsStats:
 * @n_events: loss events begun
 * @n_taken_back: loss events that a late acknowledgement undid
 */
typedef struct
{
  uint64_t n_events;
  uint64_t n_taken_back;
} FmxLossIntervalsStats;

/**
 * FmxLossRecord:
 * @number: which packet, in send order
 * @sent: when it was sent
 */
typedef struct
{
  uint64_t number;
  FmxTime sent;
} FmxLossRecord;

typedef struct
{
  /*< private >*/
  FmxLossRecord first;
  FmxDuration rtt;              /* when it began */
  double discount;              /* DF when it began */
  uint32_t n_lost;
} FmxLossEvent;

/**
 * FmxLossIntervals:
 *
 * The loss event rate p: lost packets in, weighted average of loss intervals
 * out.
 *
 * A loss event is all losses among the packets sent within one round-trip time
 * of the first one.  Interval I_i (i > 0) is the number of packets from the
 * beginning of one event to that of the next, I_0 that since the last event.
 *
 * |[
 *   w      = 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2
 *   DF     = I_0 > 2 I_mean ? max (2 I_mean / I_0, 0.25) : 1
 *   p      = min (W_0 / I_tot0, W_1 / I_tot1)
 *   I_tot0 = I_0 w_0 + sum (i = 1 ... 7) I_i w_i DF_i DF
 *   I_tot1 =           sum (i = 1 ... 8) I_i w_(i-1) DF_i
 * ]|
 *
 * where W_0 and W_1 are the same sums without I_i, and DF_i is the product of
 * the DF of all events since.  With @short_intervals an interval of N packets
 * and K losses that lasted at most two round-trip times has the length N/K,
 * and I_tot0 counts only when I_0 is longer than that.
 *
 * Times are those of sending: the sender keeps this history.
 * Source: [RFC5348 5.2-5.5], [RFC4828 3], DPM section 5.2.
 */
typedef struct
{
  /*< private >*/
  FmxLossIntervalsParams params;
  FmxLossIntervalsStats stats;
  FmxLossRecord newest;         /* highest number decided so far */
  bool has_newest;
  double synthetic;             /* before the oldest event; 0 = none */
  unsigned n_events;
  FmxLossEvent events[FMX_LOSS_INTERVALS_EVENTS];       /* newest first */
} FmxLossIntervals;

void fmx_loss_intervals_init (FmxLossIntervals * intervals,
    const FmxLossIntervalsParams * params);

/** fmx_loss_intervals_reset: as if nothing had been lost yet */
void fmx_loss_intervals_reset (FmxLossIntervals * intervals);

/** fmx_loss_intervals_set_params: for what comes; the history stays */
void fmx_loss_intervals_set_params (FmxLossIntervals * intervals,
    const FmxLossIntervalsParams * params);

/**
 * fmx_loss_intervals_on_packet:
 *
 * The fate of that packet is known, whatever it is: I_0 reaches to the highest
 * one.
 */
void fmx_loss_intervals_on_packet (FmxLossIntervals * intervals,
    FmxLossRecord packet);

/**
 * fmx_loss_intervals_on_lost:
 * @packet: was lost, or marked by ECN
 * @rtt: round-trip time now
 *
 * Normally in send order; an earlier one finds its place, too.
 * Returns: true if it begins a new loss event; if it is the first one, the
 * caller goes on with fmx_loss_intervals_set_first()
 */
bool fmx_loss_intervals_on_lost (FmxLossIntervals * intervals,
    FmxLossRecord packet, FmxDuration rtt);

/**
 * fmx_loss_intervals_take_back:
 * @packet: had been lost, but arrived
 * @next_lost: the first packet after it that is still lost, sent not more than
 *     @packet's event's round-trip time later; NULL if there is none
 *
 * Returns: true if that undid a whole event
 */
bool fmx_loss_intervals_take_back (FmxLossIntervals * intervals,
    FmxLossRecord packet, const FmxLossRecord * next_lost);

/**
 * fmx_loss_intervals_event_end:
 *
 * Returns: until when packets sent after @packet belong to its loss event;
 * @packet's own time if it is in none
 */
FmxTime fmx_loss_intervals_event_end (const FmxLossIntervals * intervals,
    FmxLossRecord packet);

/**
 * fmx_loss_intervals_set_first:
 * @packets: length of the interval before the first loss event, >= 1
 *
 * What was sent until the first loss says little of p, since the rate was
 * rising: the caller gives the interval that makes the TCP equation yield the
 * rate that is right ([RFC5348 6.3.1]).
 */
void fmx_loss_intervals_set_first (FmxLossIntervals * intervals,
    double packets);

/** fmx_loss_intervals_n_events: Returns: events remembered, 0 = p is 0 */
unsigned fmx_loss_intervals_n_events (const FmxLossIntervals * intervals);

/** fmx_loss_intervals_rate: Returns: p, in [0, 1]; 0 before the first event */
double fmx_loss_intervals_rate (const FmxLossIntervals * intervals);

/** fmx_loss_intervals_rebase: packets are numbered anew, @delta added */
void fmx_loss_intervals_rebase (FmxLossIntervals * intervals, int64_t delta);

void fmx_loss_intervals_get_stats (const FmxLossIntervals * intervals,
    FmxLossIntervalsStats * stats);

#ifdef __cplusplus
}
#endif

#endif /* FMX_LOSS_INTERVALS_H */
