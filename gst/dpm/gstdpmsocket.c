/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE             /* sendmmsg() */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmsocket.h"

#include <gio/gnetworking.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <string.h>

#define RECEIVE_BUFFER_BYTES (4 << 20)
#define MAX_NOTHINGS 64         /* read over in one call */
#define ECT_0 2

static const guint8 v4_prefix[12] = {[10] = 0xff,[11] = 0xff };

/* @local: (transfer full) */
static GSocket *
bind_new (GSocketAddress * local, GError ** error)
{
  GSocket *socket = g_socket_new (g_socket_address_get_family (local),
      G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, error);

  if (socket != NULL && !g_socket_bind (socket, local, FALSE, error))
    g_clear_object (&socket);
  g_object_unref (local);
  return socket;
}

static GSocket *
bind_any (GSocketFamily family, guint port, GError ** error)
{
  GInetAddress *any = g_inet_address_new_any (family);
  GSocketAddress *local = g_inet_socket_address_new (any, (guint16) port);

  g_object_unref (any);
  return bind_new (local, error);
}

gboolean
gst_dpm_address_check (const gchar * text, GError ** error)
{
  GInetAddress *address = g_inet_address_new_from_string (text);
  gboolean no_zone = address != NULL && strchr (text, '%') == NULL
      && g_inet_address_get_family (address) == G_SOCKET_FAMILY_IPV6
      && g_inet_address_get_is_link_local (address);

  g_clear_object (&address);
  if (no_zone)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "\"%s\" is link-local: say on which link, as in %s%%eth0", text, text);
  return !no_zone;
}

static GSocket *
bind_to (const gchar * address, guint port, GError ** error)
{
  GSocketAddress *local;

  if (!gst_dpm_address_check (address, error))
    return NULL;
  local = g_inet_socket_address_new_from_string (address, port);
  if (local == NULL) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "\"%s\" is no IP address", address);
    return NULL;
  }
  return bind_new (local, error);
}

gboolean
gst_dpm_socket_open (GstDpmSocket * self, const gchar * address, guint port,
    GError ** error)
{
  if (address != NULL) {
    self->socket = bind_to (address, port, error);
  } else {
    /* GLib lets an IPv6 socket speak IPv4 as well; some hosts have no IPv6. */
    self->socket = bind_any (G_SOCKET_FAMILY_IPV6, port, NULL);
    if (self->socket == NULL)
      self->socket = bind_any (G_SOCKET_FAMILY_IPV4, port, error);
  }
  if (self->socket == NULL)
    return FALSE;
  self->is_v6 = g_socket_get_family (self->socket) == G_SOCKET_FAMILY_IPV6;
  g_socket_set_blocking (self->socket, FALSE);
  /* the system makes it less where it must */
  g_socket_set_option (self->socket, SOL_SOCKET, SO_RCVBUF,
      RECEIVE_BUFFER_BYTES, NULL);
  /* an IPv6 socket speaks IPv4 as well, where the host has both */
  g_socket_set_option (self->socket, IPPROTO_IP, IP_RECVTOS, TRUE, NULL);
  if (self->is_v6)
    g_socket_set_option (self->socket, IPPROTO_IPV6, IPV6_RECVTCLASS, TRUE,
        NULL);
  self->ect = FALSE;
  return TRUE;
}

gboolean
gst_dpm_socket_set_ect (GstDpmSocket * self)
{
#ifdef __linux__
  self->ect = TRUE;
#endif
  return self->ect;
}

guint8
gst_dpm_socket_get_tos (const GstDpmSocket * self)
{
  return self->tos;
}

void
gst_dpm_socket_close (GstDpmSocket * self)
{
  if (self->socket != NULL)
    g_socket_close (self->socket, NULL);
  g_clear_object (&self->socket);
}

guint
gst_dpm_socket_get_port (GstDpmSocket * self)
{
  GSocketAddress *local = self->socket != NULL ?
      g_socket_get_local_address (self->socket, NULL) : NULL;
  guint port = local != NULL ?
      g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (local)) : 0;

  g_clear_object (&local);
  return port;
}

gboolean
gst_dpm_socket_wait (GstDpmSocket * self, gint64 timeout_us,
    GCancellable * cancellable)
{
  return g_socket_condition_timed_wait (self->socket, G_IO_IN, timeout_us,
      cancellable, NULL);
}

