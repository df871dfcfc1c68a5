/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/adapt/fmx-adapt-debt.h"

/* of a second's worth of bits: at most half of the bitrate goes into paying */
#define MAX_DEBT_SHARE 4

void
fmx_adapt_debt_init (FmxAdaptDebt *debt, uint32_t bitrate_bps)
{
  *debt = (FmxAdaptDebt) {.bitrate_bps = bitrate_bps };
}

uint32_t
fmx_adapt_debt_on_packet (FmxAdaptDebt *debt, uint32_t payload_bytes,
    FmxDuration duration)
{
  int64_t bitrate = debt->bitrate_bps;
  int64_t due = bitrate * duration / FMX_SECOND;
  int64_t bits = debt->debt_bits + (int64_t) payload_bytes * 8 - due;

  if (bits < 0)
    bits = 0;
  if (bits > bitrate / MAX_DEBT_SHARE)
    bits = bitrate / MAX_DEBT_SHARE;
  debt->debt_bits = bits;
  return (uint32_t) (bitrate - bits * FMX_SECOND / FMX_ADAPT_DEBT_REPAY);
}
