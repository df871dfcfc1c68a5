/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Clients that mix for others when they are asked, and those who are sent there, or go
 * where somebody has time for them. */
#include "dpmcheck.h"
#include "fairmix/join/fmx-join-client.h"
#include "gstdpmcrypto.h"
#include "gstdpmsocket.h"

#define SPAN 480                /* 10 ms: tones are multiples of 100 Hz */
#define GONE_DB (TONE_DB - 10)
#define MOST_MS 20              /* that anybody may miss; 0 were seen */

static gint is_busy;            /* whether somebody is to be */

/* What somebody hears, from now on. */
typedef struct
{
  GMutex lock;
  GArray *samples;              /* of both ears, added */
} Recording;

static void
on_recorded (GstElement * sink, GstBuffer * buffer, GstPad * pad, gpointer data)
{
  Recording *recording = data;
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_READ);
  g_mutex_lock (&recording->lock);
  for (gsize i = 0; i < map.size / 4; i++) {
    gint16 ears[2];
    gint sum;

    memcpy (ears, map.data + 4 * i, 4);
    sum = ears[0] + ears[1];
    g_array_append_val (recording->samples, sum);
  }
  g_mutex_unlock (&recording->lock);
  gst_buffer_unmap (buffer, &map);
}

static void
recording_begin (Recording * recording, Person * person)
{
  GstElement *ears = gst_bin_get_by_name (GST_BIN (person->pipeline), "ears");

  g_mutex_init (&recording->lock);
  recording->samples = g_array_new (FALSE, FALSE, sizeof (gint));
  g_signal_connect (ears, "handoff", G_CALLBACK (on_recorded), recording);
  gst_object_unref (ears);
}

/* Waits until there is half a second more. */
static void
recording_go_on (Recording * recording)
{
  gint64 end = patient_clock_now_us () + PATIENCE_US;
  guint until = 0, n = 0;

  while (n == 0 || n < until) {
    g_mutex_lock (&recording->lock);
    n = recording->samples->len;
    g_mutex_unlock (&recording->lock);
    until = until == 0 ? n + RATE / 2 : until;
    fail_if (patient_clock_now_us () > end, "%u of %u samples", n, until);
    g_usleep (LOOK_US);
  }
}

/* Ends it.  Returns: the longest time without the tone, in ms */
static guint
recording_end (Recording * recording, Person * person, guint hz)
{
  GstElement *ears = gst_bin_get_by_name (GST_BIN (person->pipeline), "ears");
  gdouble w = 2 * G_PI * hz / RATE;
  guint longest = 0, now = 0;

  recording_go_on (recording);
  g_signal_handlers_disconnect_by_func (ears, on_recorded, recording);
  gst_object_unref (ears);
  g_mutex_lock (&recording->lock);
  for (guint begin = 0; begin + SPAN <= recording->samples->len; begin += SPAN) {
    gdouble s1 = 0, s2 = 0, db;

    for (guint i = 0; i < SPAN; i++) {
      gdouble s = g_array_index (recording->samples, gint, begin + i) / 32768.0
          + 2 * cos (w) * s1 - s2;

      s2 = s1;
      s1 = s;
    }
    db = 10 * log10 (1e-12 + (s1 * s1 + s2 * s2 - 2 * cos (w) * s1 * s2) * 4.0
        / SPAN / SPAN);
    now = db < GONE_DB ? now + 1 : 0;
    longest = MAX (longest, now);
  }
  g_mutex_unlock (&recording->lock);
  g_array_unref (recording->samples);
  g_mutex_clear (&recording->lock);
  return longest * 10;
}

/* Returns: the number that @mixer has given to who is called so */
static guint
number_of (Person * mixer, const gchar * name)
{
  GstStructure *stats;
  const GValue *neighbours;
  guint number = 0;

  g_object_get (mixer->dpm, "stats", &stats, NULL);
  neighbours = gst_structure_get_value (stats, "neighbours");
  for (guint i = 0; i < gst_value_array_get_size (neighbours); i++) {
    const GstStructure *s =
        gst_value_get_structure (gst_value_array_get_value (neighbours, i));

    if (g_strcmp0 (gst_structure_get_string (s, "name"), name) == 0)
      gst_structure_get_uint (s, "neighbour", &number);
  }
  gst_structure_free (stats);
  fail_unless (number > 0, "%s is not there", name);
  return number;
}

