/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_DPM_PORT_H__
#define __GST_DPM_PORT_H__

#include <gst/gst.h>

#include "fairmix/join/fmx-join-client.h"
#include "fairmix/join/fmx-join-mixer.h"

#include "gstdpmpeer.h"
#include "gstdpmservers.h"

G_BEGIN_DECLS

/**
 * GstDpmPortCallbacks:
 * @joined: a neighbour is in; its elements are to be built
 * @left: a neighbour that was in is out; its elements are to be removed
 * @refused: somebody was not let in; told of a few between two ticks
 * @uplink: something happened between us and the server that we join; @last: we
 *     were refused, and do not try again, there or elsewhere
 * @mixes: a neighbour was asked to mix, and does, or does not, as it says
 * @received: (any thread, in a hurry) a packet of @peer for @pad
 * @tick: five times a second of the system's clock
 *
 * All but @received come from one and the same thread, which is not the one that
 * receives: they may take their time.
 */
typedef struct
{
  void (*joined) (gpointer user, GstDpmPeer * peer);
  void (*left) (gpointer user, GstDpmPeer * peer, FmxJoinReason reason);
  void (*refused) (gpointer user, const gchar * address, FmxJoinReason reason);
  void (*uplink) (gpointer user, FmxJoinClientEvent event,
      FmxJoinReason reason, gboolean last);
  void (*mixes) (gpointer user, GstDpmPeer * peer,
      const FmxJoinMixing * mixing);
  GstFlowReturn (*received) (gpointer user, GstPad * pad, GstBuffer * buffer);
  void (*tick) (gpointer user, FmxTime now);
} GstDpmPortCallbacks;

/**
 * GstDpmPort:
 *
 * One UDP port: who may come in, who is it, SRTP and SRTCP for everybody who is
 * in, and perhaps one server that we join ourselves.  A thread receives and
 * pushes, another one tells what happened.
 */
typedef struct _GstDpmPort GstDpmPort;

/* @callbacks, @user: to live as long as the port */
GstDpmPort *gst_dpm_port_new (const GstDpmPortCallbacks * callbacks,
    gpointer user);
void gst_dpm_port_free (GstDpmPort * port);

/* Before gst_dpm_port_start().  @params: of the mixer's side; %NULL: nobody may
 * come in. */
gboolean gst_dpm_port_serve (GstDpmPort * port,
    const FmxJoinMixerParams * params, const FmxJoinSecret * secret);

/* After gst_dpm_port_serve() and gst_dpm_port_connect(): nobody may come in until the
 * server asks us to mix. */
void gst_dpm_port_serve_when_asked (GstDpmPort * port);

/* Before gst_dpm_port_start().  @server: one or several, see #GstDpmServers.
 * Returns: (transfer none) (nullable): the server as a neighbour; %NULL: @server
 * cannot be read */
GstDpmPeer *gst_dpm_port_connect (GstDpmPort * port, const gchar * server,
    const FmxJoinClientParams * params, const FmxJoinSecret * secret,
    GError ** error);

/* @address: (nullable): where to listen; @number: the UDP port, 0: any */
gboolean gst_dpm_port_open (GstDpmPort * port, const gchar * address,
    guint number, GError ** error);
/* See gst_dpm_socket_set_ect(). */
gboolean gst_dpm_port_set_ect (GstDpmPort * port);
void gst_dpm_port_start (GstDpmPort * port);

/* Who is below because the server asked us is sent there; waits a little until they
 * are gone. */
void gst_dpm_port_drain (GstDpmPort * port);

/* No more callbacks from here on, but perhaps one more packet. */
void gst_dpm_port_stop_telling (GstDpmPort * port);

/* Says goodbye to everybody and closes; nobody may hold a push back any more. */
void gst_dpm_port_stop (GstDpmPort * port);

/* Returns: the UDP port that is open; 0: none */
guint gst_dpm_port_get_number (GstDpmPort * port);

void gst_dpm_port_send (GstDpmPort * port, GstDpmPeer * peer,
    GstBuffer * buffer, gboolean rtcp);

/* while it serves */
void gst_dpm_port_set_max_clients (GstDpmPort * port, guint max_clients);
void gst_dpm_port_kick (GstDpmPort * port, guint neighbour);

/* Asks a neighbour to mix for others, or not to any more. */
void gst_dpm_port_ask (GstDpmPort * port, guint neighbour, gboolean begin);
/* The least rate that one of those has for whom we mix, in bit/s, which who asked us is
 * told; 0: not known. */
void gst_dpm_port_set_least_bps (GstDpmPort * port, guint64 least_bps);
/* Tells a neighbour to go to another one, that mixes. */
void gst_dpm_port_move (GstDpmPort * port, guint neighbour, guint mixer);

/* Adds what there is to tell to @stats. */
void gst_dpm_port_add_stats (GstDpmPort * port, GstStructure * stats);

/* @uplink: that there is one, and it is in */
gboolean gst_dpm_port_is_joined (GstDpmPort * port);

G_END_DECLS

#endif /* __GST_DPM_PORT_H__ */
