/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Who is let in, when others want the same SSRC or all the room. */

#include <gst/net/gstnetaddressmeta.h>

#include "mixrig.h"

/* The same SSRC, with other sequence numbers and timestamps. */
static RigTalker
impostor_of (const RigTalker * talker)
{
  RigTalker impostor = *talker;

  impostor.seq += 20000;
  impostor.ts_base += 20 * 60 * RIG_RATE;
  return impostor;
}

static void
send_from (Rig * rig, RigTalker * talker, const gchar * host, guint port)
{
  GstBuffer *buffer = rig_packet (rig, talker);

  if (host != NULL) {
    GSocketAddress *address = g_inet_socket_address_new_from_string (host,
        port);

    buffer = gst_buffer_make_writable (buffer);
    gst_buffer_add_net_address_meta (buffer, address);
    g_object_unref (address);
  }
  fail_unless_equals_int (gst_pad_push (talker->pad, buffer), GST_FLOW_OK);
}

/* @honest sends one packet in each of @n_frames (NULL: nothing), @forger two. */
static void
both_send (Rig * rig, RigTalker * honest, const gchar * first_host,
    RigTalker * forger, const gchar * second_host, guint port, guint n_frames)
{
  guint i;

  for (i = 0; i < n_frames; i++) {
    rig_advance (rig, rig->frame * 20 * GST_MSECOND);
    if (honest != NULL)
      send_from (rig, honest, first_host, 5000);
    send_from (rig, forger, second_host, port);
    send_from (rig, forger, second_host, port);
    rig->frame++;
  }
}

static gboolean
is_of (GstBuffer * buffer, const RigTalker * talker)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  gint16 behind;

  fail_unless (gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp));
  behind = (gint16) (talker->seq - gst_rtp_buffer_get_seq (&rtp));
  gst_rtp_buffer_unmap (&rtp);
  return behind > 0 && behind < 5000;
}

static guint
count_of (RigListener * listener, const RigTalker * talker)
{
  guint n = 0;
  guint i;

  for (i = 0; i < listener->buffers->len; i++)
    n += is_of (rig_nth (listener, i), talker);
  return n;
}

static void
first_source_holds (const gchar * first_host, const gchar * second_host,
    guint second_port)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *honest = rig_talker (rig, "sink_1", 11, RIG_PCMU, 440, 8000);
  RigTalker forger = impostor_of (honest);

  rig_play (rig);
  send_from (rig, honest, first_host, 5000);
  both_send (rig, honest, first_host, &forger, second_host, second_port, 100);
  fail_unless_equals_int (count_of (listener, honest), 101);
  fail_unless_equals_int (count_of (listener, &forger), 0);
  fail_unless_equals_int (listener->buffers->len, 101);
  if (first_host != NULL)
    fail_unless_equals_uint64 (rig_stat (rig, "n-intruders"), 200);
  rig_free (rig);
}

GST_START_TEST (test_another_address_does_not_take_a_live_ssrc)
{
  first_source_holds ("192.0.2.1", "192.0.2.2", 5000);
}

GST_END_TEST;

GST_START_TEST (test_another_port_does_not_take_a_live_ssrc)
{
  first_source_holds ("2001:db8::1", "2001:db8::1", 5002);
}

GST_END_TEST;

GST_START_TEST (test_other_numbers_do_not_take_a_live_ssrc)
{
  first_source_holds (NULL, NULL, 0);
}

GST_END_TEST;

GST_START_TEST (test_another_payload_type_does_not_take_a_live_ssrc)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *honest = rig_talker (rig, "sink_1", 11, RIG_PCMU, 440, 8000);
  RigTalker forger = impostor_of (honest);
  guint i;

  rig_play (rig);
  rig_run (rig, 10);
  for (i = 0; i < 50; i++) {
    GstBuffer *buffer = gst_buffer_make_writable (rig_packet (rig, &forger));
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    fail_unless (gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp));
    gst_rtp_buffer_set_payload_type (&rtp, 8);
    gst_rtp_buffer_unmap (&rtp);
    gst_pad_push (forger.pad, buffer);
    rig_run (rig, 1);
  }
  fail_unless_equals_int (listener->buffers->len, 60);
  fail_unless_equals_int (count_of (listener, honest), 60);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_a_source_that_is_silent_gives_way_after_a_while)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *honest = rig_talker (rig, "sink_1", 11, RIG_PCMU, 440, 8000);
  RigTalker forger = impostor_of (honest);

  rig_play (rig);
  send_from (rig, honest, "192.0.2.1", 5000);
  rig->frame++;
  both_send (rig, NULL, NULL, &forger, "192.0.2.2", 5000, 99);
  fail_unless_equals_int (count_of (listener, &forger), 0);
  both_send (rig, NULL, NULL, &forger, "192.0.2.2", 5000, 20);
  fail_unless (count_of (listener, &forger) >= 36);
  rig_free (rig);
}

GST_END_TEST;

/* --- room ---------------------------------------------------------------- */

