/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Events and queries on the pads. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmix-private.h"

#include <stdio.h>

#define GST_CAT_DEFAULT gst_partial_mix_debug

/* No packet waits longer for its playout than that. */
#define LONGEST_WAIT (2 * GST_SECOND)

/* Pads may come and go while nobody holds the lock. */
static GList *
copy_sink_pads (GstPartialMix * self)
{
  GList *copy, *l;

  GST_PARTIAL_MIX_LOCK (self);
  copy = g_list_copy (self->sink_pads);
  for (l = copy; l != NULL; l = l->next)
    gst_object_ref (l->data);
  GST_PARTIAL_MIX_UNLOCK (self);
  return copy;
}

static void
bye (GstPartialMix * self, GstPartialMixSinkPad * pad, GstEvent * event)
{
  const GstStructure *s = gst_event_get_structure (event);
  GstPartialMixStream *stream;
  guint ssrc;

  if (!gst_structure_get_uint (s, "ssrc", &ssrc))
    return;
  GST_PARTIAL_MIX_LOCK (self);
  stream = g_hash_table_lookup (pad->streams, GUINT_TO_POINTER (ssrc));
  if (stream != NULL)
    gst_partial_mix_remove_stream (self, stream, GST_PARTIAL_MIX_STREAM_BYE);
  GST_PARTIAL_MIX_UNLOCK (self);
  gst_partial_mix_post_messages (self);
}

static gboolean
all_eos (GstPartialMix * self)
{
  GList *l;

  for (l = self->sink_pads; l != NULL; l = l->next)
    if (!GST_PARTIAL_MIX_SINK_PAD_CAST (l->data)->eos)
      return FALSE;
  return TRUE;
}

/* What would describe the first packet of a neighbour that never got any, and describes
 * all that a renderer plays. */
static GstCaps *
caps_for_the_end (GstPartialMix * self, GstPartialMixListener * listener)
{
  GstCaps *caps = NULL;

  GST_PARTIAL_MIX_LOCK (self);
  if (listener->negotiated && listener->raw)
    caps = gst_caps_ref (listener->raw_caps);
  else if (!listener->has_mix_pt && listener->n_forwarded_packets == 0
      && listener->negotiated)
    caps = gst_caps_ref (gst_partial_mix_payloads_caps (&listener->payloads,
            gst_partial_mix_listener_mix_pt (listener)));
  GST_PARTIAL_MIX_UNLOCK (self);
  return caps;
}

gboolean
gst_partial_mix_push_eos (GstPartialMix * self, GstEvent * event)
{
  GstPartialMixBatch *batch;
  GPtrArray *pads;
  guint i;

  GST_PARTIAL_MIX_LOCK (self);
  pads = g_ptr_array_ref (self->src_pads);
  GST_PARTIAL_MIX_UNLOCK (self);
  batch = gst_partial_mix_batch_new (pads, pads->len);
  for (i = 0; i < pads->len; i++) {
    GstPartialMixSrcPad *pad = g_ptr_array_index (pads, i);
    GstCaps *caps = caps_for_the_end (self, &pad->listener);

    gst_partial_mix_batch_add (batch, &pad->door, caps,
        GST_MINI_OBJECT (gst_event_ref (event)));
    gst_clear_caps (&caps);
  }
  gst_partial_mix_couriers_deliver (self->couriers, batch, pads->len == 1);
  g_ptr_array_unref (pads);
  gst_event_unref (event);
  return TRUE;
}

/* with the lock: the mix position after all that waits for its playout */
static gint64
after_all (GstPartialMix * self)
{
  const gint64 latest = self->mix_pos + (gint64) gst_util_uint64_scale_int
      (LONGEST_WAIT, (gint) self->settings.rate_hz, GST_SECOND);
  gint64 after = self->mix_pos;
  guint i;

  for (i = 0; i < gst_partial_mix_table_n_slots (&self->table); i++) {
    const GstPartialMixStream *stream =
        gst_partial_mix_table_at (&self->table, i);

    if (stream != NULL && stream->n_mixed > 0
        && stream->next_pos != FMX_POSITION_UNKNOWN)
      after = MAX (after, MIN (stream->next_pos, latest));
  }
  return after;
}

