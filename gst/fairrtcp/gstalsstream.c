/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* alsrtcp as a receiver: one sender, and its layers */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstalspeers.h"

#include <string.h>

#include "common/gstfairmixstats.h"

#define LAYERS_NAME "fairmix-layers"

/* The reasons of that message.  The element's page
 * has a table made of these lines (check-reasons.py --write). */

/* more layers or fewer are held */
#define LAYERS_REASON_SHARE "share"
/* they are elsewhere */
#define LAYERS_REASON_ANNOUNCED "announced"
/* an announcement is not believed */
#define LAYERS_REASON_REFUSED "refused"
#define SILENCE (25 * FMX_SECOND)       /* five intervals of reports */
#define SOON (FMX_SECOND / 10)

struct _GstAlsStream
{
  FmxAlsReceiver receiver;
  gboolean has_base;
  FmxAlsLayer base;
  gboolean has_sender;
  guint32 sender_ssrc;
  FmxTime heard;
  guint n_held;                 /* as last told */
  FmxAlsLayer places[FMX_ALS_MAX_LAYERS];       /* too; without sizes */
  guint n_places;
  guint32 own_ssrc;             /* 0 = no report has been sent */
  FmxTime last_report;
  guint64 n_refused, n_left;    /* of earlier senders */
  guint64 n_strangers;          /* requests of another sender, left alone */
  gboolean refusing, tell_refused;

  FmxTime now;                  /* while a compound packet is read */
};

static void
forget_sender (GstAlsStream * stream)
{
  stream->n_refused += fmx_als_receiver_get_n_refused (&stream->receiver);
  stream->n_left += fmx_als_receiver_get_n_left (&stream->receiver);
  fmx_als_receiver_init (&stream->receiver);
  fmx_als_receiver_set_base (&stream->receiver,
      stream->has_base ? &stream->base : NULL);
  stream->has_sender = FALSE;
}

GstAlsStream *
gst_als_stream_new (const FmxAlsLayer * base)
{
  GstAlsStream *stream = g_new0 (GstAlsStream, 1);

  stream->last_report = FMX_TIME_NONE;
  stream->n_held = 1;
  stream->has_base = base != NULL;
  if (base != NULL)
    stream->base = *base;
  forget_sender (stream);
  return stream;
}

void
gst_als_stream_free (GstAlsStream * stream)
{
  g_free (stream);
}

static gboolean
is_silent (GstAlsStream * stream, FmxTime now)
{
  return fmx_time_diff (now, stream->heard) >= SILENCE;
}

/* One sender at a time: another one waits until the first leaves or is silent. */
static gboolean
is_our_sender (GstAlsStream * stream, guint32 ssrc)
{
  if (stream->has_sender && ssrc != stream->sender_ssrc) {
    if (!is_silent (stream, stream->now)) {
      stream->n_strangers++;
      return FALSE;
    }
    forget_sender (stream);
  }
  stream->has_sender = TRUE;
  stream->sender_ssrc = ssrc;
  stream->heard = stream->now;
  return TRUE;
}

static void
on_layers (GstAlsStream * stream, const FmxRtcpApp * app)
{
  FmxAlsLayer layers[FMX_ALS_MAX_LAYERS];
  guint n = fmx_als_layers_read (layers, app->data, app->size);
  gboolean taken = fmx_als_receiver_on_layers (&stream->receiver, layers, n,
      stream->now);

  stream->tell_refused |= !taken && !stream->refusing;
  stream->refusing = !taken;
}

static void
on_app (gpointer user_data, const FmxRtcpApp * app)
{
  GstAlsStream *stream = user_data;
  FmxAlsShare request;

  if (!fmx_rtcp_app_is (app, FMX_ALS_APP_NAME))
    return;
  if (app->subtype == FMX_ALS_APP_REQUEST) {
    if (fmx_als_share_read (&request, app->data, app->size)
        && is_our_sender (stream, app->ssrc))
      fmx_als_receiver_on_request (&stream->receiver, &request, app->ssrc,
          stream->now);
  } else if (app->subtype == FMX_ALS_APP_LAYERS
      && stream->has_sender && app->ssrc == stream->sender_ssrc) {
    on_layers (stream, app);
  }
}

static void
on_bye (gpointer user_data, guint32 ssrc)
{
  GstAlsStream *stream = user_data;

  if (stream->has_sender && ssrc == stream->sender_ssrc)
    forget_sender (stream);
}

gboolean
gst_als_stream_on_rtcp (GstAlsStream * stream, GstBuffer * buffer, FmxTime now)
{
  static const GstFairmixRtcpFuncs funcs = {
    .bye = on_bye,
    .app = on_app,
  };

  stream->now = now;
  return gst_fairmix_rtcp_read (buffer, &funcs, stream);
}

FmxTime
gst_als_stream_next_timeout (GstAlsStream * stream, FmxTime now)
{
  return fmx_als_receiver_next_timeout (&stream->receiver, now);
}

/* What the session says in the report that it is about to send: of its sources the
 * one that loses most */
static gboolean
read_loss (GstRTCPBuffer * rtcp, gdouble * loss)
{
  GstRTCPPacket packet;
  gboolean found = FALSE, more;

  *loss = 0.0;
  for (more = gst_rtcp_buffer_get_first_packet (rtcp, &packet); more;
      more = gst_rtcp_packet_move_to_next (&packet)) {
    GstRTCPType type = gst_rtcp_packet_get_type (&packet);
    guint n = type == GST_RTCP_TYPE_RR || type == GST_RTCP_TYPE_SR
        ? gst_rtcp_packet_get_rb_count (&packet) : 0;

    for (guint i = 0; i < n; i++) {
      guint32 ssrc, ext_seq, jitter, lsr, dlsr;
      guint8 fraction;
      gint32 lost;

      gst_rtcp_packet_get_rb (&packet, i, &ssrc, &fraction, &lost, &ext_seq,
          &jitter, &lsr, &dlsr);
      *loss = MAX (*loss, fraction / 256.0);
      found = TRUE;
    }
  }
  return found;
}

