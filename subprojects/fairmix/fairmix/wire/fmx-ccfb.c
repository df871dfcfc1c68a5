/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/wire/fmx-ccfb.h"

#include <string.h>

#include "fairmix/wire/fmx-bytes-private.h"

#define RTCP_VERSION 2u
#define RTCP_RTPFB 205u
#define RTCP_CCFB 11u
#define RTCP_HEADER_BYTES 8u    /* with the packet sender's SSRC */
#define RTCP_MAX_BYTES (4u * 65536u)
#define BLOCK_HEADER_BYTES 8u
#define METRIC_BYTES 2u
#define TIMESTAMP_BYTES 4u

/* [RFC8888 3.1] one metric: R (1), ECN (2), ATO (13) */
#define METRIC_RECEIVED 0x8000u
#define METRIC_ECN_SHIFT 13
#define METRIC_ATO_MASK 0x1fffu
#define ATO_HZ 1024
#define ATO_MAX 0x1ffdu
#define ATO_OVER_RANGE 0x1ffeu
#define ATO_UNAVAILABLE 0x1fffu

/* The bytes that @n metrics take, with the padding ([RFC8888 3.1]). */
static size_t
metrics_bytes (uint32_t n)
{
  return (size_t) ((n + 1) / 2) * 2 * METRIC_BYTES;
}

bool
fmx_ccfb_reader_init (FmxCcfbReader *reader, const uint8_t *data, size_t size)
{
  size_t offset = 0;

  memset (reader, 0, sizeof *reader);
  if (size < TIMESTAMP_BYTES || size > RTCP_MAX_BYTES || size % 4 != 0)
    return false;
  while (offset < size - TIMESTAMP_BYTES) {
    uint32_t n;

    if (size - TIMESTAMP_BYTES - offset < BLOCK_HEADER_BYTES)
      return false;
    n = fmx_read_u16 (data + offset + 6);
    offset += BLOCK_HEADER_BYTES;
    /* [RFC8888 3.1] no more than a quarter of the sequence number space */
    if (n > FMX_CCFB_MAX_REPORTS
        || size - TIMESTAMP_BYTES - offset < metrics_bytes (n))
      return false;
    offset += metrics_bytes (n);
  }
  reader->data = data;
  reader->size = size;
  return true;
}

bool
fmx_ccfb_reader_init_packet (FmxCcfbReader *reader, const uint8_t *data,
    size_t size, uint32_t *sender_ssrc)
{
  size_t length;

  memset (reader, 0, sizeof *reader);
  if (size < RTCP_HEADER_BYTES || data[0] >> 6 != RTCP_VERSION
      || (data[0] & 0x1fu) != RTCP_CCFB || data[1] != RTCP_RTPFB)
    return false;
  length = ((size_t) fmx_read_u16 (data + 2) + 1) * 4;
  if (length < RTCP_HEADER_BYTES || length > size)
    return false;
  if ((data[0] & 0x20u) != 0) {
    uint32_t padding = data[length - 1];

    /* [RFC3550 6.4.1] a multiple of four that counts itself */
    if (padding == 0 || padding % 4 != 0
        || padding > length - RTCP_HEADER_BYTES)
      return false;
    length -= padding;
  }
  if (sender_ssrc != NULL)
    *sender_ssrc = fmx_read_u32 (data + 4);
  return fmx_ccfb_reader_init (reader, data + RTCP_HEADER_BYTES,
      length - RTCP_HEADER_BYTES);
}

static FmxDuration
arrival_offset_from_ato (uint32_t ato)
{
  if (ato > ATO_MAX)
    return FMX_CCFB_ATO_UNKNOWN;
  return ato * FMX_SECOND / ATO_HZ;
}

bool
fmx_ccfb_reader_next (FmxCcfbReader *reader, FmxCcfbMetric *metric)
{
  uint32_t bits;

  while (reader->left == 0) {
    if (reader->size < TIMESTAMP_BYTES + BLOCK_HEADER_BYTES
        || reader->offset >= reader->size - TIMESTAMP_BYTES)
      return false;
    /* The metrics before were padded to a word. */
    reader->offset = (reader->offset + 3) / 4 * 4;
    if (reader->offset >= reader->size - TIMESTAMP_BYTES)
      return false;
    reader->ssrc = fmx_read_u32 (reader->data + reader->offset);
    reader->next_seq = fmx_read_u16 (reader->data + reader->offset + 4);
    reader->left = fmx_read_u16 (reader->data + reader->offset + 6);
    reader->offset += BLOCK_HEADER_BYTES;
  }
  bits = fmx_read_u16 (reader->data + reader->offset);
  reader->offset += METRIC_BYTES;
  reader->left--;
  metric->ssrc = reader->ssrc;
  metric->seq = reader->next_seq++;
  metric->received = (bits & METRIC_RECEIVED) != 0;
  /* [RFC8888 3.1] what was not received has nothing else to tell */
  metric->ecn = metric->received ? (bits >> METRIC_ECN_SHIFT) & 3 : 0;
  metric->arrival_offset = metric->received ?
      arrival_offset_from_ato (bits & METRIC_ATO_MASK) : FMX_CCFB_ATO_UNKNOWN;
  return true;
}

