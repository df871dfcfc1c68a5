/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The element's properties, but for those that name something outside it. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixsettings.h"

#include "gstpartialmixcodec.h"
#include "common/gstfairmixfields.h"

#define DEFAULT_RATE 48000
#define DEFAULT_FRAME_DURATION (20 * GST_MSECOND)
#define DEFAULT_LATENCY (20 * GST_MSECOND)
#define DEFAULT_RAMP_DURATION (2500 * GST_USECOND)
#define DEFAULT_STREAM_TIMEOUT (30 * GST_SECOND)
#define DEFAULT_MAX_STREAMS 1024
#define DEFAULT_MIX_PT 128
#define DEFAULT_MAX_MIX_BITRATE 32000
#define DEFAULT_MIN_MIX_BITRATE 12000
#define DEFAULT_COMPLEXITY 5
#define DEFAULT_DECODER_COMPLEXITY 5
#define DEFAULT_SILENCE_LEVEL 80
#define DEFAULT_CSRC_LEVEL_EXT_ID 2
#define DEFAULT_VOICE_LEVEL 0
#define DEFAULT_HEADROOM 0.05
#define DEFAULT_PUSH_TIMEOUT (20 * GST_MSECOND)

/* the end of the blurb of what is not for PLAYING */
#define LATCHED "; what is set while it runs waits for the next start " \
    "(READY to PAUSED)"

enum
{
  PROP_0,
  PROP_RATE,
  PROP_FRAME_DURATION,
  PROP_LATENCY,
  PROP_RAMP_DURATION,
  PROP_STREAM_TIMEOUT,
  PROP_MAX_STREAMS,
  PROP_MIX_ENCODING,
  PROP_MIX_PT,
  PROP_MAX_MIX_BITRATE,
  PROP_MIN_MIX_BITRATE,
  PROP_COMPLEXITY,
  PROP_SILENCE_LEVEL,
  PROP_CSRC_LEVEL_EXT_ID,
  PROP_HEADROOM,
  PROP_THREADS,
  PROP_PUSH_TIMEOUT,
  PROP_VOICE_LEVEL,
  PROP_DECODER_COMPLEXITY,
  PROP_ALIGN,
  PROP_MIX_MUSIC
};

G_STATIC_ASSERT (PROP_MIX_MUSIC < GST_PARTIAL_MIX_N_SETTINGS);

#define GST_TYPE_PARTIAL_MIX_ENCODING (gst_partial_mix_encoding_get_type ())
static GType
gst_partial_mix_encoding_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {-1, "Opus where the neighbour takes it; else what the streams come in, "
          "where the neighbour takes it and the target carries it", "auto"},
    {GST_PARTIAL_MIX_ENCODING_OPUS, "Opus (RFC 7587)", "opus"},
    {GST_PARTIAL_MIX_ENCODING_PCMU, "G.711 mu-law (RFC 3551)", "pcmu"},
    {GST_PARTIAL_MIX_ENCODING_PCMA, "G.711 A-law (RFC 3551)", "pcma"},
    {GST_PARTIAL_MIX_ENCODING_L16, "16-bit linear (RFC 3551)", "l16"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type)) {
    GType t = g_enum_register_static ("GstPartialMixEncoding", values);

    g_once_init_leave (&type, t);
  }
  return (GType) type;
}

