/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_DPM_SOCKET_H__
#define __GST_DPM_SOCKET_H__

#include <gio/gio.h>

#include "fairmix/join/fmx-join-guard.h"

G_BEGIN_DECLS

/** GST_DPM_MAX_PACKET_BYTES: larger datagrams are dropped */
#define GST_DPM_MAX_PACKET_BYTES 1500

/** GST_DPM_TRAILER_BYTES: what SRTP and SRTCP add to a packet at the most */
#define GST_DPM_TRAILER_BYTES 160

/**
 * GstDpmSocket:
 *
 * A UDP socket for IPv4 and IPv6 that never blocks.
 */
typedef struct
{
  /*< private >*/
  GSocket *socket;
  gboolean is_v6;
  gboolean ect;                 /* RTP says that it is ECN-capable */
  guint8 tos;                   /* of the datagram that was received last */
} GstDpmSocket;

/** GST_DPM_MAX_DATAGRAMS: that are sent with one call */
#define GST_DPM_MAX_DATAGRAMS 64

/**
 * GstDpmDatagram:
 * @data: from an address that is a multiple of eight
 * @size: of @data, in bytes
 * @to: where it goes
 * @sent: (out): whether the system took it
 */
typedef struct
{
  guint8 data[GST_DPM_MAX_PACKET_BYTES + GST_DPM_TRAILER_BYTES];
  gsize size;
  FmxJoinAddress to;
  gboolean sent;
} GstDpmDatagram;

/* @address: (nullable): where to listen; %NULL: everywhere; @port: 0: any */
gboolean gst_dpm_socket_open (GstDpmSocket * self, const gchar * address,
    guint port, GError ** error);
void gst_dpm_socket_close (GstDpmSocket * self);

/* RTP that is sent from now on says ECT(0) [RFC3168 5]; RTCP and what sets up a session do
 * not [RFC6679 7].  Returns: whether we know how on this system */
gboolean gst_dpm_socket_set_ect (GstDpmSocket * self);
/* Returns: the byte of the IP header with ECN in it, of what was received last; 0 if the
 * system does not tell */
guint8 gst_dpm_socket_get_tos (const GstDpmSocket * self);

guint gst_dpm_socket_get_port (GstDpmSocket * self);

/* Returns: whether something may have come; waits for it, @timeout_us at the
 * most, -1: without end */
gboolean gst_dpm_socket_wait (GstDpmSocket * self, gint64 timeout_us,
    GCancellable * cancellable);

/* Returns: the size of the datagram, 0 if there is none, or many empty ones came before
 * it */
gsize gst_dpm_socket_receive (GstDpmSocket * self, guint8 * data, gsize size,
    FmxJoinAddress * from);

/* Returns: whether the system took it */
gboolean gst_dpm_socket_send (GstDpmSocket * self, const guint8 * data,
    gsize size, const FmxJoinAddress * to);

/* @n: at most %GST_DPM_MAX_DATAGRAMS.  Sets their @sent; as few calls of the system
 * as it takes */
void gst_dpm_socket_send_all (GstDpmSocket * self, GstDpmDatagram * datagrams,
    guint n);

/* @places: (out) (array length=most): where others can reach the socket, as far as we
 * know: what it is bound to, or the addresses of this host that are not its own
 * only.  Returns: how many */
guint gst_dpm_socket_get_places (GstDpmSocket * self, FmxJoinAddress * places,
    guint most);

/* Returns: FALSE if @text is a link-local address of IPv6 that does not say of which link */
gboolean gst_dpm_address_check (const gchar * text, GError ** error);

/* Returns: FALSE if it is no address of the Internet */
gboolean gst_dpm_address_from_gio (FmxJoinAddress * address,
    GSocketAddress * from);

G_END_DECLS

#endif /* __GST_DPM_SOCKET_H__ */
