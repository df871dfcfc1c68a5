/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A port and its neighbours over loopback, without a graph: what happens when a session
 * has lasted long, and when more join than somebody can build for. */
#include "../gstfairmixcheck.h"
#include "gstdpmcrypto.h"
#include "gstdpmport.h"

#define LOOK_US (5 * 1000)
#define PATIENCE_US (60 * G_USEC_PER_SEC)
#define ANSWER_US (20 * 1000)   /* a mixer answers only so many HELLOs a second */
#define LONG (1000 * FMX_SECOND)        /* no machine is busy for so long */
#define ROUND_TRIPS 70          /* more than datagrams are read in a row */

typedef struct
{
  GstDpmPort *port;
  GstDpmPeer *server;           /* of who joins */
  gint n_at_gate, n_joined, n_left, n_replaced, n_refused;      /* atomic */
  GMutex gate;                  /* who is told of a neighbour goes through it */
} End;

static void
on_joined (gpointer user, GstDpmPeer * peer)
{
  End *end = user;

  (void) peer;
  g_atomic_int_inc (&end->n_at_gate);
  g_mutex_lock (&end->gate);
  g_mutex_unlock (&end->gate);
  g_atomic_int_inc (&end->n_joined);
}

static void
on_left (gpointer user, GstDpmPeer * peer, FmxJoinReason reason)
{
  End *end = user;

  (void) peer;
  if (reason == FMX_JOIN_REASON_REPLACED)
    g_atomic_int_inc (&end->n_replaced);
  g_atomic_int_inc (&end->n_left);
}

static void
on_refused (gpointer user, const gchar * address, FmxJoinReason reason)
{
  End *end = user;

  (void) address;
  (void) reason;
  g_atomic_int_inc (&end->n_refused);
}

static void
on_uplink (gpointer user, FmxJoinClientEvent event, FmxJoinReason reason,
    gboolean last)
{
  End *end = user;

  (void) reason;
  (void) last;
  if (event == FMX_JOIN_CLIENT_JOINED)
    g_atomic_int_inc (&end->n_joined);
  if (event == FMX_JOIN_CLIENT_LEFT)
    g_atomic_int_inc (&end->n_left);
}

