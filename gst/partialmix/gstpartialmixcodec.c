/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Payloads to samples and back: libopus' plain API (the multistream API that
 * opusdec and opusenc use asks for the CPU's features in every frame, which is
 * slow in a virtual machine), G.711 from libfairmix, L16, and GStreamer's
 * resampler where the rates differ. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixcodec.h"

#include <string.h>

#include <gst/audio/audio.h>
#include <opus.h>

#include "fairmix/adapt/fmx-adapt-debt.h"
#include "fairmix/mix/fmx-g711.h"
#include "fairmix/mix/fmx-mix-envelope.h"

#define OPUS_RATE 48000
#define OPUS_DTX_BYTES 2
#define OPUS_STEP_MAX (OPUS_RATE / 100)
#define OPUS_MAX_FRAMES 48      /* [RFC6716 3.4] of 2.5 ms, in a packet */
#define OPUS_CELT_TOC (16 << 3) /* [RFC6716 3.1] from here on there is no SILK */
#define OPUS_FLAG_SAMPLES (OPUS_RATE / 50)
#define CONCEAL_FADE_MS 20

static const gchar *const encoding_names[GST_PARTIAL_MIX_N_ENCODINGS] = {
  "OPUS", "PCMU", "PCMA", "L16"
};

const gchar *
gst_partial_mix_encoding_name (GstPartialMixEncoding encoding)
{
  return encoding_names[encoding];
}

/* -------------------------------------------------------------- formats -- */

gboolean
gst_partial_mix_format_from_pt (GstPartialMixFormat * format, guint8 pt)
{
  static const GstPartialMixFormat known[] = {
    {GST_PARTIAL_MIX_ENCODING_PCMU, 8000, 1, 0},
    {GST_PARTIAL_MIX_ENCODING_PCMA, 8000, 1, 8},
    {GST_PARTIAL_MIX_ENCODING_L16, 44100, 2, 10},
    {GST_PARTIAL_MIX_ENCODING_L16, 44100, 1, 11},
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (known); i++) {
    if (known[i].pt == pt) {
      *format = known[i];
      return TRUE;
    }
  }
  return FALSE;
}

gboolean
gst_partial_mix_format_is_equal (const GstPartialMixFormat * a,
    const GstPartialMixFormat * b)
{
  return a->encoding == b->encoding && a->clock_rate == b->clock_rate
      && a->channels == b->channels;
}

gboolean
gst_partial_mix_format_from_structure (GstPartialMixFormat * format,
    const GstStructure * structure)
{
  const gchar *name = gst_structure_get_string (structure, "encoding-name");
  const gchar *params = gst_structure_get_string (structure, "encoding-params");
  gint value;
  guint i;

  if (gst_structure_get_int (structure, "payload", &value)
      && gst_partial_mix_format_from_pt (format, (guint8) value)
      && name == NULL)
    return TRUE;
  if (name == NULL)
    return FALSE;

  for (i = 0; i < GST_PARTIAL_MIX_N_ENCODINGS; i++)
    if (g_ascii_strcasecmp (name, encoding_names[i]) == 0)
      break;
  if (i == GST_PARTIAL_MIX_N_ENCODINGS)
    return FALSE;

  /* what a static payload type says is what the caps need not say */
  if (!gst_structure_get_int (structure, "payload", &value)
      || !gst_partial_mix_format_from_pt (format, (guint8) value)
      || format->encoding != (GstPartialMixEncoding) i) {
    format->clock_rate = i == GST_PARTIAL_MIX_ENCODING_OPUS ? OPUS_RATE : 8000;
    format->channels = 1;
    format->pt = 96;
  }
  format->encoding = (GstPartialMixEncoding) i;
  if (gst_structure_get_int (structure, "clock-rate", &value) && value > 0)
    format->clock_rate = (guint) value;
  if (gst_structure_get_int (structure, "payload", &value))
    format->pt = (guint8) (value & 0x7f);
  if (i == GST_PARTIAL_MIX_ENCODING_L16) {
    if (gst_structure_get_int (structure, "channels", &value) && value > 0)
      format->channels = (guint) value;
    else if (params != NULL)
      format->channels = (guint) g_ascii_strtoull (params, NULL, 10);
  }
  return format->clock_rate >= 4000 && format->clock_rate <= 192000
      && format->channels >= 1 && format->channels <= 8;
}

