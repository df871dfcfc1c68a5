/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "../gstfairmixcheck.h"
#include "voicechain.h"

#include <math.h>

#include <gst/audio/audio.h>

#include "fairmix/mix/fmx-level.h"
#include "fairmix/wire/fmx-contributor-time.h"

#define NETWORK 19              /* ms: what arrives does so just before a tick */
#define PHASE (19 * GST_MSECOND)
#define N_OTHERS 2
#define STRANGER_SSRC 777
#define SECONDS 30
#define MONO "audio/x-raw,format=" GST_AUDIO_NE (S16) \
    ",layout=interleaved,rate=48000,channels=1"
/* of the pauses, in ms: in each @PAUSE_EACH the last @PAUSE */
#define PAUSE_EACH 1700
#define PAUSE 260

#define RTP_CAPS "application/x-rtp"

static GstStaticPadTemplate plain = GST_STATIC_PAD_TEMPLATE ("plain",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (RTP_CAPS));
static GstStaticPadTemplate wanting = GST_STATIC_PAD_TEMPLATE ("wanting",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (RTP_CAPS ",extmap-3=(string)"
        FMX_CONTRIBUTOR_TIME_URN));

/* A packet somewhere between two elements */
typedef struct
{
  GstBuffer *buffer;
  GstPad *pad;                  /* that it leaves by; NULL: the chain's */
  GstCaps *caps;
  GstClockTime due;
} OnTheWay;

/* ----------------------------------------------------------------- voice -- */

/* Speech in colour and rhythm: noise through three resonances, four syllables a
 * second. */
static void
make_voice (VoiceChain * chain)
{
  static const gdouble formants[] = { 500, 1500, 2500 };
  const guint ms = RIG_RATE / 1000;
  gdouble state[3][2] = { {0.0} };
  guint i, k;

  chain->n_said = SECONDS * RIG_RATE;
  chain->said = g_new (gdouble, chain->n_said);
  for (i = 0; i < chain->n_said; i++) {
    gdouble x = g_rand_double_range (chain->rand, -150, 150), y = 0.0;

    for (k = 0; k < 3; k++) {
      gdouble w = 2 * G_PI * formants[k] / RIG_RATE;
      gdouble z = x + 1.97 * cos (w) * state[k][0] - 0.97 * state[k][1];

      state[k][1] = state[k][0];
      state[k][0] = z;
      y += z / (k + 1);
    }
    y *= 1.0 + 0.7 * sin (8 * G_PI * i / RIG_RATE);
    if (i / ms % PAUSE_EACH >= PAUSE_EACH - PAUSE)
      y /= 1000;
    chain->said[i] = rint (CLAMP (y, -32000, 32000));
  }
}

/* RFC 6464, of the next packet */
static gint
voice_level (const VoiceChain * chain)
{
  const gdouble *said = &chain->said[chain->mixer->frame * RIG_FRAME
      % chain->n_said];
  guint64 energy = 0;
  guint i;

  for (i = 0; i < RIG_FRAME; i++)
    energy += (guint64) (said[i] * said[i]);
  return fmx_level_from_energy (energy, RIG_FRAME);
}

/* --------------------------------------------------------------- network -- */

static void
send (VoiceChain * chain, GQueue * queue, OnTheWay packet, guint jitter,
    GstClockTime * last)
{
  if (jitter > 0)
    packet.due += (GstClockTime) g_rand_int_range (chain->rand, 0,
        (gint32) jitter + 1) * GST_MSECOND;
  packet.due = *last = MAX (*last, packet.due); /* in order */
  g_mutex_lock (&chain->lock);
  g_queue_push_tail (queue, g_memdup2 (&packet, sizeof packet));
  g_mutex_unlock (&chain->lock);
}

static OnTheWay *
take_due (VoiceChain * chain, GQueue * queue)
{
  OnTheWay *packet;

  g_mutex_lock (&chain->lock);
  packet = g_queue_peek_head (queue);
  if (packet != NULL && packet->due <= chain->now)
    g_queue_pop_head (queue);
  else
    packet = NULL;
  g_mutex_unlock (&chain->lock);
  return packet;
}

/* What a packet tells is wrong by @lie samples.  Returns: how much that is */
static guint
change_told (VoiceChain * chain, GstRTPBuffer * rtp, gint lie)
{
  FmxContributorTime time;
  gpointer data;
  guint size, k;

  for (k = 0; gst_rtp_buffer_get_extension_onebyte_header (rtp, 3, k, &data,
          &size); k++) {
    fail_unless (fmx_contributor_time_parse (data, size, &time));
    time.timestamp += (guint32) lie;
    if (chain->forgets > 0 && (chain->n_told + k) % chain->forgets == 0)
      time.ssrc = 0;
    fmx_contributor_time_write (data, size, &time);
  }
  return k;
}

