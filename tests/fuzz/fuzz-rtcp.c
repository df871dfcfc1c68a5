/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* RTCP from the network: any bytes are refused or read within their bounds; the
 * packets of a datagram lie one after the other and fill it. */
#include <stdlib.h>
#include <string.h>

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
  }
  free (copy);
  return 0;
}
