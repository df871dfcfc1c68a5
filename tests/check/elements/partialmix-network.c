/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What listeners hear where packets are lost, late, or not of this stream. */

#include <gst/net/gstnetaddressmeta.h>
#include <opus.h>

#include "mixrig.h"

/* Every tenth frame of a talker has another tone, which no concealment can
 * guess.  @lose: these packets do not come.  @offset: in samples, where in the
 * mixer's frames the packets begin
 * Returns: the amplitude of that tone in its frames, as it is mixed */
static gdouble
hear_bursts (gboolean fec, gboolean lose, guint offset)
{
  const guint n_frames = 200, period = 10;
  /* what takes no Opus gets a mix */
  Rig *rig = rig_new ("mix-pt=97");
  RigListener *listener = rig_listener (rig, "src_0",
      "application/x-rtp,encoding-name=L16,clock-rate=48000");
  RigTalker *talker = rig_talker (rig, "sink_1", 1, RIG_OPUS, 400, 6000);
  gdouble amplitude = 0.0;
  gdouble *heard;
  guint k;

  /* in-band FEC is a part of SILK */
  opus_encoder_destroy (talker->encoder);
  talker->encoder = opus_encoder_create (RIG_RATE, 1, OPUS_APPLICATION_VOIP,
      NULL);
  opus_encoder_ctl (talker->encoder, OPUS_SET_BITRATE (24000));
  opus_encoder_ctl (talker->encoder, OPUS_SET_MAX_BANDWIDTH
      (OPUS_BANDWIDTH_WIDEBAND));
  opus_encoder_ctl (talker->encoder, OPUS_SET_INBAND_FEC (fec));
  opus_encoder_ctl (talker->encoder, OPUS_SET_PACKET_LOSS_PERC (20));
  rig_play (rig);
  for (k = 0; k < n_frames; k++) {
    gboolean burst = k % period == 0;
    GstBuffer *buffer;

    rig_advance (rig, rig->frame * 20 * GST_MSECOND);
    talker->frequency = burst ? 1000 : 400;
    buffer = rig_packet (rig, talker);
    GST_BUFFER_PTS (buffer) += offset * GST_SECOND / RIG_RATE;
    if (burst && lose)
      gst_buffer_unref (buffer);
    else
      gst_pad_push (talker->pad, buffer);
    rig->frame++;
  }
  rig_advance (rig, rig->frame * 20 * GST_MSECOND);
  heard = rig_hear (rig, listener, 0);
  for (k = 2 * period; k < n_frames - period; k += period)
    amplitude += rig_tone (heard, k * RIG_FRAME + RIG_FRAME / 4 + offset,
        RIG_FRAME, 1000) / (n_frames / period - 3);
  g_free (heard);
  rig_free (rig);
  return amplitude;
}

/* What a lost packet held is heard from the next one, where the talker sends
 * it there: more than half of it, and not from concealment.  Wherever in a frame of
 * the mixer it is missing: the next one is not due before the frame after. */
GST_START_TEST (test_lost_packets_are_heard_from_in_band_fec)
{
  guint offset = (guint) __i__ * RIG_FRAME / 4;
  gdouble sent = hear_bursts (TRUE, FALSE, offset);
  gdouble concealed = hear_bursts (FALSE, TRUE, offset);
  gdouble recovered = hear_bursts (TRUE, TRUE, offset);

  fail_unless (sent > 2000, "%g", sent);
  fail_unless (recovered > 0.5 * sent, "%g of %g", recovered, sent);
  fail_unless (concealed < 0.1 * sent, "%g of %g", concealed, sent);
}

GST_END_TEST;

/* A path that becomes slower, by a time that is no multiple of anything, and fast
 * again: what is made up joins on both sides, and what is cut out, too.  Two tones in opposite
 * phase go over within 2.5 ms at the fastest, in twice the tone's own step. */