/* One talker that is done is no end for the others: when all are done, what
 * was said is mixed to its end by the time the last packet has aged. */
gboolean
gst_partial_mix_note_end (GstPartialMix * self)
{
  if (self->sink_pads == NULL || !all_eos (self))
    return FALSE;
  self->eos_mix_pos = after_all (self) + (gint64) gst_util_uint64_scale_int
      (gst_partial_mix_mixer_delay (self->settings.rate_hz,
          gst_partial_mix_playout_delay (self)) +
      self->settings.frame_duration, (gint) self->settings.rate_hz, GST_SECOND);
  return TRUE;
}

static gboolean
sink_eos (GstPartialMix * self, GstPartialMixSinkPad * pad, GstEvent * event)
{
  gboolean now;

  GST_PARTIAL_MIX_LOCK (self);
  pad->eos = TRUE;
  now = gst_partial_mix_note_end (self) && !self->running;
  if (now) {
    self->eos_mix_pos = G_MAXINT64;
    self->ended = TRUE;
  }
  GST_PARTIAL_MIX_UNLOCK (self);

  if (now)
    return gst_partial_mix_push_eos (self, event);
  gst_event_unref (event);
  return TRUE;
}

/* with the lock: more comes there, or may */
static void
go_on (GstPartialMix * self, GstPartialMixSinkPad * pad)
{
  pad->eos = FALSE;
  self->eos_mix_pos = G_MAXINT64;
  self->ended = FALSE;
}

static void
sink_stream_start (GstPartialMix * self, GstPartialMixSinkPad * pad)
{
  GST_PARTIAL_MIX_LOCK (self);
  go_on (self, pad);
  GST_PARTIAL_MIX_UNLOCK (self);
}

static void
sink_flush_stop (GstPartialMix * self, GstPartialMixSinkPad * pad)
{
  guint i;

  GST_PARTIAL_MIX_LOCK (self);
  for (i = 0; i < gst_partial_mix_table_n_slots (&self->table); i++) {
    GstPartialMixStream *stream = gst_partial_mix_table_at (&self->table, i);

    if (stream != NULL && stream->pad == GST_PAD (pad))
      gst_partial_mix_restart_stream (self, stream);
  }
  gst_partial_mix_sink_pad_set_segment (pad, NULL);
  go_on (self, pad);
  GST_PARTIAL_MIX_UNLOCK (self);
}

/* Nothing of RTCP leaves here; but before anybody has spoken its end is the only
 * one that is heard of. */
gboolean
gst_partial_mix_rtcp_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  GstPartialMix *self = GST_PARTIAL_MIX_CAST (parent);

  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    return sink_eos (self, GST_PARTIAL_MIX_SINK_PAD_CAST (pad), event);
  if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    sink_stream_start (self, GST_PARTIAL_MIX_SINK_PAD_CAST (pad));
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    sink_flush_stop (self, GST_PARTIAL_MIX_SINK_PAD_CAST (pad));
  gst_event_unref (event);
  return TRUE;
}

static void
sink_segment (GstPartialMix * self, GstPartialMixSinkPad * pad,
    GstEvent * event)
{
  const GstSegment *segment;

  gst_event_parse_segment (event, &segment);
  GST_PARTIAL_MIX_LOCK (self);
  gst_partial_mix_sink_pad_set_segment (pad, segment);
  GST_PARTIAL_MIX_UNLOCK (self);
}

static void
sink_caps (GstPartialMix * self, GstPartialMixSinkPad * pad, GstEvent * event)
{
  GstCaps *caps;
  gint changed;

  gst_event_parse_caps (event, &caps);
  GST_PARTIAL_MIX_LOCK (self);
  changed = gst_partial_mix_sink_pad_set_caps (pad, caps);
  if (changed >= 0)
    gst_partial_mix_remove_pt_streams (self, pad, (guint8) changed);
  gst_partial_mix_rename_streams (self, pad);
  GST_PARTIAL_MIX_UNLOCK (self);
  gst_partial_mix_post_messages (self);
}

