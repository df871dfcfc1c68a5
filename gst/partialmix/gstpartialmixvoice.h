/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_VOICE_H__
#define __GST_PARTIAL_MIX_VOICE_H__

#include <gst/gst.h>
#include <gst/rtp/rtp.h>

#include "fairmix/mix/fmx-handover.h"
#include "fairmix/mix/fmx-voice-level.h"
#include "fairmix/wire/fmx-audio-level.h"

#include "gstpartialmixcodec.h"

G_BEGIN_DECLS

/* packets that a decoder hears before those that are played, to be warm */
#define GST_PARTIAL_MIX_N_RECENT 5

/**
 * GstPartialMixPacket:
 * @pos: mix position of its first sample
 * @duration: in samples
 * @silent: need not be decoded
 * @paused: nor is there anything in it (DTX): the noise between words goes on
 * @cut: is decoded, but not played: where the delay is shortened
 *
 * A packet that waits for its playout.
 */
typedef struct
{
  GstBuffer *buffer;
  guint64 ext_seq;
  gint64 pos;
  gint64 duration;
  gboolean silent;
  gboolean paused;
  gboolean cut;
} GstPartialMixPacket;

void gst_partial_mix_packet_free (GstPartialMixPacket * packet);

/**
 * GstPartialMixNames:
 * @n: 0 if the stream is not a mix
 * @has_levels: the packets tell the contributors' levels
 *
 * Whom a mix that comes in names: it is they who contribute to ours.
 */
typedef struct
{
  guint n;
  gboolean has_levels;
  guint32 ssrcs[FMX_CSRC_MAX];
  guint8 levels[FMX_CSRC_MAX];  /* -dBov */
} GstPartialMixNames;

/**
 * GstPartialMixVoice:
 * @wanted: somebody hears it in a mix; else it only plays out what is due
 * @rendered: there is a renderer, for which pauses get comfort noise
 * @leaves_at: it goes on in a mix that came in, from this mix position on: what is
 *     missing is not to be made up; %FMX_POSITION_UNKNOWN: it does not
 * @leads_in: it comes out of such a mix: the end of what its decoder hears before is
 *     heard as well, as the mix fades out
 * @gain: linear; what it is scaled by
 * @voice_level: that it is brought to, in -dBov; 0: it stays as loud as it is
 * @decoder_complexity: of Opus
 * @csrc_level_ext_id: RFC 6465 header extension of its packets, 0 = none
 * @frame: this frame's samples, NULL before the first one ...
 * @weight: ... that count so often: a gain above 1 does not fit into 16 bits
 * @frame_active: whether there is anything to be heard in it
 * @frame_comfort: if not, whether there is comfort noise for renderers in it
 * @frame_level: in -dBov, as it comes: not as @voice_level makes it
 * @names: as the packet that was decoded last says
 * @n_new_decoded: packets that were decoded since the caller set it to 0
 * @n_new_concealed: holes that were concealed, likewise
 *
 * The sound of one stream: packets that are due become a frame of samples for
 * each tick.  It belongs to the mixing thread: nobody else touches it.
 */
typedef struct
{
  gboolean wanted;
  gboolean rendered;
  gint64 leaves_at;
  gboolean leads_in;
  gfloat gain;
  guint voice_level;
  gint decoder_complexity;
  guint csrc_level_ext_id;

  gint16 *frame;
  guint weight;
  gboolean frame_active;
  gboolean frame_comfort;
  guint8 frame_level;
  GstPartialMixNames names;
  guint n_new_decoded, n_new_concealed;

  /*< private >*/
  guint32 ssrc;
  FmxVoiceLevel *even;          /* what makes it so loud; NULL: nothing yet */
  GstPartialMixFormat format;
  guint rate_hz;
  GstPartialMixDecoder *decoder;
  gboolean decoder_cold;
  gboolean failed;              /* cannot be decoded: said once */
  GQueue due;                   /* of GstPartialMixPacket */
  GstBuffer *warm[GST_PARTIAL_MIX_N_RECENT];    /* what came before them */
  gint16 *pcm;                  /* decoded, from sample pcm_pos on */
  gint64 pcm_pos;
  guint pcm_len;
  guint64 decoded_seq;          /* the last packet's */
  gint16 *tail;                 /* what would come next but for a splice */
  guint n_tail;
  guint concealed;              /* samples in a row */
  gboolean gone;                /* faded out: no more until a packet comes */
  guint hangover;               /* ticks that it stays active */
} GstPartialMixVoice;

void gst_partial_mix_voice_init (GstPartialMixVoice * voice, guint32 ssrc,
    const GstPartialMixFormat * format, guint rate_hz);
void gst_partial_mix_voice_clear (GstPartialMixVoice * voice);

/* @packet is due; takes it. */
void gst_partial_mix_voice_push (GstPartialMixVoice * voice,
    GstPartialMixPacket * packet);

/* Nothing of what was played before is to go on. */
void gst_partial_mix_voice_restart (GstPartialMixVoice * voice);

/* Whether packets are due that its decoder should not begin with. */
gboolean gst_partial_mix_voice_is_cold (const GstPartialMixVoice * voice);

/* Gives it the packets before those that are due, the oldest first; takes them.
 * Any may be NULL. */
void gst_partial_mix_voice_warm_up (GstPartialMixVoice * voice,
    GstBuffer * before[GST_PARTIAL_MIX_N_RECENT]);

/* It was not decoded, but its packets say how loud it was. */
void gst_partial_mix_voice_note_level (GstPartialMixVoice * voice,
    guint8 level, GstClockTime duration);

/* Returns: what it is raised by, to have its @voice_level, in dB */
gdouble gst_partial_mix_voice_get_raise (const GstPartialMixVoice * voice);

/* Fills @frame with samples [@pos, @pos + @n); @n is the same each time.  Below
 * @silence_level, in -dBov, a frame stays active for so many more. */
void gst_partial_mix_voice_render (GstPartialMixVoice * voice, gint64 pos,
    guint n, guint8 silence_level, guint hangover_ticks);

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_VOICE_H__ */
