/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* asmprtcp as a receiver: the streams of one sender */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstasmppeers.h"

#include <string.h>

#include "common/gstfairmixstats.h"

#define MAX_STREAMS 16
#define SILENCE (15 * FMX_SECOND)       /* three intervals of reports */
#define INTERVAL_WEIGHT 0.25    /* of the newest pause between own reports */

typedef struct
{
  FmxAsmpReceiver receiver;
  guint32 ssrc;
  FmxTime heard;
} Stream;

struct _GstAsmpStreams
{
  FmxAsmpReceiverParams params;
  FmxRng rng;
  Stream *streams[MAX_STREAMS];
  guint n;
  guint32 own_ssrc;             /* 0 = no report has been sent */
  FmxTime last_report;
  gdouble interval_s;
  guint n_sources;              /* of the session, itself included */

  /* while a compound packet is read */
  GstClockTime own_time;
  FmxTime now;
};

GstAsmpStreams *
gst_asmp_streams_new (const FmxAsmpReceiverParams * params, guint32 seed)
{
  GstAsmpStreams *streams = g_new0 (GstAsmpStreams, 1);

  streams->params = *params;
  streams->last_report = FMX_TIME_NONE;
  fmx_rng_init (&streams->rng, seed);
  return streams;
}

void
gst_asmp_streams_free (GstAsmpStreams * streams)
{
  for (guint i = 0; i < streams->n; i++)
    g_free (streams->streams[i]);
  g_free (streams);
}

static Stream *
find (GstAsmpStreams * streams, guint32 ssrc)
{
  for (guint i = 0; i < streams->n; i++)
    if (streams->streams[i]->ssrc == ssrc)
      return streams->streams[i];
  return NULL;
}

static void
start (GstAsmpStreams * streams, Stream * stream, guint32 ssrc)
{
  stream->ssrc = ssrc;
  fmx_asmp_receiver_init (&stream->receiver, &streams->params, ssrc);
}

/* A new stream takes the place of the one that was silent longest, but of none
 * that is heard: a flood of SSRCs changes nothing. */
static Stream *
find_or_add (GstAsmpStreams * streams, guint32 ssrc, FmxTime now)
{
  Stream *stream = find (streams, ssrc), *oldest;

  if (stream != NULL)
    return stream;
  if (streams->n < MAX_STREAMS) {
    stream = streams->streams[streams->n++] = g_new0 (Stream, 1);
    start (streams, stream, ssrc);
    return stream;
  }
  oldest = streams->streams[0];
  for (guint i = 1; i < streams->n; i++)
    if (streams->streams[i]->heard < oldest->heard)
      oldest = streams->streams[i];
  if (fmx_time_diff (now, oldest->heard) < SILENCE)
    return NULL;
  start (streams, oldest, ssrc);
  return oldest;
}

void
gst_asmp_streams_set_clock_rate (GstAsmpStreams * streams, guint clock_rate_hz)
{
  if (clock_rate_hz == streams->params.clock_rate_hz)
    return;
  streams->params.clock_rate_hz = clock_rate_hz;
  for (guint i = 0; i < streams->n; i++)
    start (streams, streams->streams[i], streams->streams[i]->ssrc);
}

void
gst_asmp_streams_on_packet (GstAsmpStreams * streams,
    const GstFairmixRtpHeader * header, guint32 wire_bytes, GstAsmpNews * news,
    FmxTime now)
{
  Stream *stream = find_or_add (streams, header->ssrc, now);

  if (stream == NULL)
    return;
  stream->heard = now;
  fmx_asmp_receiver_on_packet (&stream->receiver, header->seq,
      header->timestamp, wire_bytes, now);
  for (guint i = 0; i < streams->n; i++)
    if (streams->streams[i] != stream)
      fmx_asmp_receiver_on_companion (&streams->streams[i]->receiver,
          wire_bytes, now);
  news->early = fmx_asmp_receiver_take_urgent (&stream->receiver, now);
}

static void
on_sender_info (gpointer user_data, guint32 ssrc, guint64 ntp_time,
    guint32 rtp_time)
{
  GstAsmpStreams *streams = user_data;
  Stream *stream = find (streams, ssrc);

  if (stream != NULL)
    fmx_asmp_receiver_on_sender_report (&stream->receiver, rtp_time,
        gst_util_uint64_scale (ntp_time, GST_SECOND, G_GUINT64_CONSTANT (1)
            << 32), streams->own_time, streams->now);
}

