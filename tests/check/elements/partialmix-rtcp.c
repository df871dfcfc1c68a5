/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is believed of RTCP: who is behind an SSRC, and who leaves. */

#include <string.h>

#include <gio/gio.h>
#include <gst/net/gstnetaddressmeta.h>

#include "mixrig.h"

/* Somebody who sends to rtcp_sink_1. */
typedef struct
{
  GstPad *from, *to;
  Rig *rig;
} Rtcp;

static void
rtcp_open (Rtcp * rtcp, Rig * rig, const gchar * pad_name)
{
  GstCaps *caps = gst_caps_new_empty_simple ("application/x-rtcp");

  rtcp->rig = rig;
  rtcp->to = gst_element_request_pad_simple (rig->mix, pad_name);
  rtcp->from = gst_pad_new (NULL, GST_PAD_SRC);
  fail_unless_equals_int (gst_pad_link (rtcp->from, rtcp->to), GST_PAD_LINK_OK);
  gst_pad_set_active (rtcp->from, TRUE);
  gst_check_setup_events_with_stream_id (rtcp->from, rig->mix, caps,
      GST_FORMAT_TIME, pad_name);
  gst_caps_unref (caps);
}

static void
rtcp_close (Rtcp * rtcp)
{
  gst_pad_set_active (rtcp->from, FALSE);
  gst_pad_unlink (rtcp->from, rtcp->to);
  gst_element_release_request_pad (rtcp->rig->mix, rtcp->to);
  gst_object_unref (rtcp->to);
  gst_object_unref (rtcp->from);
}

static GstBuffer *
from_host (GstBuffer * buffer, const gchar * host)
{
  if (host != NULL) {
    GSocketAddress *address = g_inet_socket_address_new_from_string (host,
        5004);

    gst_buffer_add_net_address_meta (buffer, address);
    g_object_unref (address);
  }
  return buffer;
}

static void
send_bytes (Rtcp * rtcp, const guint8 * bytes, gsize size, const gchar * host)
{
  fail_unless_equals_int (gst_pad_push (rtcp->from,
          from_host (gst_buffer_new_memdup (bytes, size), host)), GST_FLOW_OK);
}

static void
send_bye (Rtcp * rtcp, guint32 ssrc, const gchar * host)
{
  guint8 bytes[8] = { 0x81, 203, 0, 1 };

  GST_WRITE_UINT32_BE (bytes + 4, ssrc);
  send_bytes (rtcp, bytes, sizeof bytes, host);
}

/* @cname: at most 9 bytes */
static void
send_cname (Rtcp * rtcp, guint32 ssrc, const gchar * cname, const gchar * host)
{
  guint8 bytes[20] = { 0x81, 202, 0, 4 };

  GST_WRITE_UINT32_BE (bytes + 4, ssrc);
  bytes[8] = 1;
  bytes[9] = (guint8) strlen (cname);
  memcpy (bytes + 10, cname, strlen (cname));
  send_bytes (rtcp, bytes, sizeof bytes, host);
}

/* @host: all that @talker sends comes from there */
static void
run_from (Rig * rig, RigTalker * talker, const gchar * host, guint n_frames)
{
  guint k;

  for (k = 0; k < n_frames; k++) {
    rig_advance (rig, rig->frame * 20 * GST_MSECOND);
    fail_unless_equals_int (gst_pad_push (talker->pad,
            from_host (rig_packet (rig, talker), host)), GST_FLOW_OK);
    rig->frame++;
  }
}

static gchar *
name_of (Rig * rig, guint32 wanted)
{
  GstStructure *stats;
  const GValue *streams;
  gchar *cname = NULL;
  guint i, ssrc;

  g_object_get (rig->mix, "stats", &stats, NULL);
  streams = gst_structure_get_value (stats, "streams");
  for (i = 0; i < gst_value_array_get_size (streams); i++) {
    const GstStructure *s = gst_value_get_structure
        (gst_value_array_get_value (streams, i));

    gst_structure_get_uint (s, "ssrc", &ssrc);
    if (ssrc == wanted)
      cname = g_strdup (gst_structure_get_string (s, "cname"));
  }
  gst_structure_free (stats);
  return cname;
}

static void
check_name (Rig * rig, guint32 ssrc, const gchar * expected)
{
  gchar *cname = name_of (rig, ssrc);

  fail_unless_equals_string (cname, expected);
  g_free (cname);
}

/* --- who leaves ---------------------------------------------------------- */

