/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RTP_SPLICE_H
#define FMX_RTP_SPLICE_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxRtpSplice:
 *
 * One RTP stream made of several, one after the other: sequence numbers go on
 * without a gap, timestamps by the time that passed.  Within one stream, gaps
 * stay gaps and late packets stay late.
 */
typedef struct
{
  /*< private >*/
  uint16_t seq_delta;
  uint32_t ts_delta;
  uint16_t last_seq;
  uint32_t last_ts;
} FmxRtpSplice;

/**
 * fmx_rtp_splice_init:
 * @seq: random: the first packet will have the number after it ...
 * @ts: random: ... and a timestamp after this one ([RFC3550 5.1])
 */
void fmx_rtp_splice_init (FmxRtpSplice * splice, uint16_t seq, uint32_t ts);

/**
 * fmx_rtp_splice_begin:
 * @seq: sequence number of the first packet of the stream that is next
 * @ts: its timestamp
 * @elapsed_ts: how long after the latest packet of the stream before it comes,
 *     in timestamp units
 */
void fmx_rtp_splice_begin (FmxRtpSplice * splice, uint16_t seq, uint32_t ts,
    uint32_t elapsed_ts);

/**
 * fmx_rtp_splice_fits:
 * @seq: a packet's sequence number
 * @ts: its timestamp
 * @clock_rate_hz: of @ts, > 0
 * @waited: how long after the latest packet it comes; 0 if that is not known
 *
 * Returns: false if no network makes its timestamp of those before: its sender began
 *     anew, and fmx_rtp_splice_begin() is due, or what comes out would be long past
 */
bool fmx_rtp_splice_fits (const FmxRtpSplice * splice, uint16_t seq,
    uint32_t ts, uint32_t clock_rate_hz, FmxDuration waited);

/**
 * fmx_rtp_splice_map:
 * @seq: (inout): a packet's sequence number
 * @ts: (inout): its timestamp
 *
 * What they are in the stream that goes out.
 */
void fmx_rtp_splice_map (FmxRtpSplice * splice, uint16_t * seq,
    uint32_t * ts);

#ifdef __cplusplus
}
#endif

#endif /* FMX_RTP_SPLICE_H */
