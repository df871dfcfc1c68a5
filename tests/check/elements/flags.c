/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Flags of one element that several threads set and take away. */

#include <gst/check/gstcheck.h>

#include "common/gstfairmixpads.h"

#define N_ROUNDS 100000

static const guint flags[] = { GST_ELEMENT_FLAG_SINK, GST_ELEMENT_FLAG_SOURCE };

typedef struct
{
  GstElement *element;
  guint flag;
  guint n_undone;
} Setter;

static gpointer
set_and_unset (gpointer user_data)
{
  Setter *setter = user_data;

  for (guint round = 0; round < N_ROUNDS; round++)
    setter->n_undone += !gst_fairmix_element_set_flag (setter->element,
        setter->flag, round % 2 == 0);
  return NULL;
}

/* All share a word: who writes his own anew writes the others' as well.  They do nothing
 * else together, or ThreadSanitizer would not see it where one is done before the other
 * one is given a processor. */
GST_START_TEST (test_nobody_undoes_the_flag_of_another)
{
  GstElement *element = gst_element_factory_make ("identity", NULL);
  Setter setters[G_N_ELEMENTS (flags)];
  GThread *threads[G_N_ELEMENTS (flags)];

  for (guint i = 0; i < G_N_ELEMENTS (flags); i++) {
    setters[i] = (Setter) { element, flags[i], 0 };
    threads[i] = g_thread_new ("setter", set_and_unset, &setters[i]);
  }
  for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
    g_thread_join (threads[i]);
  for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
    fail_unless_equals_int (setters[i].n_undone, 0);
  gst_object_unref (element);
}

GST_END_TEST;

GST_START_TEST (test_a_flag_that_is_set_does_not_change)
{
  GstElement *element = gst_element_factory_make ("identity", NULL);

  fail_unless (gst_fairmix_element_set_flag (element, flags[0], TRUE));
  fail_if (gst_fairmix_element_set_flag (element, flags[0], TRUE));
  fail_unless (GST_OBJECT_FLAG_IS_SET (element, flags[0]));
  fail_unless (gst_fairmix_element_set_flag (element, flags[0], FALSE));
  fail_if (gst_fairmix_element_set_flag (element, flags[0], FALSE));
  fail_if (GST_OBJECT_FLAG_IS_SET (element, flags[0]));
  gst_object_unref (element);
}

GST_END_TEST;

static Suite *
flags_suite (void)
{
  Suite *suite = suite_create ("flags");
  TCase *tc = tcase_create ("threads");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_nobody_undoes_the_flag_of_another);
  tcase_add_test (tc, test_a_flag_that_is_set_does_not_change);
  return suite;
}

GST_CHECK_MAIN (flags);
