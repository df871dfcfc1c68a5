/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dpmcheck.h"
#include "dpmpause.h"
#include "dpmrelay.h"
#include "dpmresolver.h"

static gint reads;              /* whether somebody is to */

/* Returns: how this host calls itself by IPv6, if it has that */
static const gchar *
own_address (void)
{
  GstDpmSocket v6 = { 0 };
  gboolean has_v6 = gst_dpm_socket_open (&v6, "::1", 0, NULL);

  gst_dpm_socket_close (&v6);
  return has_v6 ? "[::1]" : "127.0.0.1";
}

/* ... one by IPv6, one by IPv4, through the same port */
GST_START_TEST (test_who_only_listens_and_who_only_talks)
{
  Person *mixer = person_start (person_new ("dpmmixer name=dpm port=0"));
  guint port = (guint) stat_of (mixer, "port");
  gchar *talks = g_strdup_printf (VOICE "dpmclient name=dpm "
      "server=%s:%u display-name=talks", 440, own_address (), port);
  gchar *listens = g_strdup_printf ("dpmclient name=dpm server=127.0.0.1:%u "
      "display-name=listens" EARS, port);
  Person *talker = person_start (person_new (talks));
  Person *listener = person_start (person_new (listens));

  wait_for_tone (listener, 440, TRUE);
  check_no_errors (talker);
  check_no_errors (listener);
  person_free (talker);
  person_free (listener);
  person_free (mixer);
  g_free (talks);
  g_free (listens);
}

GST_END_TEST;

/* Two places: each talker is alone in one of them, at both ears. */
GST_START_TEST (test_an_application_gets_each_talker_apart)
{
  Person *mixer = mixer_new ("");
  guint port = (guint) stat_of (mixer, "port");
  gchar *line = g_strdup_printf ("dpmclient name=dpm server=127.0.0.1:%u "
      "display-name=listens dpm.src_0 ! volume volume=0.7071" EARS
      " dpm.src_1 ! audioconvert ! "
      "audio/x-raw,format=S16LE,channels=2 ! fakesink sync=true async=false",
      port);
  Person *listener = person_start (person_new (line));
  Person *alice = client_new (mixer, "alice", 440, ""), *bob;

  wait_for_tone (listener, 440, TRUE);
  bob = client_new (mixer, "bob", 660, "");
  expect_message (listener, "dpm-talk", "name", "bob");
  wait_for_stat (bob, "joined", 1);
  wait_for_tone (listener, 660, FALSE);
  wait_for_tone (listener, 440, TRUE);
  check_no_errors (listener);
  person_free (alice);
  person_free (bob);
  person_free (listener);
  person_free (mixer);
  g_free (line);
}

GST_END_TEST;

/* Places come and go while it plays, and in any state. */
GST_START_TEST (test_places_for_talkers_come_and_go)
{
  Person *mixer = mixer_new ("");
  Person *alice = client_new (mixer, "alice", 440, "");
  Person *bob = client_new (mixer, "bob", 660, "");
  GstPad *pads[3];

  wait_for_tone (bob, 440, TRUE);
  for (guint round = 0; round < 3; round++) {
    for (guint i = 0; i < 3; i++) {
      pads[i] = gst_element_request_pad_simple (bob->dpm, "src_%u");
      fail_unless (pads[i] != NULL);
    }
    fail_unless (gst_element_request_pad_simple (bob->dpm, "src_64") == NULL);
    for (guint i = 0; i < 3; i++) {
      gst_element_release_request_pad (bob->dpm, pads[i]);
      gst_object_unref (pads[i]);
    }
  }
  pads[0] = gst_element_request_pad_simple (bob->dpm, "src_7");
  fail_unless_equals_string (GST_OBJECT_NAME (pads[0]), "src_7");
  wait_for_tone (bob, 440, TRUE);
  gst_object_unref (pads[0]);
  check_no_errors (bob);
  person_free (alice);
  person_free (bob);
  person_free (mixer);
}

GST_END_TEST;

