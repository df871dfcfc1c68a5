/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-pacer.h"

#include <assert.h>
#include <math.h>

void
fmx_pacer_init (FmxPacer *pacer, FmxTime now)
{
  pacer->bps = 0.0;
  pacer->debt_bits = 0.0;
  pacer->last = now;
  pacer->queued_bytes = 0;
}

/* Less than no debt is kept for as long as somebody may be late. */
static double
debt_bits (const FmxPacer *pacer, FmxTime now)
{
  double paid = pacer->bps * fmx_time_to_s (fmx_time_diff (now, pacer->last));

  return fmax (pacer->debt_bits - paid,
      -pacer->bps * fmx_time_to_s (FMX_PACER_LATENESS));
}

static void
pay (FmxPacer *pacer, FmxTime now)
{
  pacer->debt_bits = debt_bits (pacer, now);
  pacer->last = now;
}

void
fmx_pacer_set_rate (FmxPacer *pacer, uint64_t bps, FmxTime now)
{
  pay (pacer, now);
  pacer->bps = (double) bps;
  if (bps == 0)
    pacer->debt_bits = 0.0;
}

void
fmx_pacer_on_queued (FmxPacer *pacer, uint32_t wire_bytes)
{
  pacer->queued_bytes += wire_bytes;
}

void
fmx_pacer_on_unqueued (FmxPacer *pacer, uint32_t wire_bytes)
{
  assert (pacer->queued_bytes >= wire_bytes);
  pacer->queued_bytes -= wire_bytes;
}

void
fmx_pacer_on_sent (FmxPacer *pacer, uint32_t wire_bytes, FmxTime now)
{
  pay (pacer, now);
  if (pacer->bps > 0.0)
    pacer->debt_bits += 8.0 * wire_bytes;
}

FmxTime
fmx_pacer_due (const FmxPacer *pacer)
{
  if (pacer->debt_bits <= 0.0)
    return pacer->last;
  return pacer->last + (FmxTime) ceil (pacer->debt_bits / pacer->bps
      * FMX_SECOND);
}

uint64_t
fmx_pacer_queued_bytes (const FmxPacer *pacer)
{
  return pacer->queued_bytes;
}

FmxDuration
fmx_pacer_delay (const FmxPacer *pacer, FmxTime now)
{
  double bits = 8.0 * (double) pacer->queued_bytes
      + fmax (debt_bits (pacer, now), 0.0);

  return pacer->bps > 0.0 ? fmx_time_from_s (bits / pacer->bps) : 0;
}