static gboolean
address_from_native (FmxJoinAddress * address,
    const struct sockaddr_storage *from)
{
  if (from->ss_family == AF_INET6) {
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *) from;

    memcpy (address->ip, &in6->sin6_addr, 16);
    address->port = g_ntohs (in6->sin6_port);
    /* of what is not link-local it says nothing that the address does not */
    address->zone = IN6_IS_ADDR_LINKLOCAL (&in6->sin6_addr) ?
        in6->sin6_scope_id : 0;
    return TRUE;
  }
  if (from->ss_family == AF_INET) {
    const struct sockaddr_in *in4 = (const struct sockaddr_in *) from;

    memcpy (address->ip, v4_prefix, sizeof v4_prefix);
    memcpy (address->ip + 12, &in4->sin_addr, 4);
    address->port = g_ntohs (in4->sin_port);
    address->zone = 0;
    return TRUE;
  }
  return FALSE;
}

/* IPv4 has it as a byte, IPv6 as an int. */
static guint8
read_tos (struct msghdr *header)
{
  struct cmsghdr *control;
  gint number;

  for (control = CMSG_FIRSTHDR (header); control != NULL;
      control = CMSG_NXTHDR (header, control)) {
    if (control->cmsg_level == IPPROTO_IP && control->cmsg_type == IP_TOS)
      return *CMSG_DATA (control);
    if (control->cmsg_level == IPPROTO_IPV6
        && control->cmsg_type == IPV6_TCLASS) {
      memcpy (&number, CMSG_DATA (control), sizeof number);
      return (guint8) number;
    }
  }
  return 0;
}

gsize
gst_dpm_socket_receive (GstDpmSocket * self, guint8 * data, gsize size,
    FmxJoinAddress * from)
{
  _Alignas (struct cmsghdr) guint8 control[64];

  /* There is an end to those that are empty, too. */
  for (guint i = 0; i < MAX_NOTHINGS; i++) {
    struct sockaddr_storage native;
    struct iovec part = { data, size };
    struct msghdr header = {.msg_name = &native,.msg_namelen = sizeof native,
      .msg_iov = &part,.msg_iovlen = 1,.msg_control = control,
      .msg_controllen = sizeof control
    };
    gssize n = recvmsg (g_socket_get_fd (self->socket), &header, 0);

    /* An error is one of a packet sent before: somebody is not there any more.
     * Read on; when there is nothing left the answer is EAGAIN. */
    if (n < 0) {
      if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EBADF)
        return 0;
    } else if (n > 0 && address_from_native (from, &native)) {
      self->tos = read_tos (&header);
      return (gsize) n;
    }
  }
  return 0;
}

/* Returns: how long @native is; 0: this socket cannot send there */
static socklen_t
address_to_native (const GstDpmSocket * self, const FmxJoinAddress * to,
    struct sockaddr_storage *native)
{
  struct sockaddr_in6 *in6 = (struct sockaddr_in6 *) native;
  struct sockaddr_in *in4 = (struct sockaddr_in *) native;

  memset (native, 0, sizeof *in6);
  if (self->is_v6) {
    in6->sin6_family = AF_INET6;
    in6->sin6_port = g_htons (to->port);
    memcpy (&in6->sin6_addr, to->ip, 16);
    in6->sin6_scope_id = to->zone;
    return sizeof *in6;
  }
  if (memcmp (to->ip, v4_prefix, sizeof v4_prefix) != 0)
    return 0;
  in4->sin_family = AF_INET;
  in4->sin_port = g_htons (to->port);
  memcpy (&in4->sin_addr, to->ip + 12, 4);
  return sizeof *in4;
}

/* [RFC5761 4] Not RTCP, and not what else has the same port */
static gboolean
is_rtp (const guint8 * data, gsize size)
{
  return size >= 2 && data[0] >> 6 == 2 && (data[1] & 0x60) != 0x40;
}

/* What the system is told of a datagram */
typedef struct
{
  struct iovec part;
  struct sockaddr_storage native;
  _Alignas (struct cmsghdr) guint8 control[CMSG_SPACE (sizeof (gint))];
} Envelope;

/* [RFC6679 7] RTP may say that it is ECN-capable, RTCP must not, and what else controls a
 * session should not: that is not slowed down when it is marked. */
static void
write_ect (struct msghdr *header, Envelope * envelope, gboolean v4)
{
  struct cmsghdr *control;
  gint tos = ECT_0;

  memset (envelope->control, 0, sizeof envelope->control);
  header->msg_control = envelope->control;
  header->msg_controllen = sizeof envelope->control;
  control = CMSG_FIRSTHDR (header);
  control->cmsg_level = v4 ? IPPROTO_IP : IPPROTO_IPV6;
  control->cmsg_type = v4 ? IP_TOS : IPV6_TCLASS;
  control->cmsg_len = CMSG_LEN (sizeof tos);
  memcpy (CMSG_DATA (control), &tos, sizeof tos);
}

