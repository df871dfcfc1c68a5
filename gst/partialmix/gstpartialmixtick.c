/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The mixing thread: every frame-duration it takes what is due of each mixed
 * stream, decodes it once, plans the mixes, makes and encodes each once, and
 * sends them.  Decoding and encoding are shared out to a pool of threads. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmix-private.h"

#include "fairmix/mix/fmx-mix-kernels.h"

#define GST_CAT_DEFAULT gst_partial_mix_debug

#define HANGOVER (200 * GST_MSECOND)
#define SELECT_INTERVAL (100 * GST_MSECOND)
#define HOUSEKEEPING_INTERVAL (1 * GST_SECOND)
#define SECONDS_TO_ITSELF 2
/* what a resampler may want of the packet after */
#define LOOKAHEAD (5 * GST_MSECOND)

/* ------------------------------------------------------------------ jobs -- */

typedef struct
{
  void (*job) (gpointer data, guint index);
  gpointer data;
  guint n_jobs;
  gint next;
} Jobs;

static void
work_off (gpointer data)
{
  Jobs *jobs = data;
  guint index;

  while ((index = (guint) g_atomic_int_add (&jobs->next, 1)) < jobs->n_jobs)
    jobs->job (jobs->data, index);
}

void
gst_partial_mix_run_jobs (GstPartialMix * self, guint n_jobs,
    void (*job) (gpointer data, guint index), gpointer data)
{
  Jobs jobs = { job, data, n_jobs, 0 };
  guint n_helpers = MIN (self->n_helpers, n_jobs > 0 ? n_jobs - 1 : 0);
  gpointer *handles = g_newa (gpointer, n_helpers + 1);
  guint i;

  for (i = 0; i < n_helpers; i++)
    handles[i] = gst_task_pool_push (self->pool, work_off, &jobs, NULL);
  work_off (&jobs);
  for (i = 0; i < n_helpers; i++)
    if (handles[i] != NULL)
      gst_task_pool_join (self->pool, handles[i]);
}

/* ------------------------------------------------------------- decoding -- */

typedef struct
{
  GstPartialMix *self;
  gint64 pos;
  guint n;
  guint8 silence_level;
} Work;

static void
decode_frame (gpointer data, guint index)
{
  Work *work = data;
  GstPartialMixStream *stream = g_ptr_array_index (work->self->frames, index);

  gst_partial_mix_voice_render (&stream->voice, work->pos, work->n,
      work->silence_level,
      (guint) (HANGOVER / work->self->settings.frame_duration));
}

/* with the lock */
static void
take_frames (GstPartialMix * self, gint64 pos, guint n)
{
  gint64 end = pos + n + (gint64) gst_util_uint64_scale_int (LOOKAHEAD,
      (gint) self->settings.rate_hz, GST_SECOND);
  guint i;

  for (i = 0; i < self->streams->len; i++) {
    GstPartialMixStream *stream = g_ptr_array_index (self->streams, i);

    if (stream == NULL || (stream->n_mixed == 0 && stream->queue.length == 0
            && !stream->voice.frame_active))
      continue;
    gst_partial_mix_stream_take_due (stream, end);
    stream->voice.csrc_level_ext_id = (guint) GST_PARTIAL_MIX_SINK_PAD
        (stream->pad)->csrc_level_ext_id;
    g_ptr_array_add (self->frames, gst_partial_mix_stream_ref (stream));
  }
}

/* with the lock */
static void
note_frames (GstPartialMix * self, GstClockTime now)
{
  guint i;

  for (i = 0; i < self->frames->len; i++) {
    GstPartialMixStream *stream = g_ptr_array_index (self->frames, i);

    gst_partial_mix_stream_note_frame (stream, now);
    self->counters.n_decoded += stream->voice.n_new_decoded;
    stream->n_decoded += stream->voice.n_new_decoded;
    stream->n_concealed += stream->voice.n_new_concealed;
    stream->voice.n_new_decoded = stream->voice.n_new_concealed = 0;
  }
}

