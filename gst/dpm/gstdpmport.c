/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmport-private.h"

#include "gstdpmportstats.h"
#include "common/gstfairmixstats.h"
#include "common/gstfairmixtos.h"

#define TICK (FMX_SECOND / 5)
#define SHORTEST_WAIT (1 * FMX_MSECOND)
#define RESOLVE_AGAIN (2 * FMX_SECOND)
#define MAX_PENDING 64          /* joins that are not confirmed yet */
#define BURST 64                /* datagrams between two looks at the clock */
#define MOVE_PACKETS 6          /* of media: the first ones from elsewhere */
#define ECN_MASK 3
#define DRAIN_US (400 * 1000)

static guint
address_hash (gconstpointer key)
{
  const FmxJoinAddress *address = key;
  guint hash = address->port;

  for (guint i = 0; i < sizeof address->ip; i++)
    hash = hash * 31 + address->ip[i];
  return hash;
}

static gboolean
address_equal (gconstpointer a, gconstpointer b)
{
  return fmx_join_address_same (a, b);
}

GstDpmPort *
gst_dpm_port_new (const GstDpmPortCallbacks * callbacks, gpointer user)
{
  GstDpmPort *port = g_new0 (GstDpmPort, 1);

  gst_dpm_peer_prepare ();
  port->callbacks = callbacks;
  port->user = user;
  port->clock = gst_system_clock_obtain ();
  gst_fairmix_lock_init (&port->lock, GST_FAIRMIX_RANK_PORT);
  port->wake_up = g_cancellable_new ();
  port->stopping = g_cancellable_new ();
  port->jobs = g_async_queue_new_full (gst_dpm_job_free);
  port->by_address = g_hash_table_new_full (address_hash, address_equal, g_free,
      (GDestroyNotify) gst_dpm_peer_unref);
  gst_dpm_crypto_init (&port->crypto);
  port->next_number = 1;
  return port;
}

void
gst_dpm_port_free (GstDpmPort * port)
{
  gst_dpm_port_stop (port);
  gst_dpm_uplink_free (port->uplink);
  gst_dpm_uplink_free (port->move.uplink);
  g_free (port->places);
  for (guint i = 0; i < port->n_sessions; i++)
    g_clear_pointer (&port->peers[i], gst_dpm_peer_unref);
  g_free (port->peers);
  if (port->sessions != NULL)
    gst_dpm_crypto_wipe (port->sessions,
        port->n_sessions * sizeof *port->sessions);
  g_free (port->sessions);
  gst_dpm_crypto_clear (&port->crypto);
  gst_dpm_crypto_wipe (&port->mixer, sizeof port->mixer);
  g_hash_table_unref (port->by_address);
  g_async_queue_unref (port->jobs);
  g_free (port->batch);
  g_free (port->knocks);
  g_object_unref (port->wake_up);
  g_object_unref (port->stopping);
  gst_object_unref (port->clock);
  gst_fairmix_lock_clear (&port->lock);
  g_free (port);
}

gboolean
gst_dpm_port_serve (GstDpmPort * port, const FmxJoinMixerParams * params,
    const FmxJoinSecret * secret)
{
  port->batch = g_new (GstDpmBatch, 1);
  port->batch->n = 0;
  port->n_sessions = params->max_clients + MAX_PENDING;
  port->sessions = g_new0 (FmxJoinSession, port->n_sessions);
  port->peers = g_new0 (GstDpmPeer *, port->n_sessions);
  port->places = g_new0 (GstDpmPlaces, port->n_sessions);
  port->serves = fmx_join_mixer_init (&port->mixer, params, &port->crypto.join,
      port->sessions, port->n_sessions);
  fmx_join_mixer_set_secret (&port->mixer, secret);
  return port->serves;
}

void
gst_dpm_port_serve_when_asked (GstDpmPort * port)
{
  port->max_mixing = port->mixer.params.max_clients;
  fmx_join_mixer_set_max_clients (&port->mixer, 0);
}

