/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table of streams: who is there, under which SSRC, until when. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmix-private.h"

#define GST_CAT_DEFAULT gst_partial_mix_debug

/* How long after it moved a stream's packets come on the way before, too: some round
 * trips and their queue */
#define FORMER_WAY GST_SECOND
/* So many packets may be missing where it goes on */
#define MOST_STEP 250

static void
message_stream (GstPartialMix * self, GstPartialMixStream * stream,
    const gchar * event, const gchar * reason)
{
  GstStructure *s = gst_structure_new ("fairmix-stream",
      "event", G_TYPE_STRING, event,
      "reason", G_TYPE_STRING, reason,
      "ssrc", G_TYPE_UINT, stream->ssrc,
      "out-ssrc", G_TYPE_UINT, stream->out_ssrc,
      "neighbour", G_TYPE_INT, stream->neighbour,
      "encoding-name", G_TYPE_STRING,
      gst_partial_mix_encoding_name (stream->format.encoding), NULL);

  if (stream->identity.cname != NULL)
    gst_structure_set (s, "cname", G_TYPE_STRING, stream->identity.cname, NULL);
  gst_fairmix_outbox_add (self->outbox,
      gst_message_new_element (GST_OBJECT (self), s));
}

/* -------------------------------------------------------------- arrival -- */

static gboolean
find_format (GstPartialMixSinkPad * pad, guint8 pt,
    GstPartialMixFormat * format)
{
  GstPartialMixFormat *known = g_hash_table_lookup (pad->formats,
      GUINT_TO_POINTER (pt));

  if (known != NULL) {
    *format = *known;
    return TRUE;
  }
  return gst_partial_mix_format_from_pt (format, pt);
}

/* once for each pad, or it would be a flood of its own */
static void
warn_unknown (GstPartialMix * self, GstPartialMixSinkPad * pad, guint32 ssrc,
    guint8 pt)
{
  GError *error = g_error_new (GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "Payload type %u of SSRC %08x on %s is unknown.", pt, ssrc,
      GST_PAD_NAME (pad));

  gst_fairmix_outbox_add (self->outbox,
      gst_message_new_warning (GST_OBJECT (self), error,
          "Its packets are dropped. Say what they are in the caps in "
          "front of the pad: application/x-rtp, payload=N, clock-rate=N, "
          "encoding-name=OPUS, PCMU, PCMA or L16."));
  g_error_free (error);
}

/* with the lock; once for each rate that is set */
void
gst_partial_mix_check_rate (GstPartialMix * self,
    GstPartialMixEncoding encoding)
{
  GError *error;

  if (self->warned_of_rate
      || gst_partial_mix_encoding_takes_rate (encoding, self->settings.rate_hz))
    return;
  error = g_error_new (GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "Opus cannot be mixed at %u Hz.", self->settings.rate_hz);
  gst_fairmix_outbox_add (self->outbox,
      gst_message_new_warning (GST_OBJECT (self), error,
          "Its streams are heard only where they are forwarded. Set the "
          "property rate to 8000, 12000, 16000, 24000 or 48000."));
  g_error_free (error);
  self->warned_of_rate = TRUE;
}

/* ------------------------------------------------------------ admission -- */

/* Whether another stream of @neighbour may come in.  As long as there is room
 * everybody may have all of it.  When there is none, each neighbour who sends
 * has the same share: who has less takes the place of one of the largest
 * crowd's, so that a flood locks nobody out. */
static gboolean
admit (GstPartialMix * self, gint neighbour)
{
  guint n_own = gst_partial_mix_table_crowd (&self->table, neighbour);
  guint n_crowds = gst_partial_mix_table_n_crowds (&self->table)
      + (n_own == 0 ? 1 : 0);
  guint share = MAX (1, self->settings.max_streams / n_crowds);
  gint largest = 0;

  if (gst_partial_mix_table_n_streams (&self->table) <
      self->settings.max_streams)
    return TRUE;
  if (n_own >= share || gst_partial_mix_table_largest_crowd (&self->table,
          &largest) <= share)
    return FALSE;
  self->counters.n_displaced++;
  gst_partial_mix_remove_stream (self,
      gst_partial_mix_table_find_least (&self->table, largest),
      GST_PARTIAL_MIX_STREAM_SHARE);
  return TRUE;
}

/* Of two sources of one SSRC the first is the stream; the second one is when
 * nothing has come from the first for long. */
