/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What listeners hear: every voice once, at its level, without clicks. */

#include <math.h>
#include <opus.h>

#include "mixrig.h"

#define N_TONES 8
#define FALL_FRAME 60           /* then a rate falls */

/* all of whole periods in a frame, so that windows do not leak */
static const gdouble tones[N_TONES] = {
  250, 400, 550, 700, 850, 1000, 1150, 1300
};

static void
add_tones (Rig * rig, RigEncoding encoding, gdouble amplitude)
{
  guint i;

  for (i = 0; i < N_TONES; i++) {
    gchar *name = g_strdup_printf ("sink_%u", i + 1);

    rig_talker (rig, name, 100 + i, encoding, tones[i], amplitude);
    g_free (name);
  }
}

GST_START_TEST (test_every_tone_is_heard_once_at_every_target)
{
  Rig *rig = rig_new ("mix-encoding=l16 headroom=0");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  const guint stay = 40;        /* frames at each target */
  gdouble *heard;
  guint k, i;

  add_tones (rig, RIG_L16, 2000);
  rig_play (rig);
  for (k = 0; k <= N_TONES; k++) {
    rig_set_target (listener,
        (guint) (RIG_L16_MIX_BPS + k * RIG_L16_BPS * 1.1));
    rig_run (rig, stay);
    fail_unless_equals_int (rig_pad_stat (listener, "n-separate"),
        k >= N_TONES - 1 ? N_TONES : k);
  }
  heard = rig_hear (rig, listener, 0);
  for (k = 0; k <= N_TONES; k++)
    for (i = 0; i < N_TONES; i++)
      rig_assert_level (heard, (k * stay + 10) * RIG_FRAME,
          (stay - 15) * RIG_FRAME, tones[i], 2000, 0.1);
  g_free (heard);
  rig_free (rig);
}

GST_END_TEST;

/* ... with bits enough for tones: with fewer a mix is coded as speech. */
GST_START_TEST (test_every_tone_is_heard_once_through_opus)
{
  Rig *rig = rig_new ("min-mix-bitrate=80000 max-mix-bitrate=128000");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  const guint stay = 50;
  gdouble *heard;
  guint k, i;

  add_tones (rig, RIG_OPUS, 2000);
  rig_play (rig);
  for (k = 0; k < 6; k++) {
    rig_set_target (listener, 200000 + k * 95000);
    rig_run (rig, stay);
  }
  heard = rig_hear (rig, listener, 0);
  for (k = 0; k < 6; k++)
    for (i = 0; i < N_TONES; i++)
      rig_assert_level (heard, (k * stay + 15) * RIG_FRAME,
          (stay - 20) * RIG_FRAME, tones[i], 2000, 1.0);
  g_free (heard);
  rig_free (rig);
}

GST_END_TEST;

/* With no ramp, samples that go the old way and samples that go the new way
 * join without one missing or doubled: the listener cannot tell. */
