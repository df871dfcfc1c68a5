/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whom a mix names, with what levels, and what that may cost: CSRCs and
 * RFC 6465, also where mixers follow each other. */

#include <math.h>
#include <stdlib.h>

#include "fairmix/wire/fmx-audio-level.h"
#include "mixrig.h"

#define LEVEL_ID 5
#define PROPERTIES "mix-encoding=l16 csrc-audio-level-id=5"
#define L16_CAPS "application/x-rtp,media=audio,payload=97," \
  "encoding-name=L16,clock-rate=48000,channels=1," \
  "extmap-5=urn:ietf:params:rtp-hdrext:csrc-audio-level"

/* a mix and its names, and not a stream beside it */
#define ONE_MIX_BPS ((2 * RIG_FRAME + 40 + 15 * 4 + 4 + 16) * 8 * 50)

typedef struct
{
  guint n;
  guint32 ssrcs[FMX_CSRC_MAX];
  guint8 levels[FMX_CSRC_MAX];
} Names;

static Names
latest_names (RigListener * listener)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  Names names = { 0 };
  gpointer data;
  guint size, i;

  fail_unless (listener->buffers->len > 0);
  fail_unless (gst_rtp_buffer_map (rig_nth (listener,
              listener->buffers->len - 1), GST_MAP_READ, &rtp));
  names.n = gst_rtp_buffer_get_csrc_count (&rtp);
  for (i = 0; i < names.n; i++)
    names.ssrcs[i] = gst_rtp_buffer_get_csrc (&rtp, (guint8) i);
  if (names.n > 0) {
    fail_unless (gst_rtp_buffer_get_extension_onebyte_header (&rtp, LEVEL_ID,
            0, &data, &size));
    fail_unless_equals_int (fmx_csrc_audio_levels_parse (data, size,
            names.levels, FMX_CSRC_MAX), names.n);
  }
  gst_rtp_buffer_unmap (&rtp);
  return names;
}

/* ----------------------------------------------------------------- a chain */

/**
 * Node:
 *
 * A mixer with talkers of its own, between two others: its neighbour 1 is the
 * one before it, its neighbour 2 the one after it.
 */
typedef struct
{
  Rig *rig;
  RigListener *back, *forth;
  RigTalker *from_before;       /* never sends by itself */
} Node;

static Node
node_new (void)
{
  Node node = { rig_new (PROPERTIES), NULL, NULL, NULL };
  GstCaps *caps = gst_caps_from_string (L16_CAPS);

  node.back = rig_listener (node.rig, "src_1", NULL);
  node.forth = rig_listener (node.rig, "src_2", NULL);
  rig_set_target (node.back, ONE_MIX_BPS);
  rig_set_target (node.forth, ONE_MIX_BPS);
  node.from_before = rig_talker (node.rig, "sink_1", 0, RIG_L16, 0, 0);
  node.from_before->silent = TRUE;
  gst_pad_push_event (node.from_before->pad, gst_event_new_caps (caps));
  gst_caps_unref (caps);
  return node;
}

/* Talker @ssrc of @node, @n dB below a full-scale sine. */
static void
node_talker (Node * node, guint32 ssrc, gdouble n)
{
  gchar *name = g_strdup_printf ("sink_%u", ssrc);

  rig_talker (node->rig, name, ssrc, RIG_L16, 300 + 50 * (ssrc % 40),
      32767 * pow (10, -n / 20));
  g_free (name);
}

/* What @before has sent forth since, goes to @after. */
static void
relay (const Node * before, const Node * after, guint * n_relayed)
{
  GPtrArray *buffers = before->forth->buffers;

  for (; *n_relayed < buffers->len; ++*n_relayed) {
    GstBuffer *buffer = gst_buffer_copy (g_ptr_array_index (buffers,
            *n_relayed));

    gst_pad_push (after->from_before->pad, buffer);
  }
}

