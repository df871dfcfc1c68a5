/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmport.h"

#include <string.h>

#include "gstdpmcrypto.h"
#include "gstdpmsocket.h"
#include "common/gstfairmixlock.h"
#include "common/gstfairmixstats.h"

#define TICK (FMX_SECOND / 5)
#define SHORTEST_WAIT (1 * FMX_MSECOND)
#define RESOLVE_AGAIN (2 * FMX_SECOND)
#define MAX_PENDING 64          /* joins that are not confirmed yet */
#define BURST 64                /* datagrams between two looks at the clock */
/* A mixer that found itself below itself: so that two that did do not meet
 * again, it is a random time that follows. */
#define LOOP_PAUSE (2 * FMX_SECOND)

typedef enum
{
  JOB_JOINED,
  JOB_LEFT,
  JOB_REFUSED,
  JOB_UPLINK,
  JOB_RESOLVE,
  JOB_RESOLVE_LATER,
  JOB_END
} JobKind;

/* What the receiving thread has seen and the other one is to tell. */
typedef struct
{
  JobKind kind;
  GstDpmPeer *peer;
  FmxJoinReason reason;
  FmxJoinClientEvent event;
  gboolean last;
  FmxJoinAddress address;
} Job;

/* The server that we join. */
typedef struct
{
  GstDpmServers *servers;       /* of the resolving thread */
  gboolean resolved;            /* with the lock */
  FmxJoinAddress address;
  GstDpmPeer *peer;
  GstDpmCrypto crypto;
  FmxJoinClient client;
  FmxJoinClientParams params;
  FmxJoinSecret secret;
  FmxJoinReason last_refusal;
  gboolean closed;              /* who is at @address would never let us in */
} Uplink;

/* What the receiving thread sends while it is busy with one datagram, to be sent at
 * once. */
typedef struct
{
  GstDpmDatagram datagrams[GST_DPM_MAX_DATAGRAMS];
  GstDpmPeer *peers[GST_DPM_MAX_DATAGRAMS];
  guint n;
} Batch;

struct _GstDpmPort
{
  const GstDpmPortCallbacks *callbacks;
  gpointer user;

  GstClock *clock;              /* the system's */
  GstDpmSocket socket;
  GCancellable *wake_up;        /* the receiver, also when it is to end */
  GCancellable *stopping;       /* the teller, when it is to end */
  GThread *receiver, *teller;
  GThread *batcher;             /* atomic: the receiver, while it fills the batch */
  Batch *batch;                 /* (nullable): of the receiver */
  GThread *resolver;            /* of the teller */
  gint resolving;
  FmxTime resolve_at;           /* of the teller; 0: not planned */
  GAsyncQueue *jobs;
  gint running;

  /* with the lock */
  GstFairmixLock lock;
  gboolean serves;
  GstDpmCrypto crypto;
  FmxJoinMixer mixer;
  FmxJoinSession *sessions;
  GstDpmPeer **peers;           /* of the sessions */
  guint n_sessions;
  GHashTable *by_address;       /* FmxJoinAddress to GstDpmPeer */
  Uplink *uplink;
  guint next_number;
  guint64 n_foreign;
};

static FmxTime
port_now (GstDpmPort * port)
{
  return (FmxTime) gst_clock_get_time (port->clock);
}

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

static void
job_free (gpointer data)
{
  Job *job = data;

  g_clear_pointer (&job->peer, gst_dpm_peer_unref);
  g_free (job);
}

static Job *
job_new (JobKind kind, GstDpmPeer * peer, FmxJoinReason reason)
{
  Job *job = g_new0 (Job, 1);

  job->kind = kind;
  job->peer = peer != NULL ? gst_dpm_peer_ref (peer) : NULL;
  job->reason = reason;
  return job;
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
  port->jobs = g_async_queue_new_full (job_free);
  port->by_address = g_hash_table_new_full (address_hash, address_equal, g_free,
      (GDestroyNotify) gst_dpm_peer_unref);
  gst_dpm_crypto_init (&port->crypto);
  port->next_number = 1;
  return port;
}

