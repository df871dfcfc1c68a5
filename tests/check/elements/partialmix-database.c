/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the Database says for one listener alone, and what in it says nothing. */

#include <math.h>
#include <string.h>

#include <glib/gstdio.h>

#include "mixrig.h"

#define STEREO "audio/x-raw,format=S16LE,rate=48000,channels=2," \
    "layout=interleaved"

static gchar *
write_database (const gchar * text)
{
  gchar *path;
  gint fd = g_file_open_tmp ("fairmix-XXXXXX.ini", &path, NULL);

  fail_unless (fd >= 0);
  g_close (fd, NULL);
  fail_unless (g_file_set_contents (path, text, -1, NULL));
  return path;
}

/* Talkers 101, 102, 103 in L16 at an amplitude of 1000. */
static Rig *
rig_with (const gchar * text, gchar ** path)
{
  gchar *line;
  Rig *rig;

  *path = write_database (text);
  line = g_strdup_printf ("mix-encoding=l16 database-location=%s", *path);
  rig = rig_new (line);
  g_free (line);
  rig_talkers (rig, 1, 3, RIG_L16);
  return rig;
}

static void
rig_done (Rig * rig, gchar * path)
{
  rig_free (rig);
  g_unlink (path);
  g_free (path);
}

static RigListener *
mixed_listener (Rig * rig, const gchar * name)
{
  RigListener *listener = rig_listener (rig, name, NULL);

  rig_set_target (listener, RIG_L16_MIX_BPS);
  return listener;
}

static void
check_heard (Rig * rig, RigListener * listener, gdouble gain_db_of_101)
{
  gdouble *heard = rig_hear (rig, listener, 0);
  guint from = (rig->frame - 30) * RIG_FRAME;
  guint i;

  for (i = 1; i <= 3; i++)
    rig_assert_level (heard, from, 20 * RIG_FRAME, 200 + 50 * i,
        1000 * (i == 1 ? pow (10, gain_db_of_101 / 20) : 1.0), 0.1);
  g_free (heard);
}

/* Two listeners want 101 louder, by as much; two have no wish; one wants less. */
GST_START_TEST (test_each_listener_has_gains_of_its_own)
{
  static const gdouble gain_db[] = { 0.0, 6.0, 6.0, -12.0, 0.0 };
  gchar *path;
  Rig *rig = rig_with ("[neighbour 11/ssrc:101]\ngain-db=6\n"
      "[neighbour 12/ssrc:0x65]\ngain-db=6\n"
      "[neighbour 13/default]\ngain-db=-20\n"
      "[neighbour 13/ssrc:101]\ngain-db=-12\n"
      "[neighbour 13/ssrc:102]\ngain-db=0\n"
      "[neighbour 13/ssrc:103]\ngain-db=0\n", &path);
  RigListener *listeners[5];
  guint64 encoded;
  guint i;

  for (i = 0; i < 5; i++) {
    gchar *name = g_strdup_printf ("src_%u", 10 + i);

    listeners[i] = mixed_listener (rig, name);
    g_free (name);
  }
  rig_play (rig);
  rig_run (rig, 40);
  encoded = rig_stat (rig, "n-encoded");
  rig_run (rig, 100);
  /* those who hear the same still share it */
  fail_unless_equals_uint64 (rig_stat (rig, "n-encoded") - encoded, 300);
  for (i = 0; i < 5; i++)
    check_heard (rig, listeners[i], gain_db[i]);
  rig_done (rig, path);
}

GST_END_TEST;

/* On top of what is for everybody, which may be louder than full scale. */
GST_START_TEST (test_a_gain_for_one_stands_beside_one_for_all)
{
  gchar *path;
  Rig *rig = rig_with ("[ssrc:101]\ngain-db=12\n"
      "[neighbour 11/ssrc:101]\ngain-db=0\n", &path);
  RigListener *all = mixed_listener (rig, "src_10");
  RigListener *one = mixed_listener (rig, "src_11");

  rig_play (rig);
  rig_run (rig, 60);
  check_heard (rig, all, 12.0);
  check_heard (rig, one, 0.0);
  rig_done (rig, path);
}

GST_END_TEST;

