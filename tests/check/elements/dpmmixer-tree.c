/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mixers that join mixers. */
#include "dpmcheck.h"
#include "dpmrelay.h"

static Person *
child_of (Person * parent, const gchar * properties)
{
  gchar *line = g_strdup_printf ("parent=127.0.0.1:%u %s",
      (guint) stat_of (parent, "port"), properties);
  Person *mixer = mixer_new (line);

  g_free (line);
  return mixer;
}

/* alice - root - middle - leaf - bob, and carol in the middle */
GST_START_TEST (test_voices_and_names_pass_through_a_chain_once)
{
  Person *root = mixer_new ("secret=sesame");
  Person *middle = child_of (root, "secret=sesame");
  Person *leaf = child_of (middle, "secret=sesame");
  Person *alice = client_new (root, "alice", 440, "secret=sesame");
  Person *bob = client_new (leaf, "bob", 660, "secret=sesame");
  Person *carol = client_new (middle, "carol", 990, "secret=sesame");

  expect_message (bob, "dpm-talk", "name", "alice");
  expect_message (alice, "dpm-talk", "name", "bob");
  wait_for_tone (bob, 440, TRUE);
  wait_for_tone (bob, 990, TRUE);
  wait_for_tone (alice, 660, TRUE);
  wait_for_tone (alice, 990, TRUE);
  wait_for_tone (carol, 440, TRUE);
  wait_for_tone (carol, 660, TRUE);
  wait_for_tone (carol, 990, FALSE);
  person_free (alice);
  wait_for_tone (bob, 440, FALSE);
  person_free (bob);
  person_free (carol);
  person_free (leaf);
  person_free (middle);
  person_free (root);
}

GST_END_TEST;

GST_START_TEST (test_without_the_secret_there_is_no_branch)
{
  Person *root = mixer_new ("secret=sesame");
  Person *branch = child_of (root, "secret=open");

  expect_message (branch, "dpm-session", "reason", "secret");
  expect_message (root, "dpm-neighbour", "reason", "secret");
  person_free (branch);
  person_free (root);
}

GST_END_TEST;

/* Two that join each other at the same time: one of them gives way. */
GST_START_TEST (test_a_loop_is_refused)
{
  Person *a = mixer_new ("");
  guint port = (guint) stat_of (a, "port");
  Person *b = child_of (a, "");
  gchar *parent = g_strdup_printf ("127.0.0.1:%u", (guint) stat_of (b, "port"));

  expect_message (b, "dpm-session", "event", "joined");
  gst_element_set_state (a->pipeline, GST_STATE_READY);
  g_object_set (a->dpm, "port", port, "parent", parent, NULL);
  person_start (a);
  /* either one's JOIN is refused, or one finds itself below itself */
  while (TRUE) {
    GstBus *bus = gst_element_get_bus (a->pipeline);
    GstMessage *message = gst_bus_timed_pop_filtered (bus, 10 * GST_MSECOND,
        GST_MESSAGE_ELEMENT);
    gboolean loop = FALSE;

    gst_object_unref (bus);
    if (message == NULL) {
      bus = gst_element_get_bus (b->pipeline);
      message = gst_bus_timed_pop_filtered (bus, 10 * GST_MSECOND,
          GST_MESSAGE_ELEMENT);
      gst_object_unref (bus);
    }
    if (message != NULL) {
      loop = g_strcmp0 (gst_structure_get_string (gst_message_get_structure
              (message), "reason"), "loop") == 0;
      gst_message_unref (message);
    }
    if (loop)
      break;
  }
  person_free (a);
  person_free (b);
  g_free (parent);
}

GST_END_TEST;

/* The parent dies: those below go on talking, and it is joined again. */
GST_START_TEST (test_a_branch_lives_without_its_parent)
{
  Person *root = mixer_new ("");
  guint port = (guint) stat_of (root, "port");
  Person *branch = child_of (root, "");
  Person *alice = client_new (branch, "alice", 440, "");
  Person *bob = client_new (branch, "bob", 660, "");
  Person *carol = client_new (root, "carol", 990, "");

  wait_for_tone (alice, 660, TRUE);
  wait_for_tone (alice, 990, TRUE);
  gst_element_set_state (root->pipeline, GST_STATE_NULL);
  expect_message (branch, "dpm-session", "event", "left");
  wait_for_tone (alice, 990, FALSE);
  wait_for_tone (alice, 660, TRUE);
  wait_for_tone (bob, 440, TRUE);
  g_object_set (root->dpm, "port", port, NULL);
  person_start (root);
  wait_for_tone (alice, 990, TRUE);
  wait_for_tone (carol, 440, TRUE);
  person_free (alice);
  person_free (bob);
  person_free (carol);
  person_free (branch);
  person_free (root);
}

GST_END_TEST;

/* A parent is gone without a word: its child goes to the next one on its list, and
 * those below have been talking all the time. */
GST_START_TEST (test_a_branch_finds_another_parent)
{
  Person *first = mixer_new (""), *second = mixer_new ("");
  Relay *relay = relay_new ((guint) stat_of (first, "port"));
  gchar *parents = g_strdup_printf ("parent=127.0.0.1:%u,127.0.0.1:%u",
      relay_port (relay), (guint) stat_of (second, "port"));
  Person *branch = mixer_new (parents);
  Person *alice = client_new (branch, "alice", 440, "");
  Person *bob = client_new (branch, "bob", 660, "");
  Person *carol = client_new (second, "carol", 990, "");

  wait_for_stat (first, "n-neighbours", 1);
  wait_for_tone (alice, 660, TRUE);
  wait_for_tone (alice, 990, FALSE);
  g_atomic_int_set (&relay->dead, TRUE);
  expect_message (branch, "dpm-session", "reason", "timeout");
  wait_for_tone (bob, 440, TRUE);
  wait_for_tone (alice, 990, TRUE);
  wait_for_tone (carol, 440, TRUE);
  fail_unless_equals_uint64 (stat_of (branch, "n-left"), 0);
  fail_unless_equals_uint64 (stat_of (branch, "n-joined"), 2);
  g_free (parents);
  person_free (alice);
  person_free (bob);
  person_free (carol);
  person_free (branch);
  relay_free (relay);
  person_free (first);
  person_free (second);
}

GST_END_TEST;

static Suite *
dpmmixer_tree_suite (void)
{
  Suite *s = suite_create ("dpmmixer-tree");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_voices_and_names_pass_through_a_chain_once);
  tcase_add_test (tc, test_without_the_secret_there_is_no_branch);
  tcase_add_test (tc, test_a_loop_is_refused);
  tcase_add_test (tc, test_a_branch_lives_without_its_parent);
  tcase_add_test (tc, test_a_branch_finds_another_parent);
  return s;
}

GST_CHECK_MAIN (dpmmixer_tree);
