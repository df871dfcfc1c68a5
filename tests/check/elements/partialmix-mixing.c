/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a mix costs, and what it tells of those in it. */

#include <math.h>
#include <opus.h>
#include <stdlib.h>

#include "fairmix/wire/fmx-audio-level.h"
#include "mixrig.h"
#include "common/gstfairmixevents.h"

GST_START_TEST (test_neighbours_with_the_same_mix_share_one_encode)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listeners[3];
  guint64 encoded;
  guint i;

  listeners[0] = rig_listener (rig, "src_10", NULL);
  listeners[1] = rig_listener (rig, "src_11", NULL);
  listeners[2] = rig_listener (rig, "src_12", NULL);
  rig_talkers (rig, 1, 4, RIG_L16);
  for (i = 0; i < 3; i++)
    rig_set_target (listeners[i], RIG_L16_MIX_BPS);
  rig_play (rig);
  rig_run (rig, 20);
  encoded = rig_stat (rig, "n-encoded");
  rig_run (rig, 100);
  fail_unless_equals_uint64 (rig_stat (rig, "n-encoded") - encoded, 100);
  for (i = 0; i < 3; i++)
    fail_unless (listeners[i]->buffers->len > 110);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_encodes_are_one_plus_the_talkers_in_the_mix)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  guint64 encoded;
  guint i;

  /* twelve neighbours, three of whom talk */
  for (i = 0; i < 12; i++) {
    gchar *name = g_strdup_printf ("src_%u", i);

    rig_set_target (rig_listener (rig, name, NULL), RIG_L16_MIX_BPS);
    g_free (name);
  }
  rig_talkers (rig, 0, 3, RIG_L16);
  rig_play (rig);
  rig_run (rig, 30);
  encoded = rig_stat (rig, "n-encoded");
  rig_run (rig, 100);
  fail_unless_equals_uint64 (rig_stat (rig, "n-encoded") - encoded, 400);
  rig_free (rig);
}

GST_END_TEST;

/* Returns: the mode that Opus coded the latest mix in [RFC6716 3.1], where @loss percent of
 * the packets are lost */
static guint
mode_of_mix (const gchar * properties, guint loss)
{
  Rig *rig = rig_new (properties);
  RigListener *listener = rig_listener (rig, "src_9",
      "application/x-rtp,encoding-name=OPUS");
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  GstEvent *target = gst_fairmix_target_bitrate_event_new (200000);
  guint8 toc;

  rig_talkers (rig, 1, 2, RIG_L16);
  gst_fairmix_target_bitrate_event_set_loss (target, loss, 0);
  gst_pad_push_event (listener->pad, target);
  rig_play (rig);
  rig_run (rig, 30);
  fail_unless (gst_rtp_buffer_map (rig_nth (listener, listener->buffers->len -
              1), GST_MAP_READ, &rtp));
  toc = *(guint8 *) gst_rtp_buffer_get_payload (&rtp);
  gst_rtp_buffer_unmap (&rtp);
  rig_free (rig);
  return toc >> 3;
}

GST_START_TEST (test_a_mix_is_music_if_asked_to)
{
  static const gchar music[] = "max-mix-bitrate=32000 mix-music=true";

  fail_unless (mode_of_mix ("max-mix-bitrate=32000", 0) < 16);
  fail_unless (mode_of_mix (music, 0) >= 16);
  fail_unless (mode_of_mix (music, 20) >= 16);
}

GST_END_TEST;

/* When a talker falls silent its mix and the others' become the same: they
 * share one again. */
GST_START_TEST (test_mixes_that_became_equal_join)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  guint64 encoded;
  guint i;

  for (i = 0; i < 6; i++) {
    gchar *name = g_strdup_printf ("src_%u", i);

    rig_set_target (rig_listener (rig, name, NULL), RIG_L16_MIX_BPS);
    g_free (name);
  }
  rig_talkers (rig, 0, 4, RIG_L16);
  rig_play (rig);
  rig_run (rig, 30);
  ((RigTalker *) g_ptr_array_index (rig->talkers, 0))->silent = TRUE;
  rig_run (rig, 100);
  encoded = rig_stat (rig, "n-encoded");
  rig_run (rig, 100);
  fail_unless_equals_uint64 (rig_stat (rig, "n-encoded") - encoded, 400);
  rig_free (rig);
}

GST_END_TEST;

/* Eight voices whose packets go on, but say that they have @level; returns
 * whether that costs anything */