GstDpmPeer *
gst_dpm_port_connect (GstDpmPort * port, const gchar * server,
    const FmxJoinClientParams * params, const FmxJoinSecret * secret,
    GError ** error)
{
  GstDpmServers *servers = gst_dpm_servers_new (server, error);
  GstDpmUplink *uplink;

  if (servers == NULL)
    return NULL;
  uplink = g_new0 (GstDpmUplink, 1);
  uplink->servers = servers;
  uplink->params = *params;
  uplink->secret = *secret;
  uplink->crypto = g_new0 (GstDpmCrypto, 1);
  gst_dpm_crypto_init (uplink->crypto);
  /* who aligns takes for granted that the mixer above does */
  uplink->peer = gst_dpm_peer_new (port->next_number++, "", FMX_JOIN_IS_MIXER
      | FMX_JOIN_MAY_SEND | FMX_JOIN_MAY_RECEIVE
      | (params->flags & FMX_JOIN_ALIGNS), 0);
  port->uplink = uplink;
  return uplink->peer;
}

gboolean
gst_dpm_port_open (GstDpmPort * port, const gchar * address, guint number,
    GError ** error)
{
  return gst_dpm_socket_open (&port->socket, address, number, error);
}

gboolean
gst_dpm_port_set_ect (GstDpmPort * port)
{
  return gst_dpm_socket_set_ect (&port->socket);
}

guint
gst_dpm_port_get_number (GstDpmPort * port)
{
  return gst_dpm_socket_get_port (&port->socket);
}

/* --- the thread that receives -------------------------------------------- */

static gboolean
is_from (GstDpmPort * port, const GstDpmUplink * uplink,
    const FmxJoinAddress * from, const guint8 * data)
{
  static const guint of_mixers = 1u << FMX_JOIN_COOKIE | 1u << FMX_JOIN_ACCEPT
      | 1u << FMX_JOIN_REFUSE | 1u << FMX_JOIN_PONG | 1u << FMX_JOIN_BYE
      | 1u << FMX_JOIN_ASK | 1u << FMX_JOIN_MOVE;

  return uplink != NULL && uplink->resolved
      && (!port->serves || (data[4] < 32 && (of_mixers >> data[4] & 1)))
      && fmx_join_address_same (from, &uplink->address);
}

static void
on_join_message (GstDpmPort * port, const guint8 * data, gsize size,
    const FmxJoinAddress * from)
{
  FmxTime now = gst_dpm_port_now (port);
  FmxJoinClientResult result;

  gst_fairmix_lock_acquire (&port->lock);
  if (is_from (port, port->move.uplink, from, data)) {
    fmx_join_client_on_datagram (&port->move.uplink->client, data, size,
        &result, now);
    gst_dpm_move_act (port, &result, now);
  } else if (is_from (port, port->uplink, from, data)) {
    fmx_join_client_on_datagram (&port->uplink->client, data, size, &result,
        now);
    gst_dpm_uplink_act (port, &result, now);
  } else if (gst_dpm_port_is_open (port) || (port->serves
          && port->mixer.stats.n_sessions > 0)) {
    FmxJoinMixerResult theirs;

    fmx_join_mixer_on_datagram (&port->mixer, from, data, size, &theirs, now);
    if (theirs.event == FMX_JOIN_MIXER_KNOCKED)
      gst_dpm_port_note_knock (port, from, data, size);
    else
      gst_dpm_port_act_as_mixer (port, &theirs);
  } else {
    port->n_foreign++;
  }
  gst_fairmix_lock_release (&port->lock);
}

static void
batch_send (GstDpmPort * port)
{
  GstDpmBatch *batch = port->batch;

  gst_dpm_socket_send_all (&port->socket, batch->datagrams, batch->n);
  for (guint i = 0; i < batch->n; i++) {
    gst_dpm_peer_count_sent (batch->peers[i], batch->datagrams[i].sent);
    gst_dpm_peer_unref (batch->peers[i]);
  }
  batch->n = 0;
}

