/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What partialmix promises about streams, packets and pads; what is heard is
 * in partialmix-sound.c. */

#include <stdlib.h>
#include <string.h>

#include <glib/gstdio.h>

#include "fairmix/wire/fmx-audio-level.h"
#include "mixrig.h"

#define L16_BPS ((2 * RIG_FRAME + 40) * 8 * 50)
#define L16_MIX_BPS ((2 * RIG_FRAME + 40 + 8 * 4 + 4 + 12) * 8 * 50)

static void
set_target (RigListener * listener, guint bps)
{
  g_object_set (listener->peer, "target-bitrate", bps, NULL);
}

static void
send_target_event (RigListener * listener, guint bps)
{
  fail_unless (gst_pad_push_event (listener->pad,
          gst_event_new_custom (GST_EVENT_CUSTOM_UPSTREAM,
              gst_structure_new ("fairmix-target-bitrate", "bitrate",
                  G_TYPE_UINT, bps, NULL))));
}

static void
add_talkers (Rig * rig, guint first, guint n, RigEncoding encoding)
{
  guint i;

  for (i = first; i < first + n; i++) {
    gchar *name = g_strdup_printf ("sink_%u", i);

    rig_talker (rig, name, 100 + i, encoding, 200 + 50 * (i % 40), 1000);
    g_free (name);
  }
}

static GstBuffer *
nth (RigListener * listener, guint i)
{
  return g_ptr_array_index (listener->buffers, i);
}

/* ------------------------------------------------------------ forwarding -- */

GST_START_TEST (test_unlimited_streams_pass_untouched)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 77, RIG_OPUS, 440, 8000);
  GstCaps *reference = gst_caps_from_string ("timestamp/x-test");
  guint i;

  rig_play (rig);
  for (i = 0; i < 50; i++) {
    GstBuffer *buffer;

    rig_advance (rig, rig->frame * 20 * GST_MSECOND);
    buffer = rig_packet (rig, talker);
    gst_buffer_add_reference_timestamp_meta (buffer, reference, i,
        GST_CLOCK_TIME_NONE);
    gst_pad_push (talker->pad, gst_buffer_ref (buffer));
    /* the very same buffer, from the arriving thread */
    fail_unless_equals_int (listener->buffers->len, i + 1);
    fail_unless (nth (listener, i) == buffer);
    gst_buffer_unref (buffer);
    rig->frame++;
  }
  fail_unless_equals_uint64 (rig_stat (rig, "n-decoded"), 0);
  fail_unless_equals_uint64 (rig_stat (rig, "n-encoded"), 0);
  gst_caps_unref (reference);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_forwarded_streams_are_not_decoded)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  guint64 decoded;

  add_talkers (rig, 1, 8, RIG_L16);
  /* three separate, five mixed */
  set_target (listener, L16_MIX_BPS + (guint) (3.3 * L16_BPS));
  rig_play (rig);
  rig_run (rig, 30);
  fail_unless_equals_int (rig_pad_stat (listener, "n-separate"), 3);
  fail_unless_equals_int (rig_pad_stat (listener, "n-mixed"), 5);
  decoded = rig_stat (rig, "n-decoded");
  rig_run (rig, 100);
  fail_unless_equals_uint64 (rig_stat (rig, "n-decoded") - decoded, 500);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_stream_that_leaves_and_returns_shows_no_sequence_gap)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  guint16 next[3] = { 0, };
  gboolean seen[3] = { FALSE, };
  guint i;

  add_talkers (rig, 1, 2, RIG_L16);
  rig_play (rig);
  for (i = 0; i < 6; i++) {
    set_target (listener, i % 2 ? L16_MIX_BPS : 0);
    rig_run (rig, 20);
  }
  set_target (listener, 0);
  rig_run (rig, 10);
  for (i = 0; i < listener->buffers->len; i++) {
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
    guint which;

    fail_unless (gst_rtp_buffer_map (nth (listener, i), GST_MAP_READ, &rtp));
    /* 101 and 102 are the streams, the third is the mix */
    which = MIN (gst_rtp_buffer_get_ssrc (&rtp) - 101, 2);
    if (seen[which])
      fail_unless_equals_int (gst_rtp_buffer_get_seq (&rtp), next[which]);
    seen[which] = TRUE;
    next[which] = (guint16) (gst_rtp_buffer_get_seq (&rtp) + 1);
    gst_rtp_buffer_unmap (&rtp);
  }
  fail_unless (seen[0] && seen[1] && seen[2]);
  fail_unless (rig_count_packets (listener, 101) < 100);
  rig_free (rig);
}

GST_END_TEST;

/* A packet that the network held back goes the way that its timestamp says,
 * however long ago the stream took another. */
