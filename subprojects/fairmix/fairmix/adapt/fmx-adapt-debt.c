/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/adapt/fmx-adapt-debt.h"

/* of a second's worth of bits: at most half of the bitrate goes into paying */
#define MAX_DEBT_SHARE 4
/* What is told falls to this part from packet to packet.  libopus (CELT, constrained
 * VBR) lets a packet have 2 r - R, where r is the rate that it is told now and R at most
 * the one of the packet before: half of r then, nothing at all where r is half of R. */
#define MAX_FALL (2.0 / 3.0)

static uint32_t
tell (FmxAdaptDebt *debt, int64_t wanted_bps)
{
  int64_t least = (int64_t) (MAX_FALL * debt->told_bps);

  debt->told_bps = (uint32_t) (wanted_bps > least ? wanted_bps : least);
  return debt->told_bps;
}

uint32_t
fmx_adapt_debt_set_bitrate (FmxAdaptDebt *debt, uint32_t bitrate_bps)
{
  debt->bitrate_bps = bitrate_bps;
  debt->debt_bits = 0;
  return tell (debt, bitrate_bps);
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
  return tell (debt, bitrate - bits * FMX_SECOND / FMX_ADAPT_DEBT_REPAY);
}
