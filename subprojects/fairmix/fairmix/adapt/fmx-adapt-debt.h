/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ADAPT_DEBT_H
#define FMX_ADAPT_DEBT_H

#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_ADAPT_DEBT_REPAY: what was sent too much is saved in about this time */
#define FMX_ADAPT_DEBT_REPAY (500 * FMX_MSECOND)

/**
 * FmxAdaptDebt:
 *
 * Holds an encoder of variable rate to the rate that it was told.  At low
 * bitrates libopus sends up to a tenth more; what it sends beyond its bitrate is
 * a debt, and the encoder is told less until it is paid.  The debt is never
 * negative (silence saves nothing for later) and at most a quarter of a second's
 * worth, so that the encoder gets at least half of its bitrate.
 *
 * A bitrate that falls does so in steps: libopus pays for what the packets before had, and
 * from 128 to 16 kbit/s at once it sends eight packets of 3 bytes, 160 ms of next to
 * nothing.
 */
typedef struct
{
  /*< private >*/
  uint32_t bitrate_bps;
  uint32_t told_bps;
  int64_t debt_bits;
} FmxAdaptDebt;

/**
 * fmx_adapt_debt_set_bitrate:
 * @debt: all zeros at first
 * @bitrate_bps: of payload, from now on; what is owed is forgotten
 *
 * Returns: what the encoder is to be told for the next packet, in bits/s
 */
uint32_t fmx_adapt_debt_set_bitrate (FmxAdaptDebt * debt,
    uint32_t bitrate_bps);

/**
 * fmx_adapt_debt_on_packet:
 * @payload_bytes: that the encoder made ...
 * @duration: ... of so much audio, > 0
 *
 * Returns: what the encoder is to be told for the next packet, in bits/s: the
 *     bitrate less the debt over %FMX_ADAPT_DEBT_REPAY
 */
uint32_t fmx_adapt_debt_on_packet (FmxAdaptDebt * debt,
    uint32_t payload_bytes, FmxDuration duration);

#ifdef __cplusplus
}
#endif

#endif /* FMX_ADAPT_DEBT_H */
