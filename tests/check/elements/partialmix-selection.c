/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Who is forwarded, who is mixed. */

#include <glib/gstdio.h>

#include "common/gstfairmixevents.h"
#include "mixrig.h"

static void
send_target_event (RigListener * listener, guint bps)
{
  fail_unless (gst_pad_push_event (listener->pad,
          gst_event_new_custom (GST_EVENT_CUSTOM_UPSTREAM,
              gst_structure_new ("fairmix-target-bitrate", "bitrate",
                  G_TYPE_UINT, bps, NULL))));
}

GST_START_TEST (test_target_events_are_obeyed_at_once)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  guint n;

  rig_talkers (rig, 1, 4, RIG_L16);
  rig_play (rig);
  rig_run (rig, 10);
  fail_unless_equals_int (rig_pad_stat (listener, "n-separate"), 4);
  send_target_event (listener, RIG_L16_MIX_BPS + RIG_L16_BPS);
  fail_unless_equals_int (rig_pad_stat (listener, "n-separate"), 1);
  /* 0 in an event is nothing at all */
  send_target_event (listener, 0);
  rig_run (rig, 5);
  n = listener->buffers->len;
  rig_run (rig, 20);
  fail_unless_equals_int (listener->buffers->len, n);
  send_target_event (listener, 100 * RIG_L16_BPS);
  rig_run (rig, 5);
  fail_unless_equals_int (rig_pad_stat (listener, "n-separate"), 4);
  rig_free (rig);
}

GST_END_TEST;

static void
send_lasting_event (RigListener * listener, guint bps, guint lasting)
{
  GstEvent *event = gst_fairmix_target_bitrate_event_new (bps);

  gst_fairmix_target_bitrate_event_set_lasting (event, lasting);
  fail_unless (gst_pad_push_event (listener->pad, event));
}

/* what is tried is for the mix; what is separate stays as long as the target carries it */
GST_START_TEST (test_no_more_becomes_separate_than_lasts)
{
  const guint three = 2 * RIG_L16_MIX_BPS + 4 * RIG_L16_BPS;
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);

  rig_talkers (rig, 1, 8, RIG_L16);
  send_target_event (listener, RIG_L16_MIX_BPS + RIG_L16_BPS);
  rig_play (rig);
  rig_run (rig, 10);
  fail_unless_equals_int (rig_pad_stat (listener, "n-separate"), 1);
  send_lasting_event (listener, three, RIG_L16_MIX_BPS + RIG_L16_BPS);
  fail_unless_equals_int (rig_pad_stat (listener, "n-separate"), 1);
  send_lasting_event (listener, three, three);
  fail_unless (rig_pad_stat (listener, "n-separate") >= 3);
  send_lasting_event (listener, three, RIG_L16_MIX_BPS + RIG_L16_BPS);
  fail_unless (rig_pad_stat (listener, "n-separate") >= 3);
  send_target_event (listener, RIG_L16_MIX_BPS + RIG_L16_BPS);
  fail_unless_equals_int (rig_pad_stat (listener, "n-separate"), 1);
  rig_free (rig);
}

GST_END_TEST;

/* A packet of its own would have the listener begin a stream that goes at once. */
GST_START_TEST (test_who_comes_and_has_no_room_is_mixed_from_the_first_packet)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);

  rig_set_target (listener, RIG_L16_MIX_BPS + RIG_L16_BPS);
  rig_talkers (rig, 1, 4, RIG_L16);
  rig_play (rig);
  rig_run (rig, 10);
  fail_unless_equals_int (rig_pad_stat (listener, "n-separate"), 1);
  rig_count_messages (rig, "fairmix-selection");
  rig_talkers (rig, 5, 1, RIG_L16);
  rig_run (rig, 20);
  fail_unless_equals_int (rig_count_packets (listener, 105), 0);
  fail_unless_equals_int (rig_pad_stat (listener, "n-separate"), 1);
  fail_unless_equals_int (rig_pad_stat (listener, "n-mixed"), 4);
  fail_unless_equals_int (rig_count_messages (rig, "fairmix-selection"), 1);
  rig_free (rig);
}

GST_END_TEST;

