/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ADAPT_MIX_H
#define FMX_ADAPT_MIX_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxAdaptMix:
 * @min_bitrate_bps: the least that its encoder may have, in bits/s of payload
 * @max_bitrate_bps: and the most; equal for encodings of constant rate
 * @packet_time: audio in one packet, > 0
 * @n_contributors: those who are to be named in each packet (CSRC), of whom 15
 *     can be
 * @levels: whether their levels are, too ([RFC6465])
 *
 * What a mix costs on the wire.
 */
typedef struct
{
  uint32_t min_bitrate_bps;
  uint32_t max_bitrate_bps;
  FmxDuration packet_time;
  uint32_t n_contributors;
  bool levels;
} FmxAdaptMix;

/**
 * fmx_adapt_mix_wire_bps:
 * @bitrate_bps: of its encoder
 *
 * Returns: what that costs on the wire, in bits/s, with IP, UDP and RTP
 *     headers, CSRCs and levels
 */
uint32_t fmx_adapt_mix_wire_bps (const FmxAdaptMix * mix,
    uint32_t bitrate_bps);

/**
 * fmx_adapt_mix_n_names:
 * @wire_bps: what the mix may cost on the wire, in bits/s
 *
 * How many contributors it can afford to name.  Names of a crowd with levels are
 * 32 kbit/s, as much as its voices: where not everything fits, they take a third
 * of what the headers leave, and nothing from @min_bitrate_bps.
 *
 * Returns: 0 ... 15, at most @n_contributors
 */
uint32_t fmx_adapt_mix_n_names (const FmxAdaptMix * mix, uint32_t wire_bps);

/**
 * fmx_adapt_mix_bitrate_bps:
 * @wire_bps: what it may cost on the wire, in bits/s
 *
 * The encoder's bitrate for that: the highest step that fits of a ladder (8,
 * 12, 16, 20, 24, 32, 40, 48, 64, 96, 128 kbit/s), so that neighbours with
 * nearly the same target share one encoding; @min_bitrate_bps and
 * @max_bitrate_bps are steps as well.
 *
 * Returns: bits/s of payload, in [@min_bitrate_bps, @max_bitrate_bps]
 */
uint32_t fmx_adapt_mix_bitrate_bps (const FmxAdaptMix * mix,
    uint32_t wire_bps);

#ifdef __cplusplus
}
#endif

#endif /* FMX_ADAPT_MIX_H */