/* Counts what leaves the mixer, and changes what it tells. */
static void
look_at (VoiceChain * chain, GstBuffer * buffer)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint told;

  fail_unless (gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp));
  if (gst_rtp_buffer_get_ssrc (&rtp) == VOICE_SSRC) {
    chain->n_voice++;
    chain->n_markers += gst_rtp_buffer_get_marker (&rtp);
  }
  told = change_told (chain, &rtp, chain->lie);
  chain->n_told += told;
  chain->n_told_bytes += told * (1 + FMX_CONTRIBUTOR_TIME_BYTES);
  gst_rtp_buffer_unmap (&rtp);
}

static GstFlowReturn
tap_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  VoiceChain *chain = gst_pad_get_element_private (pad);
  OnTheWay packet = { gst_buffer_make_writable (buffer), NULL,
    gst_pad_get_current_caps (pad),
    chain->now + (NETWORK + chain->more_out) * GST_MSECOND
  };

  look_at (chain, packet.buffer);
  send (chain, &chain->way, packet, chain->jitter_out, &chain->last_due);
  return GST_FLOW_OK;
}

static void
start (GstPad * pad, GstCaps * caps, gboolean first)
{
  GstSegment segment;

  caps = gst_caps_copy (caps);
  gst_caps_set_simple (caps, "extmap-1", G_TYPE_STRING,
      "urn:ietf:params:rtp-hdrext:ssrc-audio-level", NULL);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (pad, gst_event_new_caps (caps));
  if (first)
    gst_pad_push_event (pad, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
}

/* The same of somebody else */
static void
repeat (VoiceChain * chain, GstBuffer * buffer)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  if (rtp_packet_ssrc (buffer) == VOICE_SSRC)
    return;
  buffer = gst_buffer_copy_deep (buffer);
  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_ssrc (&rtp, STRANGER_SSRC);
  change_told (chain, &rtp, RIG_RATE / 50);
  gst_rtp_buffer_unmap (&rtp);
  gst_pad_push (chain->other, buffer);
}

/* as from a socket: it is stamped when it comes */
static void
arrive (VoiceChain * chain, OnTheWay * packet)
{
  GstPad *pad = packet->pad != NULL ? packet->pad : chain->in;

  if (packet->pad == NULL && (chain->in_caps == NULL
          || !gst_caps_is_equal (chain->in_caps, packet->caps))) {
    start (pad, packet->caps, chain->in_caps == NULL);
    start (chain->other, packet->caps, chain->in_caps == NULL);
    gst_caps_replace (&chain->in_caps, packet->caps);
  }
  packet->buffer = gst_buffer_make_writable (packet->buffer);
  GST_BUFFER_PTS (packet->buffer) = GST_BUFFER_DTS (packet->buffer) =
      packet->due;
  if (packet->pad == NULL && chain->stranger)
    repeat (chain, packet->buffer);
  if (packet->pad == NULL && chain->deaf)
    gst_buffer_unref (packet->buffer);
  else
    gst_pad_push (pad, packet->buffer);
  gst_clear_caps (&packet->caps);
  g_free (packet);
}

static void
talk (VoiceChain * chain)
{
  GPtrArray *talkers = chain->mixer->talkers;

  chain->voice->level = voice_level (chain);
  for (guint i = 0; i < talkers->len; i++) {
    RigTalker *talker = g_ptr_array_index (talkers, i);
    OnTheWay packet = { NULL, talker->pad, NULL, chain->now };

    if (talker->silent)
      continue;
    packet.buffer = rig_packet (chain->mixer, talker);
    send (chain, &chain->sent, packet, chain->jitter_in, &chain->last_sent);
  }
}

/* the two clocks go together, a millisecond at a time */
static void
step (VoiceChain * chain)
{
  OnTheWay *packet;

  rig_advance (chain->mixer, chain->now);
  while ((packet = take_due (chain, &chain->sent)) != NULL)
    arrive (chain, packet);
  rig_advance (chain->hearing, chain->now);
  while ((packet = take_due (chain, &chain->way)) != NULL)
    arrive (chain, packet);
}

void
voice_chain_run (VoiceChain * chain, guint n_frames)
{
  GstClockTime end = chain->now + n_frames * 20 * GST_MSECOND;

  for (; chain->now < end; chain->now += GST_MSECOND) {
    if (chain->now % (20 * GST_MSECOND) == PHASE) {
      talk (chain);
      chain->mixer->frame++;
    }
    step (chain);
  }
}

/* -------------------------------------------------------------- the chain -- */

static void
add_talkers (VoiceChain * chain, RigEncoding encoding)
{
  chain->voice = rig_talker (chain->mixer, "sink_1", VOICE_SSRC, encoding, 0,
      0);
  chain->voice->voice = chain->said;
  chain->voice->n_voice = chain->n_said;
  for (guint i = 0; i < N_OTHERS; i++) {
    gchar *name = g_strdup_printf ("sink_%u", 2 + i);

    rig_talker (chain->mixer, name, 200 + i, encoding, 6000 + 1000 * i, 30);
    g_free (name);
  }
}

