/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A sender has another way to us from one packet to the next: its stream goes on. */

#include "mixrig.h"

#define SSRC 4242
#define BEFORE 30               /* frames that it comes in at the pad of neighbour 1 */
#define AFTER 30                /* ... and at that of neighbour 2 */
#define AMPLITUDE 3000

/* The sender, on neighbour 1's pad, and another one on neighbour 2's */
typedef struct
{
  Rig *rig;
  RigListener *listener;        /* neighbour 0 */
  RigTalker *talker, *other;
} Scene;

/* @name, @other: (nullable): what the application says who sends at the pads */
static void
scene_begin (Scene * scene, gboolean mixed, const gchar * name,
    const gchar * other)
{
  scene->rig = rig_new ("mix-encoding=l16 latency=40000000 ramp-duration=0");
  scene->listener = rig_listener (scene->rig, "src_0", NULL);
  if (mixed)
    rig_set_target (scene->listener, RIG_L16_MIX_BPS * 5 / 4);
  scene->talker = rig_talker (scene->rig, "sink_1", SSRC, RIG_L16, 400,
      AMPLITUDE);
  scene->other = rig_talker (scene->rig, "sink_2", 7, RIG_L16, 700, AMPLITUDE);
  g_object_set (scene->talker->peer, "cname", name, NULL);
  g_object_set (scene->other->peer, "cname", other, NULL);
  rig_play (scene->rig);
  rig_run (scene->rig, BEFORE);
  fail_unless_equals_int (rig_pad_stat (scene->listener, "n-mixed"),
      mixed ? 2 : 0);
}

/* What @scene's talker says comes in at the other pad from now on. */
static void
scene_move (Scene * scene)
{
  scene->talker->pad = scene->other->pad;
}

static void
scene_end (Scene * scene, GstPad * pad)
{
  scene->talker->pad = pad;
  rig_free (scene->rig);
}

/* Returns: what the statistics say of SSRC */
static gint
neighbour_of_stream (Rig * rig)
{
  GstStructure *stats;
  const GValue *streams;
  gint neighbour = -1;

  g_object_get (rig->mix, "stats", &stats, NULL);
  streams = gst_structure_get_value (stats, "streams");
  for (guint i = 0; i < gst_value_array_get_size (streams); i++) {
    const GstStructure *s =
        gst_value_get_structure (gst_value_array_get_value (streams, i));
    guint ssrc;

    if (gst_structure_get_uint (s, "ssrc", &ssrc) && ssrc == SSRC)
      gst_structure_get_int (s, "neighbour", &neighbour);
  }
  gst_structure_free (stats);
  return neighbour;
}

/* Returns: how many messages say @event of a stream */
static guint
count_events (Rig * rig, const gchar * event)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (rig->bus, GST_MESSAGE_ELEMENT))
      != NULL) {
    n += gst_message_has_name (message, "fairmix-stream")
        && g_strcmp0 (gst_structure_get_string (gst_message_get_structure
            (message), "event"), event) == 0;
    gst_message_unref (message);
  }
  return n;
}

static void
check_heard (Scene * scene, guint n_frames)
{
  gdouble *heard = rig_hear (scene->rig, scene->listener, 0);

  for (guint i = 10; i < n_frames - 5; i++)
    rig_assert_level (heard, i * RIG_FRAME, RIG_FRAME, 400, AMPLITUDE, 0.1);
  g_free (heard);
}

/* Who is told by number and who is told by name goes on; as a voice of its own, and in a
 * mix. */
GST_START_TEST (test_it_goes_on_without_a_gap)
{
  gboolean mixed = __i__ % 2, named = __i__ / 2;
  Scene scene;
  GstPad *pad;

  scene_begin (&scene, mixed, "alice", named ? "alice" : "bob");
  pad = scene.talker->pad;
  g_object_set (scene.talker->peer, "successor", named ? -2 : 2, NULL);
  fail_unless_equals_int (neighbour_of_stream (scene.rig), 1);
  scene_move (&scene);
  rig_run (scene.rig, AFTER);
  fail_unless_equals_int (neighbour_of_stream (scene.rig), 2);
  fail_unless_equals_uint64 (rig_stat (scene.rig, "n-streams"), 2);
  fail_unless_equals_uint64 (rig_stat (scene.rig, "n-collisions"), 0);
  if (!mixed)
    fail_unless_equals_int (rig_count_whole (scene.listener, SSRC, 0),
        BEFORE + AFTER);
  check_heard (&scene, BEFORE + AFTER);
  scene_end (&scene, pad);
}

