/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* file size: its parts share the state of one socket, under one lock */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmport.h"

#include <string.h>

#include "gstdpmcrypto.h"
#include "gstdpmportstats.h"
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
#define MOVE_RETRY (50 * FMX_MSECOND)
#define MOVE_PATIENCE (800 * FMX_MSECOND)
#define MOVE_PACKETS 6          /* of media: the first ones from elsewhere */
#define MIXING_TICKS 5          /* between two words about mixing: a second */
#define DRAIN_US (400 * 1000)

typedef enum
{
  JOB_JOINED,
  JOB_LEFT,
  JOB_REFUSED,
  JOB_UPLINK,
  JOB_MIXES,
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
  gboolean mixes;
  guint n_below;
} Job;

/* The server that we join. */
typedef struct
{
  GstDpmServers *servers;       /* of the resolving thread */
  gboolean resolved;            /* with the lock */
  FmxJoinAddress address;
  GstDpmPeer *peer;
  GstDpmCrypto *crypto;         /* of @client */
  FmxJoinClient client;
  FmxJoinClientParams params;
  FmxJoinSecret secret;
  FmxJoinReason last_refusal;
  gboolean closed;              /* who is at @address would never let us in */
} Uplink;

/* Another mixer to which we were told to go: joined beside the session that we have,
 * which ends when something comes from there. */
typedef struct
{
  Uplink *uplink;               /* NULL: none */
  FmxJoinAddress places[FMX_JOIN_PLACES];
  guint n_places, place;
  guint n_heard;                /* media packets from there */
  FmxTime patience;             /* until then something must have come */
} Move;

/* Where a neighbour that mixes can be joined, as it says. */
typedef struct
{
  FmxJoinAddress places[FMX_JOIN_PLACES];
  guint n_places;
} Places;

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
  Move move;
  gboolean away;                /* we were sent to where we are, from @home */
  FmxJoinAddress home;
  guint64 n_moves, n_failed_moves;
  guint max_mixing;             /* may be asked to serve so many; 0: serves always */
  gboolean mixes;               /* was asked */
  Places *places;               /* of the sessions */
  guint n_ticks;
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
  g_clear_pointer (&uplink->servers, gst_dpm_servers_free);
  gst_dpm_peer_unref (uplink->peer);
  gst_dpm_crypto_clear (uplink->crypto);
  g_free (uplink->crypto);
  gst_dpm_crypto_wipe (uplink, sizeof *uplink);
  g_free (uplink);
}

void
gst_dpm_port_free (GstDpmPort * port)
{
  gst_dpm_port_stop (port);
  uplink_free (port->uplink);
  uplink_free (port->move.uplink);
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
  port->places = g_new0 (Places, port->n_sessions);
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
  Uplink *uplink;

  if (servers == NULL)
    return NULL;
  uplink = g_new0 (Uplink, 1);
  uplink->servers = servers;
  uplink->params = *params;
  uplink->secret = *secret;
  uplink->crypto = g_new0 (GstDpmCrypto, 1);
  gst_dpm_crypto_init (uplink->crypto);
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
  port->places[index].n_places = 0;
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

/* A neighbour says whether it mixes, and where. */
static void
session_mixes (GstDpmPort * port, const FmxJoinMixerResult * result)
{
  Places *places = &port->places[result->session];
  Job *job = job_new (JOB_MIXES, port->peers[result->session],
      FMX_JOIN_REASON_NONE);

  memcpy (places->places, result->places, sizeof places->places);
  places->n_places = result->n_places;
  job->mixes = result->mixes;
  job->n_below = result->n_below;
  tell (port, job);
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
    case FMX_JOIN_MIXER_MIXES:
      session_mixes (port, result);
      break;
    default:
      break;
  }
}

/* --- the server that we join: with the lock ------------------------------ */

static void uplink_act (GstDpmPort * port, FmxJoinClientResult * result,
    FmxTime now);
static void move_begin (GstDpmPort * port, const FmxJoinClientResult * result,
    FmxTime now);

/* What we say to the mixer that asked: whether we mix, where, for how many. */
static void
mixing_say (GstDpmPort * port)
{
  FmxJoinAddress places[FMX_JOIN_PLACES];
  guint n = gst_dpm_socket_get_places (&port->socket, places,
      FMX_JOIN_PLACES);
  FmxJoinClientResult result;
  FmxJoinMixerStats stats;

  fmx_join_mixer_get_stats (&port->mixer, &stats);
  fmx_join_client_answer (&port->uplink->client, port->mixes, places, n,
      stats.n_sessions, &result);
  if (result.size > 0)
    gst_dpm_socket_send (&port->socket, result.data, result.size,
        &port->uplink->address);
}

