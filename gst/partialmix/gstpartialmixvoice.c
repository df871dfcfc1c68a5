/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The sound of one stream: decodes what is due, conceals what is missing, splices
 * where the delay moved, and cuts a frame out of it for each tick. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixvoice.h"
#include "gstpartialmixdebug.h"

#include <string.h>

#include "fairmix/mix/fmx-level.h"
#include "fairmix/mix/fmx-mix-envelope.h"
#include "fairmix/mix/fmx-mix-kernels.h"
#include "fairmix/select/fmx-select.h"

#define GST_CAT_DEFAULT gst_partial_mix_debug

/* a hole that is shorter than this is rounding, not loss */
#define SNAP_MS 1
#define MAX_CONCEAL_MS 120
/* What Opus makes up is noise by then, as loud as that between words.  It goes on where
 * nothing is sent between words (DTX), but for a packet in 400 ms, and fades. */
#define COMFORT_MS 1000
#define COMFORT_FADE_MS 200
#define SPLICE_MS 5
/* 2.5 ms, as a mix fades in who enters it */
#define FADES_A_SECOND 400
/* fmx_mix_add_ramp() takes gains up to this */
#define MAX_WEIGHT 8
/* A frame of 60 ms, a packet that begins at its end, and one that is decoded behind
 * that to be cut; 20 ms more for what is due a little later, and for rounding. */
#define PCM_CAPACITY (2 * GST_PARTIAL_MIX_MAX_PACKET_SAMPLES + 3840)

void
gst_partial_mix_packet_free (GstPartialMixPacket * packet)
{
  gst_buffer_unref (packet->buffer);
  g_free (packet);
}

void
gst_partial_mix_voice_init (GstPartialMixVoice * voice, guint32 ssrc,
    const GstPartialMixFormat * format, guint rate_hz)
{
  memset (voice, 0, sizeof *voice);
  voice->ssrc = ssrc;
  voice->format = *format;
  voice->rate_hz = rate_hz;
  voice->gain = 1.0f;
  voice->pcm_pos = voice->leaves_at = FMX_POSITION_UNKNOWN;
  voice->decoder_cold = TRUE;
  g_queue_init (&voice->due);
}

void
gst_partial_mix_voice_clear (GstPartialMixVoice * voice)
{
  guint i;

  g_queue_clear_full (&voice->due,
      (GDestroyNotify) gst_partial_mix_packet_free);
  for (i = 0; i < GST_PARTIAL_MIX_N_RECENT; i++)
    gst_clear_buffer (&voice->warm[i]);
  if (voice->decoder != NULL)
    gst_partial_mix_decoder_free (voice->decoder);
  g_free (voice->even);
  g_free (voice->pcm);
  g_free (voice->tail);
  g_free (voice->frame);
}

void
gst_partial_mix_voice_push (GstPartialMixVoice * voice,
    GstPartialMixPacket * packet)
{
  g_queue_push_tail (&voice->due, packet);
}

void
gst_partial_mix_voice_restart (GstPartialMixVoice * voice)
{
  voice->decoder_cold = TRUE;
  voice->pcm_pos = FMX_POSITION_UNKNOWN;
}

gboolean
gst_partial_mix_voice_is_cold (const GstPartialMixVoice * voice)
{
  return voice->decoder_cold && voice->due.length > 0;
}

void
gst_partial_mix_voice_warm_up (GstPartialMixVoice * voice,
    GstBuffer * before[GST_PARTIAL_MIX_N_RECENT])
{
  guint i;

  for (i = 0; i < GST_PARTIAL_MIX_N_RECENT; i++) {
    gst_clear_buffer (&voice->warm[i]);
    voice->warm[i] = before[i];
  }
}

static gboolean
map_payload (GstBuffer * buffer, GstRTPBuffer * rtp)
{
  return gst_rtp_buffer_map (buffer, GST_MAP_READ, rtp);
}

