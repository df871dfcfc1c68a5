/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "speech.h"

#include <gst/rtp/rtp.h>
#include <opus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fairmix/mix/fmx-level.h"
#include "fairmix/mix/fmx-mix-kernels.h"
#include "fairmix/wire/fmx-audio-level.h"

#define MAX_VOICES 16
#define MAX_PACKET_BYTES 1500
#define WAV_HEADER_BYTES 44     /* as examples/voices.sh writes them */

static Speech voices[MAX_VOICES];
static guint n_voices;

static gboolean
is_ours (const gchar * contents, gsize size)
{
  return size > WAV_HEADER_BYTES && memcmp (contents, "RIFF", 4) == 0
      && GST_READ_UINT16_LE (contents + 22) == 1
      && GST_READ_UINT32_LE (contents + 24) == SPEECH_RATE
      && GST_READ_UINT16_LE (contents + 34) == 16
      && memcmp (contents + 36, "data", 4) == 0;
}

static void
encode_voice (Speech * voice)
{
  OpusEncoder *encoder = opus_encoder_create (SPEECH_RATE, 1,
      OPUS_APPLICATION_VOIP, NULL);
  guint8 packet[MAX_PACKET_BYTES];

  opus_encoder_ctl (encoder, OPUS_SET_BITRATE (SPEECH_BITRATE));
  opus_encoder_ctl (encoder, OPUS_SET_COMPLEXITY (5));
  voice->packets = g_new0 (SpeechPacket, voice->n_frames);
  for (guint i = 0; i < voice->n_frames; i++) {
    const gint16 *frame = voice->samples + (gsize) i * SPEECH_FRAME;
    gint size = opus_encode (encoder, frame, SPEECH_FRAME, packet,
        sizeof packet);

    voice->packets[i].size = (guint) size;
    voice->packets[i].data = g_malloc ((gsize) size);
    memcpy (voice->packets[i].data, packet, (gsize) size);
    voice->packets[i].level =
        fmx_level_from_energy (fmx_mix_kernels_best ()->energy (frame,
            SPEECH_FRAME), SPEECH_FRAME);
  }
  opus_encoder_destroy (encoder);
}

static void
load_voice (const gchar * path, guint seconds)
{
  gchar *contents;
  gsize size;
  Speech *voice = &voices[n_voices];

  if (n_voices == MAX_VOICES
      || !g_file_get_contents (path, &contents, &size, NULL))
    return;
  if (is_ours (contents, size)) {
    guint n = (guint) ((size - WAV_HEADER_BYTES) / 2 / SPEECH_FRAME);

    voice->n_frames = MIN (n, seconds * 50);
    voice->samples = g_new (gint16, (gsize) voice->n_frames * SPEECH_FRAME);
    memcpy (voice->samples, contents + WAV_HEADER_BYTES,
        (gsize) voice->n_frames * SPEECH_FRAME * 2);
    encode_voice (voice);
    n_voices++;
  }
  g_free (contents);
}

void
speech_load (guint seconds)
{
  const gchar *folder = g_getenv ("FMX_VOICES");
  GDir *dir = folder != NULL ? g_dir_open (folder, 0, NULL) : NULL;
  GList *names = NULL;
  const gchar *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, ".wav"))
      names = g_list_insert_sorted (names, g_build_filename (folder, name,
              NULL), (GCompareFunc) strcmp);
  for (GList * l = names; l != NULL; l = l->next)
    load_voice (l->data, seconds);
  g_list_free_full (names, g_free);
  if (dir != NULL)
    g_dir_close (dir);
  if (n_voices == 0) {
    fprintf (stderr, "no voices: examples/voices.sh FOLDER makes some, "
        "FMX_VOICES=FOLDER names them\n");
    exit (77);
  }
}

static guint
place (guint k, guint frame)
{
  const Speech *voice = &voices[k % n_voices];

  return (frame + k / n_voices * 137) % voice->n_frames;
}

const SpeechPacket *
speech_packet (guint k, guint frame)
{
  return &voices[k % n_voices].packets[place (k, frame)];
}

const gint16 *
speech_samples (guint k, guint frame)
{
  return voices[k % n_voices].samples + (gsize) place (k, frame)
      * SPEECH_FRAME;
}

guint32
speech_ssrc (guint k)
{
  return 0x10000 + k;
}

GstBuffer *
speech_buffer (guint k, guint frame, gboolean with_level)
{
  const SpeechPacket *packet = speech_packet (k, frame);
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (packet->size, 0, 0);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint8 level;

  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_payload_type (&rtp, SPEECH_PT);
  gst_rtp_buffer_set_ssrc (&rtp, speech_ssrc (k));
  gst_rtp_buffer_set_seq (&rtp, (guint16) frame);
  gst_rtp_buffer_set_timestamp (&rtp, frame * SPEECH_FRAME);
  memcpy (gst_rtp_buffer_get_payload (&rtp), packet->data, packet->size);
  if (with_level) {
    fmx_audio_level_write (&level, 1, packet->level, TRUE);
    gst_rtp_buffer_add_extension_onebyte_header (&rtp, SPEECH_LEVEL_ID,
        &level, 1);
  }
  gst_rtp_buffer_unmap (&rtp);
  GST_BUFFER_PTS (buffer) = frame * SPEECH_FRAME_TIME;
  GST_BUFFER_DURATION (buffer) = SPEECH_FRAME_TIME;
  return buffer;
}
