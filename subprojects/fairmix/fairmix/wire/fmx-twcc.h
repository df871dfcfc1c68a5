/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_TWCC_H
#define FMX_TWCC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_TWCC_URN: the RTP header extension that carries the transport-wide
 * sequence number: 16 bits */
#define FMX_TWCC_URN \
  "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"

/** FMX_TWCC_EXTENSION_BYTES: the extension's data */
#define FMX_TWCC_EXTENSION_BYTES 2u

/** FMX_TWCC_MAX_STATUS: one feedback packet tells of fewer packets than this */
#define FMX_TWCC_MAX_STATUS 65536u

/**
 * FmxTwccStatus:
 * @seq: transport-wide sequence number
 * @received: whether it arrived
 * @arrival: if so, when, by the receiver's clock, in steps of 250 us; counted
 *     from an origin that is the receiver's own, so that only differences mean
 *     anything
 *
 * What one transport-wide feedback packet says of one RTP packet.
 */
typedef struct
{
  uint16_t seq;
  bool received;
  FmxDuration arrival;
} FmxTwccStatus;

/**
 * FmxTwccReader:
 *
 * Walks over the statuses of one transport-wide feedback packet, without
 * copying it.
 *
 * The packet on the wire, in 32-bit words
 * (draft-holmer-rmcat-transport-wide-cc-extensions-01, 3.1):
 *
 * |[
 *   V=2 P FMT=15 | PT=205 | length
 *   SSRC of the packet's sender
 *   SSRC of the media source
 *   base sequence number (16) | packet status count (16)
 *   reference time (24, signed, x 64 ms) | feedback packet count (8)
 *   packet chunks, 16 bits each
 *   receive deltas, 8 or 16 bits each (x 250 us), padded to a word
 * ]|
 */
typedef struct
{
  /*< private >*/
  const uint8_t *chunk;
  const uint8_t *delta;
  uint32_t left;
  uint32_t in_chunk;
  uint16_t seq;
  uint8_t count;
  FmxDuration arrival;
} FmxTwccReader;

/**
 * fmx_twcc_reader_init:
 * @packet: one RTCP packet, from its first byte on; more may follow it
 * @size: bytes that may be read
 * @media_ssrc: (out) (optional): a stream of those that it is about
 *
 * Validates the whole packet first: lengths, chunks, that there is a delta for
 * each packet that arrived.  @packet must stay where it is while the reader is
 * used.
 *
 * Returns: false if it is not a well-formed transport-wide feedback packet
 */
bool fmx_twcc_reader_init (FmxTwccReader * reader, const uint8_t * packet,
    size_t size, uint32_t * media_ssrc);

/** fmx_twcc_reader_next: Returns: false at the end */
bool fmx_twcc_reader_next (FmxTwccReader * reader, FmxTwccStatus * status);

/** fmx_twcc_reader_count: the number of the feedback packet, modulo 256: a gap
 * means that feedback was lost */
uint8_t fmx_twcc_reader_count (const FmxTwccReader * reader);

#ifdef __cplusplus
}
#endif

#endif /* FMX_TWCC_H */
