/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A talker who does not send the pauses between what he says (DTX), as a listener hears
 * him. */

#include <math.h>
#include <opus.h>
#include <string.h>

#include "mixrig.h"

#define MONO "audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=1"
#define SPEAKS 75               /* frames of 20 ms */
#define PAUSE 150
#define NOISE_DBOV -50.0
#define DTX_BYTES 2
/* While libopus makes up a talker by his pitch, and lower by and by: 5 frames in 1.3,
 * 10 in 1.5, after which it makes up noise */
#define PITCH_FRAMES 10

static guint dtx_since[2];      /* of each pause, the first frame that is not sent */

/* Sample @i of somebody who hums in syllables, in a room that hisses */
static gint16
say (GRand * rand, guint64 i, gboolean speaks)
{
  const gdouble rms = 32768.0 * pow (10.0, NOISE_DBOV / 20.0);
  gdouble t = (gdouble) i / RIG_RATE, sample, hum = 0.0;
  guint k;

  /* evenly random: rms is the half width over sqrt (3) */
  sample = g_rand_double_range (rand, -1.0, 1.0) * rms * sqrt (3.0);
  for (k = 1; speaks && k <= 20; k++)
    hum += sin (2.0 * G_PI * 140.0 * k * t + k * k) / k;
  return (gint16) lrint (sample + 3000.0 * hum * (1.0 - cos (8.0 * G_PI * t)));
}

/* Returns: the packet of the next 20 ms; NULL if it need not be sent */
static GstBuffer *
speak (Rig * rig, RigTalker * talker, GRand * rand, gboolean sends_dtx)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  gint16 samples[RIG_FRAME];
  guint8 payload[1500];
  GstBuffer *buffer;
  gint size;
  guint i;

  for (i = 0; i < RIG_FRAME; i++)
    samples[i] = say (rand, (guint64) rig->frame * RIG_FRAME + i,
        rig->frame % (SPEAKS + PAUSE) < SPEAKS);
  size = opus_encode (talker->encoder, samples, RIG_FRAME, payload,
      sizeof payload);
  fail_unless (size > 0);
  if (size <= DTX_BYTES && rig->frame % (SPEAKS + PAUSE) >= SPEAKS
      && dtx_since[rig->frame / (SPEAKS + PAUSE)] == 0)
    dtx_since[rig->frame / (SPEAKS + PAUSE)] = (guint) rig->frame;
  if (size <= DTX_BYTES && !sends_dtx)
    return NULL;
  buffer = gst_rtp_buffer_new_allocate ((guint) size, 0, 0);
  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_payload_type (&rtp, 96);
  gst_rtp_buffer_set_ssrc (&rtp, talker->ssrc);
  gst_rtp_buffer_set_seq (&rtp, talker->seq++);
  gst_rtp_buffer_set_timestamp (&rtp, rig->frame * RIG_FRAME);
  memcpy (gst_rtp_buffer_get_payload (&rtp), payload, (gsize) size);
  gst_rtp_buffer_unmap (&rtp);
  GST_BUFFER_PTS (buffer) = rig->frame * 20 * GST_MSECOND;
  return buffer;
}

static RigTalker *
dtx_talker (Rig * rig, const gchar * name, guint32 ssrc)
{
  RigTalker *talker = rig_talker (rig, name, ssrc, RIG_OPUS, 0, 0);

  opus_encoder_destroy (talker->encoder);
  talker->encoder = opus_encoder_create (RIG_RATE, 1, OPUS_APPLICATION_VOIP,
      NULL);
  opus_encoder_ctl (talker->encoder, OPUS_SET_BITRATE (24000));
  opus_encoder_ctl (talker->encoder, OPUS_SET_DTX (1));
  return talker;
}

/* With somebody who is silent in what this one does not take there is always a mix, and
 * no room for more. */
static RigListener *
mix_listener (Rig * rig, guint bps)
{
  RigListener *listener = rig_listener (rig, "src_0",
      "application/x-rtp,encoding-name=OPUS");

  rig_talker (rig, "sink_2", 3, RIG_PCMU, 400, 0);
  rig_set_target (listener, bps);
  return listener;
}

static gdouble
level_of (const gint16 * samples, guint n)
{
  gdouble energy = 0.0;
  guint i;

  for (i = 0; i < n; i++)
    energy += (gdouble) samples[i] * samples[i];
  return 10.0 * log10 (energy / n / 32768.0 / 32768.0 + 1e-13);
}

/* He is there for @n_frames. */
static void
run (Rig * rig, RigTalker * talker, GRand * rand, guint n_frames,
    gboolean sends_dtx)
{
  guint k;

  for (k = 0; k < n_frames; k++) {
    GstBuffer *buffer;

    rig_advance (rig, rig->frame * 20 * GST_MSECOND);
    buffer = speak (rig, talker, rand, sends_dtx);
    if (buffer != NULL)
      fail_unless_equals_int (gst_pad_push (talker->pad, buffer), GST_FLOW_OK);
    rig->frame++;
  }
}

