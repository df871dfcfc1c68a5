/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstrtcpfeedback.h"

#include <gst/net/gstnetaddressmeta.h>

#include "common/gstfairmixrtcp.h"

#define SSRC_BYTES 4

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

/* while a compound packet is read */
typedef struct
{
  FmxRateSender *sender;
  GstTransportWide *transport_wide;
  guint64 address;
  guint32 ntp_mid32;
  FmxTime now;
} Reading;

static gboolean
read_ccfb (Reading * reading, const FmxRtcpPacket * packet)
{
  guint64 source = reading->address;

  if (packet->body_bytes < SSRC_BYTES)
    return FALSE;
  if (source == FMX_FEEDBACK_SOURCE_ANYONE)
    source = G_GUINT64_CONSTANT (1) << 32 | GST_READ_UINT32_BE (packet->body);
  fmx_rate_sender_set_source (reading->sender, source);
  return fmx_rate_sender_on_ccfb (reading->sender, packet->body + SSRC_BYTES,
      packet->body_bytes - SSRC_BYTES, reading->now);
}

static void
read_twcc (Reading * reading, const FmxRtcpPacket * packet)
{
  fmx_rate_sender_set_source (reading->sender,
      reading->address != FMX_FEEDBACK_SOURCE_ANYONE ? reading->address
      : TRANSPORT);
  gst_transport_wide_read (reading->transport_wide, packet->data,
      packet->bytes, reading->sender, reading->now);
}

static gboolean
on_feedback (gpointer user_data, const FmxRtcpPacket * packet)
{
  switch (packet->count) {
    case RTPFB_TYPE_CCFB:
      return read_ccfb (user_data, packet);
    case RTPFB_TYPE_TWCC:
      read_twcc (user_data, packet);
      return TRUE;
    default:
      return TRUE;
  }
}

static void
on_report (gpointer user_data, guint32 reporter, const FmxReportBlock * block)
{
  Reading *reading = user_data;

  fmx_rate_sender_set_source (reading->sender, reading->address);
  fmx_rate_sender_on_report_block (reading->sender, block, reading->ntp_mid32,
      reading->now);
}

gboolean
gst_rtcp_feedback_read (GstBuffer * buffer, FmxRateSender * sender,
    GstTransportWide * transport_wide, guint32 ntp_mid32, FmxTime now)
{
  static const GstFairmixRtcpFuncs funcs = {
    .report = on_report,
    .feedback = on_feedback,
  };
  Reading reading = {
    sender, transport_wide, gst_rtcp_feedback_address (buffer), ntp_mid32, now
  };

  return gst_fairmix_rtcp_read (buffer, &funcs, &reading);
}
