/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_CODEC_H__
#define __GST_PARTIAL_MIX_CODEC_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* RTP payload formats that can be decoded and encoded */
typedef enum
{
  GST_PARTIAL_MIX_ENCODING_OPUS,
  GST_PARTIAL_MIX_ENCODING_PCMU,
  GST_PARTIAL_MIX_ENCODING_PCMA,
  GST_PARTIAL_MIX_ENCODING_L16,
  GST_PARTIAL_MIX_N_ENCODINGS
} GstPartialMixEncoding;

/* the longest packet that is decoded: Opus' 120 ms at 48 kHz */
#define GST_PARTIAL_MIX_MAX_PACKET_SAMPLES 5760

/**
 * GstPartialMixFormat:
 * @encoding: the payload format
 * @clock_rate: of the RTP timestamps, in Hz
 * @channels: channels of the payload (L16 only; Opus says it itself)
 * @pt: payload type, 0 ... 127
 *
 * What the packets of one stream hold.
 */
typedef struct
{
  GstPartialMixEncoding encoding;
  guint clock_rate;
  guint channels;
  guint8 pt;
} GstPartialMixFormat;

const gchar *gst_partial_mix_encoding_name (GstPartialMixEncoding encoding);

/* Whether they sound the same; the payload types may differ. */
gboolean gst_partial_mix_format_is_equal (const GstPartialMixFormat * a,
    const GstPartialMixFormat * b);

/* From application/x-rtp caps; FALSE if it is no audio that we know. */
gboolean gst_partial_mix_format_from_structure (GstPartialMixFormat * format,
    const GstStructure * structure);

/* The static payload types of RFC 3551 that we know. */
gboolean gst_partial_mix_format_from_pt (GstPartialMixFormat * format,
    guint8 pt);

/* Whether it can be decoded and encoded where mixing goes on at @rate_hz. */
gboolean gst_partial_mix_encoding_takes_rate (GstPartialMixEncoding encoding,
    guint rate_hz);

/* The longest that a packet of any encoding may hold: 10, 20, 40 or 60 ms. */
GstClockTime gst_partial_mix_frame_duration (GstClockTime at_most);

/* What a mix of @encoding is sent as; @pt as given. */
void gst_partial_mix_format_for_mix (GstPartialMixFormat * format,
    GstPartialMixEncoding encoding, guint rate, guint8 pt);

/* application/x-rtp caps of @format */
GstCaps *gst_partial_mix_format_to_caps (const GstPartialMixFormat * format);

/* Length of a packet in RTP clock ticks; 0 if @payload is malformed. */
guint gst_partial_mix_format_duration (const GstPartialMixFormat * format,
    const guint8 * payload, gsize size);

/* Whether the packet holds nothing but silence, as its length tells. */
gboolean gst_partial_mix_format_is_dtx (const GstPartialMixFormat * format,
    gsize size);

/* Whether who encoded it took it for voice; false where the encoding does not say. */
gboolean gst_partial_mix_format_has_voice (const GstPartialMixFormat * format,
    const guint8 * payload, gsize size);

typedef struct _GstPartialMixDecoder GstPartialMixDecoder;

/* Decodes to mono, 16 bit, at @rate_hz; NULL if that cannot be.  @complexity: 0 ... 10,
 * of Opus; from 5 on libopus 1.5 conceals with a neural network, if it was built with one */
GstPartialMixDecoder *gst_partial_mix_decoder_new (const GstPartialMixFormat *
    format, guint rate_hz, gint complexity);
void gst_partial_mix_decoder_free (GstPartialMixDecoder * decoder);
void gst_partial_mix_decoder_reset (GstPartialMixDecoder * decoder);

/* How many samples of the latest packet are still inside the resampler. */
guint gst_partial_mix_decoder_lookahead (GstPartialMixDecoder * decoder);

/* @out has room for GST_PARTIAL_MIX_MAX_PACKET_SAMPLES.  Returns: samples */
guint gst_partial_mix_decoder_decode (GstPartialMixDecoder * decoder,
    const guint8 * payload, gsize size, gint16 * out);

/* Makes up @n_samples that nobody sent.  @next: the payload of the packet
 * after the hole, for in-band FEC, or NULL. */
void gst_partial_mix_decoder_conceal (GstPartialMixDecoder * decoder,
    const guint8 * next, gsize next_size, gint16 * out, guint n_samples);

/* What would come after that if nothing came: up to @n_samples, to go over from.
 * Returns: how many */
guint gst_partial_mix_decoder_go_on (GstPartialMixDecoder * decoder,
    gint16 * out, guint n_samples);

typedef struct _GstPartialMixEncoder GstPartialMixEncoder;

/* Encodes mono, 16 bit, at @rate_hz; speech, or @music. */
GstPartialMixEncoder *gst_partial_mix_encoder_new (const GstPartialMixFormat *
    format, guint rate_hz, gint complexity, gboolean music);

/* A second encoder in the same state: a listener whose mix parts from a shared
 * one goes on without noticing. */
GstPartialMixEncoder *gst_partial_mix_encoder_copy (GstPartialMixEncoder *
    encoder);
void gst_partial_mix_encoder_free (GstPartialMixEncoder * encoder);

/* No effect on encodings of constant rate. */
void gst_partial_mix_encoder_set_bitrate (GstPartialMixEncoder * encoder,
    guint bitrate_bps);

/* For so much loss Opus provides with in-band FEC, which takes its part of the bitrate;
 * 0 = none.  No effect on other encodings. */
void gst_partial_mix_encoder_set_loss (GstPartialMixEncoder * encoder,
    guint percent);

/* By how many samples at rate_hz what is decoded lags behind what went in. */
guint gst_partial_mix_encoder_lookahead (GstPartialMixEncoder * encoder);

/* Returns: bytes in @out, 0 on failure */
gsize gst_partial_mix_encoder_encode (GstPartialMixEncoder * encoder,
    const gint16 * in, guint n_samples, guint8 * out, gsize max_size);

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_CODEC_H__ */