static void
uplink_free (Uplink * uplink)
{
  if (uplink == NULL)
    return;
  gst_dpm_servers_free (uplink->servers);
  gst_dpm_peer_unref (uplink->peer);
  gst_dpm_crypto_clear (&uplink->crypto);
  gst_dpm_crypto_wipe (uplink, sizeof *uplink);
  g_free (uplink);
}

void
gst_dpm_port_free (GstDpmPort * port)
{
  gst_dpm_port_stop (port);
  uplink_free (port->uplink);
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
  port->batch = g_new (Batch, 1);
  port->batch->n = 0;
  port->n_sessions = params->max_clients + MAX_PENDING;
  port->sessions = g_new0 (FmxJoinSession, port->n_sessions);
  port->peers = g_new0 (GstDpmPeer *, port->n_sessions);
  port->serves = fmx_join_mixer_init (&port->mixer, params, &port->crypto.join,
      port->sessions, port->n_sessions);
  fmx_join_mixer_set_secret (&port->mixer, secret);
  return port->serves;
}

GstDpmPeer *
gst_dpm_port_connect (GstDpmPort * port, const gchar * server,
    const FmxJoinClientParams * params, const FmxJoinSecret * secret,
    GError ** error)
{
  GstDpmServers *servers = gst_dpm_servers_new (server, error);
  Uplink *uplink;

  if (servers == NULL)
    return NULL;
  uplink = g_new0 (Uplink, 1);
  uplink->servers = servers;
  uplink->params = *params;
  uplink->secret = *secret;
  gst_dpm_crypto_init (&uplink->crypto);
  uplink->peer = gst_dpm_peer_new (port->next_number++, "", FMX_JOIN_IS_MIXER
      | FMX_JOIN_MAY_SEND | FMX_JOIN_MAY_RECEIVE, 0);
  port->uplink = uplink;
  return uplink->peer;
}

gboolean
gst_dpm_port_open (GstDpmPort * port, const gchar * address, guint number,
    GError ** error)
{
  return gst_dpm_socket_open (&port->socket, address, number, error);
}

guint
gst_dpm_port_get_number (GstDpmPort * port)
{
  return gst_dpm_socket_get_port (&port->socket);
}

/* --- who is where: with the lock ----------------------------------------- */

static void
table_add (GstDpmPort * port, const FmxJoinAddress * address, GstDpmPeer * peer)
{
  gst_dpm_peer_set_address (peer, address);
  g_hash_table_replace (port->by_address, g_memdup2 (address, sizeof *address),
      gst_dpm_peer_ref (peer));
}

static void
table_remove (GstDpmPort * port, GstDpmPeer * peer)
{
  FmxJoinAddress address;

  gst_dpm_peer_get_address (peer, &address);
  if (g_hash_table_lookup (port->by_address, &address) == peer)
    g_hash_table_remove (port->by_address, &address);
}

static void
tell (GstDpmPort * port, Job * job)
{
  g_async_queue_push (port->jobs, job);
}

static void
session_left (GstDpmPort * port, guint session, FmxJoinReason reason)
{
  GstDpmPeer *peer = port->peers[session];

  if (peer == NULL)
    return;
  port->peers[session] = NULL;
  table_remove (port, peer);
  gst_dpm_peer_set_keys (peer, NULL, NULL);
  tell (port, job_new (JOB_LEFT, peer, reason));
  gst_dpm_peer_unref (peer);
}

