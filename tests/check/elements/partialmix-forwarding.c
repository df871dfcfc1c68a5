/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Streams that pass through partialmix as they are. */

#include <gst/net/gstnetaddressmeta.h>

#include "mixrig.h"

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
    fail_unless (rig_nth (listener, i) == buffer);
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

  rig_talkers (rig, 1, 8, RIG_L16);
  /* three separate, five mixed */
  rig_set_target (listener, RIG_L16_MIX_BPS + (guint) (3.3 * RIG_L16_BPS));
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

  rig_talkers (rig, 1, 2, RIG_L16);
  rig_play (rig);
  for (i = 0; i < 6; i++) {
    rig_set_target (listener, i % 2 ? RIG_L16_MIX_BPS : 0);
    rig_run (rig, 20);
  }
  rig_set_target (listener, 0);
  rig_run (rig, 10);
  for (i = 0; i < listener->buffers->len; i++) {
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
    guint which;

    fail_unless (gst_rtp_buffer_map (rig_nth (listener, i), GST_MAP_READ,
            &rtp));
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

  rig_talkers (rig, 1, 2, RIG_L16);
  talker = g_ptr_array_index (rig->talkers, 0);
  rig_play (rig);
  rig_run (rig, 10);
  late = rig_packet (rig, talker);
  rig_run (rig, 10);
  rig_set_target (listener, RIG_L16_MIX_BPS);
  rig_run (rig, 10);
  fail_unless_equals_int (rig_pad_stat (listener, "n-mixed"), 2);
  before = rig_count_packets (listener, talker->ssrc);
  gst_pad_push (talker->pad, late);
  fail_unless_equals_int (rig_count_packets (listener, talker->ssrc),
      before + 1);

  /* and one from its time in the mix is not forwarded */
  late = rig_packet (rig, talker);
  rig_run (rig, 10);
  rig_set_target (listener, 0);
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

/* As tfrcrate sends it to learn what a path carries */
static GstBuffer *
padding (RigTalker * talker)
{
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (0, 4, 0);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_ssrc (&rtp, talker->ssrc);
  gst_rtp_buffer_set_seq (&rtp, talker->seq++);
  gst_rtp_buffer_unmap (&rtp);
  return buffer;
}

/* It ends with the hop that it came over; what is forwarded shows no loss. */
GST_START_TEST (test_padding_leaves_no_gap)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker = rig_talker (rig, "sink_5", 1, RIG_PCMU, 440, 8000);
  GstBufferList *list = gst_buffer_list_new ();
  guint i;

  rig_play (rig);
  for (i = 0; i < 20; i++)
    gst_buffer_list_add (list, i % 4 == 1 || i % 4 == 2 ? padding (talker)
        : rig_packet (rig, talker));
  if (__i__ == 0) {
    for (i = 0; i < 20; i++)
      gst_pad_push (talker->pad, gst_buffer_ref (gst_buffer_list_get (list,
                  i)));
    gst_buffer_list_unref (list);
  } else {
    gst_pad_push_list (talker->pad, list);
  }
  fail_unless_equals_int (rig_count_whole (listener, talker->ssrc, 0), 10);
  rig_free (rig);
}

GST_END_TEST;

/* Each second packet is padding when the talker's numbers begin anew: two packets of media
 * in a row, which prove that, have one of padding between them. */
GST_START_TEST (test_who_begins_anew_among_padding_is_heard)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker = rig_talker (rig, "sink_5", 1, RIG_PCMU, 440, 8000);
  guint before, i;

  rig_play (rig);
  rig_run (rig, 20);
  before = rig_count_packets (listener, talker->ssrc);
  talker->seq += 20000;
  for (i = 0; i < 20; i++) {
    rig_run (rig, 1);
    gst_pad_push (talker->pad, padding (talker));
  }
  /* 100 ms without a packet of before prove that nobody else has the SSRC */
  fail_unless (rig_count_packets (listener, talker->ssrc) >= before + 14);
  rig_free (rig);
}

GST_END_TEST;

static guint16
seq_of (RigListener * listener, guint i)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint16 seq;

  gst_rtp_buffer_map (rig_nth (listener, i), GST_MAP_READ, &rtp);
  seq = gst_rtp_buffer_get_seq (&rtp);
  gst_rtp_buffer_unmap (&rtp);
  return seq;
}

