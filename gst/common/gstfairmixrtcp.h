/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_FAIRMIX_RTCP_H__
#define __GST_FAIRMIX_RTCP_H__

#include <gst/gst.h>
#include <gst/rtp/rtp.h>

#include "fairmix/wire/fmx-rtcp-app.h"
#include "fairmix/wire/fmx-rtcp.h"

G_BEGIN_DECLS

/**
 * GstFairmixRtcpFuncs:
 * @sender_info: of a sender report: who, the NTP time (32.32) and the RTP time
 *     that it says are the same
 * @report: @block is what @reporter says of one stream
 * @bye: @ssrc leaves
 * @app: an application-defined packet; valid during the call
 * @feedback: transport-layer feedback ([RFC4585 6.2]), valid during the call;
 *     its format is the count.  Returns: whether it was well-formed
 *
 * What is wanted of a compound RTCP packet; %NULL where nothing is.
 */
typedef struct
{
  void (*sender_info) (gpointer user_data, guint32 ssrc, guint64 ntp_time,
      guint32 rtp_time);
  void (*report) (gpointer user_data, guint32 reporter,
      const FmxReportBlock * block);
  void (*bye) (gpointer user_data, guint32 ssrc);
  void (*app) (gpointer user_data, const FmxRtcpApp * app);
    gboolean (*feedback) (gpointer user_data, const FmxRtcpPacket * packet);
} GstFairmixRtcpFuncs;

/**
 * gst_fairmix_rtcp_read:
 * @buffer: a compound packet as it came from the network, or a part of one
 *     ([RFC5506])
 *
 * Calls what stands in @funcs for each packet in @buffer, in their order.
 * Nothing is called for a packet that is too short for what it announces, nor for
 * any of a datagram whose lengths do not add up (#FmxRtcpReader).
 *
 * Returns: whether all of it was well-formed
 */
gboolean gst_fairmix_rtcp_read (GstBuffer * buffer,
    const GstFairmixRtcpFuncs * funcs, gpointer user_data);

/**
 * gst_fairmix_rtcp_refuse:
 * @element: which is about to hand @buffer on to an element that may trust the lengths
 *     in it; an rtpsession of GStreamer 1.22 reads beyond what it was given
 * @warned: whether a warning was posted already: once is enough
 *
 * Returns: whether @buffer is malformed (fmx_rtcp_is_sound()), and has to be dropped
 */
gboolean gst_fairmix_rtcp_refuse (GstBuffer * buffer, GstElement * element,
    gint * warned);

/**
 * gst_fairmix_rtcp_push_rtp:
 * @buffer: (transfer full): RTP from the network on its way to an rtpsession, which
 *     reads as RTCP what is no RTP: then it is handed on under the same condition
 */
GstFlowReturn gst_fairmix_rtcp_push_rtp (GstPad * src, GstBuffer * buffer,
    GstElement * element, gint * warned);
GstFlowReturn gst_fairmix_rtcp_push_rtp_list (GstPad * src,
    GstBufferList * list, GstElement * element, gint * warned);

/**
 * gst_fairmix_rtcp_add_app:
 * @rtcp: a compound packet, mapped for writing
 * @app: the packet to append; its data a multiple of four bytes
 * @mtu: how long the compound may become, in bytes
 *
 * Returns: %FALSE if it does not fit, or if the compound ends with padding
 */
gboolean gst_fairmix_rtcp_add_app (GstRTCPBuffer * rtcp,
    const FmxRtcpApp * app, gsize mtu);

G_END_DECLS

#endif /* __GST_FAIRMIX_RTCP_H__ */
