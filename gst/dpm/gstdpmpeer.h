/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_DPM_PEER_H__
#define __GST_DPM_PEER_H__

#include <gio/gio.h>
#include <gst/gst.h>

#include "fairmix/join/fmx-join-crypto.h"
#include "fairmix/join/fmx-join-guard.h"

#include "gstdpmsocket.h"

G_BEGIN_DECLS

/** GST_DPM_MAX_SSRCS: of one neighbour, in each direction, while a session
 * lasts; SRTP must remember them all, or their keys would be used twice */
#define GST_DPM_MAX_SSRCS 4096

/**
 * GstDpmPeerStats:
 * @n_received: packets that were genuine
 * @n_forged: packets from the neighbour's address that were not
 * @n_replayed: genuine ones that had come before
 * @n_malformed: too short, or of more SSRCs than may be
 * @n_early: genuine ones that came before there were elements for them
 * @n_sent: packets that were sent
 * @n_unsent: those that could not be sent: no session, no room in the socket
 * @n_protect_failed: those that SRTP refused, as with a number used before
 */
typedef struct
{
  guint64 n_received;
  guint64 n_forged;
  guint64 n_replayed;
  guint64 n_malformed;
  guint64 n_early;
  guint64 n_sent;
  guint64 n_unsent;
  guint64 n_protect_failed;
} GstDpmPeerStats;

/**
 * GstDpmPeer:
 *
 * A neighbour as the network sees it: an address, SRTP in both directions, and
 * the pads to which its packets go.  All functions may be called from any
 * thread.
 */
typedef struct _GstDpmPeer GstDpmPeer;

/* Does what the first one would do else, once: some 15 ms, which nobody who
 * receives has. */
void gst_dpm_peer_prepare (void);

/* @number: the neighbour's */
GstDpmPeer *gst_dpm_peer_new (guint number, const gchar * name, guint flags,
    guint max_streams);
GstDpmPeer *gst_dpm_peer_ref (GstDpmPeer * peer);
void gst_dpm_peer_unref (GstDpmPeer * peer);

guint gst_dpm_peer_get_number (GstDpmPeer * peer);
/* Returns: (transfer none): never changes */
const gchar *gst_dpm_peer_get_name (GstDpmPeer * peer);
guint gst_dpm_peer_get_flags (GstDpmPeer * peer);
guint gst_dpm_peer_get_max_streams (GstDpmPeer * peer);

/* @in, @out: keys of a session that begins; %NULL: the session is over */
gboolean gst_dpm_peer_set_keys (GstDpmPeer * peer, const uint8_t * in,
    const uint8_t * out);
/* @peer goes on with the session of @from, which has none any more. */
void gst_dpm_peer_take_session (GstDpmPeer * peer, GstDpmPeer * from);
void gst_dpm_peer_set_address (GstDpmPeer * peer,
    const FmxJoinAddress * address);
void gst_dpm_peer_get_address (GstDpmPeer * peer, FmxJoinAddress * address);

/* (transfer none) @rtp, @rtcp: where what comes is pushed; %NULL: nowhere */
void gst_dpm_peer_set_pads (GstDpmPeer * peer, GstPad * rtp, GstPad * rtcp);

/* ... where what comes from @other is */
void gst_dpm_peer_share_pads (GstDpmPeer * peer, GstDpmPeer * other);

/**
 * gst_dpm_peer_receive:
 * @data: an SRTP or SRTCP packet from the peer's address; overwritten
 * @pad: (out) (transfer full): where it goes
 *
 * Returns: (transfer full) (nullable): what was in it
 */
GstBuffer *gst_dpm_peer_receive (GstDpmPeer * peer, guint8 * data, gsize size,
    GstPad ** pad);

/**
 * gst_dpm_peer_protect:
 * @data: GST_DPM_MAX_PACKET_BYTES + GST_DPM_TRAILER_BYTES
 * @to: (out): where it goes
 *
 * Returns: the size of the SRTP or SRTCP packet in @data, 0 if it may not go
 */
gsize gst_dpm_peer_protect (GstDpmPeer * peer, GstBuffer * buffer,
    gboolean rtcp, guint8 * data, FmxJoinAddress * to);

void gst_dpm_peer_count_sent (GstDpmPeer * peer, gboolean sent);
/* Returns: whether one direction has but a quarter of GST_DPM_MAX_SSRCS left */
gboolean gst_dpm_peer_is_worn (GstDpmPeer * peer);
/* Removes what was added for it: pads `rtp_%u` and `rtcp_%u` of its number. */
void gst_dpm_peer_remove_pads (GstDpmPeer * peer, GstElement * element);

void gst_dpm_peer_get_stats (GstDpmPeer * peer, GstDpmPeerStats * stats);

/* Returns: (transfer full): "a.b.c.d:port" or "[v6]:port" */
gchar *gst_dpm_address_to_string (const FmxJoinAddress * address);

G_END_DECLS

#endif /* __GST_DPM_PEER_H__ */
