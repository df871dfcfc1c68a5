/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Payloads to samples and back (gst/partialmix/gstpartialmixcodec.h) */
#include "../gstfairmixcheck.h"

#include <math.h>
#include <opus.h>
#include <string.h>

#include "fairmix/mix/fmx-g711.h"
#include "partialmix/gstpartialmixcodec.h"

#define RATE 48000
#define N 960
#define LOST 25
#define N_FRAMES 30

static const GstPartialMixFormat opus = {
  GST_PARTIAL_MIX_ENCODING_OPUS, RATE, 1, 96
};

/* The @i-th frame of a voice that hums */
static void
hum (guint i, gint16 * samples)
{
  guint k, h;

  for (k = 0; k < N; k++) {
    gdouble sum = 0.0;

    for (h = 1; h <= 10; h++)
      sum += sin (2.0 * G_PI * 150.0 * h * (i * N + k) / RATE + h * h) / h;
    samples[k] = (gint16) (4000.0 * sum);
  }
}

/* What a decoder of @complexity makes up for a frame of a voice that is lost */
static void
make_up (gint complexity, gint16 * heard)
{
  GstPartialMixEncoder *encoder = gst_partial_mix_encoder_new (&opus, RATE, 5,
      FALSE);
  GstPartialMixDecoder *decoder = gst_partial_mix_decoder_new (&opus, RATE,
      complexity);
  gint16 samples[N], decoded[GST_PARTIAL_MIX_MAX_PACKET_SAMPLES];
  guint8 packet[1500];
  guint i;

  fail_unless (encoder != NULL && decoder != NULL);
  gst_partial_mix_encoder_set_bitrate (encoder, 16000);
  for (i = 0; i < N_FRAMES; i++) {
    gsize size;

    hum (i, samples);
    size = gst_partial_mix_encoder_encode (encoder, samples, N, packet,
        sizeof packet);
    if (i == LOST)
      gst_partial_mix_decoder_conceal (decoder, NULL, 0, heard, N);
    else
      fail_unless_equals_int (gst_partial_mix_decoder_decode (decoder, packet,
              size, decoded), N);
  }
  gst_partial_mix_decoder_free (decoder);
  gst_partial_mix_encoder_free (encoder);
}

/* Before libopus 1.5 it changes nothing, and is no error. */
GST_START_TEST (test_a_voice_is_made_up_at_any_complexity)
{
  const gint complexities[] = { 0, 5, 10 };
  gint16 heard[G_N_ELEMENTS (complexities)][N];
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (complexities); i++) {
    gdouble energy = 0.0;

    make_up (complexities[i], heard[i]);
    for (k = 0; k < N; k++)
      energy += (gdouble) heard[i][k] * heard[i][k];
    fail_unless (sqrt (energy / N) > 1000.0, "%g", sqrt (energy / N));
  }
  if (strncmp (opus_get_version_string (), "libopus 1.3", 11) == 0)
    fail_unless (memcmp (heard[0], heard[1], sizeof heard[0]) == 0);
}

GST_END_TEST;

/* [RFC6716 3.1] Configurations from 16 on are CELT alone, for music. */
static gboolean
is_for_music (guint bitrate_bps, gboolean music)
{
  GstPartialMixEncoder *encoder = gst_partial_mix_encoder_new (&opus, RATE, 5,
      music);
  gint16 samples[N];
  guint8 packet[1500];
  guint i, n = 0;

  gst_partial_mix_encoder_set_bitrate (encoder, bitrate_bps);
  for (i = 0; i < N_FRAMES; i++) {
    hum (i, samples);
    fail_unless (gst_partial_mix_encoder_encode (encoder, samples, N, packet,
            sizeof packet) > 0);
    n += packet[0] >> 3 >= 16;
  }
  gst_partial_mix_encoder_free (encoder);
  fail_unless (n == 0 || n == N_FRAMES, "%u of %u", n, N_FRAMES);
  return n > 0;
}

GST_START_TEST (test_a_mix_is_coded_as_speech)
{
  const guint bitrates[] = { 12000, 16000, 20000, 24000, 32000, 48000 };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (bitrates); i++)
    fail_unless (!is_for_music (bitrates[i], FALSE), "%u bit/s", bitrates[i]);
  fail_unless (is_for_music (80000, FALSE));
}

GST_END_TEST;

GST_START_TEST (test_a_mix_is_coded_as_music_if_asked_to)
{
  fail_unless (is_for_music (24000, TRUE));
  fail_unless (is_for_music (48000, TRUE));
}

GST_END_TEST;

/* Loudest sample of what @decoder makes of @size bytes that all are @byte */
static gint
loudest_of (GstPartialMixDecoder * decoder, guint8 byte, gsize size)
{
  gint16 decoded[GST_PARTIAL_MIX_MAX_PACKET_SAMPLES];
  guint8 *payload = g_malloc (size);
  gint loudest = 0;
  guint i, n;

  memset (payload, byte, size);
  n = gst_partial_mix_decoder_decode (decoder, payload, size, decoded);
  fail_unless (n <= GST_PARTIAL_MIX_MAX_PACKET_SAMPLES);
  for (i = 0; i < n; i++)
    loudest = MAX (loudest, ABS (decoded[i]));
  g_free (payload);
  return loudest;
}

/* Nobody sends 700 ms in a packet; who does fills no memory, and is not heard when he has
 * long ended. */
