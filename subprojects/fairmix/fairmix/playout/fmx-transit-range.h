/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_TRANSIT_RANGE_H
#define FMX_TRANSIT_RANGE_H

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_TRANSIT_RANGE_WINDOW: the extremes are those of the last one to two such
 * windows: long enough to see a fast packet, short enough to follow a change of
 * route. */
#define FMX_TRANSIT_RANGE_WINDOW (10 * FMX_SECOND)

/**
 * FmxTransitRange:
 *
 * The fastest and the slowest packets of late, by their transit times.
 */
typedef struct
{
  /*< private >*/
  FmxDuration least, least_before;
  FmxDuration greatest, greatest_before;
  FmxTime window_end;
} FmxTransitRange;

/** fmx_transit_range_start: @transit is the first one, and nothing is faster
 * than @least for a while */
void fmx_transit_range_start (FmxTransitRange * range, FmxDuration transit,
    FmxDuration least, FmxTime now);

/** fmx_transit_range_add: a packet took @transit */
void fmx_transit_range_add (FmxTransitRange * range, FmxDuration transit,
    FmxTime now);

/** Returns: of the fastest packets of the last 10 to 20 s */
static inline FmxDuration
fmx_transit_range_least (const FmxTransitRange * range)
{
  return range->least < range->least_before ?
      range->least : range->least_before;
}

/** Returns: of the slowest packets of the last 10 to 20 s */
static inline FmxDuration
fmx_transit_range_greatest (const FmxTransitRange * range)
{
  return range->greatest > range->greatest_before ?
      range->greatest : range->greatest_before;
}

#ifdef __cplusplus
}
#endif

#endif /* FMX_TRANSIT_RANGE_H */
