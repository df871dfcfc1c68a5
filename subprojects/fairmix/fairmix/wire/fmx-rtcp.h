/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RTCP_H
#define FMX_RTCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_RTCP_SR ... FMX_RTCP_RTPFB: packet types ([RFC3550 12.1], [RFC4585 6.1]) */
#define FMX_RTCP_SR 200u
#define FMX_RTCP_RR 201u
#define FMX_RTCP_SDES 202u
#define FMX_RTCP_BYE 203u
#define FMX_RTCP_APP 204u
#define FMX_RTCP_RTPFB 205u

/** FMX_RTCP_COUNT_MAX: a packet tells of at most so many sources: five bits */
#define FMX_RTCP_COUNT_MAX 31u

/**
 * FmxRtcpPacket:
 * @type: 192 ... 223
 * @count: the five bits beside the version: how many sources, or a format
 * @data: its first byte; points into the datagram
 * @bytes: its length with all that belongs to it, 4 ... 262,144
 * @body: what follows the header of four bytes
 * @body_bytes: its length without padding, 0 ... 262,140
 *
 * One packet of a compound one ([RFC3550 6.1]).
 */
typedef struct
{
  uint8_t type;
  uint8_t count;
  const uint8_t *data;
  size_t bytes;
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
 * lengths add up to @size, padding in the last packet only, and within it.
 *
 * Returns: false if it is malformed; nothing can be read from it then
 */
bool fmx_rtcp_reader_init (FmxRtcpReader * reader, const uint8_t * data,
    size_t size);

/**
 * fmx_rtcp_reader_init_prefix:
 *
 * The same for what may have something else behind it, as unencrypted SRTCP has:
 * hands out the packets up to there.
 */
void fmx_rtcp_reader_init_prefix (FmxRtcpReader * reader, const uint8_t * data,
    size_t size);

/**
 * fmx_rtcp_reader_next:
 * @packet: (out): the next packet
 *
 * Returns: false after the last one
 */
bool fmx_rtcp_reader_next (FmxRtcpReader * reader, FmxRtcpPacket * packet);

/**
 * FmxReportBlock:
 * @ssrc: the stream that it is about
 * @fraction_lost: since the previous report, in 1/256
 * @cumulative_lost: since the beginning; signed 24 bits on the wire
 * @ext_highest_seq: highest sequence number received, with its cycles
 * @jitter_ts: interarrival jitter, in RTP timestamp units
 * @lsr: middle 32 bits of the NTP time of the last SR; 0 = none yet
 * @dlsr: since then, in 1/65536 s
 *
 * A report block of an SR or RR ([RFC3550 6.4.1]), in host byte order.
 */
typedef struct
{
  uint32_t ssrc;
  uint8_t fraction_lost;
  int32_t cumulative_lost;
  uint32_t ext_highest_seq;
  uint32_t jitter_ts;
  uint32_t lsr;
  uint32_t dlsr;
} FmxReportBlock;

/**
 * FmxRtcpReport:
 * @ssrc: who reports
 * @has_sender_info: it is a sender report
 * @ntp_time: 32.32; when @rtp_time was; a sender report's
 * @rtp_time: this, too
 * @n_blocks: streams that it is about, 0 ... %FMX_RTCP_COUNT_MAX
 */
typedef struct
{
  uint32_t ssrc;
  bool has_sender_info;
  uint64_t ntp_time;
  uint32_t rtp_time;
  size_t n_blocks;
  /*< private >*/
  const uint8_t *blocks;
} FmxRtcpReport;

/**
 * fmx_rtcp_report_read:
 * @packet: of any type
 *
 * Returns: false if it is no sender or receiver report, or too short for the blocks
 *     that it announces
 */
bool fmx_rtcp_report_read (FmxRtcpReport * report,
    const FmxRtcpPacket * packet);

/** fmx_rtcp_report_block: @i: less than @n_blocks */
void fmx_rtcp_report_block (const FmxRtcpReport * report, size_t i,
    FmxReportBlock * block);

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