static void
batch_add (GstDpmPort * port, GstDpmPeer * peer, GstBuffer * buffer,
    gboolean rtcp)
{
  GstDpmBatch *batch = port->batch;
  GstDpmDatagram *datagram = &batch->datagrams[batch->n];

  datagram->size = gst_dpm_peer_protect (peer, buffer, rtcp, datagram->data,
      &datagram->to);
  if (datagram->size == 0)
    return;
  batch->peers[batch->n++] = gst_dpm_peer_ref (peer);
  if (batch->n == GST_DPM_MAX_DATAGRAMS)
    batch_send (port);
}

/* What follows from it is sent when all of it is there. */
static void
push (GstDpmPort * port, GstPad * pad, GstBuffer * buffer)
{
  if (port->batch != NULL)
    g_atomic_pointer_set (&port->batcher, g_thread_self ());
  port->callbacks->received (port->user, pad, buffer);
  if (port->batch != NULL) {
    g_atomic_pointer_set (&port->batcher, NULL);
    batch_send (port);
  }
}

static void
on_media (GstDpmPort * port, guint8 * data, gsize size,
    const FmxJoinAddress * from)
{
  guint8 tos = gst_dpm_socket_get_tos (&port->socket);
  gboolean elsewhere;
  GstBuffer *buffer;
  GstDpmPeer *peer;
  GstPad *pad;

  gst_fairmix_lock_acquire (&port->lock);
  peer = g_hash_table_lookup (port->by_address, from);
  if (peer != NULL)
    gst_dpm_peer_ref (peer);
  else
    port->n_foreign++;
  /* RTCP comes before there is anything to be heard [RFC5761 4] */
  elsewhere = port->move.uplink != NULL && port->move.uplink->peer == peer
      && (size < 2 || (data[1] & 0x60) != 0x40);
  gst_fairmix_lock_release (&port->lock);
  if (peer == NULL)
    return;
  buffer = gst_dpm_peer_receive (peer, data, size, &pad);
  if (buffer != NULL && elsewhere) {
    gst_fairmix_lock_acquire (&port->lock);
    if (port->move.uplink != NULL && port->move.uplink->peer == peer
        && ++port->move.n_heard == MOVE_PACKETS)
      gst_dpm_move_finish (port, gst_dpm_port_now (port));
    gst_fairmix_lock_release (&port->lock);
  }
  if (buffer != NULL && (tos & ECN_MASK) != 0)
    gst_fairmix_tos_attach (buffer, tos);
  if (buffer != NULL)
    push (port, pad, buffer);
  gst_clear_object (&pad);
  gst_dpm_peer_unref (peer);
}

static void
on_timeout (GstDpmPort * port)
{
  FmxTime now = gst_dpm_port_now (port);
  FmxJoinMixerResult theirs;
  FmxJoinClientResult ours;

  gst_fairmix_lock_acquire (&port->lock);
  while (port->serves && fmx_join_mixer_on_timeout (&port->mixer, &theirs, now))
    gst_dpm_port_act_as_mixer (port, &theirs);
  while (port->uplink != NULL && port->uplink->resolved
      && fmx_join_client_on_timeout (&port->uplink->client, &ours, now))
    gst_dpm_uplink_act (port, &ours, now);
  while (port->move.uplink != NULL
      && fmx_join_client_on_timeout (&port->move.uplink->client, &ours, now))
    gst_dpm_move_act (port, &ours, now);
  if (port->move.uplink != NULL && now >= port->move.patience)
    gst_dpm_move_finish (port, now);
  gst_fairmix_lock_release (&port->lock);
}

/* Returns: how long to wait; the clock may be slower than real time */
static guint64
wait_us (FmxTime until, FmxTime now)
{
  return (until > now + SHORTEST_WAIT ? until - now : SHORTEST_WAIT) / 1000;
}

