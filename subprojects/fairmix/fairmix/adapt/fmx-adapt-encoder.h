/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ADAPT_ENCODER_H
#define FMX_ADAPT_ENCODER_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxAdaptEncoder:
 *
 * From a rate on the wire to the bitrate that an encoder must have for it:
 * what is left after the headers, h bytes in each packet, one every d seconds.
 *
 * |[
 *   encoder = target - 8 h / d
 * ]|
 *
 * d and h are running means over some 16 packets; an interval of more than
 * 250 ms is a pause (DTX), not a packet time, and left out.
 */
typedef struct
{
  /*< private >*/
  double interval_s;
  double header_bytes;
  double used_bps;
  FmxTime last;
} FmxAdaptEncoder;

/** fmx_adapt_encoder_init: until packets were seen: 20 ms, RTP over IPv4 */
void fmx_adapt_encoder_init (FmxAdaptEncoder * encoder);

/**
 * fmx_adapt_encoder_on_packet:
 * @header_bytes: all but the payload: RTP header, UDP and IP
 *
 * Returns: whether the headers' rate has moved by more than 10 % since
 *     fmx_adapt_encoder_bps() was asked: time to ask again
 */
bool fmx_adapt_encoder_on_packet (FmxAdaptEncoder * encoder,
    uint32_t header_bytes, FmxTime now);

/**
 * fmx_adapt_encoder_bps:
 * @target_bps: in bits/s on the wire
 *
 * Returns: the encoder's bitrate, in bits/s of payload; 0 if @target_bps does
 *     not even carry the headers
 */
uint64_t fmx_adapt_encoder_bps (FmxAdaptEncoder * encoder,
    uint64_t target_bps);

#ifdef __cplusplus
}
#endif

#endif /* FMX_ADAPT_ENCODER_H */