typedef struct
{
  Person *mixer, *alice, *bob, *carol;
} Meeting;

/* alice is willing; bob goes to her. */
static void
meeting_begin (Meeting * m)
{
  m->mixer = mixer_new ("secret=sesame");
  m->alice = client_new (m->mixer, "alice", 400, "secret=sesame may-mix=true");
  m->bob = client_new (m->mixer, "bob", 600, "secret=sesame");
  m->carol = client_new (m->mixer, "carol", 900, "secret=sesame");
  wait_for_tone (m->alice, 600, TRUE);
  wait_for_tone (m->bob, 400, TRUE);
  wait_for_tone (m->bob, 900, TRUE);
  wait_for_tone (m->carol, 400, TRUE);
  wait_for_tone (m->carol, 600, TRUE);
}

static void
meeting_move (Meeting * m)
{
  guint alice = number_of (m->mixer, "alice");

  g_signal_emit_by_name (m->mixer->dpm, "ask-to-mix", alice, TRUE);
  expect_message (m->mixer, "dpm-topology", "event", "mixes");
  g_signal_emit_by_name (m->mixer->dpm, "move", number_of (m->mixer, "bob"),
      alice);
  expect_message (m->mixer, "dpm-topology", "event", "moved");
  wait_for_stat (m->alice, "n-neighbours", 1);
}

static void
meeting_hear (Meeting * m)
{
  wait_for_tone (m->alice, 600, TRUE);
  wait_for_tone (m->alice, 900, TRUE);
  wait_for_tone (m->bob, 400, TRUE);
  wait_for_tone (m->bob, 900, TRUE);
  wait_for_tone (m->bob, 600, FALSE);
  wait_for_tone (m->carol, 400, TRUE);
  wait_for_tone (m->carol, 600, TRUE);
}

/* Waits until who went to alice has heard from her what came.  Returns: how often it did
 * not believe that */
static guint64
wait_for_feedback (Person * person)
{
  gint64 end = patient_clock_now_us () + PATIENCE_US;
  guint64 n = 0, n_refused = 0;

  while (n < 3) {
    GstStructure *stats, *rate = NULL;

    fail_if (patient_clock_now_us () > end, "%u, and %u refused", (guint) n,
        (guint) n_refused);
    g_usleep (LOOK_US);
    g_object_get (person->dpm, "stats", &stats, NULL);
    gst_structure_get (stats, "rate", GST_TYPE_STRUCTURE, &rate, NULL);
    gst_structure_get (rate, "n-feedback", G_TYPE_UINT64, &n, "n-refused",
        G_TYPE_UINT64, &n_refused, NULL);
    gst_structure_free (rate);
    gst_structure_free (stats);
  }
  return n_refused;
}

/* Returns: how many messages of the mixer say @event, or (%NULL) anything, of those who
 * mix, since it was looked for last */
static guint
count_messages (Person * mixer, const gchar * event)
{
  GstBus *bus = gst_element_get_bus (mixer->pipeline);
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT)) != NULL) {
    n += gst_message_has_name (message, "dpm-topology")
        && (event == NULL
        ||
        g_strcmp0 (gst_structure_get_string (gst_message_get_structure
                (message), "event"), event) == 0);
    gst_message_unref (message);
  }
  gst_object_unref (bus);
  return n;
}

static void
meeting_end (Meeting * m)
{
  if (m->alice != NULL)
    person_free (m->alice);
  person_free (m->bob);
  person_free (m->carol);
  person_free (m->mixer);
}

GST_START_TEST (test_one_mixes_for_another_who_hears_all_the_time)
{
  static Recording by_bob, by_carol;
  guint bob_ms, carol_ms;
  Meeting m;

  meeting_begin (&m);
  recording_begin (&by_bob, m.bob);
  recording_begin (&by_carol, m.carol);
  meeting_move (&m);
  meeting_hear (&m);
  fail_unless_equals_uint64 (wait_for_feedback (m.bob), 0);
  bob_ms = recording_end (&by_bob, m.bob, 900);
  carol_ms = recording_end (&by_carol, m.carol, 600);
  GST_INFO ("bob %u ms, carol %u ms", bob_ms, carol_ms);
  fail_unless (bob_ms <= MOST_MS, "bob missed %u ms of carol", bob_ms);
  fail_unless (carol_ms <= MOST_MS, "carol missed %u ms of bob", carol_ms);
  fail_unless_equals_uint64 (mixer_stat_of (m.mixer, "n-collisions"), 0);
  fail_unless_equals_uint64 (stat_of (m.mixer, "n-neighbours"), 2);
  fail_unless_equals_uint64 (stat_of (m.bob, "n-moves"), 1);
  /* who mixes says so each second */
  fail_unless_equals_int (count_messages (m.mixer, "mixes"), 0);
  check_no_errors (m.bob);
  meeting_end (&m);
}