GST_START_TEST (test_a_bye_ends_a_stream_that_falls_silent)
{
  Rig *rig = rig_new (NULL);
  Rtcp rtcp;

  rig_listener (rig, "src_0", NULL);
  rig_talkers (rig, 1, 2, RIG_PCMU);
  rig_play (rig);
  rig_run (rig, 5);
  rtcp_open (&rtcp, rig, "rtcp_sink_1");
  send_bye (&rtcp, 101, NULL);
  /* not hers to say: 102 is neighbour 2's */
  send_bye (&rtcp, 102, NULL);
  ((RigTalker *) g_ptr_array_index (rig->talkers, 0))->silent = TRUE;
  rig_run (rig, 20);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 2);
  rig_run (rig, 10);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 1);
  fail_unless_equals_int (rig_count_messages (rig, "fairmix-stream"), 3);
  rtcp_close (&rtcp);
  rig_free (rig);
}

GST_END_TEST;

/* One each 40 ms, as if from her own address: she is heard on, and nobody is told
 * that she left. */
GST_START_TEST (test_forged_byes_do_not_mute_a_talker)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 101, RIG_L16, 400, 6000);
  gdouble *heard;
  Rtcp rtcp;
  guint k;

  rig_set_target (listener, RIG_L16_MIX_BPS);
  rig_play (rig);
  rtcp_open (&rtcp, rig, "rtcp_sink_1");
  run_from (rig, talker, NULL, 10);
  for (k = 0; k < 60; k++) {
    send_bye (&rtcp, 101, NULL);
    run_from (rig, talker, NULL, 2);
  }
  rig_advance (rig, rig->frame * 20 * GST_MSECOND);
  heard = rig_hear (rig, listener, 0);
  for (k = 20; k < 120; k += 10)
    rig_assert_level (heard, k * RIG_FRAME, 10 * RIG_FRAME, 400, 6000, 0.1);
  fail_unless_equals_int (rig_count_messages (rig, "fairmix-stream"), 1);
  fail_unless (rig_stat (rig, "n-disbelieved") > 0);
  g_free (heard);
  rtcp_close (&rtcp);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_a_bye_from_elsewhere_is_nobodys)
{
  Rig *rig = rig_new (NULL);
  RigTalker *talker;
  Rtcp rtcp;

  rig_listener (rig, "src_0", NULL);
  rig_talker (rig, "sink_2", 102, RIG_PCMU, 400, 6000);
  talker = rig_talker (rig, "sink_1", 101, RIG_PCMU, 400, 6000);
  rig_play (rig);
  rtcp_open (&rtcp, rig, "rtcp_sink_1");
  run_from (rig, talker, "192.0.2.1", 5);
  send_bye (&rtcp, 101, "192.0.2.66");
  talker->silent = TRUE;
  rig_run (rig, 40);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 2);
  fail_unless_equals_uint64 (rig_stat (rig, "n-disbelieved"), 1);
  /* an IPv6 socket shows the same host in another way */
  send_bye (&rtcp, 101, "::ffff:192.0.2.1");
  rig_run (rig, 30);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 1);
  rtcp_close (&rtcp);
  rig_free (rig);
}

GST_END_TEST;

/* --- who is who ---------------------------------------------------------- */

GST_START_TEST (test_a_name_is_known_before_the_first_packet_and_after_the_last)
{
  Rig *rig = rig_new (NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 101, RIG_PCMU, 400, 6000);
  Rtcp rtcp;

  rig_play (rig);
  rtcp_open (&rtcp, rig, "rtcp_sink_1");
  /* the first claim holds, not the loudest */
  send_cname (&rtcp, 101, "alice", NULL);
  send_cname (&rtcp, 101, "mallory", NULL);
  run_from (rig, talker, NULL, 1);
  check_name (rig, 101, "alice");
  g_signal_emit_by_name (rig->mix, "remove-stream", 101);
  run_from (rig, talker, NULL, 1);
  check_name (rig, 101, "alice");
  rtcp_close (&rtcp);
  rig_free (rig);
}

GST_END_TEST;

/* An item that is longer than the packet: behind it in memory stands what an
 * earlier datagram left there. */