/* Returns: how long there is nothing to do; -1: for ever */
static gint64
idle_us (GstDpmPort * port)
{
  FmxTime next = FMX_TIME_NONE, now = gst_dpm_port_now (port);

  if (port->n_knocks > 0)
    return gst_dpm_port_is_behind (port) ? SHORTEST_WAIT / 1000 : 0;
  gst_fairmix_lock_acquire (&port->lock);
  if (port->serves)
    next = fmx_join_mixer_next_timeout (&port->mixer);
  if (port->uplink != NULL && port->uplink->resolved)
    next = fmx_time_min (next,
        fmx_join_client_next_timeout (&port->uplink->client));
  if (port->move.uplink != NULL)
    next = fmx_time_min (next, fmx_time_min (port->move.patience,
            fmx_join_client_next_timeout (&port->move.uplink->client)));
  gst_fairmix_lock_release (&port->lock);
  if (next == FMX_TIME_NONE)
    return -1;
  return (gint64) wait_us (next, now);
}

static gpointer
receive_all (gpointer data)
{
  GstDpmPort *port = data;
  _Alignas (8) guint8 datagram[GST_DPM_MAX_PACKET_BYTES +
      GST_DPM_TRAILER_BYTES];
  FmxJoinAddress from;

  while (g_atomic_int_get (&port->running)) {
    gst_dpm_socket_wait (&port->socket, idle_us (port), port->wake_up);
    if (g_atomic_int_get (&port->running))
      g_cancellable_reset (port->wake_up);
    for (guint i = 0; i < BURST && g_atomic_int_get (&port->running); i++) {
      gsize size = gst_dpm_socket_receive (&port->socket, datagram,
          sizeof datagram, &from);

      if (size == 0)
        break;
      if (fmx_join_message_is (datagram, size))
        on_join_message (port, datagram, size, &from);
      else if (datagram[0] >> 6 == 2)   /* RTP and RTCP [RFC7983 7] */
        on_media (port, datagram, size, &from);
    }
    /* one at a time: what others say is not to wait */
    gst_dpm_port_admit (port);
    on_timeout (port);
  }
  return NULL;
}

/* --- the thread that tells ----------------------------------------------- */

static void
do_job (GstDpmPort * port, GstDpmJob * job)
{
  const GstDpmPortCallbacks *callbacks = port->callbacks;
  gchar *address;

  switch (job->kind) {
    case GST_DPM_JOB_JOINED:
      callbacks->joined (port->user, job->peer);
      break;
    case GST_DPM_JOB_LEFT:
      callbacks->left (port->user, job->peer, job->reason);
      break;
    case GST_DPM_JOB_REFUSED:
      address = gst_dpm_address_to_string (&job->address);
      callbacks->refused (port->user, address, job->reason);
      g_free (address);
      break;
    case GST_DPM_JOB_UPLINK:
      callbacks->uplink (port->user, job->event, job->reason, job->last);
      break;
    case GST_DPM_JOB_MIXES:
      callbacks->mixes (port->user, job->peer, &job->mixing);
      break;
    case GST_DPM_JOB_RESOLVE:
      gst_dpm_uplink_resolve (port);
      break;
    case GST_DPM_JOB_RESOLVE_LATER:
      port->resolve_at = gst_dpm_port_now (port) + RESOLVE_AGAIN;
      break;
    default:
      break;
  }
}

static gpointer
tell_all (gpointer data)
{
  GstDpmPort *port = data;
  FmxTime next_tick = gst_dpm_port_now (port) + TICK;
  gboolean end = FALSE;

  while (!end) {
    FmxTime now = gst_dpm_port_now (port);
    GstDpmJob *job =
        g_async_queue_timeout_pop (port->jobs, wait_us (next_tick, now));

    if (job != NULL) {
      end = job->kind == GST_DPM_JOB_END;
      do_job (port, job);
      gst_dpm_job_free (job);
    }
    if (!end && gst_dpm_port_now (port) >= next_tick) {
      port->callbacks->tick (port->user, gst_dpm_port_now (port));
      gst_dpm_mixing_tick (port);
      gst_dpm_uplink_tick (port);
      next_tick = gst_dpm_port_now (port) + TICK;
      if (port->resolve_at > 0 && next_tick > port->resolve_at) {
        port->resolve_at = 0;
        gst_dpm_uplink_resolve (port);
      }
    }
  }
  return NULL;
}