GST_END_TEST;

/* Who was sent away comes back: because the mixer has been told to stop, and then nobody
 * else misses anything of who comes back, or leaves. */
GST_START_TEST (test_when_it_mixes_no_more_they_are_back)
{
  static Recording by_carol;
  guint carol_ms;
  Meeting m;

  meeting_begin (&m);
  meeting_move (&m);
  meeting_hear (&m);
  if (__i__ == 0) {
    recording_begin (&by_carol, m.carol);
    g_signal_emit_by_name (m.mixer->dpm, "ask-to-mix",
        number_of (m.mixer, "alice"), FALSE);
    expect_message (m.mixer, "dpm-topology", "event", "mixes-no-more");
    wait_for_stat (m.bob, "n-moves", 2);
    meeting_hear (&m);
    carol_ms = recording_end (&by_carol, m.carol, 600);
    fail_unless (carol_ms <= MOST_MS, "carol missed %u ms of bob", carol_ms);
    fail_unless_equals_uint64 (mixer_stat_of (m.mixer, "n-collisions"), 0);
  } else {
    person_free (m.alice);
    m.alice = NULL;
    wait_for_tone (m.bob, 400, FALSE);
    wait_for_tone (m.bob, 900, TRUE);
    wait_for_tone (m.carol, 600, TRUE);
  }
  wait_for_stat (m.mixer, "n-neighbours", __i__ == 0 ? 3 : 2);
  meeting_end (&m);
}

GST_END_TEST;

/* Nobody mixes there: bob stays where he is; nobody comes in before he is asked. */
GST_START_TEST (test_who_does_not_mix_lets_nobody_in)
{
  Meeting m;
  Person *dave;

  meeting_begin (&m);
  g_signal_emit_by_name (m.mixer->dpm, "move", number_of (m.mixer, "bob"),
      number_of (m.mixer, "carol"));
  dave = client_new (m.alice, "dave", 1200, "secret=sesame");
  wait_for_stat (m.bob, "n-failed-moves", 1);
  wait_for_stat (dave, "n-attempts", 1);
  wait_for_tone (m.bob, 900, TRUE);
  fail_unless_equals_uint64 (stat_of (m.bob, "n-moves"), 0);
  fail_unless_equals_uint64 (stat_of (m.alice, "n-joined"), 0);
  person_free (dave);
  meeting_end (&m);
}

GST_END_TEST;

/* Whoever wants to join is told that there is no time for them. */
static gpointer
have_no_time (gpointer data)
{
  FmxJoinMessage hello, refuse = {.type = FMX_JOIN_REFUSE };
  guint8 datagram[FMX_JOIN_MAX_BYTES];
  GstDpmSocket *socket = data;
  FmxJoinAddress from;

  refuse.u.refuse.reason = FMX_JOIN_REASON_BUSY;
  while (g_atomic_int_get (&is_busy)) {
    gsize size;

    gst_dpm_socket_wait (socket, 2000, NULL);
    size = gst_dpm_socket_receive (socket, datagram, sizeof datagram, &from);
    if (fmx_join_message_parse (&hello, datagram, size) != FMX_JOIN_VALID)
      continue;
    memcpy (refuse.u.refuse.nonce, hello.u.hello.nonce, FMX_JOIN_NONCE_BYTES);
    gst_dpm_socket_send (socket, datagram, fmx_join_message_write (&refuse,
            datagram), &from);
  }
  return NULL;
}

/* It says so, once, and the next one is tried. */
GST_START_TEST (test_a_server_that_stays_busy_is_told_and_left)
{
  GstDpmSocket busy = { 0 };
  Person *mixer = mixer_new (""), *alice;
  GThread *thread;
  gchar *line;

  fail_unless (gst_dpm_socket_open (&busy, "127.0.0.1", 0, NULL));
  g_atomic_int_set (&is_busy, TRUE);
  thread = g_thread_new ("busy", have_no_time, &busy);
  line = g_strdup_printf ("dpmclient name=dpm address=127.0.0.1 "
      "server=127.0.0.1:%u,127.0.0.1:%u" EARS, gst_dpm_socket_get_port (&busy),
      (guint) stat_of (mixer, "port"));
  alice = person_start (person_new (line));
  expect_message (alice, "dpm-session", "reason", "busy");
  expect_message (alice, "dpm-session", "event", "joined");
  check_no_errors (alice);
  g_atomic_int_set (&is_busy, FALSE);
  g_thread_join (thread);
  gst_dpm_socket_close (&busy);
  person_free (alice);
  person_free (mixer);
  g_free (line);
}

