/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfairmixrtcp.h"

#include <string.h>

#include "fairmix/wire/fmx-rtcp-sound.h"

#define WORD_BYTES 4

static gboolean
read_report (const FmxRtcpPacket * packet, const GstFairmixRtcpFuncs * funcs,
    gpointer user_data)
{
  FmxRtcpReport report;

  if (!fmx_rtcp_report_read (&report, packet))
    return FALSE;
  if (report.has_sender_info && funcs->sender_info != NULL)
    funcs->sender_info (user_data, report.ssrc, report.ntp_time,
        report.rtp_time);
  for (gsize i = 0; i < report.n_blocks && funcs->report != NULL; i++) {
    FmxReportBlock block;

    fmx_rtcp_report_block (&report, i, &block);
    funcs->report (user_data, report.ssrc, &block);
  }
  return TRUE;
}

static gboolean
read_bye (const FmxRtcpPacket * packet, const GstFairmixRtcpFuncs * funcs,
    gpointer user_data)
{
  guint32 ssrcs[FMX_RTCP_COUNT_MAX];
  gsize n = fmx_rtcp_bye_ssrcs (packet, ssrcs);

  if (n < packet->count)
    return FALSE;
  for (gsize i = 0; i < n && funcs->bye != NULL; i++)
    funcs->bye (user_data, ssrcs[i]);
  return TRUE;
}

static gboolean
read_app (const FmxRtcpPacket * packet, const GstFairmixRtcpFuncs * funcs,
    gpointer user_data)
{
  FmxRtcpApp app;

  if (!fmx_rtcp_app_read (&app, packet->data, packet->bytes))
    return FALSE;
  if (funcs->app != NULL)
    funcs->app (user_data, &app);
  return TRUE;
}

static gboolean
read_packet (const FmxRtcpPacket * packet, const GstFairmixRtcpFuncs * funcs,
    gpointer user_data)
{
  switch (packet->type) {
    case FMX_RTCP_SR:
    case FMX_RTCP_RR:
      return read_report (packet, funcs, user_data);
    case FMX_RTCP_BYE:
      return read_bye (packet, funcs, user_data);
    case FMX_RTCP_APP:
      return read_app (packet, funcs, user_data);
    case FMX_RTCP_RTPFB:
      return funcs->feedback == NULL || funcs->feedback (user_data, packet);
    default:
      return TRUE;
  }
}

gboolean
gst_fairmix_rtcp_read (GstBuffer * buffer, const GstFairmixRtcpFuncs * funcs,
    gpointer user_data)
{
  FmxRtcpReader reader;
  FmxRtcpPacket packet;
  GstMapInfo map;
  gboolean ok;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return FALSE;
  ok = fmx_rtcp_reader_init (&reader, map.data, map.size);
  while (fmx_rtcp_reader_next (&reader, &packet))
    ok &= read_packet (&packet, funcs, user_data);
  gst_buffer_unmap (buffer, &map);
  return ok;
}

static gboolean
is_sound (GstBuffer * buffer)
{
  GstMapInfo map;
  gboolean sound;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return FALSE;
  sound = fmx_rtcp_is_sound (map.data, map.size);
  gst_buffer_unmap (buffer, &map);
  return sound;
}

gboolean
gst_fairmix_rtcp_refuse (GstBuffer * buffer, GstElement * element,
    gint * warned)
{
  if (is_sound (buffer))
    return FALSE;
  if (g_atomic_int_compare_and_exchange (warned, FALSE, TRUE))
    GST_ELEMENT_WARNING (element, STREAM, FORMAT,
        ("Somebody sends malformed RTCP."),
        ("%" G_GSIZE_FORMAT " bytes were dropped, as all further ones will be",
            gst_buffer_get_size (buffer)));
  else
    GST_DEBUG_OBJECT (element, "malformed RTCP: %" GST_PTR_FORMAT, buffer);
  return TRUE;
}

/* An rtpsession reads as RTCP what is no RTP. */
static gboolean
is_taken_for_rtcp (GstBuffer * buffer)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint8 type;

  gboolean is_rtp;

  if (gst_buffer_extract (buffer, 1, &type, 1) < 1)
    return TRUE;
  if (type < GST_RTCP_TYPE_SR || type > GST_RTCP_TYPE_XR)
    return FALSE;
  is_rtp = gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp);
  if (is_rtp)
    gst_rtp_buffer_unmap (&rtp);
  return !is_rtp;
}

typedef struct
{
  GstElement *element;
  gint *warned;
} Sieve;

static gboolean
lets_pass (const Sieve * sieve, GstBuffer * buffer)
{
  return !is_taken_for_rtcp (buffer)
      || !gst_fairmix_rtcp_refuse (buffer, sieve->element, sieve->warned);
}

/* GstBufferListFunc */
static gboolean
sift (GstBuffer ** buffer, guint idx, gpointer user_data)
{
  (void) idx;
  if (!lets_pass (user_data, *buffer))
    gst_clear_buffer (buffer);
  return TRUE;
}

GstFlowReturn
gst_fairmix_rtcp_push_rtp (GstPad * src, GstBuffer * buffer,
    GstElement * element, gint * warned)
{
  Sieve sieve = { element, warned };

  if (lets_pass (&sieve, buffer))
    return gst_pad_push (src, buffer);
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

GstFlowReturn
gst_fairmix_rtcp_push_rtp_list (GstPad * src, GstBufferList * list,
    GstElement * element, gint * warned)
{
  Sieve sieve = { element, warned };

  list = gst_buffer_list_make_writable (list);
  gst_buffer_list_foreach (list, sift, &sieve);
  if (gst_buffer_list_length (list) > 0)
    return gst_pad_push_list (src, list);
  gst_buffer_list_unref (list);
  return GST_FLOW_OK;
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