void
gst_partial_mix_settings_init (GstPartialMixSettings * settings)
{
  *settings = (GstPartialMixSettings) {
  .rate_hz = DEFAULT_RATE,.frame_duration = DEFAULT_FRAME_DURATION,.latency =
        DEFAULT_LATENCY,.ramp_duration =
        DEFAULT_RAMP_DURATION,.stream_timeout =
        DEFAULT_STREAM_TIMEOUT,.max_streams =
        DEFAULT_MAX_STREAMS,.mix_encoding = -1,.mix_pt =
        DEFAULT_MIX_PT,.max_mix_bitrate =
        DEFAULT_MAX_MIX_BITRATE,.min_mix_bitrate =
        DEFAULT_MIN_MIX_BITRATE,.complexity =
        DEFAULT_COMPLEXITY,.decoder_complexity =
        DEFAULT_DECODER_COMPLEXITY,.silence_level =
        DEFAULT_SILENCE_LEVEL,.csrc_level_ext_id =
        DEFAULT_CSRC_LEVEL_EXT_ID,.headroom = DEFAULT_HEADROOM,.push_timeout =
        DEFAULT_PUSH_TIMEOUT,};
}

static const GstFairmixField fields[] = {
  GST_FAIRMIX_FIELD (PROP_RATE, GstPartialMixSettings, rate_hz),
  GST_FAIRMIX_FIELD (PROP_FRAME_DURATION, GstPartialMixSettings,
      frame_duration),
  GST_FAIRMIX_FIELD (PROP_LATENCY, GstPartialMixSettings, latency),
  GST_FAIRMIX_FIELD (PROP_RAMP_DURATION, GstPartialMixSettings, ramp_duration),
  GST_FAIRMIX_FIELD (PROP_STREAM_TIMEOUT, GstPartialMixSettings,
      stream_timeout),
  GST_FAIRMIX_FIELD (PROP_MAX_STREAMS, GstPartialMixSettings, max_streams),
  GST_FAIRMIX_FIELD (PROP_MIX_ENCODING, GstPartialMixSettings, mix_encoding),
  GST_FAIRMIX_FIELD (PROP_MIX_PT, GstPartialMixSettings, mix_pt),
  GST_FAIRMIX_FIELD (PROP_MAX_MIX_BITRATE, GstPartialMixSettings,
      max_mix_bitrate),
  GST_FAIRMIX_FIELD (PROP_MIN_MIX_BITRATE, GstPartialMixSettings,
      min_mix_bitrate),
  GST_FAIRMIX_FIELD (PROP_COMPLEXITY, GstPartialMixSettings, complexity),
  GST_FAIRMIX_FIELD (PROP_SILENCE_LEVEL, GstPartialMixSettings, silence_level),
  GST_FAIRMIX_FIELD (PROP_CSRC_LEVEL_EXT_ID, GstPartialMixSettings,
      csrc_level_ext_id),
  GST_FAIRMIX_FIELD (PROP_ALIGN, GstPartialMixSettings, align),
  GST_FAIRMIX_FIELD (PROP_MIX_MUSIC, GstPartialMixSettings, mix_music),
  GST_FAIRMIX_FIELD (PROP_HEADROOM, GstPartialMixSettings, headroom),
  GST_FAIRMIX_FIELD (PROP_THREADS, GstPartialMixSettings, n_threads),
  GST_FAIRMIX_FIELD (PROP_PUSH_TIMEOUT, GstPartialMixSettings, push_timeout),
  GST_FAIRMIX_FIELD (PROP_VOICE_LEVEL, GstPartialMixSettings, voice_level),
  GST_FAIRMIX_FIELD (PROP_DECODER_COMPLEXITY, GstPartialMixSettings,
      decoder_complexity),
};

gboolean
gst_partial_mix_settings_set (GstPartialMixSettings * settings, guint id,
    const GValue * value)
{
  gboolean known = gst_fairmix_fields_set (fields, G_N_ELEMENTS (fields),
      settings, id, value);

  /* nothing else: other threads read it while what may change is set */
  if (id == PROP_FRAME_DURATION)
    settings->frame_duration =
        gst_partial_mix_frame_duration (settings->frame_duration);
  return known;
}

gboolean
gst_partial_mix_settings_get (const GstPartialMixSettings * settings, guint id,
    GValue * value)
{
  return gst_fairmix_fields_get (fields, G_N_ELEMENTS (fields), settings, id,
      value);
}

