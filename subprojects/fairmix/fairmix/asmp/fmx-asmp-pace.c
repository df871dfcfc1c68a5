/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/asmp/fmx-asmp-pace.h"

#define GAPS 64u

void
fmx_asmp_pace_init (FmxAsmpPace *pace)
{
  pace->last = FMX_TIME_NONE;
  pace->gap_s = 0.0;
  pace->n_gaps = 0;
}

void
fmx_asmp_pace_on_report (FmxAsmpPace *pace, FmxTime now)
{
  if (pace->last != FMX_TIME_NONE) {
    double gap_s = fmx_time_to_s (fmx_time_diff (now, pace->last));

    pace->n_gaps += pace->n_gaps < GAPS;
    pace->gap_s += (gap_s - pace->gap_s) / pace->n_gaps;
  }
  pace->last = now;
}

FmxDuration
fmx_asmp_pace_intervals (const FmxAsmpPace *pace, uint32_t n_receivers,
    double n)
{
  if (pace->n_gaps < FMX_ASMP_PACE_LEAST)
    return 0;
  return fmx_time_from_s (n * n_receivers * pace->gap_s);
}
