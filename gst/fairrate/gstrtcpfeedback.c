/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstrtcpfeedback.h"

#include <gst/rtp/rtp.h>

#include "common/gstfairmixrtcp.h"

#define WORD_BYTES 4
#define HEADER_BYTES 4
#define SSRC_BYTES 4
#define SENDER_INFO_BYTES 20
#define REPORT_BLOCK_BYTES 24

#define RTPFB_TYPE_CCFB 11      /* [RFC8888 3.1] */

static gboolean
gst_rtcp_feedback_read_ccfb (GstRTCPPacket * packet, FmxRateSender * sender,
    FmxTime now)
{
  const guint8 *data = packet->rtcp->map.data + packet->offset;
  gsize size;

  return gst_fairmix_rtcp_packet_size (packet, &size)
      && size >= HEADER_BYTES + SSRC_BYTES
      && fmx_rate_sender_on_ccfb (sender, data + HEADER_BYTES + SSRC_BYTES,
      size - HEADER_BYTES - SSRC_BYTES, now);
}

static gboolean
gst_rtcp_feedback_read_report (GstRTCPPacket * packet, FmxRateSender * sender,
    guint32 ntp_mid32, FmxTime now)
{
  guint n = gst_rtcp_packet_get_rb_count (packet);
  gsize size, needed = HEADER_BYTES + SSRC_BYTES + n * REPORT_BLOCK_BYTES;

  if (gst_rtcp_packet_get_type (packet) == GST_RTCP_TYPE_SR)
    needed += SENDER_INFO_BYTES;
  if (!gst_fairmix_rtcp_packet_size (packet, &size) || size < needed)
    return FALSE;

  for (guint i = 0; i < n; i++) {
    FmxReportBlock block;

    gst_rtcp_packet_get_rb (packet, i, &block.ssrc, &block.fraction_lost,
        &block.cumulative_lost, &block.ext_highest_seq, &block.jitter_ts,
        &block.lsr, &block.dlsr);
    fmx_rate_sender_on_report_block (sender, &block, ntp_mid32, now);
  }
  return TRUE;
}

gboolean
gst_rtcp_feedback_read (GstBuffer * buffer, FmxRateSender * sender,
    guint32 ntp_mid32, FmxTime now)
{
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstRTCPPacket packet;
  gboolean ok = TRUE;
  gsize end = 0;

  if (!gst_rtcp_buffer_validate_reduced (buffer)
      || !gst_rtcp_buffer_map (buffer, GST_MAP_READ, &rtcp))
    return FALSE;

  for (gboolean more = gst_rtcp_buffer_get_first_packet (&rtcp, &packet); more;
      more = gst_rtcp_packet_move_to_next (&packet)) {
    end = packet.offset + HEADER_BYTES
        + WORD_BYTES * (gsize) gst_rtcp_packet_get_length (&packet);
    switch (gst_rtcp_packet_get_type (&packet)) {
      case GST_RTCP_TYPE_SR:
      case GST_RTCP_TYPE_RR:
        ok &= gst_rtcp_feedback_read_report (&packet, sender, ntp_mid32, now);
        break;
      case GST_RTCP_TYPE_RTPFB:
        if (gst_rtcp_packet_fb_get_type (&packet) == RTPFB_TYPE_CCFB)
          ok &= gst_rtcp_feedback_read_ccfb (&packet, sender, now);
        break;
      default:
        break;
    }
  }
  ok &= end == rtcp.map.size;   /* else the walk ended early */
  gst_rtcp_buffer_unmap (&rtcp);
  return ok;
}