GST_START_TEST (test_hand_over_is_exact_to_the_sample)
{
  Rig *rig = rig_new ("mix-encoding=l16 ramp-duration=0");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  gdouble *heard;
  guint k, i;

  /* for another listener all are mixed, and so decoded, all the time */
  rig_set_target (rig_listener (rig, "src_99", NULL), RIG_L16_MIX_BPS);
  add_tones (rig, RIG_L16, 1500);
  rig_play (rig);
  for (k = 0; k < 24; k++) {
    rig_set_target (listener,
        k % 3 == 0 ? 0 : RIG_L16_MIX_BPS + (k * 5 % 8) * RIG_L16_BPS);
    rig_run (rig, 20);
  }
  heard = rig_hear (rig, listener, 0);
  for (i = RIG_FRAME; i < (rig->frame - 5) * RIG_FRAME; i++) {
    gdouble expected = 0.0;

    for (k = 0; k < N_TONES; k++)
      expected += (gdouble) lrint (1500 * sin (2.0 * G_PI * tones[k] * i
              / RIG_RATE));
    fail_unless (heard[i] == expected, "sample %u is %g, not %g", i, heard[i],
        expected);
  }
  fail_unless (rig_stat (rig, "n-encoded") > 100);
  g_free (heard);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_hand_over_keeps_the_level_within_1_db)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  gdouble *heard;
  guint k, i;

  add_tones (rig, RIG_L16, 2000);
  rig_play (rig);
  for (k = 0; k < 10; k++) {
    rig_set_target (listener, k % 2 == 0 ? 0 : RIG_L16_MIX_BPS);
    rig_run (rig, 15);
  }
  heard = rig_hear (rig, listener, 0);
  /* in every 20 ms the power of all tones together */
  for (k = 5; k < rig->frame - 5; k++) {
    gdouble power = 0.0;
    gdouble db;

    for (i = 0; i < RIG_FRAME; i++)
      power += heard[k * RIG_FRAME + i] * heard[k * RIG_FRAME + i];
    db = 10.0 * log10 (power / RIG_FRAME / (N_TONES * 2000.0 * 2000.0 / 2.0));
    fail_unless (fabs (db) <= 1.0, "frame %u is off by %g dB", k, db);
  }
  g_free (heard);
  rig_free (rig);
}

GST_END_TEST;

static guint32
find_mix_ssrc (RigListener * listener)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint32 ssrc = 0;
  guint i;

  for (i = 0; i < listener->buffers->len && ssrc == 0; i++) {
    fail_unless (gst_rtp_buffer_map (rig_nth (listener, i),
            GST_MAP_READ, &rtp));
    if (gst_rtp_buffer_get_csrc_count (&rtp) > 0)
      ssrc = gst_rtp_buffer_get_ssrc (&rtp);
    gst_rtp_buffer_unmap (&rtp);
  }
  fail_unless (ssrc != 0);
  return ssrc;
}

/* The mix itself, in which streams come and go, steps no more than the tones
 * themselves do. */
GST_START_TEST (test_no_click_when_streams_enter_and_leave_a_mix)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  gdouble own = 0.0;
  gdouble *heard;
  guint k;

  add_tones (rig, RIG_L16, 2000);
  for (k = 0; k < N_TONES; k++)
    own += 2000 * 2.0 * G_PI * tones[k] / RIG_RATE;
  /* a ramp of 2.5 ms adds amplitude / 120 per sample for each tone that moves */
  own += N_TONES * 2000.0 / (RIG_RATE / 400);
  rig_play (rig);
  for (k = 0; k < 30; k++) {
    rig_set_target (listener, RIG_L16_MIX_BPS + (k * 3 % 7) * RIG_L16_BPS);
    rig_run (rig, 12);
  }
  heard = rig_hear (rig, listener, find_mix_ssrc (listener));
  fail_unless (rig_largest_step (heard, 2 * RIG_FRAME, (rig->frame - 6)
          * RIG_FRAME) <= own, "a step of %g, the tones' own is %g",
      rig_largest_step (heard, 2 * RIG_FRAME, (rig->frame - 6) * RIG_FRAME),
      own);
  g_free (heard);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_mix_minus_holds_for_every_neighbour)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listeners[N_TONES];
  guint i, k;

  for (i = 0; i < N_TONES; i++) {
    gchar *src = g_strdup_printf ("src_%u", i);
    gchar *sink = g_strdup_printf ("sink_%u", i);

    listeners[i] = rig_listener (rig, src, NULL);
    /* from all mixed to some separate */
    rig_set_target (listeners[i], RIG_L16_MIX_BPS + i % 4 * RIG_L16_BPS);
    rig_talker (rig, sink, 100 + i, RIG_L16, tones[i], 2000);
    g_free (src);
    g_free (sink);
  }
  rig_play (rig);
  rig_run (rig, 60);
  for (i = 0; i < N_TONES; i++) {
    gdouble *heard = rig_hear (rig, listeners[i], 0);

    for (k = 0; k < N_TONES; k++) {
      gdouble level = rig_tone (heard, 20 * RIG_FRAME, 35 * RIG_FRAME,
          tones[k]);

      if (k == i)
        fail_unless (level < 1.0, "%u hears itself at %g", i, level);
      else
        fail_unless (fabs (level - 2000) < 20, "%u hears %u at %g", i, k,
            level);
    }
    g_free (heard);
  }
  rig_free (rig);
}

