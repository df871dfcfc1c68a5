/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A src pad with audio/x-raw: where voices stand, and what its caps say. */

#include <math.h>

#include <gst/audio/audio.h>

#include "mixrig.h"

#define STEREO "audio/x-raw,format=" GST_AUDIO_NE (S16) \
    ",layout=interleaved,rate=48000,channels=2"
#define MONO "audio/x-raw,format=" GST_AUDIO_NE (S16) \
    ",layout=interleaved,rate=48000,channels=1"

static void
mute (Rig * rig, guint ssrc)
{
  GstStructure *s = gst_structure_new ("stream", "mute", G_TYPE_BOOLEAN, TRUE,
      NULL);

  g_signal_emit_by_name (rig->mix, "set-stream", ssrc, s);
  gst_structure_free (s);
}

/* The largest sample of one of two channels, from buffer @from on. */
static gint
find_peak (RigListener * listener, guint channel, guint from)
{
  gint peak = 0;
  guint i, k;

  for (i = from; i < listener->buffers->len; i++) {
    GstMapInfo map;

    gst_buffer_map (rig_nth (listener, i), &map, GST_MAP_READ);
    for (k = channel; k < map.size / 2; k += 2)
      peak = MAX (peak, ABS (((const gint16 *) map.data)[k]));
    gst_buffer_unmap (rig_nth (listener, i), &map);
  }
  return peak;
}

/* How much louder @frequency is on the left than on the right, in dB, in @n buffers from
 * @from on. */
static gdouble
find_side (RigListener * listener, guint from, guint n, gdouble frequency)
{
  gdouble *sides[2];
  gdouble db;
  guint i, k, channel;

  for (channel = 0; channel < 2; channel++) {
    sides[channel] = g_new (gdouble, n * RIG_FRAME);
    for (i = 0; i < n; i++) {
      GstMapInfo map;

      gst_buffer_map (rig_nth (listener, from + i), &map, GST_MAP_READ);
      for (k = 0; k < RIG_FRAME; k++)
        sides[channel][i * RIG_FRAME + k] = ((const gint16 *) map.data)
            [2 * k + channel];
      gst_buffer_unmap (rig_nth (listener, from + i), &map);
    }
  }
  db = 20.0 * log10 (rig_tone (sides[0], 0, n * RIG_FRAME, frequency)
      / rig_tone (sides[1], 0, n * RIG_FRAME, frequency));
  g_free (sides[0]);
  g_free (sides[1]);
  return db;
}

/* The same, of the latest ten buffers */
static gdouble
hear_side (Rig * rig, RigListener * listener, gdouble frequency)
{
  rig_run (rig, 20);
  return find_side (listener, listener->buffers->len - 10, 10, frequency);
}

/* Two on their sides; a silent stream has none, and who comes moves nobody. */
GST_START_TEST (test_who_comes_last_moves_nobody)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", STEREO);
  gdouble first, second;
  guint i;

  rig_talker (rig, "sink_1", 1, RIG_L16, 400, 0);
  rig_talker (rig, "sink_2", 2, RIG_L16, 700, 2000);
  rig_play (rig);
  first = hear_side (rig, listener, 700);
  fail_unless (first > 4.0, "%g dB", first);
  rig_talker (rig, "sink_3", 3, RIG_L16, 1000, 2000);
  second = hear_side (rig, listener, 1000);
  fail_unless (fabs (second + first) < 0.1, "%g, %g dB", first, second);
  for (i = 4; i < 10; i++) {
    gchar *name = g_strdup_printf ("sink_%u", i);

    rig_talker (rig, name, i, RIG_L16, 1000 + 300 * (i - 3), 2000);
    g_free (name);
    fail_unless (fabs (hear_side (rig, listener, 700) - first) < 0.1);
    fail_unless (fabs (hear_side (rig, listener, 1000) - second) < 0.1);
  }
  rig_free (rig);
}

GST_END_TEST;

/* Not even after he was forgotten, and somebody else came. */
GST_START_TEST (test_who_comes_back_stands_where_he_stood)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", STEREO);
  RigTalker *talker = rig_talker (rig, "sink_1", 1, RIG_L16, 400, 3000);
  gdouble side;

  rig_talker (rig, "sink_2", 2, RIG_L16, 700, 3000);
  rig_play (rig);
  side = hear_side (rig, listener, 400);
  rig_remove_talker (rig, talker);
  rig_run (rig, 20);
  rig_talker (rig, "sink_3", 3, RIG_L16, 1000, 3000);
  fail_unless (fabs (hear_side (rig, listener, 1000) - side) > 3.0);
  rig_talker (rig, "sink_1", 1, RIG_L16, 400, 3000);
  fail_unless (fabs (hear_side (rig, listener, 400) - side) < 0.1);
  rig_free (rig);
}

