/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a mix does against loss on the way to who hears it. */

#include <math.h>
#include <opus.h>
#include <string.h>

#include "mixrig.h"
#include "common/gstfairmixevents.h"

#define N_FRAMES 200
#define FIRST 50                /* what was before is not looked at */
#define PERIOD 10               /* of so many packets one is lost */
#define BPS 60000
#define LOSS 6
/* what is made up of nothing is less like what was lost, what came again is more */
#define GUESSED 0.6
#define REPEATED 0.8

/* Its path carries @bps, and mixes of @from bits/s or more are to provide for @loss
 * percent. */
static void
tell_from (RigListener * listener, guint bps, guint loss, guint from)
{
  GstEvent *event = gst_fairmix_target_bitrate_event_new (bps);

  gst_fairmix_target_bitrate_event_set_loss (event, loss, from);
  gst_pad_push_event (listener->pad, event);
}

static void
tell (RigListener * listener, guint bps, guint loss)
{
  tell_from (listener, bps, loss, 0);
}

/* Who takes Opus only, while somebody sends L16, gets a mix. */
static RigListener *
opus_listener (Rig * rig, const gchar * name)
{
  return rig_listener (rig, name, "application/x-rtp,encoding-name=OPUS");
}

static guint
payload_of (RigListener * listener, guint i, guint8 * payload)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint size;

  fail_unless (gst_rtp_buffer_map (rig_nth (listener, i), GST_MAP_READ, &rtp));
  size = gst_rtp_buffer_get_payload_len (&rtp);
  memcpy (payload, gst_rtp_buffer_get_payload (&rtp), size);
  gst_rtp_buffer_unmap (&rtp);
  return size;
}

/* Returns: how similar what is heard of lost packets from the @first on is to what they
 * held, up to 1: every tenth packet is lost, and made up from the one after it */
static gdouble
similarity (RigListener * listener, guint first)
{
  OpusDecoder *all = opus_decoder_create (RIG_RATE, 1, NULL);
  OpusDecoder *some = opus_decoder_create (RIG_RATE, 1, NULL);
  gint16 sent[RIG_FRAME], heard[RIG_FRAME];
  gdouble both = 0.0, ours = 0.0, theirs = 0.0;
  guint8 payload[4000];
  guint i, k;

  for (i = 0; i + 1 < listener->buffers->len; i++) {
    guint size = payload_of (listener, i, payload);
    gboolean lost = i % PERIOD == 0;

    fail_unless_equals_int (opus_decode (all, payload, (opus_int32) size,
            sent, RIG_FRAME, 0), RIG_FRAME);
    if (lost)
      size = payload_of (listener, i + 1, payload);
    fail_unless_equals_int (opus_decode (some, payload, (opus_int32) size,
            heard, RIG_FRAME, lost), RIG_FRAME);
    for (k = 0; lost && i >= first && k < RIG_FRAME; k++) {
      both += (gdouble) sent[k] * heard[k];
      theirs += (gdouble) sent[k] * sent[k];
      ours += (gdouble) heard[k] * heard[k];
    }
  }
  opus_decoder_destroy (all);
  opus_decoder_destroy (some);
  return both / sqrt (theirs * ours + 1.0);
}

/* A talker whose tone is another one in each frame: nobody can guess it. */
static void
talk (Rig * rig, guint n_frames)
{
  RigTalker *talker = g_ptr_array_index (rig->talkers, 0);
  GRand *rand = g_rand_new_with_seed (3);
  guint k;

  for (k = 0; k < n_frames; k++) {
    talker->frequency = g_rand_int_range (rand, 4, 20) * 50;
    rig_run (rig, 1);
  }
  g_rand_free (rand);
}

/* Returns: the bitrate of the payloads from the @first on */
static gdouble
bitrate (RigListener * listener, guint first)
{
  guint8 payload[4000];
  gdouble bits = 0.0;
  guint i;

  for (i = first; i < listener->buffers->len; i++)
    bits += 8.0 * payload_of (listener, i, payload);
  return bits * 50.0 / (listener->buffers->len - first);
}