/* Whichever of its streams the sender tells of, the round trip is the same. */
static void
on_rtt (GstAsmpStreams * streams, const FmxRtcpApp * app)
{
  FmxAsmpRttHeader header;

  if (find (streams, app->ssrc) == NULL || streams->own_ssrc == 0
      || !fmx_asmp_rtt_read (&header, app->data, app->size))
    return;
  for (guint i = 0; i < streams->n; i++)
    fmx_asmp_receiver_on_rtt (&streams->streams[i]->receiver,
        streams->own_ssrc, &header, app->data);
}

static void
on_app (gpointer user_data, const FmxRtcpApp * app)
{
  GstAsmpStreams *streams = user_data;
  FmxAsmpRate rate;
  Stream *stream;

  if (!fmx_rtcp_app_is (app, FMX_ASMP_APP_NAME))
    return;
  if (app->subtype == FMX_ASMP_APP_RTT) {
    on_rtt (streams, app);
  } else if (app->subtype == FMX_ASMP_APP_RATE
      && fmx_asmp_rate_read (&rate, app->data, app->size)) {
    stream = find (streams, rate.media_ssrc);
    if (stream != NULL)
      fmx_asmp_receiver_on_peer (&stream->receiver, &rate, streams->now);
  }
}

gboolean
gst_asmp_streams_on_rtcp (GstAsmpStreams * streams, GstBuffer * buffer,
    GstClockTime own_time, FmxTime now)
{
  static const GstFairmixRtcpFuncs funcs = {
    .sender_info = on_sender_info,
    .app = on_app,
  };

  streams->own_time = own_time;
  streams->now = now;
  return gst_fairmix_rtcp_read (buffer, &funcs, streams);
}

FmxTime
gst_asmp_streams_next_timeout (GstAsmpStreams * streams)
{
  FmxTime next = FMX_TIME_NONE;

  for (guint i = 0; i < streams->n; i++)
    next = fmx_time_min (next,
        fmx_asmp_receiver_next_timeout (&streams->streams[i]->receiver));
  return next;
}

/* How far apart our reports are in the mean.  Early ones count: each takes the place
 * of a regular one ([RFC4585 3.5.3]). */
static void
note_interval (GstAsmpStreams * streams, FmxTime now)
{
  if (streams->last_report != FMX_TIME_NONE) {
    gdouble interval_s =
        fmx_time_to_s (fmx_time_diff (now, streams->last_report));

    streams->interval_s += streams->interval_s == 0.0 ? interval_s
        : INTERVAL_WEIGHT * (interval_s - streams->interval_s);
  }
  streams->last_report = now;
}

/* @rate: (nullable): NULL = FMX_ASMP_APP_HERE */
static void
write_app (GstRTCPBuffer * rtcp, guint32 ssrc, const FmxAsmpRate * rate,
    gsize mtu)
{
  FmxRtcpApp app = { rate != NULL ? FMX_ASMP_APP_RATE : FMX_ASMP_APP_HERE, ssrc,
    {0}, NULL, 0
  };
  guint8 data[FMX_ASMP_RATE_BYTES];

  memcpy (app.name, FMX_ASMP_APP_NAME, sizeof app.name);
  app.data = data;
  app.size = rate != NULL ? fmx_asmp_rate_write (rate, data, sizeof data)
      : fmx_asmp_here_write (data, sizeof data);
  gst_fairmix_rtcp_add_app (rtcp, &app, mtu);
}

static void
schedule (GstAsmpStreams * streams, Stream * stream, FmxTime now)
{
  fmx_asmp_receiver_schedule (&stream->receiver,
      fmx_time_from_s (streams->interval_s), MAX (streams->n_sources, 1) - 1,
      fmx_rng_next_unit (&streams->rng), now);
}

/* Returns: whether a rate was told */
static gboolean
write_stream (GstAsmpStreams * streams, Stream * stream, GstRTCPBuffer * rtcp,
    const GstRtcpHookReport * report, FmxTime now)
{
  FmxAsmpRate rate;
  gboolean told;

  if (streams->params.rounds && !stream->receiver.has_rate)
    schedule (streams, stream, now);    /* it has joined */
  told = fmx_asmp_receiver_report (&stream->receiver, &rate, now);
  if (told)
    write_app (rtcp, report->ssrc, &rate, report->mtu);
  schedule (streams, stream, now);
  return told;
}