/* @header: (out): all zero before */
static void
write_header (const GstDpmSocket * self, struct msghdr *header,
    Envelope * envelope, const guint8 * data, gsize size,
    const FmxJoinAddress * to)
{
  envelope->part.iov_base = (guint8 *) data;
  envelope->part.iov_len = size;
  header->msg_iov = &envelope->part;
  header->msg_iovlen = 1;
  header->msg_name = &envelope->native;
  header->msg_namelen = address_to_native (self, to, &envelope->native);
  if (self->ect && is_rtp (data, size))
    write_ect (header, envelope,
        memcmp (to->ip, v4_prefix, sizeof v4_prefix) == 0);
}

gboolean
gst_dpm_socket_send (GstDpmSocket * self, const guint8 * data, gsize size,
    const FmxJoinAddress * to)
{
  struct msghdr header = { 0 };
  Envelope envelope;

  if (self->socket == NULL)
    return FALSE;
  write_header (self, &header, &envelope, data, size, to);
  return header.msg_namelen > 0 && sendmsg (g_socket_get_fd (self->socket),
      &header, 0) == (gssize) size;
}

#ifdef __linux__
void
gst_dpm_socket_send_all (GstDpmSocket * self, GstDpmDatagram * datagrams,
    guint n)
{
  struct mmsghdr headers[GST_DPM_MAX_DATAGRAMS];
  Envelope envelopes[GST_DPM_MAX_DATAGRAMS];
  guint i = 0;

  memset (headers, 0, n * sizeof *headers);
  for (guint k = 0; k < n; k++) {
    datagrams[k].sent = FALSE;
    write_header (self, &headers[k].msg_hdr, &envelopes[k], datagrams[k].data,
        datagrams[k].size, &datagrams[k].to);
  }
  while (self->socket != NULL && i < n) {
    gint done = sendmmsg (g_socket_get_fd (self->socket), headers + i, n - i,
        0);

    for (gint k = 0; k < done; k++)
      datagrams[i++].sent = TRUE;
    if (done < 0)               /* the first one cannot be sent */
      i++;
  }
}
#else
void
gst_dpm_socket_send_all (GstDpmSocket * self, GstDpmDatagram * datagrams,
    guint n)
{
  for (guint i = 0; i < n; i++)
    datagrams[i].sent = gst_dpm_socket_send (self, datagrams[i].data,
        datagrams[i].size, &datagrams[i].to);
}
#endif

gboolean
gst_dpm_address_from_gio (FmxJoinAddress * address, GSocketAddress * from)
{
  struct sockaddr_storage native;

  return g_socket_address_to_native (from, &native, sizeof native, NULL)
      && address_from_native (address, &native);
}

/* Returns: whether others may reach an interface by that address */
static gboolean
is_of_use (const struct ifaddrs *interface, gboolean v6)
{
  const struct sockaddr_in6 *in6 =
      (const struct sockaddr_in6 *) interface->ifa_addr;

  if (in6 == NULL || !(interface->ifa_flags & IFF_UP)
      || interface->ifa_flags & IFF_LOOPBACK)
    return FALSE;
  return in6->sin6_family == AF_INET || (v6 && in6->sin6_family == AF_INET6
      && !IN6_IS_ADDR_LINKLOCAL (&in6->sin6_addr));
}

static guint
places_of_interfaces (GstDpmSocket * self, FmxJoinAddress * places, guint most)
{
  struct ifaddrs *interfaces;
  guint n = 0;

  if (getifaddrs (&interfaces) != 0)
    return 0;
  for (struct ifaddrs * i = interfaces; i != NULL && n < most; i = i->ifa_next) {
    struct sockaddr_storage native;

    if (!is_of_use (i, self->is_v6))
      continue;
    memset (&native, 0, sizeof native);
    memcpy (&native, i->ifa_addr, i->ifa_addr->sa_family == AF_INET ?
        sizeof (struct sockaddr_in) : sizeof (struct sockaddr_in6));
    if (address_from_native (&places[n], &native))
      places[n++].port = (guint16) gst_dpm_socket_get_port (self);
  }
  freeifaddrs (interfaces);
  return n;
}

guint
gst_dpm_socket_get_places (GstDpmSocket * self, FmxJoinAddress * places,
    guint most)
{
  GSocketAddress *local = self->socket != NULL ?
      g_socket_get_local_address (self->socket, NULL) : NULL;
  gboolean any;
  guint n = 0;

  if (local == NULL)
    return 0;
  any = g_inet_address_get_is_any (g_inet_socket_address_get_address
      (G_INET_SOCKET_ADDRESS (local)));
  if (any)
    n = places_of_interfaces (self, places, most);
  else if (most > 0)
    n = gst_dpm_address_from_gio (&places[0], local);
  g_object_unref (local);
  return n;
}