#define RW (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS)
#define RW_READY (RW | GST_PARAM_MUTABLE_READY)
#define RW_PLAYING (RW | GST_PARAM_MUTABLE_PLAYING)

static void
install_time_properties (GObjectClass * klass)
{
  g_object_class_install_property (klass, PROP_RATE,
      g_param_spec_int ("rate", "Rate",
          "Sample rate of the mixing, in Hz: 8000, 12000, 16000, 24000 or "
          "48000 where Opus comes in or goes out; 8000 is cheapest for G.711"
          LATCHED, 8000, 48000, DEFAULT_RATE, RW_READY));
  g_object_class_install_property (klass, PROP_FRAME_DURATION,
      g_param_spec_uint64 ("frame-duration", "Frame duration",
          "How much audio a packet of a mix holds, in nanoseconds "
          "(10, 20, 40 or 60 ms; what is between is cut)" LATCHED,
          10 * GST_MSECOND, 60 * GST_MSECOND, DEFAULT_FRAME_DURATION,
          RW_READY));
  g_object_class_install_property (klass, PROP_LATENCY,
      g_param_spec_uint64 ("latency", "Latency",
          "How long a packet that is to be mixed may be late before the playout "
          "delay of its stream grows, in nanoseconds; forwarded packets never "
          "wait" LATCHED, 0, GST_SECOND, DEFAULT_LATENCY, RW_READY));
  g_object_class_install_property (klass, PROP_RAMP_DURATION,
      g_param_spec_uint64 ("ramp-duration", "Ramp duration",
          "In how much time a stream fades into and out of a mix, in "
          "nanoseconds; 0 splices sample to sample" LATCHED, 0,
          10 * GST_MSECOND, DEFAULT_RAMP_DURATION, RW_READY));
  g_object_class_install_property (klass, PROP_STREAM_TIMEOUT,
      g_param_spec_uint64 ("stream-timeout", "Stream timeout",
          "A stream of which nothing came for so long has left, in nanoseconds "
          "(0 = never)", 0, G_MAXUINT64, DEFAULT_STREAM_TIMEOUT, RW_PLAYING));
  g_object_class_install_property (klass, PROP_MAX_STREAMS,
      g_param_spec_uint ("max-streams", "Maximum streams",
          "How many streams (SSRCs) may be there at a time; packets of further "
          "ones are refused, so that a flood of SSRCs finds bounded memory", 1,
          65535, DEFAULT_MAX_STREAMS, RW_PLAYING));
  g_object_class_install_property (klass, PROP_THREADS,
      g_param_spec_uint ("threads", "Threads",
          "Threads that decode and encode (0 = one for each processor)" LATCHED,
          0, 256, 0, RW_READY));
  g_object_class_install_property (klass, PROP_PUSH_TIMEOUT,
      g_param_spec_uint64 ("push-timeout", "Push timeout",
          "How long what is behind a src pad may hold up the others, in "
          "nanoseconds, until it gets a thread and a queue of its own; with "
          "18446744073709551615 no thread stands between, and whoever blocks "
          "blocks everybody" LATCHED, GST_MSECOND,
          G_MAXUINT64, DEFAULT_PUSH_TIMEOUT, RW_READY));
}

