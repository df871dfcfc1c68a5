/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* voice-level: all talkers equally loud, in mixes and in a renderer. */

#include <gst/audio/audio.h>
#include <math.h>

#include "mixrig.h"

#define MONO "audio/x-raw,format=" GST_AUDIO_NE (S16) \
    ",layout=interleaved,rate=48000,channels=1"
#define PROPERTIES "mix-encoding=l16 voice-level=26"
/* who speaks does so for 15 frames of 25 */
#define BEAT 25
#define SPOKEN 15
#define N_VOICES 8
#define TARGET_DBOV (-26.0)

/* Of a sine of that level: 0 dBov is a full-scale square wave. */
static gdouble
amplitude_of (gdouble dbov)
{
  return 32768.0 * G_SQRT2 * pow (10.0, dbov / 20.0);
}

static gdouble
dbov_of_voice (guint i)
{
  return -50.0 + 5.0 * i;
}

/* All speak for @seconds, voice i at dbov_of_voice (i). */
static void
speak (Rig * rig, guint seconds)
{
  guint i;

  for (guint f = 0; f < seconds * 50; f++) {
    for (i = 0; i < rig->talkers->len; i++) {
      RigTalker *talker = g_ptr_array_index (rig->talkers, i);
      gdouble dbov = dbov_of_voice ((guint) talker->ssrc - 100)
          - (rig->frame % BEAT < SPOKEN ? 0.0 : 40.0);

      talker->amplitude = amplitude_of (dbov);
      if (talker->level >= 0)
        talker->level = (gint) lrint (-dbov);
    }
    rig_run (rig, 1);
  }
}

static RigTalker *
add_voice (Rig * rig, guint i)
{
  gchar *name = g_strdup_printf ("sink_%u", i + 1);
  RigTalker *talker = rig_talker (rig, name, 100 + i, RIG_L16, 250 + 150 * i,
      100);

  g_free (name);
  return talker;
}

static gdouble
raise_of (Rig * rig, guint ssrc)
{
  GstStructure *stats;
  const GValue *streams;
  gdouble raise = NAN;
  guint i, s;

  g_object_get (rig->mix, "stats", &stats, NULL);
  streams = gst_structure_get_value (stats, "streams");
  for (i = 0; i < gst_value_array_get_size (streams); i++) {
    const GstStructure *stream =
        gst_value_get_structure (gst_value_array_get_value (streams, i));

    fail_unless (gst_structure_get_uint (stream, "ssrc", &s));
    if (s == ssrc)
      fail_unless (gst_structure_get_double (stream, "raise-db", &raise));
  }
  gst_structure_free (stats);
  return raise;
}

/* What was heard of voice @i while it spoke in the second that ends with the
 * rig's last but one is at the target. */
static void
check_heard (Rig * rig, const gdouble * heard, guint i)
{
  guint frame = (rig->frame / BEAT - 3) * BEAT + 4;

  rig_assert_level (heard, frame * RIG_FRAME, (SPOKEN - 6) * RIG_FRAME,
      250 + 150 * i, amplitude_of (TARGET_DBOV), 1.5);
}

/* Eight seconds after they began, whoever they are */
GST_START_TEST (test_voices_of_any_level_are_equally_loud_in_a_mix)
{
  Rig *rig = rig_new (PROPERTIES);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  gdouble *heard;
  guint i;

  for (i = 0; i < N_VOICES; i++)
    add_voice (rig, i);
  rig_set_target (listener, RIG_L16_MIX_BPS);
  rig_play (rig);
  speak (rig, 10);
  heard = rig_hear (rig, listener, 0);
  for (i = 0; i < N_VOICES; i++) {
    fail_unless (fabs (raise_of (rig, 100 + i) - TARGET_DBOV
            + dbov_of_voice (i)) < 1.5, "voice %u: %g dB", i, raise_of (rig,
            100 + i));
    check_heard (rig, heard, i);
  }
  g_free (heard);
  rig_free (rig);
}

GST_END_TEST;