static gboolean
goes_on (GstPartialMixStream * stream, GstClockTime now)
{
  return now < stream->last_arrival + GST_FAIRMIX_ORIGIN_WAIT;
}

/* -------------------------------------------------------------- joining -- */

/* Returns: (transfer full) (nullable): what the application says of who sends it */
static gchar *
said_cname (GstPartialMixSinkPad * pad, guint32 ssrc)
{
  gchar *said = g_strdup (g_hash_table_lookup (pad->cnames,
          GUINT_TO_POINTER (ssrc)));

  if (said == NULL) {
    gst_fairmix_lock_acquire (&pad->name_lock);
    said = g_strdup (pad->cname);
    gst_fairmix_lock_release (&pad->name_lock);
  }
  return said;
}

/* What the application or SDP says holds; else what RTCP claimed. */
static void
identify (GstPartialMix * self, GstPartialMixSinkPad * pad,
    GstPartialMixStream * stream)
{
  gchar *said = said_cname (pad, stream->ssrc);
  gchar *claimed = gst_partial_mix_claims_take (self->claims, stream->ssrc,
      &stream->identity.place);

  if (said != NULL)
    gst_partial_mix_name_stream (self, stream, said, TRUE);
  else if (claimed != NULL && gst_partial_mix_name_is_taken (self,
          &stream->identity.place, claimed)) {
    self->counters.n_disbelieved++;
    gst_partial_mix_name_stream (self, stream, NULL, FALSE);
  } else {
    gst_partial_mix_name_stream (self, stream, claimed, FALSE);
  }
  g_free (said);
  g_free (claimed);
}

/* It is heard from its first packet on by all who do not yet.  Planning anew for each one
 * would make a flood of SSRCs dear, so that only some in each tick do; the
 * others, and all who join more than a thousand, are mixed until the next tick. */
static void
link_stream (GstPartialMix * self, GstPartialMixStream * stream,
    GstClockTime now)
{
  guint cost =
      1 +
      gst_partial_mix_table_n_streams (&self->table) /
      GST_PARTIAL_MIX_STREAMS_PER_SELECTION;
  gboolean plan_now = self->selections_left >= cost || (!self->running
      && gst_partial_mix_table_n_streams (&self->table) <=
      GST_PARTIAL_MIX_STREAMS_PER_SELECTION);
  guint i;

  self->selections_left -= MIN (self->selections_left, cost);
  for (i = 0; i < self->listeners->len; i++) {
    GstPartialMixListener *listener = g_ptr_array_index (self->listeners, i);

    if (!gst_partial_mix_listener_hears (listener, stream)
        || gst_partial_mix_listener_get_link (listener, stream)->handover.way
        != FMX_HANDOVER_NONE)
      continue;
    listener->dirty = TRUE;
    if (plan_now)
      gst_partial_mix_reselect (self, listener, GST_PARTIAL_MIX_RESELECT_STREAM,
          now);
    else
      gst_partial_mix_listener_change_link (listener, stream,
          gst_partial_mix_first_way (listener, stream), 0, self->mix_pos, now);
  }
}

void
gst_partial_mix_rename_streams (GstPartialMix * self,
    GstPartialMixSinkPad * pad)
{
  guint i;

  for (i = 0; i < gst_partial_mix_table_n_slots (&self->table); i++) {
    GstPartialMixStream *stream = gst_partial_mix_table_at (&self->table, i);
    gchar *said;

    if (stream == NULL || stream->pad != GST_PAD (pad))
      continue;
    said = said_cname (pad, stream->ssrc);
    if (said != NULL && (!stream->identity.said
            || g_strcmp0 (said, stream->identity.cname) != 0))
      gst_partial_mix_name_stream (self, stream, said, TRUE);
    g_free (said);
  }
}

/* It may have been in a mix all the time. */
static void
come_out (GstPartialMix * self, GstPartialMixStream * stream, GstClockTime now)
{
  guint i;

  for (i = 0; i < gst_partial_mix_table_n_slots (&self->table); i++) {
    GstPartialMixStream *mix = gst_partial_mix_table_at (&self->table, i);

    if (mix != NULL && mix != stream)
      gst_partial_mix_stream_come_out (stream, mix, now);
  }
}