/* It fades out elsewhere.  @samples: those before mix position @pos */
static void
lead_in (GstPartialMixVoice * voice, const gint16 * samples, guint n,
    gint64 pos)
{
  const guint fade = MIN (n, voice->rate_hz / FADES_A_SECOND);
  guint i;

  if (voice->pcm_pos != FMX_POSITION_UNKNOWN)
    return;
  for (i = 0; i < fade; i++)
    voice->pcm[i] = (gint16) ((gint32) samples[n - fade + i] * (gint32) (i + 1)
        / (gint32) (fade + 1));
  voice->pcm_pos = pos - fade;
  voice->pcm_len = fade;
}

/* Decodes the packets before this one for nothing but the decoder's state, so
 * that a stream that enters a mix does not have to fade in. */
static void
decode_warm (GstPartialMixVoice * voice, gint64 pos)
{
  gint16 scratch[GST_PARTIAL_MIX_MAX_PACKET_SAMPLES];
  guint i, n = 0;

  gst_partial_mix_decoder_reset (voice->decoder);
  for (i = 0; i < GST_PARTIAL_MIX_N_RECENT; i++) {
    GstBuffer *buffer = g_steal_pointer (&voice->warm[i]);
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    if (buffer != NULL && map_payload (buffer, &rtp)) {
      n = gst_partial_mix_decoder_decode (voice->decoder,
          gst_rtp_buffer_get_payload (&rtp),
          gst_rtp_buffer_get_payload_len (&rtp), scratch);
      gst_rtp_buffer_unmap (&rtp);
    }
    gst_clear_buffer (&buffer);
  }
  if (voice->leads_in)
    lead_in (voice, scratch, n, pos);
  voice->leads_in = FALSE;
}

static void
append_silence (GstPartialMixVoice * voice, guint n)
{
  n = MIN (n, PCM_CAPACITY - voice->pcm_len);
  memset (voice->pcm + voice->pcm_len, 0, n * sizeof (gint16));
  voice->pcm_len += n;
}

/* What comes after a concealment does not join it by itself. */
static void
continue_tail (GstPartialMixVoice * voice)
{
  voice->n_tail = gst_partial_mix_decoder_go_on (voice->decoder,
      voice->tail, SPLICE_MS * voice->rate_hz / 1000);
}

static guint
samples_of (const GstPartialMixVoice * voice, guint ms)
{
  return ms * voice->rate_hz / 1000;
}

/* Who is heard for a little longer is not heard as silence. */
static guint
conceal_limit (const GstPartialMixVoice * voice)
{
  gboolean comfort = voice->format.encoding == GST_PARTIAL_MIX_ENCODING_OPUS
      && (voice->rendered || voice->hangover > 0);

  return samples_of (voice, comfort ? COMFORT_MS : MAX_CONCEAL_MS);
}

/* @n samples that were made up, the first of them the @before-th in a row */
static void
fade_comfort (const GstPartialMixVoice * voice, gint16 * samples, guint n,
    guint before)
{
  const guint end = samples_of (voice, COMFORT_MS);
  const guint fade = samples_of (voice, COMFORT_FADE_MS);
  guint i;

  for (i = 0; i < n; i++)
    if (before + i + fade > end)
      samples[i] = (gint16) ((gint32) samples[i]
          * (gint32) (end - MIN (end, before + i)) / (gint32) fade);
}

static void
append_concealment (GstPartialMixVoice * voice, guint n, GstRTPBuffer * next)
{
  guint limit = conceal_limit (voice);
  guint made = voice->concealed < limit ? MIN (n, limit - voice->concealed)
      : 0;

  made = MIN (made, GST_PARTIAL_MIX_MAX_PACKET_SAMPLES);
  made = MIN (made, PCM_CAPACITY - voice->pcm_len);
  if (made > 0 && voice->decoder != NULL && !voice->decoder_cold) {
    gst_partial_mix_decoder_conceal (voice->decoder,
        next != NULL && made == n ? gst_rtp_buffer_get_payload (next) : NULL,
        next != NULL ? gst_rtp_buffer_get_payload_len (next) : 0,
        voice->pcm + voice->pcm_len, made);
    fade_comfort (voice, voice->pcm + voice->pcm_len, made, voice->concealed);
    voice->pcm_len += made;
    voice->concealed += made;
    continue_tail (voice);
    voice->n_new_concealed++;
    n -= made;
  }
  append_silence (voice, n);
}