GST_START_TEST (test_any_rate_and_channels_will_do)
{
  Person *mixer = mixer_new ("");
  guint port = (guint) stat_of (mixer, "port");
  gchar *line = g_strdup_printf ("audiotestsrc is-live=true volume=0.2 freq=440"
      " ! audio/x-raw,rate=44100,channels=2,format=F32LE ! dpmclient name=dpm "
      "server=localhost:%u ! audio/x-raw,rate=16000,channels=1,format=S32LE "
      "! fakesink sync=true async=false", port);
  Person *odd = person_start (person_new (line));
  Person *bob = client_new (mixer, "bob", 660, "");

  wait_for_tone (bob, 440, TRUE);
  expect_message (odd, "dpm-talk", "name", "bob");
  check_no_errors (odd);
  person_free (odd);
  person_free (bob);
  person_free (mixer);
  g_free (line);
}

GST_END_TEST;

GST_START_TEST (test_who_is_mute_is_not_heard)
{
  Person *mixer = mixer_new ("");
  Person *alice = client_new (mixer, "alice", 440, "");
  Person *bob = client_new (mixer, "bob", 660, "mute=true");

  wait_for_tone (bob, 440, TRUE);
  wait_for_tone (alice, 660, FALSE);
  g_object_set (bob->dpm, "mute", FALSE, NULL);
  wait_for_tone (alice, 660, TRUE);
  g_object_set (bob->dpm, "mute", TRUE, NULL);
  wait_for_tone (alice, 660, FALSE);
  person_free (alice);
  person_free (bob);
  person_free (mixer);
}

GST_END_TEST;

/* The mixer dies without a word; another one comes up. */
GST_START_TEST (test_a_mixer_that_crashed_is_joined_again)
{
  Person *first = mixer_new (""), *second = mixer_new ("");
  Relay *relay = relay_new ((guint) stat_of (first, "port"));
  Person *alice = person_start (client_make (relay_port (relay), "alice", 440,
          ""));
  Person *bob = client_new (second, "bob", 660, "");

  expect_message (alice, "dpm-session", "event", "joined");
  /* the mixer takes her for joined once it hears from her again */
  wait_for_stat (first, "n-joined", 1);
  relay_turn_to (relay, (guint) stat_of (second, "port"));
  expect_message (alice, "dpm-session", "event", "joined");
  wait_for_tone (bob, 440, TRUE);
  wait_for_tone (alice, 660, TRUE);
  /* who was killed is missed by its mixer in the end */
  expect_message (first, "dpm-neighbour", "reason", "timeout");
  person_free (alice);
  person_free (bob);
  relay_free (relay);
  person_free (first);
  person_free (second);
}

GST_END_TEST;

/* A NAT gives the client another address: it stays in, under the same number. */
GST_START_TEST (test_a_client_whose_address_changes_stays_in)
{
  Person *mixer = mixer_new ("");
  Relay *relay = relay_new ((guint) stat_of (mixer, "port"));
  Person *alice = person_start (client_make (relay_port (relay), "alice", 440,
          ""));
  Person *bob = client_new (mixer, "bob", 660, "");

  wait_for_tone (bob, 440, TRUE);
  relay_rebind (relay);
  wait_for_stat (mixer, "n-moved", 1);
  wait_for_tone (bob, 440, TRUE);
  wait_for_tone (alice, 660, TRUE);
  fail_unless_equals_uint64 (stat_of (mixer, "n-joined"), 2);
  person_free (alice);
  person_free (bob);
  relay_free (relay);
  person_free (mixer);
}

GST_END_TEST;

GST_START_TEST (test_a_server_that_is_not_there_is_told_and_waited_for)
{
  Person *mixer = mixer_new ("");
  guint port = (guint) stat_of (mixer, "port");
  Person *alice = client_make (port, "alice", 440, "");
  Pause pause;

  pause_begin (&pause, mixer, GST_STATE_NULL);
  person_start (alice);
  expect_message (alice, "dpm-session", "event", "no-answer");
  gst_message_unref (wait_for_complaint (alice, GST_MESSAGE_WARNING));
  pause_end (&pause);
  expect_message (alice, "dpm-session", "event", "joined");
  person_free (alice);
  person_free (mixer);
}

GST_END_TEST;