static void
flood (Rig * rig, RigTalker * talker, guint n)
{
  guint32 ssrc = talker->ssrc;
  guint i;

  for (i = 0; i < n; i++) {
    talker->ssrc = 50000 + i;
    rig_send (rig, talker);
  }
  talker->ssrc = ssrc;
}

GST_START_TEST (test_a_flood_on_one_pad_locks_nobody_out)
{
  Rig *rig = rig_new ("max-streams=60");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *flooded = rig_talker (rig, "sink_1", 11, RIG_PCMU, 440, 8000);
  guint i;

  rig_play (rig);
  rig_run (rig, 10);
  flood (rig, flooded, 1000);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 60);
  rig_run (rig, 1);
  rig_talkers (rig, 2, 2, RIG_PCMU);
  rig_run (rig, 20);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 60);
  fail_unless_equals_uint64 (rig_stat (rig, "n-displaced"), 2);
  fail_unless_equals_int (rig_count_packets (listener, 102), 20);
  fail_unless_equals_int (rig_count_packets (listener, 103), 20);
  /* nor does the one of the flooded pad who goes on lose his place */
  fail_unless_equals_int (rig_count_packets (listener, 11), 31);

  /* a neighbour who has his share takes nobody's place */
  for (i = 2; i <= 3; i++)
    flood (rig, g_ptr_array_index (rig->talkers, i - 1), 1000);
  fail_unless_equals_uint64 (rig_stat (rig, "n-displaced"), 2 * 20);
  rig_run (rig, 10);
  fail_unless_equals_int (rig_count_packets (listener, 11), 41);
  fail_unless_equals_int (rig_count_packets (listener, 102), 30);
  rig_free (rig);
}

GST_END_TEST;

/* A plan costs as much as there are streams: those who all come at once share
 * the next tick's. */
GST_START_TEST (test_many_joins_at_once_cost_few_plans)
{
  Rig *rig = rig_new (NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 11, RIG_PCMU, 440, 8000);
  RigListener *listener = rig_listener (rig, "src_0", NULL);

  rig_set_target (listener, 64000);
  rig_play (rig);
  rig_run (rig, 2);
  rig_count_messages (rig, "fairmix-selection");
  flood (rig, talker, 500);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 501);
  fail_unless (rig_count_messages (rig, "fairmix-selection") < 50);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_who_joins_very_many_does_not_plan_for_all)
{
  Rig *rig = rig_new ("max-streams=2000");
  RigTalker *talker = rig_talker (rig, "sink_1", 11, RIG_PCMU, 440, 8000);
  RigListener *listener = rig_listener (rig, "src_0", NULL);

  rig_set_target (listener, 64000);
  rig_play (rig);
  rig_run (rig, 2);
  flood (rig, talker, 1100);
  rig_run (rig, 1);
  rig_count_messages (rig, "fairmix-selection");
  talker->ssrc = 70000;
  rig_send (rig, talker);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 1102);
  fail_unless_equals_int (rig_count_messages (rig, "fairmix-selection"), 0);
  rig_free (rig);
}

GST_END_TEST;

/* It goes on at another pad: where it came in before only its own sender is late. */
GST_START_TEST (test_who_was_kept_out_is_not_heard_when_the_ssrc_has_moved)
{
  gboolean is_other = __i__ == 1;
  Rig *rig = rig_new (NULL);
  RigTalker *honest = rig_talker (rig, "sink_1", 11, RIG_PCMU, 440, 8000);
  RigTalker *other = rig_talker (rig, "sink_2", 12, RIG_PCMU, 440, 8000);
  RigTalker there = *honest;

  rig_listener (rig, "src_0", NULL);
  rig_play (rig);
  send_from (rig, honest, "192.0.2.1", 5000);
  send_from (rig, other, "192.0.2.3", 5000);
  rig_advance (rig, 20 * GST_MSECOND);
  g_object_set (honest->peer, "successor", 2, NULL);
  there.pad = other->pad;
  there.seq = honest->seq + 1;
  send_from (rig, &there, "192.0.2.3", 5000);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 2);
  send_from (rig, honest, is_other ? "192.0.2.66" : "192.0.2.1", 5000);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), is_other ? 3 : 2);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
partialmix_admission_suite (void)
{
  Suite *suite = suite_create ("partialmix-admission");
  TCase *tc;

  tc = tcase_create ("one SSRC");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_another_address_does_not_take_a_live_ssrc);
  tcase_add_test (tc, test_another_port_does_not_take_a_live_ssrc);
  tcase_add_test (tc, test_other_numbers_do_not_take_a_live_ssrc);
  tcase_add_test (tc, test_another_payload_type_does_not_take_a_live_ssrc);
  tcase_add_test (tc, test_a_source_that_is_silent_gives_way_after_a_while);
  tcase_add_loop_test (tc,
      test_who_was_kept_out_is_not_heard_when_the_ssrc_has_moved, 0, 2);

  tc = tcase_create ("room");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_a_flood_on_one_pad_locks_nobody_out);
  tcase_add_test (tc, test_many_joins_at_once_cost_few_plans);
  tcase_add_test (tc, test_who_joins_very_many_does_not_plan_for_all);
  return suite;
}

GST_CHECK_MAIN (partialmix_admission);
