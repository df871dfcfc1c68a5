/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/playout/fmx-transit-range.h"

void
fmx_transit_range_start (FmxTransitRange *range, FmxDuration transit,
    FmxDuration least, FmxTime now)
{
  range->least = transit;
  range->least_before = least;
  range->greatest = transit;
  range->greatest_before = transit;
  range->window_end = now + FMX_TRANSIT_RANGE_WINDOW;
}

void
fmx_transit_range_add (FmxTransitRange *range, FmxDuration transit, FmxTime now)
{
  if (now >= range->window_end) {
    range->least_before = range->least;
    range->greatest_before = range->greatest;
    range->least = transit;
    range->greatest = transit;
    range->window_end = now + FMX_TRANSIT_RANGE_WINDOW;
  } else if (transit < range->least) {
    range->least = transit;
  } else if (transit > range->greatest) {
    range->greatest = transit;
  }
}