static void
session_joined (GstDpmPort * port, guint index)
{
  const FmxJoinSession *session = fmx_join_mixer_session (&port->mixer, index);
  GstDpmPeer *peer = gst_dpm_peer_new (port->next_number++,
      session->join.name, session->join.flags, session->join.max_streams);

  gst_dpm_peer_set_keys (peer, session->keys.srtp_to_mixer,
      session->keys.srtp_to_client);
  port->peers[index] = peer;
  table_add (port, &session->address, peer);
  tell (port, job_new (JOB_JOINED, peer, FMX_JOIN_REASON_NONE));
}

static void
session_moved (GstDpmPort * port, guint index)
{
  GstDpmPeer *peer = port->peers[index];

  table_remove (port, peer);
  table_add (port, &fmx_join_mixer_session (&port->mixer, index)->address,
      peer);
}

/* sends and tells what follows */
static void
act_as_mixer (GstDpmPort * port, const FmxJoinMixerResult * result)
{
  Job *job;

  if (result->size > 0)
    gst_dpm_socket_send (&port->socket, result->data, result->size,
        &result->to);
  if (result->replaced != FMX_JOIN_NO_SESSION)
    session_left (port, result->replaced, FMX_JOIN_REASON_REPLACED);
  switch (result->event) {
    case FMX_JOIN_MIXER_JOINED:
      session_joined (port, result->session);
      break;
    case FMX_JOIN_MIXER_LEFT:
      session_left (port, result->session, result->reason);
      break;
    case FMX_JOIN_MIXER_MOVED:
      session_moved (port, result->session);
      break;
    case FMX_JOIN_MIXER_REFUSED:
      job = job_new (JOB_REFUSED, NULL, result->reason);
      job->address = result->to;
      tell (port, job);
      break;
    default:
      break;
  }
}

/* --- the server that we join: with the lock ------------------------------ */

static void uplink_act (GstDpmPort * port, FmxJoinClientResult * result,
    FmxTime now);

static void
uplink_follow_root (GstDpmPort * port, FmxTime now)
{
  Uplink *uplink = port->uplink;
  FmxJoinClientResult result;
  guint16 depth;
  guint64 root = fmx_join_client_root (&uplink->client, &depth);

  if (!port->serves)
    return;
  if (root == port->mixer.params.node || depth >= FMX_JOIN_MAX_DEPTH) {
    fmx_join_client_quit (&uplink->client, FMX_JOIN_REASON_LOOP,
        LOOP_PAUSE + g_random_int_range (0, 2000) * FMX_MSECOND, &result, now);
    uplink_act (port, &result, now);
  } else {
    fmx_join_mixer_set_root (&port->mixer, root, (guint16) (depth + 1));
  }
}

/* Returns: whether who refuses us will always do so */
static gboolean
uplink_is_closed (const FmxJoinClientResult * result)
{
  return result->event == FMX_JOIN_CLIENT_REFUSED
      && (result->reason == FMX_JOIN_REASON_SECRET
      || result->reason == FMX_JOIN_REASON_VERSION);
}

/* Returns: whether another mixer is to be tried, if there is any */
static gboolean
uplink_is_elsewhere_better (const FmxJoinClientResult * result)
{
  return result->event == FMX_JOIN_CLIENT_LEFT || uplink_is_closed (result)
      || (result->event == FMX_JOIN_CLIENT_REFUSED
      && (result->reason == FMX_JOIN_REASON_FULL
          || result->reason == FMX_JOIN_REASON_LOOP));
}

static void
tell_uplink (GstDpmPort * port, FmxJoinClientEvent event, FmxJoinReason reason,
    gboolean last)
{
  Job *job = job_new (JOB_UPLINK, NULL, reason);

  job->event = event;
  job->last = last;
  tell (port, job);
}