GST_START_TEST (test_late_packets_go_the_way_of_their_timestamp)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker;
  GstBuffer *late;
  guint before;

  add_talkers (rig, 1, 2, RIG_L16);
  talker = g_ptr_array_index (rig->talkers, 0);
  rig_play (rig);
  rig_run (rig, 10);
  late = rig_packet (rig, talker);
  rig_run (rig, 10);
  set_target (listener, L16_MIX_BPS);
  rig_run (rig, 10);
  fail_unless_equals_int (rig_pad_stat (listener, "n-mixed"), 2);
  before = rig_count_packets (listener, talker->ssrc);
  gst_pad_push (talker->pad, late);
  fail_unless_equals_int (rig_count_packets (listener, talker->ssrc),
      before + 1);

  /* and one from its time in the mix is not forwarded */
  late = rig_packet (rig, talker);
  rig_run (rig, 10);
  set_target (listener, 0);
  rig_run (rig, 10);
  before = rig_count_packets (listener, talker->ssrc);
  gst_pad_push (talker->pad, late);
  fail_unless_equals_int (rig_count_packets (listener, talker->ssrc), before);
  rig_free (rig);
}

GST_END_TEST;

static GstPadProbeReturn
count_lists (GstPad * pad G_GNUC_UNUSED, GstPadProbeInfo * info G_GNUC_UNUSED,
    gpointer user_data)
{
  ++*(guint *) user_data;
  return GST_PAD_PROBE_OK;
}

GST_START_TEST (test_lists_in_are_lists_out)
{
  Rig *rig = rig_new (NULL);
  RigListener *one = rig_listener (rig, "src_0", NULL);
  RigListener *two = rig_listener (rig, "src_1", NULL);
  RigTalker *talker = rig_talker (rig, "sink_5", 1, RIG_PCMU, 440, 8000);
  GstBufferList *list = gst_buffer_list_new ();
  guint n_lists = 0;
  guint i;

  gst_pad_add_probe (one->peer, GST_PAD_PROBE_TYPE_BUFFER_LIST, count_lists,
      &n_lists, NULL);
  rig_play (rig);
  for (i = 0; i < 10; i++)
    gst_buffer_list_add (list, rig_packet (rig, talker));
  /* one that is none does not spoil the others */
  gst_buffer_list_insert (list, 3, gst_buffer_new_allocate (NULL, 7, NULL));
  fail_unless_equals_int (gst_pad_push_list (talker->pad, list), GST_FLOW_OK);
  fail_unless_equals_int (n_lists, 1);
  fail_unless_equals_int (one->n_lists, 1);
  fail_unless_equals_int (one->buffers->len, 10);
  fail_unless_equals_int (two->buffers->len, 10);
  fail_unless_equals_uint64 (rig_stat (rig, "n-malformed"), 1);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_two_hundred_ssrcs_on_one_pad)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *first = rig_talker (rig, "sink_1", 1000, RIG_PCMU, 440, 8000);
  guint i;

  for (i = 1; i < 200; i++)
    rig_talker_beside (rig, first, 1000 + i, 440, 8000);
  rig_play (rig);
  rig_run (rig, 10);
  fail_unless_equals_int (rig_count_ssrcs (listener, 0), 200);
  fail_unless_equals_int (listener->buffers->len, 2000);
  /* and mixed, when there is no room */
  set_target (listener, 80000 + 400000);
  i = listener->buffers->len;
  rig_run (rig, 20);
  fail_unless (rig_count_ssrcs (listener, i + 400) <= 6);
  fail_unless (rig_pad_stat (listener, "n-mixed") >= 195);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_flood_of_ssrcs_is_bounded)
{
  Rig *rig = rig_new ("max-streams=50");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 1, RIG_PCMU, 440, 8000);
  guint i;

  set_target (listener, 200000);
  rig_play (rig);
  rig_run (rig, 3);
  for (i = 0; i < 3000; i++) {
    talker->ssrc = 5000 + i;
    rig_send (rig, talker);
  }
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 50);
  fail_unless_equals_uint64 (rig_stat (rig, "n-refused"), 3000 - 49);
  /* the first is still served */
  talker->ssrc = 1;
  i = listener->buffers->len;
  rig_run (rig, 10);
  fail_unless (listener->buffers->len >= i + 9);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_colliding_ssrc_leaves_under_another)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);

  rig_talker (rig, "sink_1", 4242, RIG_PCMU, 440, 8000);
  rig_talker (rig, "sink_2", 4242, RIG_PCMU, 880, 8000);
  rig_play (rig);
  rig_run (rig, 10);
  fail_unless_equals_int (rig_count_ssrcs (listener, 0), 2);
  fail_unless_equals_int (rig_count_packets (listener, 4242), 10);
  fail_unless_equals_uint64 (rig_stat (rig, "n-collisions"), 1);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_malformed_packets_are_counted_and_nothing_else)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 7, RIG_OPUS, 440, 8000);
  GRand *rand = g_rand_new_with_seed (11);
  guint i, k;

  set_target (listener, 20000);
  rig_play (rig);
  for (i = 0; i < 3000; i++) {
    GstBuffer *buffer = gst_buffer_make_writable (rig_packet (rig, talker));
    GstMapInfo map;

    gst_buffer_map (buffer, &map, GST_MAP_READWRITE);
    for (k = 0; k < 4; k++)
      map.data[g_rand_int_range (rand, 0, (gint) MIN (map.size, 24))] =
          (guint8) g_rand_int (rand);
    gst_buffer_unmap (buffer, &map);
    if (i % 3 == 0)
      gst_buffer_set_size (buffer, g_rand_int_range (rand, 0,
              (gint) gst_buffer_get_size (buffer)));
    fail_unless_equals_int (gst_pad_push (talker->pad, buffer), GST_FLOW_OK);
    if (i % 10 == 0)
      rig_run (rig, 1);
  }
  fail_unless (rig_stat (rig, "n-malformed") > 100);
  fail_unless (rig_stat (rig, "n-streams") <= 1024);
  g_rand_free (rand);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_our_own_mix_coming_back_is_a_loop)
{
  Rig *rig = rig_new ("mix-encoding=pcmu");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker;
  guint i;

  add_talkers (rig, 1, 2, RIG_PCMU);
  set_target (listener, 100000);
  rig_play (rig);
  rig_run (rig, 20);
  talker = g_ptr_array_index (rig->talkers, 0);
  for (i = 0; i < listener->buffers->len; i++) {
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
    gboolean mix;

    gst_rtp_buffer_map (nth (listener, i), GST_MAP_READ, &rtp);
    mix = gst_rtp_buffer_get_csrc_count (&rtp) > 0;
    gst_rtp_buffer_unmap (&rtp);
    if (mix)
      gst_pad_push (talker->pad, gst_buffer_ref (nth (listener, i)));
  }
  fail_unless (rig_stat (rig, "n-loops") > 10);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 2);
  rig_free (rig);
}

