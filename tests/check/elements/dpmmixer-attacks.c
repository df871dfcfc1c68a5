/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Somebody on the way and somebody elsewhere against a meeting: what they do is
 * refused and counted, and nobody else notices. */
#include "dpmcheck.h"
#include "dpmrelay.h"
#include "gstdpmcrypto.h"

typedef struct
{
  Person *mixer, *alice, *bob;
  Relay *relay;                 /* between alice and the mixer */
} Meeting;

static Meeting
meeting_new (void)
{
  Meeting m;

  m.mixer = mixer_new ("secret=sesame");
  m.relay = relay_new ((guint) stat_of (m.mixer, "port"));
  m.alice = person_start (client_make (relay_port (m.relay), "alice", 440,
          "secret=sesame"));
  m.bob = client_new (m.mixer, "bob", 660, "secret=sesame");
  wait_for_tone (m.bob, 440, TRUE);
  wait_for_tone (m.alice, 660, TRUE);
  return m;
}

/* Nobody has noticed anything. */
static void
meeting_end (Meeting * m)
{
  fail_unless_equals_uint64 (stat_of (m->mixer, "n-neighbours"), 2);
  fail_unless_equals_uint64 (stat_of (m->mixer, "n-left"), 0);
  wait_for_tone (m->bob, 440, TRUE);
  wait_for_tone (m->alice, 660, TRUE);
  check_no_errors (m->mixer);
  check_no_errors (m->alice);
  check_no_errors (m->bob);
  person_free (m->alice);
  person_free (m->bob);
  relay_free (m->relay);
  person_free (m->mixer);
}

/* Returns: a number of what the mixer says of a neighbour */
static guint64
neighbour_stat (Person * mixer, const gchar * name, const gchar * field)
{
  const GValue *neighbours;
  GstStructure *stats;
  guint64 n = 0;
  gboolean found = FALSE;

  g_object_get (mixer->dpm, "stats", &stats, NULL);
  neighbours = gst_structure_get_value (stats, "neighbours");
  for (guint i = 0; i < gst_value_array_get_size (neighbours); i++) {
    const GstStructure *s =
        gst_value_get_structure (gst_value_array_get_value (neighbours, i));

    if (g_strcmp0 (gst_structure_get_string (s, "name"), name) == 0)
      found = gst_structure_get_uint64 (s, field, &n);
  }
  fail_unless (found, "no %s of %s", field, name);
  gst_structure_free (stats);
  return n;
}

static void
wait_for_neighbour_stat (Person * mixer, const gchar * name,
    const gchar * field, guint64 least)
{
  gint64 end = patient_clock_now_us () + PATIENCE_US;

  while (neighbour_stat (mixer, name, field) < least) {
    fail_if (patient_clock_now_us () > end, "%s: %" G_GUINT64_FORMAT, field,
        neighbour_stat (mixer, name, field));
    g_usleep (LOOK_US);
  }
}

static RelayPacket packets[RELAY_KEEPS];

GST_START_TEST (test_packets_played_back_are_refused)
{
  Meeting m = meeting_new ();
  guint n = relay_copy (m.relay, TRUE, 0x80, 0x3f, packets);

  fail_unless (n > 3);
  for (guint i = 0; i < n; i++)
    relay_say (m.relay, packets[i].data, packets[i].size);
  wait_for_neighbour_stat (m.mixer, "alice", "n-replayed", n);
  meeting_end (&m);
}

GST_END_TEST;

GST_START_TEST (test_packets_that_were_changed_are_refused)
{
  Meeting m = meeting_new ();
  guint n = relay_copy (m.relay, TRUE, 0x80, 0x3f, packets);

  for (guint i = 0; i < n; i++) {
    if (packets[i].data[1] == 205 || packets[i].data[1] == 201)
      packets[i].data[7] ^= 1;  /* RTCP: another sender */
    else
      packets[i].data[2]++;     /* RTP: 256 packets later */
    relay_say (m.relay, packets[i].data, packets[i].size);
  }
  wait_for_neighbour_stat (m.mixer, "alice", "n-forged", n);
  meeting_end (&m);
}