void
gst_partial_mix_format_for_mix (GstPartialMixFormat * format,
    GstPartialMixEncoding encoding, guint rate, guint8 pt)
{
  format->encoding = encoding;
  format->channels = 1;
  format->pt = pt;
  switch (encoding) {
    case GST_PARTIAL_MIX_ENCODING_OPUS:
      format->clock_rate = OPUS_RATE;
      break;
    case GST_PARTIAL_MIX_ENCODING_L16:
      format->clock_rate = rate;
      break;
    default:
      format->clock_rate = 8000;
      break;
  }
}

GstCaps *
gst_partial_mix_format_to_caps (const GstPartialMixFormat * format)
{
  GstCaps *caps = gst_caps_new_simple ("application/x-rtp",
      "media", G_TYPE_STRING, "audio",
      "payload", G_TYPE_INT, format->pt,
      "clock-rate", G_TYPE_INT, format->clock_rate,
      "encoding-name", G_TYPE_STRING, encoding_names[format->encoding], NULL);

  if (format->encoding == GST_PARTIAL_MIX_ENCODING_L16)
    gst_caps_set_simple (caps, "channels", G_TYPE_INT, format->channels, NULL);
  return caps;
}

guint
gst_partial_mix_format_duration (const GstPartialMixFormat * format,
    const guint8 * payload, gsize size)
{
  gint samples;

  if (size == 0 || size > G_MAXINT32)
    return 0;

  switch (format->encoding) {
    case GST_PARTIAL_MIX_ENCODING_OPUS:
      samples = opus_packet_get_nb_samples (payload, (opus_int32) size,
          OPUS_RATE);
      return samples > 0 ? (guint) samples : 0;
    case GST_PARTIAL_MIX_ENCODING_L16:
      return (guint) (size / (2 * format->channels));
    default:
      return (guint) size;
  }
}

gboolean
gst_partial_mix_format_is_dtx (const GstPartialMixFormat * format, gsize size)
{
  return format->encoding == GST_PARTIAL_MIX_ENCODING_OPUS
      && size <= OPUS_DTX_BYTES;
}

/* [RFC6716 4.2.3] Each frame of SILK begins with a flag for each 20 ms: whether there is
 * voice in them. */
gboolean
gst_partial_mix_format_has_voice (const GstPartialMixFormat * format,
    const guint8 * payload, gsize size)
{
  const guint8 *frames[OPUS_MAX_FRAMES];
  opus_int16 sizes[OPUS_MAX_FRAMES];
  gint n_frames, n_flags, i;
  gboolean voice = FALSE;

  if (format->encoding != GST_PARTIAL_MIX_ENCODING_OPUS || size == 0
      || payload[0] >= OPUS_CELT_TOC)
    return FALSE;
  n_frames = opus_packet_parse (payload, (opus_int32) size, NULL, frames,
      sizes, NULL);
  n_flags = opus_packet_get_samples_per_frame (payload, OPUS_RATE)
      / OPUS_FLAG_SAMPLES;
  for (i = 0; i < n_frames; i++)
    voice |= sizes[i] > 0 && frames[i][0] >> (8 - MAX (1, n_flags)) != 0;
  return voice;
}

/* ------------------------------------------------------------ resampler -- */