static void
uplink_act (GstDpmPort * port, FmxJoinClientResult * result, FmxTime now)
{
  Uplink *uplink = port->uplink;
  const FmxJoinKeys *keys = fmx_join_client_keys (&uplink->client);
  gboolean news = result->event != FMX_JOIN_CLIENT_NOTHING
      && result->event != FMX_JOIN_CLIENT_ROOT;
  gboolean choice = gst_dpm_servers_have_choice (uplink->servers);

  if (result->size > 0)
    gst_dpm_socket_send (&port->socket, result->data, result->size,
        &uplink->address);
  if (result->event == FMX_JOIN_CLIENT_JOINED) {
    gst_dpm_peer_set_keys (uplink->peer, keys->srtp_to_client,
        keys->srtp_to_mixer);
    table_add (port, &uplink->address, uplink->peer);
    uplink->last_refusal = FMX_JOIN_REASON_NONE;
  } else if (result->event == FMX_JOIN_CLIENT_LEFT) {
    table_remove (port, uplink->peer);
    gst_dpm_peer_set_keys (uplink->peer, NULL, NULL);
    if (port->serves)
      fmx_join_mixer_set_root (&port->mixer, port->mixer.params.node, 0);
  } else if (result->event == FMX_JOIN_CLIENT_REFUSED) {
    news = uplink->last_refusal != result->reason;
    uplink->last_refusal = result->reason;
    uplink->closed = uplink_is_closed (result);
  }
  if (news)
    tell_uplink (port, result->event, result->reason,
        uplink->closed && !choice);
  if (result->event == FMX_JOIN_CLIENT_SILENT
      || (uplink_is_elsewhere_better (result) && choice))
    tell (port, job_new (JOB_RESOLVE, NULL, FMX_JOIN_REASON_NONE));
  if (result->event == FMX_JOIN_CLIENT_JOINED
      || result->event == FMX_JOIN_CLIENT_ROOT)
    uplink_follow_root (port, now);
}

/* --- the thread that asks for the server's address: this may take long --- */

/* with the lock */
static void
uplink_set_address (GstDpmPort * port, const FmxJoinAddress * address)
{
  Uplink *uplink = port->uplink;
  FmxJoinClientResult nothing;

  if (fmx_join_client_keys (&uplink->client) != NULL)
    return;
  uplink->address = *address;
  if (!uplink->resolved)
    fmx_join_client_init (&uplink->client, &uplink->params,
        &uplink->crypto.join, &uplink->secret, port_now (port));
  else if (uplink->closed)      /* the one before; this one may be better */
    fmx_join_client_quit (&uplink->client, FMX_JOIN_REASON_NONE, 0, &nothing,
        port_now (port));
  uplink->resolved = TRUE;
  uplink->closed = FALSE;
}

static gpointer
resolve (gpointer data)
{
  GstDpmPort *port = data;
  Uplink *uplink = port->uplink;
  FmxJoinAddress address;
  gboolean closed;
  GstDpmNext next;

  gst_fairmix_lock_acquire (&port->lock);
  closed = uplink->closed;
  gst_fairmix_lock_release (&port->lock);
  if (closed)
    gst_dpm_servers_refused (uplink->servers);
  next = gst_dpm_servers_next (uplink->servers, &address, port->stopping);
  gst_fairmix_lock_acquire (&port->lock);
  if (next == GST_DPM_NEXT_FOUND) {
    uplink_set_address (port, &address);
  } else if (next == GST_DPM_NEXT_HOPELESS) {
    tell_uplink (port, FMX_JOIN_CLIENT_REFUSED, uplink->last_refusal, TRUE);
  } else if (!uplink->resolved) {
    tell_uplink (port, FMX_JOIN_CLIENT_SILENT, FMX_JOIN_REASON_NONE, FALSE);
    tell (port, job_new (JOB_RESOLVE_LATER, NULL, FMX_JOIN_REASON_NONE));
  }
  gst_fairmix_lock_release (&port->lock);
  g_atomic_int_set (&port->resolving, FALSE);
  /* wakes the receiver up, so that it sees that there is something to do */
  g_cancellable_cancel (port->wake_up);
  return NULL;
}

