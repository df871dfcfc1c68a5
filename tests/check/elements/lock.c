/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Locks that are taken in one order only. */

#include <gst/check/gstcheck.h>

#include "common/gstfairmixlock.h"

typedef struct
{
  GstFairmixLock first, second;
} Two;

static void
two_init (Two * two)
{
  gst_fairmix_lock_init (&two->first, 1);
  gst_fairmix_lock_init (&two->second, 2);
}

static void
two_clear (Two * two)
{
  gst_fairmix_lock_clear (&two->first);
  gst_fairmix_lock_clear (&two->second);
}

#ifdef GST_FAIRMIX_LOCK_CHECKS
#define CHECKED TRUE
#else
#define CHECKED FALSE
#endif

GST_START_TEST (test_a_lower_rank_is_not_next_while_a_higher_one_is_held)
{
  Two two;

  two_init (&two);
  gst_fairmix_lock_acquire (&two.second);
  fail_unless_equals_int (gst_fairmix_lock_is_next (&two.first), !CHECKED);
  /* nor the same again */
  fail_unless_equals_int (gst_fairmix_lock_is_next (&two.second), !CHECKED);
  gst_fairmix_lock_release (&two.second);
  fail_unless (gst_fairmix_lock_is_next (&two.first));
  two_clear (&two);
}

GST_END_TEST;

GST_START_TEST (test_ranks_that_rise_are_in_order)
{
  Two two;

  two_init (&two);
  gst_fairmix_lock_acquire (&two.first);
  fail_unless (gst_fairmix_lock_is_next (&two.second));
  gst_fairmix_lock_acquire (&two.second);
  gst_fairmix_lock_release (&two.second);
  gst_fairmix_lock_release (&two.first);
  gst_fairmix_lock_assert_none ();
  two_clear (&two);
}

GST_END_TEST;

static gpointer
is_next (gpointer lock)
{
  return GINT_TO_POINTER (gst_fairmix_lock_is_next (lock));
}

GST_START_TEST (test_what_one_thread_holds_is_nothing_to_another)
{
  GThread *thread;
  Two two;

  two_init (&two);
  gst_fairmix_lock_acquire (&two.second);
  thread = g_thread_new ("other", is_next, &two.first);
  fail_unless (GPOINTER_TO_INT (g_thread_join (thread)));
  gst_fairmix_lock_release (&two.second);
  two_clear (&two);
}

GST_END_TEST;

static Suite *
lock_suite (void)
{
  Suite *suite = suite_create ("lock");
  TCase *tc = tcase_create ("order");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_a_lower_rank_is_not_next_while_a_higher_one_is_held);
  tcase_add_test (tc, test_ranks_that_rise_are_in_order);
  tcase_add_test (tc, test_what_one_thread_holds_is_nothing_to_another);
  return suite;
}

GST_CHECK_MAIN (lock);