/* What is missing before it is lost, as far as is known, or comes later. */
GST_START_TEST (test_padding_hides_no_loss_and_overtakes_nobody)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker = rig_talker (rig, "sink_5", 1, RIG_PCMU, 440, 8000);
  GstBuffer *late;

  rig_play (rig);
  rig_send (rig, talker);
  late = rig_packet (rig, talker);
  gst_pad_push (talker->pad, padding (talker));
  rig_send (rig, talker);
  gst_pad_push (talker->pad, late);
  fail_unless_equals_int (listener->buffers->len, 3);
  fail_unless ((guint16) (seq_of (listener, 1) - seq_of (listener, 0)) > 1);
  fail_unless_equals_int ((guint16) (seq_of (listener, 2)
          - seq_of (listener, 0)), 1);
  rig_free (rig);
}

GST_END_TEST;

static void
come_from (GstBuffer * buffer, guint port)
{
  GSocketAddress *from = g_inet_socket_address_new_from_string ("127.0.0.1",
      port);

  gst_buffer_add_net_address_meta (buffer, from);
  g_object_unref (from);
}

/* ... or the number that it has would be taken from who has the SSRC. */
GST_START_TEST (test_padding_from_elsewhere_takes_no_number)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker = rig_talker (rig, "sink_5", 1, RIG_PCMU, 440, 8000);
  guint i;

  rig_play (rig);
  for (i = 0; i < 20; i++) {
    RigTalker forger = *talker;
    GstBuffer *buffer = padding (&forger);

    come_from (buffer, 6000);
    if (i > 0 && i < 10)
      gst_pad_push (talker->pad, buffer);
    else
      gst_buffer_unref (buffer);
    buffer = rig_packet (rig, talker);
    come_from (buffer, 5000);
    gst_pad_push (talker->pad, buffer);
  }
  fail_unless_equals_int (rig_count_whole (listener, talker->ssrc, 0), 20);
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
  rig_set_target (listener, 80000 + 400000);
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

  rig_set_target (listener, 200000);
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

  rig_set_target (listener, 20000);
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

  rig_talkers (rig, 1, 2, RIG_PCMU);
  rig_set_target (listener, 100000);
  rig_play (rig);
  rig_run (rig, 20);
  talker = g_ptr_array_index (rig->talkers, 0);
  for (i = 0; i < listener->buffers->len; i++) {
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
    gboolean mix;

    gst_rtp_buffer_map (rig_nth (listener, i), GST_MAP_READ, &rtp);
    mix = gst_rtp_buffer_get_csrc_count (&rtp) > 0;
    gst_rtp_buffer_unmap (&rtp);
    if (mix)
      gst_pad_push (talker->pad, gst_buffer_ref (rig_nth (listener, i)));
  }
  fail_unless (rig_stat (rig, "n-loops") > 10);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 2);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
partialmix_forwarding_suite (void)
{
  Suite *suite = suite_create ("partialmix-forwarding");
  TCase *tc;

  tc = tcase_create ("forwarding");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_unlimited_streams_pass_untouched);
  tcase_add_test (tc, test_forwarded_streams_are_not_decoded);
  tcase_add_test (tc,
      test_stream_that_leaves_and_returns_shows_no_sequence_gap);
  tcase_add_test (tc, test_late_packets_go_the_way_of_their_timestamp);
  tcase_add_test (tc, test_lists_in_are_lists_out);
  tcase_add_loop_test (tc, test_padding_leaves_no_gap, 0, 2);
  tcase_add_test (tc, test_who_begins_anew_among_padding_is_heard);
  tcase_add_test (tc, test_padding_hides_no_loss_and_overtakes_nobody);
  tcase_add_test (tc, test_padding_from_elsewhere_takes_no_number);
  tcase_add_test (tc, test_two_hundred_ssrcs_on_one_pad);
  tcase_add_test (tc, test_flood_of_ssrcs_is_bounded);
  tcase_add_test (tc, test_colliding_ssrc_leaves_under_another);
  tcase_add_test (tc, test_malformed_packets_are_counted_and_nothing_else);
  tcase_add_test (tc, test_our_own_mix_coming_back_is_a_loop);
  return suite;
}

GST_CHECK_MAIN (partialmix_forwarding);