/* A service with two hosts: the one that is preferred stops, and says goodbye. */
GST_START_TEST (test_a_node_that_stops_sends_its_clients_to_the_next)
{
  Person *first = mixer_new (""), *second = mixer_new (""), *alice;
  Person *bob = client_new (second, "bob", 660, "");

  resolver_install ();
  resolver_add_target ("first.test", (guint16) stat_of (first, "port"), 1);
  resolver_add_target ("second.test", (guint16) stat_of (second, "port"), 2);
  alice = person_start (person_new ("audiotestsrc is-live=true volume=0.2 "
          "! audio/x-raw,rate=48000,channels=1 ! dpmclient name=dpm "
          "server=meet.test display-name=alice" EARS));
  wait_for_stat (first, "n-neighbours", 1);
  expect_message (alice, "dpm-session", "event", "joined");
  gst_element_set_state (first->pipeline, GST_STATE_NULL);
  expect_message (alice, "dpm-session", "event", "left");
  expect_message (alice, "dpm-session", "event", "joined");
  wait_for_tone (bob, 440, TRUE);
  wait_for_tone (alice, 660, TRUE);
  person_free (alice);
  resolver_remove ();
  person_free (bob);
  person_free (first);
  person_free (second);
}

GST_END_TEST;

static Person *
client_of_two (Person * first, Person * second, const gchar * properties)
{
  gchar *line = g_strdup_printf ("audiotestsrc is-live=true volume=0.2 "
      "! audio/x-raw,rate=48000,channels=1 ! dpmclient name=dpm "
      "address=127.0.0.1 server=127.0.0.1:%u,127.0.0.1:%u %s" EARS,
      (guint) stat_of (first, "port"), (guint) stat_of (second, "port"),
      properties);
  Person *client = person_start (person_new (line));

  g_free (line);
  return client;
}

/* Of a list of servers one has another secret: a warning, and the next one. */
GST_START_TEST (test_one_server_with_another_secret_ends_nothing)
{
  Person *first = mixer_new ("secret=other"), *second =
      mixer_new ("secret=sesame");
  Person *bob = client_new (second, "bob", 660, "secret=sesame");
  Person *alice = client_of_two (first, second, "secret=sesame");

  expect_message (alice, "dpm-session", "reason", "secret");
  expect_message (alice, "dpm-session", "event", "joined");
  wait_for_tone (bob, 440, TRUE);
  wait_for_tone (alice, 660, TRUE);
  check_no_errors (alice);
  person_free (alice);
  person_free (bob);
  person_free (first);
  person_free (second);
}

GST_END_TEST;

/* ... and when all of them have, there is nothing to wait for. */
GST_START_TEST (test_it_is_an_error_when_all_servers_have_another_secret)
{
  Person *first = mixer_new ("secret=other"), *second = mixer_new ("");
  Person *alice = client_of_two (first, second, "secret=sesame");

  expect_not_authorized (alice);
  wait_for_stat (first, "n-wrong-secret", 1);
  wait_for_stat (second, "n-wrong-secret", 1);
  person_free (alice);
  person_free (first);
  person_free (second);
}

GST_END_TEST;

/* ... but one that has no address yet may have ours: the other one is asked meanwhile. */
GST_START_TEST (test_a_server_without_an_address_has_not_refused)
{
  Person *first = mixer_new ("secret=other"), *alice;
  gchar *line = g_strdup_printf (VOICE "dpmclient name=dpm secret=sesame "
      "server=127.0.0.1:%u,nobody.invalid:7001", 440,
      (guint) stat_of (first, "port"));

  resolver_install ();
  alice = person_start (person_new (line));
  wait_for_stat (first, "n-wrong-secret", 4);
  check_no_errors (alice);
  person_free (alice);
  person_free (first);
  resolver_remove ();
  g_free (line);
}

GST_END_TEST;

