/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Places for talkers that come and go while others do, in a dpmclient. */
#include "dpmcheck.h"

typedef struct
{
  GstElement *client;
  GstPad *pad;                  /* that was got */
  gboolean asked;
} Asker;

static void
ask_for_another (GstElement * client, gpointer user_data)
{
  Asker *asker = user_data;

  if (asker->asked)
    return;
  asker->asked = TRUE;
  asker->pad = gst_element_request_pad_simple (client, "src_%u");
}

static void
on_pad_removed (GstElement * client, GstPad * pad G_GNUC_UNUSED,
    gpointer user_data)
{
  ask_for_another (client, user_data);
}

static void
on_part (GstBin * client, GstElement * part G_GNUC_UNUSED, gpointer user_data)
{
  ask_for_another (GST_ELEMENT (client), user_data);
}

/* ... of a pad, or of elements that come and go; another thread may as well, for which
 * somebody here waits. */
GST_START_TEST (test_who_hears_of_a_talkers_place_may_ask_for_another)
{
  static const gchar *const signals[] = { "pad-removed", "element-removed",
    "element-added"
  };
  GstElement *client = gst_element_factory_make ("dpmclient", NULL);
  Asker asker = { NULL, NULL, FALSE };
  GCallback callback = G_CALLBACK (__i__ == 0 ? (GCallback) on_pad_removed :
      (GCallback) on_part);
  gint n_parts = GST_BIN_NUMCHILDREN (client);
  GstPad *pad;

  gst_object_ref_sink (client);
  if (__i__ == 2)
    g_signal_connect (client, signals[__i__], callback, &asker);
  pad = gst_element_request_pad_simple (client, "src_%u");
  fail_unless (pad != NULL);
  if (__i__ < 2)
    g_signal_connect (client, signals[__i__], callback, &asker);
  gst_element_release_request_pad (client, pad);
  gst_object_unref (pad);
  fail_unless (asker.pad != NULL);
  gst_element_release_request_pad (client, asker.pad);
  gst_object_unref (asker.pad);
  pad = gst_element_request_pad_simple (client, "src_%u");
  fail_unless (pad != NULL);
  gst_element_release_request_pad (client, pad);
  gst_object_unref (pad);
  fail_unless_equals_int (GST_BIN_NUMCHILDREN (client), n_parts);
  gst_object_unref (client);
}

GST_END_TEST;

static void
ask_for_the_same (GstElement * slots G_GNUC_UNUSED, GstPad * slot,
    gpointer user_data)
{
  Asker *asker = user_data;

  asker->asked = TRUE;
  asker->pad = gst_element_request_pad_simple (asker->client,
      GST_OBJECT_NAME (slot));
}

static void
hear_of_slots (GstBin * client G_GNUC_UNUSED, GstElement * part,
    gpointer user_data)
{
  if (g_str_has_prefix (GST_OBJECT_NAME (part), "rtpslots"))
    g_signal_connect (part, "pad-added", G_CALLBACK (ask_for_the_same),
        user_data);
}

/* It is there inside, but not for the application yet, of which another thread asks. */
GST_START_TEST (test_a_talkers_place_that_comes_is_nobody_elses)
{
  Asker asker = {.client = gst_element_factory_make ("dpmclient", NULL) };
  GstPad *pad;

  gst_object_ref_sink (asker.client);
  g_signal_connect (asker.client, "element-added", G_CALLBACK (hear_of_slots),
      &asker);
  pad = gst_element_request_pad_simple (asker.client, "src_%u");
  fail_unless (asker.asked && asker.pad == NULL);
  gst_element_release_request_pad (asker.client, pad);
  gst_object_unref (pad);
  gst_object_unref (asker.client);
}

GST_END_TEST;

static void
ask_for_any (GstPad * pad G_GNUC_UNUSED, GstPad * peer G_GNUC_UNUSED,
    gpointer user_data)
{
  Asker *asker = user_data;

  ask_for_another (asker->client, asker);
}

