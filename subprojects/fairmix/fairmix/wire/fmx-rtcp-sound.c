/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/wire/fmx-rtcp-sound.h"

#include "fairmix/wire/fmx-bytes-private.h"
#include "fairmix/wire/fmx-ccfb.h"
#include "fairmix/wire/fmx-rtcp-app.h"
#include "fairmix/wire/fmx-rtcp.h"
#include "fairmix/wire/fmx-twcc.h"

#define RTCP_PSFB 206u          /* [RFC4585 6.1] */
#define RTCP_XR 207u            /* [RFC3611 2] */
#define FORMAT_CCFB 11u         /* [RFC8888 3.1] */
#define FORMAT_TWCC 15u
#define ITEM_END 0u
#define ITEM_PRIV 8u
#define ITEM_HEADER_BYTES 2u
#define BLOCK_HEADER_BYTES 4u
#define HEADER_BYTES 4u
#define SSRC_BYTES 4u
#define WORD_BYTES 4u

/* [RFC3550 6.5.8] a private item begins with the length of its prefix */
static bool
is_sound_item (const uint8_t *item)
{
  size_t bytes = item[1];

  return item[0] != ITEM_PRIV || (bytes > 0 && item[2] < bytes);
}

/* Returns: how long the chunk at @data is, 0 if it does not end within @size */
static size_t
chunk_bytes (const uint8_t *data, size_t size)
{
  size_t offset = SSRC_BYTES;

  while (offset < size && data[offset] != ITEM_END) {
    size_t left = size - offset;

    if (left < ITEM_HEADER_BYTES
        || left - ITEM_HEADER_BYTES < data[offset + 1]
        || !is_sound_item (data + offset))
      return 0;
    offset += ITEM_HEADER_BYTES + data[offset + 1];
  }
  /* [RFC3550 6.5] one or more null octets, up to the next 32-bit boundary */
  return offset < size ? (offset / WORD_BYTES + 1) * WORD_BYTES : 0;
}

static bool
is_sound_sdes (const FmxRtcpPacket *packet)
{
  /* the last byte is the padding's length, where there is padding */
  size_t padded = packet->bytes - HEADER_BYTES;
  size_t end = padded > packet->body_bytes ? padded - 1 : padded;
  size_t offset = 0;

  for (size_t i = 0; i < packet->count; i++) {
    size_t bytes = chunk_bytes (packet->body + offset,
        packet->body_bytes - offset);

    if (bytes == 0 || bytes > packet->body_bytes - offset)
      return false;
    offset += bytes;
  }
  while (offset < end && packet->body[offset] == 0)
    offset++;
  return offset >= end;
}

/* [RFC3550 6.6] a reason may follow, after its length */
static bool
is_sound_bye (const FmxRtcpPacket *packet)
{
  size_t sources = packet->count * SSRC_BYTES;

  return packet->body_bytes == sources || (packet->body_bytes > sources
      && packet->body[sources] < packet->body_bytes - sources);
}

static bool
is_sound_xr (const FmxRtcpPacket *packet)
{
  size_t offset = SSRC_BYTES;

  while (offset < packet->body_bytes) {
    size_t left = packet->body_bytes - offset;

    if (left < BLOCK_HEADER_BYTES)
      return false;
    offset += BLOCK_HEADER_BYTES
        + (size_t) fmx_read_u16 (packet->body + offset + 2) * WORD_BYTES;
  }
  return offset == packet->body_bytes;
}

static bool
is_sound_feedback (const FmxRtcpPacket *packet)
{
  FmxCcfbReader ccfb;
  FmxTwccReader twcc;

  if (packet->body_bytes < 2 * SSRC_BYTES)
    return false;
  if (packet->count == FORMAT_CCFB)
    return fmx_ccfb_reader_init (&ccfb, packet->body + SSRC_BYTES,
        packet->body_bytes - SSRC_BYTES);
  return packet->count != FORMAT_TWCC
      || fmx_twcc_reader_init (&twcc, packet->data, packet->bytes, NULL);
}

static bool
is_sound_packet (const FmxRtcpPacket *packet)
{
  FmxRtcpReport report;
  FmxRtcpApp app;

  switch (packet->type) {
    case FMX_RTCP_SR:
    case FMX_RTCP_RR:
      return fmx_rtcp_report_read (&report, packet);
    case FMX_RTCP_SDES:
      return is_sound_sdes (packet);
    case FMX_RTCP_BYE:
      return is_sound_bye (packet);
    case FMX_RTCP_APP:
      return fmx_rtcp_app_read (&app, packet->data, packet->bytes);
    case FMX_RTCP_RTPFB:
      return is_sound_feedback (packet);
    case RTCP_PSFB:
      return packet->body_bytes >= 2 * SSRC_BYTES;
    case RTCP_XR:
      return is_sound_xr (packet);
    default:
      return true;
  }
}

bool
fmx_rtcp_is_sound (const uint8_t *data, size_t size)
{
  FmxRtcpReader reader;
  FmxRtcpPacket packet;

  if (!fmx_rtcp_reader_init (&reader, data, size))
    return false;
  while (fmx_rtcp_reader_next (&reader, &packet)) {
    if (!is_sound_packet (&packet))
      return false;
  }
  return true;
}