static GstAudioResampler *
resampler_new (guint from_hz, guint to_hz)
{
  GstStructure *options = gst_structure_new_empty ("options");
  GstAudioResampler *resampler;

  gst_audio_resampler_options_set_quality (GST_AUDIO_RESAMPLER_METHOD_KAISER,
      GST_AUDIO_RESAMPLER_QUALITY_DEFAULT, from_hz, to_hz, options);
  resampler = gst_audio_resampler_new (GST_AUDIO_RESAMPLER_METHOD_KAISER,
      GST_AUDIO_RESAMPLER_FLAG_NONE, GST_AUDIO_FORMAT_S16, 1, from_hz, to_hz,
      options);
  gst_structure_free (options);
  return resampler;
}

/* Returns: samples written; of what would be more than @max_out nothing is kept */
static guint
resampler_run (GstAudioResampler * resampler, const gint16 * in, guint n_in,
    gint16 * out, guint max_out)
{
  gsize n_fit = gst_audio_resampler_get_in_frames (resampler, max_out);
  gpointer in_planes[1] = { (gpointer) in };
  gpointer out_planes[1] = { out };
  gsize n_out;

  n_in = (guint) MIN (n_in, n_fit);
  n_out = MIN (gst_audio_resampler_get_out_frames (resampler, n_in), max_out);
  gst_audio_resampler_resample (resampler, in != NULL ? in_planes : NULL, n_in,
      out_planes, n_out);
  return (guint) n_out;
}

/* -------------------------------------------------------------- decoder -- */

struct _GstPartialMixDecoder
{
  GstPartialMixFormat format;
  guint rate_hz;
  OpusDecoder *opus;
  GstAudioResampler *resampler; /* where the format's rate is another */

  gint16 last[960];             /* to conceal from, without Opus */
  guint n_last;
  gfloat conceal_gain;

  gint16 over[OPUS_STEP_MAX];   /* what Opus made up beyond what was asked */
  guint n_over;
};

gboolean
gst_partial_mix_encoding_takes_rate (GstPartialMixEncoding encoding,
    guint rate_hz)
{
  return encoding != GST_PARTIAL_MIX_ENCODING_OPUS || rate_hz == 8000
      || rate_hz == 12000 || rate_hz == 16000 || rate_hz == 24000
      || rate_hz == 48000;
}

GstClockTime
gst_partial_mix_frame_duration (GstClockTime at_most)
{
  static const GstClockTime all[] = { 60 * GST_MSECOND, 40 * GST_MSECOND,
    20 * GST_MSECOND
  };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (at_most >= all[i])
      return all[i];
  return 10 * GST_MSECOND;
}

GstPartialMixDecoder *
gst_partial_mix_decoder_new (const GstPartialMixFormat * format, guint rate_hz,
    gint complexity)
{
  GstPartialMixDecoder *decoder;
  OpusDecoder *opus = NULL;

  if (!gst_partial_mix_encoding_takes_rate (format->encoding, rate_hz))
    return NULL;
  if (format->encoding == GST_PARTIAL_MIX_ENCODING_OPUS) {
    opus = opus_decoder_create ((opus_int32) rate_hz, 1, NULL);
    if (opus == NULL)
      return NULL;
    /* decoders of older ones do not know it, and say so */
    (void) opus_decoder_ctl (opus, OPUS_SET_COMPLEXITY (complexity));
  }

  decoder = g_new0 (GstPartialMixDecoder, 1);
  decoder->format = *format;
  decoder->rate_hz = rate_hz;
  decoder->opus = opus;
  decoder->conceal_gain = 1.0f;
  if (opus == NULL && format->clock_rate != rate_hz)
    decoder->resampler = resampler_new (format->clock_rate, rate_hz);
  return decoder;
}

void
gst_partial_mix_decoder_free (GstPartialMixDecoder * decoder)
{
  if (decoder->opus != NULL)
    opus_decoder_destroy (decoder->opus);
  if (decoder->resampler != NULL)
    gst_audio_resampler_free (decoder->resampler);
  g_free (decoder);
}

void
gst_partial_mix_decoder_reset (GstPartialMixDecoder * decoder)
{
  if (decoder->opus != NULL)
    opus_decoder_ctl (decoder->opus, OPUS_RESET_STATE);
  if (decoder->resampler != NULL)
    gst_audio_resampler_reset (decoder->resampler);
  decoder->n_last = 0;
  decoder->n_over = 0;
  decoder->conceal_gain = 1.0f;
}

