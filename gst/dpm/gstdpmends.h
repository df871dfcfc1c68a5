/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_DPM_ENDS_H__
#define __GST_DPM_ENDS_H__

#include <gst/gst.h>

#include "gstdpmport.h"

G_BEGIN_DECLS

/* Where a port's packets enter and leave the graph.  Two elements, so that the
 * graph has no loop. */

#define GST_TYPE_DPM_SOURCE (gst_dpm_source_get_type ())
G_DECLARE_FINAL_TYPE (GstDpmSource, gst_dpm_source, GST, DPM_SOURCE, GstElement)

#define GST_TYPE_DPM_SINK (gst_dpm_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstDpmSink, gst_dpm_sink, GST, DPM_SINK, GstElement)

/* What goes over the network: Opus, with header extensions for levels (RFC 6464,
 * RFC 6465), and for where streams stand in a mix. */
#define GST_DPM_PAYLOAD_TYPE 96
#define GST_DPM_LEVEL_ID 1
#define GST_DPM_MIX_LEVEL_ID 2
#define GST_DPM_TIME_ID 3

/* Adds src pads "rtp_N" and "rtcp_N" for the neighbour N. */
void gst_dpm_source_add (GstDpmSource * self, GstDpmPeer * peer);
/* When those are linked to what runs: what comes first there comes now, from this
 * thread. */
void gst_dpm_source_begin (GstDpmSource * self, GstPad * rtp, GstPad * rtcp);
void gst_dpm_source_remove (GstDpmSource * self, GstDpmPeer * peer);

/* What #GstDpmPortCallbacks.received does */
GstFlowReturn gst_dpm_source_push (GstDpmSource * self, GstPad * pad,
    GstBuffer * buffer);

/* From now on, what comes is sent through @port; %NULL: nowhere. */
void gst_dpm_sink_set_port (GstDpmSink * self, GstDpmPort * port);

/* Adds sink pads "rtp_N" and "rtcp_N".  @tells: caps ask that a mix tells where streams
 * stand in it */
void gst_dpm_sink_add (GstDpmSink * self, GstDpmPeer * peer, gboolean tells);
void gst_dpm_sink_remove (GstDpmSink * self, GstDpmPeer * peer);

/* @ends: whether it posts EOS when its RTP has ended */
void gst_dpm_sink_set_ends (GstDpmSink * self, gboolean ends);

G_END_DECLS

#endif /* __GST_DPM_ENDS_H__ */
