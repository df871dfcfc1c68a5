/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The neighbours that come to a port. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmport-private.h"

#include <string.h>

#define MAX_JOBS 64             /* a neighbour's elements may take milliseconds */
#define MAX_KNOCKS 128
#define MAX_REFUSALS 5          /* told of in a tick; strangers make them, any number */
#define KNOCK_LIFE (1 * FMX_SECOND)     /* who knocked before that has begun anew */

FmxTime
gst_dpm_port_now (GstDpmPort * port)
{
  return (FmxTime) gst_clock_get_time (port->clock);
}

void
gst_dpm_job_free (gpointer data)
{
  GstDpmJob *job = data;

  g_clear_pointer (&job->peer, gst_dpm_peer_unref);
  g_free (job);
}

GstDpmJob *
gst_dpm_job_new (GstDpmJobKind kind, GstDpmPeer * peer, FmxJoinReason reason)
{
  GstDpmJob *job = g_new0 (GstDpmJob, 1);

  job->kind = kind;
  job->peer = peer != NULL ? gst_dpm_peer_ref (peer) : NULL;
  job->reason = reason;
  return job;
}

void
gst_dpm_port_table_add (GstDpmPort * port, const FmxJoinAddress * address,
    GstDpmPeer * peer)
{
  gst_dpm_peer_set_address (peer, address);
  g_hash_table_replace (port->by_address, g_memdup2 (address, sizeof *address),
      gst_dpm_peer_ref (peer));
}

void
gst_dpm_port_table_remove (GstDpmPort * port, GstDpmPeer * peer)
{
  FmxJoinAddress address;

  gst_dpm_peer_get_address (peer, &address);
  if (g_hash_table_lookup (port->by_address, &address) == peer)
    g_hash_table_remove (port->by_address, &address);
}

void
gst_dpm_port_tell (GstDpmPort * port, GstDpmJob * job)
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
  gst_dpm_port_table_remove (port, peer);
  gst_dpm_peer_set_keys (peer, NULL, NULL);
  gst_dpm_port_tell (port, gst_dpm_job_new (GST_DPM_JOB_LEFT, peer, reason));
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
  gst_dpm_port_table_add (port, &session->address, peer);
  gst_dpm_port_tell (port, gst_dpm_job_new (GST_DPM_JOB_JOINED, peer,
          FMX_JOIN_REASON_NONE));
}

static void
session_moved (GstDpmPort * port, guint index)
{
  GstDpmPeer *peer = port->peers[index];

  gst_dpm_port_table_remove (port, peer);
  gst_dpm_port_table_add (port, &fmx_join_mixer_session (&port->mixer,
          index)->address, peer);
}

/* A neighbour says whether it mixes, and where. */
static void
session_mixes (GstDpmPort * port, const FmxJoinMixerResult * result)
{
  GstDpmPlaces *places = &port->places[result->session];
  GstDpmJob *job =
      gst_dpm_job_new (GST_DPM_JOB_MIXES, port->peers[result->session],
      FMX_JOIN_REASON_NONE);

  memcpy (places->places, result->places, sizeof places->places);
  places->n_places = result->n_places;
  if (gst_dpm_port_is_behind (port)) {  /* it says so again */
    gst_dpm_job_free (job);
    return;
  }
  job->mixing.mixes = result->mixes;
  job->mixing.n_below = result->n_below;
  job->mixing.least_bps = result->least_bps;
  gst_dpm_port_tell (port, job);
}

void
gst_dpm_port_act_as_mixer (GstDpmPort * port, const FmxJoinMixerResult * result)
{
  GstDpmJob *job;

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
      if (port->n_refusals++ >= MAX_REFUSALS)   /* the statistics have them all */
        break;
      job = gst_dpm_job_new (GST_DPM_JOB_REFUSED, NULL, result->reason);
      job->address = result->to;
      gst_dpm_port_tell (port, job);
      break;
    case FMX_JOIN_MIXER_MIXES:
      session_mixes (port, result);
      break;
    default:
      break;
  }
}

/* --- who knocks ----------------------------------------------------------- */

gboolean
gst_dpm_port_is_behind (GstDpmPort * port)
{
  return g_async_queue_length (port->jobs) >= MAX_JOBS;
}

void
gst_dpm_port_note_knock (GstDpmPort * port, const FmxJoinAddress * from,
    const guint8 * data, gsize size)
{
  GstDpmKnock *knock;

  if (port->knocks == NULL)
    port->knocks = g_new (GstDpmKnock, MAX_KNOCKS);
  if (port->n_knocks == MAX_KNOCKS) {
    port->n_forgotten++;
    return;
  }
  knock = &port->knocks[(port->first_knock + port->n_knocks++) % MAX_KNOCKS];
  knock->from = *from;
  knock->at = gst_dpm_port_now (port);
  knock->size = size;
  memcpy (knock->data, data, size);
}

void
gst_dpm_port_admit (GstDpmPort * port)
{
  FmxTime now = gst_dpm_port_now (port);
  FmxJoinMixerResult result;
  const GstDpmKnock *knock;

  if (port->n_knocks == 0 || gst_dpm_port_is_behind (port))
    return;
  knock = &port->knocks[port->first_knock];
  gst_fairmix_lock_acquire (&port->lock);
  if (fmx_time_diff (now, knock->at) > KNOCK_LIFE) {
    port->n_forgotten++;
  } else {
    fmx_join_mixer_admit (&port->mixer, &knock->from, knock->data, knock->size,
        &result, now);
    gst_dpm_port_act_as_mixer (port, &result);
  }
  gst_fairmix_lock_release (&port->lock);
  port->first_knock = (port->first_knock + 1) % MAX_KNOCKS;
  port->n_knocks--;
}

gboolean
gst_dpm_port_is_open (GstDpmPort * port)
{
  return port->serves && (port->max_mixing == 0 || port->mixes);
}
