/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/wire/fmx-twcc.h"

#include <string.h>

#include "fairmix/wire/fmx-bytes-private.h"

#define RTCP_VERSION 2u
#define RTCP_RTPFB 205u
#define RTCP_TWCC 15u
#define HEADER_BYTES 20u        /* up to the first chunk */
#define RTCP_FIXED_BYTES 8u     /* what no padding may reach into */
#define CHUNK_BYTES 2u

#define REFERENCE_UNIT (64 * FMX_MSECOND)
#define DELTA_UNIT (250 * FMX_USECOND)

/* The symbol of a status */
#define NOT_RECEIVED 0u
#define SMALL_DELTA 1u          /* 8 bits, >= 0 */
#define LARGE_DELTA 2u          /* 16 bits, signed */

/* Of how many packets the chunk tells */
static uint32_t
chunk_length (uint16_t chunk)
{
  if ((chunk & 0x8000u) == 0)
    return chunk & 0x1fffu;     /* a run */
  return (chunk & 0x4000u) != 0 ? 7 : 14;
}

/* The symbol of packet @index of a chunk */
static uint32_t
chunk_symbol (uint16_t chunk, uint32_t index)
{
  if ((chunk & 0x8000u) == 0)
    return (chunk >> 13) & 3u;
  if ((chunk & 0x4000u) != 0)
    return (chunk >> (12 - 2 * index)) & 3u;
  return (chunk >> (13 - index)) & 1u;
}

/* Adds the length of the deltas of the chunk's first @n packets; false if a
 * symbol is one that has no meaning. */
static bool
chunk_deltas (uint16_t chunk, uint32_t n, size_t *bytes)
{
  if ((chunk & 0x8000u) == 0) {
    if (chunk_symbol (chunk, 0) > LARGE_DELTA)
      return false;
    *bytes += (size_t) n * chunk_symbol (chunk, 0);
    return true;
  }
  for (uint32_t i = 0; i < n; i++) {
    if (chunk_symbol (chunk, i) > LARGE_DELTA)
      return false;
    *bytes += chunk_symbol (chunk, i);  /* 0, 1 or 2 bytes */
  }
  return true;
}

/* The length of the packet without padding, 0 if it is malformed */
static size_t
packet_length (const uint8_t *packet, size_t size)
{
  size_t length;

  if (size < HEADER_BYTES || packet[0] >> 6 != RTCP_VERSION
      || (packet[0] & 0x1fu) != RTCP_TWCC || packet[1] != RTCP_RTPFB)
    return 0;
  length = ((size_t) fmx_read_u16 (packet + 2) + 1) * 4;
  if (length < HEADER_BYTES || length > size)
    return 0;
  if ((packet[0] & 0x20u) != 0) {
    uint32_t padding = packet[length - 1];

    /* [RFC3550 6.4.1] it counts itself; senders of this feedback do not keep to
     * multiples of four */
    if (padding == 0 || padding > length - RTCP_FIXED_BYTES)
      return 0;
    length -= padding;
  }
  return length >= HEADER_BYTES ? length : 0;
}

static FmxDuration
reference_time (const uint8_t *packet)
{
  int32_t reference = (int32_t) ((uint32_t) packet[16] << 16
      | (uint32_t) packet[17] << 8 | packet[18]);

  if (reference >= 0x800000)
    reference -= 0x1000000;
  return reference * REFERENCE_UNIT;
}

bool
fmx_twcc_reader_init (FmxTwccReader *reader, const uint8_t *packet,
    size_t size, uint32_t *media_ssrc)
{
  size_t length = packet_length (packet, size);
  size_t offset = HEADER_BYTES, deltas = 0;
  uint32_t left;

  memset (reader, 0, sizeof *reader);
  if (length == 0)
    return false;
  left = fmx_read_u16 (packet + 14);
  while (left > 0) {
    uint32_t n;

    if (length - offset < CHUNK_BYTES)
      return false;
    n = chunk_length (fmx_read_u16 (packet + offset));
    /* the last chunk may have room for more; a run of nobody would go on for
     * ever */
    n = n < left ? n : left;
    if (n == 0 || !chunk_deltas (fmx_read_u16 (packet + offset), n, &deltas))
      return false;
    left -= n;
    offset += CHUNK_BYTES;
  }
  if (length - offset < deltas)
    return false;

  reader->chunk = packet + HEADER_BYTES;
  reader->delta = packet + offset;
  reader->left = fmx_read_u16 (packet + 14);
  reader->seq = fmx_read_u16 (packet + 12);
  reader->count = packet[19];
  reader->arrival = reference_time (packet);
  if (media_ssrc != NULL)
    *media_ssrc = fmx_read_u32 (packet + 8);
  return true;
}

bool
fmx_twcc_reader_next (FmxTwccReader *reader, FmxTwccStatus *status)
{
  uint16_t chunk;
  uint32_t symbol;

  if (reader->left == 0)
    return false;
  chunk = fmx_read_u16 (reader->chunk);
  symbol = chunk_symbol (chunk, reader->in_chunk);
  if (symbol == SMALL_DELTA) {
    reader->arrival += reader->delta[0] * DELTA_UNIT;
  } else if (symbol == LARGE_DELTA) {
    reader->arrival += (int16_t) fmx_read_u16 (reader->delta) * DELTA_UNIT;
  }
  reader->delta += symbol;
  status->seq = reader->seq++;
  status->received = symbol != NOT_RECEIVED;
  status->arrival = reader->arrival;

  reader->left--;
  if (++reader->in_chunk == chunk_length (chunk)) {
    reader->in_chunk = 0;
    reader->chunk += CHUNK_BYTES;
  }
  return true;
}

uint8_t
fmx_twcc_reader_count (const FmxTwccReader *reader)
{
  return reader->count;
}
