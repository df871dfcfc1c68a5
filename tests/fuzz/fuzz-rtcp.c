/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* RTCP from the network: any bytes are refused or read within their bounds; the
 * packets of a datagram lie one after the other and fill it.  What is sound can be read
 * by who trusts every length in it. */
#include <stdlib.h>
#include <string.h>

#include "fairmix/wire/fmx-rtcp-sound.h"
#include "fairmix/wire/fmx-rtcp.h"
#include "fuzz.h"

static void
read_packet (const FmxRtcpPacket * packet)
{
  FmxRtcpCname cnames[FMX_RTCP_COUNT_MAX];
  uint32_t ssrcs[FMX_RTCP_COUNT_MAX];
  FmxRtcpReport report;
  FmxReportBlock block;
  const uint8_t *end = packet->body + packet->body_bytes;
  size_t n = fmx_rtcp_sdes_cnames (packet, cnames);

  CHECK (n <= packet->count);
  CHECK (n == 0 || packet->type == FMX_RTCP_SDES);
  for (size_t i = 0; i < n; i++) {
    CHECK (cnames[i].name > packet->body);
    CHECK (cnames[i].name_bytes <= 255);
    CHECK (cnames[i].name + cnames[i].name_bytes < end);
  }
  if (fmx_rtcp_report_read (&report, packet)) {
    CHECK (packet->type == FMX_RTCP_SR || packet->type == FMX_RTCP_RR);
    CHECK (report.n_blocks == packet->count);
    for (size_t i = 0; i < report.n_blocks; i++) {
      fmx_rtcp_report_block (&report, i, &block);
      CHECK (block.cumulative_lost >= -0x800000
          && block.cumulative_lost <= 0x7fffff);
    }
  }
  n = fmx_rtcp_bye_ssrcs (packet, ssrcs);
  CHECK (n <= packet->count && 4 * n <= packet->body_bytes);
  CHECK (n == 0 || packet->type == FMX_RTCP_BYE);
}

/* Reads all of @n bytes, which a sanitizer watches. */
static unsigned
touch (const uint8_t * data, size_t n)
{
  unsigned sum = 0;

  for (size_t i = 0; i < n; i++)
    sum += data[i];
  return sum;
}

/* As rtpsession of GStreamer 1.22 does: one chunk more than is announced where there is
 * room; takes lengths as they stand. */
static unsigned
trust_sdes (const uint8_t * data, size_t size)
{
  size_t end = size - 4, offset = 4;
  unsigned sum = 0, chunks = data[0] & 0x1f;

  for (unsigned i = 0; i <= chunks && chunks > 0 && offset + 4 < end; i++) {
    offset += 4;
    while (offset < end && data[offset] != 0) {
      const uint8_t *item = data + offset;
      uint8_t left = item[1];

      if (item[0] == 8) {
        sum += touch (item + 3, item[2]);
        left -= item[2] + 1;
        sum += touch (item + 3 + item[2], left);
      } else {
        sum += touch (item + 2, left);
      }
      offset += 2 + item[1];
    }
    offset = (offset + 4) & ~(size_t) 3;
  }
  return sum;
}

/* Of a datagram that was found to be sound */
static unsigned
trust (const uint8_t * data, size_t size)
{
  unsigned sum = 0;

  for (size_t at = 0, bytes; at < size; at += bytes) {
    const uint8_t *packet = data + at;
    unsigned count = packet[0] & 0x1f, type = packet[1];

    bytes = 4 * (1 + (packet[2] << 8 | packet[3]));
    CHECK (bytes <= size - at);
    if (type == 202)
      sum += trust_sdes (packet, bytes);
    else if (type == 203)
      sum += touch (packet + 4, 4 * count);
    else if (type == 200 || type == 201)
      sum += touch (packet + (type == 200 ? 28 : 8), 24 * count);
    else if (type >= 204 && type <= 206)
      sum += touch (packet + 4, 8);
  }
  return sum;
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  /* memory of just that length, and no more */
  uint8_t *copy = malloc (size > 0 ? size : 1);
  FmxRtcpReader reader;
  FmxRtcpPacket packet;
  const uint8_t *expected = copy;

  if (size > 0)
    memcpy (copy, data, size);
  if (fmx_rtcp_reader_init (&reader, copy, size)) {
    while (fmx_rtcp_reader_next (&reader, &packet)) {
      CHECK (packet.body == expected + 4);
      expected += 4 * (1 + (expected[2] << 8 | expected[3]));
      CHECK (packet.body + packet.body_bytes <= expected);
      read_packet (&packet);
    }
    CHECK (expected == copy + size);
  } else {
    CHECK (!fmx_rtcp_reader_next (&reader, &packet));
    CHECK (!fmx_rtcp_is_sound (copy, size));
  }
  if (fmx_rtcp_is_sound (copy, size))
    CHECK (trust (copy, size) < UINT32_MAX);
  free (copy);
  return 0;
}