GST_END_TEST;

/* ----------------------------------------------------------------- mixing -- */

GST_START_TEST (test_neighbours_with_the_same_mix_share_one_encode)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listeners[3];
  guint64 encoded;
  guint i;

  listeners[0] = rig_listener (rig, "src_10", NULL);
  listeners[1] = rig_listener (rig, "src_11", NULL);
  listeners[2] = rig_listener (rig, "src_12", NULL);
  add_talkers (rig, 1, 4, RIG_L16);
  for (i = 0; i < 3; i++)
    set_target (listeners[i], L16_MIX_BPS);
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

    set_target (rig_listener (rig, name, NULL), L16_MIX_BPS);
    g_free (name);
  }
  add_talkers (rig, 0, 3, RIG_L16);
  rig_play (rig);
  rig_run (rig, 30);
  encoded = rig_stat (rig, "n-encoded");
  rig_run (rig, 100);
  fail_unless_equals_uint64 (rig_stat (rig, "n-encoded") - encoded, 400);
  rig_free (rig);
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

    set_target (rig_listener (rig, name, NULL), L16_MIX_BPS);
    g_free (name);
  }
  add_talkers (rig, 0, 4, RIG_L16);
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

GST_START_TEST (test_silent_streams_cost_nothing)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  guint64 decoded, encoded;
  guint packets, i;

  add_talkers (rig, 1, 8, RIG_OPUS);
  set_target (listener, 64000);
  rig_play (rig);
  rig_run (rig, 30);
  /* their packets go on, but say that they are silent */
  for (i = 0; i < 8; i++)
    ((RigTalker *) g_ptr_array_index (rig->talkers, i))->level = 127;
  rig_run (rig, 30);
  decoded = rig_stat (rig, "n-decoded");
  encoded = rig_stat (rig, "n-encoded");
  packets = listener->buffers->len;
  rig_run (rig, 100);
  fail_unless_equals_uint64 (rig_stat (rig, "n-decoded") - decoded, 0);
  fail_unless_equals_uint64 (rig_stat (rig, "n-encoded") - encoded, 0);
  fail_unless_equals_int (listener->buffers->len, packets);
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
  set_target (listener, 80000);
  rig_play (rig);
  rig_run (rig, 30);
  fail_unless (gst_rtp_buffer_map (nth (listener, listener->buffers->len - 1),
          GST_MAP_READ, &rtp));
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

    gst_rtp_buffer_map (nth (phone, i), GST_MAP_READ, &rtp);
    fail_unless_equals_int (gst_rtp_buffer_get_payload_type (&rtp), 0);
    fail_unless_equals_int (gst_rtp_buffer_get_payload_len (&rtp), 160);
    gst_rtp_buffer_unmap (&rtp);
  }
  rig_free (rig);
}