guint
gst_partial_mix_decoder_lookahead (GstPartialMixDecoder * decoder)
{
  if (decoder->resampler == NULL)
    return 0;
  return (guint) gst_util_uint64_scale_int_ceil
      (gst_audio_resampler_get_max_latency (decoder->resampler),
      (gint) decoder->rate_hz, (gint) decoder->format.clock_rate);
}

static guint
decode_l16 (GstPartialMixDecoder * decoder, const guint8 * payload, gsize size,
    gint16 * out)
{
  guint channels = decoder->format.channels;
  guint n = MIN ((guint) (size / (2 * channels)),
      GST_PARTIAL_MIX_MAX_PACKET_SAMPLES);
  guint i, c;

  for (i = 0; i < n; i++) {
    gint32 sum = 0;

    for (c = 0; c < channels; c++, payload += 2)
      sum += (gint16) GST_READ_UINT16_BE (payload);
    out[i] = (gint16) (sum / (gint32) channels);
  }
  return n;
}

static guint
decode_linear (GstPartialMixDecoder * decoder, const guint8 * payload,
    gsize size, gint16 * out)
{
  guint n = (guint) MIN (size, GST_PARTIAL_MIX_MAX_PACKET_SAMPLES);

  switch (decoder->format.encoding) {
    case GST_PARTIAL_MIX_ENCODING_PCMU:
      fmx_g711_ulaw_decode (out, payload, n);
      return n;
    case GST_PARTIAL_MIX_ENCODING_PCMA:
      fmx_g711_alaw_decode (out, payload, n);
      return n;
    default:
      return decode_l16 (decoder, payload, size, out);
  }
}

static void
remember (GstPartialMixDecoder * decoder, const gint16 * samples, guint n)
{
  guint keep = MIN (n, MIN (G_N_ELEMENTS (decoder->last),
          decoder->rate_hz / 50));

  memcpy (decoder->last, samples + n - keep, keep * sizeof *samples);
  decoder->n_last = keep;
  decoder->conceal_gain = 1.0f;
}

guint
gst_partial_mix_decoder_decode (GstPartialMixDecoder * decoder,
    const guint8 * payload, gsize size, gint16 * out)
{
  gint16 linear[GST_PARTIAL_MIX_MAX_PACKET_SAMPLES];
  guint n;

  if (decoder->opus != NULL) {
    gint ret = opus_decode (decoder->opus, payload, (opus_int32) size, out,
        GST_PARTIAL_MIX_MAX_PACKET_SAMPLES, 0);

    decoder->n_over = 0;
    return ret > 0 ? (guint) ret : 0;
  }

  if (decoder->resampler == NULL) {
    n = decode_linear (decoder, payload, size, out);
  } else {
    n = decode_linear (decoder, payload, size, linear);
    n = resampler_run (decoder->resampler, linear, n, out,
        GST_PARTIAL_MIX_MAX_PACKET_SAMPLES);
  }
  if (n > 0)
    remember (decoder, out, n);
  return n;
}

/* libopus makes up whole multiples of 10 ms (SILK goes on by as much, whatever is
 * asked): what is too much comes first the next time, or goes over into what
 * follows. */
static void
make_up_opus (GstPartialMixDecoder * decoder, gint16 * out, guint n_samples)
{
  guint step = decoder->rate_hz / 100;
  guint from_over = MIN (decoder->n_over, n_samples);
  gint16 made[OPUS_STEP_MAX];
  guint whole;

  memcpy (out, decoder->over, from_over * sizeof *out);
  decoder->n_over -= from_over;
  memmove (decoder->over, decoder->over + from_over,
      decoder->n_over * sizeof *out);
  out += from_over;
  n_samples -= from_over;

  whole = n_samples / step * step;
  if (whole > 0 && opus_decode (decoder->opus, NULL, 0, out, (gint) whole,
          0) < 0)
    memset (out, 0, whole * sizeof *out);
  out += whole;
  n_samples -= whole;
  if (n_samples == 0)
    return;
  if (opus_decode (decoder->opus, NULL, 0, made, (gint) step, 0) < 0)
    memset (made, 0, sizeof made);
  memcpy (out, made, n_samples * sizeof *out);
  decoder->n_over = step - n_samples;
  memcpy (decoder->over, made + n_samples, decoder->n_over * sizeof *out);
}

