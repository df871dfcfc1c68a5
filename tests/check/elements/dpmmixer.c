/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dpmcheck.h"
#include "dpmpause.h"
#include "dpmwatch.h"
#include "../gstfairmixcheck.h"

#include <glib/gstdio.h>

GST_START_TEST (test_each_hears_the_others_as_loud_as_they_are_and_not_itself)
{
  const guint hz[] = { 440, 660, 990 };
  Person *mixer = mixer_new ("");
  Person *people[3];

  for (guint i = 0; i < 3; i++) {
    gchar *name = g_strdup_printf ("p%u", i);

    people[i] = client_new (mixer, name, hz[i], "");
    g_free (name);
  }
  for (guint i = 0; i < 3; i++)
    for (guint j = 0; j < 3; j++)
      if (i != j)
        wait_for_tone (people[i], hz[j], TRUE);
  for (guint i = 0; i < 3; i++) {
    wait_for_tone (people[i], hz[i], FALSE);
    check_no_errors (people[i]);
    person_free (people[i]);
  }
  wait_for_stat (mixer, "n-left", 3);
  check_no_errors (mixer);
  person_free (mixer);
}

GST_END_TEST;

/* 48 kbit/s to each: one voice, or a mix of two */
GST_START_TEST (test_a_narrow_path_carries_all_in_a_mix)
{
  Person *mixer = mixer_new ("max-bitrate=48000");
  Person *alice = client_new (mixer, "alice", 440, "");
  Person *bob = client_new (mixer, "bob", 660, "");
  Person *carol = client_new (mixer, "carol", 990, "");

  wait_for_tone (alice, 660, TRUE);
  wait_for_tone (alice, 990, TRUE);
  wait_for_tone (alice, 440, FALSE);
  wait_for_tone (bob, 440, TRUE);
  wait_for_tone (bob, 990, TRUE);
  fail_unless (mixer_stat_of (mixer, "n-encoded") > 0);
  person_free (alice);
  person_free (bob);
  person_free (carol);
  check_no_errors (mixer);
  person_free (mixer);
}

GST_END_TEST;

GST_START_TEST (test_who_leaves_is_not_heard_any_more_and_the_others_are)
{
  Person *mixer = mixer_new ("");
  Person *alice = client_new (mixer, "alice", 440, "");
  Person *bob = client_new (mixer, "bob", 660, "");
  Person *carol = client_new (mixer, "carol", 990, "");

  wait_for_tone (alice, 660, TRUE);
  wait_for_tone (alice, 990, TRUE);
  person_free (bob);
  expect_message (mixer, "dpm-neighbour", "reason", "leave");
  wait_for_tone (alice, 660, FALSE);
  wait_for_tone (alice, 990, TRUE);
  bob = client_new (mixer, "bob", 660, "");
  wait_for_tone (alice, 660, TRUE);
  wait_for_tone (bob, 990, TRUE);
  person_free (alice);
  person_free (bob);
  person_free (carol);
  person_free (mixer);
}

GST_END_TEST;

GST_START_TEST (test_everybody_learns_who_talks)
{
  Person *mixer = mixer_new ("");
  Person *alice = client_new (mixer, "alice", 440, "");
  Person *other = client_new (mixer, "alice", 550, "");
  Person *bob = client_new (mixer, "Bob\\ B.", 660, "");

  expect_message (mixer, "dpm-neighbour", "event", "joined");
  expect_message (alice, "dpm-talk", "name", "Bob B.");
  /* two of the same name are told apart */
  expect_message (bob, "dpm-talk", "name", "alice (2)");
  person_free (alice);
  person_free (other);
  person_free (bob);
  person_free (mixer);
}

GST_END_TEST;

GST_START_TEST (test_who_does_not_know_the_secret_stays_out)
{
  Person *mixer = mixer_new ("secret=sesame");
  Person *alice = client_new (mixer, "alice", 440, "secret=sesame");
  Person *mallory = client_new (mixer, "mallory", 660, "secret=sesam");

  expect_message (mixer, "dpm-neighbour", "reason", "secret");
  expect_not_authorized (mallory);
  fail_unless_equals_uint64 (stat_of (mixer, "n-wrong-secret"), 1);
  wait_for_stat (mixer, "n-neighbours", 1);
  wait_for_tone (alice, 660, FALSE);
  person_free (mallory);
  person_free (alice);
  person_free (mixer);
}

GST_END_TEST;