GST_START_TEST (test_each_listener_has_its_own_preferences)
{
  gchar *path;
  Rig *rig = rig_with ("[ssrc:103]\npriority=5\n"
      "[neighbour 11/ssrc:101]\npriority=9\n[neighbour 11/ssrc:102]\nmute=true\n"
      "[neighbour 12/ssrc:102]\nnever-mix=true\n", &path);
  RigListener *listeners[3];
  guint i, k;

  for (i = 0; i < 3; i++) {
    gchar *name = g_strdup_printf ("src_%u", 10 + i);

    listeners[i] = rig_listener (rig, name, NULL);
    rig_set_target (listeners[i], RIG_L16_MIX_BPS * 5 / 4 + RIG_L16_BPS
        * (i == 0));
    g_free (name);
  }
  rig_play (rig);
  rig_run (rig, 40);
  /* by priority; by its own; and because it is never mixed */
  fail_unless (rig_count_packets (listeners[0], 103) > 35);
  fail_unless_equals_int (rig_pad_stat (listeners[1], "n-separate")
      + rig_pad_stat (listeners[1], "n-mixed"), 2);
  fail_unless (rig_count_packets (listeners[2], 102) > 35);
  for (i = 0; i < 3; i++) {
    gdouble *heard = rig_hear (rig, listeners[i], 0);

    for (k = 1; k <= 3 && i < 2; k++) {
      gdouble level = rig_tone (heard, 15 * RIG_FRAME, 20 * RIG_FRAME,
          200 + 50 * k);

      fail_unless ((level > 900) == !(i == 1 && k == 2), "%u hears %u at %g",
          i, k, level);
    }
    g_free (heard);
  }
  rig_done (rig, path);
}

GST_END_TEST;

static void
peaks (RigListener * listener, gint * left, gint * right)
{
  guint i, k;

  *left = *right = 0;
  for (i = listener->buffers->len - 10; i < listener->buffers->len; i++) {
    GstMapInfo map;

    gst_buffer_map (rig_nth (listener, i), &map, GST_MAP_READ);
    for (k = 0; k + 3 < map.size; k += 4) {
      *left = MAX (*left, ABS ((gint16) GST_READ_UINT16_LE (map.data + k)));
      *right = MAX (*right,
          ABS ((gint16) GST_READ_UINT16_LE (map.data + k + 2)));
    }
    gst_buffer_unmap (rig_nth (listener, i), &map);
  }
}

/* The application says it for one renderer, while it plays. */
GST_START_TEST (test_one_renderer_places_a_voice_where_it_wants)
{
  Rig *rig = rig_new (NULL);
  RigListener *here = rig_listener (rig, "src_10", STEREO);
  RigListener *there = rig_listener (rig, "src_11", STEREO);
  GstStructure *s = gst_structure_new ("stream", "neighbour", G_TYPE_INT, 11,
      "pan", G_TYPE_DOUBLE, 1.0, "gain-db", G_TYPE_DOUBLE, 6.0206, NULL);
  gint left, right;

  rig_talker (rig, "sink_1", 1, RIG_L16, 400, 4000);
  rig_play (rig);
  rig_run (rig, 20);
  g_signal_emit_by_name (rig->mix, "set-stream", 1, s);
  gst_structure_free (s);
  rig_run (rig, 30);
  peaks (here, &left, &right);
  fail_unless (left > 3500 && right > 1750 && right < 1900, "%d %d", left,
      right);
  peaks (there, &left, &right);
  fail_unless (left < 10 && right > 7900 && right < 8100, "%d %d", left, right);
  rig_free (rig);
}

GST_END_TEST;

/* What is mistyped is told with its line, and says nothing; all else does. */
GST_START_TEST (test_typos_are_told_with_their_line)
{
  static const gchar *const expected[] = {
    ":2: unknown key \"priorty\"",
    ":4: \"zz\" is no value of pan",
    ":5: unknown section [foo]",
    ":7: \"40\" is no value of gain-db",
    ":8: \"maybe\" is no value of mute",
    ":9: unknown section [neighbour x/ssrc:101]",
    ":10: \"1.5\" is no value of priority",
    ":11: unknown section [ssrc:12a]",
  };
  gchar *path;
  Rig *rig = rig_with ("[default]\npriorty=3\n  # pan=zz\npan=zz\n[foo]\n"
      "gain-db = -6\ngain-db=40\nmute=maybe\n[neighbour x/ssrc:101]\n"
      "priority=1.5\n[ssrc:12a]\n[ssrc:102]\nmute=true\n", &path);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  GstMessage *message;
  GError *error;
  guint i;

  rig_play (rig);
  message = gst_bus_pop_filtered (rig->bus, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_parse_warning (message, &error, NULL);
  for (i = 0; i < G_N_ELEMENTS (expected); i++) {
    gchar *line = g_strconcat (path, expected[i], NULL);

    fail_unless (strstr (error->message, line) != NULL, "%s is not in %s",
        line, error->message);
    g_free (line);
  }
  fail_unless (strstr (error->message, ":3:") == NULL);
  fail_unless (strstr (error->message, ":6:") == NULL);
  fail_unless (strstr (error->message, ":13:") == NULL);
  g_error_free (error);
  gst_message_unref (message);
  rig_run (rig, 10);
  fail_unless_equals_int (rig_pad_stat (listener, "n-separate"), 2);
  fail_unless (gst_bus_pop_filtered (rig->bus, GST_MESSAGE_WARNING) == NULL);
  rig_done (rig, path);
}

GST_END_TEST;

static guint
count_warnings (Rig * rig)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (rig->bus, GST_MESSAGE_WARNING))
      != NULL) {
    gst_message_unref (message);
    n++;
  }
  return n;
}