static void
conceal_opus (GstPartialMixDecoder * decoder, const guint8 * next,
    gsize next_size, gint16 * out, guint n_samples)
{
  guint fec = 0;

  if (next != NULL) {
    gint len = opus_packet_get_samples_per_frame (next,
        (opus_int32) decoder->rate_hz);

    if (len > 0 && (guint) len <= n_samples)
      fec = (guint) len;
  }

  if (n_samples > fec)
    make_up_opus (decoder, out, n_samples - fec);
  if (fec == 0)
    return;
  out += n_samples - fec;
  if (opus_decode (decoder->opus, next, (opus_int32) next_size, out,
          (gint) fec, 1) < 0)
    memset (out, 0, fec * sizeof *out);
  fmx_mix_cross_fade (out, decoder->over, decoder->n_over);
  decoder->n_over = 0;
}

/* the last 20 ms again and again, fading */
static void
conceal_linear (GstPartialMixDecoder * decoder, gint16 * out, guint n_samples)
{
  gfloat step = 1000.0f / (gfloat) (CONCEAL_FADE_MS * decoder->rate_hz);
  guint i;

  for (i = 0; i < n_samples; i++) {
    if (decoder->n_last == 0 || decoder->conceal_gain <= 0.0f) {
      out[i] = 0;
      continue;
    }
    out[i] = (gint16) (decoder->last[i % decoder->n_last]
        * decoder->conceal_gain);
    decoder->conceal_gain -= step;
  }
}

void
gst_partial_mix_decoder_conceal (GstPartialMixDecoder * decoder,
    const guint8 * next, gsize next_size, gint16 * out, guint n_samples)
{
  if (decoder->opus != NULL)
    conceal_opus (decoder, next, next_size, out, n_samples);
  else
    conceal_linear (decoder, out, n_samples);
}

guint
gst_partial_mix_decoder_go_on (GstPartialMixDecoder * decoder, gint16 * out,
    guint n_samples)
{
  if (decoder->opus == NULL) {
    conceal_linear (decoder, out, n_samples);
    return n_samples;
  }
  n_samples = MIN (n_samples, decoder->n_over);
  memcpy (out, decoder->over, n_samples * sizeof *out);
  return n_samples;
}

/* -------------------------------------------------------------- encoder -- */

#define ENCODER_HISTORY 960
/* [RFC7587 3.1.1] wideband is for 16 to 20 kbit/s.  Left alone libopus spends on what is
 * above 8 kHz down to 14 kbit/s, and after a fall for half a second more. */
#define WIDEBAND_BPS 20000

struct _GstPartialMixEncoder
{
  GstPartialMixFormat format;
  guint rate_hz;
  gint complexity;
  gboolean music;
  guint bitrate_bps;            /* of Opus, 0 = not set */
  guint loss_percent;           /* that Opus provides for */
  guint told_bps;               /* less while it has sent too much, more as it falls */
  FmxAdaptDebt debt;
  OpusEncoder *opus;
  GstAudioResampler *resampler;
  guint lookahead;
  gint16 history[ENCODER_HISTORY];      /* to prime the resampler of a copy */
};

static gint
opus_lookahead (OpusEncoder * opus)
{
  opus_int32 lookahead = 0;

  opus_encoder_ctl (opus, OPUS_GET_LOOKAHEAD (&lookahead));
  return lookahead;
}