static GstFlowReturn
on_received (gpointer user, GstPad * pad, GstBuffer * buffer)
{
  (void) user;
  (void) pad;
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static void
on_tick (gpointer user, FmxTime now)
{
  (void) user;
  (void) now;
}

static const GstDpmPortCallbacks callbacks = {
  on_joined, on_left, on_refused, on_uplink, NULL, on_received, on_tick
};

static const FmxJoinSecret secret = { 6, "sesame" };

static void
end_open (End * end)
{
  fail_unless (gst_dpm_port_open (end->port, "127.0.0.1", 0, NULL));
  gst_dpm_port_start (end->port);
}

static End *
end_new (void)
{
  End *end = g_new0 (End, 1);

  g_mutex_init (&end->gate);
  end->port = gst_dpm_port_new (&callbacks, end);
  return end;
}

static void
end_free (End * end)
{
  gst_dpm_port_free (end->port);
  g_mutex_clear (&end->gate);
  g_free (end);
}

static End *
mixer_new (void)
{
  End *mixer = end_new ();
  FmxJoinMixerParams params;

  fmx_join_mixer_params_default (&params);
  params.node = 1;
  params.timeout = params.confirm_timeout = LONG;
  fail_unless (gst_dpm_port_serve (mixer->port, &params, &secret));
  end_open (mixer);
  return mixer;
}

static End *
client_new (End * mixer)
{
  End *client = end_new ();
  gchar *server = g_strdup_printf ("127.0.0.1:%u",
      gst_dpm_port_get_number (mixer->port));
  FmxJoinClientParams params;

  fmx_join_client_params_default (&params);
  params.suspect_after = params.timeout = LONG;
  client->server = gst_dpm_port_connect (client->port, server, &params,
      &secret, NULL);
  fail_unless (client->server != NULL);
  g_free (server);
  end_open (client);
  return client;
}

static void
wait_for (const gint * counter, gint least)
{
  gint64 end = g_get_monotonic_time () + PATIENCE_US;

  while (g_atomic_int_get (counter) < least) {
    fail_if (g_get_monotonic_time () > end, "%d of %d",
        g_atomic_int_get (counter), least);
    g_usleep (LOOK_US);
  }
}

/* Many come and go while a session lasts, and each has an SSRC.  When those that SRTP
 * must remember get many, the session gets other keys; nothing is lost. */
GST_START_TEST (test_a_session_in_which_many_have_talked_gets_new_keys)
{
  End *mixer = mixer_new (), *client = client_new (mixer);
  const guint n = GST_DPM_MAX_SSRCS / 4 * 3;
  GstDpmPeerStats stats;

  wait_for (&mixer->n_joined, 1);
  wait_for (&client->n_joined, 1);      /* it has its keys after it has said PING */
  for (gint round = 1; round < 3; round++) {
    for (guint i = 0; i < n; i++) {
      GstBuffer *buffer = rtp_packet_new (10000 * round + i, 1, 60);

      gst_dpm_port_send (client->port, client->server, buffer, FALSE);
      gst_buffer_unref (buffer);
    }
    wait_for (&mixer->n_joined, 1 + round);
    wait_for (&client->n_joined, 1 + round);
  }
  fail_unless_equals_int (g_atomic_int_get (&mixer->n_replaced), 2);
  fail_unless_equals_int (g_atomic_int_get (&client->n_left), 0);
  gst_dpm_peer_get_stats (client->server, &stats);
  fail_unless_equals_uint64 (stats.n_protect_failed, 0);
  end_free (client);
  end_free (mixer);
}

GST_END_TEST;

/* --- somebody who does the protocol by hand -------------------------------- */

typedef struct
{
  GstDpmSocket socket;
  GstDpmCrypto crypto;
  FmxJoinClient client;
  FmxJoinAddress mixer;
  const FmxJoinSecret *secret;
  guint n_cookies, n_joined, n_refused;
} Guest;

static Guest *
guest_new (End * mixer)
{
  Guest *guest = g_new0 (Guest, 1);

  guest->mixer = (FmxJoinAddress) { {
  [10] = 0xff,[11] = 0xff, 127, 0, 0, 1},
      (guint16) gst_dpm_port_get_number (mixer->port), 0};
  guest->secret = &secret;
  gst_dpm_crypto_init (&guest->crypto);
  fail_unless (gst_dpm_socket_open (&guest->socket, "127.0.0.1", 0, NULL));
  return guest;
}

static void
guest_free (Guest * guest)
{
  gst_dpm_socket_close (&guest->socket);
  gst_dpm_crypto_clear (&guest->crypto);
  g_free (guest);
}

static void
guest_send (Guest * guest, const FmxJoinClientResult * result)
{
  guest->n_joined += result->event == FMX_JOIN_CLIENT_JOINED;
  guest->n_refused += result->event == FMX_JOIN_CLIENT_REFUSED;
  if (result->size > 0)
    fail_unless (gst_dpm_socket_send (&guest->socket, result->data,
            result->size, &guest->mixer));
}

/* Returns: whether anything came */
static gboolean
guest_read (Guest * guest)
{
  guint8 data[FMX_JOIN_MAX_BYTES + 1];
  FmxJoinClientResult result;
  FmxJoinAddress from;
  gsize size;

  if (!gst_dpm_socket_wait (&guest->socket, ANSWER_US, NULL))
    return FALSE;
  while ((size = gst_dpm_socket_receive (&guest->socket, data, sizeof data,
              &from)) > 0) {
    guest->n_cookies += data[4] == FMX_JOIN_COOKIE;
    fmx_join_client_on_datagram (&guest->client, data, size, &result, 1);
    guest_send (guest, &result);
  }
  return TRUE;
}

/* Says HELLO until there is a cookie. */
static void
guest_ask (Guest * guest, const guint8 * hello, gsize size)
{
  gint64 end = g_get_monotonic_time () + PATIENCE_US;
  guint n_cookies = guest->n_cookies;
  gboolean heard = FALSE;

  while (guest->n_cookies == n_cookies) {
    fail_if (g_get_monotonic_time () > end, "there is no cookie");
    if (!heard)
      gst_dpm_socket_send (&guest->socket, hello, size, &guest->mixer);
    heard = guest_read (guest);
  }
}

/* So many round trips that who receives has looked at who waits, until there is an
 * answer. */
static void
guest_wait (Guest * guest)
{
  FmxJoinMessage hello = {.type = FMX_JOIN_HELLO };
  guint8 data[FMX_JOIN_MAX_BYTES];
  gsize size = fmx_join_message_write (&hello, data);
  guint n_joined = guest->n_joined, n_refused = guest->n_refused;

  for (guint i = 0; i < ROUND_TRIPS && guest->n_joined == n_joined
      && guest->n_refused == n_refused; i++)
    guest_ask (guest, data, size);
}

/* Joins, in place of what it was before.  Returns: whether it was let in */
static gboolean
guest_join (Guest * guest)
{
  guint n_joined = guest->n_joined;
  FmxJoinClientParams params;
  FmxJoinClientResult result;

  fmx_join_client_params_default (&params);
  fmx_join_client_init (&guest->client, &params, &guest->crypto.join,
      guest->secret, 1);
  fail_unless (fmx_join_client_on_timeout (&guest->client, &result, 1));
  guest_ask (guest, result.data, result.size);  /* who reads the cookie says JOIN */
  guest_wait (guest);
  return guest->n_joined > n_joined;
}

/* Whoever builds what neighbours need is at the first one; who comes meanwhile waits at
 * the door, and nothing piles up behind it. */
GST_START_TEST (test_nobody_is_let_in_whom_nobody_can_serve)
{
  End *mixer = mixer_new ();
  Guest *guest = guest_new (mixer);
  guint n = 0;

  g_mutex_lock (&mixer->gate);
  while (n < 90 && guest_join (guest))
    n++;
  fail_unless (n > 10 && n < 50, "%u", n);
  g_mutex_unlock (&mixer->gate);
  while (guest->n_joined == n)
    guest_join (guest);
  wait_for (&mixer->n_replaced, (gint) n);
  guest_free (guest);
  end_free (mixer);
}

GST_END_TEST;

#define STRANGERS 20

/* Whoever tells is at the first neighbour, while strangers knock without the secret: it
 * has a few of them to tell of then, and nobody who knows the secret behind all of them. */
GST_START_TEST (test_of_many_strangers_a_few_are_told)
{
  const FmxJoinSecret wrong = { 5, "sesam" };
  End *mixer = mixer_new ();
  Guest *guest = guest_new (mixer), *stranger = guest_new (mixer);
  GstStructure *stats = gst_structure_new_empty ("stats");
  guint64 n_wrong = 0;

  stranger->secret = &wrong;
  g_mutex_lock (&mixer->gate);
  fail_unless (guest_join (guest));
  wait_for (&mixer->n_at_gate, 1);      /* no tick comes before it has gone on */
  while (stranger->n_refused < STRANGERS)
    guest_join (stranger);
  g_mutex_unlock (&mixer->gate);
  while (guest->n_joined < 2)
    guest_join (guest);
  wait_for (&mixer->n_joined, 2);
  gst_dpm_port_add_stats (mixer->port, stats);
  fail_unless (gst_structure_get_uint64 (stats, "n-wrong-secret", &n_wrong));
  fail_unless (n_wrong >= STRANGERS);
  fail_unless_equals_int (g_atomic_int_get (&mixer->n_refused), 5);
  gst_structure_free (stats);
  guest_free (guest);
  guest_free (stranger);
  end_free (mixer);
}

GST_END_TEST;

static Suite *
dpmport_suite (void)
{
  Suite *s = suite_create ("dpmport");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_a_session_in_which_many_have_talked_gets_new_keys);
  tcase_add_test (tc, test_nobody_is_let_in_whom_nobody_can_serve);
  tcase_add_test (tc, test_of_many_strangers_a_few_are_told);
  return s;
}

GST_CHECK_MAIN (dpmport);
