/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Properties that are set while partialmix is at work. */

#include "../gstfairmixproperties.h"
#include "mixrig.h"

/* of the packets from @first on */
static GstClockTime
longest_packet (RigListener * listener, guint first)
{
  GstClockTime longest = 0;
  guint i;

  for (i = first; i < listener->buffers->len; i++)
    longest = MAX (longest, GST_BUFFER_DURATION (rig_nth (listener, i)));
  return longest;
}

static const gchar RAW[] = "audio/x-raw,format=S16LE,rate=48000,"
    "layout=interleaved";

GST_START_TEST (test_what_sizes_something_waits_for_the_next_start)
{
  Rig *rig = rig_new ("frame-duration=10000000");
  RigListener *listener = rig_listener (rig, "src_0", RAW);
  guint64 frame_duration;
  guint n_before;

  rig_talkers (rig, 1, 2, RIG_PCMU);
  rig_play (rig);
  rig_run (rig, 10);
  g_object_set (rig->mix, "frame-duration", 60 * GST_MSECOND, NULL);
  g_object_get (rig->mix, "frame-duration", &frame_duration, NULL);
  fail_unless_equals_uint64 (frame_duration, 60 * GST_MSECOND);
  rig_run (rig, 10);
  fail_unless_equals_uint64 (longest_packet (listener, 0), 10 * GST_MSECOND);

  gst_element_set_state (rig->mix, GST_STATE_READY);
  n_before = listener->buffers->len;
  rig_play (rig);
  rig_run (rig, 20);
  fail_unless_equals_uint64 (longest_packet (listener, n_before),
      60 * GST_MSECOND);
  rig_free (rig);
}

GST_END_TEST;

/* What came before the start has the sizes of before the start. */
GST_START_TEST (test_what_is_pushed_before_the_start_has_no_size_yet)
{
  Rig *rig = rig_new ("frame-duration=10000000");
  RigListener *listener = rig_listener (rig, "src_0", RAW);

  rig_talkers (rig, 1, 2, RIG_PCMU);
  gst_element_set_state (rig->mix, GST_STATE_READY);
  rig_send (rig, g_ptr_array_index (rig->talkers, 0));
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 1);
  g_object_set (rig->mix, "frame-duration", 60 * GST_MSECOND, NULL);
  rig_play (rig);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 0);
  rig_run (rig, 20);
  fail_unless_equals_uint64 (longest_packet (listener, 0), 60 * GST_MSECOND);
  rig_free (rig);
}

GST_END_TEST;

static gboolean
has_number (RigListener * listener, guint8 number)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint8 pt;

  fail_unless (listener->buffers->len > 0);
  fail_unless (gst_rtp_buffer_map (rig_nth (listener,
              listener->buffers->len - 1), GST_MAP_READ, &rtp));
  pt = gst_rtp_buffer_get_payload_type (&rtp);
  gst_rtp_buffer_unmap (&rtp);
  return pt == number;
}

/* ... and what those who listen said of it holds for the rate of then. */
GST_START_TEST (test_who_was_asked_before_the_start_is_asked_again)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0",
      "application/x-rtp,media=audio,encoding-name=L16,payload=111");
  RigListener *renderer = rig_listener (rig, "src_1", "audio/x-raw,"
      "format=S16LE,layout=interleaved,channels=2,rate={16000,48000}");
  GstCaps *caps;
  gint rate;

  rig_talkers (rig, 3, 1, RIG_L16);
  gst_element_set_state (rig->mix, GST_STATE_READY);
  rig_send (rig, g_ptr_array_index (rig->talkers, 0));
  fail_unless (has_number (listener, 111));
  g_object_set (rig->mix, "rate", 16000, NULL);
  rig_play (rig);
  rig_run (rig, 20);
  fail_unless_equals_int (listener->buffers->len, 21);
  fail_unless (has_number (listener, 111));
  caps = gst_pad_get_current_caps (renderer->pad);
  fail_unless (gst_structure_get_int (gst_caps_get_structure (caps, 0), "rate",
          &rate));
  fail_unless_equals_int (rate, 16000);
  gst_caps_unref (caps);
  rig_free (rig);
}

GST_END_TEST;

/* Whoever reads gst-inspect-1.0 takes what says nothing for what waits. */
GST_START_TEST (test_what_is_set_of_a_pad_is_said_to_hold_at_once)
{
  static const gchar *const names[] = { "sink_1", "src_0" };
  GstElement *mix = gst_element_factory_make ("partialmix", NULL);
  GParamFlags wanted = G_PARAM_WRITABLE | GST_PARAM_MUTABLE_PLAYING;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    GstPad *pad = gst_element_request_pad_simple (mix, names[i]);
    GParamSpec **specs;
    guint n;

    specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (pad), &n);
    for (guint k = 0; k < n; k++)
      if (specs[k]->owner_type == G_OBJECT_TYPE (pad)
          && (specs[k]->flags & G_PARAM_WRITABLE) != 0)
        fail_unless ((specs[k]->flags & wanted) == wanted, specs[k]->name);
    g_free (specs);
    gst_element_release_request_pad (mix, pad);
    gst_object_unref (pad);
  }
  gst_object_unref (mix);
}

