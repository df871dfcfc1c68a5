/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_ALS_PEERS_H__
#define __GST_ALS_PEERS_H__

#include <gst/gst.h>

#include "common/gstfairmixrtcp.h"
#include "fairmix/als/fmx-als-receiver.h"
#include "fairmix/als/fmx-als-sender.h"

G_BEGIN_DECLS

/* What alsrtcp knows of the other side, without pads, clocks and locks: as a
 * sender of its receivers, as a receiver of its sender.  RTCP in, what the own
 * reports are to carry out. */

/* Layers that begin at the base's address, each the next address and the next
 * even port ([RFC3550 11]), in @layers; their sizes are left alone.
 *
 * Returns: FALSE if @address is no multicast group, or one of them would be in
 * another network */
gboolean gst_als_layers_place (FmxAlsLayer * layers, guint n_layers,
    const gchar * address, guint port);

/* Returns: (transfer full): the group as text, e.g. "239.1.2.3" */
gchar *gst_als_layer_address (const FmxAlsLayer * layer);

/* --- sender --- */

typedef struct _GstAlsReceivers GstAlsReceivers;

GstAlsReceivers *gst_als_receivers_new (const FmxAlsSenderParams * params,
    guint max_receivers, guint64 seed, FmxTime now);
void gst_als_receivers_free (GstAlsReceivers * receivers);

/* The library's state machine behind it */
FmxAlsSender *gst_als_receivers_get_sender (GstAlsReceivers * receivers);

/* Returns: whether packets of @layer are to be sent: it was worth it at the last adaptation
 * point, and has not lost its rate since */
gboolean gst_als_receivers_is_sent (GstAlsReceivers * receivers, guint layer);

/* @layers: (nullable) (array fixed-size=8): where the layers are; those that have a port are
 * announced */
void gst_als_receivers_set_places (GstAlsReceivers * receivers,
    const FmxAlsLayer * layers);

void gst_als_receivers_set_n_layers (GstAlsReceivers * receivers,
    guint n_layers, FmxTime now);
void gst_als_receivers_set_limits (GstAlsReceivers * receivers,
    guint min_bps, guint max_bps, FmxTime now);

/* What another controller allows, where no router answers; 0 = plain reports tell it */
void gst_als_receivers_set_fallback (GstAlsReceivers * receivers, guint bps,
    FmxTime now);

/* A packet of the base layer */
void gst_als_receivers_on_sent (GstAlsReceivers * receivers, guint32 ssrc,
    guint32 wire_bytes, FmxTime now);

/* Returns: whether @buffer was well-formed */
gboolean gst_als_receivers_on_rtcp (GstAlsReceivers * receivers,
    GstBuffer * buffer, guint32 ntp_mid32, FmxTime now);

FmxTime gst_als_receivers_next_timeout (GstAlsReceivers * receivers);
void gst_als_receivers_on_timeout (GstAlsReceivers * receivers, FmxTime now);

/* Appends request and announcement to the report of @ssrc, if that is the one
 * which speaks for the stream. */
void gst_als_receivers_write (GstAlsReceivers * receivers,
    GstRTCPBuffer * rtcp, guint32 ssrc, gsize mtu, FmxTime now);

/* Adds what is known to the statistics @s. */
void gst_als_receivers_add_stats (GstAlsReceivers * receivers,
    GstStructure * s, guint n_layers, FmxTime now);

/* --- receiver --- */

typedef struct _GstAlsStream GstAlsStream;

/* @base: (nullable): the group that is listened in */
GstAlsStream *gst_als_stream_new (const FmxAlsLayer * base);
void gst_als_stream_free (GstAlsStream * stream);

gboolean gst_als_stream_on_rtcp (GstAlsStream * stream, GstBuffer * buffer,
    FmxTime now);

FmxTime gst_als_stream_next_timeout (GstAlsStream * stream, FmxTime now);

/* Appends what came to the report of @ssrc. */
void gst_als_stream_write (GstAlsStream * stream, GstRTCPBuffer * rtcp,
    guint32 ssrc, gsize mtu, FmxTime now);

/**
 * GstAlsStreamNews:
 * @held_changed: more layers are to be held, or fewer
 * @moved: some are elsewhere
 * @urgent: the sender should know of the share at once
 * @told: (nullable) (transfer full): of a message
 */
typedef struct
{
  gboolean held_changed, moved, urgent;
  GstStructure *told;
} GstAlsStreamNews;

/* What is new since the last call */
void gst_als_stream_take_news (GstAlsStream * stream, GstAlsStreamNews * news,
    FmxTime now);

/* Returns: how many layers to hold, the base included, as last told */
guint gst_als_stream_get_held (GstAlsStream * stream);

/* @places: (out) (array fixed-size=8): where layers are, as last told.
 * Returns: of how many that is known; none if the base is not */
guint gst_als_stream_get_places (GstAlsStream * stream, FmxAlsLayer * places);

/* Adds what is known to the statistics @s. */
void gst_als_stream_add_stats (GstAlsStream * stream, GstStructure * s,
    FmxTime now);

G_END_DECLS

#endif /* __GST_ALS_PEERS_H__ */