static gboolean
costs (const gchar * properties, gint level)
{
  Rig *rig = rig_new (properties);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  guint64 decoded, encoded;
  guint packets, i;
  gboolean some, all;

  rig_talkers (rig, 1, 8, RIG_OPUS);
  rig_set_target (listener, 64000);
  rig_play (rig);
  rig_run (rig, 30);
  for (i = 0; i < 8; i++)
    ((RigTalker *) g_ptr_array_index (rig->talkers, i))->level = level;
  rig_run (rig, 30);
  decoded = rig_stat (rig, "n-decoded");
  encoded = rig_stat (rig, "n-encoded");
  packets = listener->buffers->len;
  rig_run (rig, 100);
  decoded = rig_stat (rig, "n-decoded") - decoded;
  encoded = rig_stat (rig, "n-encoded") - encoded;
  packets = listener->buffers->len - packets;
  some = decoded > 0 || encoded > 0 || packets > 0;
  all = decoded > 0 && encoded > 0 && packets > 0;
  fail_unless (some == all);
  rig_free (rig);
  return some;
}

GST_START_TEST (test_silent_streams_cost_nothing)
{
  fail_if (costs (NULL, 127));
  fail_if (costs (NULL, 80));
  fail_if (costs ("silence-level=60", 60));
  fail_unless (costs ("silence-level=60", 59));
}

GST_END_TEST;

/* Its first packet tells the level of what was before, as it does with stock elements. */
GST_START_TEST (test_a_word_is_heard_from_where_it_begins)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0",
      "application/x-rtp,encoding-name=L16,clock-rate=48000");
  RigTalker *talker = rig_talker (rig, "sink_1", 1, RIG_OPUS, 400, 0);
  const guint begin = 50;
  gdouble *heard;

  opus_encoder_destroy (talker->encoder);
  talker->encoder = opus_encoder_create (RIG_RATE, 1, OPUS_APPLICATION_VOIP,
      NULL);
  opus_encoder_ctl (talker->encoder, OPUS_SET_BITRATE (32000));
  talker->level = 127;
  rig_play (rig);
  rig_run (rig, begin);
  talker->amplitude = 8000;
  rig_run (rig, 1);
  talker->level = 15;
  rig_run (rig, 10);
  heard = rig_hear (rig, listener, 0);
  /* a packet begins 6.5 ms before what it is made of */
  rig_assert_level (heard, begin * RIG_FRAME + RIG_FRAME / 2, RIG_FRAME / 2,
      400, 8000, 1.5);
  g_free (heard);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_mix_names_contributors_and_their_levels)
{
  Rig *rig = rig_new ("csrc-audio-level-id=5");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint8 levels[15];
  gpointer data;
  guint size;

  rig_talker (rig, "sink_1", 1001, RIG_OPUS, 440, 1000);
  rig_talker (rig, "sink_2", 1002, RIG_OPUS, 700, 16000);
  rig_talker (rig, "sink_3", 1003, RIG_OPUS, 900, 4000);
  rig_set_target (listener, 80000);
  rig_play (rig);
  rig_run (rig, 30);
  fail_unless (gst_rtp_buffer_map (rig_nth (listener,
              listener->buffers->len - 1), GST_MAP_READ, &rtp));
  fail_unless_equals_int (gst_rtp_buffer_get_csrc_count (&rtp), 3);
  fail_unless_equals_int (gst_rtp_buffer_get_csrc (&rtp, 0), 1002);
  fail_unless_equals_int (gst_rtp_buffer_get_csrc (&rtp, 1), 1003);
  fail_unless_equals_int (gst_rtp_buffer_get_csrc (&rtp, 2), 1001);
  fail_unless (gst_rtp_buffer_get_extension_onebyte_header (&rtp, 5, 0, &data,
          &size));
  fail_unless_equals_int (fmx_csrc_audio_levels_parse (data, size, levels, 15),
      3);
  /* sines of 16000, 4000 and 1000 against a full-scale square wave */
  fail_unless (abs (levels[0] - 9) <= 1);
  fail_unless (abs (levels[1] - 21) <= 1);
  fail_unless (abs (levels[2] - 33) <= 1);
  gst_rtp_buffer_unmap (&rtp);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_encoding_that_is_not_accepted_is_mixed)
{
  Rig *rig = rig_new (NULL);
  RigListener *phone = rig_listener (rig, "src_0",
      "application/x-rtp,media=audio,encoding-name=PCMU,payload=0,"
      "clock-rate=8000");
  guint i;

  rig_talker (rig, "sink_1", 1, RIG_OPUS, 440, 8000);
  rig_talker (rig, "sink_2", 2, RIG_PCMU, 880, 8000);
  rig_play (rig);
  rig_run (rig, 50);
  fail_unless_equals_int (rig_count_packets (phone, 1), 0);
  fail_unless_equals_int (rig_count_packets (phone, 2), 50);
  fail_unless (phone->buffers->len > 90);
  for (i = 0; i < phone->buffers->len; i++) {
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    gst_rtp_buffer_map (rig_nth (phone, i), GST_MAP_READ, &rtp);
    fail_unless_equals_int (gst_rtp_buffer_get_payload_type (&rtp), 0);
    fail_unless_equals_int (gst_rtp_buffer_get_payload_len (&rtp), 160);
    gst_rtp_buffer_unmap (&rtp);
  }
  rig_free (rig);
}