/* All that a renderer played */
static gdouble *
get_played (RigListener * listener, guint * n)
{
  gdouble *played = g_new (gdouble, listener->buffers->len * RIG_FRAME);
  guint i, k;

  *n = 0;
  for (i = 0; i < listener->buffers->len; i++) {
    GstMapInfo map;

    gst_buffer_map (rig_nth (listener, i), &map, GST_MAP_READ);
    for (k = 0; k < map.size / 2; k++)
      played[(*n)++] = ((const gint16 *) map.data)[k];
    gst_buffer_unmap (rig_nth (listener, i), &map);
  }
  return played;
}

/* and where it is played; nothing steps on the way there, nothing is cut off */
GST_START_TEST (test_a_renderer_plays_it_as_loud_as_a_mix_has_it)
{
  guint i = __i__ * (N_VOICES - 1);
  Rig *rig = rig_new (PROPERTIES);
  RigListener *listener = rig_listener (rig, "src_0", MONO);
  gdouble slope = 2.0 * G_PI * (250 + 150 * i) / RIG_RATE;
  gdouble *played;
  gdouble peak = 0;
  guint n, k;

  add_voice (rig, i);
  rig_play (rig);
  speak (rig, 10);
  played = get_played (listener, &n);
  fail_unless (rig_largest_step (played, 0, n) < 1.2 * slope
      * amplitude_of (MAX (TARGET_DBOV, dbov_of_voice (i))));
  for (k = n - BEAT * RIG_FRAME; k < n; k++)
    peak = MAX (peak, fabs (played[k]));
  fail_unless (fabs (20.0 * log10 (peak / amplitude_of (TARGET_DBOV))) < 1.5);
  g_free (played);
  rig_free (rig);
}

GST_END_TEST;

/* Who was forwarded all the time was never decoded, but the levels in his packets
 * are known: he comes into the mix as loud as he is to be. */
GST_START_TEST (test_a_voice_that_enters_a_mix_is_at_its_level_at_once)
{
  Rig *rig = rig_new (PROPERTIES);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  gdouble *heard;
  guint i;

  for (i = 2; i < 4; i++)
    add_voice (rig, i)->level = 40;
  rig_play (rig);
  speak (rig, 10);
  fail_unless_equals_uint64 (rig_stat (rig, "n-decoded"), 0);
  rig_set_target (listener, RIG_L16_MIX_BPS);
  speak (rig, 1);
  fail_unless_equals_int (rig_pad_stat (listener, "n-mixed"), 2);
  heard = rig_hear (rig, listener, 0);
  for (i = 2; i < 4; i++)
    rig_assert_level (heard, (500 + BEAT + 4) * RIG_FRAME,
        (SPOKEN - 6) * RIG_FRAME, 250 + 150 * i, amplitude_of (TARGET_DBOV),
        1.5);
  g_free (heard);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_without_it_voices_stay_as_they_are)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  gdouble *heard;

  add_voice (rig, 2);
  add_voice (rig, 3);
  rig_set_target (listener, RIG_L16_MIX_BPS);
  rig_play (rig);
  speak (rig, 6);
  heard = rig_hear (rig, listener, 0);
  rig_assert_level (heard, 204 * RIG_FRAME, 6 * RIG_FRAME, 550,
      amplitude_of (-40), 0.1);
  fail_unless (raise_of (rig, 102) == 0.0);
  g_free (heard);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
partialmix_level_suite (void)
{
  Suite *s = suite_create ("partialmix-level");
  TCase *tc = tcase_create ("level");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_voices_of_any_level_are_equally_loud_in_a_mix);
  tcase_add_loop_test (tc, test_a_renderer_plays_it_as_loud_as_a_mix_has_it, 0,
      2);
  tcase_add_test (tc, test_a_voice_that_enters_a_mix_is_at_its_level_at_once);
  tcase_add_test (tc, test_without_it_voices_stay_as_they_are);
  return s;
}

GST_CHECK_MAIN (partialmix_level);
