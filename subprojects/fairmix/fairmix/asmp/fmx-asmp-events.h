/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ASMP_EVENTS_H
#define FMX_ASMP_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-serial.h"
#include "fairmix/base/fmx-time.h"
#include "fairmix/loss/fmx-loss-intervals.h"

#ifdef __cplusplus
extern "C"
{
#endif

/** FMX_ASMP_EVENTS_REORDER: a packet is lost when so many later ones have come
 * ([RFC5348 5.1]). */
#define FMX_ASMP_EVENTS_REORDER 3u

/** FMX_ASMP_EVENTS_WINDOW: arrivals remembered; more than may be out of order */
#define FMX_ASMP_EVENTS_WINDOW 16u

/** FMX_ASMP_EVENTS_STEADY: over how many loss events their rate is taken while
 * it is steady */
#define FMX_ASMP_EVENTS_STEADY 32u

/** FMX_ASMP_EVENTS_DIFFER: it is not, when the newest eight give so many times
 * more or less */
#define FMX_ASMP_EVENTS_DIFFER 3.0

/** FMX_ASMP_EVENTS_RARER: with few others: they may be so many times rarer: one who leaves
 * makes more room than chance does */
#define FMX_ASMP_EVENTS_RARER 1.7

/** FMX_ASMP_EVENTS_STEADY_LARGE, FMX_ASMP_EVENTS_DIFFER_LARGE: the same in a
 * session of so many receivers that the least of their rates would be the one that
 * chance has made low */
#define FMX_ASMP_EVENTS_STEADY_LARGE 128u
#define FMX_ASMP_EVENTS_DIFFER_LARGE 10.0

  typedef struct
  {
    /*< private > */
    uint64_t number;
    FmxTime time;
  } FmxAsmpArrival;

/**
 * FmxAsmpEvents:
 *
 * Loss events as a receiver sees them: sequence numbers in, #FmxLossIntervals
 * out.  Where those speak of the time of sending, here it is that of arrival,
 * and for a lost packet what lies between its neighbours ([RFC5348 5.2]).
 */
  typedef struct
  {
    /*< private > */
    FmxLossIntervals intervals;
    FmxSerial seq;
    bool started;
    uint64_t highest;
    uint64_t undecided;         /* the first one */
    FmxAsmpArrival before;      /* the last one decided that came */
    double steady;              /* loss interval, over FMX_ASMP_EVENTS_STEADY */
    double packets, lost;       /* of an event, over as many */
    unsigned n_steady;
    uint32_t n_receivers;
    bool large;
    bool few_others;
    FmxAsmpArrival arrivals[FMX_ASMP_EVENTS_WINDOW];
  } FmxAsmpEvents;

  void fmx_asmp_events_init (FmxAsmpEvents *events);

/** fmx_asmp_events_restart: numbers begin anew with the next packet; what was
 * lost before still counts */
  void fmx_asmp_events_restart (FmxAsmpEvents *events);

/**
 * fmx_asmp_events_on_packet:
 * @seq: no jump that #FmxRestart would not let pass
 * @rtt: round-trip time, > 0
 *
 * Returns: how many loss events began
 */
  unsigned fmx_asmp_events_on_packet (FmxAsmpEvents *events, uint16_t seq,
      FmxDuration rtt, FmxTime now);

/**
 * fmx_asmp_events_set_receivers:
 * @n_receivers: of the session, from now on: the least of their rates counts
 * @large: whether it is large
 */
  void fmx_asmp_events_set_receivers (FmxAsmpEvents *events,
      uint32_t n_receivers, bool large);

/** fmx_asmp_events_set_few_others: see fmx_asmp_others_are_few(); from now on */
  void fmx_asmp_events_set_few_others (FmxAsmpEvents *events, bool few);

/** fmx_asmp_events_set_first: the interval before the first event, in packets
 * ([RFC5348 6.3.1]) */
  void fmx_asmp_events_set_first (FmxAsmpEvents *events, double packets);

/** Returns: loss events remembered, 0 = none ever */
  unsigned fmx_asmp_events_count (const FmxAsmpEvents *events);

/**
 * fmx_asmp_events_rate:
 *
 * Over eight loss intervals, as [RFC5348 5.4] has it, p is so uncertain that a rate
 * on an unchanging path would vary by a fifth.  So the mean interval I_s follows, at
 * each loss event, with the weight 1/%FMX_ASMP_EVENTS_STEADY (in the beginning one
 * over their number), and is what counts as long as the eight differ from it by no
 * more than %FMX_ASMP_EVENTS_DIFFER times (%FMX_ASMP_EVENTS_RARER upwards with few
 * others); if they do it begins anew with them.
 *
 * Returns: the loss event rate p, in [0, 1]
 */
  double fmx_asmp_events_rate (const FmxAsmpEvents *events);

/** Returns: the share of packets that was lost, in [0, 1], over as many events as
 * fmx_asmp_events_rate() counts; 0 before two of them */
  double fmx_asmp_events_fraction (const FmxAsmpEvents *events);

#ifdef __cplusplus
}
#endif

#endif                          /* FMX_ASMP_EVENTS_H */
