/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_CCFB_H
#define FMX_CCFB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_CCFB_MAX_REPORTS: metric blocks for one SSRC ([RFC8888 3.1]). */
#define FMX_CCFB_MAX_REPORTS 16384u

/** FMX_CCFB_ATO_UNKNOWN: arrived, but nobody knows when (0x1FFF on the wire;
 * 0x1FFE, "earlier than 8 s", reads as unknown, too). */
#define FMX_CCFB_ATO_UNKNOWN INT64_MIN

/**
 * FmxCcfbMetric:
 * @ssrc: the stream
 * @seq: its sequence number
 * @received: whether it arrived
 * @ecn: the two ECN bits
 * @arrival_offset: how long before the report was made it arrived, >= 0, in
 *     steps of 1/1024 s; or %FMX_CCFB_ATO_UNKNOWN
 *
 * What one congestion control feedback packet says of one RTP packet.
 */
typedef struct
{
  uint32_t ssrc;
  uint16_t seq;
  bool received;
  uint8_t ecn;
  FmxDuration arrival_offset;
} FmxCcfbMetric;

/**
 * FmxCcfbReader:
 *
 * Walks over the metrics of one feedback packet, without copying it.
 */
typedef struct
{
  /*< private >*/
  const uint8_t *data;
  size_t size;
  size_t offset;
  uint32_t ssrc;
  uint16_t next_seq;
  uint32_t left;
} FmxCcfbReader;

/**
 * fmx_ccfb_reader_init:
 * @data: the FCI of an RTCP packet of type 205 (RTPFB), format 11, that is:
 *     what follows the two SSRCs of its header... see below
 * @size: in bytes
 *
 * @data starts after the packet sender's SSRC: CCFB has no media SSRC field
 * there, its first report block's SSRC stands in that place ([RFC8888 3.1]).
 * Validates the whole packet first: lengths, padding, the timestamp.
 *
 * Returns: false if the packet is malformed; nothing may be read then
 */
bool fmx_ccfb_reader_init (FmxCcfbReader * reader, const uint8_t * data,
    size_t size);

/** fmx_ccfb_reader_next: Returns: false at the end */
bool fmx_ccfb_reader_next (FmxCcfbReader * reader, FmxCcfbMetric * metric);

/** fmx_ccfb_reader_timestamp: the report timestamp: the middle 32 bits of the
 * NTP time at which the report was made */
uint32_t fmx_ccfb_reader_timestamp (const FmxCcfbReader * reader);

#ifdef __cplusplus
}
#endif

#endif /* FMX_CCFB_H */
