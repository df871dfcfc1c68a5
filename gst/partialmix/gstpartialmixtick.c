/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The mixing thread: every frame-duration it takes what is due of each mixed
 * stream, decodes it once, plans the mixes, makes and encodes each once, and
 * sends them.  Decoding and encoding are shared out to a pool of threads. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmix-private.h"

#include "fairmix/base/fmx-units.h"
#include "common/gstfairmixevents.h"

#define GST_CAT_DEFAULT gst_partial_mix_debug

#define SELECT_INTERVAL (100 * GST_MSECOND)
#define HOUSEKEEPING_INTERVAL (1 * GST_SECOND)
#define SECONDS_TO_ITSELF 2
/* what a resampler may want of the packet after */
#define LOOKAHEAD (5 * GST_MSECOND)

/* -------------------------------------------------------------- streams -- */

/* with the lock */
static gboolean
has_renderer (GstPartialMix * self)
{
  guint i;

  for (i = 0; i < self->src_pads->len; i++) {
    GstPartialMixSrcPad *pad = g_ptr_array_index (self->src_pads, i);

    if (pad->listener.negotiated && pad->listener.raw)
      return TRUE;
  }
  return FALSE;
}

/* with the lock */
static void
take_streams (GstPartialMix * self, const GstPartialMixFrame * frame)
{
  gint64 end = frame->pos + frame->n
      + (gint64) gst_util_uint64_scale_int (LOOKAHEAD,
      (gint) self->settings.rate_hz, GST_SECOND);
  gboolean rendered = has_renderer (self);
  guint i;

  for (i = 0; i < gst_partial_mix_table_n_slots (&self->table); i++) {
    GstPartialMixStream *stream = gst_partial_mix_table_at (&self->table, i);

    if (stream != NULL)
      gst_partial_mix_stream_note_told (stream, self->settings.voice_level);
    if (stream == NULL || (stream->n_mixed == 0 && stream->queue.length == 0
            && !stream->voice.frame_active))
      continue;
    stream->voice.rendered = rendered;
    gst_partial_mix_stream_take_due (stream, end);
    stream->voice.csrc_level_ext_id =
        (guint) GST_PARTIAL_MIX_SINK_PAD_CAST (stream->pad)->csrc_level_ext_id;
    gst_partial_mix_mixer_take (&self->mixer, stream);
  }
}

/* with the lock */
static void
note_frames (GstPartialMix * self, GstClockTime now)
{
  const GPtrArray *streams = gst_partial_mix_mixer_get_streams (&self->mixer);
  guint i;

  for (i = 0; i < streams->len; i++) {
    GstPartialMixStream *stream = g_ptr_array_index (streams, i);

    gst_partial_mix_stream_note_frame (stream, now);
    self->counters.n_decoded += stream->voice.n_new_decoded;
    stream->n_decoded += stream->voice.n_new_decoded;
    stream->n_concealed += stream->voice.n_new_concealed;
    stream->voice.n_new_decoded = stream->voice.n_new_concealed = 0;
  }
}

/* -------------------------------------------------------- housekeeping -- */

static gboolean
is_due (GstPartialMix * self, GstClockTime interval)
{
  return self->tick % MAX (1, interval / self->settings.frame_duration) == 0;
}

/* Whether any stream is not what it was when selections were made. */
static gboolean
is_news (GstPartialMix * self, GstClockTime now)
{
  gboolean news = is_due (self, HOUSEKEEPING_INTERVAL);
  guint i;

  for (i = 0; i < gst_partial_mix_table_n_slots (&self->table); i++) {
    GstPartialMixStream *stream = gst_partial_mix_table_at (&self->table, i);

    if (stream != NULL)
      news |= gst_partial_mix_stream_is_news (stream, now);
  }
  return news;
}

/* without the lock: files may be slow */
static void
read_database (GstPartialMix * self)
{
  gchar *complaints;
  GError *error = NULL;

  if (!is_due (self, HOUSEKEEPING_INTERVAL))
    return;
  if (gst_partial_mix_database_reload (self->database, &self->lock,
          &complaints, &error)) {
    GST_PARTIAL_MIX_LOCK (self);
    gst_partial_mix_apply_database (self);
    GST_PARTIAL_MIX_UNLOCK (self);
  }
  if (error != NULL)
    gst_fairmix_outbox_add (self->outbox, gst_message_new_warning
        (GST_OBJECT (self), error,
            "The Database as it was read before stays in force."));
  g_clear_error (&error);
  gst_partial_mix_tell_complaints (self, complaints);
}

