/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/asmp/fmx-asmp-carried.h"

#include <assert.h>
#include <math.h>

void
fmx_asmp_carried_init (FmxAsmpCarried *carried)
{
  carried->bps = 0.0;
  carried->time = 0;
}

static double
bps_at (const FmxAsmpCarried *carried, FmxTime now)
{
  return carried->bps > 0.0 && fmx_time_diff (now, carried->time)
      <= FMX_ASMP_CARRIED_LIFETIME ? carried->bps : 0.0;
}

void
fmx_asmp_carried_note (FmxAsmpCarried *carried, double received_bps,
    double limit_bps, FmxTime now)
{
  double before = bps_at (carried, now);

  assert (received_bps >= 0.0 && limit_bps >= 0.0);
  if (received_bps >= before) {
    carried->bps = received_bps;
    carried->time = now;
  } else {
    carried->bps = 0.5 * (before
        + fmin (before, fmax (limit_bps, received_bps)));
  }
}

double
fmx_asmp_carried_bps (const FmxAsmpCarried *carried, double received_bps,
    FmxTime now)
{
  double bps = bps_at (carried, now);

  return fmin (bps, fmax (2.0 * received_bps, 0.5 * bps));
}