GST_END_TEST;

/* Who comes where another one left inherits none of his listeners. */
GST_START_TEST (test_a_stream_in_the_place_of_another_starts_afresh)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *first = rig_listener (rig, "src_1", NULL);
  RigListener *second = rig_listener (rig, "src_2", NULL);
  RigTalker *leaver;
  gdouble *heard;

  rig_set_target (first, RIG_L16_MIX_BPS);
  rig_set_target (second, RIG_L16_MIX_BPS);
  leaver = rig_talker (rig, "sink_2", 100, RIG_L16, tones[0], 2000);
  rig_talker (rig, "sink_3", 101, RIG_L16, tones[1], 2000);
  rig_play (rig);
  rig_run (rig, 20);
  rig_remove_talker (rig, leaver);
  rig_talker (rig, "sink_1", 102, RIG_L16, tones[2], 2000);
  rig_run (rig, 40);

  heard = rig_hear (rig, first, 0);
  rig_assert_level (heard, 5 * RIG_FRAME, 10 * RIG_FRAME, tones[0], 2000, 0.1);
  rig_assert_level (heard, 30 * RIG_FRAME, 20 * RIG_FRAME, tones[1], 2000, 0.1);
  fail_unless (rig_tone (heard, 30 * RIG_FRAME, 20 * RIG_FRAME, tones[2])
      < 1.0);
  g_free (heard);
  heard = rig_hear (rig, second, 0);
  rig_assert_level (heard, 30 * RIG_FRAME, 20 * RIG_FRAME, tones[2], 2000, 0.1);
  g_free (heard);
  rig_free (rig);
}

GST_END_TEST;

/* The harmonics tell: a tone that is raised beyond full scale is limited, and
 * one beside it has what it should. */