static void
say (Rig * rig, guint ssrc, const gchar * text)
{
  GstStructure *s = gst_structure_from_string (text, NULL);

  g_signal_emit_by_name (rig->mix, "set-stream", ssrc, s);
  gst_structure_free (s);
}

/* A number is a number, also where a language knows one type of them only: what was for
 * one neighbour must not be for everybody.  What is no number, or no field, is told. */
GST_START_TEST (test_an_application_may_say_it_in_other_types)
{
  Rig *rig = rig_new (NULL);
  RigListener *here = rig_listener (rig, "src_10", NULL);
  RigListener *there = rig_listener (rig, "src_11", NULL);
  guint n;

  rig_talkers (rig, 1, 2, RIG_PCMU);
  rig_play (rig);
  rig_run (rig, 5);
  say (rig, 101, "s,neighbour=(uint)11,mute=(int)1");
  say (rig, 102, "s,neighbour=(string)everybody,mute=true");
  fail_unless_equals_int (count_warnings (rig), 1);
  say (rig, 102, "s,gain_db=-6.0,gain-db=(int)-6");
  fail_unless_equals_int (count_warnings (rig), 1);
  say (rig, 102, "s,gain-db=(int)-3,priority=(double)2,group=a");
  fail_unless_equals_int (count_warnings (rig), 0);
  /* None of Python */
  g_signal_emit_by_name (rig->mix, "set-stream", 102, NULL);
  fail_unless_equals_int (count_warnings (rig), 1);
  rig_run (rig, 1);
  n = rig_count_packets (there, 101);
  rig_run (rig, 10);
  fail_unless_equals_int (rig_count_packets (there, 101), n);
  fail_unless (rig_count_packets (here, 101) >= 15);
  fail_unless (rig_count_packets (here, 102) >= 15);
  rig_free (rig);
}

GST_END_TEST;

/* A mixer lasts longer than its streams and listeners: what was said of thousands who have
 * left, or for them, keeps nobody from being muted. */
GST_START_TEST (test_what_was_said_of_those_who_left_makes_room)
{
  const gchar *const texts[] = { "s,mute=true", "s,neighbour=10,mute=true" };
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_10", NULL);
  guint n;

  rig_talkers (rig, 1, 2, RIG_PCMU);
  rig_play (rig);
  rig_run (rig, 5);
  say (rig, 102, texts[__i__]);
  for (guint i = 0; i < 4200; i++)
    say (rig, 10000 + i, texts[__i__]);
  for (guint i = 0; i < 4200; i++) {
    gchar *text = g_strdup_printf ("s,neighbour=%u,mute=true", 20000 + i);

    say (rig, 101, text);
    g_free (text);
  }
  say (rig, 101, texts[__i__]);
  fail_unless_equals_int (count_warnings (rig), 0);
  rig_run (rig, 1);
  n = listener->buffers->len;
  rig_run (rig, 10);
  fail_unless_equals_int (listener->buffers->len, n);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
partialmix_database_suite (void)
{
  Suite *suite = suite_create ("partialmix-database");
  TCase *tc;

  tc = tcase_create ("database");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_each_listener_has_gains_of_its_own);
  tcase_add_test (tc, test_a_gain_for_one_stands_beside_one_for_all);
  tcase_add_test (tc, test_each_listener_has_its_own_preferences);
  tcase_add_test (tc, test_one_renderer_places_a_voice_where_it_wants);
  tcase_add_test (tc, test_typos_are_told_with_their_line);
  tcase_add_test (tc, test_an_application_may_say_it_in_other_types);
  tcase_add_loop_test (tc, test_what_was_said_of_those_who_left_makes_room, 0,
      2);
  return suite;
}

GST_CHECK_MAIN (partialmix_database);