static GstPartialMixStream *
add_stream (GstPartialMix * self, GstPartialMixSinkPad * pad,
    GstBuffer * buffer, GstRTPBuffer * rtp, const GstPartialMixFormat * format,
    GstClockTime now)
{
  guint32 ssrc = gst_rtp_buffer_get_ssrc (rtp);
  GstPartialMixStream *stream = gst_partial_mix_stream_new (ssrc, GST_PAD (pad),
      format, self->settings.rate_hz);
  guint i;

  stream->neighbour = gst_partial_mix_sink_pad_get_neighbour (pad);
  stream->identity.place.neighbour = stream->neighbour;
  stream->voice.decoder_complexity = self->settings.decoder_complexity;
  stream->min_delay = (FmxDuration) gst_partial_mix_playout_delay (self);
  gst_partial_mix_identity_set_host (&stream->identity,
      gst_partial_mix_buffer_host (buffer));
  gst_fairmix_origin_is_other (&stream->source, buffer);        /* notes it */
  if (gst_partial_mix_table_is_ssrc_used (&self->table, ssrc)) {
    stream->out_ssrc = gst_partial_mix_table_free_ssrc (&self->table);
    self->counters.n_collisions++;
  }

  gst_partial_mix_table_add (&self->table, stream);
  g_hash_table_insert (pad->streams, GUINT_TO_POINTER (ssrc), stream);

  identify (self, pad, stream);
  if (self->settings.align)
    come_out (self, stream, now);
  for (i = 0; i < self->listeners->len; i++)
    gst_partial_mix_listener_init_link (g_ptr_array_index (self->listeners, i),
        stream, now);
  gst_partial_mix_stream_weigh_first (stream, buffer, rtp, now);
  link_stream (self, stream, now);
  message_stream (self, stream, "added",
      stream->out_ssrc != ssrc ? GST_PARTIAL_MIX_STREAM_COLLISION
      : GST_PARTIAL_MIX_STREAM_ARRIVED);
  return stream;
}

/* --------------------------------------------------------------- moving -- */

/* Returns: how many numbers the packet is after what @stream has of the newest; before
 * it: less than 0 */
static gint
step_of (const GstPartialMixStream * stream, GstRTPBuffer * rtp)
{
  guint16 seq = fmx_media_seq_peek (&stream->media_seq,
      gst_rtp_buffer_get_seq (rtp));

  return (gint16) (seq - (guint16) stream->next_seq);
}

/* Whether @stream may come in at @pad from now on, where the packet is: its numbers go
 * on, and the application said that it would.  A sender is the same one by SSRC and
 * CNAME [RFC3550 8.2]. */
static gboolean
may_move (const GstPartialMixStream * stream, GstPartialMixSinkPad * pad,
    GstRTPBuffer * rtp)
{
  gint neighbour = gst_partial_mix_sink_pad_get_neighbour (pad);
  gint successor = g_atomic_int_get (&GST_PARTIAL_MIX_SINK_PAD_CAST
      (stream->pad)->successor);
  gboolean is_same;
  gchar *said;

  if (successor == GST_PARTIAL_MIX_NO_SUCCESSOR || !stream->started
      || stream->neighbour == neighbour
      || ABS (step_of (stream, rtp)) > MOST_STEP)
    return FALSE;
  if (successor != GST_PARTIAL_MIX_NAMESAKE)
    return successor == neighbour;
  said = said_cname (pad, stream->ssrc);
  is_same = said != NULL && g_strcmp0 (said, stream->identity.cname) == 0;
  g_free (said);
  return is_same;
}

/* What is said of who sends at @pad holds there, too; but what was said of the stream
 * before stays. */
static void
take_name (GstPartialMix * self, GstPartialMixStream * stream,
    GstPartialMixSinkPad * pad)
{
  gchar *said = said_cname (pad, stream->ssrc);

  if (said != NULL && !stream->identity.said)
    gst_partial_mix_name_stream (self, stream, said, TRUE);
  g_free (said);
}

/* It comes from another neighbour now: some who hear it may not any more, and others may. */
static void
offer_anew (GstPartialMix * self, GstPartialMixStream * stream,
    GstClockTime now)
{
  guint i;

  for (i = 0; i < self->listeners->len; i++) {
    GstPartialMixListener *listener = g_ptr_array_index (self->listeners, i);

    listener->dirty = TRUE;
    if (!gst_partial_mix_listener_hears (listener, stream))
      gst_partial_mix_listener_change_link (listener, stream,
          FMX_HANDOVER_NONE, 0, self->mix_pos, now);
  }
  link_stream (self, stream, now);
}