/* -------------------------------------------------------- the whole tick -- */

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

  for (i = 0; i < self->streams->len; i++) {
    GstPartialMixStream *stream = g_ptr_array_index (self->streams, i);

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

  if (self->n_streams == 0 || self->listeners->len == 0)
    return FALSE;
  for (k = 0; k < self->listeners->len; k++)
    for (i = 0; i < self->streams->len; i++) {
      GstPartialMixStream *stream = g_ptr_array_index (self->streams, i);

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
  gst_partial_mix_select_dirty (self, now);
}

/* with the lock */
static void
plan_renderers (GstPartialMix * self, GPtrArray * pads, GPtrArray * plans,
    gint64 pos, guint n)
{
  GList *l;

  for (l = self->src_pads; l != NULL; l = l->next) {
    GstPartialMixSrcPad *pad = l->data;

    g_ptr_array_add (pads, gst_object_ref (pad));
    g_ptr_array_add (plans, pad->listener.negotiated && pad->listener.raw
        ? gst_partial_mix_render_plan (self, &pad->listener, pos, n) : NULL);
  }
}

static void
mix_tick (GstPartialMix * self, gint64 pos, guint n)
{
  GPtrArray *pads = g_ptr_array_new_with_free_func (gst_object_unref);
  GPtrArray *plans = g_ptr_array_new ();
  GArray *deliveries = gst_partial_mix_deliveries_new ();
  GstClockTime now = gst_partial_mix_samples_to_time (self, (guint64) pos);
  Work work = { self, pos, n, 0 };
  guint i;

  self->tick++;
  read_database (self);
  GST_PARTIAL_MIX_LOCK (self);
  keep_house (self, now);
  take_frames (self, pos, n);
  work.silence_level = (guint8) self->settings.silence_level;
  self->line = pos + n;
  GST_PARTIAL_MIX_UNLOCK (self);

  gst_partial_mix_run_jobs (self, self->frames->len, decode_frame, &work);

  GST_PARTIAL_MIX_LOCK (self);
  note_frames (self, now);
  gst_partial_mix_buses_plan (self, pos, n);
  plan_renderers (self, pads, plans, pos, n);
  GST_PARTIAL_MIX_UNLOCK (self);

  gst_partial_mix_buses_run (self, pos, n);
  gst_partial_mix_buses_push (self, pads, deliveries, pos);
  for (i = 0; i < pads->len; i++)
    if (g_ptr_array_index (plans, i) != NULL)
      gst_partial_mix_render_push (self, g_ptr_array_index (pads, i),
          g_ptr_array_index (plans, i), pos, n, deliveries);
  gst_partial_mix_couriers_deliver (self->couriers, deliveries, pads->len == 1);
  g_array_unref (deliveries);

  g_ptr_array_set_size (self->frames, 0);
  g_ptr_array_set_size (self->given_up, 0);
  g_ptr_array_unref (plans);
  g_ptr_array_unref (pads);
  gst_partial_mix_post_messages (self);
}

static void
end_of_stream (GstPartialMix * self, gint64 line)
{
  gboolean end;

  GST_PARTIAL_MIX_LOCK (self);
  end = line >= self->eos_line;
  if (end)
    self->eos_line = G_MAXINT64;
  GST_PARTIAL_MIX_UNLOCK (self);
  if (end)
    gst_partial_mix_push_eos (self, gst_event_new_eos ());
}

GstClockTime
gst_partial_mix_tick (gpointer user_data, GstClockTime now)
{
  GstPartialMix *self = user_data;
  guint n = gst_partial_mix_frame_samples (self);
  GstClockTime running = now > self->base_time ? now - self->base_time : 0;
  gint64 behind, pos;

  gst_partial_mix_negotiate (self);
  GST_PARTIAL_MIX_LOCK (self);
  pos = self->line;
  behind =
      (gint64) gst_util_uint64_scale_int (running,
      (gint) self->settings.rate_hz, GST_SECOND) - pos;
  /* The clock jumped, or the machine slept: what is missed is missed. */
  if (behind > (gint64) self->settings.rate_hz) {
    GST_WARNING_OBJECT (self, "%" G_GINT64_FORMAT " samples behind, skipping",
        behind);
    pos += behind / n * n;
    self->line = pos;
  }
  GST_PARTIAL_MIX_UNLOCK (self);

  mix_tick (self, pos, n);
  end_of_stream (self, pos + n);
  return self->base_time + gst_partial_mix_samples_to_time (self,
      (guint64) pos + n);
}