GST_END_TEST;

/* -------------------------------------------------------------- selection -- */

GST_START_TEST (test_target_events_are_obeyed_at_once)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  guint n;

  add_talkers (rig, 1, 4, RIG_L16);
  rig_play (rig);
  rig_run (rig, 10);
  fail_unless_equals_int (rig_pad_stat (listener, "n-separate"), 4);
  send_target_event (listener, L16_MIX_BPS + L16_BPS);
  fail_unless_equals_int (rig_pad_stat (listener, "n-separate"), 1);
  /* 0 in an event is nothing at all */
  send_target_event (listener, 0);
  rig_run (rig, 5);
  n = listener->buffers->len;
  rig_run (rig, 20);
  fail_unless_equals_int (listener->buffers->len, n);
  send_target_event (listener, 100 * L16_BPS);
  rig_run (rig, 5);
  fail_unless_equals_int (rig_pad_stat (listener, "n-separate"), 4);
  rig_free (rig);
}

GST_END_TEST;

/* whether even the leanest mix is too much is the controller's to say */
GST_START_TEST (test_any_target_but_0_carries_a_mix)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  guint n;

  add_talkers (rig, 1, 8, RIG_OPUS);
  send_target_event (listener, 1);
  rig_play (rig);
  rig_run (rig, 20);
  n = listener->buffers->len;
  rig_run (rig, 50);
  fail_unless_equals_int (listener->buffers->len, n + 50);
  fail_unless_equals_int (rig_count_ssrcs (listener, n), 1);
  /* 12 kbit/s of Opus and 40 bytes of headers */
  fail_unless (rig_pad_stat (listener, "bitrate-out") < 30000);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_one_message_for_each_change_of_a_selection)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);

  add_talkers (rig, 1, 4, RIG_L16);
  rig_play (rig);
  rig_run (rig, 20);
  rig_count_messages (rig, "fairmix-selection");
  rig_run (rig, 50);
  fail_unless_equals_int (rig_count_messages (rig, "fairmix-selection"), 0);
  set_target (listener, L16_MIX_BPS);
  rig_run (rig, 50);
  fail_unless_equals_int (rig_count_messages (rig, "fairmix-selection"), 1);
  rig_free (rig);
}

GST_END_TEST;

/* in a second there is a packet more or less, as they come; and what is
 * forwarded is not heard */
GST_START_TEST (test_jitter_moves_no_selection)
{
  Rig *rig = rig_new ("mix-encoding=l16 headroom=0");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  GRand *rand = g_rand_new_with_seed (1);
  guint i, k;

  add_talkers (rig, 1, 6, RIG_L16);
  set_target (listener, L16_MIX_BPS + 3 * L16_BPS - L16_BPS / 50);
  rig_play (rig);
  /* until everybody was in the mix once, and was heard there */
  rig_run (rig, 150);
  rig_count_messages (rig, "fairmix-selection");
  for (k = 0; k < 300; k++) {
    GstClockTime at = (rig->frame * 20
        + (guint) g_rand_int_range (rand, 0, 60)) * GST_MSECOND;

    rig_advance (rig, MAX (at, gst_clock_get_time (GST_CLOCK (rig->clock))));
    for (i = 0; i < rig->talkers->len; i++)
      rig_send (rig, g_ptr_array_index (rig->talkers, i));
    rig->frame++;
  }
  fail_unless_equals_int (rig_pad_stat (listener, "n-separate"), 2);
  fail_unless_equals_int (rig_count_messages (rig, "fairmix-selection"), 0);
  g_rand_free (rand);
  rig_free (rig);
}

GST_END_TEST;

static void
write_database (const gchar * path, const gchar * text)
{
  fail_unless (g_file_set_contents (path, text, -1, NULL));
}

static gchar *
state_of (RigListener * listener, guint ssrc)
{
  GstStructure *stats = rig_pad_stats (listener);
  const GValue *streams = gst_structure_get_value (stats, "streams");
  gchar *state = NULL;
  guint i;

  for (i = 0; i < gst_value_array_get_size (streams); i++) {
    const GstStructure *s = gst_value_get_structure (gst_value_array_get_value
        (streams, i));
    guint this;

    gst_structure_get_uint (s, "ssrc", &this);
    if (this == ssrc)
      state = g_strdup (gst_structure_get_string (s, "state"));
  }
  gst_structure_free (stats);
  return state;
}