gboolean
gst_partial_mix_sink_event (GstPad * gpad, GstObject * parent, GstEvent * event)
{
  GstPartialMix *self = GST_PARTIAL_MIX_CAST (parent);
  GstPartialMixSinkPad *pad = GST_PARTIAL_MIX_SINK_PAD_CAST (gpad);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      sink_stream_start (self, pad);
      break;
    case GST_EVENT_CAPS:
      sink_caps (self, pad, event);
      break;
    case GST_EVENT_SEGMENT:
      sink_segment (self, pad, event);
      break;
    case GST_EVENT_EOS:
      return sink_eos (self, pad, event);
    case GST_EVENT_FLUSH_STOP:
      sink_flush_stop (self, pad);
      break;
    case GST_EVENT_CUSTOM_DOWNSTREAM:
    case GST_EVENT_CUSTOM_DOWNSTREAM_OOB:
      if (gst_event_has_name (event, "fairmix-bye"))
        bye (self, pad, event);
      break;
    default:
      break;
  }
  /* Everything else speaks of one talker's stream; what leaves here are
   * streams of their own. */
  gst_event_unref (event);
  return TRUE;
}

/* Returns: whether @event says what may be sent here */
static gboolean
note_wish (GstPartialMix * self, GstPartialMixListener * listener,
    GstEvent * event)
{
  guint bitrate = 0, max_streams = 0;
  gboolean is_target = gst_fairmix_target_bitrate_event_parse (event, &bitrate);
  GstClockTime now;

  if (!is_target && !gst_fairmix_max_streams_event_parse (event, &max_streams))
    return FALSE;
  now = gst_partial_mix_lock_now (self);
  if (is_target) {
    listener->event_seen = TRUE;
    listener->event_bitrate = bitrate;
    listener->event_lasting =
        gst_fairmix_target_bitrate_event_get_lasting (event);
    listener->event_loss = gst_fairmix_target_bitrate_event_get_loss (event,
        &listener->event_loss_from);
  } else {
    listener->event_max_streams = max_streams;
  }
  gst_partial_mix_reselect (self, listener,
      is_target ? GST_PARTIAL_MIX_RESELECT_TARGET
      : GST_PARTIAL_MIX_RESELECT_MAX_STREAMS, now);
  GST_PARTIAL_MIX_UNLOCK (self);
  return TRUE;
}

gboolean
gst_partial_mix_src_event (GstPad * gpad, GstObject * parent, GstEvent * event)
{
  GstPartialMix *self = GST_PARTIAL_MIX_CAST (parent);
  GstPartialMixSrcPad *pad = GST_PARTIAL_MIX_SRC_PAD_CAST (gpad);

  if (note_wish (self, &pad->listener, event)) {
    gst_partial_mix_post_messages (self);
    gst_event_unref (event);
    return TRUE;
  }

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_SEEK:
    case GST_EVENT_NAVIGATION:
      /* live: nobody can go back */
      gst_event_unref (event);
      return FALSE;
    case GST_EVENT_RECONFIGURE:
      /* What those take who come in is not for this one to say.  The pad has noted
       * that it must be asked again; not here, for who sends this may hold the very
       * lock that the answer needs, as webrtcbin does. */
      gst_event_unref (event);
      return TRUE;
    case GST_EVENT_QOS:
      gst_event_unref (event);
      return TRUE;
    default:
      return gst_pad_event_default (gpad, parent, event);
  }
}