void
gst_partial_mix_readdress_streams (GstPartialMix * self,
    GstPartialMixSinkPad * pad, GstClockTime now)
{
  gint neighbour = gst_partial_mix_sink_pad_get_neighbour (pad);
  guint i;

  for (i = 0; i < gst_partial_mix_table_n_slots (&self->table); i++) {
    GstPartialMixStream *stream = gst_partial_mix_table_at (&self->table, i);

    if (stream == NULL || stream->pad != GST_PAD (pad)
        || stream->neighbour == neighbour)
      continue;
    gst_partial_mix_table_move (&self->table, stream, GST_PAD (pad), neighbour);
    offer_anew (self, stream, now);
  }
}

/* Its sender has another way to us from now on.  Who hears it goes on hearing it: it
 * has been decoded so far, and its number, its name and its place stay. */
static void
move_stream (GstPartialMix * self, GstPartialMixStream * stream,
    GstPartialMixSinkPad * pad, GstBuffer * buffer, guint8 pt, GstClockTime now)
{
  GstPartialMixSinkPad *old = GST_PARTIAL_MIX_SINK_PAD_CAST (stream->pad);
  gpointer key = GUINT_TO_POINTER (stream->ssrc);

  g_hash_table_remove (old->streams, key);
  g_hash_table_insert (pad->streams, key, stream);
  g_clear_object (&stream->former_source);
  stream->former_source = g_steal_pointer (&stream->source);
  gst_fairmix_origin_is_other (&stream->source, buffer);        /* notes it */
  stream->format.pt = pt;       /* what it leaves with stays */
  stream->former_neighbour = stream->neighbour;
  stream->moved_at = now;
  gst_partial_mix_table_move (&self->table, stream, GST_PAD (pad),
      gst_partial_mix_sink_pad_get_neighbour (pad));
  gst_partial_mix_identity_set_host (&stream->identity,
      gst_partial_mix_buffer_host (buffer));
  take_name (self, stream, pad);
  offer_anew (self, stream, now);
  message_stream (self, stream, "moved", GST_PARTIAL_MIX_STREAM_MOVED);
}

/* What its sender had sent the way before is on it for some time still: from where it
 * came, and not after what has come since. */
static gboolean
comes_late (GstPartialMixStream * stream, GstPartialMixSinkPad * pad,
    GstBuffer * buffer, GstRTPBuffer * rtp, GstClockTime now)
{
  return stream->moved_at > 0 && now < stream->moved_at + FORMER_WAY
      && stream->former_neighbour
      == gst_partial_mix_sink_pad_get_neighbour (pad)
      && step_of (stream, rtp) < 0
      && !gst_fairmix_origin_is_other (&stream->former_source, buffer);
}

/* Of several with the SSRC any may be it.  Returns: (nullable): a stream that is at @pad
 * from now on, or was until a moment ago */
static GstPartialMixStream *
find_mover (GstPartialMix * self, GstPartialMixSinkPad * pad,
    GstBuffer * buffer, GstRTPBuffer * rtp, GstClockTime now)
{
  guint32 ssrc = gst_rtp_buffer_get_ssrc (rtp);
  guint8 pt = gst_rtp_buffer_get_payload_type (rtp);
  GstPartialMixFormat format;
  guint i;

  if (!gst_partial_mix_table_is_ssrc_used (&self->table, ssrc)
      || !find_format (pad, pt, &format))
    return NULL;
  for (i = 0; i < gst_partial_mix_table_n_slots (&self->table); i++) {
    GstPartialMixStream *stream = gst_partial_mix_table_at (&self->table, i);

    if (stream == NULL || stream->ssrc != ssrc || stream->pad == GST_PAD (pad)
        || !gst_partial_mix_format_is_equal (&stream->format, &format))
      continue;
    if (comes_late (stream, pad, buffer, rtp, now))
      return stream;
    if (may_move (stream, pad, rtp)) {
      move_stream (self, stream, pad, buffer, pt, now);
      return stream;
    }
  }
  return NULL;
}