GST_END_TEST;

/* 60 ms of L16 are 5,760 bytes: more than any other mix, and all of it leaves. */
GST_START_TEST (test_the_largest_packet_holds_all_of_its_frame)
{
  Rig *rig = rig_new ("mix-encoding=l16 frame-duration=60000000 latency=0");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint n;

  rig_talkers (rig, 1, 2, RIG_L16);
  rig_set_target (listener, RIG_L16_MIX_BPS);
  rig_play (rig);
  rig_run (rig, 60);
  n = listener->buffers->len;
  fail_unless (n > 5);
  fail_unless (gst_rtp_buffer_map (rig_nth (listener, n - 1), GST_MAP_READ,
          &rtp));
  fail_unless_equals_int (gst_rtp_buffer_get_csrc_count (&rtp), 2);
  fail_unless_equals_int (gst_rtp_buffer_get_payload_len (&rtp),
      3 * RIG_FRAME * sizeof (gint16));
  gst_rtp_buffer_unmap (&rtp);
  rig_free (rig);
}

GST_END_TEST;

#define N_TALKERS 4
#define OFF_TICK (13 * GST_MSECOND)     /* packets begin within the frames of the mix */
#define OFF_TICK_SAMPLES (13 * RIG_RATE / 1000)

static void
run_off_tick (Rig * rig, guint n_frames)
{
  for (guint k = 0; k < n_frames; k++) {
    rig_advance (rig, rig->frame * 20 * GST_MSECOND + OFF_TICK);
    for (guint i = 0; i < rig->talkers->len; i++) {
      RigTalker *talker = g_ptr_array_index (rig->talkers, i);
      GstBuffer *packet = rig_packet (rig, talker);

      GST_BUFFER_PTS (packet) += OFF_TICK;
      fail_unless_equals_int (gst_pad_push (talker->pad, packet), GST_FLOW_OK);
    }
    rig->frame++;
  }
}

/* What it said when it was last in a mix is not missed there. */
GST_START_TEST (test_who_comes_back_to_a_mix_is_whole_from_the_first_packet_on)
{
  Rig *rig = rig_new ("mix-encoding=l16 ramp-duration=0");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  gdouble *heard;
  guint k, i;

  rig_talkers (rig, 1, N_TALKERS, RIG_L16);
  rig_play (rig);
  for (k = 0; k < 12; k++) {
    rig_set_target (listener, k % 2 == 0 ? 0 : RIG_L16_MIX_BPS);
    run_off_tick (rig, 30);
  }
  heard = rig_hear (rig, listener, 0);
  for (i = 2 * RIG_FRAME; i < (rig->frame - 5) * RIG_FRAME; i++) {
    gdouble expected = 0.0;

    for (k = 0; k < N_TALKERS; k++) {
      RigTalker *talker = g_ptr_array_index (rig->talkers, k);

      expected += (gdouble) lrint (talker->amplitude * sin (2.0 * G_PI
              * talker->frequency * i / RIG_RATE));
    }
    fail_unless (heard[i + OFF_TICK_SAMPLES] == expected, "sample %u", i);
  }
  g_free (heard);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
partialmix_mixing_suite (void)
{
  Suite *suite = suite_create ("partialmix-mixing");
  TCase *tc;

  tc = tcase_create ("mixing");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_neighbours_with_the_same_mix_share_one_encode);
  tcase_add_test (tc, test_encodes_are_one_plus_the_talkers_in_the_mix);
  tcase_add_test (tc, test_a_mix_is_music_if_asked_to);
  tcase_add_test (tc, test_mixes_that_became_equal_join);
  tcase_add_test (tc, test_the_largest_packet_holds_all_of_its_frame);
  tcase_add_test (tc, test_silent_streams_cost_nothing);
  tcase_add_test (tc, test_a_word_is_heard_from_where_it_begins);
  tcase_add_test (tc, test_mix_names_contributors_and_their_levels);
  tcase_add_test (tc, test_encoding_that_is_not_accepted_is_mixed);
  tcase_add_test (tc,
      test_who_comes_back_to_a_mix_is_whole_from_the_first_packet_on);
  return suite;
}

GST_CHECK_MAIN (partialmix_mixing);