GST_END_TEST;

/* Genuine packets, but from elsewhere: nobody is there. */
GST_START_TEST (test_packets_from_a_foreign_address_are_refused)
{
  Meeting m = meeting_new ();
  GstDpmSocket elsewhere = { 0 };
  guint n = relay_copy (m.relay, TRUE, 0x80, 0x3f, packets);

  fail_unless (gst_dpm_socket_open (&elsewhere, "127.0.0.1", 0, NULL));
  for (guint i = 0; i < n; i++)
    gst_dpm_socket_send (&elsewhere, packets[i].data, packets[i].size,
        &m.relay->mixer);
  wait_for_stat (m.mixer, "n-foreign", n);
  gst_dpm_socket_close (&elsewhere);
  meeting_end (&m);
}

GST_END_TEST;

/* A BYE and a report of loss as RTCP has them, without the keys */
GST_START_TEST (test_forged_rtcp_is_refused)
{
  Meeting m = meeting_new ();
  guint8 bye[] = { 0x81, 203, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 1
  };
  guint8 feedback[60] = { 0x8b, 205, 0, 5, 0, 0, 0, 1 };
  guint n = relay_copy (m.relay, TRUE, 0x80, 0x3f, packets);

  for (guint i = 0; i < n; i++) {
    memcpy (bye + 4, packets[i].data + 8, 4);   /* alice's SSRC */
    relay_say (m.relay, bye, sizeof bye);
    relay_say (m.relay, bye, 8);
    relay_say (m.relay, feedback, sizeof feedback);
  }
  wait_for_neighbour_stat (m.mixer, "alice", "n-forged", 2 * n);
  meeting_end (&m);
}

GST_END_TEST;

GST_START_TEST (test_a_forged_goodbye_is_refused)
{
  Meeting m = meeting_new ();
  guint n_bad = 0, n;

  wait_for_stat (m.alice, "rtt", 1);    /* there was a PING */
  n = relay_copy (m.relay, TRUE, 'd', 0, packets);
  for (guint i = 0; i < n; i++)
    if (packets[i].data[4] == FMX_JOIN_PING) {
      relay_say (m.relay, packets[i].data, packets[i].size);    /* again */
      packets[i].data[4] = FMX_JOIN_BYE;
      relay_say (m.relay, packets[i].data, packets[i].size);
      n_bad++;
    }
  fail_unless (n_bad > 0);
  wait_for_stat (m.mixer, "n-forged-control", n_bad);
  wait_for_stat (m.mixer, "n-replayed-control", n_bad);
  meeting_end (&m);
}

GST_END_TEST;

/* What the mixer said, back to it */
GST_START_TEST (test_packets_sent_back_are_refused)
{
  Meeting m = meeting_new ();
  guint n_media = relay_copy (m.relay, FALSE, 0x80, 0x3f, packets), n;

  for (guint i = 0; i < n_media; i++)
    relay_say (m.relay, packets[i].data, packets[i].size);
  wait_for_neighbour_stat (m.mixer, "alice", "n-forged", n_media);
  n = relay_copy (m.relay, FALSE, 'd', 0, packets);
  for (guint i = 0; i < n; i++)
    relay_say (m.relay, packets[i].data, packets[i].size);
  wait_for_stat (m.mixer, "n-invalid-control", n);
  meeting_end (&m);
}

GST_END_TEST;

/* The whole handshake played back: the same ACCEPT, or nothing at all */
GST_START_TEST (test_a_join_played_back_changes_nothing)
{
  Meeting m = meeting_new ();
  GstDpmSocket elsewhere = { 0 };
  guint n = relay_copy (m.relay, TRUE, 'd', 0, packets), n_joins = 0;

  fail_unless (gst_dpm_socket_open (&elsewhere, "127.0.0.1", 0, NULL));
  for (guint i = 0; i < n; i++)
    if (packets[i].data[4] == FMX_JOIN_JOIN) {
      relay_say (m.relay, packets[i].data, packets[i].size);
      gst_dpm_socket_send (&elsewhere, packets[i].data, packets[i].size,
          &m.relay->mixer);
      n_joins++;
    }
  fail_unless (n_joins > 0);
  wait_for_stat (m.mixer, "n-repeated-joins", n_joins);
  wait_for_stat (m.mixer, "n-bad-cookies", n_joins);
  fail_unless_equals_uint64 (stat_of (m.mixer, "n-pending"), 0);
  gst_dpm_socket_close (&elsewhere);
  meeting_end (&m);
}

