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
 *
 * The packet on the wire, in 32-bit words ([RFC8888 3.1]):
 *
 * |[
 *   V=2 P FMT=11 | PT=205 | length      RTCP header
 *   SSRC of the packet's sender
 *   SSRC of the 1st stream              <- fmx_ccfb_reader_init() starts here
 *   begin_seq (16) | num_reports (16)
 *   num_reports x { R (1) ECN (2) ATO (13) }, padded with zeros to a word
 *   ... SSRC, begin_seq, num_reports, metrics of the 2nd stream, and so on
 *   report timestamp (RTS)              the last word
 * ]|
 *
 * There is no "SSRC of media source" as in other RTPFB packets: the first
 * stream's SSRC stands in its place.  Where a library takes that word off
 * (gst_rtcp_packet_fb_get_fci() does), the reader's data begins 4 bytes before
 * what that library calls FCI.
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
 * @data: what follows the packet sender's SSRC in an RTCP packet of type 205
 *     (RTPFB), format 11: from byte 8 of that packet on, RTCP padding cut off
 * @size: in bytes
 *
 * Validates the whole packet first: lengths, the number of metrics, the
 * timestamp.  @data must stay where it is while the reader is used.  A report
 * of no stream at all (a timestamp alone) is valid.
 *
 * Returns: false if the packet is malformed; nothing may be read then
 */
bool fmx_ccfb_reader_init (FmxCcfbReader * reader, const uint8_t * data,
    size_t size);

/**
 * fmx_ccfb_reader_init_packet:
 * @data: one RTCP packet, from its first byte on; more may follow it
 * @size: bytes that may be read
 * @sender_ssrc: (out) (optional): who made the report
 *
 * As fmx_ccfb_reader_init(), for a whole RTCP packet: checks version, type,
 * format, length and padding, too.
 *
 * Returns: false if it is not a well-formed congestion control feedback packet
 */
bool fmx_ccfb_reader_init_packet (FmxCcfbReader * reader, const uint8_t * data,
    size_t size, uint32_t * sender_ssrc);

/** fmx_ccfb_reader_next: Returns: false at the end */
bool fmx_ccfb_reader_next (FmxCcfbReader * reader, FmxCcfbMetric * metric);

/** fmx_ccfb_reader_timestamp: the report timestamp: the middle 32 bits of the
 * NTP time at which the report was made */
uint32_t fmx_ccfb_reader_timestamp (const FmxCcfbReader * reader);

/**
 * FmxCcfbWriter:
 *
 * Builds one feedback packet, from the RTCP header to the report timestamp, in
 * the caller's memory.  The receiver's side normally uses #FmxCcfbCollector.
 */
typedef struct
{
  /*< private >*/
  uint8_t *data;
  size_t size;
  size_t offset;
  size_t block;
  uint32_t n_reports;
} FmxCcfbWriter;

/**
 * fmx_ccfb_writer_init:
 * @size: of @data, in bytes; what is beyond 65,536 words is not used
 *
 * Returns: false if not even an empty report fits (12 bytes)
 */
bool fmx_ccfb_writer_init (FmxCcfbWriter * writer, uint8_t * data, size_t size,
    uint32_t sender_ssrc);

/** fmx_ccfb_writer_room: Returns: how many metrics a further stream could have,
 * 0 if there is no room for one */
uint32_t fmx_ccfb_writer_room (const FmxCcfbWriter * writer);

/**
 * fmx_ccfb_writer_begin_stream:
 *
 * Starts the report block of @ssrc, whose first metric is that of @begin_seq.
 * Returns: false if it does not fit any more; nothing has changed then
 */
bool fmx_ccfb_writer_begin_stream (FmxCcfbWriter * writer, uint32_t ssrc,
    uint16_t begin_seq);

/**
 * fmx_ccfb_writer_add:
 * @received: whether it arrived; @ecn and @arrival_offset count only then
 * @ecn: 0 ... 3
 * @arrival_offset: how long before the report; rounded to 1/1024 s;
 *     above 8189/1024 s it is "over range", below 0 "unavailable", as
 *     %FMX_CCFB_ATO_UNKNOWN is
 *
 * Adds the metric of the next sequence number.
 * Returns: false if it does not fit any more, or after %FMX_CCFB_MAX_REPORTS
 */
bool fmx_ccfb_writer_add (FmxCcfbWriter * writer, bool received, uint8_t ecn,
    FmxDuration arrival_offset);

/**
 * fmx_ccfb_writer_finish:
 * @timestamp: the middle 32 bits of the NTP time now
 *
 * Returns: the packet's length in bytes
 */
size_t fmx_ccfb_writer_finish (FmxCcfbWriter * writer, uint32_t timestamp);

#ifdef __cplusplus
}
#endif

#endif /* FMX_CCFB_H */