GST_END_TEST;

/* Somebody who does the protocol by hand, and may mix */
typedef struct
{
  GstDpmSocket socket;
  GstDpmCrypto crypto;
  FmxJoinClient client;
  FmxJoinAddress mixer;
} Guest;

static gboolean
guest_send (Guest * guest, const FmxJoinClientResult * result)
{
  if (result->size > 0)
    fail_unless (gst_dpm_socket_send (&guest->socket, result->data,
            result->size, &guest->mixer));
  return result->event == FMX_JOIN_CLIENT_JOINED;
}

static void
guest_join (Guest * guest, Person * mixer)
{
  FmxJoinAddress from = {.ip = {[10] = 0xff,[11] = 0xff, 127, 0, 0, 1} };
  FmxJoinClientParams params;
  FmxJoinClientResult result;
  guint8 data[FMX_JOIN_MAX_BYTES + 1];
  FmxJoinSecret secret;
  gboolean joined = FALSE;
  gsize size;

  from.port = (uint16_t) stat_of (mixer, "port");
  guest->mixer = from;
  fmx_join_secret_set (&secret, "sesame", 6);
  fmx_join_client_params_default (&params);
  params.flags |= FMX_JOIN_MAY_MIX;
  gst_dpm_crypto_init (&guest->crypto);
  fail_unless (gst_dpm_socket_open (&guest->socket, "127.0.0.1", 0, NULL));
  fmx_join_client_init (&guest->client, &params, &guest->crypto.join, &secret,
      1);
  fail_unless (fmx_join_client_on_timeout (&guest->client, &result, 1));
  guest_send (guest, &result);
  while (!joined) {
    gst_dpm_socket_wait (&guest->socket, -1, NULL);
    while ((size = gst_dpm_socket_receive (&guest->socket, data, sizeof data,
                &from)) > 0) {
      fmx_join_client_on_datagram (&guest->client, data, size, &result, 1);
      joined |= guest_send (guest, &result);
    }
  }
}

/* Whoever says by turns that it mixes, and that it does not, is heard; but an application
 * that reads of it now and then need not read all of that. */
GST_START_TEST (test_who_changes_its_mind_all_the_time_is_told_of_now_and_then)
{
  Person *mixer = mixer_new ("secret=sesame");
  gint64 since_us = patient_clock_now_us ();
  FmxJoinClientResult result;
  Guest guest;
  guint n;

  guest_join (&guest, mixer);
  expect_message (mixer, "dpm-neighbour", "event", "joined");
  for (guint i = 0; i < 200; i++) {
    FmxJoinMixing mixing = { i % 2 == 0, 0, 0 };

    fmx_join_client_answer (&guest.client, &mixing, NULL, 0, &result);
    guest_send (&guest, &result);
    g_usleep (1000);
  }
  n = count_messages (mixer, NULL);
  fail_unless (n <= 2 + (patient_clock_now_us () - since_us) / (200 * 1000),
      "%u messages", n);
  gst_dpm_socket_close (&guest.socket);
  gst_dpm_crypto_clear (&guest.crypto);
  person_free (mixer);
}

GST_END_TEST;

static Suite *
dpmmixer_moves_suite (void)
{
  Suite *s = suite_create ("dpmmixer-moves");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, NULL, everybody_leaves);
  tcase_add_test (tc, test_one_mixes_for_another_who_hears_all_the_time);
  tcase_add_loop_test (tc, test_when_it_mixes_no_more_they_are_back, 0, 2);
  tcase_add_test (tc, test_who_does_not_mix_lets_nobody_in);
  tcase_add_test (tc, test_a_server_that_stays_busy_is_told_and_left);
  tcase_add_test (tc,
      test_who_changes_its_mind_all_the_time_is_told_of_now_and_then);
  return s;
}

GST_CHECK_MAIN (dpmmixer_moves);