GST_END_TEST;

/* The neighbour by whom it comes hears it no more, at once; the one by whom it came
 * does. */
GST_START_TEST (test_who_brings_it_does_not_get_it_back)
{
  RigListener *former, *latter;
  Scene scene;
  GstPad *pad;
  guint n_before;

  scene_begin (&scene, FALSE, NULL, NULL);
  pad = scene.talker->pad;
  former = rig_listener (scene.rig, "src_1", NULL);
  latter = rig_listener (scene.rig, "src_2", NULL);
  g_object_set (scene.talker->peer, "successor", 2, NULL);
  rig_run (scene.rig, 10);
  n_before = rig_count_packets (latter, SSRC);
  fail_unless (n_before >= 9);
  fail_unless_equals_int (rig_count_packets (former, SSRC), 0);
  scene_move (&scene);
  rig_run (scene.rig, 10);
  fail_unless_equals_int (rig_count_packets (latter, SSRC), n_before);
  fail_unless_equals_int (rig_count_packets (former, SSRC), 10);
  scene_end (&scene, pad);
}

GST_END_TEST;

/* What was on the way is heard, where it is mixed, and is no stream of its own. */
GST_START_TEST (test_what_was_on_the_way_before_is_heard)
{
  GstBuffer *late;
  Scene scene;
  GstPad *pad;

  scene_begin (&scene, TRUE, NULL, NULL);
  pad = scene.talker->pad;
  g_object_set (scene.talker->peer, "successor", 2, NULL);
  late = rig_packet (scene.rig, scene.talker);
  scene_move (&scene);
  rig_send (scene.rig, scene.talker);
  fail_unless_equals_int (neighbour_of_stream (scene.rig), 2);
  fail_unless_equals_int (gst_pad_push (pad, late), GST_FLOW_OK);
  fail_unless_equals_uint64 (rig_stat (scene.rig, "n-streams"), 2);
  fail_unless_equals_int (neighbour_of_stream (scene.rig), 2);
  rig_run (scene.rig, AFTER);
  fail_unless_equals_uint64 (rig_stat (scene.rig, "n-streams"), 2);
  scene_end (&scene, pad);
}

GST_END_TEST;

/* Nobody said that it goes there, it has no name, or another one, it is to go elsewhere,
 * or its numbers are others: it is another stream. */
GST_START_TEST (test_whoever_takes_an_ssrc_gets_no_stream)
{
  static const gint successors[] = { -1, -2, -2, 3, 2 };
  Scene scene;
  GstPad *pad;

  scene_begin (&scene, FALSE, __i__ == 1 ? NULL : "alice",
      __i__ == 0 ? "alice" : __i__ == 1 ? NULL : "mallory");
  pad = scene.talker->pad;
  g_object_set (scene.talker->peer, "successor", successors[__i__], NULL);
  if (__i__ == 4)
    scene.talker->seq += 20000;
  scene_move (&scene);
  rig_run (scene.rig, 5);
  fail_unless_equals_int (rig_count_packets (scene.listener, SSRC), BEFORE);
  fail_unless_equals_uint64 (rig_stat (scene.rig, "n-collisions"), 1);
  fail_unless_equals_uint64 (rig_stat (scene.rig, "n-streams"), 3);
  scene_end (&scene, pad);
}

GST_END_TEST;

/* Who came first with an SSRC keeps nobody from going on with it. */
GST_START_TEST (test_another_one_with_its_ssrc_does_not_keep_it)
{
  RigTalker *mallory;
  Scene scene;
  GstPad *pad;

  scene.rig = rig_new ("mix-encoding=l16 latency=40000000 ramp-duration=0");
  mallory = rig_talker (scene.rig, "sink_3", SSRC, RIG_L16, 900, AMPLITUDE);
  mallory->seq += 10000;
  scene.listener = rig_listener (scene.rig, "src_0", NULL);
  rig_play (scene.rig);
  rig_run (scene.rig, 1);
  scene.talker = rig_talker (scene.rig, "sink_1", SSRC, RIG_L16, 400,
      AMPLITUDE);
  scene.other = rig_talker (scene.rig, "sink_2", 7, RIG_L16, 700, AMPLITUDE);
  pad = scene.talker->pad;
  rig_run (scene.rig, 5);
  g_object_set (scene.talker->peer, "successor", 2, NULL);
  scene_move (&scene);
  rig_run (scene.rig, 5);
  fail_unless_equals_uint64 (rig_stat (scene.rig, "n-collisions"), 1);
  fail_unless_equals_uint64 (rig_stat (scene.rig, "n-streams"), 3);
  scene_end (&scene, pad);
}

