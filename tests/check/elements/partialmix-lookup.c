/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the Database knows of whom (gst/partialmix/gstpartialmixdatabase.h), without
 * the element; what listeners hear of it is in partialmix-database.c. */
#include "../gstfairmixcheck.h"

#include <math.h>

#include <glib/gstdio.h>

#include "partialmix/gstpartialmixdatabase.h"

#define MAX_SAID 4096

static GstPartialMixDatabase *database;
static GstFairmixLock lock;
static gchar *path;

static void
setup (void)
{
  gint fd = g_file_open_tmp ("fairmix-XXXXXX.ini", &path, NULL);

  fail_unless (fd >= 0);
  g_close (fd, NULL);
  gst_fairmix_lock_init (&lock, GST_FAIRMIX_RANK_ELEMENT);
  database = gst_partial_mix_database_new ();
}

static void
teardown (void)
{
  gst_partial_mix_database_free (database);
  gst_fairmix_lock_clear (&lock);
  g_unlink (path);
  g_free (path);
}

static void
check_reload (gboolean changed, const gchar * complaint, gboolean fails)
{
  GError *error = NULL;
  gchar *complaints;

  fail_unless_equals_int (gst_partial_mix_database_reload (database, &lock,
          &complaints, &error), changed);
  fail_unless_equals_int (error != NULL, fails);
  if (complaint == NULL)
    fail_unless (complaints == NULL, "%s", complaints);
  else
    fail_unless (strstr (complaints, complaint) != NULL, "%s", complaints);
  g_clear_error (&error);
  g_free (complaints);
}

static void
read_text (const gchar * text, const gchar * complaint)
{
  fail_unless (g_file_set_contents (path, text, -1, NULL));
  gst_partial_mix_database_set_location (database, path);
  check_reload (TRUE, complaint, FALSE);
}

static GstPartialMixStreamInfo
look_up (gint listener, const gchar * cname, guint32 ssrc)
{
  GstPartialMixStreamInfo info;

  if (listener < 0)
    gst_partial_mix_database_lookup (database, cname, ssrc, &info);
  else
    gst_partial_mix_database_lookup_for (database, listener, cname, ssrc,
        &info);
  return info;
}

static void
say (guint32 ssrc, gint neighbour, gint priority)
{
  GstStructure *s = gst_structure_new ("s", "priority", G_TYPE_INT, priority,
      NULL);

  if (neighbour >= 0)
    gst_structure_set (s, "neighbour", G_TYPE_INT, neighbour, NULL);
  gst_partial_mix_database_set (database, ssrc, s, NULL, NULL);
  gst_structure_free (s);
}

GST_START_TEST (test_who_is_in_no_section_has_the_defaults)
{
  GstPartialMixStreamInfo info = look_up (-1, "alice", 1);

  fail_unless_equals_int (info.priority, 0);
  fail_unless (info.gain == 1.0f && isnan (info.pan));
  fail_unless (info.group == NULL && info.group_id == 0);
  fail_if (info.mute || info.never_mix);
  check_reload (FALSE, NULL, FALSE);
}

GST_END_TEST;

GST_START_TEST (test_the_more_specific_section_wins)
{
  read_text ("[ssrc:0x10]\npriority=3\n[cname:alice]\npriority=2\n"
      "[default]\npriority=1\ngain-db=-6\n"
      "[neighbour 7/default]\npriority=4\n"
      "[neighbour 7/cname:alice]\npriority=5\n"
      "[neighbour 7/ssrc:16]\npriority=6\n", NULL);
  fail_unless_equals_int (look_up (-1, NULL, 1).priority, 1);
  fail_unless_equals_int (look_up (-1, "alice", 1).priority, 2);
  fail_unless_equals_int (look_up (-1, "alice", 16).priority, 3);
  fail_unless_equals_int (look_up (7, NULL, 1).priority, 4);
  fail_unless_equals_int (look_up (7, "alice", 1).priority, 5);
  fail_unless_equals_int (look_up (7, "alice", 16).priority, 6);
  fail_unless_equals_int (look_up (8, "alice", 16).priority, 3);
  /* what it does not say is as for everybody */
  fail_unless (fabsf (look_up (7, "alice", 16).gain - 0.5f) < 0.01f);
  say (16, -1, 10);
  fail_unless_equals_int (look_up (-1, "alice", 16).priority, 10);
  fail_unless_equals_int (look_up (7, "alice", 16).priority, 10);
  say (16, 7, 11);
  fail_unless_equals_int (look_up (-1, "alice", 16).priority, 10);
  fail_unless_equals_int (look_up (7, "alice", 16).priority, 11);
}

GST_END_TEST;