GST_START_TEST (test_what_is_too_long_for_a_packet_is_not_kept)
{
  const GstPartialMixFormat pcmu = { GST_PARTIAL_MIX_ENCODING_PCMU, 8000, 1, 0
  };
  GstPartialMixDecoder *decoder = gst_partial_mix_decoder_new (&pcmu, RATE, 5);
  guint i;

  for (i = 0; i < 20; i++)
    fail_unless (loudest_of (decoder, 0x00, 5760) > 10000);
  for (i = 0; i < 2; i++)
    loudest_of (decoder, 0xff, 160);
  fail_unless_equals_int (loudest_of (decoder, 0xff, 160), 0);
  gst_partial_mix_decoder_free (decoder);
}

GST_END_TEST;

/* Who begins to get a mix of his own goes on with what the encoder has in it. */
GST_START_TEST (test_a_copy_of_an_encoder_goes_on_as_it_does)
{
  const GstPartialMixFormat pcmu = { GST_PARTIAL_MIX_ENCODING_PCMU, 8000, 1, 0
  };
  const guint rates[] = { 48000, 48000, 16000 };
  const guint frames[] = { 960, 480, 320 };
  const guint n = frames[__i__];
  GstPartialMixEncoder *encoder = gst_partial_mix_encoder_new (&pcmu,
      rates[__i__], 5, FALSE), *copy;
  gint16 samples[N_FRAMES * N], decoded[2][N];
  guint8 packet[2][N];
  guint i, size;

  for (i = 0; i < N_FRAMES; i++)
    hum (i, samples + i * N);
  for (i = 0; i < 20; i++)
    size = (guint) gst_partial_mix_encoder_encode (encoder, samples + i * n, n,
        packet[0], N);
  copy = gst_partial_mix_encoder_copy (encoder);
  fail_unless_equals_int (gst_partial_mix_encoder_encode (encoder,
          samples + i * n, n, packet[0], N), size);
  fail_unless_equals_int (gst_partial_mix_encoder_encode (copy,
          samples + i * n, n, packet[1], N), size);
  for (i = 0; i < 2; i++)
    fmx_g711_ulaw_decode (decoded[i], packet[i], size);
  for (i = 0; i < size; i++)
    fail_unless (ABS (decoded[0][i] - decoded[1][i]) < 300,
        "sample %u: %d, not %d", i, decoded[1][i], decoded[0][i]);
  gst_partial_mix_encoder_free (copy);
  gst_partial_mix_encoder_free (encoder);
}

GST_END_TEST;

/* Whether packets of @frame_ms say where voice begins, after silence that is none */
static gboolean
tells_voice (gint bandwidth, gint bitrate_bps, guint frame_ms)
{
  OpusEncoder *encoder = opus_encoder_create (RATE, 1, OPUS_APPLICATION_VOIP,
      NULL);
  gint16 samples[N_FRAMES * N];
  const guint n = frame_ms * RATE / 1000;
  guint8 packet[1500];
  gboolean told = FALSE;
  guint i;

  opus_encoder_ctl (encoder, OPUS_SET_MAX_BANDWIDTH (bandwidth));
  opus_encoder_ctl (encoder, OPUS_SET_BITRATE (bitrate_bps));
  memset (samples, 0, sizeof samples);
  for (i = N_FRAMES / 2; i < N_FRAMES; i++)
    hum (i, samples + i * N);
  for (i = 0; i + n <= N_FRAMES * N; i += n) {
    gint size = opus_encode (encoder, samples + i, (gint) n, packet,
        sizeof packet);

    fail_unless (size > 0);
    told = gst_partial_mix_format_has_voice (&opus, packet, (gsize) size);
    if (i + n <= N_FRAMES / 2 * N)
      fail_if (told, "silence of %u ms at %u", frame_ms, i);
    else if (told)
      break;
  }
  fail_if (told && i >= N_FRAMES / 2 * N + n, "%u ms late",
      1000 * (i - N_FRAMES / 2 * N) / RATE);
  opus_encoder_destroy (encoder);
  return told;
}

GST_START_TEST (test_opus_tells_where_a_word_begins)
{
  const guint frames_ms[] = { 10, 20, 40, 60 };
  const GstPartialMixFormat l16 = { GST_PARTIAL_MIX_ENCODING_L16, RATE, 1, 97
  };
  const guint8 loud[4] = { 0x7f, 0xff, 0x7f, 0xff };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (frames_ms); i++) {
    fail_unless (tells_voice (OPUS_BANDWIDTH_WIDEBAND, 16000, frames_ms[i]));
    fail_unless (tells_voice (OPUS_BANDWIDTH_FULLBAND, 32000, frames_ms[i]));
  }
  fail_if (tells_voice (OPUS_BANDWIDTH_FULLBAND, 128000, 20));
  fail_if (gst_partial_mix_format_has_voice (&l16, loud, sizeof loud));
}

GST_END_TEST;

static Suite *
partialmix_codec_suite (void)
{
  Suite *suite = suite_create ("partialmix-codec");
  TCase *tc = tcase_create ("codec");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_a_voice_is_made_up_at_any_complexity);
  tcase_add_test (tc, test_a_mix_is_coded_as_speech);
  tcase_add_test (tc, test_a_mix_is_coded_as_music_if_asked_to);
  tcase_add_test (tc, test_opus_tells_where_a_word_begins);
  tcase_add_loop_test (tc, test_a_copy_of_an_encoder_goes_on_as_it_does, 0, 3);
  tcase_add_test (tc, test_what_is_too_long_for_a_packet_is_not_kept);
  return suite;
}

GST_CHECK_MAIN (partialmix_codec);