GST_END_TEST;

/* It may be back where it was before all that was on the way has come.  If nobody said so
 * it is a second stream there, but no silence. */
GST_START_TEST (test_who_comes_back_at_once_is_heard)
{
  gboolean is_said = __i__ == 0;
  RigListener *former;
  Scene scene;
  GstPad *pad;

  scene_begin (&scene, FALSE, NULL, NULL);
  former = rig_listener (scene.rig, "src_1", NULL);
  rig_run (scene.rig, 5);
  pad = scene.talker->pad;
  g_object_set (scene.talker->peer, "successor", 2, NULL);
  g_object_set (scene.other->peer, "successor", is_said ? 1 : -1, NULL);
  scene_move (&scene);
  rig_run (scene.rig, 10);
  fail_unless_equals_int (rig_count_packets (former, SSRC), 10);
  scene.talker->pad = pad;
  rig_run (scene.rig, 10);
  fail_unless_equals_int (rig_count_packets (former, SSRC), 10);
  fail_unless_equals_int (rig_count_whole (scene.listener, SSRC, 0),
      BEFORE + 5 + (is_said ? 20 : 10));
  fail_unless_equals_uint64 (rig_stat (scene.rig, "n-collisions"),
      is_said ? 0 : 1);
  if (is_said)
    fail_unless_equals_int (neighbour_of_stream (scene.rig), 1);
  scene_end (&scene, pad);
}

GST_END_TEST;

/* @scene's talker says it on @pad with the number @pt. */
static void
send_as (Scene * scene, GstPad * pad, guint8 pt)
{
  GstBuffer *buffer = rig_packet (scene->rig, scene->talker);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  fail_unless (gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp));
  gst_rtp_buffer_set_payload_type (&rtp, pt);
  gst_rtp_buffer_unmap (&rtp);
  fail_unless_equals_int (gst_pad_push (pad, buffer), GST_FLOW_OK);
}

/* The same format has another number there. */
GST_START_TEST (test_another_payload_type_of_the_same_format_goes_on)
{
  GstCaps *caps = gst_caps_from_string ("application/x-rtp,media=audio,"
      "payload=98,clock-rate=48000,encoding-name=L16,channels=1");
  GstBuffer *late;
  Scene scene;
  guint n;

  scene_begin (&scene, __i__ == 1, NULL, NULL);
  scene.talker->silent = TRUE;
  gst_pad_push_event (scene.other->pad, gst_event_new_caps (caps));
  gst_caps_unref (caps);
  g_object_set (scene.talker->peer, "successor", 2, NULL);
  late = rig_packet (scene.rig, scene.talker);
  for (n = 0; n < AFTER; n++) {
    send_as (&scene, scene.other->pad, 98);
    if (n == 0)
      gst_pad_push (scene.talker->pad, late);
    rig_run (scene.rig, 1);
  }
  fail_unless_equals_int (neighbour_of_stream (scene.rig), 2);
  fail_unless_equals_uint64 (rig_stat (scene.rig, "n-streams"), 2);
  if (__i__ == 0)
    fail_unless_equals_int (rig_count_packets (scene.listener, SSRC),
        BEFORE + AFTER);
  fail_unless_equals_int (count_events (scene.rig, "removed"), 0);
  scene_end (&scene, scene.talker->pad);
}

GST_END_TEST;

static Suite *
partialmix_moves_suite (void)
{
  Suite *s = suite_create ("partialmix-moves");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_it_goes_on_without_a_gap, 0, 4);
  tcase_add_test (tc, test_who_brings_it_does_not_get_it_back);
  tcase_add_test (tc, test_what_was_on_the_way_before_is_heard);
  tcase_add_loop_test (tc, test_whoever_takes_an_ssrc_gets_no_stream, 0, 5);
  tcase_add_test (tc, test_another_one_with_its_ssrc_does_not_keep_it);
  tcase_add_loop_test (tc, test_who_comes_back_at_once_is_heard, 0, 2);
  tcase_add_loop_test (tc,
      test_another_payload_type_of_the_same_format_goes_on, 0, 2);
  return s;
}

GST_CHECK_MAIN (partialmix_moves);