GST_START_TEST (test_a_short_sdes_names_nobody)
{
  static const guint8 memory[64] = { 0x81, 202, 0, 3, 0, 0, 0, 101, 1, 11,
    'a', 'b', 'c', 'd', 'e', 'f', 's', 't', 'a', 'l', 'e'
  };
  Rig *rig = rig_new (NULL);
  GstBuffer *buffer = gst_buffer_new_memdup (memory, sizeof memory);
  Rtcp rtcp;

  rig_talkers (rig, 1, 1, RIG_PCMU);
  rig_play (rig);
  rig_run (rig, 5);
  rtcp_open (&rtcp, rig, "rtcp_sink_1");
  gst_buffer_set_size (buffer, 16);
  fail_unless_equals_int (gst_pad_push (rtcp.from, buffer), GST_FLOW_OK);
  check_name (rig, 101, NULL);
  /* cut off: malformed */
  send_bytes (&rtcp, memory, 15, NULL);
  fail_unless_equals_uint64 (rig_stat (rig, "n-malformed"), 1);
  rtcp_close (&rtcp);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_a_name_from_elsewhere_is_nobodys)
{
  Rig *rig = rig_new (NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 101, RIG_PCMU, 400, 6000);
  Rtcp rtcp;

  rig_play (rig);
  rtcp_open (&rtcp, rig, "rtcp_sink_1");
  /* before there is RTP as well */
  send_cname (&rtcp, 101, "mallory", "192.0.2.66");
  run_from (rig, talker, "192.0.2.1", 5);
  check_name (rig, 101, NULL);
  send_cname (&rtcp, 101, "mallory", "192.0.2.66");
  check_name (rig, 101, NULL);
  send_cname (&rtcp, 101, "alice", "192.0.2.1");
  check_name (rig, 101, "alice");
  rtcp_close (&rtcp);
  rig_free (rig);
}

GST_END_TEST;

/* Reports come every few seconds: whoever contradicts her is contradicted by
 * her.  A name that nobody contradicts any more has changed. */
GST_START_TEST (test_the_first_name_holds_until_it_changes_credibly)
{
  Rig *rig = rig_new (NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 101, RIG_PCMU, 400, 6000);
  Rtcp rtcp;
  guint k;

  rig_play (rig);
  rtcp_open (&rtcp, rig, "rtcp_sink_1");
  run_from (rig, talker, NULL, 1);
  for (k = 0; k < 20; k++) {
    if (k % 3 == 0)
      send_cname (&rtcp, 101, "alice", NULL);
    send_cname (&rtcp, 101, "mallory", NULL);
    run_from (rig, talker, NULL, 50);
    check_name (rig, 101, "alice");
  }
  for (k = 0; k < 12; k++) {
    send_cname (&rtcp, 101, "anna", NULL);
    run_from (rig, talker, NULL, 50);
    if (k < 8)
      check_name (rig, 101, "alice");
  }
  check_name (rig, 101, "anna");
  rtcp_close (&rtcp);
  rig_free (rig);
}

GST_END_TEST;

/* What the Database says of alice is for her alone. */
GST_START_TEST (test_a_name_that_somebody_has_is_nobody_elses)
{
  Rig *rig = rig_new (NULL);
  Rtcp first, second;

  rig_talkers (rig, 1, 3, RIG_PCMU);
  g_object_set (((RigTalker *) g_ptr_array_index (rig->talkers, 2))->peer,
      "cname", "carol", NULL);
  rig_play (rig);
  rtcp_open (&first, rig, "rtcp_sink_1");
  rtcp_open (&second, rig, "rtcp_sink_2");
  /* a thief that comes first loses what the application says */
  send_cname (&second, 102, "carol", NULL);
  rig_send (rig, g_ptr_array_index (rig->talkers, 1));
  check_name (rig, 102, "carol");
  rig_run (rig, 5);
  check_name (rig, 102, NULL);
  check_name (rig, 103, "carol");
  send_cname (&first, 101, "alice", NULL);
  send_cname (&second, 102, "alice", NULL);
  check_name (rig, 101, "alice");
  check_name (rig, 102, NULL);
  send_cname (&second, 102, "bob", NULL);
  check_name (rig, 102, "bob");
  rtcp_close (&first);
  rtcp_close (&second);
  rig_free (rig);
}

GST_END_TEST;

/* Memory stays bounded, and one neighbour's flood costs another nothing. */
GST_START_TEST (test_a_flood_of_names_drives_out_no_other_neighbours)
{
  Rig *rig = rig_new (NULL);
  Rtcp first, second;
  guint i;

  rig_talkers (rig, 1, 1, RIG_PCMU);
  rig_play (rig);
  rtcp_open (&first, rig, "rtcp_sink_1");
  rtcp_open (&second, rig, "rtcp_sink_2");
  send_cname (&first, 101, "alice", NULL);
  for (i = 0; i < 5000; i++)
    send_cname (&second, 10000 + i, "nobody", NULL);
  rig_run (rig, 1);
  check_name (rig, 101, "alice");
  rtcp_close (&first);
  rtcp_close (&second);
  rig_free (rig);
}