/* in the telling thread */
static void
resolve_start (GstDpmPort * port)
{
  /* what is next is for when we are out */
  if (g_atomic_int_get (&port->resolving) || gst_dpm_port_is_joined (port))
    return;
  if (port->resolver != NULL)
    g_thread_join (port->resolver);
  g_atomic_int_set (&port->resolving, TRUE);
  port->resolver = g_thread_new ("dpm-resolve", resolve, port);
}

/* --- the thread that receives -------------------------------------------- */

static gboolean
is_from_server (GstDpmPort * port, const FmxJoinAddress * from,
    const guint8 * data)
{
  static const guint of_mixers = 1u << FMX_JOIN_COOKIE | 1u << FMX_JOIN_ACCEPT
      | 1u << FMX_JOIN_REFUSE | 1u << FMX_JOIN_PONG | 1u << FMX_JOIN_BYE;

  return port->uplink != NULL && port->uplink->resolved
      && (!port->serves || (data[4] < 32 && (of_mixers >> data[4] & 1)))
      && fmx_join_address_same (from, &port->uplink->address);
}

static void
on_join_message (GstDpmPort * port, const guint8 * data, gsize size,
    const FmxJoinAddress * from)
{
  FmxTime now = port_now (port);

  gst_fairmix_lock_acquire (&port->lock);
  if (is_from_server (port, from, data)) {
    FmxJoinClientResult result;

    fmx_join_client_on_datagram (&port->uplink->client, data, size, &result,
        now);
    uplink_act (port, &result, now);
  } else if (port->serves) {
    FmxJoinMixerResult result;

    fmx_join_mixer_on_datagram (&port->mixer, from, data, size, &result, now);
    act_as_mixer (port, &result);
  } else {
    port->n_foreign++;
  }
  gst_fairmix_lock_release (&port->lock);
}

static void
batch_send (GstDpmPort * port)
{
  Batch *batch = port->batch;

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
  Batch *batch = port->batch;
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
  GstBuffer *buffer;
  GstDpmPeer *peer;
  GstPad *pad;

  gst_fairmix_lock_acquire (&port->lock);
  peer = g_hash_table_lookup (port->by_address, from);
  if (peer != NULL)
    gst_dpm_peer_ref (peer);
  else
    port->n_foreign++;
  gst_fairmix_lock_release (&port->lock);
  if (peer == NULL)
    return;
  buffer = gst_dpm_peer_receive (peer, data, size, &pad);
  if (buffer != NULL)
    push (port, pad, buffer);
  gst_clear_object (&pad);
  gst_dpm_peer_unref (peer);
}

static void
on_timeout (GstDpmPort * port)
{
  FmxTime now = port_now (port);
  FmxJoinMixerResult theirs;
  FmxJoinClientResult ours;

  gst_fairmix_lock_acquire (&port->lock);
  while (port->serves && fmx_join_mixer_on_timeout (&port->mixer, &theirs, now))
    act_as_mixer (port, &theirs);
  while (port->uplink != NULL && port->uplink->resolved
      && fmx_join_client_on_timeout (&port->uplink->client, &ours, now))
    uplink_act (port, &ours, now);
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
  FmxTime next = FMX_TIME_NONE, now = port_now (port);

  gst_fairmix_lock_acquire (&port->lock);
  if (port->serves)
    next = fmx_join_mixer_next_timeout (&port->mixer);
  if (port->uplink != NULL && port->uplink->resolved)
    next = fmx_time_min (next,
        fmx_join_client_next_timeout (&port->uplink->client));
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
    on_timeout (port);
  }
  return NULL;
}

/* --- the thread that tells ----------------------------------------------- */