/* After this, n samples in give exactly n * to / from samples out. */
static void
encoder_prime (GstPartialMixEncoder * encoder, const gint16 * history)
{
  gint16 scratch[ENCODER_HISTORY];
  gint16 zeros[ENCODER_HISTORY] = { 0 };

  resampler_run (encoder->resampler, zeros, encoder->lookahead, scratch,
      ENCODER_HISTORY);
  resampler_run (encoder->resampler, history, ENCODER_HISTORY, scratch,
      ENCODER_HISTORY);
}

static gboolean
encoder_setup (GstPartialMixEncoder * encoder)
{
  const gint16 silence[ENCODER_HISTORY] = { 0 };

  if (!gst_partial_mix_encoding_takes_rate (encoder->format.encoding,
          encoder->rate_hz))
    return FALSE;
  if (encoder->format.encoding == GST_PARTIAL_MIX_ENCODING_OPUS) {
    encoder->opus = opus_encoder_create ((opus_int32) encoder->rate_hz, 1,
        OPUS_APPLICATION_AUDIO, NULL);
    if (encoder->opus == NULL)
      return FALSE;
    opus_encoder_ctl (encoder->opus, OPUS_SET_COMPLEXITY (encoder->complexity));
    /* Left alone libopus codes a mix of more than some 20 kbit/s as music. */
    opus_encoder_ctl (encoder->opus, OPUS_SET_SIGNAL (encoder->music
            ? OPUS_SIGNAL_MUSIC : OPUS_SIGNAL_VOICE));
    encoder->lookahead = (guint) opus_lookahead (encoder->opus);
  } else if (encoder->format.clock_rate != encoder->rate_hz) {
    encoder->resampler = resampler_new (encoder->rate_hz,
        encoder->format.clock_rate);
    encoder->lookahead = (guint) MIN (ENCODER_HISTORY,
        gst_audio_resampler_get_max_latency (encoder->resampler));
    encoder_prime (encoder, silence);
  }
  return TRUE;
}

GstPartialMixEncoder *
gst_partial_mix_encoder_new (const GstPartialMixFormat * format, guint rate_hz,
    gint complexity, gboolean music)
{
  GstPartialMixEncoder *encoder = g_new0 (GstPartialMixEncoder, 1);

  encoder->format = *format;
  encoder->rate_hz = rate_hz;
  encoder->complexity = complexity;
  encoder->music = music;
  if (!encoder_setup (encoder)) {
    g_free (encoder);
    return NULL;
  }
  return encoder;
}

GstPartialMixEncoder *
gst_partial_mix_encoder_copy (GstPartialMixEncoder * encoder)
{
  GstPartialMixEncoder *copy = g_new (GstPartialMixEncoder, 1);

  *copy = *encoder;
  if (encoder->opus != NULL) {
    /* libopus: the state is one block that may be copied */
    gsize size = (gsize) opus_encoder_get_size (1);

    copy->opus = opus_encoder_create ((opus_int32) encoder->rate_hz, 1,
        OPUS_APPLICATION_AUDIO, NULL);
    memcpy (copy->opus, encoder->opus, size);
  }
  if (encoder->resampler != NULL) {
    copy->resampler = resampler_new (encoder->rate_hz,
        encoder->format.clock_rate);
    encoder_prime (copy, encoder->history);
  }
  return copy;
}

void
gst_partial_mix_encoder_free (GstPartialMixEncoder * encoder)
{
  if (encoder->opus != NULL)
    opus_encoder_destroy (encoder->opus);
  if (encoder->resampler != NULL)
    gst_audio_resampler_free (encoder->resampler);
  g_free (encoder);
}

static void
tell_bitrate (GstPartialMixEncoder * encoder, guint bitrate_bps)
{
  if (bitrate_bps != encoder->told_bps)
    opus_encoder_ctl (encoder->opus,
        OPUS_SET_BITRATE ((opus_int32) bitrate_bps));
  encoder->told_bps = bitrate_bps;
}

