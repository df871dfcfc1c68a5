/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RTCP_H
#define FMX_RTCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_RTCP_SDES, FMX_RTCP_BYE: packet types ([RFC3550 12.1]) */
#define FMX_RTCP_SDES 202u
#define FMX_RTCP_BYE 203u

/** FMX_RTCP_COUNT_MAX: a packet tells of at most so many sources: five bits */
#define FMX_RTCP_COUNT_MAX 31u

/**
 * FmxRtcpPacket:
 * @type: 192 ... 223
 * @count: the five bits beside the version: how many sources, or a format
 * @body: what follows the header of four bytes; points into the datagram
 * @body_bytes: its length without padding, 0 ... 262,140
 *
 * One packet of a compound one ([RFC3550 6.1]).
 */
typedef struct
{
  uint8_t type;
  uint8_t count;
  const uint8_t *body;
  size_t body_bytes;
} FmxRtcpPacket;

/**
 * FmxRtcpReader:
 *
 * Walks through a datagram of RTCP.  No length that stands in it is trusted:
 * nothing beyond the datagram is read.
 */
typedef struct
{
  /*< private >*/
  const uint8_t *next;
  size_t left;
} FmxRtcpReader;

/**
 * fmx_rtcp_reader_init:
 * @data: the datagram; must stay as long as @reader and what it hands out
 * @size: its length, in bytes
 *
 * Checks all of it, also reduced-size RTCP ([RFC5506]): version 2 everywhere, the
 * lengths add up to @size, padding in the last packet only, and of whole
 * words within it.
 *
 * Returns: false if it is malformed; nothing can be read from it then
 */
bool fmx_rtcp_reader_init (FmxRtcpReader * reader, const uint8_t * data,
    size_t size);

/**
 * fmx_rtcp_reader_next:
 * @packet: (out): the next packet
 *
 * Returns: false after the last one
 */
bool fmx_rtcp_reader_next (FmxRtcpReader * reader, FmxRtcpPacket * packet);

/**
 * FmxRtcpCname:
 * @ssrc: a source
 * @name: its canonical name: bytes, UTF-8 if the sender keeps to the RFC, not
 *     terminated; points into the datagram
 * @name_bytes: 0 ... 255
 */
typedef struct
{
  uint32_t ssrc;
  const uint8_t *name;
  size_t name_bytes;
} FmxRtcpCname;

/**
 * fmx_rtcp_sdes_cnames:
 * @packet: of any type
 * @cnames: (out) (array length=FMX_RTCP_COUNT_MAX)
 *
 * The sources that an SDES packet names ([RFC3550 6.5]).  A chunk whose items
 * do not end within the packet tells nothing, and neither do those after it.
 *
 * Returns: how many there are, 0 if it is not an SDES packet
 */
size_t fmx_rtcp_sdes_cnames (const FmxRtcpPacket * packet,
    FmxRtcpCname * cnames);

/**
 * fmx_rtcp_bye_ssrcs:
 * @packet: of any type
 * @ssrcs: (out) (array length=FMX_RTCP_COUNT_MAX)
 *
 * The sources that leave ([RFC3550 6.6]), as far as they lie within the packet.
 *
 * Returns: how many there are, 0 if it is not a BYE packet
 */
size_t fmx_rtcp_bye_ssrcs (const FmxRtcpPacket * packet, uint32_t * ssrcs);

#ifdef __cplusplus
}
#endif

#endif /* FMX_RTCP_H */