/* The level of what @listener heard at @frame */
static gdouble
heard_at (RigListener * listener, guint frame)
{
  guint i;

  for (i = 0; i < listener->buffers->len; i++) {
    GstBuffer *buffer = rig_nth (listener, i);
    GstMapInfo map;
    gdouble level;

    if (GST_BUFFER_PTS (buffer) / (20 * GST_MSECOND) != frame)
      continue;
    gst_buffer_map (buffer, &map, GST_MAP_READ);
    level = level_of ((const gint16 *) map.data, (guint) map.size / 2);
    gst_buffer_unmap (buffer, &map);
    return level;
  }
  return -200.0;
}

/* From a little after he stops until he speaks again, the noise is about as it was, but
 * for a moment when its packets end. */
static void
check_pauses (RigListener * listener, guint n_pauses, gdouble least)
{
  guint pause, k;

  for (pause = 0; pause < n_pauses; pause++) {
    guint begin = pause * (SPEAKS + PAUSE) + SPEAKS, since = dtx_since[pause];

    for (k = begin + 10; k < begin + PAUSE; k++) {
      gdouble level = heard_at (listener, k);

      if (k >= since && k < since + PITCH_FRAMES)
        continue;
      fail_unless (level > least && level < NOISE_DBOV + 3.0,
          "%g dBov at %u", level, k);
    }
  }
}

/* Whether the empty packets of DTX are sent or not. */
GST_START_TEST (test_the_noise_goes_on_in_pauses)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", MONO);
  RigTalker *talker = dtx_talker (rig, "sink_1", 1);
  GRand *rand = g_rand_new_with_seed (7);
  guint n_packets;

  rig_play (rig);
  run (rig, talker, rand, 2 * (SPEAKS + PAUSE) + 10, __i__ == 1);
  n_packets = (guint) rig_stat (rig, "n-decoded");
  fail_unless (n_packets < 0.8 * rig->frame, "%u of %u are sent", n_packets,
      rig->frame);
  check_pauses (listener, 2, NOISE_DBOV - 10.0);
  g_rand_free (rand);
  rig_free (rig);
}

GST_END_TEST;

/* What @listener has got since the @first is heard by @ear's only talker. */
static guint
pass_on (Rig * ear, RigTalker * from, RigListener * listener, guint first)
{
  for (; first < listener->buffers->len; first++) {
    GstBuffer *buffer = gst_buffer_copy (rig_nth (listener, first));

    GST_BUFFER_PTS (buffer) = ear->frame * 20 * GST_MSECOND;
    fail_unless_equals_int (gst_pad_push (from->pad, buffer), GST_FLOW_OK);
  }
  return first;
}

/* Through a mixer, whose mix is silent in pauses, for who has a renderer. */
GST_START_TEST (test_the_noise_goes_on_behind_a_mixer)
{
  /* SILK and CELT */
  const gchar *const mixes[] = {
    "min-mix-bitrate=12000", "min-mix-bitrate=32000"
  };
  const guint targets[] = { 32000, 52000 };
  Rig *rig = rig_new (mixes[__i__]), *ear = rig_new (NULL);
  RigTalker *talker = dtx_talker (rig, "sink_1", 1);
  RigListener *mixed = mix_listener (rig, targets[__i__]);
  RigListener *listener = rig_listener (ear, "src_0", MONO);
  RigTalker *from = rig_talker (ear, "sink_1", 2, RIG_OPUS, 0, 0);
  GRand *rand = g_rand_new_with_seed (7);
  guint n = 0;

  rig_play (rig);
  rig_play (ear);
  while (rig->frame < SPEAKS + PAUSE + 10) {
    rig_send (rig, g_ptr_array_index (rig->talkers, 1));
    run (rig, talker, rand, 1, TRUE);
    rig_advance (ear, ear->frame * 20 * GST_MSECOND);
    n = pass_on (ear, from, mixed, n);
    ear->frame++;
  }
  /* SILK of 12 kbit/s makes it quieter, DTX or not */
  check_pauses (listener, 1, NOISE_DBOV - 17.0);
  g_rand_free (rand);
  rig_free (rig);
  rig_free (ear);
}

GST_END_TEST;

/* It is for renderers: nobody pays for it on the way. */
GST_START_TEST (test_who_is_gone_leaves_no_noise_behind)
{
  Rig *rig = rig_new (NULL);
  RigTalker *talker = dtx_talker (rig, "sink_1", 1);
  RigListener *mixed = mix_listener (rig, 32000);
  RigListener *listener = rig_listener (rig, "src_9", MONO);
  GRand *rand = g_rand_new_with_seed (7);
  guint gone = SPEAKS + 10, before;

  rig_play (rig);
  run (rig, talker, rand, gone, TRUE);
  talker->silent = TRUE;
  rig_run (rig, 30);
  before = mixed->buffers->len;
  fail_unless (before > SPEAKS);
  rig_run (rig, 70);
  fail_unless_equals_int (mixed->buffers->len, before);
  fail_unless (heard_at (listener, gone + 25) > NOISE_DBOV - 9.0);
  fail_unless (heard_at (listener, gone + 60) < -100.0);
  g_rand_free (rand);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
partialmix_dtx_suite (void)
{
  Suite *suite = suite_create ("partialmix-dtx");
  TCase *tc = tcase_create ("dtx");

  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_the_noise_goes_on_in_pauses, 0, 2);
  tcase_add_loop_test (tc, test_the_noise_goes_on_behind_a_mixer, 0, 2);
  tcase_add_test (tc, test_who_is_gone_leaves_no_noise_behind);
  return suite;
}

GST_CHECK_MAIN (partialmix_dtx);
