/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfairmixrtcp.h"

#include <string.h>

#define WORD_BYTES 4
#define HEADER_BYTES 4
#define SSRC_BYTES 4
#define SENDER_INFO_BYTES 20
#define REPORT_BLOCK_BYTES 24

gboolean
gst_fairmix_rtcp_packet_size (GstRTCPPacket * packet, gsize * size)
{
  const guint8 *data = packet->rtcp->map.data + packet->offset;
  gsize padding = 0;

  *size = HEADER_BYTES + WORD_BYTES
      * (gsize) gst_rtcp_packet_get_length (packet);
  if (packet->offset + *size > packet->rtcp->map.size)
    return FALSE;
  if (gst_rtcp_packet_get_padding (packet)) {
    padding = data[*size - 1];
    if (padding > *size - HEADER_BYTES)
      return FALSE;
  }
  *size -= padding;
  return TRUE;
}

static gboolean
read_report (GstRTCPPacket * packet, gsize size,
    const GstFairmixRtcpFuncs * funcs, gpointer user_data)
{
  gboolean is_sr = gst_rtcp_packet_get_type (packet) == GST_RTCP_TYPE_SR;
  guint n = gst_rtcp_packet_get_rb_count (packet);
  guint32 ssrc, rtp_time;
  guint64 ntp_time;

  if (size < HEADER_BYTES + SSRC_BYTES + n * REPORT_BLOCK_BYTES
      + (is_sr ? SENDER_INFO_BYTES : 0))
    return FALSE;
  if (is_sr) {
    gst_rtcp_packet_sr_get_sender_info (packet, &ssrc, &ntp_time, &rtp_time,
        NULL, NULL);
    if (funcs->sender_info != NULL)
      funcs->sender_info (user_data, ssrc, ntp_time, rtp_time);
  } else {
    ssrc = gst_rtcp_packet_rr_get_ssrc (packet);
  }
  for (guint i = 0; i < n && funcs->report != NULL; i++) {
    FmxReportBlock block;

    gst_rtcp_packet_get_rb (packet, i, &block.ssrc, &block.fraction_lost,
        &block.cumulative_lost, &block.ext_highest_seq, &block.jitter_ts,
        &block.lsr, &block.dlsr);
    funcs->report (user_data, ssrc, &block);
  }
  return TRUE;
}

static gboolean
read_bye (GstRTCPPacket * packet, gsize size,
    const GstFairmixRtcpFuncs * funcs, gpointer user_data)
{
  guint n = gst_rtcp_packet_bye_get_ssrc_count (packet);

  if (size < HEADER_BYTES + n * SSRC_BYTES)
    return FALSE;
  for (guint i = 0; i < n && funcs->bye != NULL; i++)
    funcs->bye (user_data, gst_rtcp_packet_bye_get_nth_ssrc (packet, i));
  return TRUE;
}

static gboolean
read_app (GstRTCPPacket * packet, gsize size,
    const GstFairmixRtcpFuncs * funcs, gpointer user_data)
{
  const GstMapInfo *map = &packet->rtcp->map;
  FmxRtcpApp app;

  if (!fmx_rtcp_app_read (&app, map->data + packet->offset,
          map->size - packet->offset))
    return FALSE;
  if (funcs->app != NULL)
    funcs->app (user_data, &app);
  return TRUE;
}

gboolean
gst_fairmix_rtcp_read (GstBuffer * buffer, const GstFairmixRtcpFuncs * funcs,
    gpointer user_data)
{
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstRTCPPacket packet;
  gboolean ok = TRUE;
  gsize end = 0;

  if (gst_buffer_get_size (buffer) == 0
      || !gst_rtcp_buffer_validate_reduced (buffer)
      || !gst_rtcp_buffer_map (buffer, GST_MAP_READ, &rtcp))
    return FALSE;

  for (gboolean more = gst_rtcp_buffer_get_first_packet (&rtcp, &packet); more;
      more = gst_rtcp_packet_move_to_next (&packet)) {
    gsize size;

    end = packet.offset + HEADER_BYTES
        + WORD_BYTES * (gsize) gst_rtcp_packet_get_length (&packet);
    if (!gst_fairmix_rtcp_packet_size (&packet, &size)) {
      ok = FALSE;
      break;
    }
    switch (gst_rtcp_packet_get_type (&packet)) {
      case GST_RTCP_TYPE_SR:
      case GST_RTCP_TYPE_RR:
        ok &= read_report (&packet, size, funcs, user_data);
        break;
      case GST_RTCP_TYPE_BYE:
        ok &= read_bye (&packet, size, funcs, user_data);
        break;
      case GST_RTCP_TYPE_APP:
        ok &= read_app (&packet, size, funcs, user_data);
        break;
      default:
        break;
    }
  }
  ok &= end == rtcp.map.size;   /* else the walk ended early */
  gst_rtcp_buffer_unmap (&rtcp);
  return ok;
}

gboolean
gst_fairmix_rtcp_add_app (GstRTCPBuffer * rtcp, const FmxRtcpApp * app,
    gsize mtu)
{
  GstRTCPPacket packet;
  gchar name[sizeof app->name + 1] = { 0 };

  g_return_val_if_fail (app->size % WORD_BYTES == 0, FALSE);

  if (rtcp->map.size + FMX_RTCP_APP_HEADER_BYTES + app->size
      > MIN (mtu, rtcp->map.maxsize)
      || !gst_rtcp_buffer_add_packet (rtcp, GST_RTCP_TYPE_APP, &packet))
    return FALSE;
  if (!gst_rtcp_packet_app_set_data_length (&packet, app->size / WORD_BYTES)) {
    gst_rtcp_packet_remove (&packet);
    return FALSE;
  }
  memcpy (name, app->name, sizeof app->name);
  gst_rtcp_packet_app_set_subtype (&packet, app->subtype);
  gst_rtcp_packet_app_set_ssrc (&packet, app->ssrc);
  gst_rtcp_packet_app_set_name (&packet, name);
  memcpy (rtcp->map.data + packet.offset + FMX_RTCP_APP_HEADER_BYTES,
      app->data, app->size);
  return TRUE;
}