/* Whether streams come, and none of them is for any of those who listen. */
static gboolean
is_to_itself (GstPartialMix * self)
{
  guint i, k;

  if (gst_partial_mix_table_n_streams (&self->table) == 0
      || self->listeners->len == 0)
    return FALSE;
  for (k = 0; k < self->listeners->len; k++)
    for (i = 0; i < gst_partial_mix_table_n_slots (&self->table); i++) {
      GstPartialMixStream *stream = gst_partial_mix_table_at (&self->table, i);

      if (stream != NULL && stream->neighbour
          != gst_partial_mix_listener_get_neighbour (g_ptr_array_index
              (self->listeners, k)))
        return FALSE;
    }
  return TRUE;
}

/* with the lock; once a second.  `... ! partialmix name=m m.src_0 ! ...` links
 * sink_0 and src_0, which are one neighbour: silence, and nothing is wrong. */
static void
warn_of_itself (GstPartialMix * self)
{
  GstPartialMixListener *listener;
  GError *error;

  if (self->seconds_to_itself > SECONDS_TO_ITSELF)
    return;                     /* said once */
  if (!is_to_itself (self)) {
    self->seconds_to_itself = 0;
    return;
  }
  if (++self->seconds_to_itself <= SECONDS_TO_ITSELF)
    return;
  listener = g_ptr_array_index (self->listeners, 0);
  error = g_error_new (GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
      "src_%u is silent: everything that arrives comes from neighbour %d itself.",
      listener->index, gst_partial_mix_listener_get_neighbour (listener));
  gst_fairmix_outbox_add (self->outbox, gst_message_new_warning
      (GST_OBJECT (self), error,
          "Nobody hears himself, and pads of the same number are of one "
          "neighbour.  Give the talkers another one (sink_1), or set the "
          "property neighbour of the pads.  If others are still to come, all "
          "is well."));
  g_error_free (error);
}

/* with the lock */
static void
select_dirty (GstPartialMix * self, GstClockTime now)
{
  guint i;

  for (i = 0; i < self->listeners->len; i++) {
    GstPartialMixListener *listener = g_ptr_array_index (self->listeners, i);

    if (listener->dirty || listener->changing)
      gst_partial_mix_reselect (self, listener,
          GST_PARTIAL_MIX_RESELECT_STREAMS, now);
  }
}

/* with the lock */
static void
keep_house (GstPartialMix * self, GstClockTime now)
{
  guint i;

  self->selections_left = GST_PARTIAL_MIX_SELECTIONS_PER_TICK;
  gst_partial_mix_expire_streams (self, now);
  if (is_due (self, HOUSEKEEPING_INTERVAL))
    warn_of_itself (self);
  if (is_due (self, SELECT_INTERVAL) && is_news (self, now))
    for (i = 0; i < self->listeners->len; i++)
      ((GstPartialMixListener *) g_ptr_array_index (self->listeners,
              i))->dirty = TRUE;
  select_dirty (self, now);
}

/* ------------------------------------------------------ what listeners get -- */

/* Those who listen in this tick, and what they get besides mixes. */
typedef struct
{
  GPtrArray *pads;
  GPtrArray *renders;           /* of GstPartialMixRenderPlan, or NULL */
  GstPartialMixBatch *batch;
  gboolean ended;               /* and take nothing any more */
} Audience;

/* with the lock */
static void
audience_init (Audience * audience, GPtrArray * pads)
{
  audience->pads = g_ptr_array_ref (pads);
  audience->renders = g_ptr_array_new ();
  audience->batch = gst_partial_mix_batch_new (pads, pads->len);
}

static void
audience_clear (Audience * audience)
{
  g_ptr_array_unref (audience->renders);
  g_ptr_array_unref (audience->pads);
}

/* with the lock */
static void
release_mixes (GstPartialMix * self)
{
  guint i;

  for (i = 0; i < self->released->len; i++) {
    GstPartialMixSrcPad *pad = g_ptr_array_index (self->released, i);

    gst_partial_mix_mixer_release (&self->mixer, &pad->listener, &self->table);
    /* the last one who holds a pad must not hold the lock as well */
    g_ptr_array_add (self->given_up, gst_object_ref (pad));
  }
  g_ptr_array_set_size (self->released, 0);
}

