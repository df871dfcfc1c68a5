/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A src pad with audio/x-raw caps is a renderer: every voice is decoded and has
 * a place between left and right. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixrender.h"

#include <math.h>

#include "fairmix/mix/fmx-mix-kernels.h"

typedef struct
{
  gfloat left, right;
} Sides;

/* One voice in this tick, and how its place moves. */
typedef struct
{
  GstPartialMixStream *stream;
  FmxMixEnvelope envelope;
  Sides from, to;
  gfloat gain;                  /* for this listener, relative to the frame's */
} Voice;

static void
voice_clear (gpointer data)
{
  gst_partial_mix_stream_unref (((Voice *) data)->stream);
}

static GstClockTime
time_of (guint rate_hz, gint64 samples)
{
  return gst_util_uint64_scale_int ((guint64) samples, GST_SECOND,
      (gint) rate_hz);
}

static GstPartialMixGains *
gains_of (GstPartialMixListener * listener, GstPartialMixStream * stream)
{
  if (stream->slot >= listener->gains->len)
    g_array_set_size (listener->gains, stream->slot + 1);
  return &g_array_index (listener->gains, GstPartialMixGains, stream->slot);
}

/* A mix begins in the middle, or where it was taken for a voice. */
static gfloat
move_mix (GstPartialMixListener * listener, GstPartialMixGains * gains,
    const GstPartialMixStream * stream, guint n)
{
  const GstPartialMixNames *names = &stream->voice.names;
  gfloat goal;

  if (gains->has_place)
    fmx_places_give_up (&listener->places, gains->place);
  gains->has_place = FALSE;
  gains->is_mix = TRUE;
  if (fmx_places_goal (&listener->places, names->ssrcs,
          names->has_levels ? names->levels : NULL, names->n, &goal))
    gains->pan = fmx_places_toward (gains->pan, goal,
        (FmxDuration) time_of (stream->rate_hz, n));
  return gains->pan;
}

/* Where the Database says; else where it was put when it was first heard. */
static gfloat
find_pan (GstPartialMixListener * listener, GstPartialMixStream * stream,
    guint n)
{
  GstPartialMixGains *gains = gains_of (listener, stream);
  gfloat pan = gst_partial_mix_listener_get_info (listener, stream)->pan;

  if (!isnan (pan))
    return pan;
  if (gains->is_mix || stream->voice.names.n > 0)
    return move_mix (listener, gains, stream, n);
  if (!gains->has_place) {
    gains->place = fmx_places_take (&listener->places, stream->ssrc,
        listener->rendered);
    gains->pan = fmx_places_pan (gains->place);
    gains->has_place = TRUE;
  }
  return gains->pan;
}

static void
place_voice (GstPartialMixListener * listener, Voice * voice, guint n)
{
  GstPartialMixGains *gains = gains_of (listener, voice->stream);

  fmx_mix_pan_gains (find_pan (listener, voice->stream, n), &voice->to.left,
      &voice->to.right);
  voice->to.left *= voice->gain;
  voice->to.right *= voice->gain;
  voice->from = voice->to;
  if (gains->left != 0.0f || gains->right != 0.0f)
    voice->from = (Sides) {gains->left, gains->right};
  gains->left = voice->to.left;
  gains->right = voice->to.right;
}

static GstPartialMixRenderPlan *
plan_new (GstPartialMixListener * listener)
{
  GstPartialMixRenderPlan *plan = g_new (GstPartialMixRenderPlan, 1);

  plan->voices = g_array_new (FALSE, FALSE, sizeof (Voice));
  g_array_set_clear_func (plan->voices, voice_clear);
  plan->caps = gst_caps_ref (listener->raw_caps);
  plan->channels = listener->raw_channels;
  return plan;
}

void
gst_partial_mix_render_plan_free (GstPartialMixRenderPlan * plan)
{
  g_array_unref (plan->voices);
  gst_caps_unref (plan->caps);
  g_free (plan);
}