GST_END_TEST;

GST_START_TEST (test_a_flood_of_hellos_costs_nobody_anything)
{
  Meeting m = meeting_new ();
  FmxJoinMessage hello = {.type = FMX_JOIN_HELLO };
  GstDpmSocket elsewhere = { 0 };
  guint8 data[FMX_JOIN_MAX_BYTES];
  guint64 before = stat_of (m.mixer, "n-hellos");

  fail_unless (gst_dpm_socket_open (&elsewhere, "127.0.0.1", 0, NULL));
  for (guint i = 0; i < 20000; i++) {
    gsize size;

    GST_WRITE_UINT32_BE (hello.u.hello.nonce, i);
    size = fmx_join_message_write (&hello, data);
    gst_dpm_socket_send (&elsewhere, data, size, &m.relay->mixer);
  }
  wait_for_stat (m.mixer, "n-hellos", before + 1000);
  fail_unless_equals_uint64 (stat_of (m.mixer, "n-pending"), 0);
  gst_dpm_socket_close (&elsewhere);
  meeting_end (&m);
}

GST_END_TEST;

static void
set_ssrc (Person * person, guint ssrc)
{
  GstIterator *it = gst_bin_iterate_all_by_element_factory_name (GST_BIN
      (person->pipeline), "rtpopuspay");
  GValue value = G_VALUE_INIT;

  fail_unless (gst_iterator_next (it, &value) == GST_ITERATOR_OK);
  g_object_set (g_value_get_object (&value), "ssrc", ssrc, NULL);
  g_value_unset (&value);
  gst_iterator_free (it);
}

/* A member who sends under another one's SSRC is one more voice, not his. */
GST_START_TEST (test_nobody_takes_over_the_stream_of_another)
{
  Person *mixer = mixer_new ("");
  guint port = (guint) stat_of (mixer, "port");
  Person *alice = client_make (port, "alice", 440, "");
  Person *mallory = client_make (port, "mallory", 990, "");
  Person *bob = client_new (mixer, "bob", 660, "");

  set_ssrc (alice, 1234);
  set_ssrc (mallory, 1234);
  person_start (alice);
  wait_for_tone (bob, 440, TRUE);
  person_start (mallory);
  wait_for_tone (bob, 990, TRUE);
  wait_for_tone (bob, 440, TRUE);
  person_free (mallory);
  wait_for_tone (bob, 990, FALSE);
  wait_for_tone (bob, 440, TRUE);
  person_free (alice);
  person_free (bob);
  person_free (mixer);
}

GST_END_TEST;

static Suite *
dpmmixer_attacks_suite (void)
{
  Suite *s = suite_create ("dpmmixer-attacks");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, NULL, everybody_leaves);
  tcase_add_test (tc, test_packets_played_back_are_refused);
  tcase_add_test (tc, test_packets_that_were_changed_are_refused);
  tcase_add_test (tc, test_packets_from_a_foreign_address_are_refused);
  tcase_add_test (tc, test_forged_rtcp_is_refused);
  tcase_add_test (tc, test_a_forged_goodbye_is_refused);
  tcase_add_test (tc, test_packets_sent_back_are_refused);
  tcase_add_test (tc, test_a_join_played_back_changes_nothing);
  tcase_add_test (tc, test_a_flood_of_hellos_costs_nobody_anything);
  tcase_add_test (tc, test_nobody_takes_over_the_stream_of_another);
  return s;
}

GST_CHECK_MAIN (dpmmixer_attacks);
