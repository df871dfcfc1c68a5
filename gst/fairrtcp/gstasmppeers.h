/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_ASMP_PEERS_H__
#define __GST_ASMP_PEERS_H__

#include <gst/gst.h>

#include "common/gstfairmixrtcp.h"
#include "common/gstfairmixrtp.h"
#include "gstrtcphook.h"
#include "fairmix/asmp/fmx-asmp-sender.h"
#include "fairmix/base/fmx-rng.h"

G_BEGIN_DECLS

/* What asmprtcp knows of the other side, without pads, clocks and locks: as a
 * sender of its receivers, as a receiver of the streams of its sender.  RTP
 * packets and RTCP in, what the own reports are to carry out. */

/**
 * GstAsmpNews:
 * @timeout: when to call the on_timeout function
 * @early: a report is wanted before its time
 * @extra: who has a turn: a report of it is wanted now; 0 = nobody
 *
 * What follows from what has come.
 */
typedef struct
{
  FmxTime timeout;
  gboolean early;
  guint32 extra;
} GstAsmpNews;

/* --- sender --- */

typedef struct _GstAsmpReceivers GstAsmpReceivers;

GstAsmpReceivers *gst_asmp_receivers_new (const FmxAsmpSenderParams * params,
    guint max_receivers, guint32 seed);
void gst_asmp_receivers_free (GstAsmpReceivers * receivers);

/* The library's state machine behind it */
FmxAsmpSender *gst_asmp_receivers_get_sender (GstAsmpReceivers * receivers);

void gst_asmp_receivers_on_sent (GstAsmpReceivers * receivers, guint32 ssrc,
    guint32 wire_bytes, FmxTime now);

/* Returns: whether @buffer was well-formed */
gboolean gst_asmp_receivers_on_rtcp (GstAsmpReceivers * receivers,
    GstBuffer * buffer, guint32 ntp_mid32, FmxTime now);

/* Appends what the sender tells to the report of @ssrc. */
void gst_asmp_receivers_write (GstAsmpReceivers * receivers,
    GstRTCPBuffer * rtcp, guint32 ssrc, gsize mtu, FmxTime now);

/* Adds what is known to the statistics @s. */
void gst_asmp_receivers_add_stats (GstAsmpReceivers * receivers,
    GstStructure * s, FmxTime now);

/* --- receiver --- */

typedef struct _GstAsmpStreams GstAsmpStreams;

GstAsmpStreams *gst_asmp_streams_new (const FmxAsmpReceiverParams * params,
    guint32 seed);
void gst_asmp_streams_free (GstAsmpStreams * streams);

void gst_asmp_streams_set_clock_rate (GstAsmpStreams * streams,
    guint clock_rate_hz);

void gst_asmp_streams_on_packet (GstAsmpStreams * streams,
    const GstFairmixRtpHeader * header, guint32 wire_bytes, GstAsmpNews * news,
    FmxTime now);

/* @own_time: the NTP time now, in ns */
gboolean gst_asmp_streams_on_rtcp (GstAsmpStreams * streams,
    GstBuffer * buffer, GstClockTime own_time, FmxTime now);

/* Appends the rates to @report. */
void gst_asmp_streams_write (GstAsmpStreams * streams, GstRTCPBuffer * rtcp,
    const GstRtcpHookReport * report, GstAsmpNews * news, FmxTime now);

FmxTime gst_asmp_streams_next_timeout (GstAsmpStreams * streams);

void gst_asmp_streams_on_timeout (GstAsmpStreams * streams,
    GstAsmpNews * news, FmxTime now);

void gst_asmp_streams_add_stats (GstAsmpStreams * streams, GstStructure * s,
    FmxTime now);

G_END_DECLS

#endif /* __GST_ASMP_PEERS_H__ */