GstPartialMixStream *
gst_partial_mix_lookup (GstPartialMix * self, GstPartialMixSinkPad * pad,
    GstBuffer * buffer, GstRTPBuffer * rtp, GstClockTime now)
{
  guint32 ssrc = gst_rtp_buffer_get_ssrc (rtp);
  guint8 pt = gst_rtp_buffer_get_payload_type (rtp);
  GstPartialMixStream *stream = g_hash_table_lookup (pad->streams,
      GUINT_TO_POINTER (ssrc)), *mover = NULL;
  GstPartialMixFormat format;

  if (stream != NULL && gst_fairmix_origin_is_other (&stream->source, buffer)) {
    if (goes_on (stream, now)) {
      self->counters.n_intruders++;
      return NULL;
    }
    gst_partial_mix_remove_stream (self, stream, GST_PARTIAL_MIX_STREAM_SOURCE);
    stream = NULL;
  }
  if (stream != NULL && stream->format.pt == pt)
    return stream;
  if (stream == NULL)
    mover = find_mover (self, pad, buffer, rtp, now);
  if (mover != NULL)
    return mover;

  if (gst_partial_mix_table_is_mix (&self->table, ssrc)) {
    self->counters.n_loops++;
    return NULL;
  }
  if (!find_format (pad, pt, &format)) {
    if (pad->n_unknown++ == 0)
      warn_unknown (self, pad, ssrc, pt);
    return NULL;
  }
  if (stream != NULL) {
    /* of a second source, perhaps */
    if (gst_partial_mix_stream_check (stream, rtp, now)
        == FMX_RESTART_DOUBTFUL) {
      stream->n_late++;
      return NULL;
    }
    gst_partial_mix_remove_stream (self, stream,
        GST_PARTIAL_MIX_STREAM_PAYLOAD_TYPE);
  }
  if (!admit (self, gst_partial_mix_sink_pad_get_neighbour (pad))) {
    self->counters.n_refused++;
    return NULL;
  }
  gst_partial_mix_check_rate (self, format.encoding);
  return add_stream (self, pad, buffer, rtp, &format, now);
}

void
gst_partial_mix_restart_stream (GstPartialMix * self,
    GstPartialMixStream * stream)
{
  guint i;

  gst_partial_mix_stream_flush (stream);
  for (i = 0; i < self->listeners->len; i++)
    gst_partial_mix_link_restart (gst_partial_mix_listener_get_link
        (g_ptr_array_index (self->listeners, i), stream));
}

/* -------------------------------------------------------------- leaving -- */

void
gst_partial_mix_remove_stream (GstPartialMix * self,
    GstPartialMixStream * stream, const gchar * reason)
{
  GstPartialMixSinkPad *pad = GST_PARTIAL_MIX_SINK_PAD_CAST (stream->pad);
  guint i;

  message_stream (self, stream, "removed", reason);
  if (stream->identity.cname != NULL && !stream->identity.said)
    gst_partial_mix_claims_add (self->claims, stream->ssrc,
        &stream->identity.place, stream->identity.cname);
  g_hash_table_remove (pad->streams, GUINT_TO_POINTER (stream->ssrc));
  gst_partial_mix_table_remove (&self->table, stream);

  for (i = 0; i < self->listeners->len; i++) {
    GstPartialMixListener *listener = g_ptr_array_index (self->listeners, i);

    if (gst_partial_mix_listener_get_link (listener, stream)->handover.way
        != FMX_HANDOVER_NONE)
      listener->dirty = TRUE;
    gst_partial_mix_listener_init_link (listener, stream, 0);
  }
  stream->removed = TRUE;
  gst_partial_mix_stream_unref (stream);
}

void
gst_partial_mix_remove_pad_streams (GstPartialMix * self, GstPad * pad,
    const gchar * reason)
{
  guint i;

  for (i = 0; i < gst_partial_mix_table_n_slots (&self->table); i++) {
    GstPartialMixStream *stream = gst_partial_mix_table_at (&self->table, i);

    if (stream != NULL && stream->pad == pad)
      gst_partial_mix_remove_stream (self, stream, reason);
  }
}

static gboolean
has_said_bye (GstPartialMix * self, GstPartialMixStream * stream,
    GstClockTime now)
{
  switch (gst_partial_mix_identity_check_bye (&stream->identity,
          stream->last_arrival, now)) {
    case GST_PARTIAL_MIX_LEFT:
      return TRUE;
    case GST_PARTIAL_MIX_BYE_WAS_VOID:
      self->counters.n_disbelieved++;
      return FALSE;
    default:
      return FALSE;
  }
}

/* A payload type means something else: what was decoded by its old meaning is
 * another stream than what comes. */