#define assert_state(listener, ssrc, expected) G_STMT_START {           \
  gchar *state_ = state_of (listener, ssrc);                            \
  fail_unless_equals_string (state_, expected);                         \
  g_free (state_);                                                      \
} G_STMT_END

GST_START_TEST (test_database_guides_and_is_reloaded)
{
  gchar *path = g_build_filename (g_get_tmp_dir (), "partialmix-XXXXXX", NULL);
  gint fd = g_mkstemp (path);
  gchar *line;
  Rig *rig;
  RigListener *listener;

  g_close (fd, NULL);
  write_database (path, "[ssrc:104]\npriority=5\n");
  line = g_strdup_printf ("mix-encoding=l16 database-location=%s", path);
  rig = rig_new (line);
  listener = rig_listener (rig, "src_0", NULL);
  add_talkers (rig, 1, 4, RIG_L16);
  set_target (listener, L16_MIX_BPS + (guint) (1.2 * L16_BPS));
  rig_play (rig);
  rig_run (rig, 20);
  assert_state (listener, 104, "separate");
  assert_state (listener, 101, "mixed");

  write_database (path, "[ssrc:0x66]\nnever-mix=true\n[ssrc:103]\nmute=true\n");
  rig_run (rig, 120);
  assert_state (listener, 102, "separate");
  assert_state (listener, 103, "none");
  assert_state (listener, 104, "mixed");

  /* nonsense changes nothing and is said */
  write_database (path, "nonsense\n");
  rig_count_messages (rig, "none");
  rig_run (rig, 120);
  assert_state (listener, 102, "separate");

  g_unlink (path);
  rig_free (rig);
  g_free (line);
  g_free (path);
}

GST_END_TEST;

GST_START_TEST (test_groups_get_a_mix_each_before_they_share_one)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  guint i;

  add_talkers (rig, 1, 6, RIG_L16);
  for (i = 1; i <= 6; i++) {
    GstStructure *s = gst_structure_new ("stream", "group", G_TYPE_STRING,
        i <= 3 ? "red" : "blue", NULL);

    g_signal_emit_by_name (rig->mix, "set-stream", 100 + i, s);
    gst_structure_free (s);
  }
  set_target (listener, (guint) (2.3 * L16_MIX_BPS));
  rig_play (rig);
  rig_run (rig, 20);
  fail_unless_equals_int (rig_pad_stat (listener, "n-mixes"), 2);
  fail_unless_equals_int (rig_pad_stat (listener, "n-mixed"), 6);
  set_target (listener, (guint) (1.3 * L16_MIX_BPS));
  rig_run (rig, 20);
  fail_unless_equals_int (rig_pad_stat (listener, "n-mixes"), 1);
  fail_unless_equals_int (rig_pad_stat (listener, "n-mixed"), 6);
  rig_free (rig);
}

GST_END_TEST;

/* ------------------------------------------------------- pads and states -- */

GST_START_TEST (test_streams_time_out_say_bye_and_are_unlinked)
{
  Rig *rig = rig_new ("stream-timeout=1000000000");
  RigTalker *talker;

  rig_listener (rig, "src_0", NULL);
  add_talkers (rig, 1, 4, RIG_PCMU);
  rig_play (rig);
  rig_run (rig, 10);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 4);

  talker = g_ptr_array_index (rig->talkers, 0);
  gst_pad_push_event (talker->pad, gst_event_new_custom
      (GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new ("fairmix-bye", "ssrc",
              G_TYPE_UINT, talker->ssrc, NULL)));
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 3);
  talker->silent = TRUE;

  rig_remove_talker (rig, g_ptr_array_index (rig->talkers, 1));
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 2);

  ((RigTalker *) g_ptr_array_index (rig->talkers, 1))->silent = TRUE;
  rig_run (rig, 100);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 1);
  rig_free (rig);
}

GST_END_TEST;

static void
add_bye (GstRTCPBuffer * rtcp, guint32 ssrc)
{
  GstRTCPPacket packet;

  fail_unless (gst_rtcp_buffer_add_packet (rtcp, GST_RTCP_TYPE_BYE, &packet));
  fail_unless (gst_rtcp_packet_bye_add_ssrc (&packet, ssrc));
}

static void
add_cname (GstRTCPBuffer * rtcp, guint32 ssrc, const gchar * cname)
{
  GstRTCPPacket packet;

  fail_unless (gst_rtcp_buffer_add_packet (rtcp, GST_RTCP_TYPE_SDES,
          &packet));
  gst_rtcp_packet_sdes_add_item (&packet, ssrc);
  gst_rtcp_packet_sdes_add_entry (&packet, GST_RTCP_SDES_CNAME,
      (guint8) strlen (cname), (const guint8 *) cname);
}