uint32_t
fmx_ccfb_reader_timestamp (const FmxCcfbReader *reader)
{
  if (reader->size < TIMESTAMP_BYTES)
    return 0;
  return fmx_read_u32 (reader->data + reader->size - TIMESTAMP_BYTES);
}

bool
fmx_ccfb_writer_init (FmxCcfbWriter *writer, uint8_t *data, size_t size,
    uint32_t sender_ssrc)
{
  memset (writer, 0, sizeof *writer);
  if (size < RTCP_HEADER_BYTES + TIMESTAMP_BYTES)
    return false;
  writer->data = data;
  writer->size = size < RTCP_MAX_BYTES ? size : RTCP_MAX_BYTES;
  writer->offset = RTCP_HEADER_BYTES;
  data[0] = (uint8_t) (RTCP_VERSION << 6 | RTCP_CCFB);
  data[1] = (uint8_t) RTCP_RTPFB;
  fmx_write_u32 (data + 4, sender_ssrc);
  return true;
}

/* Where the timestamp would start, were the block under way closed now. */
static size_t
closed_offset (const FmxCcfbWriter *writer)
{
  return (writer->offset + 3) / 4 * 4;
}

static void
close_block (FmxCcfbWriter *writer)
{
  if (writer->block == 0)
    return;
  fmx_write_u16 (writer->data + writer->block + 6, writer->n_reports);
  if (closed_offset (writer) != writer->offset)
    fmx_write_u16 (writer->data + writer->offset, 0);
  writer->offset = closed_offset (writer);
  writer->block = 0;
}

uint32_t
fmx_ccfb_writer_room (const FmxCcfbWriter *writer)
{
  size_t taken = closed_offset (writer) + BLOCK_HEADER_BYTES + TIMESTAMP_BYTES;
  size_t n;

  if (taken >= writer->size)
    return 0;
  n = (writer->size - taken) / 4 * (4 / METRIC_BYTES);
  return n < FMX_CCFB_MAX_REPORTS ? (uint32_t) n : FMX_CCFB_MAX_REPORTS;
}

bool
fmx_ccfb_writer_begin_stream (FmxCcfbWriter *writer, uint32_t ssrc,
    uint16_t begin_seq)
{
  if (closed_offset (writer) + BLOCK_HEADER_BYTES + TIMESTAMP_BYTES
      > writer->size)
    return false;
  close_block (writer);
  writer->block = writer->offset;
  writer->n_reports = 0;
  fmx_write_u32 (writer->data + writer->offset, ssrc);
  fmx_write_u16 (writer->data + writer->offset + 4, begin_seq);
  writer->offset += BLOCK_HEADER_BYTES;
  return true;
}

static uint32_t
ato_from_arrival_offset (FmxDuration offset)
{
  /* [RFC8888 3.1] after the timestamp, or nobody knows: unavailable */
  if (offset < 0)
    return ATO_UNAVAILABLE;
  if (offset > (FmxDuration) ATO_MAX * FMX_SECOND / ATO_HZ)
    return ATO_OVER_RANGE;
  return (uint32_t) ((offset * ATO_HZ + FMX_SECOND / 2) / FMX_SECOND);
}

bool
fmx_ccfb_writer_add (FmxCcfbWriter *writer, bool received, uint8_t ecn,
    FmxDuration arrival_offset)
{
  uint32_t bits = 0;

  if (writer->block == 0 || writer->n_reports >= FMX_CCFB_MAX_REPORTS
      || (writer->offset + METRIC_BYTES + 3) / 4 * 4 + TIMESTAMP_BYTES
      > writer->size)
    return false;
  if (received)
    bits = METRIC_RECEIVED | (uint32_t) (ecn & 3) << METRIC_ECN_SHIFT
        | ato_from_arrival_offset (arrival_offset);
  fmx_write_u16 (writer->data + writer->offset, bits);
  writer->offset += METRIC_BYTES;
  writer->n_reports++;
  return true;
}

size_t
fmx_ccfb_writer_finish (FmxCcfbWriter *writer, uint32_t timestamp)
{
  close_block (writer);
  fmx_write_u32 (writer->data + writer->offset, timestamp);
  writer->offset += TIMESTAMP_BYTES;
  fmx_write_u16 (writer->data + 2, (uint32_t) (writer->offset / 4 - 1));
  return writer->offset;
}