/* whether even the leanest mix is too much is the controller's to say */
GST_START_TEST (test_any_target_but_0_carries_a_mix)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  guint n;

  rig_talkers (rig, 1, 8, RIG_OPUS);
  send_target_event (listener, 1);
  rig_play (rig);
  rig_run (rig, 20);
  n = listener->buffers->len;
  rig_run (rig, 50);
  fail_unless_equals_int (listener->buffers->len, n + 50);
  fail_unless_equals_int (rig_count_ssrcs (listener, n), 1);
  /* 12 kbit/s of Opus and 40 bytes of headers */
  fail_unless (rig_pad_stat (listener, "bitrate-out") < 30000);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_one_message_for_each_change_of_a_selection)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);

  rig_talkers (rig, 1, 4, RIG_L16);
  rig_play (rig);
  rig_run (rig, 20);
  rig_count_messages (rig, "fairmix-selection");
  rig_run (rig, 50);
  fail_unless_equals_int (rig_count_messages (rig, "fairmix-selection"), 0);
  rig_set_target (listener, RIG_L16_MIX_BPS);
  rig_run (rig, 50);
  fail_unless_equals_int (rig_count_messages (rig, "fairmix-selection"), 1);
  rig_free (rig);
}

GST_END_TEST;

/* in a second there is a packet more or less, as they come; and what is
 * forwarded is not heard */
GST_START_TEST (test_jitter_moves_no_selection)
{
  Rig *rig = rig_new ("mix-encoding=l16 headroom=0");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  GRand *rand = g_rand_new_with_seed (1);
  guint i, k;

  rig_talkers (rig, 1, 6, RIG_L16);
  rig_set_target (listener,
      RIG_L16_MIX_BPS + 3 * RIG_L16_BPS - RIG_L16_BPS / 50);
  rig_play (rig);
  /* until everybody was in the mix once, and was heard there */
  rig_run (rig, 150);
  rig_count_messages (rig, "fairmix-selection");
  for (k = 0; k < 300; k++) {
    GstClockTime at = (rig->frame * 20
        + (guint) g_rand_int_range (rand, 0, 60)) * GST_MSECOND;

    rig_advance (rig, MAX (at, gst_clock_get_time (GST_CLOCK (rig->clock))));
    for (i = 0; i < rig->talkers->len; i++)
      rig_send (rig, g_ptr_array_index (rig->talkers, i));
    rig->frame++;
  }
  fail_unless_equals_int (rig_pad_stat (listener, "n-separate"), 2);
  fail_unless_equals_int (rig_count_messages (rig, "fairmix-selection"), 0);
  g_rand_free (rand);
  rig_free (rig);
}

GST_END_TEST;

static void
write_database (const gchar * path, const gchar * text)
{
  fail_unless (g_file_set_contents (path, text, -1, NULL));
}

static gchar *
state_of (RigListener * listener, guint ssrc)
{
  GstStructure *stats = rig_pad_stats (listener);
  const GValue *streams = gst_structure_get_value (stats, "streams");
  gchar *state = NULL;
  guint i;

  for (i = 0; i < gst_value_array_get_size (streams); i++) {
    const GstStructure *s = gst_value_get_structure (gst_value_array_get_value
        (streams, i));
    guint this;

    gst_structure_get_uint (s, "ssrc", &this);
    if (this == ssrc)
      state = g_strdup (gst_structure_get_string (s, "state"));
  }
  gst_structure_free (stats);
  return state;
}

#define assert_state(listener, ssrc, expected) G_STMT_START {           \
  gchar *state_ = state_of (listener, ssrc);                            \
  fail_unless_equals_string (state_, expected);                         \
  g_free (state_);                                                      \
} G_STMT_END

GST_START_TEST (test_database_guides_and_is_reloaded)
{
  gchar *path = g_build_filename (g_get_tmp_dir (), "partialmix-XXXXXX", NULL);
  gint fd = g_mkstemp (path);
  gchar *line;
  Rig *rig;
  RigListener *listener;

  g_close (fd, NULL);
  write_database (path, "[ssrc:104]\npriority=5\n");
  line = g_strdup_printf ("mix-encoding=l16 database-location=%s", path);
  rig = rig_new (line);
  listener = rig_listener (rig, "src_0", NULL);
  rig_talkers (rig, 1, 4, RIG_L16);
  rig_set_target (listener, RIG_L16_MIX_BPS + (guint) (1.2 * RIG_L16_BPS));
  rig_play (rig);
  rig_run (rig, 20);
  assert_state (listener, 104, "separate");
  assert_state (listener, 101, "mixed");

  write_database (path, "[ssrc:0x66]\nnever-mix=true\n[ssrc:103]\nmute=true\n");
  rig_run (rig, 120);
  assert_state (listener, 102, "separate");
  assert_state (listener, 103, "none");
  assert_state (listener, 104, "mixed");

  /* nonsense changes nothing and is said */
  write_database (path, "nonsense\n");
  rig_count_messages (rig, "none");
  rig_run (rig, 120);
  assert_state (listener, 102, "separate");

  g_unlink (path);
  rig_free (rig);
  g_free (line);
  g_free (path);
}

