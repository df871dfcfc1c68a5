/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whoever talks at a dpmmixer has a name of its own. */
#include "dpmcheck.h"

/* Returns: a mixer at which somebody talks, and hears; it does not run yet */
static Person *
host_make (const gchar * name)
{
  gchar *line = g_strdup_printf (VOICE "dpmmixer name=dpm address=127.0.0.1 "
      "port=0 display-name=%s" EARS, 330, name);
  Person *host = person_new (line);

  g_free (line);
  return host;
}

/* Bob joins @mixer, and is told that somebody talks there under @name. */
static void
assert_bob_is_told (Person * mixer, const gchar * name)
{
  Person *bob = client_new (mixer, "bob", 660, "");

  expect_message (bob, "dpm-talk", "name", name);
  person_free (bob);
}

/* He did not join, but he is one of those who talk. */
GST_START_TEST (test_nobody_has_the_name_of_who_talks_where_the_mixer_is)
{
  Person *host = person_start (host_make ("alice"));
  Person *alice = client_new (host, "alice", 440, "");

  assert_bob_is_told (host, "alice (2)");
  person_free (alice);
  person_free (host);
}

GST_END_TEST;

/* ... as the last thing that was said before the start */
GST_START_TEST (test_who_talks_where_the_mixer_is_may_change_his_name)
{
  Person *host = host_make ("alice");

  g_object_set (host->dpm, "display-name", "host", NULL);
  person_start (host);
  assert_bob_is_told (host, "host");
  person_free (host);
}

GST_END_TEST;

#define E "\303\251"            /* two bytes */
#define E29 E E E E E E E E E E E E E E E E E E E E E E E E E E E E E

/* No name has more than 63 bytes: the number is within them, behind whole characters. */
GST_START_TEST (test_two_of_the_same_long_name_are_told_apart)
{
  Person *mixer = mixer_new ("");
  Person *first = client_new (mixer, E29 E E "x", 440, "");
  Person *second = client_new (mixer, E29 E E "x", 550, "");

  assert_bob_is_told (mixer, E29 " (2)");
  person_free (first);
  person_free (second);
  person_free (mixer);
}

GST_END_TEST;

static Suite *
dpmmixer_names_suite (void)
{
  Suite *s = suite_create ("dpmmixer-names");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, NULL, everybody_leaves);
  tcase_add_test (tc, test_nobody_has_the_name_of_who_talks_where_the_mixer_is);
  tcase_add_test (tc, test_who_talks_where_the_mixer_is_may_change_his_name);
  tcase_add_test (tc, test_two_of_the_same_long_name_are_told_apart);
  return s;
}

GST_CHECK_MAIN (dpmmixer_names);