/* without the lock.  Who lets go last ends the pad, and a race detector is to see that it does
 * so after this: see gst_partial_mix_src_pad_finalize(). */
static void
let_go (GstPartialMix * self)
{
  guint i;

  for (i = 0; i < self->given_up->len; i++) {
    GST_PAD_STREAM_LOCK (g_ptr_array_index (self->given_up, i));
    GST_PAD_STREAM_UNLOCK (g_ptr_array_index (self->given_up, i));
  }
  g_ptr_array_set_size (self->given_up, 0);
}

/* with the lock: from which target on there would be more to send.  It is said again each
 * second, for who makes targets may be another one. */
static void
note_wish (GstPartialMix * self, GstPartialMixListener * listener)
{
  guint wish = 0;

  if (listener->event_seen && listener->negotiated && !listener->raw)
    wish = (guint) MIN (listener->plan.next_bps, G_MAXUINT);
  listener->wish_due = (wish != listener->wish && (wish == 0
          || listener->wish == 0 || is_due (self, SELECT_INTERVAL)))
      || (wish != 0 && is_due (self, HOUSEKEEPING_INTERVAL));
  if (listener->wish_due)
    listener->wish = wish;
}

/* with the lock */
static void
plan (GstPartialMix * self, const GstPartialMixFrame * frame,
    Audience * audience)
{
  guint i;

  audience_init (audience, self->src_pads);
  audience->ended = self->ended;
  release_mixes (self);
  gst_partial_mix_mixer_plan (&self->mixer, frame, &self->table,
      self->listeners);
  self->n_mixes = self->mixer.n_mixes;
  for (i = 0; i < audience->pads->len; i++) {
    GstPartialMixSrcPad *pad = g_ptr_array_index (audience->pads, i);

    note_wish (self, &pad->listener);
    if (pad->listener.n_mixed > 0 && !pad->listener.raw)
      gst_partial_mix_check_rate (self, pad->listener.mix_format.encoding);
    g_ptr_array_add (audience->renders,
        pad->listener.negotiated && pad->listener.raw && !self->ended
        ? gst_partial_mix_render_plan (&pad->listener, &self->table,
            frame) : NULL);
  }
}

static void
deliver_mixes (GstPartialMix * self, GstPartialMixSrcPad * pad,
    const GstPartialMixFrame * frame, GstPartialMixBatch * batch)
{
  GstClockTime now = gst_partial_mix_samples_to_time (self,
      (guint64) frame->pos);
  GstPartialMixListener *listener = &pad->listener;
  guint mix;

  for (mix = 0; mix < listener->n_outputs; mix++) {
    GstPartialMixOutput *output = &listener->outputs[mix];
    GstBuffer *buffer = gst_partial_mix_mixer_make_packet (&self->mixer, frame,
        output);
    guint wire_bytes;

    if (buffer == NULL)
      continue;
    wire_bytes = (guint) gst_buffer_get_size (buffer) + FMX_IP_UDP_BYTES;
    GST_PARTIAL_MIX_LOCK (self);
    output->n_packets++;
    output->n_bytes += wire_bytes;
    fmx_rate_meter_add (&listener->meter_out, wire_bytes, now);
    GST_PARTIAL_MIX_UNLOCK (self);
    gst_partial_mix_batch_add (batch, &pad->door, output->caps,
        GST_MINI_OBJECT (buffer));
    gst_clear_caps (&output->caps);
  }
}

/* takes @plan */
static void
deliver_render (GstPartialMix * self, GstPartialMixSrcPad * pad,
    GstPartialMixRenderPlan * plan, const GstPartialMixFrame * frame,
    GstPartialMixBatch * batch)
{
  GstBuffer *buffer = gst_partial_mix_render_make (&pad->listener, plan, frame,
      self->settings.rate_hz, gst_partial_mix_playout_delay (self));

  if (buffer != NULL)
    gst_partial_mix_batch_add (batch, &pad->door, plan->caps,
        GST_MINI_OBJECT (buffer));
  gst_partial_mix_render_plan_free (plan);
}

