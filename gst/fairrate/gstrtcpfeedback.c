/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstrtcpfeedback.h"

#include <gst/net/gstnetaddressmeta.h>
#include <gst/rtp/rtp.h>

#include "common/gstfairmixrtcp.h"

#define WORD_BYTES 4
#define HEADER_BYTES 4
#define SSRC_BYTES 4
#define SENDER_INFO_BYTES 20
#define REPORT_BLOCK_BYTES 24

#define RTPFB_TYPE_CCFB 11      /* [RFC8888 3.1] */
#define RTPFB_TYPE_TWCC 15

/* Whose transport-wide feedback is where no address is known: one transport has
 * one receiver, who may name any of its SSRCs. */
#define TRANSPORT (G_GUINT64_CONSTANT (2) << 32)

/* A name for where @buffer came from, FMX_FEEDBACK_SOURCE_ANYONE = not known */
static guint64
gst_rtcp_feedback_address (GstBuffer * buffer)
{
  GstNetAddressMeta *meta = gst_buffer_get_net_address_meta (buffer);
  guint64 hash = G_GUINT64_CONSTANT (14695981039346656037);     /* FNV-1a */
  GInetAddress *address;
  const guint8 *bytes;
  guint16 port;

  if (meta == NULL || !G_IS_INET_SOCKET_ADDRESS (meta->addr))
    return FMX_FEEDBACK_SOURCE_ANYONE;

  address =
      g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (meta->addr));
  port = g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (meta->addr));
  bytes = g_inet_address_to_bytes (address);
  for (gsize i = 0; i < g_inet_address_get_native_size (address); i++)
    hash = (hash ^ bytes[i]) * G_GUINT64_CONSTANT (1099511628211);
  hash = (hash ^ port) * G_GUINT64_CONSTANT (1099511628211);
  return hash != FMX_FEEDBACK_SOURCE_ANYONE ? hash : 1;
}

static gboolean
gst_rtcp_feedback_read_ccfb (GstRTCPPacket * packet, FmxRateSender * sender,
    guint64 address, FmxTime now)
{
  const guint8 *data = packet->rtcp->map.data + packet->offset;
  gsize size;

  if (!gst_fairmix_rtcp_packet_size (packet, &size)
      || size < HEADER_BYTES + SSRC_BYTES)
    return FALSE;
  if (address == FMX_FEEDBACK_SOURCE_ANYONE)
    address = G_GUINT64_CONSTANT (1) << 32
        | gst_rtcp_packet_fb_get_sender_ssrc (packet);
  fmx_rate_sender_set_source (sender, address);
  return fmx_rate_sender_on_ccfb (sender, data + HEADER_BYTES + SSRC_BYTES,
      size - HEADER_BYTES - SSRC_BYTES, now);
}

static gboolean
gst_rtcp_feedback_read_twcc (GstRTCPPacket * packet, FmxRateSender * sender,
    GstTransportWide * transport_wide, guint64 address, FmxTime now)
{
  const GstMapInfo *map = &packet->rtcp->map;

  fmx_rate_sender_set_source (sender,
      address != FMX_FEEDBACK_SOURCE_ANYONE ? address : TRANSPORT);
  return gst_transport_wide_read (transport_wide, map->data + packet->offset,
      map->size - packet->offset, sender, now);
}

static gboolean
gst_rtcp_feedback_read_report (GstRTCPPacket * packet, FmxRateSender * sender,
    guint64 address, guint32 ntp_mid32, FmxTime now)
{
  guint n = gst_rtcp_packet_get_rb_count (packet);
  gsize size, needed = HEADER_BYTES + SSRC_BYTES + n * REPORT_BLOCK_BYTES;

  if (gst_rtcp_packet_get_type (packet) == GST_RTCP_TYPE_SR)
    needed += SENDER_INFO_BYTES;
  if (!gst_fairmix_rtcp_packet_size (packet, &size) || size < needed)
    return FALSE;

  fmx_rate_sender_set_source (sender, address);
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
    GstTransportWide * transport_wide, guint32 ntp_mid32, FmxTime now)
{
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  guint64 address = gst_rtcp_feedback_address (buffer);
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
        ok &= gst_rtcp_feedback_read_report (&packet, sender, address,
            ntp_mid32, now);
        break;
      case GST_RTCP_TYPE_RTPFB:
        if (gst_rtcp_packet_fb_get_type (&packet) == RTPFB_TYPE_CCFB)
          ok &= gst_rtcp_feedback_read_ccfb (&packet, sender, address, now);
        else if (gst_rtcp_packet_fb_get_type (&packet) == RTPFB_TYPE_TWCC)
          ok &= gst_rtcp_feedback_read_twcc (&packet, sender, transport_wide,
              address, now);
        break;
      default:
        break;
    }
  }
  ok &= end == rtcp.map.size;   /* else the walk ended early */
  gst_rtcp_buffer_unmap (&rtcp);
  return ok;
}
