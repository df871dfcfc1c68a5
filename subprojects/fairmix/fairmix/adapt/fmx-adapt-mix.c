/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/adapt/fmx-adapt-mix.h"

#include <assert.h>
#include <stddef.h>

#include "fairmix/base/fmx-units.h"

#define MAX_CSRCS 15u           /* [RFC3550 5.1] */
#define CSRC_BYTES 4u
#define EXTENSION_BYTES 4u      /* [RFC8285 4.2] profile and length */

#define NAMES_SHARE 3u          /* names cost at most one part in so many */

static const uint32_t ladder_bps[] = {
  8000, 12000, 16000, 20000, 24000, 32000, 40000, 48000, 64000, 96000, 128000
};

static uint32_t
header_bytes (const FmxAdaptMix *mix)
{
  uint32_t n = mix->n_contributors < MAX_CSRCS ? mix->n_contributors
      : MAX_CSRCS;
  uint32_t bytes = FMX_IP_UDP_BYTES + FMX_RTP_HEADER_BYTES + n * CSRC_BYTES;

  /* [RFC6465 4] one byte for each after the one-byte header, padded to words */
  if (mix->levels && n > 0)
    bytes += EXTENSION_BYTES + (1 + n + 3) / 4 * 4;
  return bytes;
}

uint32_t
fmx_adapt_mix_wire_bps (const FmxAdaptMix *mix, uint32_t bitrate_bps)
{
  assert (mix->packet_time > 0);
  return bitrate_bps + (uint32_t) (fmx_rate_bps (header_bytes (mix),
          mix->packet_time) + 0.5);
}

uint32_t
fmx_adapt_mix_n_names (const FmxAdaptMix *mix, uint32_t wire_bps)
{
  FmxAdaptMix trial = *mix;
  uint32_t bare_bps, rest_bps;

  if (trial.n_contributors > MAX_CSRCS)
    trial.n_contributors = MAX_CSRCS;
  if (fmx_adapt_mix_wire_bps (&trial, mix->max_bitrate_bps) <= wire_bps)
    return trial.n_contributors;

  trial.n_contributors = 0;
  bare_bps = fmx_adapt_mix_wire_bps (&trial, 0);
  rest_bps = wire_bps > bare_bps ? wire_bps - bare_bps : 0;
  for (uint32_t n = 1; n <= mix->n_contributors && n <= MAX_CSRCS; n++) {
    uint32_t names_bps;

    trial.n_contributors = n;
    names_bps = fmx_adapt_mix_wire_bps (&trial, 0) - bare_bps;
    if (names_bps > rest_bps / NAMES_SHARE
        || names_bps + mix->min_bitrate_bps > rest_bps)
      return n - 1;
  }
  return trial.n_contributors;
}

uint32_t
fmx_adapt_mix_bitrate_bps (const FmxAdaptMix *mix, uint32_t wire_bps)
{
  uint32_t best = mix->min_bitrate_bps;

  if (fmx_adapt_mix_wire_bps (mix, mix->max_bitrate_bps) <= wire_bps)
    return mix->max_bitrate_bps;
  for (size_t i = 0; i < sizeof ladder_bps / sizeof ladder_bps[0]; i++) {
    uint32_t step = ladder_bps[i];

    if (step > best && step < mix->max_bitrate_bps
        && fmx_adapt_mix_wire_bps (mix, step) <= wire_bps)
      best = step;
  }
  return best;
}
