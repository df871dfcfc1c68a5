/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The server that a port joins, another one to which that sends us, and what it asks
 * of us. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmport-private.h"

#include <string.h>

/* A mixer that found itself below itself: so that two that did do not meet
 * again, it is a random time that follows. */
#define LOOP_PAUSE (2 * FMX_SECOND)
#define MOVE_RETRY (50 * FMX_MSECOND)
#define MOVE_PATIENCE (800 * FMX_MSECOND)
#define MIXING_TICKS 5          /* between two words about mixing: a second */

void
gst_dpm_uplink_free (GstDpmUplink * uplink)
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

static void move_begin (GstDpmPort * port, const FmxJoinClientResult * result,
    FmxTime now);

/* What we say to the mixer that asked: whether we mix, where, for how many. */
static void
mixing_say (GstDpmPort * port)
{
  FmxJoinAddress places[FMX_JOIN_PLACES];
  guint n = gst_dpm_socket_get_places (&port->socket, places,
      FMX_JOIN_PLACES);
  FmxJoinMixing mixing = { port->mixes, 0, port->least_bps };
  FmxJoinClientResult result;
  FmxJoinMixerStats stats;

  fmx_join_mixer_get_stats (&port->mixer, &stats);
  mixing.n_below = stats.n_sessions;
  fmx_join_client_answer (&port->uplink->client, &mixing, places, n, &result);
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
      gst_dpm_port_act_as_mixer (port, &result);
    }
}

void
gst_dpm_mixing_set (GstDpmPort * port, gboolean begin)
{
  port->mixes = begin && port->max_mixing > 0;
  if (port->max_mixing > 0)
    fmx_join_mixer_set_max_clients (&port->mixer,
        port->mixes ? port->max_mixing : 0);
  if (!port->mixes && port->serves && port->max_mixing > 0)
    mixing_send_away (port);
  mixing_say (port);
}

void
gst_dpm_mixing_tick (GstDpmPort * port)
{
  gst_fairmix_lock_acquire (&port->lock);
  port->n_refusals = 0;
  if (port->max_mixing > 0 && ++port->n_ticks % MIXING_TICKS == 0) {
    if (port->mixes)
      mixing_say (port);
    else if (fmx_join_client_keys (&port->uplink->client) != NULL)
      mixing_send_away (port);
  }
  gst_fairmix_lock_release (&port->lock);
}

void
gst_dpm_uplink_tick (GstDpmPort * port)
{
  gboolean worn;

  if (port->uplink == NULL || !gst_dpm_peer_is_worn (port->uplink->peer))
    return;
  gst_fairmix_lock_acquire (&port->lock);
  worn = port->uplink->resolved && port->move.uplink == NULL;
  if (worn)
    fmx_join_client_renew (&port->uplink->client, gst_dpm_port_now (port));
  gst_fairmix_lock_release (&port->lock);
  if (worn)                     /* the receiver is to see that it is due */
    g_cancellable_cancel (port->wake_up);
}

static void
uplink_follow_root (GstDpmPort * port, FmxTime now)
{
  GstDpmUplink *uplink = port->uplink;
  FmxJoinClientResult result;
  guint16 depth;
  guint64 root = fmx_join_client_root (&uplink->client, &depth);

  if (!port->serves)
    return;
  if (root == port->mixer.params.node || depth >= FMX_JOIN_MAX_DEPTH) {
    fmx_join_client_quit (&uplink->client, FMX_JOIN_REASON_LOOP,
        LOOP_PAUSE + g_random_int_range (0, 2000) * FMX_MSECOND, &result, now);
    gst_dpm_uplink_act (port, &result, now);
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
          || result->reason == FMX_JOIN_REASON_BUSY
          || result->reason == FMX_JOIN_REASON_LOOP));
}

/* Whoever sent us here is there still, for all we know. */
static void
uplink_go_home (GstDpmPort * port, FmxTime now)
{
  GstDpmUplink *uplink = port->uplink;

  port->away = FALSE;
  uplink->address = port->home;
  fmx_join_client_init (&uplink->client, &uplink->params,
      &uplink->crypto->join, &uplink->secret, now);
}

static void
tell_uplink (GstDpmPort * port, FmxJoinClientEvent event, FmxJoinReason reason,
    gboolean last)
{
  GstDpmJob *job = gst_dpm_job_new (GST_DPM_JOB_UPLINK, NULL, reason);

  job->event = event;
  job->last = last;
  gst_dpm_port_tell (port, job);
}