GstPartialMixRenderPlan *
gst_partial_mix_render_plan (GstPartialMixListener * listener,
    const GstPartialMixTable * table, const GstPartialMixFrame * frame)
{
  GstPartialMixRenderPlan *plan = plan_new (listener);
  guint i;

  for (i = 0; i < gst_partial_mix_table_n_slots (table); i++) {
    GstPartialMixStream *stream = gst_partial_mix_table_at (table, i);
    GstPartialMixLink *link;
    Voice voice = {.stream = stream,.envelope = {.ramp = frame->ramp} };

    if (stream == NULL)
      continue;
    listener->rendered = time_of (stream->rate_hz, frame->pos + frame->n);
    voice.gain = gst_partial_mix_listener_get_gain (listener, stream);
    link = gst_partial_mix_listener_get_link (listener, stream);
    if ((stream->voice.frame_active || stream->voice.frame_comfort)
        && fmx_handover_contributes (&link->handover,
            link->handover.mix, frame->pos, frame->n, &voice.envelope)) {
      place_voice (listener, &voice, frame->n);
      gst_partial_mix_stream_ref (stream);
      g_array_append_val (plan->voices, voice);
    }
  }
  return plan;
}

static void
mix_voices (const GstPartialMixRenderPlan * plan, gint32 * sum, gint64 pos,
    guint n)
{
  gint32 *mono = g_newa (gint32, n);
  gint16 *shaped = g_newa (gint16, n);
  guint i, k;

  for (i = 0; i < plan->voices->len; i++) {
    Voice *voice = &g_array_index (plan->voices, Voice, i);
    const gint16 *in = voice->stream->voice.frame;
    gfloat weight = (gfloat) voice->stream->voice.weight;

    if (!fmx_mix_envelope_is_full (&voice->envelope, pos, n)) {
      memset (mono, 0, n * sizeof (gint32));
      fmx_mix_add_envelope (mono, in, n, &voice->envelope, pos);
      for (k = 0; k < n; k++)
        shaped[k] = (gint16) mono[k];
      in = shaped;
    }
    if (plan->channels == 2)
      fmx_mix_add_panned (sum, in, n, weight * voice->from.left,
          weight * voice->to.left, weight * voice->from.right,
          weight * voice->to.right);
    else
      fmx_mix_add_ramp (sum, in, n, weight * voice->gain, weight * voice->gain);
  }
}

static void
prepare_limiter (GstPartialMixListener * listener,
    const FmxLimiterParams * params, guint channels)
{
  if (listener->limiter == NULL)
    listener->limiter = g_new (FmxLimiter, 1);
  if (listener->limiter_channels != channels)
    fmx_limiter_init (listener->limiter, params);
  listener->limiter_channels = channels;
}

static GstBuffer *
make_buffer (GstPartialMixListener * listener,
    const GstPartialMixRenderPlan * plan, gint64 pos, guint n)
{
  gint32 *sum = g_new0 (gint32, n * plan->channels);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, n * plan->channels
      * sizeof (gint16), NULL);
  GstMapInfo map;

  mix_voices (plan, sum, pos, n);
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  fmx_limiter_process (listener->limiter, (gint16 *) map.data, sum, n);
  gst_buffer_unmap (buffer, &map);
  g_free (sum);
  return buffer;
}

GstBuffer *
gst_partial_mix_render_make (GstPartialMixListener * listener,
    const GstPartialMixRenderPlan * plan, const GstPartialMixFrame * frame,
    guint rate_hz, GstClockTime playout_delay)
{
  GstClockTime pts = time_of (rate_hz, frame->pos);
  GstClockTime delay;
  FmxLimiterParams params;
  GstBuffer *buffer;

  fmx_limiter_params_default (&params, rate_hz, plan->channels);
  prepare_limiter (listener, &params, plan->channels);
  buffer = make_buffer (listener, plan, frame->pos, frame->n);

  delay = playout_delay + time_of (rate_hz, params.look_ahead_frames);
  if (plan->voices->len == 0 && listener->silent_frames++ > 1)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
  if (plan->voices->len > 0)
    listener->silent_frames = 0;
  if (pts < delay) {
    gst_buffer_unref (buffer);
    return NULL;
  }
  GST_BUFFER_PTS (buffer) = pts - delay;
  GST_BUFFER_DURATION (buffer) = time_of (rate_hz, frame->pos + frame->n) - pts;
  return buffer;
}
