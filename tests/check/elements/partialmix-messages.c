/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the bus is told, and in which order. */

#include <string.h>

#include "mixrig.h"

typedef struct
{
  RigListener *listener;
  GString *told;
  guint n_heard;
} Hearer;

/* An application that answers the first stream that leaves with another target:
 * what that leads to was decided after the other streams had left. */
static GstBusSyncReply
hear (GstBus * bus, GstMessage * message, gpointer user_data)
{
  Hearer *hearer = user_data;
  const GstStructure *s = gst_message_get_structure (message);

  if (gst_message_has_name (message, "fairmix-selection"))
    g_string_append (hearer->told, "selection ");
  if (gst_message_has_name (message, "fairmix-stream")) {
    guint ssrc;

    gst_structure_get_uint (s, "ssrc", &ssrc);
    g_string_append_printf (hearer->told, "%s-%u ",
        gst_structure_get_string (s, "event"), ssrc);
    if (ssrc == 101)
      rig_set_target (hearer->listener, 64000);
  }
  gst_message_unref (message);
  return GST_BUS_DROP;
}

GST_START_TEST (test_messages_come_in_the_order_of_the_decisions)
{
  Rig *rig = rig_new (NULL);
  Hearer hearer = {.listener = rig_listener (rig, "src_0", NULL) };
  RigTalker *leaver;

  rig_talkers (rig, 1, 1, RIG_OPUS);
  leaver = g_ptr_array_index (rig->talkers, 0);
  rig_talker_beside (rig, leaver, 102, 400, 1000);
  rig_talker_beside (rig, leaver, 103, 500, 1000);
  rig_talkers (rig, 4, 3, RIG_OPUS);
  rig_play (rig);
  rig_run (rig, 10);

  hearer.told = g_string_new (NULL);
  gst_bus_set_sync_handler (rig->bus, hear, &hearer, NULL);
  gst_pad_unlink (leaver->pad, leaver->peer);
  rig_set_target (hearer.listener, 0);
  gst_bus_set_sync_handler (rig->bus, NULL, NULL, NULL);
  fail_unless_equals_string (hearer.told->str,
      "removed-101 removed-102 removed-103 selection ");
  fail_unless_equals_int (gst_pad_link (leaver->pad, leaver->peer),
      GST_PAD_LINK_OK);
  g_string_free (hearer.told, TRUE);
  rig_free (rig);
}

GST_END_TEST;

#define CROWD 20

static GThread *the_test;

/* Whether what the bus is told is told by who brings packets */
static GstBusSyncReply
count_own (GstBus * bus, GstMessage * message, gpointer user_data)
{
  guint *n_own = user_data;
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT) {
    n_own[0] += g_thread_self () == the_test;
    n_own[1]++;
  }
  gst_message_unref (message);
  return GST_BUS_DROP;
}

/* A message takes as long as sending several packets: who brings the first packet of a
 * voice that many hear has others to bring. */
GST_START_TEST (test_what_a_voice_means_to_many_is_told_by_the_mixing_thread)
{
  Rig *rig = rig_new (NULL);
  guint n[2] = { 0, 0 };

  the_test = g_thread_self ();
  for (guint i = 0; i < CROWD; i++) {
    gchar *name = g_strdup_printf ("src_%u", i);

    rig_listener (rig, name, NULL);
    g_free (name);
  }
  rig_play (rig);
  rig_run (rig, 2);
  gst_bus_set_sync_handler (rig->bus, count_own, n, NULL);
  rig_talkers (rig, 100, 1, RIG_OPUS);
  rig_run (rig, 3);
  gst_bus_set_sync_handler (rig->bus, NULL, NULL, NULL);
  fail_unless (n[1] > CROWD, "%u messages", n[1]);
  fail_unless (n[0] <= 8, "%u of %u messages", n[0], n[1]);
  rig_free (rig);
}

GST_END_TEST;

static guint
count_warnings (Rig * rig, const gchar * text)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (rig->bus, GST_MESSAGE_WARNING))) {
    GError *error;

    gst_message_parse_warning (message, &error, NULL);
    n += strstr (error->message, text) != NULL;
    g_error_free (error);
    gst_message_unref (message);
  }
  return n;
}

/* `... ! partialmix name=m m.src_0 ! ...`: it is sink_0 that is linked. */
GST_START_TEST (test_who_hears_nobody_but_himself_is_told_once)
{
  const gchar *const text = "everything that arrives comes from neighbour 0 "
      "itself";
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);

  rig_talkers (rig, 0, 1, RIG_PCMU);
  rig_play (rig);
  rig_run (rig, 90);
  fail_unless_equals_int (count_warnings (rig, text), 0);
  rig_run (rig, 80);
  fail_unless_equals_int (count_warnings (rig, text), 1);
  rig_run (rig, 500);
  fail_unless_equals_int (count_warnings (rig, text), 0);
  fail_unless_equals_int (listener->buffers->len, 0);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_who_hears_others_is_not_warned)
{
  Rig *rig = rig_new (NULL);

  rig_listener (rig, "src_0", NULL);
  rig_talkers (rig, 0, 2, RIG_PCMU);
  rig_play (rig);
  rig_run (rig, 250);
  fail_unless_equals_int (count_warnings (rig, ""), 0);
  rig_free (rig);
}

GST_END_TEST;

#define FLOOD 10100             /* more than may wait */

/* An application that takes so long for its first message that very many are due then */
static GstBusSyncReply
hear_slowly (GstBus * bus, GstMessage * message, gpointer user_data)
{
  Hearer *hearer = user_data;

  if (gst_message_has_name (message, "fairmix-selection")
      && hearer->n_heard++ == 0)
    for (guint i = 0; i < FLOOD; i++)
      rig_set_target (hearer->listener, i % 2 == 0 ? 0 : 64000);
  gst_message_unref (message);
  return GST_BUS_DROP;
}

GST_START_TEST (test_messages_that_nobody_waits_for_are_bounded_and_counted)
{
  Rig *rig = rig_new (NULL);
  Hearer hearer = {.listener = rig_listener (rig, "src_0", NULL) };
  guint n_dropped;

  rig_talkers (rig, 1, 3, RIG_PCMU);
  rig_play (rig);
  rig_run (rig, 10);
  fail_unless_equals_int (rig_stat (rig, "n-messages-dropped"), 0);
  gst_bus_set_sync_handler (rig->bus, hear_slowly, &hearer, NULL);
  rig_set_target (hearer.listener, 64000);
  n_dropped = (guint) rig_stat (rig, "n-messages-dropped");
  fail_unless (n_dropped > 0 && n_dropped < FLOOD, "%u dropped", n_dropped);
  rig_run (rig, 20);            /* each tick posts some */
  fail_unless_equals_int (hearer.n_heard + n_dropped, 1 + FLOOD);
  gst_bus_set_sync_handler (rig->bus, NULL, NULL, NULL);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
partialmix_messages_suite (void)
{
  Suite *suite = suite_create ("partialmix-messages");
  TCase *tc;

  tc = tcase_create ("order");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_messages_come_in_the_order_of_the_decisions);
  tcase_add_test (tc,
      test_what_a_voice_means_to_many_is_told_by_the_mixing_thread);
  tcase_add_test (tc, test_who_hears_nobody_but_himself_is_told_once);
  tcase_add_test (tc, test_who_hears_others_is_not_warned);
  tcase_add_test (tc,
      test_messages_that_nobody_waits_for_are_bounded_and_counted);
  return suite;
}

GST_CHECK_MAIN (partialmix_messages);