GST_START_TEST (test_gain_above_0_db_does_not_clip)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  GstStructure *raised = gst_structure_new ("stream", "gain-db", G_TYPE_DOUBLE,
      12.0, NULL);
  gdouble *heard;
  gdouble loud;

  rig_talker (rig, "sink_1", 1, RIG_L16, tones[1], 16000);
  rig_talker (rig, "sink_2", 2, RIG_L16, tones[5], 1000);
  rig_set_target (listener, RIG_L16_MIX_BPS);
  rig_play (rig);
  rig_run (rig, 10);
  g_signal_emit_by_name (rig->mix, "set-stream", 2, raised);
  rig_run (rig, 40);
  g_signal_emit_by_name (rig->mix, "set-stream", 1, raised);
  rig_run (rig, 100);

  heard = rig_hear (rig, listener, 0);
  rig_assert_level (heard, 20 * RIG_FRAME, 20 * RIG_FRAME, tones[5],
      1000 * pow (10, 12 / 20.0), 0.1);
  loud = rig_tone (heard, 100 * RIG_FRAME, 40 * RIG_FRAME, tones[1]);
  fail_unless (loud > 25000 && loud < 32767, "%g", loud);
  fail_unless (rig_tone (heard, 100 * RIG_FRAME, 40 * RIG_FRAME, 3 * tones[1])
      < 0.01 * loud);
  g_free (heard);
  gst_structure_free (raised);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_loud_crowd_is_limited_not_clipped)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  gdouble *heard;
  gdouble peak = 0.0;
  guint i;

  add_tones (rig, RIG_L16, 20000);
  rig_set_target (listener, RIG_L16_MIX_BPS);
  rig_play (rig);
  rig_run (rig, 100);
  heard = rig_hear (rig, listener, 0);
  for (i = 20 * RIG_FRAME; i < 90 * RIG_FRAME; i++)
    peak = MAX (peak, fabs (heard[i]));
  fail_unless (peak <= 32767.0);
  fail_unless (peak > 25000.0);
  /* all tones keep their proportions */
  for (i = 1; i < N_TONES; i++)
    fail_unless (fabs (20.0 * log10 (rig_tone (heard, 40 * RIG_FRAME,
                    50 * RIG_FRAME, tones[i]) / rig_tone (heard,
                    40 * RIG_FRAME, 50 * RIG_FRAME, tones[0]))) < 1.0);
  g_free (heard);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_renderer_places_voices_left_and_right)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0",
      "audio/x-raw,format=S16LE,rate=48000,channels=2,layout=interleaved");
  gdouble *left, *right;
  guint n = 0;
  guint i, k;

  rig_talker (rig, "sink_1", 1, RIG_OPUS, 400, 6000);
  rig_talker (rig, "sink_2", 2, RIG_OPUS, 700, 6000);
  rig_talker (rig, "sink_3", 3, RIG_OPUS, 1000, 6000);
  rig_play (rig);
  rig_run (rig, 100);

  left = g_new0 (gdouble, listener->buffers->len * RIG_FRAME);
  right = g_new0 (gdouble, listener->buffers->len * RIG_FRAME);
  for (i = 0; i < listener->buffers->len; i++) {
    GstMapInfo map;

    gst_buffer_map (rig_nth (listener, i), &map, GST_MAP_READ);
    for (k = 0; k < map.size / 4; k++, n++) {
      left[n] = GST_READ_UINT16_LE (map.data + 4 * k);
      left[n] = (gint16) GST_READ_UINT16_LE (map.data + 4 * k);
      right[n] = (gint16) GST_READ_UINT16_LE (map.data + 4 * k + 2);
    }
    gst_buffer_unmap (rig_nth (listener, i), &map);
  }
  fail_unless (n > 80 * RIG_FRAME);
  /* the first ones on their sides, the next further out */
  fail_unless (rig_tone (left, n / 2, 20 * RIG_FRAME, 400) > 1.9
      * rig_tone (right, n / 2, 20 * RIG_FRAME, 400));
  fail_unless (rig_tone (right, n / 2, 20 * RIG_FRAME, 700) > 1.9
      * rig_tone (left, n / 2, 20 * RIG_FRAME, 700));
  fail_unless (rig_tone (left, n / 2, 20 * RIG_FRAME, 1000) > 4
      * rig_tone (right, n / 2, 20 * RIG_FRAME, 1000));
  g_free (left);
  g_free (right);
  rig_free (rig);
}

GST_END_TEST;

/* Returns: the longest time in which any tone is 12 dB too low, in ms, from frame @begin
 * to @end */
static guint
longest_gap_ms (const gdouble * heard, guint begin, guint end, gdouble amplitude)
{
  guint longest = 0;
  guint i, k;

  for (i = 0; i < N_TONES; i++) {
    guint gap = 0;

    for (k = begin; k < end; k++) {
      gap = rig_tone (heard, k * RIG_FRAME, RIG_FRAME, tones[i]) < amplitude / 4
          ? gap + 1 : 0;
      longest = MAX (longest, gap);
    }
  }
  return longest * 20;
}

/* All are mixed, as music or not, first at @from_bps, then at what @target_bps leaves.
 * @first: the first packet after that */