void
gst_als_stream_write (GstAlsStream * stream, GstRTCPBuffer * rtcp,
    guint32 ssrc, gsize mtu, FmxTime now)
{
  FmxRtcpApp app = { FMX_ALS_APP_RETURN, ssrc, {0}, NULL, 0 };
  guint8 data[FMX_ALS_SHARE_BYTES];
  FmxAlsShare share;
  gdouble loss;

  if (stream->own_ssrc != 0 && ssrc != stream->own_ssrc
      && stream->last_report != FMX_TIME_NONE
      && fmx_time_diff (now, stream->last_report) < SOON)
    return;                     /* the session's second source, just after */
  stream->own_ssrc = ssrc;
  stream->last_report = now;
  if (read_loss (rtcp, &loss))
    fmx_als_receiver_on_loss (&stream->receiver, loss, now);
  if (!fmx_als_receiver_get_return (&stream->receiver, &share, now))
    return;
  memcpy (app.name, FMX_ALS_APP_NAME, sizeof app.name);
  app.data = data;
  app.size = fmx_als_share_write (&share, data, sizeof data);
  gst_fairmix_rtcp_add_app (rtcp, &app, mtu);
}

guint
gst_als_stream_get_held (GstAlsStream * stream)
{
  return stream->n_held;
}

guint
gst_als_stream_get_places (GstAlsStream * stream, FmxAlsLayer * places)
{
  memcpy (places, stream->places, sizeof stream->places);
  return stream->has_base ? stream->n_places : 0;
}

static GstStructure *
layer_to_structure (const FmxAlsLayer * layer, gboolean held)
{
  gchar *address = gst_als_layer_address (layer);
  GstStructure *s = gst_structure_new ("layer",
      "address", G_TYPE_STRING, address,
      "port", G_TYPE_UINT, layer->port,
      "size", G_TYPE_UINT, layer->size_bps,
      "held", G_TYPE_BOOLEAN, held, NULL);

  g_free (address);
  return s;
}

void
gst_als_stream_add_stats (GstAlsStream * stream, GstStructure * s, FmxTime now)
{
  guint n = fmx_als_receiver_get_n_layers (&stream->receiver, now);
  const FmxAlsLayer *layer;
  GValue list = G_VALUE_INIT;
  FmxAlsShare share;

  if (!fmx_als_receiver_get_return (&stream->receiver, &share, now))
    share = (FmxAlsShare) {
    0};
  gst_structure_set (s, "n-layers", G_TYPE_UINT, n,
      "sender-ssrc", G_TYPE_UINT, stream->has_sender ? stream->sender_ssrc : 0,
      "share", G_TYPE_UINT, share.share_bps,
      "utilisation", G_TYPE_DOUBLE, share.utilisation,
      "answered", G_TYPE_BOOLEAN, share.answered,
      "n-strangers", G_TYPE_UINT64, stream->n_strangers,
      "n-left", G_TYPE_UINT64, stream->n_left +
      fmx_als_receiver_get_n_left (&stream->receiver),
      "n-refused", G_TYPE_UINT64, stream->n_refused +
      fmx_als_receiver_get_n_refused (&stream->receiver), NULL);
  g_value_init (&list, GST_TYPE_ARRAY);
  for (guint i = 0; (layer = fmx_als_receiver_get_layer (&stream->receiver,
              i)) != NULL; i++)
    gst_fairmix_stats_append (&list, layer_to_structure (layer, i < n));
  gst_structure_take_value (s, "layers", &list);
}

/* Returns: whether the layers are elsewhere than they were */
static gboolean
note_places (GstAlsStream * stream)
{
  FmxAlsLayer places[FMX_ALS_MAX_LAYERS] = { 0 };
  const FmxAlsLayer *layer;
  gboolean moved;
  guint n = 0;

  while ((layer = fmx_als_receiver_get_layer (&stream->receiver, n)) != NULL) {
    memcpy (places[n].address, layer->address, sizeof layer->address);
    places[n++].port = layer->port;
  }
  moved = n != stream->n_places
      || memcmp (places, stream->places, sizeof places) != 0;
  memcpy (stream->places, places, sizeof places);
  stream->n_places = n;
  return moved;
}

void
gst_als_stream_take_news (GstAlsStream * stream, GstAlsStreamNews * news,
    FmxTime now)
{
  guint n = fmx_als_receiver_get_n_layers (&stream->receiver, now);

  news->held_changed = n != stream->n_held;
  news->moved = note_places (stream);
  news->urgent = fmx_als_receiver_take_urgent (&stream->receiver);
  news->told = NULL;
  if (news->held_changed || news->moved || stream->tell_refused) {
    news->told = gst_structure_new (LAYERS_NAME, "reason", G_TYPE_STRING,
        news->held_changed ? LAYERS_REASON_SHARE : stream->tell_refused
        ? LAYERS_REASON_REFUSED : LAYERS_REASON_ANNOUNCED, NULL);
    gst_als_stream_add_stats (stream, news->told, now);
  }
  stream->n_held = n;
  stream->tell_refused = FALSE;
}