GST_END_TEST;

/* Nor is it hers to say any more when her stream comes in where the application says who
 * she is. */
GST_START_TEST (test_a_name_that_is_said_holds_for_who_comes_from_elsewhere)
{
  Rig *rig = rig_new (NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 101, RIG_PCMU, 400, 6000);
  RigTalker *other = rig_talker (rig, "sink_2", 102, RIG_PCMU, 400, 6000);
  GstPad *pad = talker->pad;
  Rtcp first, second;

  other->silent = TRUE;         /* who is there is called so at once, and she is not */
  rig_play (rig);
  rtcp_open (&first, rig, "rtcp_sink_1");
  rtcp_open (&second, rig, "rtcp_sink_2");
  send_cname (&first, 101, "alice", NULL);
  rig_run (rig, 5);
  check_name (rig, 101, "alice");
  g_object_set (talker->peer, "successor", -2, NULL);
  g_object_set (other->peer, "cname", "alice", NULL);
  talker->pad = other->pad;
  for (guint i = 0; i < 4; i++) {
    rig_run (rig, 250);
    send_cname (&second, 101, "mallory", NULL);
  }
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 1);
  check_name (rig, 101, "alice");
  talker->pad = pad;
  rtcp_close (&first);
  rtcp_close (&second);
  rig_free (rig);
}

GST_END_TEST;

/* Whoever gets the number of who has left is not called what that one said. */
GST_START_TEST (test_what_was_said_goes_with_who_said_it)
{
  Rig *rig = rig_new (NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 101, RIG_PCMU, 400, 6000);
  Rtcp rtcp;

  rig_play (rig);
  rtcp_open (&rtcp, rig, "rtcp_sink_1");
  send_cname (&rtcp, 101, "mallory", NULL);
  rig_run (rig, 5);
  check_name (rig, 101, "mallory");
  rig_remove_talker (rig, talker);
  send_cname (&rtcp, 102, "mallory", NULL);
  rtcp_close (&rtcp);
  rig_talker (rig, "sink_1", 101, RIG_PCMU, 400, 6000);
  rig_talker_beside (rig, g_ptr_array_index (rig->talkers, 0), 102, 400, 6000);
  rig_run (rig, 5);
  check_name (rig, 101, NULL);
  check_name (rig, 102, NULL);
  rig_free (rig);
}

GST_END_TEST;

/* In a pipeline that has run for an hour */
GST_START_TEST (test_a_bye_that_is_said_before_it_plays_holds)
{
  const GstClockTime hour = 3600 * GST_SECOND;
  Rig *rig = rig_new (NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 7, RIG_PCMU, 440, 8000);
  Rtcp rtcp;

  rtcp_open (&rtcp, rig, "rtcp_sink_1");
  gst_test_clock_set_time (rig->clock, hour);
  gst_element_set_state (rig->mix, GST_STATE_PAUSED);
  rig_send (rig, talker);
  send_bye (&rtcp, talker->ssrc, NULL);
  rig_play (rig);
  rig_advance (rig, hour + GST_SECOND);
  fail_unless_equals_uint64 (rig_stat (rig, "n-streams"), 0);
  fail_unless_equals_uint64 (rig_stat (rig, "n-disbelieved"), 0);
  rtcp_close (&rtcp);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
partialmix_rtcp_suite (void)
{
  Suite *suite = suite_create ("partialmix-rtcp");
  TCase *tc;

  tc = tcase_create ("bye");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_a_bye_ends_a_stream_that_falls_silent);
  tcase_add_test (tc, test_a_bye_that_is_said_before_it_plays_holds);
  tcase_add_test (tc, test_forged_byes_do_not_mute_a_talker);
  tcase_add_test (tc, test_a_bye_from_elsewhere_is_nobodys);

  tc = tcase_create ("names");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc,
      test_a_name_is_known_before_the_first_packet_and_after_the_last);
  tcase_add_test (tc, test_a_short_sdes_names_nobody);
  tcase_add_test (tc, test_a_name_from_elsewhere_is_nobodys);
  tcase_add_test (tc, test_the_first_name_holds_until_it_changes_credibly);
  tcase_add_test (tc, test_a_name_that_somebody_has_is_nobody_elses);
  tcase_add_test (tc,
      test_a_name_that_is_said_holds_for_who_comes_from_elsewhere);
  tcase_add_test (tc, test_what_was_said_goes_with_who_said_it);
  tcase_add_test (tc, test_a_flood_of_names_drives_out_no_other_neighbours);
  return suite;
}

GST_CHECK_MAIN (partialmix_rtcp);