static void
run_chain (Node * nodes, guint n_nodes, guint n_frames)
{
  guint n_relayed[8] = { 0, };
  guint i, k;

  for (i = 0; i < n_nodes; i++)
    rig_play (nodes[i].rig);
  for (k = 0; k < n_frames; k++)
    for (i = 0; i < n_nodes; i++) {
      rig_run (nodes[i].rig, 1);
      if (i + 1 < n_nodes)
        relay (&nodes[i], &nodes[i + 1], &n_relayed[i]);
    }
}

static void
assert_names (RigListener * listener, const guint32 * ssrcs,
    const guint * levels, guint n)
{
  Names names = latest_names (listener);
  guint i;

  fail_unless_equals_int (names.n, n);
  for (i = 0; i < n; i++) {
    fail_unless_equals_int (names.ssrcs[i], ssrcs[i]);
    fail_unless (abs ((gint) names.levels[i] - (gint) levels[i]) <= 1,
        "%u: %u, not %u", names.ssrcs[i], names.levels[i], levels[i]);
  }
}

/* [RFC3550 7.3]; a full-scale sine has -3 dBov */
GST_START_TEST (test_a_chain_of_mixers_names_talkers_and_no_mixers)
{
  static const guint32 all[] = { 3001, 1001, 2001, 1002, 2002, 3002 };
  static const guint levels[] = { 13, 18, 23, 28, 33, 38 };
  static const guint32 second[] = { 2001, 2002 }, third[] = { 3001, 3002 };
  static const guint second_levels[] = { 23, 33 }, third_levels[] = { 13, 38 };
  Node nodes[3] = { node_new (), node_new (), node_new () };
  guint i;

  for (i = 0; i < 6; i++)
    node_talker (&nodes[all[i] / 1000 - 1], all[i], levels[i] - 3);
  run_chain (nodes, 3, 40);

  assert_names (nodes[2].forth, all, levels, 6);
  /* nobody is told of those whom he told of */
  assert_names (nodes[1].back, second, second_levels, 2);
  assert_names (nodes[2].back, third, third_levels, 2);
  for (i = 0; i < 3; i++)
    rig_free (nodes[i].rig);
}

GST_END_TEST;

GST_START_TEST (test_the_loudest_15_of_all_are_named)
{
  guint32 ssrcs[FMX_CSRC_MAX];
  guint levels[FMX_CSRC_MAX];
  Node nodes[2] = { node_new (), node_new () };
  guint i;

  for (i = 0; i < 24; i++)
    node_talker (&nodes[i % 2], 1000 + i, 6 + 2 * i);
  for (i = 0; i < FMX_CSRC_MAX; i++) {
    ssrcs[i] = 1000 + i;
    levels[i] = 9 + 2 * i;
  }
  run_chain (nodes, 2, 40);
  assert_names (nodes[1].forth, ssrcs, levels, FMX_CSRC_MAX);
  rig_free (nodes[0].rig);
  rig_free (nodes[1].rig);
}

GST_END_TEST;

/* Without levels in the packets the mix's own stands for them. */
GST_START_TEST (test_contributors_without_levels_have_that_of_their_mix)
{
  static const guint32 ssrcs[] = { 2001, 1001, 1002 };
  static const guint levels[] = { 13, 22, 22 };
  Node nodes[2] = { node_new (), node_new () };

  g_object_set (nodes[0].rig->mix, "csrc-audio-level-id", 0, NULL);
  node_talker (&nodes[0], 1001, 22);
  node_talker (&nodes[0], 1002, 22);
  node_talker (&nodes[1], 2001, 10);
  run_chain (nodes, 2, 40);
  assert_names (nodes[1].forth, ssrcs, levels, 3);
  rig_free (nodes[0].rig);
  rig_free (nodes[1].rig);
}

GST_END_TEST;

/* A mixer that was sent our mix without names names it: then what it sends has
 * our mix in it, and must not go round again. */