void
gst_partial_mix_remove_pt_streams (GstPartialMix * self,
    GstPartialMixSinkPad * pad, guint8 pt)
{
  guint i;

  for (i = 0; i < gst_partial_mix_table_n_slots (&self->table); i++) {
    GstPartialMixStream *stream = gst_partial_mix_table_at (&self->table, i);

    if (stream != NULL && stream->pad == GST_PAD (pad)
        && stream->format.pt == pt)
      gst_partial_mix_remove_stream (self, stream,
          GST_PARTIAL_MIX_STREAM_PAYLOAD_TYPE);
  }
}

/* Who is heard in a mix may come back. */
static GstClockTime
heard_of (const GstPartialMixStream * stream)
{
  return stream->leaves_at != FMX_POSITION_UNKNOWN ? MAX (stream->last_arrival,
      stream->told_at)
      : stream->last_arrival;
}

void
gst_partial_mix_expire_streams (GstPartialMix * self, GstClockTime now)
{
  guint i;

  for (i = 0; i < gst_partial_mix_table_n_slots (&self->table); i++) {
    GstPartialMixStream *stream = gst_partial_mix_table_at (&self->table, i);

    if (stream == NULL)
      continue;
    if (has_said_bye (self, stream, now))
      gst_partial_mix_remove_stream (self, stream, GST_PARTIAL_MIX_STREAM_BYE);
    else if (self->settings.stream_timeout > 0 && now > heard_of (stream)
        && now - heard_of (stream) > self->settings.stream_timeout)
      gst_partial_mix_remove_stream (self, stream,
          GST_PARTIAL_MIX_STREAM_TIMEOUT);
  }
}

/* ------------------------------------------------------------- database -- */

void
gst_partial_mix_look_up_listener (GstPartialMix * self,
    GstPartialMixListener * listener)
{
  guint i;

  gst_partial_mix_listener_look_up (listener, self->database);
  for (i = 0;
      listener->has_infos && i < gst_partial_mix_table_n_slots (&self->table);
      i++)
    if (gst_partial_mix_table_at (&self->table, i) != NULL)
      gst_partial_mix_listener_look_up_stream (listener, self->database,
          gst_partial_mix_table_at (&self->table, i));
}

void
gst_partial_mix_apply_database (GstPartialMix * self)
{
  guint i;

  for (i = 0; i < gst_partial_mix_table_n_slots (&self->table); i++) {
    GstPartialMixStream *stream = gst_partial_mix_table_at (&self->table, i);

    if (stream != NULL)
      gst_partial_mix_database_lookup (self->database, stream->identity.cname,
          stream->ssrc, &stream->info);
  }
  for (i = 0; i < self->listeners->len; i++) {
    GstPartialMixListener *listener = g_ptr_array_index (self->listeners, i);

    gst_partial_mix_look_up_listener (self, listener);
    listener->dirty = TRUE;
  }
}

gboolean
gst_partial_mix_name_is_taken (GstPartialMix * self,
    const GstPartialMixPlace * place, const gchar * cname)
{
  guint i;

  for (i = 0; i < gst_partial_mix_table_n_slots (&self->table); i++) {
    GstPartialMixStream *other = gst_partial_mix_table_at (&self->table, i);

    if (other != NULL && g_strcmp0 (other->identity.cname, cname) == 0
        && !gst_partial_mix_place_matches (&other->identity.place, place))
      return TRUE;
  }
  return FALSE;
}

static void
rename_stream (GstPartialMix * self, GstPartialMixStream * stream,
    const gchar * cname, gboolean said)
{
  guint i;

  gst_partial_mix_identity_set_cname (&stream->identity, cname, said);
  gst_partial_mix_database_lookup (self->database, cname, stream->ssrc,
      &stream->info);
  for (i = 0; i < self->listeners->len; i++) {
    GstPartialMixListener *listener = g_ptr_array_index (self->listeners, i);

    gst_partial_mix_listener_look_up_stream (listener, self->database, stream);
    listener->dirty = TRUE;
  }
}

void
gst_partial_mix_name_stream (GstPartialMix * self, GstPartialMixStream * stream,
    const gchar * cname, gboolean said)
{
  guint i;

  for (i = 0; said && i < gst_partial_mix_table_n_slots (&self->table); i++) {
    GstPartialMixStream *other = gst_partial_mix_table_at (&self->table, i);

    if (other != NULL && !other->identity.said
        && g_strcmp0 (other->identity.cname, cname) == 0
        && !gst_partial_mix_place_matches (&other->identity.place,
            &stream->identity.place)) {
      rename_stream (self, other, NULL, FALSE);
      self->counters.n_disbelieved++;
    }
  }
  rename_stream (self, stream, cname, said);
}