void
gst_dpm_uplink_act (GstDpmPort * port, FmxJoinClientResult * result,
    FmxTime now)
{
  GstDpmUplink *uplink = port->uplink;
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
    gst_dpm_mixing_set (port, result->begin);
  if (result->event == FMX_JOIN_CLIENT_MOVE)
    move_begin (port, result, now);
  if (result->event == FMX_JOIN_CLIENT_JOINED) {
    gst_dpm_peer_set_keys (uplink->peer, keys->srtp_to_client,
        keys->srtp_to_mixer);
    gst_dpm_port_table_add (port, &uplink->address, uplink->peer);
    uplink->last_refusal = FMX_JOIN_REASON_NONE;
  } else if (result->event == FMX_JOIN_CLIENT_LEFT) {
    gst_dpm_port_table_remove (port, uplink->peer);
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
    gst_dpm_port_tell (port, gst_dpm_job_new (GST_DPM_JOB_RESOLVE, NULL,
            FMX_JOIN_REASON_NONE));
  if (result->event == FMX_JOIN_CLIENT_JOINED
      || result->event == FMX_JOIN_CLIENT_ROOT)
    uplink_follow_root (port, now);
}

/* --- to another mixer ---------------------------------------------------- */

static void
move_end (GstDpmPort * port)
{
  gst_dpm_port_table_remove (port, port->move.uplink->peer);
  gst_dpm_peer_set_keys (port->move.uplink->peer, NULL, NULL);
  g_clear_pointer (&port->move.uplink, gst_dpm_uplink_free);
}

static void
move_try (GstDpmPort * port, FmxTime now)
{
  GstDpmUplink *next = port->move.uplink;

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
  GstDpmUplink *old = port->uplink, *next;

  if (port->move.uplink != NULL)
    return;
  next = g_new0 (GstDpmUplink, 1);
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

void
gst_dpm_move_act (GstDpmPort * port, FmxJoinClientResult * result, FmxTime now)
{
  GstDpmUplink *next = port->move.uplink;
  const FmxJoinKeys *keys = fmx_join_client_keys (&next->client);

  if (result->size > 0)
    gst_dpm_socket_send (&port->socket, result->data, result->size,
        &next->address);
  switch (result->event) {
    case FMX_JOIN_CLIENT_JOINED:
      gst_dpm_peer_set_keys (next->peer, keys->srtp_to_client,
          keys->srtp_to_mixer);
      gst_dpm_port_table_add (port, &next->address, next->peer);
      port->move.patience = now + MOVE_PATIENCE;
      break;
    case FMX_JOIN_CLIENT_REFUSED:
    case FMX_JOIN_CLIENT_LEFT:
    case FMX_JOIN_CLIENT_SILENT:
      gst_dpm_port_table_remove (port, next->peer);
      move_try (port, now);
      break;
    default:
      break;
  }
}

/* We are there.  The neighbour and its elements stay what they were, and so does the
 * uplink but for its session: another thread may be reading its list of servers. */
void
gst_dpm_move_finish (GstDpmPort * port, FmxTime now)
{
  GstDpmUplink *uplink = port->uplink, *next = port->move.uplink;
  GstDpmCrypto *crypto = uplink->crypto;
  FmxJoinClientResult result;

  fmx_join_client_part (&uplink->client, &result);
  if (result.size > 0)
    gst_dpm_socket_send (&port->socket, result.data, result.size,
        &uplink->address);
  gst_dpm_port_table_remove (port, uplink->peer);
  if (!port->away)
    port->home = uplink->address;
  uplink->client = next->client;
  uplink->crypto = next->crypto;
  next->crypto = crypto;
  uplink->address = next->address;
  port->away = !fmx_join_address_same (&uplink->address, &port->home);
  gst_dpm_peer_take_session (uplink->peer, next->peer);
  move_end (port);
  gst_dpm_port_table_add (port, &uplink->address, uplink->peer);
  port->n_moves++;
  tell_uplink (port, FMX_JOIN_CLIENT_JOINED, FMX_JOIN_REASON_MOVED, FALSE);
  uplink_follow_root (port, now);
}

/* --- the thread that asks for the server's address: this may take long --- */

/* with the lock */
static void
uplink_set_address (GstDpmPort * port, const FmxJoinAddress * address)
{
  GstDpmUplink *uplink = port->uplink;
  FmxJoinClientResult nothing;

  if (fmx_join_client_keys (&uplink->client) != NULL)
    return;
  uplink->address = *address;
  if (!uplink->resolved)
    fmx_join_client_init (&uplink->client, &uplink->params,
        &uplink->crypto->join, &uplink->secret, gst_dpm_port_now (port));
  else if (uplink->closed)      /* the one before; this one may be better */
    fmx_join_client_quit (&uplink->client, FMX_JOIN_REASON_NONE, 0, &nothing,
        gst_dpm_port_now (port));
  uplink->resolved = TRUE;
  uplink->closed = FALSE;
}

static gpointer
resolve (gpointer data)
{
  GstDpmPort *port = data;
  GstDpmUplink *uplink = port->uplink;
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
  } else if (!uplink->resolved || uplink->closed) {     /* or nobody would go on */
    if (!uplink->resolved)
      tell_uplink (port, FMX_JOIN_CLIENT_SILENT, FMX_JOIN_REASON_NONE, FALSE);
    gst_dpm_port_tell (port, gst_dpm_job_new (GST_DPM_JOB_RESOLVE_LATER, NULL,
            FMX_JOIN_REASON_NONE));
  }
  /* who is there may have refused us as soon as the lock is free */
  g_atomic_int_set (&port->resolving, FALSE);
  gst_fairmix_lock_release (&port->lock);
  /* wakes the receiver up, so that it sees that there is something to do */
  g_cancellable_cancel (port->wake_up);
  return NULL;
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

void
gst_dpm_uplink_resolve (GstDpmPort * port)
{
  /* what is next is for when we are out */
  if (g_atomic_int_get (&port->resolving) || gst_dpm_port_is_joined (port))
    return;
  if (port->resolver != NULL)
    g_thread_join (port->resolver);
  g_atomic_int_set (&port->resolving, TRUE);
  port->resolver = g_thread_new ("dpm-resolve", resolve, port);
}