void
gst_partial_mix_encoder_set_bitrate (GstPartialMixEncoder * encoder,
    guint bitrate_bps)
{
  if (encoder->opus == NULL || encoder->bitrate_bps == bitrate_bps)
    return;
  encoder->bitrate_bps = bitrate_bps;
  tell_bitrate (encoder, fmx_adapt_debt_set_bitrate (&encoder->debt,
          bitrate_bps));
  opus_encoder_ctl (encoder->opus, OPUS_SET_MAX_BANDWIDTH
      (bitrate_bps < WIDEBAND_BPS ? OPUS_BANDWIDTH_WIDEBAND :
          OPUS_BANDWIDTH_FULLBAND));
}

void
gst_partial_mix_encoder_set_loss (GstPartialMixEncoder * encoder, guint percent)
{
  if (encoder->opus == NULL || encoder->loss_percent == percent)
    return;
  encoder->loss_percent = percent;
  /* music has no FEC: where there is much loss libopus would code it as speech for that */
  opus_encoder_ctl (encoder->opus, OPUS_SET_INBAND_FEC (percent > 0
          && !encoder->music));
  opus_encoder_ctl (encoder->opus,
      OPUS_SET_PACKET_LOSS_PERC ((opus_int32) percent));
}

guint
gst_partial_mix_encoder_lookahead (GstPartialMixEncoder * encoder)
{
  return encoder->lookahead;
}

static gsize
encode_linear (GstPartialMixEncoder * encoder, const gint16 * in, guint n,
    guint8 * out, gsize max_size)
{
  guint i;

  switch (encoder->format.encoding) {
    case GST_PARTIAL_MIX_ENCODING_PCMU:
      n = (guint) MIN (n, max_size);
      fmx_g711_ulaw_encode (out, in, n);
      return n;
    case GST_PARTIAL_MIX_ENCODING_PCMA:
      n = (guint) MIN (n, max_size);
      fmx_g711_alaw_encode (out, in, n);
      return n;
    default:
      n = (guint) MIN (n, max_size / 2);
      for (i = 0; i < n; i++)
        GST_WRITE_UINT16_BE (out + 2 * i, (guint16) in[i]);
      return 2 * n;
  }
}

static void
repay (GstPartialMixEncoder * encoder, gsize size, guint n_samples)
{
  tell_bitrate (encoder, fmx_adapt_debt_on_packet (&encoder->debt,
          (guint32) size, (FmxDuration) gst_util_uint64_scale_int (n_samples,
              GST_SECOND, (gint) encoder->rate_hz)));
}

/* A frame may be shorter, or longer. */
static void
keep_history (GstPartialMixEncoder * encoder, const gint16 * in, guint n)
{
  guint n_new = MIN (n, ENCODER_HISTORY);
  guint n_old = ENCODER_HISTORY - n_new;

  memmove (encoder->history, encoder->history + n_new, n_old * sizeof *in);
  memcpy (encoder->history + n_old, in + n - n_new, n_new * sizeof *in);
}

gsize
gst_partial_mix_encoder_encode (GstPartialMixEncoder * encoder,
    const gint16 * in, guint n_samples, guint8 * out, gsize max_size)
{
  gint16 resampled[GST_PARTIAL_MIX_MAX_PACKET_SAMPLES];

  if (encoder->opus != NULL) {
    opus_int32 ret = opus_encode (encoder->opus, in, (gint) n_samples, out,
        (opus_int32) max_size);

    if (ret <= 0)
      return 0;
    repay (encoder, (gsize) ret, n_samples);
    return (gsize) ret;
  }

  if (encoder->resampler == NULL)
    return encode_linear (encoder, in, n_samples, out, max_size);

  keep_history (encoder, in, n_samples);
  n_samples = resampler_run (encoder->resampler, in, n_samples, resampled,
      GST_PARTIAL_MIX_MAX_PACKET_SAMPLES);
  return encode_linear (encoder, resampled, n_samples, out, max_size);
}