GST_START_TEST (test_rtcp_tells_names_and_who_leaves)
{
  Rig *rig = rig_new (NULL);
  GstPad *pad = gst_element_request_pad_simple (rig->mix, "rtcp_sink_1");
  GstPad *from = gst_pad_new (NULL, GST_PAD_SRC);
  GstCaps *caps = gst_caps_new_empty_simple ("application/x-rtcp");
  GstBuffer *buffer = gst_rtcp_buffer_new (1400);
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstStructure *stats;
  const GValue *streams;

  rig_listener (rig, "src_0", NULL);
  add_talkers (rig, 1, 2, RIG_PCMU);
  rig_play (rig);
  rig_run (rig, 5);
  fail_unless_equals_int (gst_pad_link (from, pad), GST_PAD_LINK_OK);
  gst_pad_set_active (from, TRUE);
  gst_check_setup_events_with_stream_id (from, rig->mix, caps,
      GST_FORMAT_TIME, "rtcp");

  gst_rtcp_buffer_map (buffer, GST_MAP_READWRITE, &rtcp);
  add_cname (&rtcp, 101, "alice@example.org");
  add_bye (&rtcp, 101);
  /* not hers to say: 102 is neighbour 2's */
  add_bye (&rtcp, 102);
  gst_rtcp_buffer_unmap (&rtcp);
  fail_unless_equals_int (gst_pad_push (from, gst_buffer_copy_deep (buffer)),
      GST_FLOW_OK);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 1);

  /* the name is remembered for when she comes back */
  rig_run (rig, 1);
  g_object_get (rig->mix, "stats", &stats, NULL);
  streams = gst_structure_get_value (stats, "streams");
  fail_unless_equals_string (gst_structure_get_string (gst_value_get_structure
          (gst_value_array_get_value (streams, 0)), "cname"),
      "alice@example.org");
  gst_structure_free (stats);

  /* cut off: malformed */
  gst_buffer_set_size (buffer, (gssize) gst_buffer_get_size (buffer) - 3);
  gst_pad_push (from, buffer);
  fail_unless_equals_uint64 (rig_stat (rig, "n-malformed"), 1);
  gst_pad_set_active (from, FALSE);
  gst_pad_unlink (from, pad);
  gst_element_release_request_pad (rig->mix, pad);
  gst_object_unref (pad);
  gst_object_unref (from);
  gst_caps_unref (caps);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_unknown_payload_type_is_said_once)
{
  Rig *rig = rig_new (NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 1, RIG_PCMU, 440, 8000);
  GstMessage *message;
  guint i;

  rig_listener (rig, "src_0", NULL);
  rig_play (rig);
  for (i = 0; i < 10; i++) {
    GstBuffer *buffer = rig_packet (rig, talker);
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
    gst_rtp_buffer_set_payload_type (&rtp, 111);
    gst_rtp_buffer_unmap (&rtp);
    gst_pad_push (talker->pad, buffer);
  }
  message = gst_bus_pop_filtered (rig->bus, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_unref (message);
  fail_unless (gst_bus_pop_filtered (rig->bus, GST_MESSAGE_WARNING) == NULL);
  fail_unless_equals_uint64 (rig_stat (rig, "n-unknown-format"), 10);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_peer_that_cannot_be_served_is_said_and_others_go_on)
{
  Rig *rig = rig_new (NULL);
  RigListener *odd = rig_listener (rig, "src_0",
      "audio/x-raw,format=S16LE,rate=44100,channels=2,layout=interleaved");
  RigListener *video = rig_listener (rig, "src_1",
      "application/x-rtp,media=audio,encoding-name=SPEEX");
  RigListener *good = rig_listener (rig, "src_2", NULL);
  guint n = 0;
  GstMessage *message;

  add_talkers (rig, 5, 2, RIG_OPUS);
  rig_play (rig);
  rig_run (rig, 30);
  while ((message = gst_bus_pop_filtered (rig->bus, GST_MESSAGE_WARNING))
      != NULL) {
    n++;
    gst_message_unref (message);
  }
  fail_unless_equals_int (n, 2);
  fail_unless_equals_int (odd->buffers->len, 0);
  fail_unless_equals_int (video->buffers->len, 0);
  fail_unless_equals_int (good->buffers->len, 60);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_listeners_come_and_go_while_playing)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  GRand *rand = g_rand_new_with_seed (3);
  guint i;

  add_talkers (rig, 0, 6, RIG_L16);
  rig_play (rig);
  for (i = 0; i < 200; i++) {
    guint n = rig->listeners->len;

    if (n == 0 || (n < 8 && g_rand_boolean (rand)))
      set_target (rig_listener (rig, "src_%u", NULL), L16_MIX_BPS
          * (guint) g_rand_int_range (rand, 0, 4));
    else
      rig_remove_listener (rig, g_ptr_array_index (rig->listeners,
              (guint) g_rand_int_range (rand, 0, (gint) n)));
    rig_run (rig, 2);
  }
  fail_unless (rig_stat (rig, "n-encoded") > 100);
  g_rand_free (rand);
  rig_free (rig);
}

