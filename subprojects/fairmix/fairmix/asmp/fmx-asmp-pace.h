/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ASMP_PACE_H
#define FMX_ASMP_PACE_H

#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_ASMP_PACE_LEAST: so many reports must have come before anything is said */
#define FMX_ASMP_PACE_LEAST 16u

/**
 * FmxAsmpPace:
 *
 * How often receivers report, seen from the sender: with one report of any of
 * n receivers each gap, each of them reports each n gaps.  The mean gap is over
 * some 64 of them.
 */
typedef struct
{
  /*< private >*/
  FmxTime last;
  double gap_s;
  uint32_t n_gaps;
} FmxAsmpPace;

void fmx_asmp_pace_init (FmxAsmpPace * pace);

/** fmx_asmp_pace_on_report: some receiver has reported */
void fmx_asmp_pace_on_report (FmxAsmpPace * pace, FmxTime now);

/**
 * fmx_asmp_pace_intervals:
 * @n_receivers: how many there are
 * @n: how many intervals
 *
 * Returns: the time in which each of them reports @n times; 0 = not known yet
 */
FmxDuration fmx_asmp_pace_intervals (const FmxAsmpPace * pace,
    uint32_t n_receivers, double n);

#ifdef __cplusplus
}
#endif

#endif /* FMX_ASMP_PACE_H */