/* Of a report of the session.  Returns: whether something is to be written into it */
static gboolean
begin_report (GstAsmpStreams * streams, const GstRtcpHookReport * report,
    FmxTime now)
{
  streams->n_sources = report->n_sources;
  if (report->is_extra)
    return TRUE;
  if (streams->own_ssrc != 0 && report->ssrc != streams->own_ssrc
      && streams->last_report != FMX_TIME_NONE
      && fmx_time_diff (now, streams->last_report) < FMX_SECOND / 10)
    return FALSE;               /* the session's second source, just after */
  streams->own_ssrc = report->ssrc;
  note_interval (streams, now);
  return TRUE;
}

void
gst_asmp_streams_write (GstAsmpStreams * streams, GstRTCPBuffer * rtcp,
    const GstRtcpHookReport * report, GstAsmpNews * news, FmxTime now)
{
  Stream *newest = NULL;
  gboolean first = streams->own_ssrc == 0, told = FALSE;

  if (!begin_report (streams, report, now)) {
    if (streams->n > 0 && streams->params.rounds)
      write_app (rtcp, report->ssrc, NULL, report->mtu);
    return;
  }
  for (guint i = 0; i < streams->n; i++)
    if (newest == NULL || streams->streams[i]->heard >= newest->heard)
      newest = streams->streams[i];
  for (guint i = 0; i < streams->n; i++) {
    Stream *stream = streams->streams[i];

    /* streams that have ended say nothing, but the last one of all does */
    if (stream == newest || fmx_time_diff (now, stream->heard) < SILENCE)
      told |= write_stream (streams, stream, rtcp, report, now);
  }
  if (newest != NULL && (first || !told) && streams->params.rounds)
    write_app (rtcp, report->ssrc, NULL, report->mtu);
  news->timeout = gst_asmp_streams_next_timeout (streams);
}

void
gst_asmp_streams_on_timeout (GstAsmpStreams * streams, GstAsmpNews * news,
    FmxTime now)
{
  for (guint i = 0; i < streams->n; i++) {
    Stream *stream = streams->streams[i];

    if (fmx_asmp_receiver_next_timeout (&stream->receiver) > now)
      continue;
    if (!fmx_asmp_receiver_on_timeout (&stream->receiver, now)) {
      if (streams->params.rounds)
        schedule (streams, stream, now);
    } else if (streams->params.rounds) {
      news->extra = streams->own_ssrc;
    } else {
      news->early = TRUE;
    }
  }
  news->timeout = gst_asmp_streams_next_timeout (streams);
}

static GstStructure *
stream_to_structure (const Stream * stream, FmxTime now)
{
  FmxAsmpReceiverStats stats;

  fmx_asmp_receiver_get_stats (&stream->receiver, &stats, now);
  return gst_structure_new ("stream",
      "ssrc", G_TYPE_UINT, stream->ssrc,
      "rate", G_TYPE_UINT, (guint) MIN (stats.rate_bps, G_MAXUINT),
      "received-bitrate", G_TYPE_UINT, (guint) MIN (stats.received_bps,
          G_MAXUINT),
      "rtt", G_TYPE_UINT64, (guint64) stats.rtt,
      "loss", G_TYPE_DOUBLE, stats.loss,
      "jitter", G_TYPE_UINT64, (guint64) stats.jitter,
      "queue", G_TYPE_UINT64, (guint64) stats.queue,
      "congested", G_TYPE_BOOLEAN, stats.congested,
      "measured", G_TYPE_BOOLEAN, stats.measured,
      "n-packets", G_TYPE_UINT64, stats.n_packets,
      "n-reports", G_TYPE_UINT64, stats.n_reports,
      "n-suppressed", G_TYPE_UINT64, stats.n_suppressed,
      "n-restarts", G_TYPE_UINT64, stats.n_restarts, NULL);
}

void
gst_asmp_streams_add_stats (GstAsmpStreams * streams, GstStructure * s,
    FmxTime now)
{
  GValue list = G_VALUE_INIT;

  gst_structure_set (s, "own-ssrc", G_TYPE_UINT, streams->own_ssrc,
      "report-interval", G_TYPE_UINT64,
      (guint64) fmx_time_from_s (streams->interval_s), NULL);
  g_value_init (&list, GST_TYPE_ARRAY);
  for (guint i = 0; i < streams->n; i++)
    gst_fairmix_stats_append (&list, stream_to_structure (streams->streams[i],
            now));
  gst_structure_take_value (s, "streams", &list);
}