GST_END_TEST;

/* Who was heard last of three is muted: it is heard to its end where it stood. */
GST_START_TEST (test_a_muted_voice_fades_out_where_it_stood)
{
  Rig *rig = rig_new ("ramp-duration=10000000");
  RigListener *listener = rig_listener (rig, "src_0", STEREO);
  gdouble side;
  guint before;

  rig_talker (rig, "sink_1", 1, RIG_L16, 400, 3000);
  rig_talker (rig, "sink_2", 2, RIG_L16, 700, 3000);
  rig_talker (rig, "sink_3", 3, RIG_L16, 1000, 3000);
  rig_play (rig);
  side = hear_side (rig, listener, 1000);
  before = listener->buffers->len;
  mute (rig, 3);
  rig_run (rig, 20);
  fail_unless (fabs (find_side (listener, before, 3, 1000) - side) < 0.2);
  rig_free (rig);
}

GST_END_TEST;

/* and whoever comes next into its place is not drawn from there */
GST_START_TEST (test_everybody_may_be_muted_one_after_the_other)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", STEREO);
  guint i, before;

  rig_talkers (rig, 1, 5, RIG_L16);
  rig_play (rig);
  rig_run (rig, 10);
  for (i = 5; i >= 1; i--) {
    mute (rig, 100 + i);
    rig_run (rig, 3);
  }
  rig_run (rig, 10);
  before = listener->buffers->len;
  rig_run (rig, 5);
  fail_unless_equals_int (find_peak (listener, 0, before), 0);
  fail_unless_equals_int (find_peak (listener, 1, before), 0);
  rig_free (rig);
}

GST_END_TEST;

static void
take_only (RigListener * listener, const gchar * caps)
{
  g_mutex_lock (&listener->lock);
  gst_caps_replace (&listener->caps, NULL);
  listener->caps = gst_caps_from_string (caps);
  g_mutex_unlock (&listener->lock);
  gst_pad_push_event (listener->pad, gst_event_new_reconfigure ());
}

static guint
get_channels (RigListener * listener)
{
  GstCaps *caps = gst_pad_get_current_caps (listener->pad);
  gint channels = 0;

  fail_unless (caps != NULL);
  gst_structure_get_int (gst_caps_get_structure (caps, 0), "channels",
      &channels);
  gst_caps_unref (caps);
  return (guint) channels;
}

/* What the caps say, for every buffer since the last look. */
static void
check_buffers (RigListener * listener, guint * from, guint channels)
{
  fail_unless_equals_int (get_channels (listener), channels);
  fail_unless (listener->buffers->len > *from);
  for (; *from < listener->buffers->len; (*from)++)
    fail_unless_equals_int (gst_buffer_get_size (rig_nth (listener, *from)),
        2 * RIG_FRAME * channels);
}

GST_START_TEST (test_a_mono_renderer_stays_mono_when_it_is_asked_again)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", MONO);
  guint n_seen = 0;

  rig_talker (rig, "sink_1", 1, RIG_L16, 400, 6000);
  rig_play (rig);
  rig_run (rig, 10);
  check_buffers (listener, &n_seen, 1);
  take_only (listener, MONO);
  rig_run (rig, 10);
  check_buffers (listener, &n_seen, 1);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_a_renderer_follows_a_peer_that_wants_other_channels)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", STEREO);
  guint n_seen = 0;
  guint k;

  rig_talker (rig, "sink_1", 1, RIG_L16, 400, 6000);
  rig_play (rig);
  rig_run (rig, 10);
  check_buffers (listener, &n_seen, 2);
  for (k = 0; k < 4; k++) {
    take_only (listener, k % 2 == 0 ? MONO : STEREO);
    rig_run (rig, 5);
    check_buffers (listener, &n_seen, k % 2 == 0 ? 1 : 2);
  }
  fail_unless (find_peak (listener, 0, n_seen - 3) > 3000);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
partialmix_renderer_suite (void)
{
  Suite *suite = suite_create ("partialmix-renderer");
  TCase *tc;

  tc = tcase_create ("renderer");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_who_comes_last_moves_nobody);
  tcase_add_test (tc, test_who_comes_back_stands_where_he_stood);
  tcase_add_test (tc, test_a_muted_voice_fades_out_where_it_stood);
  tcase_add_test (tc, test_everybody_may_be_muted_one_after_the_other);
  tcase_add_test (tc, test_a_mono_renderer_stays_mono_when_it_is_asked_again);
  tcase_add_test (tc, test_a_renderer_follows_a_peer_that_wants_other_channels);
  return suite;
}

GST_CHECK_MAIN (partialmix_renderer);
