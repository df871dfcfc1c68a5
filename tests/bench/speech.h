/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SPEECH_H
#define SPEECH_H

/* Recorded voices, as Opus packets, for as many talkers as wanted. */

#include <gst/gst.h>

G_BEGIN_DECLS

#define SPEECH_RATE 48000
#define SPEECH_FRAME 960        /* samples of 20 ms */
#define SPEECH_FRAME_TIME (20 * GST_MSECOND)
#define SPEECH_BITRATE 32000
#define SPEECH_PT 96
#define SPEECH_LEVEL_ID 1       /* RFC 6464 */

/* What speech_buffer() makes. */
#define SPEECH_CAPS \
  "application/x-rtp,media=audio,payload=96,clock-rate=48000," \
  "encoding-name=OPUS,extmap-1=urn:ietf:params:rtp-hdrext:ssrc-audio-level"

typedef struct
{
  guint8 *data;
  guint size;
  guint8 level;                 /* -dBov */
} SpeechPacket;

typedef struct
{
  guint n_frames;
  SpeechPacket *packets;
  gint16 *samples;
} Speech;

/* Reads the WAV files of $FMX_VOICES (examples/voices.sh makes some) and
 * encodes @seconds of each, hybrid, as opusenc and browsers do for speech.
 * Exits with 77, "skipped", when there are none. */
void speech_load (guint seconds);

/* Talker @k says @frame (any: they begin again).  More talkers than voices: the
 * same voices from elsewhere. */
const SpeechPacket *speech_packet (guint k, guint frame);
const gint16 *speech_samples (guint k, guint frame);

/* The RTP packet of that, as it comes from a network; @with_level: RFC 6464 */
GstBuffer *speech_buffer (guint k, guint frame, gboolean with_level);
/* The SSRC of talker @k. */
guint32 speech_ssrc (guint k);

G_END_DECLS

#endif /* SPEECH_H */
