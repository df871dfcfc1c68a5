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
 */
  typedef struct
  {
    /*< private > */
    FmxAsmpGaps now, before;
    FmxTime window_start;
    uint32_t n_gaps;
    FmxTime last;               /* arrival; 0 = none */
    double link_bps;            /* C; 0 = not known */
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