/* It is gone inside, but the application has it still. */
GST_START_TEST (test_a_talkers_place_that_goes_is_nobody_elses)
{
  Asker asker = {.client = gst_element_factory_make ("dpmclient", NULL) };
  GstElement *sink = gst_element_factory_make ("fakesink", NULL);
  GstPad *sinkpad = gst_element_get_static_pad (sink, "sink");
  GstPad *pad;

  gst_object_ref_sink (asker.client);
  gst_object_ref_sink (sink);
  pad = gst_element_request_pad_simple (asker.client, "src_%u");
  gst_pad_link_full (pad, sinkpad, GST_PAD_LINK_CHECK_NOTHING);
  g_signal_connect (pad, "unlinked", G_CALLBACK (ask_for_any), &asker);
  gst_element_release_request_pad (asker.client, pad);
  gst_object_unref (pad);
  fail_unless_equals_string (GST_OBJECT_NAME (asker.pad), "src_1");
  gst_element_release_request_pad (asker.client, asker.pad);
  gst_object_unref (asker.pad);
  gst_object_unref (sinkpad);
  gst_object_unref (sink);
  gst_object_unref (asker.client);
}

GST_END_TEST;

#define N_THREADS 3
#define N_ROUNDS 30

/* Places of any number, and one of its own */
typedef struct
{
  GstElement *client;
  gchar name[8];
} Guest;

static gpointer
come_and_go (gpointer user_data)
{
  const Guest *guest = user_data;
  GstPad *pads[3];

  for (guint round = 0; round < N_ROUNDS; round++) {
    for (guint i = 0; i < G_N_ELEMENTS (pads); i++)
      pads[i] = gst_element_request_pad_simple (guest->client,
          i == 1 ? guest->name : "src_%u");
    for (guint i = 0; i < G_N_ELEMENTS (pads); i++) {
      fail_unless (pads[i] != NULL);
      gst_element_release_request_pad (guest->client, pads[i]);
      gst_object_unref (pads[i]);
    }
  }
  return NULL;
}

static gpointer
stop_and_start (gpointer user_data)
{
  for (guint round = 0; round < N_ROUNDS; round++) {
    gst_element_set_state (user_data, GST_STATE_NULL);
    gst_element_set_state (user_data, GST_STATE_PLAYING);
  }
  return NULL;
}

GST_START_TEST (test_places_come_and_go_in_many_threads)
{
  Person *person = person_new ("dpmclient name=dpm server=127.0.0.1:9");
  gint n_parts = GST_BIN_NUMCHILDREN (person->dpm);
  GThread *threads[N_THREADS + 1];
  Guest guests[N_THREADS];

  for (guint i = 0; i < N_THREADS; i++) {
    guests[i].client = person->dpm;
    g_snprintf (guests[i].name, sizeof guests[i].name, "src_%u", 63 - i);
    threads[i] = g_thread_new ("guest", come_and_go, &guests[i]);
  }
  threads[N_THREADS] = g_thread_new ("stops", stop_and_start, person->pipeline);
  for (guint i = 0; i <= N_THREADS; i++)
    g_thread_join (threads[i]);
  gst_element_set_state (person->pipeline, GST_STATE_NULL);
  fail_unless_equals_int (GST_BIN_NUMCHILDREN (person->dpm), n_parts);
  person_free (person);
}

GST_END_TEST;

static Suite *
dpmclient_places_suite (void)
{
  Suite *s = suite_create ("dpmclient-places");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, NULL, everybody_leaves);
  tcase_add_loop_test (tc,
      test_who_hears_of_a_talkers_place_may_ask_for_another, 0, 3);
  tcase_add_test (tc, test_a_talkers_place_that_comes_is_nobody_elses);
  tcase_add_test (tc, test_a_talkers_place_that_goes_is_nobody_elses);
  tcase_add_test (tc, test_places_come_and_go_in_many_threads);
  return s;
}

GST_CHECK_MAIN (dpmclient_places);
