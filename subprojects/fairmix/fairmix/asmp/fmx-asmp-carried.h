/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ASMP_CARRIED_H
#define FMX_ASMP_CARRIED_H

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C"
{
#endif

/** FMX_ASMP_CARRIED_LIFETIME: after that nothing is known ([RFC7661 4.3]) */
#define FMX_ASMP_CARRIED_LIFETIME (300 * FMX_SECOND)

/**
 * FmxAsmpCarried:
 *
 * The rate that a path has carried, for a receiver to which less is sent because
 * another one limits the sender.  When that one leaves, the rate may go to half of
 * it at once, and to the whole when the half has arrived: what [RFC7661] allows a
 * TCP whose application was silent for a while.
 */
  typedef struct
  {
    /*< private > */
    double bps;
    FmxTime time;               /* when it last came, or more */
  } FmxAsmpCarried;

  void fmx_asmp_carried_init (FmxAsmpCarried *carried);

/**
 * fmx_asmp_carried_note:
 * @received_bps: what came since the last report
 * @limit_bps: if something was lost of it, what a TCP would get now; else
 *     HUGE_VAL
 */
  void fmx_asmp_carried_note (FmxAsmpCarried *carried, double received_bps,
      double limit_bps, FmxTime now);

/**
 * fmx_asmp_carried_bps:
 * @received_bps: what comes now
 *
 * Returns: what may be sent; 0 = nothing is known
 */
  double fmx_asmp_carried_bps (const FmxAsmpCarried *carried,
      double received_bps, FmxTime now);

#ifdef __cplusplus
}
#endif

#endif                          /* FMX_ASMP_CARRIED_H */