static void
do_job (GstDpmPort * port, Job * job)
{
  const GstDpmPortCallbacks *callbacks = port->callbacks;
  gchar *address;

  switch (job->kind) {
    case JOB_JOINED:
      callbacks->joined (port->user, job->peer);
      break;
    case JOB_LEFT:
      callbacks->left (port->user, job->peer, job->reason);
      break;
    case JOB_REFUSED:
      address = gst_dpm_address_to_string (&job->address);
      callbacks->refused (port->user, address, job->reason);
      g_free (address);
      break;
    case JOB_UPLINK:
      callbacks->uplink (port->user, job->event, job->reason, job->last);
      break;
    case JOB_RESOLVE:
      resolve_start (port);
      break;
    case JOB_RESOLVE_LATER:
      port->resolve_at = port_now (port) + RESOLVE_AGAIN;
      break;
    default:
      break;
  }
}

static gpointer
tell_all (gpointer data)
{
  GstDpmPort *port = data;
  FmxTime next_tick = port_now (port) + TICK;
  gboolean end = FALSE;

  while (!end) {
    FmxTime now = port_now (port);
    Job *job = g_async_queue_timeout_pop (port->jobs, wait_us (next_tick, now));

    if (job != NULL) {
      end = job->kind == JOB_END;
      do_job (port, job);
      job_free (job);
    }
    if (!end && port_now (port) >= next_tick) {
      port->callbacks->tick (port->user, port_now (port));
      next_tick = port_now (port) + TICK;
      if (port->resolve_at > 0 && next_tick > port->resolve_at) {
        port->resolve_at = 0;
        resolve_start (port);
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
    tell (port, job_new (JOB_RESOLVE, NULL, FMX_JOIN_REASON_NONE));
  port->teller = g_thread_new ("dpm-events", tell_all, port);
  port->receiver = g_thread_new ("dpm-receive", receive_all, port);
}

void
gst_dpm_port_stop_telling (GstDpmPort * port)
{
  g_atomic_int_set (&port->running, FALSE);
  g_cancellable_cancel (port->wake_up);
  g_cancellable_cancel (port->stopping);
  if (port->teller == NULL)
    return;
  tell (port, job_new (JOB_END, NULL, FMX_JOIN_REASON_NONE));
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
      act_as_mixer (port, &theirs);
    }
  if (port->uplink != NULL && port->uplink->resolved) {
    fmx_join_client_leave (&port->uplink->client, &ours);
    uplink_act (port, &ours, port_now (port));
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

void
gst_dpm_port_kick (GstDpmPort * port, guint neighbour)
{
  FmxJoinMixerResult result;

  gst_fairmix_lock_acquire (&port->lock);
  for (guint i = 0; i < port->n_sessions; i++)
    if (port->peers[i] != NULL
        && gst_dpm_peer_get_number (port->peers[i]) == neighbour) {
      fmx_join_mixer_remove (&port->mixer, i, FMX_JOIN_REASON_CLOSED, &result);
      act_as_mixer (port, &result);
      break;
    }
  gst_fairmix_lock_release (&port->lock);
}

gboolean
gst_dpm_port_is_joined (GstDpmPort * port)
{
  gboolean joined;

  gst_fairmix_lock_acquire (&port->lock);
  joined = port->uplink != NULL && port->uplink->resolved
      && fmx_join_client_keys (&port->uplink->client) != NULL;
  gst_fairmix_lock_release (&port->lock);
  return joined;
}

GstStructure *
gst_dpm_peer_to_structure (GstDpmPeer * peer)
{
  FmxJoinAddress address;
  GstDpmPeerStats stats;
  GstStructure *s;
  gchar *text;

  gst_dpm_peer_get_stats (peer, &stats);
  gst_dpm_peer_get_address (peer, &address);
  text = gst_dpm_address_to_string (&address);
  s = gst_structure_new ("application/x-fairmix-dpm-neighbour-stats",
      "neighbour", G_TYPE_UINT, gst_dpm_peer_get_number (peer),
      "name", G_TYPE_STRING, gst_dpm_peer_get_name (peer),
      "address", G_TYPE_STRING, text,
      "mixer", G_TYPE_BOOLEAN,
      (gst_dpm_peer_get_flags (peer) & FMX_JOIN_IS_MIXER) != 0,
      "max-streams", G_TYPE_UINT, gst_dpm_peer_get_max_streams (peer),
      "n-received", G_TYPE_UINT64, stats.n_received,
      "n-forged", G_TYPE_UINT64, stats.n_forged,
      "n-replayed", G_TYPE_UINT64, stats.n_replayed,
      "n-malformed", G_TYPE_UINT64, stats.n_malformed,
      "n-early", G_TYPE_UINT64, stats.n_early,
      "n-sent", G_TYPE_UINT64, stats.n_sent,
      "n-unsent", G_TYPE_UINT64, stats.n_unsent,
      "n-protect-failed", G_TYPE_UINT64, stats.n_protect_failed, NULL);
  g_free (text);
  return s;
}

/* with the lock */
static void
add_mixer_stats (GstDpmPort * port, GstStructure * s)
{
  FmxJoinMixerStats stats;

  fmx_join_mixer_get_stats (&port->mixer, &stats);
  gst_structure_set (s,
      "n-neighbours", G_TYPE_UINT, stats.n_sessions,
      "n-pending", G_TYPE_UINT, stats.n_pending,
      "n-joined", G_TYPE_UINT64, stats.n_joined,
      "n-left", G_TYPE_UINT64, stats.n_left,
      "n-timeouts", G_TYPE_UINT64, stats.n_timeouts,
      "n-moved", G_TYPE_UINT64, stats.n_moved,
      "n-hellos", G_TYPE_UINT64, stats.n_hellos,
      "n-limited", G_TYPE_UINT64, stats.n_limited,
      "n-bad-cookies", G_TYPE_UINT64, stats.n_bad_cookies,
      "n-wrong-secret", G_TYPE_UINT64, stats.n_wrong_secret,
      "n-refused", G_TYPE_UINT64, stats.n_refused,
      "n-repeated-joins", G_TYPE_UINT64, stats.n_repeated,
      "n-unknown-sessions", G_TYPE_UINT64, stats.n_unknown,
      "n-forged-control", G_TYPE_UINT64, stats.n_forged,
      "n-replayed-control", G_TYPE_UINT64, stats.n_replayed,
      "n-invalid-control", G_TYPE_UINT64,
      stats.n_invalid + stats.n_unexpected, NULL);
}

/* with the lock */
static void
add_uplink_stats (GstDpmPort * port, GstStructure * s)
{
  GValue server = G_VALUE_INIT;
  FmxJoinClientStats stats;

  fmx_join_client_get_stats (&port->uplink->client, &stats);
  gst_structure_set (s,
      "joined", G_TYPE_BOOLEAN, port->uplink->resolved
      && fmx_join_client_keys (&port->uplink->client) != NULL,
      "rtt", G_TYPE_INT64, (gint64) stats.rtt,
      "n-attempts", G_TYPE_UINT64, stats.n_attempts,
      "n-sessions", G_TYPE_UINT64, stats.n_joined,
      "n-lost", G_TYPE_UINT64, stats.n_lost,
      "n-forged-answers", G_TYPE_UINT64, stats.n_forged,
      "n-stale-answers", G_TYPE_UINT64, stats.n_stale + stats.n_invalid,
      "n-replayed-answers", G_TYPE_UINT64, stats.n_replayed, NULL);
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
  if (port->serves)
    add_mixer_stats (port, s);
  if (port->uplink != NULL)
    add_uplink_stats (port, s);
  for (guint i = 0; i < port->n_sessions; i++)
    if (port->peers[i] != NULL)
      gst_fairmix_stats_append (&neighbours,
          gst_dpm_peer_to_structure (port->peers[i]));
  gst_fairmix_lock_release (&port->lock);
  gst_structure_take_value (s, "neighbours", &neighbours);
}