GST_END_TEST;

GST_START_TEST (test_groups_get_a_mix_each_before_they_share_one)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  guint i;

  rig_talkers (rig, 1, 6, RIG_L16);
  for (i = 1; i <= 6; i++) {
    GstStructure *s = gst_structure_new ("stream", "group", G_TYPE_STRING,
        i <= 3 ? "red" : "blue", NULL);

    g_signal_emit_by_name (rig->mix, "set-stream", 100 + i, s);
    gst_structure_free (s);
  }
  rig_set_target (listener, (guint) (2.3 * RIG_L16_MIX_BPS));
  rig_play (rig);
  rig_run (rig, 20);
  fail_unless_equals_int (rig_pad_stat (listener, "n-mixes"), 2);
  fail_unless_equals_int (rig_pad_stat (listener, "n-mixed"), 6);
  rig_set_target (listener, (guint) (1.3 * RIG_L16_MIX_BPS));
  rig_run (rig, 20);
  fail_unless_equals_int (rig_pad_stat (listener, "n-mixes"), 1);
  fail_unless_equals_int (rig_pad_stat (listener, "n-mixed"), 6);
  rig_free (rig);
}

GST_END_TEST;

/* An application that learns who they are when they talk already */
GST_START_TEST (test_whose_talkers_they_are_holds_at_once)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 7, RIG_PCMU, 440, 8000);

  rig_play (rig);
  rig_run (rig, 10);
  g_object_set (talker->peer, "neighbour", 0, NULL);
  rig_run (rig, 10);
  fail_unless_equals_int (rig_count_packets (listener, talker->ssrc), 10);
  g_object_set (talker->peer, "neighbour", -1, NULL);
  rig_run (rig, 10);
  fail_unless_equals_int (rig_count_whole (listener, talker->ssrc, 0), 20);
  rig_free (rig);
}

GST_END_TEST;

static void
assert_named (Rig * rig, const gchar * cname)
{
  const GValue *streams;
  GstStructure *stats;

  g_object_get (rig->mix, "stats", &stats, NULL);
  streams = gst_structure_get_value (stats, "streams");
  fail_unless_equals_string (gst_structure_get_string (gst_value_get_structure
          (gst_value_array_get_value (streams, 0)), "cname"), cname);
  gst_structure_free (stats);
}

/* ... by the property, or by an SDP that comes later */
GST_START_TEST (test_what_talkers_are_called_holds_at_once)
{
  Rig *rig = rig_new (NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 7, RIG_PCMU, 440, 8000);
  GstCaps *caps = gst_pad_get_current_caps (talker->peer);

  rig_play (rig);
  rig_run (rig, 2);
  assert_named (rig, NULL);
  g_object_set (talker->peer, "cname", "ann", NULL);
  assert_named (rig, "ann");
  caps = gst_caps_make_writable (caps);
  gst_caps_set_simple (caps, "ssrc-7-cname", G_TYPE_STRING, "bob", NULL);
  gst_pad_push_event (talker->pad, gst_event_new_caps (caps));
  assert_named (rig, "bob");
  gst_caps_unref (caps);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
partialmix_selection_suite (void)
{
  Suite *suite = suite_create ("partialmix-selection");
  TCase *tc;

  tc = tcase_create ("selection");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_target_events_are_obeyed_at_once);
  tcase_add_test (tc, test_no_more_becomes_separate_than_lasts);
  tcase_add_test (tc,
      test_who_comes_and_has_no_room_is_mixed_from_the_first_packet);
  tcase_add_test (tc, test_any_target_but_0_carries_a_mix);
  tcase_add_test (tc, test_whose_talkers_they_are_holds_at_once);
  tcase_add_test (tc, test_what_talkers_are_called_holds_at_once);
  tcase_add_test (tc, test_one_message_for_each_change_of_a_selection);
  tcase_add_test (tc, test_jitter_moves_no_selection);
  tcase_add_test (tc, test_database_guides_and_is_reloaded);
  tcase_add_test (tc, test_groups_get_a_mix_each_before_they_share_one);
  return suite;
}

GST_CHECK_MAIN (partialmix_selection);