static gboolean
prepare_decoder (GstPartialMixVoice * voice, gint64 pos)
{
  if (voice->decoder == NULL && !voice->failed) {
    voice->decoder = gst_partial_mix_decoder_new (&voice->format,
        voice->rate_hz, voice->decoder_complexity);
    voice->failed = voice->decoder == NULL;
  }
  if (voice->decoder != NULL && voice->decoder_cold) {
    decode_warm (voice, pos);
    voice->decoder_cold = FALSE;
  }
  return voice->decoder != NULL;
}

static void
read_names (GstPartialMixVoice * voice, GstRTPBuffer * rtp)
{
  GstPartialMixNames *names = &voice->names;
  gpointer data;
  guint size, i;

  names->n = gst_rtp_buffer_get_csrc_count (rtp);
  for (i = 0; i < names->n; i++)
    names->ssrcs[i] = gst_rtp_buffer_get_csrc (rtp, (guint8) i);
  names->has_levels = names->n > 0 && voice->csrc_level_ext_id != 0
      && gst_rtp_buffer_get_extension_onebyte_header (rtp,
      (guint8) voice->csrc_level_ext_id, 0, &data, &size)
      && fmx_csrc_audio_levels_parse (data, size, names->levels, FMX_CSRC_MAX)
      == names->n;
}

static guint
decode_packet (GstPartialMixVoice * voice, GstRTPBuffer * rtp, gint16 * out)
{
  guint n = gst_partial_mix_decoder_decode (voice->decoder,
      gst_rtp_buffer_get_payload (rtp), gst_rtp_buffer_get_payload_len (rtp),
      out);

  read_names (voice, rtp);
  voice->n_new_decoded++;
  voice->concealed = 0;
  voice->gone = FALSE;
  return n;
}

static void
keep_tail (GstPartialMixVoice * voice, const gint16 * samples, guint n)
{
  voice->n_tail = MIN (n, SPLICE_MS * voice->rate_hz / 1000);
  memcpy (voice->tail, samples, voice->n_tail * sizeof (gint16));
}

static void
append_packet (GstPartialMixVoice * voice, GstPartialMixPacket * packet,
    GstRTPBuffer * rtp)
{
  gint64 end = voice->pcm_pos + voice->pcm_len;
  gint64 hole = packet->pos - end;
  gint64 snap = SNAP_MS * voice->rate_hz / 1000;
  gint64 skip = 0;
  gint16 *out;
  guint n;

  if (hole > snap || hole < -snap)
    GST_DEBUG ("ssrc %08x seq %" G_GUINT64_FORMAT
        ": hole of %" G_GINT64_FORMAT " samples", voice->ssrc,
        packet->ext_seq, hole);
  if (hole > snap) {
    /* the next packet tells of one that was lost, not of one that is late */
    gboolean lost = packet->ext_seq != voice->decoded_seq + 1;

    append_concealment (voice, (guint) MIN (hole, G_MAXINT32),
        lost ? rtp : NULL);
    if (hole > PCM_CAPACITY) {
      voice->pcm_pos = packet->pos;
      voice->pcm_len = 0;
    }
  } else if (hole < -snap) {
    skip = -hole;
  }
  if (voice->pcm_len + GST_PARTIAL_MIX_MAX_PACKET_SAMPLES > PCM_CAPACITY)
    return;

  out = voice->pcm + voice->pcm_len;
  n = decode_packet (voice, rtp, out);
  voice->decoded_seq = packet->ext_seq;
  /* of several that are cut, the first is what would have come */
  if ((packet->cut || skip > 0) && voice->n_tail == 0)
    keep_tail (voice, out, n);
  if (packet->cut)
    return;
  skip = MIN (skip, n);
  n -= (guint) skip;
  if (skip > 0)
    memmove (out, out + skip, n * sizeof (gint16));
  if (voice->n_tail > 0)
    fmx_mix_cross_fade (out, voice->tail, MIN (voice->n_tail, n));
  voice->n_tail = 0;
  voice->pcm_len += n;
}