/* What one packet held comes again with the next one, within the same bitrate. */
GST_START_TEST (test_a_lost_packet_of_a_mix_is_heard_from_the_next_one)
{
  Rig *rig = rig_new (NULL);
  RigListener *clean = opus_listener (rig, "src_0");
  RigListener *lossy = opus_listener (rig, "src_9");
  guint bps;

  rig_talker (rig, "sink_1", 1, RIG_L16, 400, 6000);
  rig_play (rig);
  tell (clean, BPS, 0);
  tell (lossy, BPS, LOSS);
  talk (rig, N_FRAMES);
  bps = rig_pad_stat (lossy, "mix-bitrate");
  fail_unless_equals_int (rig_pad_stat (clean, "mix-bitrate"), bps);
  fail_unless_equals_int (rig_pad_stat (lossy, "mix-loss-percentage"), LOSS);
  fail_unless (similarity (clean, FIRST) < GUESSED, "%g", similarity (clean,
          FIRST));
  fail_unless (similarity (lossy, FIRST) > REPEATED, "%g", similarity (lossy,
          FIRST));
  fail_unless (bitrate (lossy, FIRST) < 1.02 * bps, "%g of %u",
      bitrate (lossy, FIRST), bps);
  rig_free (rig);
}

GST_END_TEST;

/* It costs bitrate: only while there is loss. */
GST_START_TEST (test_a_mix_is_protected_while_there_is_loss)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = opus_listener (rig, "src_0");

  rig_talker (rig, "sink_1", 1, RIG_L16, 400, 6000);
  rig_play (rig);
  tell (listener, BPS, LOSS);
  talk (rig, FIRST);
  tell (listener, BPS, 0);
  talk (rig, N_FRAMES);
  fail_unless_equals_int (rig_pad_stat (listener, "mix-loss-percentage"), 0);
  fail_unless (similarity (listener, 2 * FIRST) < GUESSED, "%g",
      similarity (listener, 2 * FIRST));
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_those_with_loss_share_a_protected_mix)
{
  Rig *rig = rig_new (NULL);
  RigListener *clean = opus_listener (rig, "src_0");
  RigListener *lossy[] = {
    opus_listener (rig, "src_8"), opus_listener (rig, "src_9")
  };
  guint64 before;

  rig_talker (rig, "sink_1", 1, RIG_L16, 400, 6000);
  rig_play (rig);
  tell (clean, BPS, 0);
  tell (lossy[0], BPS, 0);
  tell (lossy[1], BPS, 0);
  rig_run (rig, FIRST);
  before = rig_stat (rig, "n-encoded");
  rig_run (rig, FIRST);
  fail_unless_equals_int (rig_stat (rig, "n-encoded") - before, FIRST);
  tell (lossy[0], BPS, LOSS);
  tell (lossy[1], BPS, LOSS);
  rig_run (rig, FIRST);
  before = rig_stat (rig, "n-encoded");
  rig_run (rig, FIRST);
  fail_unless_equals_int (rig_stat (rig, "n-encoded") - before, 2 * FIRST);
  rig_free (rig);
}

GST_END_TEST;

/* Where there is no room for FEC, asking for it costs quality. */
GST_START_TEST (test_a_lean_mix_has_no_protection)
{
  Rig *rig = rig_new ("max-mix-bitrate=19000");
  RigListener *listener = opus_listener (rig, "src_0");

  rig_talker (rig, "sink_1", 1, RIG_L16, 400, 6000);
  rig_play (rig);
  tell (listener, BPS, LOSS);
  rig_run (rig, 10);
  fail_unless_equals_int (rig_pad_stat (listener, "mix-loss-percentage"), 0);
  g_object_set (rig->mix, "max-mix-bitrate", 24000, NULL);
  tell (listener, BPS, LOSS);
  rig_run (rig, 10);
  fail_unless_equals_int (rig_pad_stat (listener, "mix-loss-percentage"), LOSS);
  /* nor has one of which the copies would be too large a part */
  tell_from (listener, BPS, LOSS, 24001);
  rig_run (rig, 10);
  fail_unless_equals_int (rig_pad_stat (listener, "mix-loss-percentage"), 0);
  tell_from (listener, BPS, LOSS, 24000);
  rig_run (rig, 10);
  fail_unless_equals_int (rig_pad_stat (listener, "mix-loss-percentage"), LOSS);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
partialmix_protection_suite (void)
{
  Suite *suite = suite_create ("partialmix-protection");
  TCase *tc = tcase_create ("protection");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_a_lost_packet_of_a_mix_is_heard_from_the_next_one);
  tcase_add_test (tc, test_a_mix_is_protected_while_there_is_loss);
  tcase_add_test (tc, test_those_with_loss_share_a_protected_mix);
  tcase_add_test (tc, test_a_lean_mix_has_no_protection);
  return suite;
}

GST_CHECK_MAIN (partialmix_protection);