static void
install_mix_properties (GObjectClass * klass)
{
  g_object_class_install_property (klass, PROP_MIX_ENCODING,
      g_param_spec_enum ("mix-encoding", "Mix encoding",
          "What mixes are sent as, where the neighbour takes it and its target "
          "carries it; else Opus, or what the neighbour takes" LATCHED,
          GST_TYPE_PARTIAL_MIX_ENCODING, -1, RW_READY));
  g_object_class_install_property (klass, PROP_MIX_PT,
      g_param_spec_uint ("mix-pt", "Mix payload type",
          "RTP payload type of mixes (128 = that of the streams of the same "
          "encoding, else the first from 96 on that no stream has)" LATCHED, 0,
          128, DEFAULT_MIX_PT, RW_READY));
  g_object_class_install_property (klass, PROP_MAX_MIX_BITRATE,
      g_param_spec_uint ("max-mix-bitrate", "Maximum mix bitrate",
          "Bitrate of the encoder of a mix where the target leaves room, in "
          "bits per second, without headers (Opus only)", 6000, 510000,
          DEFAULT_MAX_MIX_BITRATE, RW_PLAYING));
  g_object_class_install_property (klass, PROP_MIN_MIX_BITRATE,
      g_param_spec_uint ("min-mix-bitrate", "Minimum mix bitrate",
          "Bitrate of the encoder of a mix where the target leaves no room, in "
          "bits per second, without headers (Opus only)", 6000, 510000,
          DEFAULT_MIN_MIX_BITRATE, RW_PLAYING));
  g_object_class_install_property (klass, PROP_COMPLEXITY,
      g_param_spec_int ("complexity", "Complexity",
          "Complexity of the Opus encoder: 0 cheap ... 10 best" LATCHED, 0, 10,
          DEFAULT_COMPLEXITY, RW_READY));
  g_object_class_install_property (klass, PROP_MIX_MUSIC,
      g_param_spec_boolean ("mix-music", "Mix music",
          "Code mixes of Opus below 64 kbit/s as music, not as speech: voices "
          "sound worse, other sounds better, for less than half of the work, "
          "and without in-band FEC" LATCHED, FALSE, RW_READY));
  g_object_class_install_property (klass, PROP_DECODER_COMPLEXITY,
      g_param_spec_int ("decoder-complexity", "Decoder complexity",
          "Complexity of the Opus decoders, where libopus is 1.5 or newer: from 5 "
          "on what is lost is concealed by a neural network" LATCHED, 0, 10,
          DEFAULT_DECODER_COMPLEXITY, RW_READY));
  g_object_class_install_property (klass, PROP_SILENCE_LEVEL,
      g_param_spec_uint ("silence-level", "Silence level",
          "From this level on a stream is silent: neither mixed nor encoded, nor "
          "decoded when its packets tell their level (RFC 6464); in -dBov, 0 "
          "loudest ... 127 digital silence", 1, 127, DEFAULT_SILENCE_LEVEL,
          RW_PLAYING));
  g_object_class_install_property (klass, PROP_VOICE_LEVEL,
      g_param_spec_uint ("voice-level", "Voice level",
          "Level that each talker's speech is brought to, slowly, in mixes and "
          "for a renderer, in -dBov; 26 is usual, 0 = as loud as it comes"
          LATCHED, 0, 60, DEFAULT_VOICE_LEVEL, RW_READY));
  g_object_class_install_property (klass, PROP_CSRC_LEVEL_EXT_ID,
      g_param_spec_uint ("csrc-audio-level-id", "CSRC audio level id",
          "ID of the header extension with the contributors' levels (RFC 6465) "
          "in mixes (0 = none)" LATCHED, 0, 14, DEFAULT_CSRC_LEVEL_EXT_ID,
          RW_READY));
  g_object_class_install_property (klass, PROP_ALIGN,
      g_param_spec_boolean ("align", "Align",
          "A stream that may go into a mix is played as late as in that, where "
          "the mixes that come in tell (RTP header extension contributor-time)",
          FALSE, RW_PLAYING));
  g_object_class_install_property (klass, PROP_HEADROOM,
      g_param_spec_double ("headroom", "Headroom",
          "Share of the target that must stay free for one more stream to "
          "become separate, so that the selection does not flap", 0.0, 0.9,
          DEFAULT_HEADROOM, RW_PLAYING));
}

void
gst_partial_mix_settings_install (GObjectClass * klass)
{
  install_time_properties (klass);
  install_mix_properties (klass);
  gst_type_mark_as_plugin_api (GST_TYPE_PARTIAL_MIX_ENCODING, 0);
}