/* The largest upstream latency counts: all streams wait for the slowest. */
static gboolean
query_latency (GstPartialMix * self, GstQuery * query)
{
  GList *pads = copy_sink_pads (self);
  GstClockTime min = 0;
  GList *l;

  for (l = pads; l != NULL; l = l->next) {
    GstQuery *peer_query = gst_query_new_latency ();
    GstClockTime peer_min;

    if (gst_pad_peer_query (l->data, peer_query)) {
      gst_query_parse_latency (peer_query, NULL, &peer_min, NULL);
      min = MAX (min, peer_min);
    }
    gst_query_unref (peer_query);
  }
  g_list_free_full (pads, gst_object_unref);

  GST_PARTIAL_MIX_LOCK (self);
  min += gst_partial_mix_mixer_delay (self->settings.rate_hz,
      gst_partial_mix_playout_delay (self));
  GST_PARTIAL_MIX_UNLOCK (self);
  gst_query_set_latency (query, TRUE, min, GST_CLOCK_TIME_NONE);
  return TRUE;
}

gboolean
gst_partial_mix_src_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  GstPartialMix *self = GST_PARTIAL_MIX_CAST (parent);

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_LATENCY:
      return query_latency (self, query);
    case GST_QUERY_POSITION:
    case GST_QUERY_DURATION:
    case GST_QUERY_SEEKING:
      return FALSE;
    default:
      return gst_pad_query_default (pad, parent, query);
  }
}

/* What leaves here is of many, and goes by other threads: who asks that what he has sent be
 * through asks in vain.  A neighbour who waited for that would hold up what the others say
 * to him. */
gboolean
gst_partial_mix_sink_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  GstCaps *template, *filter, *caps;

  if (GST_QUERY_IS_SERIALIZED (query))
    return FALSE;
  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CAPS:
      gst_query_parse_caps (query, &filter);
      template = gst_pad_get_pad_template_caps (pad);
      caps = filter != NULL ? gst_caps_intersect_full (filter, template,
          GST_CAPS_INTERSECT_FIRST) : gst_caps_ref (template);
      gst_query_set_caps_result (query, caps);
      gst_caps_unref (caps);
      gst_caps_unref (template);
      return TRUE;
    default:
      return gst_pad_query_default (pad, parent, query);
  }
}

/* Whose neighbour the pad is may depend on the other end. */
GstPadLinkReturn
gst_partial_mix_sink_linked (GstPad * pad, GstObject * parent, GstPad * peer)
{
  gchar *name = gst_pad_get_name (peer);
  guint session;

  if (sscanf (name, "recv_rtp_src_%u_", &session) == 1 && session <= G_MAXINT)
    g_atomic_int_set (&GST_PARTIAL_MIX_SINK_PAD_CAST (pad)->session,
        (gint) session);
  g_free (name);
  return GST_PAD_LINK_OK;
}

/* gst_pad_unlink() holds the pad's object lock here. */
void
gst_partial_mix_sink_unlinked (GstPad * pad, GstObject * parent)
{
  GstPartialMix *self = GST_PARTIAL_MIX_CAST (parent);

  g_atomic_int_set (&GST_PARTIAL_MIX_SINK_PAD_CAST (pad)->session, -1);

  GST_PARTIAL_MIX_LOCK (self);
  GST_PARTIAL_MIX_SINK_PAD_CAST (pad)->stale = TRUE;
  gst_partial_mix_remove_pad_streams (self, pad,
      GST_PARTIAL_MIX_STREAM_UNLINKED);
  GST_PARTIAL_MIX_UNLOCK (self);
}

/* What was said downstream goes with who said it: somebody else who has a rate, or a number
 * of places, says so when he gets the events that describe the stream.  Who is linked again
 * has got them. */
GstPadLinkReturn
gst_partial_mix_src_linked (GstPad * gpad, GstObject * parent, GstPad * peer)
{
  GstPartialMix *self = GST_PARTIAL_MIX_CAST (parent);
  GstPartialMixSrcPad *pad = GST_PARTIAL_MIX_SRC_PAD_CAST (gpad);
  GstPad *before = g_weak_ref_get (&pad->peer);

  if (before != peer) {
    GST_PARTIAL_MIX_LOCK (self);
    gst_partial_mix_listener_forget_events (&pad->listener);
    GST_PARTIAL_MIX_UNLOCK (self);
    g_weak_ref_set (&pad->peer, peer);
  }
  gst_clear_object (&before);
  return GST_PAD_LINK_OK;
}