static void
decode_due (GstPartialMixVoice * voice)
{
  GstPartialMixPacket *packet;

  while ((packet = g_queue_pop_head (&voice->due)) != NULL) {
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    if (packet->paused) {
      voice->decoded_seq = packet->ext_seq;
    } else if (packet->silent) {
      /* neither decoded nor concealed; the decoder starts afresh after it */
      voice->decoder_cold = TRUE;
    } else if (prepare_decoder (voice, packet->pos)
        && map_payload (packet->buffer, &rtp)) {
      if (voice->pcm_pos == FMX_POSITION_UNKNOWN) {
        voice->pcm_pos = packet->pos;
        voice->pcm_len = 0;
      }
      append_packet (voice, packet, &rtp);
      gst_rtp_buffer_unmap (&rtp);
    }
    gst_partial_mix_packet_free (packet);
  }
}

/* It fades in elsewhere. */
static void
fade_out (GstPartialMixVoice * voice)
{
  guint n = MIN (voice->rate_hz / FADES_A_SECOND,
      PCM_CAPACITY - voice->pcm_len);
  guint i;

  append_concealment (voice, n, NULL);
  for (i = 0; i < n; i++) {
    guint at = voice->pcm_len - n + i;

    voice->pcm[at] = (gint16) ((gint32) voice->pcm[at] * (gint32) (n - i)
        / (gint32) (n + 1));
  }
  voice->n_tail = 0;
  voice->gone = TRUE;
}

/* What was decoded ends before sample @end, and nothing else is due. */
static void
conceal_end (GstPartialMixVoice * voice, gint64 end)
{
  gint64 missing;

  if (voice->pcm_pos == FMX_POSITION_UNKNOWN || !voice->wanted
      || voice->gone || voice->decoder_cold
      || voice->concealed >= conceal_limit (voice))
    return;
  missing = MIN (end, voice->leaves_at) - (voice->pcm_pos + voice->pcm_len);
  if (missing > 0)
    append_concealment (voice, (guint) missing, NULL);
  if (voice->leaves_at < end && voice->pcm_pos + voice->pcm_len < end)
    fade_out (voice);
}

/* Copies [pos, pos + n) to the frame and drops what lies before its end. */
static void
cut_frame (GstPartialMixVoice * voice, gint64 pos, guint n)
{
  gint64 offset = pos - voice->pcm_pos;
  guint from = 0;
  guint have;

  memset (voice->frame, 0, n * sizeof (gint16));
  if (voice->pcm_pos == FMX_POSITION_UNKNOWN)
    return;
  if (offset < 0) {
    from = (guint) MIN (-offset, n);
    offset = 0;
  }
  if (offset < voice->pcm_len) {
    have = MIN ((guint) (voice->pcm_len - offset), n - from);
    memcpy (voice->frame + from, voice->pcm + offset, have * sizeof (gint16));
  }

  offset = CLAMP (pos + n - voice->pcm_pos, 0, (gint64) voice->pcm_len);
  voice->pcm_len -= (guint) offset;
  memmove (voice->pcm, voice->pcm + offset, voice->pcm_len * sizeof (gint16));
  voice->pcm_pos += offset;
  if (voice->pcm_len == 0 && voice->pcm_pos < pos + n)
    voice->pcm_pos = FMX_POSITION_UNKNOWN;
}

/* What makes it as loud as the others; NULL if nothing is to. */
static FmxVoiceLevel *
prepare_even (GstPartialMixVoice * voice)
{
  gdouble target = -(gdouble) voice->voice_level;
  FmxVoiceLevelParams params;

  if (voice->voice_level == 0)
    return NULL;
  if (voice->even != NULL && voice->even->params.target_dbov == target)
    return voice->even;
  if (voice->even == NULL)
    voice->even = g_new (FmxVoiceLevel, 1);
  fmx_voice_level_params_default (&params);
  params.target_dbov = target;
  fmx_voice_level_init (voice->even, &params);
  return voice->even;
}