GST_END_TEST;

typedef struct
{
  Rig *rig;
  gint stop;
} Load;

static gpointer
send_load (gpointer data)
{
  Load *load = data;
  Rig *rig = load->rig;
  RigTalker *talker = g_ptr_array_index (rig->talkers, 0);

  while (!g_atomic_int_get (&load->stop))
    gst_pad_push (talker->pad, rig_packet (rig, talker));
  return NULL;
}

GST_START_TEST (test_pads_come_and_go_under_load)
{
  Rig *rig = rig_new (NULL);
  Load load = { rig, FALSE };
  GThread *thread;
  guint i;

  rig_talker (rig, "sink_100", 1, RIG_PCMU, 440, 8000);
  rig_play (rig);
  thread = g_thread_new ("load", send_load, &load);
  for (i = 0; i < 300; i++) {
    RigListener *listener = rig_listener (rig, "src_%u", NULL);
    RigTalker *talker = rig_talker (rig, "sink_%u", 50 + i, RIG_PCMU, 440,
        8000);

    set_target (listener, i % 2 ? 100000 : 0);
    gst_pad_push (talker->pad, rig_packet (rig, talker));
    rig_advance (rig, i * 20 * GST_MSECOND);
    rig_remove_talker (rig, talker);
    rig_remove_listener (rig, listener);
  }
  g_atomic_int_set (&load.stop, TRUE);
  g_thread_join (thread);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_states_go_up_and_down_again_and_again)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  guint i, n;

  add_talkers (rig, 1, 3, RIG_OPUS);
  set_target (listener, 64000);
  for (i = 0; i < 5; i++) {
    static const GstState down[] = {
      GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_NULL
    };

    rig_play (rig);
    n = listener->buffers->len;
    rig_run (rig, 20);
    fail_unless (listener->buffers->len > n + 10);
    fail_unless (gst_element_set_state (rig->mix, down[i % 3])
        != GST_STATE_CHANGE_FAILURE);
  }
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_flush_starts_afresh)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker;
  GstSegment segment;
  guint n;

  add_talkers (rig, 1, 2, RIG_L16);
  set_target (listener, L16_MIX_BPS);
  rig_play (rig);
  rig_run (rig, 20);
  talker = g_ptr_array_index (rig->talkers, 0);
  fail_unless (gst_pad_push_event (talker->pad, gst_event_new_flush_start ()));
  fail_unless (gst_pad_push_event (talker->pad, gst_event_new_flush_stop
          (TRUE)));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (talker->pad, gst_event_new_segment (&segment));
  talker->ts_base += 1234567;
  talker->seq += 999;
  n = listener->buffers->len;
  rig_run (rig, 50);
  fail_unless (listener->buffers->len >= n + 45);
  fail_unless (rig_stat (rig, "n-decoded") > 100);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_eos_comes_after_the_last_word)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  guint n;

  add_talkers (rig, 1, 2, RIG_L16);
  set_target (listener, L16_MIX_BPS);
  rig_play (rig);
  rig_run (rig, 20);
  gst_pad_push_event (((RigTalker *) g_ptr_array_index (rig->talkers,
              0))->pad, gst_event_new_eos ());
  ((RigTalker *) g_ptr_array_index (rig->talkers, 0))->silent = TRUE;
  rig_run (rig, 20);
  fail_if (listener->eos);
  gst_pad_push_event (((RigTalker *) g_ptr_array_index (rig->talkers,
              1))->pad, gst_event_new_eos ());
  n = listener->buffers->len;
  fail_if (listener->eos);
  rig_advance (rig, rig->frame * 20 * GST_MSECOND + GST_SECOND);
  fail_unless (listener->eos);
  fail_unless (listener->buffers->len > n);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_latency_is_one_frame_and_the_playout_delay)
{
  Rig *rig = rig_new ("latency=30000000");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  GstQuery *query = gst_query_new_latency ();
  GstClockTime min, max;
  gboolean live;

  rig_play (rig);
  fail_unless (gst_pad_peer_query (listener->pad, query));
  gst_query_parse_latency (query, &live, &min, &max);
  fail_unless (live);
  fail_unless (min >= 50 * GST_MSECOND && min <= 60 * GST_MSECOND);
  fail_unless (max == GST_CLOCK_TIME_NONE);
  gst_query_unref (query);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_clock_jump_is_skipped_not_caught_up)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  GstClockID id;
  guint n;

  add_talkers (rig, 1, 2, RIG_L16);
  set_target (listener, L16_MIX_BPS);
  rig_play (rig);
  rig_run (rig, 20);
  n = listener->buffers->len;
  /* an hour passes between two ticks */
  gst_test_clock_wait_for_next_pending_id (rig->clock, NULL);
  gst_test_clock_set_time (rig->clock, 3600 * GST_SECOND);
  id = gst_test_clock_process_next_clock_id (rig->clock);
  gst_clock_id_unref (id);
  rig->frame = 3600 * 50;
  rig_run (rig, 50);
  fail_unless (listener->buffers->len < n + 80);
  fail_unless (listener->buffers->len > n + 40);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_absurd_properties_are_clamped_or_refused)
{
  Rig *rig = rig_new ("database-location=/nonexistent/database");
  GstMessage *message;

  fail_unless_equals_int (gst_element_set_state (rig->mix, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (rig->bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_unref (message);
  g_object_set (rig->mix, "database-location", NULL, NULL);
  g_object_set (rig->mix, "min-mix-bitrate", 500000, "max-mix-bitrate", 6000,
      "headroom", 0.9, "ramp-duration", 10 * GST_MSECOND, "latency",
      (guint64) 0, NULL);
  set_target (rig_listener (rig, "src_0", NULL), 1);
  add_talkers (rig, 1, 2, RIG_OPUS);
  rig_play (rig);
  rig_run (rig, 20);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
partialmix_suite (void)
{
  Suite *s = suite_create ("partialmix");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_unlimited_streams_pass_untouched);
  tcase_add_test (tc, test_forwarded_streams_are_not_decoded);
  tcase_add_test (tc, test_stream_that_leaves_and_returns_shows_no_sequence_gap);
  tcase_add_test (tc, test_late_packets_go_the_way_of_their_timestamp);
  tcase_add_test (tc, test_lists_in_are_lists_out);
  tcase_add_test (tc, test_two_hundred_ssrcs_on_one_pad);
  tcase_add_test (tc, test_flood_of_ssrcs_is_bounded);
  tcase_add_test (tc, test_colliding_ssrc_leaves_under_another);
  tcase_add_test (tc, test_malformed_packets_are_counted_and_nothing_else);
  tcase_add_test (tc, test_our_own_mix_coming_back_is_a_loop);
  tcase_add_test (tc, test_neighbours_with_the_same_mix_share_one_encode);
  tcase_add_test (tc, test_encodes_are_one_plus_the_talkers_in_the_mix);
  tcase_add_test (tc, test_mixes_that_became_equal_join);
  tcase_add_test (tc, test_silent_streams_cost_nothing);
  tcase_add_test (tc, test_mix_names_contributors_and_their_levels);
  tcase_add_test (tc, test_encoding_that_is_not_accepted_is_mixed);
  tcase_add_test (tc, test_target_events_are_obeyed_at_once);
  tcase_add_test (tc, test_any_target_but_0_carries_a_mix);
  tcase_add_test (tc, test_one_message_for_each_change_of_a_selection);
  tcase_add_test (tc, test_jitter_moves_no_selection);
  tcase_add_test (tc, test_database_guides_and_is_reloaded);
  tcase_add_test (tc, test_groups_get_a_mix_each_before_they_share_one);
  tcase_add_test (tc, test_streams_time_out_say_bye_and_are_unlinked);
  tcase_add_test (tc, test_rtcp_tells_names_and_who_leaves);
  tcase_add_test (tc, test_unknown_payload_type_is_said_once);
  tcase_add_test (tc,
      test_peer_that_cannot_be_served_is_said_and_others_go_on);
  tcase_add_test (tc, test_listeners_come_and_go_while_playing);
  tcase_add_test (tc, test_pads_come_and_go_under_load);
  tcase_add_test (tc, test_states_go_up_and_down_again_and_again);
  tcase_add_test (tc, test_flush_starts_afresh);
  tcase_add_test (tc, test_eos_comes_after_the_last_word);
  tcase_add_test (tc, test_latency_is_one_frame_and_the_playout_delay);
  tcase_add_test (tc, test_clock_jump_is_skipped_not_caught_up);
  tcase_add_test (tc, test_absurd_properties_are_clamped_or_refused);
  return s;
}

GST_CHECK_MAIN (partialmix);
