/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/wire/fmx-rtcp.h"

#include <assert.h>

#include "fairmix/wire/fmx-bytes-private.h"

#define HEADER_BYTES 4u
#define WORD_BYTES 4u
#define VERSION 2u
#define PADDING_BIT 0x20u
#define COUNT_MASK 0x1fu
#define FIRST_TYPE 192u
#define LAST_TYPE 223u
#define ITEM_END 0u
#define ITEM_CNAME 1u
#define ITEM_HEADER_BYTES 2u
#define SSRC_BYTES 4u
#define SENDER_INFO_BYTES 20u
#define REPORT_BLOCK_BYTES 24u

/* [RFC3550 6.4.1] the length in words, minus one */
static size_t
packet_bytes (const uint8_t *data)
{
  return ((size_t) fmx_read_u16 (data + 2) + 1) * WORD_BYTES;
}

static size_t
padding_bytes (const uint8_t *data)
{
  return (data[0] & PADDING_BIT) != 0 ? data[packet_bytes (data) - 1] : 0;
}

static bool
is_valid (const uint8_t *data, size_t size)
{
  size_t bytes, padding;

  if (size < HEADER_BYTES || data[0] >> 6 != VERSION
      || data[1] < FIRST_TYPE || data[1] > LAST_TYPE)
    return false;
  bytes = packet_bytes (data);
  if (bytes > size)
    return false;
  if ((data[0] & PADDING_BIT) == 0)
    return true;
  /* [RFC3550 6.4.1] on the last packet only, the count includes itself; not
   * always whole words: browsers fill up transport-wide feedback by one to three */
  padding = padding_bytes (data);
  return bytes == size && padding > 0 && padding <= bytes - HEADER_BYTES;
}

/* How much of it is well-formed, from the first byte on */
static size_t
well_formed_bytes (const uint8_t *data, size_t size)
{
  size_t offset = 0;

  while (offset < size && is_valid (data + offset, size - offset))
    offset += packet_bytes (data + offset);
  return offset;
}

bool
fmx_rtcp_reader_init (FmxRtcpReader *reader, const uint8_t *data, size_t size)
{
  fmx_rtcp_reader_init_prefix (reader, data, size);
  if (reader->left < size)
    reader->left = 0;
  return reader->left > 0;
}

void
fmx_rtcp_reader_init_prefix (FmxRtcpReader *reader, const uint8_t *data,
    size_t size)
{
  reader->next = data;
  reader->left = well_formed_bytes (data, size);
}

bool
fmx_rtcp_reader_next (FmxRtcpReader *reader, FmxRtcpPacket *packet)
{
  const uint8_t *data = reader->next;
  size_t bytes;

  if (reader->left == 0)
    return false;
  bytes = packet_bytes (data);
  packet->type = data[1];
  packet->count = data[0] & COUNT_MASK;
  packet->data = data;
  packet->bytes = bytes;
  packet->body = data + HEADER_BYTES;
  packet->body_bytes = bytes - HEADER_BYTES - padding_bytes (data);
  reader->next += bytes;
  reader->left -= bytes;
  return true;
}

bool
fmx_rtcp_report_read (FmxRtcpReport *report, const FmxRtcpPacket *packet)
{
  const uint8_t *body = packet->body;
  size_t before_blocks = SSRC_BYTES;

  if (packet->type != FMX_RTCP_SR && packet->type != FMX_RTCP_RR)
    return false;
  report->has_sender_info = packet->type == FMX_RTCP_SR;
  if (report->has_sender_info)
    before_blocks += SENDER_INFO_BYTES;
  if (packet->body_bytes < before_blocks + packet->count * REPORT_BLOCK_BYTES)
    return false;

  report->ssrc = fmx_read_u32 (body);
  report->ntp_time = 0;
  report->rtp_time = 0;
  if (report->has_sender_info) {
    report->ntp_time = (uint64_t) fmx_read_u32 (body + 4) << 32
        | fmx_read_u32 (body + 8);
    report->rtp_time = fmx_read_u32 (body + 12);
  }
  report->n_blocks = packet->count;
  report->blocks = body + before_blocks;
  return true;
}

void
fmx_rtcp_report_block (const FmxRtcpReport *report, size_t i,
    FmxReportBlock *block)
{
  const uint8_t *at = report->blocks + i * REPORT_BLOCK_BYTES;
  uint32_t lost = fmx_read_u32 (at + 4) & 0xffffffu;

  assert (i < report->n_blocks);
  block->ssrc = fmx_read_u32 (at);
  block->fraction_lost = at[4];
  /* [RFC3550 6.4.1] signed, in 24 bits */
  block->cumulative_lost = (int32_t) lost
      - ((lost & 0x800000u) != 0 ? 0x1000000 : 0);
  block->ext_highest_seq = fmx_read_u32 (at + 8);
  block->jitter_ts = fmx_read_u32 (at + 12);
  block->lsr = fmx_read_u32 (at + 16);
  block->dlsr = fmx_read_u32 (at + 20);
}

/* Reads the items of one chunk, which begin at @offset, and finds its name.
 * Returns: where the next chunk begins, 0 if they do not end. */
static size_t
read_items (const FmxRtcpPacket *packet, size_t offset, FmxRtcpCname *cname)
{
  const uint8_t *body = packet->body;
  size_t size = packet->body_bytes;

  cname->name = NULL;
  while (offset < size && body[offset] != ITEM_END) {
    size_t bytes;

    if (size - offset < ITEM_HEADER_BYTES)
      return 0;
    bytes = body[offset + 1];
    if (size - offset - ITEM_HEADER_BYTES < bytes)
      return 0;
    if (body[offset] == ITEM_CNAME && cname->name == NULL) {
      cname->name = body + offset + ITEM_HEADER_BYTES;
      cname->name_bytes = bytes;
    }
    offset += ITEM_HEADER_BYTES + bytes;
  }
  if (offset >= size)
    return 0;
  /* [RFC3550 6.5] one or more null octets, up to the next 32-bit boundary */
  return (offset / WORD_BYTES + 1) * WORD_BYTES;
}

size_t
fmx_rtcp_sdes_cnames (const FmxRtcpPacket *packet, FmxRtcpCname *cnames)
{
  size_t offset = 0, n = 0;

  if (packet->type != FMX_RTCP_SDES)
    return 0;
  for (size_t i = 0; i < packet->count; i++) {
    if (offset > packet->body_bytes || packet->body_bytes - offset < WORD_BYTES)
      break;
    cnames[n].ssrc = fmx_read_u32 (packet->body + offset);
    offset = read_items (packet, offset + WORD_BYTES, &cnames[n]);
    if (offset == 0)
      break;
    if (cnames[n].name != NULL)
      n++;
  }
  return n;
}

size_t
fmx_rtcp_bye_ssrcs (const FmxRtcpPacket *packet, uint32_t *ssrcs)
{
  size_t n = 0;

  if (packet->type != FMX_RTCP_BYE)
    return 0;
  while (n < packet->count && (n + 1) * WORD_BYTES <= packet->body_bytes) {
    ssrcs[n] = fmx_read_u32 (packet->body + n * WORD_BYTES);
    n++;
  }
  return n;
}