GST_START_TEST (test_a_full_room_refuses_until_somebody_leaves)
{
  Person *mixer = mixer_new ("max-clients=1");
  Person *alice = client_new (mixer, "alice", 440, "");
  Person *bob;

  expect_message (alice, "dpm-session", "event", "joined");
  bob = client_new (mixer, "bob", 660, "");
  expect_message (bob, "dpm-session", "reason", "full");
  person_free (alice);
  expect_message (bob, "dpm-session", "event", "joined");
  person_free (bob);
  person_free (mixer);
}

GST_END_TEST;

GST_START_TEST (test_the_database_knows_people_by_their_names)
{
  gchar *path = NULL;
  gint fd = g_file_open_tmp ("dpm-XXXXXX.ini", &path, NULL);
  gchar *properties = g_strdup_printf ("database-location=%s", path);
  Person *mixer, *alice, *bob, *carol;

  fail_unless (fd >= 0);
  fail_unless (g_file_set_contents (path, "[cname:bob]\nmute=true\n", -1,
          NULL));
  mixer = mixer_new (properties);
  alice = client_new (mixer, "alice", 440, "");
  bob = client_new (mixer, "bob", 660, "");
  carol = client_new (mixer, "carol", 990, "");
  wait_for_tone (alice, 990, TRUE);
  wait_for_tone (bob, 990, TRUE);
  wait_for_tone (alice, 660, FALSE);
  wait_for_tone (carol, 660, FALSE);
  person_free (alice);
  person_free (bob);
  person_free (carol);
  person_free (mixer);
  g_close (fd, NULL);
  g_unlink (path);
  g_free (properties);
  g_free (path);
}

GST_END_TEST;

GST_START_TEST (test_somebody_talks_where_the_mixer_is)
{
  gchar *line = g_strdup_printf (VOICE "dpmmixer name=dpm port=0 "
      "display-name=host" EARS, 330);
  Person *mixer = person_start (person_new (line));
  Person *alice = client_new (mixer, "alice", 440, "");

  wait_for_tone (alice, 330, TRUE);
  wait_for_tone (mixer, 440, TRUE);
  wait_for_tone (mixer, 330, FALSE);
  expect_message (alice, "dpm-talk", "name", "host");
  g_object_set (mixer->dpm, "mute", TRUE, NULL);
  wait_for_tone (alice, 330, FALSE);
  g_free (line);
  person_free (alice);
  person_free (mixer);
}

GST_END_TEST;

GST_START_TEST (test_a_neighbour_can_be_sent_away)
{
  Person *mixer = mixer_new ("");
  Person *alice = client_new (mixer, "alice", 440, "");
  GstMessage *message = wait_for_message (mixer, "dpm-neighbour", "event",
      "joined");
  guint neighbour = 0;

  gst_structure_get_uint (gst_message_get_structure (message), "neighbour",
      &neighbour);
  gst_message_unref (message);
  g_signal_emit_by_name (mixer->dpm, "kick", neighbour + 1);    /* nobody */
  g_signal_emit_by_name (mixer->dpm, "kick", neighbour);
  expect_message (mixer, "dpm-neighbour", "reason", "closed");
  expect_message (alice, "dpm-session", "reason", "closed");
  person_free (alice);
  person_free (mixer);
}

GST_END_TEST;

/* States up and down with people in it; then once more. */
GST_START_TEST (test_a_mixer_ends_and_begins_again)
{
  Person *mixer = mixer_new ("");
  Person *alice = client_new (mixer, "alice", 440, "");
  Person *bob = client_new (mixer, "bob", 660, "");
  Pause pause;

  wait_for_tone (alice, 660, TRUE);
  pause_begin (&pause, mixer, GST_STATE_NULL);
  expect_message (alice, "dpm-session", "event", "left");
  pause_end (&pause);
  expect_message (alice, "dpm-session", "event", "joined");
  wait_for_tone (bob, 440, TRUE);
  person_free (alice);
  person_free (bob);
  person_free (mixer);
}

GST_END_TEST;