void
gst_dpm_port_start (GstDpmPort * port)
{
  g_atomic_int_set (&port->running, TRUE);
  if (port->uplink != NULL)
    gst_dpm_port_tell (port, gst_dpm_job_new (GST_DPM_JOB_RESOLVE, NULL,
            FMX_JOIN_REASON_NONE));
  port->teller = g_thread_new ("dpm-events", tell_all, port);
  port->receiver = g_thread_new ("dpm-receive", receive_all, port);
}

void
gst_dpm_port_drain (GstDpmPort * port)
{
  gint64 end_us = g_get_monotonic_time () + DRAIN_US;
  gboolean any = TRUE, said = FALSE;

  while (any && g_get_monotonic_time () < end_us) {
    gst_fairmix_lock_acquire (&port->lock);
    any = port->max_mixing > 0 && port->mixer.stats.n_sessions > 0
        && fmx_join_client_keys (&port->uplink->client) != NULL;
    if (any && !said)
      gst_dpm_mixing_set (port, FALSE);
    gst_fairmix_lock_release (&port->lock);
    said = TRUE;
    if (any)
      g_usleep (10000);
  }
}

void
gst_dpm_port_stop_telling (GstDpmPort * port)
{
  g_atomic_int_set (&port->running, FALSE);
  g_cancellable_cancel (port->wake_up);
  g_cancellable_cancel (port->stopping);
  if (port->teller == NULL)
    return;
  gst_dpm_port_tell (port, gst_dpm_job_new (GST_DPM_JOB_END, NULL,
          FMX_JOIN_REASON_NONE));
  g_thread_join (port->teller);
  port->teller = NULL;
  if (port->resolver != NULL)
    g_thread_join (port->resolver);
  port->resolver = NULL;
}

void
gst_dpm_port_stop (GstDpmPort * port)
{
  FmxJoinMixerResult theirs;
  FmxJoinClientResult ours;

  gst_dpm_port_stop_telling (port);
  if (port->receiver != NULL)
    g_thread_join (port->receiver);
  port->receiver = NULL;

  gst_fairmix_lock_acquire (&port->lock);
  for (guint i = 0; port->serves && i < port->n_sessions; i++)
    if (port->peers[i] != NULL) {
      fmx_join_mixer_remove (&port->mixer, i, FMX_JOIN_REASON_LEAVE, &theirs);
      gst_dpm_port_act_as_mixer (port, &theirs);
    }
  if (port->uplink != NULL && port->uplink->resolved) {
    fmx_join_client_leave (&port->uplink->client, &ours);
    gst_dpm_uplink_act (port, &ours, gst_dpm_port_now (port));
  }
  gst_fairmix_lock_release (&port->lock);
  gst_dpm_socket_close (&port->socket);
}

/* --- the rest ------------------------------------------------------------ */

void
gst_dpm_port_send (GstDpmPort * port, GstDpmPeer * peer, GstBuffer * buffer,
    gboolean rtcp)
{
  _Alignas (8) guint8 data[GST_DPM_MAX_PACKET_BYTES + GST_DPM_TRAILER_BYTES];
  FmxJoinAddress to;
  gsize size;

  if (g_atomic_pointer_get (&port->batcher) == g_thread_self ()) {
    batch_add (port, peer, buffer, rtcp);
    return;
  }
  size = gst_dpm_peer_protect (peer, buffer, rtcp, data, &to);
  if (size > 0)
    gst_dpm_peer_count_sent (peer, gst_dpm_socket_send (&port->socket, data,
            size, &to));
}

void
gst_dpm_port_set_max_clients (GstDpmPort * port, guint max_clients)
{
  gst_fairmix_lock_acquire (&port->lock);
  if (port->serves)
    fmx_join_mixer_set_max_clients (&port->mixer, max_clients);
  gst_fairmix_lock_release (&port->lock);
}

/* with the lock.  Returns: the session of that neighbour; n_sessions: none */
static guint
session_of (GstDpmPort * port, guint neighbour)
{
  guint i = 0;

  while (i < port->n_sessions && (port->peers[i] == NULL
          || gst_dpm_peer_get_number (port->peers[i]) != neighbour))
    i++;
  return i;
}