void
gst_partial_mix_voice_note_level (GstPartialMixVoice * voice, guint8 level,
    GstClockTime duration)
{
  FmxVoiceLevel *even = prepare_even (voice);

  if (even != NULL)
    fmx_voice_level_on_frame (even, -(gdouble) level, (FmxDuration) duration);
}

gdouble
gst_partial_mix_voice_get_raise (const GstPartialMixVoice * voice)
{
  return voice->voice_level > 0 && voice->even != NULL
      ? fmx_voice_level_gain_db (voice->even) : 0.0;
}

/* Whether the frame is what Opus makes up between words */
static gboolean
is_comfort (const GstPartialMixVoice * voice)
{
  return voice->concealed > samples_of (voice, MAX_CONCEAL_MS);
}

/* Makes it as loud as the others.  Those in a mix that came in are already, if who
 * made it wanted that.  @energy: of the frame as it was decoded */
static void
make_even (GstPartialMixVoice * voice, guint n, guint64 energy)
{
  FmxVoiceLevel *even = prepare_even (voice);
  gdouble from;

  if (even == NULL || voice->names.n > 0)
    return;
  from = fmx_voice_level_gain_db (even);
  if (!is_comfort (voice))
    fmx_voice_level_on_frame (even, fmx_voice_level_of_energy (energy, n),
        (FmxDuration) gst_util_uint64_scale_int (n, GST_SECOND,
            (gint) voice->rate_hz));
  voice->weight *= fmx_voice_level_scale (voice->frame, n, from,
      fmx_voice_level_gain_db (even), MAX_WEIGHT / voice->weight);
}

/* More than full scale does not fit into a frame, but into the sum: a voice that
 * is raised is added several times. */
static void
apply_gain (GstPartialMixVoice * voice, guint n)
{
  gfloat gain = voice->gain;

  voice->weight = fmx_mix_gain_split (&gain);
  fmx_mix_scale (voice->frame, n, gain);
}

/* Nothing came and nothing is left: how a silent stream looks. */
static gboolean
is_idle (GstPartialMixVoice * voice)
{
  return voice->due.length == 0 && voice->hangover == 0
      && voice->pcm_pos == FMX_POSITION_UNKNOWN;
}

/* What is only forwarded needs none of it. */
static void
make_room (GstPartialMixVoice * voice, guint n)
{
  voice->frame = g_new0 (gint16, n);
  voice->pcm = g_new (gint16, PCM_CAPACITY);
  voice->tail = g_new (gint16, SPLICE_MS * voice->rate_hz / 1000);
}

void
gst_partial_mix_voice_render (GstPartialMixVoice * voice, gint64 pos,
    guint n, guint8 silence_level, guint hangover_ticks)
{
  const FmxMixKernels *kernels = fmx_mix_kernels_best ();
  guint64 energy;

  voice->frame_active = voice->frame_comfort = FALSE;
  voice->frame_level = FMX_LEVEL_SILENCE;
  if (is_idle (voice))
    return;
  if (voice->pcm == NULL)
    make_room (voice, n);

  decode_due (voice);
  conceal_end (voice, pos + n);
  cut_frame (voice, pos, n);
  energy = kernels->energy (voice->frame, n);
  apply_gain (voice, n);

  voice->frame_level = fmx_level_from_energy (kernels->energy (voice->frame,
          n) * voice->weight * voice->weight, n);
  voice->frame_comfort = is_comfort (voice)
      && voice->frame_level < silence_level;
  if (is_comfort (voice))
    voice->frame_level = FMX_LEVEL_SILENCE;
  if (voice->frame_level < silence_level)
    voice->hangover = hangover_ticks;
  else if (voice->hangover > 0)
    voice->hangover--;
  voice->frame_active = voice->hangover > 0;
  make_even (voice, n, energy);
}