GST_START_TEST (test_a_port_that_is_taken_is_an_error)
{
  Person *mixer = mixer_new ("");
  gchar *line = g_strdup_printf ("dpmmixer name=dpm address=127.0.0.1 port=%u",
      (guint) stat_of (mixer, "port"));
  Person *other = person_new (line);

  fail_unless (gst_element_set_state (other->pipeline,
          GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE);
  person_free (other);
  g_free (line);
  person_free (mixer);
}

GST_END_TEST;

/* Others join all the time: who receives packets, and who holds the lock of the mixer,
 * makes none of what they need. */
GST_START_TEST (test_who_joins_is_let_in_beside_those_who_receive)
{
  Person *mixer = mixer_new ("");
  Person *alice = client_new (mixer, "alice", 440, "");
  Person *bob = client_new (mixer, "bob", 660, "");
  Person *others[5];
  GstElement *mix = gst_bin_get_by_name (GST_BIN (mixer->dpm), "mix");

  wait_for_tone (bob, 440, TRUE);
  watch_begin (mix);
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    others[i] = client_new (mixer, "other", 990 + 110 * i, "");
  wait_for_stat (mixer, "n-joined", 2 + G_N_ELEMENTS (others));
  wait_for_tone (bob, 990, TRUE);
  fail_unless (watch_count (WATCH_NEW) > 0);
  fail_unless (watch_count (WATCH_ASK) > 0);
  fail_unless_equals_int (watch_count_bad (), 0);
  watch_end ();
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    person_free (others[i]);
  gst_object_unref (mix);
  person_free (alice);
  person_free (bob);
  person_free (mixer);
}

GST_END_TEST;

/* Returns: the mean delay on the way to the first neighbour, in s, of an interval after
 * @interval, which becomes its number */
static gdouble
wait_for_delay (Person * mixer, guint64 * interval)
{
  gint64 end = patient_clock_now_us () + PATIENCE_US;
  guint64 now = 0;
  gdouble mean_s = 0;

  while (now <= *interval) {
    GstStructure *stats, *rate = NULL, *shape = NULL;

    fail_if (patient_clock_now_us () > end);
    g_usleep (LOOK_US);
    g_object_get (mixer->dpm, "stats", &stats, NULL);
    gst_structure_get (gst_value_get_structure (gst_value_array_get_value
            (gst_structure_get_value (stats, "neighbours"), 0)), "rate",
        GST_TYPE_STRUCTURE, &rate, NULL);
    gst_structure_get (rate, "delay-shape", GST_TYPE_STRUCTURE, &shape, NULL);
    gst_structure_get (shape, "interval", G_TYPE_UINT64, &now, "mean-delay",
        G_TYPE_DOUBLE, &mean_s, NULL);
    gst_structure_free (shape);
    gst_structure_free (rate);
    gst_structure_free (stats);
  }
  *interval = now;
  return mean_s;
}

/* The clock of the pipelines waits for half a second, which nobody must take for half a
 * second on the way: that of the wall went on. */
GST_START_TEST (test_delays_are_those_of_the_clock_of_the_pipelines)
{
  Person *mixer = mixer_new ("");
  Person *alice = client_new (mixer, "alice", 440, "");
  Person *bob = client_new (mixer, "bob", 660, "");
  guint64 interval = 0;
  gdouble before_s, after_s;
  gint64 end;

  patient_clock_set_speed (1);
  wait_for_tone (alice, 660, TRUE);
  before_s = wait_for_delay (mixer, &interval);
  end = g_get_monotonic_time () + G_USEC_PER_SEC / 2;
  while (g_get_monotonic_time () < end);
  interval++;                   /* the one that began before that */
  after_s = wait_for_delay (mixer, &interval);
  fail_unless (fabs (after_s - before_s) < 0.2, "%.3f s, then %.3f s", before_s,
      after_s);
  person_free (bob);
  person_free (alice);
  person_free (mixer);
}

GST_END_TEST;

/* At the start, and where it is set later */
GST_START_TEST (test_a_weight_that_is_no_number_is_told)
{
  Person *mixer = mixer_new ("weights=\"weights,alice=x,bob=2,carol=yes\"");
  GstElement *dpm = gst_bin_get_by_name (GST_BIN (mixer->pipeline), "dpm");

  fail_unless_equals_int (pipeline_warnings (mixer->pipeline), 2);
  gst_util_set_object_arg (G_OBJECT (dpm), "weights", "weights,alice=0.5");
  fail_unless_equals_int (pipeline_warnings (mixer->pipeline), 0);
  gst_util_set_object_arg (G_OBJECT (dpm), "weights",
      "weights,alice=(string)2");
  fail_unless_equals_int (pipeline_warnings (mixer->pipeline), 1);
  g_object_set (dpm, "weights", NULL, NULL);
  fail_unless_equals_int (pipeline_warnings (mixer->pipeline), 0);
  gst_object_unref (dpm);
  person_free (mixer);
}

GST_END_TEST;

typedef struct
{
  const gchar *name;
  GstPad *second;
  gboolean asked;
} Asker;

/* As a second thread may while the first one is at it */
static void
ask_once_more (GstBin * bin, GstElement * part G_GNUC_UNUSED,
    gpointer user_data)
{
  Asker *asker = user_data;

  if (asker->asked)
    return;
  asker->asked = TRUE;
  asker->second = gst_element_request_pad_simple (GST_ELEMENT (bin),
      asker->name);
}

/* Of two who ask at a time for the same pad one gets it; afterwards there is another. */
GST_START_TEST (test_one_of_two_gets_a_pad)
{
  const gchar *const factories[] = { "dpmclient", "dpmmixer" };
  Asker asker = { __i__ % 2 ? "src" : "sink", NULL, FALSE };
  GstElement *element = gst_element_factory_make (factories[__i__ / 2], NULL);
  GstPad *pad;

  gst_object_ref_sink (element);
  g_signal_connect (element, "element-added", G_CALLBACK (ask_once_more),
      &asker);
  pad = gst_element_request_pad_simple (element, asker.name);
  fail_unless (pad != NULL && asker.asked);
  fail_unless (asker.second == NULL);
  gst_element_release_request_pad (element, pad);
  gst_object_unref (pad);
  pad = gst_element_request_pad_simple (element, asker.name);
  fail_unless (pad != NULL);
  gst_element_release_request_pad (element, pad);
  gst_object_unref (pad);
  gst_object_unref (element);
}

GST_END_TEST;

static void
release_voice (GstBin * bin, GstElement * part,
    gpointer user_data G_GNUC_UNUSED)
{
  GstPad *sink = gst_element_get_static_pad (GST_ELEMENT (bin), "sink");

  if (sink != NULL && g_str_equal (GST_OBJECT_NAME (gst_element_get_factory
              (part)), "rtpccfb"))
    gst_element_release_request_pad (GST_ELEMENT (bin), sink);
  gst_clear_object (&sink);
}

/* A message keeps who sent it. */
static GstBusSyncReply
drop_message (GstBus * bus G_GNUC_UNUSED, GstMessage * message,
    gpointer user_data G_GNUC_UNUSED)
{
  gst_message_unref (message);
  return GST_BUS_DROP;
}

/* As another thread may: the way to the server is made, and its beginning goes. */
GST_START_TEST (test_the_voice_may_go_while_a_client_starts)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *client = gst_element_factory_make ("dpmclient", NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstPad *sink;

  gst_bus_set_sync_handler (bus, drop_message, NULL, NULL);
  gst_object_unref (bus);
  gst_bin_add (GST_BIN (pipeline), client);
  g_object_set (client, "server", "127.0.0.1:9", NULL);
  sink = gst_element_request_pad_simple (client, "sink");
  gst_object_unref (sink);
  g_signal_connect (client, "element-added", G_CALLBACK (release_voice), NULL);
  fail_if (gst_element_set_state (pipeline, GST_STATE_PLAYING)
      == GST_STATE_CHANGE_FAILURE);
  fail_unless (gst_element_get_static_pad (client, "sink") == NULL);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

GST_END_TEST;

static Suite *
dpmmixer_suite (void)
{
  Suite *s = suite_create ("dpmmixer");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, NULL, everybody_leaves);
  tcase_add_test (tc,
      test_each_hears_the_others_as_loud_as_they_are_and_not_itself);
  tcase_add_test (tc, test_a_narrow_path_carries_all_in_a_mix);
  tcase_add_test (tc, test_who_leaves_is_not_heard_any_more_and_the_others_are);
  tcase_add_test (tc, test_everybody_learns_who_talks);
  tcase_add_test (tc, test_who_does_not_know_the_secret_stays_out);
  tcase_add_test (tc, test_a_full_room_refuses_until_somebody_leaves);
  tcase_add_test (tc, test_the_database_knows_people_by_their_names);
  tcase_add_test (tc, test_somebody_talks_where_the_mixer_is);
  tcase_add_test (tc, test_a_neighbour_can_be_sent_away);
  tcase_add_test (tc, test_who_joins_is_let_in_beside_those_who_receive);
  tcase_add_test (tc, test_delays_are_those_of_the_clock_of_the_pipelines);
  tcase_add_test (tc, test_a_mixer_ends_and_begins_again);
  tcase_add_test (tc, test_a_port_that_is_taken_is_an_error);
  tcase_add_test (tc, test_a_weight_that_is_no_number_is_told);
  tcase_add_loop_test (tc, test_one_of_two_gets_a_pad, 0, 4);
  tcase_add_test (tc, test_the_voice_may_go_while_a_client_starts);
  return s;
}

GST_CHECK_MAIN (dpmmixer);
