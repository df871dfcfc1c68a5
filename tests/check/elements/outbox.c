/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Messages leave in the order in which they were decided
 * (gst/common/gstfairmixoutbox.h). */

#include <gst/check/gstcheck.h>

#include "common/gstfairmixoutbox.h"

#define N_THREADS 4
#define N_MESSAGES 2000         /* of each */

typedef struct
{
  GstFairmixOutbox *outbox;
  GstElement *element;
  GstBus *bus;
  GMutex lock;                  /* of whoever decides */
  guint n_decided;
  guint n_told;                 /* in the sync handler */
  gboolean add_one_more;
  guint n_flood;                /* each that is heard brings another, up to so many */
} Box;

static void
decide (Box * box)
{
  GstStructure *s;

  g_mutex_lock (&box->lock);
  s = gst_structure_new ("decision", "n", G_TYPE_UINT, box->n_decided++, NULL);
  gst_fairmix_outbox_add (box->outbox, gst_message_new_element (NULL, s));
  g_mutex_unlock (&box->lock);
}

static GstBusSyncReply
hear (GstBus * bus, GstMessage * message, gpointer user_data)
{
  Box *box = user_data;
  gboolean goes_on;
  guint n;

  gst_structure_get_uint (gst_message_get_structure (message), "n", &n);
  fail_unless_equals_int (n, box->n_told);
  box->n_told++;
  /* who hears may call back */
  if (box->add_one_more) {
    box->add_one_more = FALSE;
    decide (box);
    gst_fairmix_outbox_post (box->outbox, box->element);
    fail_unless_equals_int (box->n_told, n + 1);
    fail_unless_equals_int (gst_fairmix_outbox_get_n (box->outbox), 3);
  }
  g_mutex_lock (&box->lock);
  goes_on = box->n_decided < box->n_flood;
  g_mutex_unlock (&box->lock);
  if (goes_on)
    decide (box);
  gst_message_unref (message);
  return GST_BUS_DROP;
}

static void
box_init (Box * box)
{
  memset (box, 0, sizeof *box);
  g_mutex_init (&box->lock);
  box->outbox = gst_fairmix_outbox_new ();
  box->element = gst_element_factory_make ("identity", NULL);
  box->bus = gst_bus_new ();
  gst_element_set_bus (box->element, box->bus);
  gst_bus_set_sync_handler (box->bus, hear, box, NULL);
}

static void
box_clear (Box * box)
{
  gst_fairmix_outbox_free (box->outbox);
  gst_element_set_bus (box->element, NULL);
  gst_object_unref (box->bus);
  gst_object_unref (box->element);
  g_mutex_clear (&box->lock);
}

static gpointer
decide_often (gpointer data)
{
  guint i;

  for (i = 0; i < N_MESSAGES; i++) {
    decide (data);
    gst_fairmix_outbox_post (((Box *) data)->outbox, ((Box *) data)->element);
  }
  return NULL;
}

GST_START_TEST (test_messages_of_many_threads_keep_their_order)
{
  GThread *threads[N_THREADS];
  Box box;
  guint i;

  box_init (&box);
  for (i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new ("decider", decide_often, &box);
  for (i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  gst_fairmix_outbox_post (box.outbox, box.element);    /* what somebody left */
  fail_unless_equals_int (box.n_told, N_THREADS * N_MESSAGES);
  box_clear (&box);
}

GST_END_TEST;

GST_START_TEST (test_a_message_from_within_waits_for_those_before_it)
{
  Box box;
  guint i;

  box_init (&box);
  for (i = 0; i < 3; i++)
    decide (&box);
  box.add_one_more = TRUE;
  gst_fairmix_outbox_post (box.outbox, box.element);
  fail_unless_equals_int (box.n_told, 4);
  fail_unless_equals_int (gst_fairmix_outbox_get_n (box.outbox), 0);
  box_clear (&box);
}

GST_END_TEST;

/* ... as in a flood: whoever posts has a stream to serve, and is to be stopped with it. */
GST_START_TEST (test_nobody_posts_for_others_for_ever)
{
  Box box;
  guint n_told;

  box_init (&box);
  box.n_flood = 5000;
  decide (&box);
  while (box.n_told < box.n_flood) {
    n_told = box.n_told;
    gst_fairmix_outbox_post (box.outbox, box.element);
    fail_unless (box.n_told > n_told && box.n_told < n_told + 2000);
  }
  box_clear (&box);
}

GST_END_TEST;

GST_START_TEST (test_what_was_dropped_is_not_told)
{
  Box box;

  box_init (&box);
  decide (&box);
  gst_fairmix_outbox_clear (box.outbox);
  fail_unless_equals_int (gst_fairmix_outbox_get_n (box.outbox), 0);
  gst_fairmix_outbox_post (box.outbox, box.element);
  fail_unless_equals_int (box.n_told, 0);
  decide (&box);                /* freed with the outbox */
  box_clear (&box);
}

GST_END_TEST;

/* What is said of a flood of streams is told slower than they come. */
GST_START_TEST (test_the_oldest_go_where_too_many_wait_but_no_warning)
{
  const guint n_waiting = 10000, n_more = 7;
  GstMessage *message;
  GError *error =
      g_error_new_literal (GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
      "once");
  Box box;

  box_init (&box);
  gst_bus_set_sync_handler (box.bus, NULL, NULL, NULL);
  gst_fairmix_outbox_add (box.outbox, gst_message_new_warning (NULL, error,
          NULL));
  g_error_free (error);
  while (box.n_decided < n_waiting + n_more)
    decide (&box);
  fail_unless_equals_int (gst_fairmix_outbox_get_n (box.outbox), n_waiting);
  fail_unless_equals_int (gst_fairmix_outbox_get_n_dropped (box.outbox),
      n_more + 1);
  while (gst_fairmix_outbox_get_n (box.outbox) > 0)
    gst_fairmix_outbox_post (box.outbox, box.element);
  message = gst_bus_pop (box.bus);
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_WARNING);
  gst_message_unref (message);
  for (box.n_told = n_more + 1; box.n_told < box.n_decided;)
    hear (box.bus, gst_bus_pop (box.bus), &box);
  fail_unless (gst_bus_pop (box.bus) == NULL);
  box_clear (&box);
}

GST_END_TEST;

static Suite *
outbox_suite (void)
{
  Suite *suite = suite_create ("outbox");
  TCase *tc;

  tc = tcase_create ("order");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_messages_of_many_threads_keep_their_order);
  tcase_add_test (tc, test_a_message_from_within_waits_for_those_before_it);
  tcase_add_test (tc, test_nobody_posts_for_others_for_ever);
  tcase_add_test (tc, test_what_was_dropped_is_not_told);
  tcase_add_test (tc, test_the_oldest_go_where_too_many_wait_but_no_warning);
  return suite;
}

GST_CHECK_MAIN (outbox);