static GstPad *
connect_pad (VoiceChain * chain, const gchar * name, GstPad ** sink)
{
  GstPad *pad = gst_pad_new (NULL, GST_PAD_SRC);

  *sink = gst_element_request_pad_simple (chain->hearing->mix, name);
  fail_unless_equals_int (gst_pad_link (pad, *sink), GST_PAD_LINK_OK);
  gst_pad_set_active (pad, TRUE);
  gst_pad_push_event (pad, gst_event_new_stream_start (name));
  return pad;
}

static void
disconnect_pad (VoiceChain * chain, GstPad * pad, GstPad * sink)
{
  gst_pad_unlink (pad, sink);
  gst_element_release_request_pad (chain->hearing->mix, sink);
  gst_object_unref (sink);
  gst_object_unref (pad);
}

static void
connect (VoiceChain * chain, gboolean wants)
{
  GstStructure *s = gst_structure_new ("stream", "gain-db", G_TYPE_DOUBLE,
      -60.0, NULL);

  g_signal_emit_by_name (chain->hearing->mix, "set-stream", STRANGER_SSRC, s);
  gst_structure_free (s);
  chain->tap = gst_pad_new_from_static_template (wants ? &wanting : &plain,
      NULL);
  gst_pad_set_element_private (chain->tap, chain);
  gst_pad_set_chain_function (chain->tap, tap_chain);
  gst_pad_set_active (chain->tap, TRUE);
  chain->out = gst_element_request_pad_simple (chain->mixer->mix, "src_0");
  fail_unless_equals_int (gst_pad_link (chain->out, chain->tap),
      GST_PAD_LINK_OK);
  chain->in = connect_pad (chain, "sink_0", &chain->sink);
  chain->other = connect_pad (chain, "sink_5", &chain->other_sink);
  chain->ear = rig_listener (chain->hearing, "src_1", MONO);
}

VoiceChain *
voice_chain_new (const gchar * mixer, const gchar * hearing,
    RigEncoding encoding, gboolean wants)
{
  VoiceChain *chain = g_new0 (VoiceChain, 1);

  g_mutex_init (&chain->lock);
  g_queue_init (&chain->sent);
  g_queue_init (&chain->way);
  chain->rand = g_rand_new_with_seed (7);
  chain->mixer = rig_new (mixer);
  chain->hearing = rig_new (hearing);
  make_voice (chain);
  connect (chain, wants);
  add_talkers (chain, encoding);
  g_object_set (chain->out, "max-streams", 2, NULL);
  voice_chain_mix (chain, FALSE);
  return chain;
}

void
voice_chain_mix (VoiceChain * chain, gboolean mixed)
{
  GstStructure *s = gst_structure_new ("stream", "priority", G_TYPE_INT, 10,
      NULL);

  g_signal_emit_by_name (chain->mixer->mix, "set-stream", VOICE_SSRC, s);
  g_object_set (chain->out, "max-streams", mixed ? 1 : 2, NULL);
  gst_structure_free (s);
}

void
voice_chain_restart_mixer (VoiceChain * chain)
{
  gst_element_set_state (chain->mixer->mix, GST_STATE_READY);
  rig_play (chain->mixer);
}

void
voice_chain_play (VoiceChain * chain)
{
  rig_play (chain->mixer);
  rig_play (chain->hearing);
}

gdouble *
voice_chain_hear (VoiceChain * chain, guint * n)
{
  GPtrArray *buffers = chain->ear->buffers;
  gdouble *heard = g_new0 (gdouble, buffers->len * RIG_FRAME);

  *n = 0;
  for (guint i = 0; i < buffers->len; i++) {
    GstBuffer *buffer = rig_nth (chain->ear, i);
    GstMapInfo map;

    gst_buffer_map (buffer, &map, GST_MAP_READ);
    for (guint k = 0; k < map.size / 2; k++)
      heard[(*n)++] = ((const gint16 *) map.data)[k];
    gst_buffer_unmap (buffer, &map);
  }
  return heard;
}

static void
forget (gpointer data)
{
  OnTheWay *packet = data;

  gst_buffer_unref (packet->buffer);
  gst_clear_caps (&packet->caps);
  g_free (packet);
}

void
voice_chain_free (VoiceChain * chain)
{
  gst_element_set_state (chain->mixer->mix, GST_STATE_NULL);
  gst_element_set_state (chain->hearing->mix, GST_STATE_NULL);
  gst_pad_unlink (chain->out, chain->tap);
  gst_element_release_request_pad (chain->mixer->mix, chain->out);
  gst_object_unref (chain->out);
  gst_object_unref (chain->tap);
  disconnect_pad (chain, chain->in, chain->sink);
  disconnect_pad (chain, chain->other, chain->other_sink);
  gst_clear_caps (&chain->in_caps);
  rig_free (chain->mixer);
  rig_free (chain->hearing);
  g_queue_clear_full (&chain->sent, forget);
  g_queue_clear_full (&chain->way, forget);
  g_mutex_clear (&chain->lock);
  g_rand_free (chain->rand);
  g_free (chain->said);
  g_free (chain);
}