GST_START_TEST (test_nonsense_says_nothing)
{
  GstPartialMixStreamInfo info;

  read_text ("[default]\npriority=high\ngain-db=nan\npan=left\nmute=perhaps\n",
      ":2:");
  info = look_up (-1, NULL, 1);
  fail_unless_equals_int (info.priority, 0);
  fail_unless (info.gain == 1.0f && isnan (info.pan) && !info.mute);
  read_text ("[default]\ngain-db=1000\npan=-7\n", ":3:");
  info = look_up (-1, NULL, 1);
  fail_unless (fabsf (info.gain - 7.943f) < 0.01f);     /* 18 dB */
  fail_unless (info.pan == -1.0f);
}

GST_END_TEST;

GST_START_TEST (test_one_name_is_one_group)
{
  guint red;

  read_text ("[ssrc:1]\ngroup=red\n[ssrc:2]\ngroup=blue\n[ssrc:3]\ngroup=red\n"
      "[ssrc:4]\ngroup=\n", NULL);
  red = look_up (-1, NULL, 1).group_id;
  fail_unless (red > 0);
  fail_unless (look_up (-1, NULL, 2).group_id > 0);
  fail_if (look_up (-1, NULL, 2).group_id == red);
  fail_unless_equals_int (look_up (-1, NULL, 3).group_id, red);
  fail_unless_equals_int (look_up (-1, NULL, 4).group_id, 0);
}

GST_END_TEST;

GST_START_TEST (test_a_file_is_read_when_it_changes)
{
  read_text ("[default]\npriority=1\n", NULL);
  check_reload (FALSE, NULL, FALSE);
  fail_unless (g_file_set_contents (path, "[default]\npriority=22\n", -1,
          NULL));
  check_reload (TRUE, NULL, FALSE);
  fail_unless_equals_int (look_up (-1, NULL, 1).priority, 22);
  /* what cannot be read changes nothing */
  fail_unless (g_file_set_contents (path, "priority=333\n", -1, NULL));
  check_reload (FALSE, NULL, TRUE);
  fail_unless_equals_int (look_up (-1, NULL, 1).priority, 22);
  g_unlink (path);
  check_reload (FALSE, NULL, FALSE);
  fail_unless_equals_int (look_up (-1, NULL, 1).priority, 22);
  gst_partial_mix_database_set_location (database, path);
  check_reload (FALSE, NULL, TRUE);
  gst_partial_mix_database_set_location (database, NULL);
  check_reload (TRUE, NULL, FALSE);
  fail_unless_equals_int (look_up (-1, NULL, 1).priority, 0);
}

GST_END_TEST;

GST_START_TEST (test_it_is_known_who_has_wishes_of_his_own)
{
  read_text ("[neighbour 3/default]\nmute=true\n", NULL);
  fail_unless (gst_partial_mix_database_has_listener (database, 3));
  fail_if (gst_partial_mix_database_has_listener (database, 4));
  say (1, 4, 1);
  fail_unless (gst_partial_mix_database_has_listener (database, 4));
  read_text ("[default]\nmute=true\n", NULL);
  fail_if (gst_partial_mix_database_has_listener (database, 3));
  fail_unless (gst_partial_mix_database_has_listener (database, 4));
}

GST_END_TEST;

GST_START_TEST (test_what_is_said_takes_bounded_memory)
{
  guint i;

  for (i = 0; i <= MAX_SAID; i++) {
    say (i, -1, 5);
    say (i, 2, 6);
  }
  fail_unless_equals_int (look_up (2, NULL, MAX_SAID - 1).priority, 6);
  fail_unless_equals_int (look_up (-1, NULL, MAX_SAID).priority, 0);
  fail_unless_equals_int (look_up (2, NULL, MAX_SAID).priority, 0);
  say (1, -1, 7);
  fail_unless_equals_int (look_up (-1, NULL, 1).priority, 7);
}

GST_END_TEST;

static Suite *
partialmix_lookup_suite (void)
{
  Suite *suite = suite_create ("partialmix-lookup");
  TCase *tc = tcase_create ("database");

  suite_add_tcase (suite, tc);
  tcase_add_checked_fixture (tc, setup, teardown);
  tcase_add_test (tc, test_who_is_in_no_section_has_the_defaults);
  tcase_add_test (tc, test_the_more_specific_section_wins);
  tcase_add_test (tc, test_nonsense_says_nothing);
  tcase_add_test (tc, test_one_name_is_one_group);
  tcase_add_test (tc, test_a_file_is_read_when_it_changes);
  tcase_add_test (tc, test_it_is_known_who_has_wishes_of_his_own);
  tcase_add_test (tc, test_what_is_said_takes_bounded_memory);
  return suite;
}

GST_CHECK_MAIN (partialmix_lookup);