/* without the lock */
static void
deliver (GstPartialMix * self, const GstPartialMixFrame * frame,
    Audience * audience)
{
  guint i;

  for (i = 0; i < audience->pads->len; i++) {
    GstPartialMixSrcPad *pad = g_ptr_array_index (audience->pads, i);

    if (gst_partial_mix_mixer_serves (&self->mixer, &pad->listener)
        && !audience->ended)
      deliver_mixes (self, pad, frame, audience->batch);
    if (pad->listener.wish_due)
      gst_partial_mix_batch_add (audience->batch, &pad->door, NULL,
          GST_MINI_OBJECT (gst_fairmix_wanted_bitrate_event_new (pad->
                  listener.wish)));
  }
  for (i = 0; i < audience->pads->len; i++)
    if (g_ptr_array_index (audience->renders, i) != NULL)
      deliver_render (self, g_ptr_array_index (audience->pads, i),
          g_ptr_array_index (audience->renders, i), frame, audience->batch);
  gst_partial_mix_couriers_deliver (self->couriers, audience->batch,
      audience->pads->len == 1);
}

/* -------------------------------------------------------- the whole tick -- */

static void
mix_tick (GstPartialMix * self, const GstPartialMixFrame * frame)
{
  GstClockTime now = gst_partial_mix_samples_to_time (self,
      (guint64) frame->pos);
  guint8 silence_level;
  Audience audience;
  guint n_encoded;

  self->tick++;
  read_database (self);
  GST_PARTIAL_MIX_LOCK (self);
  if (self->mix_pos != frame->pos) {
    /* it was paused meanwhile, and what time it is now is for the next start to say */
    GST_PARTIAL_MIX_UNLOCK (self);
    return;
  }
  keep_house (self, now);
  take_streams (self, frame);
  silence_level = (guint8) self->settings.silence_level;
  self->mix_pos = frame->pos + frame->n;
  GST_PARTIAL_MIX_UNLOCK (self);

  gst_partial_mix_mixer_decode (&self->mixer, frame, silence_level);

  GST_PARTIAL_MIX_LOCK (self);
  note_frames (self, now);
  plan (self, frame, &audience);
  GST_PARTIAL_MIX_UNLOCK (self);

  gst_partial_mix_mixer_run (&self->mixer, frame);
  deliver (self, frame, &audience);
  n_encoded = gst_partial_mix_mixer_finish (&self->mixer);
  GST_PARTIAL_MIX_LOCK (self);
  self->counters.n_encoded += n_encoded;
  GST_PARTIAL_MIX_UNLOCK (self);
  let_go (self);
  audience_clear (&audience);
  gst_partial_mix_post_messages (self);
}

static void
end_of_stream (GstPartialMix * self)
{
  gboolean end;

  GST_PARTIAL_MIX_LOCK (self);
  end = self->mix_pos >= self->eos_mix_pos;
  if (end) {
    self->eos_mix_pos = G_MAXINT64;
    self->ended = TRUE;
  }
  GST_PARTIAL_MIX_UNLOCK (self);
  if (end)
    gst_partial_mix_push_eos (self, gst_event_new_eos ());
}

GstClockTime
gst_partial_mix_tick (gpointer user_data, GstClockTime now)
{
  GstPartialMix *self = user_data;
  GstPartialMixFrame frame = {.n = gst_partial_mix_frame_samples (self) };
  GstClockTime base, running;
  gint64 behind;

  gst_partial_mix_negotiate (self);
  GST_PARTIAL_MIX_LOCK (self);
  base = self->base_time;
  running = now > base ? now - base : 0;
  frame.pos = self->mix_pos;
  frame.ramp = (guint) gst_util_uint64_scale_int (self->settings.ramp_duration,
      (gint) self->settings.rate_hz, GST_SECOND);
  behind =
      (gint64) gst_util_uint64_scale_int (running,
      (gint) self->settings.rate_hz, GST_SECOND) - frame.pos;
  /* The clock jumped, or the machine slept: what is missed is missed. */
  if (behind > (gint64) self->settings.rate_hz) {
    GST_WARNING_OBJECT (self, "%" G_GINT64_FORMAT " samples behind, skipping",
        behind);
    frame.pos += behind / frame.n * frame.n;
    self->mix_pos = frame.pos;
  }
  GST_PARTIAL_MIX_UNLOCK (self);

  mix_tick (self, &frame);
  end_of_stream (self);
  return base + gst_partial_mix_samples_to_time (self,
      (guint64) frame.pos + frame.n);
}
