/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Speech over a trace of a network: encoded, received by a pipeline in virtual
 * time, played by a sink that is exact to the sample.  speech.py rates it.
 *
 *   jitter-speech SPEECH TRACE PIPELINE HEARD
 *
 * SPEECH    16 bits, 16 kHz, mono, without a header
 * TRACE     .csv.gz, or syn_NAME[:SEED]; its delays are sampled every 20 ms, while there is speech
 * PIPELINE  from RTP (Opus) to audio: "rtpjitterbuffer ! rtpopusdepay ! opusdec"
 * HEARD     what is heard, in the format of SPEECH, counted from when the first
 *           sample is said: silence where nothing is there in time
 *
 * Prints the share of time in which nothing was there to be played. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gst/check/gstharness.h>

#include "policy-element.h"
#include "synth.h"

#define RATE 16000
#define PACKET (20 * FMX_MSECOND)
#define PACKET_SAMPLES 320
#define TAIL_S 5                /* longest delay */
#define RAW "audio/x-raw, format=S16LE, rate=16000, channels=1, " \
    "layout=interleaved"
#define ENCODE "opusenc audio-type=voice bitrate=32000"

typedef struct
{
  gint16 *speech;
  size_t n_speech;
  GstHarness *encoder;
  size_t n_encoded;             /* packets */
  gint16 *heard;
  bool *played;
  size_t n_heard;
} Talk;

static bool
read_speech (Talk * talk, const char *path)
{
  gchar *bytes;
  gsize size;

  if (!g_file_get_contents (path, &bytes, &size, NULL))
    return false;
  talk->speech = (gint16 *) bytes;
  talk->n_speech = size / sizeof (gint16);
  return talk->n_speech >= PACKET_SAMPLES;
}

static GstBuffer *
encode_next (Talk * talk)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL,
      PACKET_SAMPLES * sizeof (gint16), NULL);
  size_t first = talk->n_encoded * PACKET_SAMPLES;
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (size_t k = 0; k < PACKET_SAMPLES; k++)
    ((gint16 *) map.data)[k] = talk->speech[first + k];
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = talk->n_encoded * PACKET;
  GST_BUFFER_DURATION (buffer) = PACKET;
  talk->n_encoded++;
  gst_harness_push (talk->encoder, buffer);
  return gst_harness_pull (talk->encoder);
}

/* Packets that get lost are encoded as well. */
static GstBuffer *
encode (size_t i, void *user_data)
{
  Talk *talk = user_data;

  while (talk->n_encoded < i)
    gst_buffer_unref (encode_next (talk));
  return encode_next (talk);
}

/* What is pushed after it was due is lost, and so is what is due when something
 * else has been played already. */
static void
play (const PolicyElementOutput * output, void *user_data)
{
  Talk *talk = user_data;
  gint64 first = (gint64) gst_util_uint64_scale_round (output->due, RATE,
      GST_SECOND);
  gint64 now = (gint64) gst_util_uint64_scale_ceil (output->pushed, RATE,
      GST_SECOND);
  GstMapInfo map;

  gst_buffer_map (output->buffer, &map, GST_MAP_READ);
  for (gint64 k = 0; k < (gint64) (map.size / sizeof (gint16)); k++) {
    gint64 at = first + k;

    if (at < now || at >= (gint64) talk->n_heard || talk->played[at])
      continue;
    talk->heard[at] = ((gint16 *) map.data)[k];
    talk->played[at] = true;
  }
  gst_buffer_unmap (output->buffer, &map);
}

static double
share_missing (const Talk * talk)
{
  size_t first = 0, end = talk->n_heard, n = 0;

  while (first < end && !talk->played[first])
    first++;
  while (end > first && !talk->played[end - 1])
    end--;
  for (size_t i = first; i < end; i++)
    n += !talk->played[i];
  return end > first ? (double) n / (double) (end - first) : 1.0;
}

int
main (int argc, char **argv)
{
  Trace trace;
  Talk talk = { 0 };
  PolicyElementTap tap = {
    .sink_caps = RAW,
    .payload = encode,
    .on_output = play,
    .user_data = &talk,
  };

  gst_init (&argc, &argv);
  if (argc != 5) {
    fprintf (stderr, "usage: %s SPEECH TRACE PIPELINE HEARD\n", argv[0]);
    return 2;
  }
  if (!read_speech (&talk, argv[1]) || !trace_open (&trace, argv[2])) {
    fprintf (stderr, "%s, %s: no speech, or no trace\n", argv[1], argv[2]);
    return 2;
  }
  trace_resample (&trace, PACKET);
  trace.n_packets = MIN (trace.n_packets, talk.n_speech / PACKET_SAMPLES);
  talk.n_heard = trace.n_packets * PACKET_SAMPLES + TAIL_S * RATE;
  talk.heard = calloc (talk.n_heard, sizeof *talk.heard);
  talk.played = calloc (talk.n_heard, sizeof *talk.played);
  talk.encoder = gst_harness_new_parse (ENCODE);
  gst_harness_set_src_caps_str (talk.encoder, RAW);
  tap.description = argv[3];
  policy_element_run (&trace, &tap);
  printf ("%.5f\n", share_missing (&talk));
  g_file_set_contents (argv[4], (const gchar *) talk.heard,
      (gssize) (talk.n_heard * sizeof *talk.heard), NULL);
  gst_harness_teardown (talk.encoder);
  trace_free (&trace);
  g_free (talk.speech);
  free (talk.heard);
  free (talk.played);
  return 0;
}