void
gst_dpm_port_kick (GstDpmPort * port, guint neighbour)
{
  FmxJoinMixerResult result;
  guint session;

  gst_fairmix_lock_acquire (&port->lock);
  session = session_of (port, neighbour);
  if (session < port->n_sessions) {
    fmx_join_mixer_remove (&port->mixer, session, FMX_JOIN_REASON_CLOSED,
        &result);
    gst_dpm_port_act_as_mixer (port, &result);
  }
  gst_fairmix_lock_release (&port->lock);
}

void
gst_dpm_port_ask (GstDpmPort * port, guint neighbour, gboolean begin)
{
  FmxJoinMixerResult result;
  guint session;

  gst_fairmix_lock_acquire (&port->lock);
  session = session_of (port, neighbour);
  if (session < port->n_sessions) {
    fmx_join_mixer_ask (&port->mixer, session, begin, &result);
    gst_dpm_port_act_as_mixer (port, &result);
  }
  gst_fairmix_lock_release (&port->lock);
}

void
gst_dpm_port_set_least_bps (GstDpmPort * port, guint64 least_bps)
{
  gst_fairmix_lock_acquire (&port->lock);
  port->least_bps = least_bps;
  gst_fairmix_lock_release (&port->lock);
}

void
gst_dpm_port_move (GstDpmPort * port, guint neighbour, guint mixer)
{
  FmxJoinMixerResult result;
  guint session, to;

  gst_fairmix_lock_acquire (&port->lock);
  session = session_of (port, neighbour);
  to = session_of (port, mixer);
  if (session < port->n_sessions && to < port->n_sessions) {
    fmx_join_mixer_move (&port->mixer, session, port->places[to].places,
        port->places[to].n_places, &result);
    gst_dpm_port_act_as_mixer (port, &result);
  }
  gst_fairmix_lock_release (&port->lock);
}

/* with the lock */
static void
add_uplink_stats (GstDpmPort * port, GstStructure * s)
{
  GValue server = G_VALUE_INIT;
  FmxJoinClientStats stats;

  fmx_join_client_get_stats (&port->uplink->client, &stats);
  gst_structure_set (s, "joined", G_TYPE_BOOLEAN, port->uplink->resolved
      && fmx_join_client_keys (&port->uplink->client) != NULL,
      "away", G_TYPE_BOOLEAN, port->away,
      "n-moves", G_TYPE_UINT64, port->n_moves,
      "n-failed-moves", G_TYPE_UINT64, port->n_failed_moves, NULL);
  gst_dpm_stats_add_client (s, &stats);
  g_value_init (&server, GST_TYPE_STRUCTURE);
  g_value_take_boxed (&server, gst_dpm_peer_to_structure (port->uplink->peer));
  gst_structure_take_value (s, "server", &server);
}

void
gst_dpm_port_add_stats (GstDpmPort * port, GstStructure * s)
{
  GValue neighbours = G_VALUE_INIT;

  g_value_init (&neighbours, GST_TYPE_ARRAY);
  gst_fairmix_lock_acquire (&port->lock);
  gst_structure_set (s, "n-foreign", G_TYPE_UINT64, port->n_foreign, NULL);
  if (port->serves) {
    FmxJoinMixerStats stats;

    fmx_join_mixer_get_stats (&port->mixer, &stats);
    stats.n_limited += port->n_forgotten;
    gst_dpm_stats_add_mixer (s, &stats);
    gst_structure_set (s, "mixes", G_TYPE_BOOLEAN, gst_dpm_port_is_open (port),
        NULL);
  }
  if (port->uplink != NULL)
    add_uplink_stats (port, s);
  for (guint i = 0; i < port->n_sessions; i++)
    if (port->peers[i] != NULL)
      gst_fairmix_stats_append (&neighbours,
          gst_dpm_peer_to_structure (port->peers[i]));
  gst_fairmix_lock_release (&port->lock);
  gst_structure_take_value (s, "neighbours", &neighbours);
}
