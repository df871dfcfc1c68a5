/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __PARTIAL_MIX_MIXER_CHECK_H__
#define __PARTIAL_MIX_MIXER_CHECK_H__

/* Streams, listeners and a mixer, without an element or a clock.  Each stream is a
 * constant, so that a mix tells who is in it. */

#include "../gstfairmixcheck.h"

#include "partialmix/gstpartialmixdebug.h"
#include "partialmix/gstpartialmixmixer.h"

#define RATE 48000
#define N 960                   /* 20 ms, of a packet and of a frame */
#define N_STREAMS 3
#define N_LISTENERS 3
#define DELAY (40 * GST_MSECOND)
#define SILENCE 80

static const GstPartialMixFormat l16 = {
  GST_PARTIAL_MIX_ENCODING_L16, RATE, 1, 96
};

static const gint16 values[N_STREAMS] = { 1000, 4000, 2000 };

static GstPartialMixMixer mixer;
static GstPartialMixTable table;
static GstPartialMixSettings settings;
static GstPartialMixStream *streams[N_STREAMS];
static GstPartialMixListener listeners[N_LISTENERS];
static GstPad *pad;
static GstPartialMixFrame frame;
static gboolean speaks[N_STREAMS];

static GstPartialMixLink *
link_of (guint listener, guint stream)
{
  return gst_partial_mix_listener_get_link (&listeners[listener],
      streams[stream]);
}

/* Listener i is the neighbour of stream i, and hears the others mixed. */
static void
setup (void)
{
  guint i, k;

  GST_DEBUG_CATEGORY_INIT (gst_partial_mix_debug, "partialmix", 0, "");
  frame = (GstPartialMixFrame) {
  .n = N};
  pad = gst_object_ref_sink (gst_pad_new ("sink_0", GST_PAD_SINK));
  gst_partial_mix_settings_init (&settings);
  settings.n_threads = 1;
  gst_partial_mix_table_init (&table);
  gst_partial_mix_mixer_init (&mixer);
  gst_partial_mix_mixer_start (&mixer, &settings, DELAY);
  for (i = 0; i < N_STREAMS; i++) {
    streams[i] = gst_partial_mix_stream_new (100 + i, pad, &l16, RATE);
    streams[i]->neighbour = (gint) i;
    gst_partial_mix_table_add (&table, streams[i]);
    speaks[i] = TRUE;
  }
  for (k = 0; k < N_LISTENERS; k++) {
    gst_partial_mix_listener_init (&listeners[k]);
    gst_partial_mix_listener_start (&listeners[k], &settings);
    listeners[k].index = k;
    listeners[k].negotiated = TRUE;
    listeners[k].mix_format = l16;
    listeners[k].n_names = FMX_CSRC_MAX;
    for (i = 0; i < N_STREAMS; i++) {
      gst_partial_mix_link_init (link_of (k, i),
          i == k ? FMX_HANDOVER_NONE : FMX_HANDOVER_MIXED, 0, 0);
      gst_partial_mix_link_placed (link_of (k, i), streams[i], 0, 0);
    }
  }
}

static void
teardown (void)
{
  guint k;

  for (k = 0; k < N_LISTENERS; k++)
    gst_partial_mix_listener_clear (&listeners[k]);
  gst_partial_mix_mixer_stop (&mixer);
  gst_partial_mix_mixer_clear (&mixer);
  gst_partial_mix_table_clear (&table);
  gst_object_unref (pad);
}

static void
say (GstPartialMixStream * stream, gint16 value)
{
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (2 * N, 0, 0);
  GstPartialMixPacket *packet = g_new0 (GstPartialMixPacket, 1);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint i;

  gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp);
  for (i = 0; i < N; i++)
    GST_WRITE_UINT16_BE ((guint8 *) gst_rtp_buffer_get_payload (&rtp) + 2 * i,
        (guint16) value);
  gst_rtp_buffer_unmap (&rtp);
  packet->buffer = buffer;
  packet->ext_seq = (guint64) frame.pos / N;
  packet->pos = frame.pos;
  gst_partial_mix_voice_push (&stream->voice, packet);
}

static void
decode (void)
{
  guint i;

  for (i = 0; i < N_STREAMS; i++) {
    if (speaks[i])
      say (streams[i], values[i]);
    gst_partial_mix_mixer_take (&mixer, streams[i]);
  }
  gst_partial_mix_mixer_decode (&mixer, &frame, SILENCE);
}

#endif /* __PARTIAL_MIX_MIXER_CHECK_H__ */
