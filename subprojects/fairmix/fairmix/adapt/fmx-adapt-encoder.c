/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/adapt/fmx-adapt-encoder.h"

#include <math.h>

#include "fairmix/base/fmx-units.h"

#define DEFAULT_INTERVAL_S 0.02
#define MIN_INTERVAL_S 0.001    /* packets of one burst do not count as 0 s */
#define PAUSE_S 0.25            /* longer than any packet time of voice */
#define GAIN (1.0 / 16.0)
#define NEWS 0.1

static double
headers_bps (const FmxAdaptEncoder *encoder)
{
  return 8.0 * encoder->header_bytes / fmax (encoder->interval_s,
      MIN_INTERVAL_S);
}

void
fmx_adapt_encoder_init (FmxAdaptEncoder *encoder)
{
  encoder->interval_s = DEFAULT_INTERVAL_S;
  encoder->header_bytes = FMX_IP_UDP_BYTES + FMX_RTP_HEADER_BYTES;
  encoder->last = FMX_TIME_NONE;
  encoder->used_bps = headers_bps (encoder);
}

bool
fmx_adapt_encoder_on_packet (FmxAdaptEncoder *encoder, uint32_t header_bytes,
    FmxTime now)
{
  if (encoder->last != FMX_TIME_NONE) {
    double interval_s = fmx_time_to_s (fmx_time_diff (now, encoder->last));

    if (interval_s <= PAUSE_S)
      encoder->interval_s += GAIN * (interval_s - encoder->interval_s);
  }
  encoder->last = now;
  encoder->header_bytes += GAIN * (header_bytes - encoder->header_bytes);
  return fabs (headers_bps (encoder) - encoder->used_bps)
      > NEWS * encoder->used_bps;
}

uint64_t
fmx_adapt_encoder_bps (FmxAdaptEncoder *encoder, uint64_t target_bps)
{
  double left;

  encoder->used_bps = headers_bps (encoder);
  left = (double) target_bps - encoder->used_bps;
  return left > 0.0 ? (uint64_t) left : 0;
}
