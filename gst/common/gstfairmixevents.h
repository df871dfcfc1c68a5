/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_FAIRMIX_EVENTS_H__
#define __GST_FAIRMIX_EVENTS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * GST_FAIRMIX_TARGET_BITRATE_EVENT:
 *
 * Name of the custom upstream event that carries the rate that the network
 * allows: `fairmix-target-bitrate`, with the field `bitrate` (guint, bits per
 * second on the wire, IP and UDP headers included).  0 means: send nothing.  A
 * second field, `lasting-bitrate` (guint), may say how much of it is not just
 * tried: what is sent as whole streams should not grow beyond that.  A third one,
 * `loss-percentage` (guint), may say for how much loss an encoder is to provide, and
 * `loss-from-bitrate` (guint, bits/s) that one of a lower bitrate is not.
 */
#define GST_FAIRMIX_TARGET_BITRATE_EVENT "fairmix-target-bitrate"

GstEvent *gst_fairmix_target_bitrate_event_new (guint bitrate);

/* @event is one, and writable */
void gst_fairmix_target_bitrate_event_set_lasting (GstEvent * event, guint bitrate);
void gst_fairmix_target_bitrate_event_set_loss (GstEvent * event, guint percent,
    guint from_bitrate);

/* Returns: whether @event is one; then @bitrate is set */
gboolean gst_fairmix_target_bitrate_event_parse (GstEvent * event, guint * bitrate);

/* Returns: how much of its bitrate lasts: all, where @event, which is one, says nothing */
guint gst_fairmix_target_bitrate_event_get_lasting (GstEvent * event);

/* Returns: for how much loss to provide, in percent, from @from_bitrate on: 0 where @event,
 * which is one, says nothing */
guint gst_fairmix_target_bitrate_event_get_loss (GstEvent * event,
    guint * from_bitrate);

/**
 * GST_FAIRMIX_MAX_STREAMS_EVENT:
 *
 * Name of the custom upstream event that says how many RTP streams somebody
 * downstream can take: `fairmix-max-streams`, with one field `max-streams`
 * (guint).  0 means: any number.
 */
#define GST_FAIRMIX_MAX_STREAMS_EVENT "fairmix-max-streams"

GstEvent *gst_fairmix_max_streams_event_new (guint max_streams);

/* Returns: whether @event is one; then @max_streams is set */
gboolean gst_fairmix_max_streams_event_parse (GstEvent * event, guint * max_streams);

/**
 * GST_FAIRMIX_WANTED_BITRATE_EVENT:
 *
 * Name of the custom downstream event by which somebody who keeps to a target says from
 * which on he would send more: `fairmix-wanted-bitrate`, with one field `bitrate` (guint,
 * bits per second on the wire).  0 means: nothing waits.
 */
#define GST_FAIRMIX_WANTED_BITRATE_EVENT "fairmix-wanted-bitrate"

GstEvent *gst_fairmix_wanted_bitrate_event_new (guint bitrate);

/* Returns: whether @event is one; then @bitrate is set */
gboolean gst_fairmix_wanted_bitrate_event_parse (GstEvent * event, guint * bitrate);

G_END_DECLS

#endif /* __GST_FAIRMIX_EVENTS_H__ */