/* Sends all who are below to who is above. */
static void
mixing_send_away (GstDpmPort * port)
{
  FmxJoinMixerResult result;

  for (guint i = 0; i < port->n_sessions; i++)
    if (port->peers[i] != NULL) {
      fmx_join_mixer_move (&port->mixer, i, &port->uplink->address, 1, &result);
      act_as_mixer (port, &result);
    }
}

static void
mixing_set (GstDpmPort * port, gboolean begin)
{
  port->mixes = begin && port->max_mixing > 0;
  if (port->max_mixing > 0)
    fmx_join_mixer_set_max_clients (&port->mixer,
        port->mixes ? port->max_mixing : 0);
  if (!port->mixes && port->serves && port->max_mixing > 0)
    mixing_send_away (port);
  mixing_say (port);
}

/* Returns: whether anybody may join us */
static gboolean
is_open (GstDpmPort * port)
{
  return port->serves && (port->max_mixing == 0 || port->mixes);
}

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

/* Whoever sent us here is there still, for all we know. */
static void
uplink_go_home (GstDpmPort * port, FmxTime now)
{
  Uplink *uplink = port->uplink;

  port->away = FALSE;
  uplink->address = port->home;
  fmx_join_client_init (&uplink->client, &uplink->params,
      &uplink->crypto->join, &uplink->secret, now);
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
      && result->event != FMX_JOIN_CLIENT_ROOT
      && result->event != FMX_JOIN_CLIENT_ASKED
      && result->event != FMX_JOIN_CLIENT_MOVE;
  gboolean choice = gst_dpm_servers_have_choice (uplink->servers);

  if (result->size > 0)
    gst_dpm_socket_send (&port->socket, result->data, result->size,
        &uplink->address);
  if (result->event == FMX_JOIN_CLIENT_ASKED)
    mixing_set (port, result->begin);
  if (result->event == FMX_JOIN_CLIENT_MOVE)
    move_begin (port, result, now);
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
  if (result->event == FMX_JOIN_CLIENT_LEFT && port->away) {
    uplink_go_home (port, now);
    return;
  }
  if (result->event == FMX_JOIN_CLIENT_SILENT
      || (uplink_is_elsewhere_better (result) && choice))
    tell (port, job_new (JOB_RESOLVE, NULL, FMX_JOIN_REASON_NONE));
  if (result->event == FMX_JOIN_CLIENT_JOINED
      || result->event == FMX_JOIN_CLIENT_ROOT)
    uplink_follow_root (port, now);
}

/* --- to another mixer: with the lock ------------------------------------- */

static void
move_end (GstDpmPort * port)
{
  table_remove (port, port->move.uplink->peer);
  gst_dpm_peer_set_keys (port->move.uplink->peer, NULL, NULL);
  g_clear_pointer (&port->move.uplink, uplink_free);
}

static void
move_try (GstDpmPort * port, FmxTime now)
{
  Uplink *next = port->move.uplink;

  port->move.patience = FMX_TIME_NONE;
  if (port->move.place == port->move.n_places) {
    port->n_failed_moves++;
    move_end (port);
    return;
  }
  next->address = port->move.places[port->move.place++];
  fmx_join_client_init (&next->client, &next->params, &next->crypto->join,
      &next->secret, now);
}

static void
move_begin (GstDpmPort * port, const FmxJoinClientResult * result, FmxTime now)
{
  Uplink *old = port->uplink, *next;

  if (port->move.uplink != NULL)
    return;
  next = g_new0 (Uplink, 1);
  next->resolved = TRUE;
  next->params = old->params;
  next->params.first_retry = MOVE_RETRY;
  next->params.hello_timeout = MOVE_PATIENCE;
  next->secret = old->secret;
  next->crypto = g_new0 (GstDpmCrypto, 1);
  gst_dpm_crypto_init (next->crypto);
  next->peer = gst_dpm_peer_new (gst_dpm_peer_get_number (old->peer), "",
      gst_dpm_peer_get_flags (old->peer), 0);
  gst_dpm_peer_share_pads (next->peer, old->peer);
  port->move.uplink = next;
  port->move.n_places = result->n_places;
  port->move.place = 0;
  port->move.n_heard = 0;
  memcpy (port->move.places, result->places, sizeof port->move.places);
  move_try (port, now);
}