GST_START_TEST (test_no_click_when_the_delay_changes)
{
  /* SILK below CELT, and CELT alone */
  const gint applications[] = { OPUS_APPLICATION_VOIP,
    OPUS_APPLICATION_RESTRICTED_LOWDELAY
  };
  const guint n_frames = 600;
  const gdouble frequency = 440, amplitude = 6000;
  const gdouble own = 2 * G_PI * frequency / RIG_RATE * amplitude;
  Rig *rig = rig_new ("mix-pt=97");
  RigListener *listener = rig_listener (rig, "src_0",
      "application/x-rtp,encoding-name=L16,clock-rate=48000");
  RigTalker *talker = rig_talker (rig, "sink_1", 1, RIG_OPUS, frequency,
      amplitude);
  GstClockTime late = 0;
  gdouble *heard, step;
  guint k;

  opus_encoder_destroy (talker->encoder);
  talker->encoder = opus_encoder_create (RIG_RATE, 1, applications[__i__],
      NULL);
  opus_encoder_ctl (talker->encoder, OPUS_SET_BITRATE (32000));
  opus_encoder_ctl (talker->encoder, OPUS_SET_SIGNAL (OPUS_SIGNAL_VOICE));
  rig_play (rig);
  for (k = 0; k < n_frames; k++) {
    GstBuffer *buffer = rig_packet (rig, talker);

    if (k == 50 || k == 100)
      late += 47 * GST_MSECOND;
    else if (k > 70 && k < 80)  /* at half their pace */
      late += 20 * GST_MSECOND;
    else if (k > 150 && late > 0)       /* and faster again: the delay shrinks */
      late -= MIN (late, 15 * GST_MSECOND);
    rig_advance (rig, rig->frame * 20 * GST_MSECOND + late);
    GST_BUFFER_PTS (buffer) += 5562500 * GST_NSECOND;
    gst_pad_push (talker->pad, buffer);
    rig->frame++;
  }
  rig_advance (rig, rig->frame * 20 * GST_MSECOND + late);
  heard = rig_hear (rig, listener, 0);
  fail_unless (rig_tone (heard, 120 * RIG_FRAME, 20 * RIG_FRAME, frequency)
      > amplitude / 2);
  step = rig_largest_step (heard, 20 * RIG_FRAME, (n_frames - 30) * RIG_FRAME);
  fail_unless (step < 2 * own, "a step of %g, the tone's own is %g", step, own);
  g_free (heard);
  rig_free (rig);
}

GST_END_TEST;

/* 10 % loss, reordering and duplicates before the mixer */
GST_START_TEST (test_mix_survives_a_bad_network)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  GRand *rand = g_rand_new_with_seed (5);
  GstBuffer *held = NULL;
  RigTalker *talker;
  gdouble *heard;
  guint k;

  talker = rig_talker (rig, "sink_1", 1, RIG_OPUS, 700, 6000);
  rig_talker (rig, "sink_2", 2, RIG_OPUS, 1000, 6000);
  rig_set_target (listener, 64000);
  rig_play (rig);
  for (k = 0; k < 500; k++) {
    guint dice = (guint) g_rand_int_range (rand, 0, 20);
    GstBuffer *buffer;

    rig_advance (rig, rig->frame * 20 * GST_MSECOND);
    buffer = rig_packet (rig, talker);
    if (dice < 2)
      gst_buffer_unref (buffer);
    else if (dice == 2 && held == NULL)
      held = buffer;
    else
      gst_pad_push (talker->pad, buffer);
    if (dice == 3 && held == NULL)
      gst_pad_push (talker->pad, gst_buffer_ref (buffer));
    if (dice > 3 && held != NULL)
      gst_pad_push (talker->pad, g_steal_pointer (&held));
    rig_send (rig, g_ptr_array_index (rig->talkers, 1));
    rig->frame++;
  }
  gst_clear_buffer (&held);
  rig_advance (rig, rig->frame * 20 * GST_MSECOND);
  heard = rig_hear (rig, listener, 0);
  /* the good stream is not touched, the bad one is there most of the time */
  rig_assert_level (heard, 50 * RIG_FRAME, 400 * RIG_FRAME, 1000, 6000, 1.0);
  for (k = 50; k < 450; k += 50)
    fail_unless (rig_tone (heard, k * RIG_FRAME, 5 * RIG_FRAME, 700) > 2000);
  g_rand_free (rand);
  g_free (heard);
  rig_free (rig);
}

GST_END_TEST;

/* The sender behind an SSRC begins anew: its sequence numbers and timestamps go
 * back, and say nothing of where it was mixed before. */
static void
begin_anew (RigTalker * talker, gboolean flush)
{
  GstSegment segment;

  talker->ts_base -= 60 * RIG_RATE;
  talker->seq -= 5000;
  if (!flush)
    return;
  fail_unless (gst_pad_push_event (talker->pad, gst_event_new_flush_start ()));
  fail_unless (gst_pad_push_event (talker->pad, gst_event_new_flush_stop
          (TRUE)));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (talker->pad, gst_event_new_segment (&segment));
}

GST_START_TEST (test_sender_that_begins_anew_is_mixed_as_before)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  gdouble *heard;
  guint64 forwarded;
  guint i;

  rig_talkers (rig, 1, 2, RIG_L16);
  rig_play (rig);
  rig_run (rig, 20);
  rig_set_target (listener, RIG_L16_MIX_BPS);
  rig_run (rig, 20);
  forwarded = rig_stat (rig, "n-forwarded");
  for (i = 0; i < 2; i++)
    begin_anew (g_ptr_array_index (rig->talkers, i), i == (guint) __i__);
  rig_run (rig, 50);
  fail_unless_equals_uint64 (rig_stat (rig, "n-forwarded"), forwarded);

  rig_set_target (listener, 0);
  rig_run (rig, 20);
  fail_unless_equals_uint64 (rig_stat (rig, "n-forwarded"), forwarded + 40);
  heard = rig_hear (rig, listener, 0);
  for (i = 1; i <= 2; i++)
    rig_assert_level (heard, 60 * RIG_FRAME, 40 * RIG_FRAME, 200 + 50 * i, 1000,
        1.0);
  g_free (heard);
  rig_free (rig);
}