GST_START_TEST (test_without_a_server_it_does_not_start)
{
  static const gchar *const lines[] = { "dpmclient name=dpm",
    "dpmclient name=dpm server=host:99999"
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    Person *alice = person_new (lines[i]);

    fail_unless (gst_element_set_state (alice->pipeline,
            GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE);
    person_free (alice);
  }
}

GST_END_TEST;

/* Not taken, it would leave an open room. */
GST_START_TEST (test_a_secret_that_is_too_long_is_an_error)
{
  Person *mixer = person_new ("dpmmixer name=dpm port=0");
  gchar *text = g_strnfill (257, 'x');

  g_object_set (mixer->dpm, "secret", text, NULL);
  fail_unless (gst_element_set_state (mixer->pipeline,
          GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (mixer->pipeline, GST_STATE_NULL);
  text[256] = 0;
  g_object_set (mixer->dpm, "secret", text, NULL);
  person_start (mixer);
  person_free (mixer);
  g_free (text);
}

GST_END_TEST;

/* Applications let pads go, and change states, whenever they like. */
GST_START_TEST (test_pads_go_while_it_plays)
{
  Person *mixer = mixer_new ("");
  Person *alice = client_new (mixer, "alice", 440, "");
  Person *bob = client_new (mixer, "bob", 660, "");
  static const gchar *const names[] = { "sink", "src" };

  wait_for_tone (bob, 440, TRUE);
  for (guint i = 0; i < 2; i++) {
    GstPad *pad = gst_element_get_static_pad (alice->dpm, names[i]);
    GstPad *peer = gst_pad_get_peer (pad);

    if (i == 0)
      gst_pad_unlink (peer, pad);
    else
      gst_pad_unlink (pad, peer);
    gst_element_release_request_pad (alice->dpm, pad);
    gst_object_unref (peer);
    gst_object_unref (pad);
  }
  wait_for_tone (bob, 440, FALSE);
  fail_unless (gst_element_request_pad_simple (alice->dpm, "sink") == NULL);
  for (guint i = 0; i < 3; i++) {
    gst_element_set_state (bob->pipeline, GST_STATE_READY);
    gst_element_set_state (bob->pipeline, GST_STATE_PLAYING);
    gst_element_set_state (bob->pipeline, GST_STATE_PAUSED);
    gst_element_set_state (bob->pipeline, GST_STATE_NULL);
  }
  person_free (alice);
  person_free (bob);
  person_free (mixer);
}

GST_END_TEST;

static gpointer
read_statistics (gpointer data)
{
  Person *person = data;

  while (g_atomic_int_get (&reads)) {
    GstStructure *stats;

    g_object_get (person->dpm, "stats", &stats, NULL);
    gst_structure_free (stats);
  }
  return NULL;
}

/* Somebody looks all the time while a client, or a mixer, ends and begins again, and is
 * made mute.  (A race, if there is one, is ThreadSanitizer's to find.) */
GST_START_TEST (test_statistics_may_be_read_at_any_moment)
{
  Person *mixer = mixer_new ("");
  Person *alice = client_new (mixer, "alice", 440, "");
  Person *both[] = { alice, mixer };

  for (guint i = 0; i < G_N_ELEMENTS (both); i++) {
    GThread *thread;

    g_atomic_int_set (&reads, TRUE);
    thread = g_thread_new ("reads", read_statistics, both[i]);
    for (guint k = 0; k < 5; k++) {
      gst_element_set_state (both[i]->pipeline, GST_STATE_READY);
      g_object_set (both[i]->dpm, "mute", k % 2 == 0, NULL);
      gst_element_set_state (both[i]->pipeline, GST_STATE_PLAYING);
    }
    g_atomic_int_set (&reads, FALSE);
    g_thread_join (thread);
    if (both[i] == alice)
      expect_message (alice, "dpm-session", "event", "joined");
  }
  person_free (alice);
  person_free (mixer);
}

GST_END_TEST;

static Suite *
dpmclient_suite (void)
{
  Suite *s = suite_create ("dpmclient");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, NULL, everybody_leaves);
  tcase_add_test (tc, test_who_only_listens_and_who_only_talks);
  tcase_add_test (tc, test_an_application_gets_each_talker_apart);
  tcase_add_test (tc, test_places_for_talkers_come_and_go);
  tcase_add_test (tc, test_any_rate_and_channels_will_do);
  tcase_add_test (tc, test_who_is_mute_is_not_heard);
  tcase_add_test (tc, test_a_mixer_that_crashed_is_joined_again);
  tcase_add_test (tc, test_a_client_whose_address_changes_stays_in);
  tcase_add_test (tc, test_a_server_that_is_not_there_is_told_and_waited_for);
  tcase_add_test (tc, test_a_node_that_stops_sends_its_clients_to_the_next);
  tcase_add_test (tc, test_one_server_with_another_secret_ends_nothing);
  tcase_add_test (tc, test_it_is_an_error_when_all_servers_have_another_secret);
  tcase_add_test (tc, test_a_server_without_an_address_has_not_refused);
  tcase_add_test (tc, test_without_a_server_it_does_not_start);
  tcase_add_test (tc, test_a_secret_that_is_too_long_is_an_error);
  tcase_add_test (tc, test_pads_go_while_it_plays);
  tcase_add_test (tc, test_statistics_may_be_read_at_any_moment);
  return s;
}

GST_CHECK_MAIN (dpmclient);