GST_START_TEST (test_a_mix_that_has_ours_in_it_is_a_loop)
{
  Node node = node_new ();
  RigListener *all = rig_listener (node.rig, "src_3", NULL);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  GstBuffer *mix, *loop;
  guint32 our_ssrc;

  node_talker (&node, 1001, 15);
  node_talker (&node, 1002, 25);
  run_chain (&node, 1, 20);
  mix = rig_nth (node.forth, node.forth->buffers->len - 1);
  loop = gst_rtp_buffer_new_allocate (2 * RIG_FRAME, 0, 1);
  gst_rtp_buffer_map (mix, GST_MAP_READ, &rtp);
  our_ssrc = gst_rtp_buffer_get_ssrc (&rtp);
  gst_rtp_buffer_unmap (&rtp);
  gst_rtp_buffer_map (loop, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_payload_type (&rtp, 97);
  gst_rtp_buffer_set_ssrc (&rtp, 4711);
  gst_rtp_buffer_set_csrc (&rtp, 0, our_ssrc + 1);
  gst_rtp_buffer_unmap (&rtp);

  /* somebody else's mix passes, ours does not */
  gst_pad_push (node.from_before->pad, gst_buffer_copy (loop));
  fail_unless_equals_uint64 (rig_stat (node.rig, "n-loops"), 0);
  fail_unless_equals_int (rig_count_packets (all, 4711), 1);
  gst_rtp_buffer_map (loop, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_seq (&rtp, 1);
  gst_rtp_buffer_set_csrc (&rtp, 0, our_ssrc);
  gst_rtp_buffer_unmap (&rtp);
  gst_pad_push (node.from_before->pad, loop);
  fail_unless_equals_uint64 (rig_stat (node.rig, "n-loops"), 1);
  fail_unless_equals_int (rig_count_packets (all, 4711), 1);
  rig_free (node.rig);
}

GST_END_TEST;

/* The wire rate of the mix, in bits per second. */
static guint
mix_bps (RigListener * listener, guint from, guint n_frames)
{
  guint64 bytes = 0;
  guint i;

  for (i = from; i < listener->buffers->len; i++)
    bytes += gst_buffer_get_size (rig_nth (listener, i))
        + 28;
  return (guint) (bytes * 8 * 50 / n_frames);
}

/* Sixteen talkers through narrow paths: the names of a crowd are as dear as its
 * voices, so that there are fewer the narrower the path is.  A packet is up to a
 * per cent of what is sent in two seconds. */
GST_START_TEST (test_names_leave_room_for_the_voices_at_narrow_targets)
{
  Rig *rig = rig_new ("csrc-audio-level-id=5");
  RigListener *listener = rig_listener (rig, "src_0",
      "application/x-rtp,encoding-name=OPUS");
  guint before = 0, target, i;

  for (i = 0; i < 16; i++) {
    gchar *name = g_strdup_printf ("sink_%u", i + 1);

    rig_talker (rig, name, 100 + i, RIG_PCMU, 300 + 50 * i, 1000);
    g_free (name);
  }
  g_object_set (listener->peer, "target-bitrate", 28000, NULL);
  rig_play (rig);
  rig_run (rig, 30);
  for (target = 28000; target <= 80000; target += 4000) {
    Names names;
    guint n_packets, bps;

    g_object_set (listener->peer, "target-bitrate", target, NULL);
    rig_run (rig, 50);
    n_packets = listener->buffers->len;
    rig_run (rig, 100);
    names = latest_names (listener);
    bps = mix_bps (listener, n_packets, 100);
    fail_unless (bps <= target + target / 100, "%u bit/s at a target of %u",
        bps, target);
    fail_unless (names.n >= before);
    fail_unless (rig_pad_stat (listener, "mix-bitrate") >= (target - 16000)
        / 2, "%u at %u", rig_pad_stat (listener, "mix-bitrate"), target);
    if (target == 28000)
      fail_unless_equals_int (names.n, 0);
    if (target == 40000)
      fail_unless_equals_int (names.n, 3);
    before = names.n;
  }
  fail_unless_equals_int (before, FMX_CSRC_MAX);
  rig_free (rig);
}

GST_END_TEST;

#define N_SEATS 6

/* Nothing that @listener got is by @own, or names him. */
static void
assert_without (RigListener * listener, guint32 own)
{
  guint i, k;

  for (i = 0; i < listener->buffers->len; i++) {
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    fail_unless (gst_rtp_buffer_map (rig_nth (listener, i), GST_MAP_READ,
            &rtp));
    fail_unless (gst_rtp_buffer_get_ssrc (&rtp) != own);
    for (k = 0; k < gst_rtp_buffer_get_csrc_count (&rtp); k++)
      fail_unless (gst_rtp_buffer_get_csrc (&rtp, (guint8) k) != own,
          "packet %u names its listener %u", i, own);
    gst_rtp_buffer_unmap (&rtp);
  }
}

/* Whoever comes, goes, falls silent or gets more room meanwhile. */
GST_START_TEST (test_nobody_is_named_or_heard_in_what_he_gets)
{
  Rig *rig = rig_new (PROPERTIES);
  RigListener *listeners[N_SEATS];
  RigTalker *talkers[N_SEATS] = { NULL, };
  GRand *rng = g_rand_new_with_seed (15);
  guint n_mixed = 0, i, k;

  for (i = 0; i < N_SEATS; i++) {
    gchar *name = g_strdup_printf ("src_%u", i);

    listeners[i] = rig_listener (rig, name, NULL);
    rig_set_target (listeners[i], RIG_L16_MIX_BPS);
    g_free (name);
  }
  rig_play (rig);
  for (k = 0; k < 120; k++) {
    guint who = g_rand_int_range (rng, 0, N_SEATS);
    gchar *name = g_strdup_printf ("sink_%u", who);

    if (talkers[who] == NULL)
      talkers[who] = rig_talker (rig, name, 1000 + who, RIG_L16,
          300 + 50 * who, 2000);
    else if (g_rand_boolean (rng))
      talkers[who]->silent = !talkers[who]->silent;
    else {
      rig_remove_talker (rig, talkers[who]);
      talkers[who] = NULL;
    }
    rig_set_target (listeners[g_rand_int_range (rng, 0, N_SEATS)],
        RIG_L16_MIX_BPS + g_rand_int_range (rng, 0, 4) * RIG_L16_BPS);
    rig_run (rig, 4);
    g_free (name);
  }
  for (i = 0; i < N_SEATS; i++) {
    gdouble *heard = rig_hear (rig, listeners[i], 0);

    assert_without (listeners[i], 1000 + i);
    n_mixed += rig_count_ssrcs (listeners[i], 0);
    for (k = 0; k + 50 <= rig->frame; k += 50)
      fail_unless (rig_tone (heard, k * RIG_FRAME, 50 * RIG_FRAME,
              300 + 50 * i) < 100, "%u hears itself", i);
    g_free (heard);
  }
  /* both ways were gone */
  fail_unless (n_mixed > N_SEATS);
  g_rand_free (rng);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
partialmix_contributors_suite (void)
{
  Suite *s = suite_create ("partialmix-contributors");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_a_chain_of_mixers_names_talkers_and_no_mixers);
  tcase_add_test (tc, test_the_loudest_15_of_all_are_named);
  tcase_add_test (tc, test_contributors_without_levels_have_that_of_their_mix);
  tcase_add_test (tc, test_a_mix_that_has_ours_in_it_is_a_loop);
  tcase_add_test (tc, test_names_leave_room_for_the_voices_at_narrow_targets);
  tcase_add_test (tc, test_nobody_is_named_or_heard_in_what_he_gets);
  return s;
}

GST_CHECK_MAIN (partialmix_contributors);