GST_END_TEST;

GST_START_TEST (test_no_timeout_is_so_long_that_it_is_over)
{
  Rig *rig = rig_new ("stream-timeout=18446744073709551615");

  rig_listener (rig, "src_0", NULL);
  rig_talkers (rig, 1, 2, RIG_PCMU);
  rig_play (rig);
  rig_run (rig, 20);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 2);
  rig_free (rig);
}

GST_END_TEST;

typedef struct
{
  Rig *rig;
  gboolean plays;
} Walk;

static void
two_frames (gpointer data)
{
  Walk *walk = data;

  if (walk->plays)
    rig_run (walk->rig, 2);
}

static Rig *
everything_rig (void)
{
  Rig *rig = rig_new (NULL);

  rig_listener (rig, "src_0", NULL);
  rig_set_target (rig_listener (rig, "src_1", NULL), 60000);
  rig_listener (rig, "src_2", RAW);
  rig_talkers (rig, 0, 2, RIG_OPUS);
  rig_talkers (rig, 3, 1, RIG_L16);
  rig_talkers (rig, 4, 1, RIG_PCMU);
  return rig;
}

static void
walk_element (Rig * rig, GRand * rand, gboolean plays)
{
  Walk walk = { rig, plays };
  GPtrArray *pads = g_ptr_array_new_with_free_func (gst_object_unref);
  GList *l;
  guint i;

  fail_unless (walk_properties (G_OBJECT (rig->mix), rand, two_frames,
          &walk) >= 16);
  for (l = rig->mix->pads; l != NULL; l = l->next)
    g_ptr_array_add (pads, gst_object_ref (l->data));
  for (i = 0; i < pads->len; i++)
    fail_unless (walk_properties (g_ptr_array_index (pads, i), rand,
            two_frames, &walk) >= 2);
  g_ptr_array_unref (pads);
}

GST_START_TEST (test_any_property_may_be_set_to_anything_in_any_state)
{
  static const GstState states[] = { GST_STATE_NULL, GST_STATE_READY,
    GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_PAUSED, GST_STATE_READY,
    GST_STATE_PLAYING
  };
  Rig *rig = everything_rig ();
  GRand *rand = g_rand_new_with_seed (93);
  guint n, i;

  for (i = 0; i < G_N_ELEMENTS (states); i++) {
    fail_unless (gst_element_set_state (rig->mix, states[i])
        != GST_STATE_CHANGE_FAILURE);
    walk_element (rig, rand, states[i] == GST_STATE_PLAYING);
  }
  /* and it still does what it is for */
  n = ((RigListener *) g_ptr_array_index (rig->listeners, 0))->buffers->len;
  rig_run (rig, 30);
  fail_unless (((RigListener *) g_ptr_array_index (rig->listeners,
              0))->buffers->len > n + 50);
  g_rand_free (rand);
  rig_free (rig);
}

GST_END_TEST;

#define N_STARTS 100

static gpointer
stop_and_start (gpointer mix)
{
  for (guint i = 0; i < N_STARTS; i++) {
    g_object_set (mix, "rate", i % 2 == 0 ? 16000 : 48000, NULL);
    gst_element_set_state (mix, GST_STATE_READY);
    gst_element_set_state (mix, GST_STATE_PLAYING);
  }
  return NULL;
}

/* ThreadSanitizer watches. */
GST_START_TEST (test_latency_is_asked_for_while_it_starts)
{
  Rig *rig = everything_rig ();
  RigListener *listener = g_ptr_array_index (rig->listeners, 0);
  GThread *thread = g_thread_new ("states", stop_and_start, rig->mix);
  GstClockTime min;

  for (guint i = 0; i < 10 * N_STARTS; i++) {
    GstQuery *query = gst_query_new_latency ();

    fail_unless (gst_pad_peer_query (listener->pad, query));
    gst_query_parse_latency (query, NULL, &min, NULL);
    fail_unless (min >= 20 * GST_MSECOND);
    gst_query_unref (query);
  }
  g_thread_join (thread);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
partialmix_settings_suite (void)
{
  Suite *suite = suite_create ("partialmix-settings");
  TCase *tc = tcase_create ("settings");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_what_sizes_something_waits_for_the_next_start);
  tcase_add_test (tc, test_what_is_pushed_before_the_start_has_no_size_yet);
  tcase_add_test (tc, test_who_was_asked_before_the_start_is_asked_again);
  tcase_add_test (tc, test_what_is_set_of_a_pad_is_said_to_hold_at_once);
  tcase_add_test (tc, test_no_timeout_is_so_long_that_it_is_over);
  tcase_add_test (tc, test_any_property_may_be_set_to_anything_in_any_state);
  tcase_add_test (tc, test_latency_is_asked_for_while_it_starts);
  return suite;
}

GST_CHECK_MAIN (partialmix_settings);