static RigListener *
let_the_rate_fall (Rig ** rig, gboolean music, guint from_bps,
    guint target_bps, guint * first)
{
  gchar *line = g_strdup_printf ("mix-encoding=opus mix-music=%d "
      "max-mix-bitrate=%u", music, from_bps);
  RigListener *listener;

  *rig = rig_new (line);
  g_free (line);
  listener = rig_listener (*rig, "src_0", NULL);
  add_tones (*rig, RIG_L16, 2000);
  rig_play (*rig);
  rig_set_target (listener, 200000);
  rig_run (*rig, FALL_FRAME);
  fail_unless_equals_int (rig_pad_stat (listener, "mix-bitrate"), from_bps);
  *first = listener->buffers->len;
  rig_set_target (listener, target_bps);
  rig_run (*rig, FALL_FRAME);
  fail_unless_equals_int (rig_pad_stat (listener, "n-mixed"), N_TONES);
  return listener;
}

/* libopus takes from the next packets what the last one had too much: of music all, below
 * a half. */
GST_START_TEST (test_nobody_is_gone_when_the_rate_of_a_mix_falls)
{
  static const guint targets[] = { 76000, 60000, 40000 };
  guint first, i, k;

  for (i = 0; i < G_N_ELEMENTS (targets); i++) {
    Rig *rig;
    RigListener *listener = let_the_rate_fall (&rig, __i__ == 1, 128000,
        targets[i], &first);
    gdouble *heard = rig_hear (rig, listener, 0);
    guint ms = longest_gap_ms (heard, FALL_FRAME - 20, FALL_FRAME + 50, 2000);

    fail_unless (ms <= 40, "%u ms at %u bit/s", ms, targets[i]);
    for (k = first; k < listener->buffers->len; k++)
      fail_unless (gst_buffer_get_size (rig_nth (listener, k)) > 12 + 15);
    g_free (heard);
    rig_free (rig);
  }
}

GST_END_TEST;

/* A voice is more than what is above 8 kHz, as soon as there is no rate for both. */
GST_START_TEST (test_a_mix_of_a_low_rate_is_wideband_at_once)
{
  Rig *rig;
  guint first, k;
  RigListener *listener = let_the_rate_fall (&rig, FALSE, 32000, 35000,
      &first);

  fail_unless (rig_pad_stat (listener, "mix-bitrate") <= 12000);
  for (k = first; k < listener->buffers->len; k++) {
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
    guint8 *payload;

    fail_unless (gst_rtp_buffer_map (rig_nth (listener, k), GST_MAP_READ,
            &rtp));
    payload = gst_rtp_buffer_get_payload (&rtp);
    fail_unless (opus_packet_get_bandwidth (payload)
        <= OPUS_BANDWIDTH_WIDEBAND, "packet %u", k);
    gst_rtp_buffer_unmap (&rtp);
  }
  rig_free (rig);
}

GST_END_TEST;

static Suite *
partialmix_sound_suite (void)
{
  Suite *suite = suite_create ("partialmix-sound");
  TCase *tc;

  tc = tcase_create ("sound");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_every_tone_is_heard_once_at_every_target);
  tcase_add_test (tc, test_every_tone_is_heard_once_through_opus);
  tcase_add_test (tc, test_hand_over_is_exact_to_the_sample);
  tcase_add_test (tc, test_hand_over_keeps_the_level_within_1_db);
  tcase_add_test (tc, test_no_click_when_streams_enter_and_leave_a_mix);
  tcase_add_test (tc, test_mix_minus_holds_for_every_neighbour);
  tcase_add_test (tc, test_a_stream_in_the_place_of_another_starts_afresh);
  tcase_add_test (tc, test_gain_above_0_db_does_not_clip);
  tcase_add_test (tc, test_loud_crowd_is_limited_not_clipped);
  tcase_add_loop_test (tc, test_nobody_is_gone_when_the_rate_of_a_mix_falls,
      0, 2);
  tcase_add_test (tc, test_a_mix_of_a_low_rate_is_wideband_at_once);
  tcase_add_test (tc, test_renderer_places_voices_left_and_right);
  return suite;
}

GST_CHECK_MAIN (partialmix_sound);