GST_END_TEST;

/* and one packet of a past that nobody knows is no beginning */
GST_START_TEST (test_stray_packet_is_not_sent_on)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker, past;
  guint before;

  rig_talkers (rig, 1, 1, RIG_L16);
  talker = g_ptr_array_index (rig->talkers, 0);
  rig_play (rig);
  rig_run (rig, 20);
  before = listener->buffers->len;
  past = *talker;
  begin_anew (&past, FALSE);
  rig_send (rig, &past);
  fail_unless_equals_int (listener->buffers->len, before);
  rig_run (rig, 20);
  fail_unless_equals_int (listener->buffers->len, before + 20);
  rig_free (rig);
}

GST_END_TEST;

/* A queue on the path: each second it grows to 100 ms, and is empty again soon. */
static GstClockTime
queue_of (guint k)
{
  const guint at = k % 50;

  if (at < 20 || at > 40)
    return 0;
  return MIN (MIN (at - 20, 40 - at), 5) * 20 * GST_MSECOND;
}

static void
send_through (Rig * rig, RigTalker * talker, guint port, GstClockTime queue)
{
  GstBuffer *buffer = rig_packet (rig, talker);
  GSocketAddress *from = g_inet_socket_address_new_from_string ("127.0.0.1",
      port);

  GST_BUFFER_PTS (buffer) += queue;
  gst_buffer_add_net_address_meta (buffer, from);
  gst_pad_push (talker->pad, buffer);
  g_object_unref (from);
}

static guint64
stream_stat (Rig * rig, guint32 ssrc, const gchar * field)
{
  GstStructure *stats;
  const GValue *streams;
  guint64 value = G_MAXUINT64;
  guint i;

  g_object_get (rig->mix, "stats", &stats, NULL);
  streams = gst_structure_get_value (stats, "streams");
  for (i = 0; i < gst_value_array_get_size (streams); i++) {
    const GstStructure *s =
        g_value_get_boxed (gst_value_array_get_value (streams, i));
    guint here;

    if (gst_structure_get_uint (s, "ssrc", &here) && here == ssrc)
      gst_structure_get_uint64 (s, field, &value);
  }
  gst_structure_free (stats);
  return value;
}

/* Who comes the same way, on a pad of its own (rtpbin), needs not lose packets to learn
 * what the others know of it; who comes from elsewhere learns for itself. */
GST_START_TEST (test_streams_of_one_path_are_played_alike)
{
  const gboolean same = __i__ == 0;
  const guint n_alone = 600, n_both = 200;
  Rig *rig = rig_new (NULL);
  RigTalker *first = rig_talker (rig, "sink_1", 1, RIG_L16, 300, 1000);
  RigTalker *second = rig_talker (rig, "sink_2", 2, RIG_L16, 500, 1000);
  guint k;

  g_object_set (second->peer, "neighbour", 1, NULL);
  rig_listener (rig, "src_0", "audio/x-raw,channels=2");
  rig_play (rig);
  for (k = 0; k < n_alone + n_both; k++) {
    rig_advance (rig, rig->frame * 20 * GST_MSECOND + queue_of (k));
    send_through (rig, first, 5000, queue_of (k));
    if (k >= n_alone)
      send_through (rig, second, same ? 5000 : 5002, queue_of (k));
    rig->frame++;
  }
  fail_unless (stream_stat (rig, 1, "n-concealed") > 0);
  fail_unless_equals_int (stream_stat (rig, 2, "n-concealed") == 0, same);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
partialmix_network_suite (void)
{
  Suite *suite = suite_create ("partialmix-network");
  TCase *tc;

  tc = tcase_create ("network");
  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_lost_packets_are_heard_from_in_band_fec, 0, 4);
  tcase_add_loop_test (tc, test_no_click_when_the_delay_changes, 0, 2);
  tcase_add_test (tc, test_mix_survives_a_bad_network);
  tcase_add_loop_test (tc, test_sender_that_begins_anew_is_mixed_as_before, 0,
      3);
  tcase_add_test (tc, test_stray_packet_is_not_sent_on);
  tcase_add_loop_test (tc, test_streams_of_one_path_are_played_alike, 0, 2);
  return suite;
}

GST_CHECK_MAIN (partialmix_network);