static void
move_act (GstDpmPort * port, FmxJoinClientResult * result, FmxTime now)
{
  Uplink *next = port->move.uplink;
  const FmxJoinKeys *keys = fmx_join_client_keys (&next->client);

  if (result->size > 0)
    gst_dpm_socket_send (&port->socket, result->data, result->size,
        &next->address);
  switch (result->event) {
    case FMX_JOIN_CLIENT_JOINED:
      gst_dpm_peer_set_keys (next->peer, keys->srtp_to_client,
          keys->srtp_to_mixer);
      table_add (port, &next->address, next->peer);
      port->move.patience = now + MOVE_PATIENCE;
      break;
    case FMX_JOIN_CLIENT_REFUSED:
    case FMX_JOIN_CLIENT_LEFT:
    case FMX_JOIN_CLIENT_SILENT:
      table_remove (port, next->peer);
      move_try (port, now);
      break;
    default:
      break;
  }
}

/* We are there.  The neighbour and its elements stay what they were, and so does the
 * uplink but for its session: another thread may be reading its list of servers. */
static void
move_finish (GstDpmPort * port, FmxTime now)
{
  Uplink *uplink = port->uplink, *next = port->move.uplink;
  GstDpmCrypto *crypto = uplink->crypto;
  FmxJoinClientResult result;
  const FmxJoinKeys *keys;

  fmx_join_client_part (&uplink->client, &result);
  if (result.size > 0)
    gst_dpm_socket_send (&port->socket, result.data, result.size,
        &uplink->address);
  table_remove (port, uplink->peer);
  if (!port->away)
    port->home = uplink->address;
  uplink->client = next->client;
  uplink->crypto = next->crypto;
  next->crypto = crypto;
  uplink->address = next->address;
  port->away = !fmx_join_address_same (&uplink->address, &port->home);
  move_end (port);
  keys = fmx_join_client_keys (&uplink->client);
  gst_dpm_peer_set_keys (uplink->peer, keys->srtp_to_client,
      keys->srtp_to_mixer);
  table_add (port, &uplink->address, uplink->peer);
  port->n_moves++;
  tell_uplink (port, FMX_JOIN_CLIENT_JOINED, FMX_JOIN_REASON_MOVED, FALSE);
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
        &uplink->crypto->join, &uplink->secret, port_now (port));
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
is_from (GstDpmPort * port, const Uplink * uplink, const FmxJoinAddress * from,
    const guint8 * data)
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
  FmxTime now = port_now (port);
  FmxJoinClientResult result;

  gst_fairmix_lock_acquire (&port->lock);
  if (is_from (port, port->move.uplink, from, data)) {
    fmx_join_client_on_datagram (&port->move.uplink->client, data, size,
        &result, now);
    move_act (port, &result, now);
  } else if (is_from (port, port->uplink, from, data)) {
    fmx_join_client_on_datagram (&port->uplink->client, data, size, &result,
        now);
    uplink_act (port, &result, now);
  } else if (is_open (port) || (port->serves
          && port->mixer.stats.n_sessions > 0)) {
    FmxJoinMixerResult theirs;

    fmx_join_mixer_on_datagram (&port->mixer, from, data, size, &theirs, now);
    act_as_mixer (port, &theirs);
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
      move_finish (port, port_now (port));
    gst_fairmix_lock_release (&port->lock);
  }
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
  while (port->move.uplink != NULL
      && fmx_join_client_on_timeout (&port->move.uplink->client, &ours, now))
    move_act (port, &ours, now);
  if (port->move.uplink != NULL && now >= port->move.patience)
    move_finish (port, now);
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
    case JOB_MIXES:
      callbacks->mixes (port->user, job->peer, job->mixes, job->n_below);
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

/* Who asked hears now and then for how many we mix; who is below and need not be is
 * sent away again. */
static void
mixing_tick (GstDpmPort * port)
{
  gst_fairmix_lock_acquire (&port->lock);
  if (port->max_mixing > 0 && ++port->n_ticks % MIXING_TICKS == 0) {
    if (port->mixes)
      mixing_say (port);
    else if (fmx_join_client_keys (&port->uplink->client) != NULL)
      mixing_send_away (port);
  }
  gst_fairmix_lock_release (&port->lock);
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
      mixing_tick (port);
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
gst_dpm_port_drain (GstDpmPort * port)
{
  gint64 end_us = g_get_monotonic_time () + DRAIN_US;
  gboolean any = TRUE, said = FALSE;

  while (any && g_get_monotonic_time () < end_us) {
    gst_fairmix_lock_acquire (&port->lock);
    any = port->max_mixing > 0 && port->mixer.stats.n_sessions > 0
        && fmx_join_client_keys (&port->uplink->client) != NULL;
    if (any && !said)
      mixing_set (port, FALSE);
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
    act_as_mixer (port, &result);
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
    act_as_mixer (port, &result);
  }
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
    act_as_mixer (port, &result);
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
    gst_dpm_stats_add_mixer (s, &stats);
    gst_structure_set (s, "mixes", G_TYPE_BOOLEAN, is_open (port), NULL);
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
