/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ASMP_OTHERS_H
#define FMX_ASMP_OTHERS_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define FMX_ASMP_OTHERS_CLASSES 96u

/** FMX_ASMP_OTHERS_WINDOW: gaps of one to two such windows tell what the link carries */
#define FMX_ASMP_OTHERS_WINDOW (30 * FMX_SECOND)

/** FMX_ASMP_OTHERS_FULL: it is taken for full for so long after it was */
#define FMX_ASMP_OTHERS_FULL (10 * FMX_SECOND)

/**
 * FmxAsmpGaps:
 *
 * How fast packets followed the ones before: how many in each class, and their sum.
 */
  typedef struct
  {
    /*< private > */
    uint32_t n[FMX_ASMP_OTHERS_CLASSES];
    double sum_bps[FMX_ASMP_OTHERS_CLASSES];
  } FmxAsmpGaps;

/**
 * FmxAsmpOthers:
 *
 * What all others together get of the slowest link, and how many TCPs they are.
 *
 * A packet that has waited for longer than the gap to the one before stood in the queue
 * with it: the gap is what the packet takes on the link, or more where others stood in
 * between (Keshav, SIGCOMM 1991: packet pairs).  The fastest class of gaps is the rate C
 * of the link, if hardly any is a little slower.
 *
 * The link is busy for the whole gap, or for as long as the packet waited and was sent.
 * What did not come to us meanwhile others got: O.  With what the equation gives a TCP
 * they are N = O/T of them.  But a number of TCPs is whole.  Where N is about one, or less,
 * there is one, and half of C is fair, whatever the accidents of T; where it is about two,
 * a third.
 *
 * No TCP gets more than C.  While our packets alone fill the link, and for a while after,
 * a little less than C lets the queue drain.  Then a little more shows whether the link
 * still carries no more: if more comes, C says nothing.  Nor does it where the queue never
 * changed under packets in a row: behind somebody else's queue they come as they were sent,
 * and tell their own rate.
 */
  typedef struct
  {
    /*< private > */
    FmxAsmpGaps now, before;
    FmxTime window_start;
    uint32_t n_gaps;
    FmxTime last;               /* arrival; 0 = none */
    double link_bps;            /* C; 0 = not known */
    unsigned n_row;             /* gaps in a row between packets that waited */
    FmxTime row_start;
    double row_waited_s, row_bits;      /* the first one; those after it */
    FmxTime full;               /* when a row was evidence of C; 0 = none was */
    double busy_s, time_s, bits;        /* over some seconds */
  } FmxAsmpOthers;

  void fmx_asmp_others_init (FmxAsmpOthers *others);

/** fmx_asmp_others_on_packet: @queue: how long it has waited */
  void fmx_asmp_others_on_packet (FmxAsmpOthers *others, uint32_t wire_bytes,
      FmxDuration queue, FmxTime now);

/** fmx_asmp_others_on_companion: a packet of another stream that is ours, too */
  void fmx_asmp_others_on_companion (FmxAsmpOthers *others,
      uint32_t wire_bytes);

/** Returns: C, in bits per second; 0 = not known */
  double fmx_asmp_others_link_bps (const FmxAsmpOthers *others);

/**
 * fmx_asmp_others_most_bps:
 * @received_bps: that comes, of late
 *
 * Returns: what may be sent as far as the link goes; HUGE_VAL where it does not say
 */
  double fmx_asmp_others_most_bps (const FmxAsmpOthers *others,
      double received_bps, FmxTime now);

/** Returns: O, in bits per second; 0 while C is not known */
  double fmx_asmp_others_bps (const FmxAsmpOthers *others);

/**
 * fmx_asmp_others_are_one:
 * @tcp_bps: T
 *
 * Returns: how sure it is that they are one TCP, in [0, 1]
 */
  double fmx_asmp_others_are_one (const FmxAsmpOthers *others,
      double tcp_bps);

/**
 * fmx_asmp_others_are_few:
 * @tcp_bps: T
 *
 * Returns: whether they are one to three TCPs: when one of them leaves, what is fair grows
 *     by a third or more
 */
  bool fmx_asmp_others_are_few (const FmxAsmpOthers *others, double tcp_bps);

/**
 * fmx_asmp_others_fair_bps:
 * @tcp_bps: T
 * @fraction: of the packets that is lost, in [0, 1]
 *
 * Returns: what may be sent: T, or as much that half of C arrives, or a third, or between
 */
  double fmx_asmp_others_fair_bps (const FmxAsmpOthers *others,
      double tcp_bps, double fraction);

#ifdef __cplusplus
}
#endif

#endif                          /* FMX_ASMP_OTHERS_H */
