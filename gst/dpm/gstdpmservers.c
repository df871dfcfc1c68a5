/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmservers.h"

#include <string.h>

#include "fairmix/join/fmx-join-message.h"

#include "gstdpmcrypto.h"
#include "gstdpmsocket.h"

#define MAX_ADDRESSES 32        /* of one name */
#define ASK_TIMES 2
#define ASK_PATIENCE_US (250 * 1000)

typedef struct
{
  GSocketConnectable *host;
  gchar *domain;                /* (nullable): may be a service */
} Server;

struct _GstDpmServers
{
  GPtrArray *servers;           /* of Server */
  guint next_server;
  GArray *addresses;            /* of FmxJoinAddress: of the one before that */
  guint next_address;
  gint has_service;             /* atomic */
  guint n_given, n_refused;     /* in this round of all of them ... */
  guint n_absent;               /* ... and names that had no address */
  gboolean may_refuse;          /* the one that was given last has not yet */
};

static void
server_free (gpointer data)
{
  Server *server = data;

  g_object_unref (server->host);
  g_free (server->domain);
  g_free (server);
}

/* Returns: (nullable) */
static Server *
server_new (const gchar * text, GError ** error)
{
  GSocketConnectable *host;
  Server *server;

  if (*text == 0) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "there is no name");
    return NULL;
  }
  host = g_network_address_parse (text, GST_DPM_DEFAULT_PORT, error);
  if (host == NULL)
    return NULL;
  if (!gst_dpm_address_check (g_network_address_get_hostname
          (G_NETWORK_ADDRESS (host)), error)) {
    g_object_unref (host);
    return NULL;
  }
  server = g_new0 (Server, 1);
  server->host = host;
  if (strchr (text, ':') == NULL && !g_hostname_is_ip_address (text)
      && strcmp (text, "localhost") != 0)
    server->domain = g_strdup (text);
  return server;
}

GstDpmServers *
gst_dpm_servers_new (const gchar * text, GError ** error)
{
  gchar **names = g_strsplit (text, ",", -1);
  GstDpmServers *self = g_new0 (GstDpmServers, 1);
  gboolean good = TRUE;

  self->servers = g_ptr_array_new_with_free_func (server_free);
  self->addresses = g_array_new (FALSE, FALSE, sizeof (FmxJoinAddress));
  for (guint i = 0; good && names[i] != NULL; i++) {
    Server *server = server_new (g_strstrip (names[i]), error);

    good = server != NULL;
    if (good)
      g_ptr_array_add (self->servers, server);
  }
  if (good && self->servers->len == 0) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "it is empty");
    good = FALSE;
  }
  g_strfreev (names);
  if (!good)
    g_clear_pointer (&self, gst_dpm_servers_free);
  return self;
}

void
gst_dpm_servers_free (GstDpmServers * self)
{
  g_ptr_array_unref (self->servers);
  g_array_unref (self->addresses);
  g_free (self);
}

gboolean
gst_dpm_servers_have_choice (GstDpmServers * self)
{
  return self->servers->len > 1 || g_atomic_int_get (&self->has_service);
}

void
gst_dpm_servers_refused (GstDpmServers * self)
{
  if (self->may_refuse)         /* it may be asked again, if there is no other now */
    self->n_refused++;
  self->may_refuse = FALSE;
}

/* --- who is nearest -------------------------------------------------------- */

/* Returns: which of @addresses an answer to our HELLO has come from; @n: none */
static guint
read_answer (GstDpmSocket * socket, const FmxJoinMessage * hello,
    const FmxJoinAddress * addresses, guint n)
{
  guint8 data[FMX_JOIN_MAX_BYTES + 1];
  FmxJoinMessage answer;
  FmxJoinAddress from;
  gsize size;

  while ((size = gst_dpm_socket_receive (socket, data, sizeof data, &from)) > 0) {
    if (fmx_join_message_parse (&answer, data, size) != FMX_JOIN_VALID
        || answer.type != FMX_JOIN_COOKIE
        || memcmp (answer.u.cookie.nonce, hello->u.hello.nonce,
            FMX_JOIN_NONCE_BYTES) != 0)
      continue;
    for (guint i = 0; i < n; i++)
      if (fmx_join_address_same (&from, &addresses[i]))
        return i;
  }
  return n;
}

/* Says HELLO to all of them; the first that answers becomes the first. */
static void
nearest_first (FmxJoinAddress * addresses, guint n, GCancellable * cancellable)
{
  FmxJoinMessage hello = {.type = FMX_JOIN_HELLO };
  GstDpmSocket socket = { 0 };
  guint8 data[FMX_JOIN_MAX_BYTES];
  guint first = n;

  if (n < 2 || !gst_dpm_socket_open (&socket, NULL, 0, NULL))
    return;
  for (guint i = 0; i < FMX_JOIN_NONCE_BYTES; i += sizeof (guint64)) {
    guint64 number = gst_dpm_crypto_random_number ();

    memcpy (hello.u.hello.nonce + i, &number, sizeof number);
  }
  for (guint time = 0; time < ASK_TIMES && first == n; time++) {
    gint64 end_us = g_get_monotonic_time () + ASK_PATIENCE_US, left_us;
    gsize size = fmx_join_message_write (&hello, data);

    for (guint i = 0; i < n; i++)
      gst_dpm_socket_send (&socket, data, size, &addresses[i]);
    while (first == n && !g_cancellable_is_cancelled (cancellable)
        && (left_us = end_us - g_get_monotonic_time ()) > 0
        && gst_dpm_socket_wait (&socket, left_us, cancellable))
      first = read_answer (&socket, &hello, addresses, n);
  }
  if (first < n) {
    FmxJoinAddress nearest = addresses[first];

    memmove (addresses + 1, addresses, first * sizeof *addresses);
    addresses[0] = nearest;
  }
  gst_dpm_socket_close (&socket);
}

/* --- addresses ------------------------------------------------------------- */

static void
add_address (GstDpmServers * self, GSocketAddress * found)
{
  FmxJoinAddress address;

  if (self->addresses->len < MAX_ADDRESSES
      && gst_dpm_address_from_gio (&address, found))
    g_array_append_val (self->addresses, address);
}

static void
add_host (GstDpmServers * self, GSocketConnectable * host,
    GCancellable * cancellable)
{
  GSocketAddressEnumerator *found = g_socket_connectable_enumerate (host);
  GSocketAddress *address;

  while ((address = g_socket_address_enumerator_next (found, cancellable,
              NULL)) != NULL) {
    add_address (self, address);
    g_object_unref (address);
  }
  g_object_unref (found);
}

/* [RFC2782] Those of the highest priority first; of them, the nearest. */
static void
add_service (GstDpmServers * self, const gchar * domain,
    GCancellable * cancellable)
{
  GResolver *resolver = g_resolver_get_default ();
  GList *targets = g_resolver_lookup_service (resolver, "dpm", "udp", domain,
      cancellable, NULL);
  guint begin = 0;

  for (GList * l = targets; l != NULL; l = l->next) {
    GSocketConnectable *host =
        g_network_address_new (g_srv_target_get_hostname (l->data),
        g_srv_target_get_port (l->data));
    gboolean last = l->next == NULL || g_srv_target_get_priority (l->data)
        != g_srv_target_get_priority (l->next->data);

    add_host (self, host, cancellable);
    g_object_unref (host);
    if (last) {
      nearest_first ((FmxJoinAddress *) self->addresses->data + begin,
          self->addresses->len - begin, cancellable);
      begin = self->addresses->len;
    }
  }
  g_atomic_int_set (&self->has_service, self->addresses->len > 1);
  g_resolver_free_targets (targets);
  g_object_unref (resolver);
}

/* Returns: what is to be said of the round that is over; FOUND: there may be another one */
static GstDpmNext
round_begin (GstDpmServers * self)
{
  gboolean refused = self->n_given > 0 && self->n_refused == self->n_given;
  GstDpmNext next = !refused ? GST_DPM_NEXT_FOUND
      : self->n_absent > 0 ? GST_DPM_NEXT_NONE : GST_DPM_NEXT_HOPELESS;

  self->n_given = self->n_refused = self->n_absent = 0;
  return next;
}

GstDpmNext
gst_dpm_servers_next (GstDpmServers * self, FmxJoinAddress * address,
    GCancellable * cancellable)
{
  for (guint i = 0; self->next_address >= self->addresses->len; i++) {
    GstDpmNext next = GST_DPM_NEXT_FOUND;
    Server *server;

    if (i == self->servers->len)
      return GST_DPM_NEXT_NONE;
    if (self->next_server == 0)
      next = round_begin (self);
    if (next != GST_DPM_NEXT_FOUND)
      return next;
    server = g_ptr_array_index (self->servers, self->next_server);
    self->next_server = (self->next_server + 1) % self->servers->len;
    self->next_address = 0;
    g_array_set_size (self->addresses, 0);
    if (server->domain != NULL)
      add_service (self, server->domain, cancellable);
    if (self->addresses->len == 0)
      add_host (self, server->host, cancellable);
    if (self->addresses->len == 0)
      self->n_absent++;
  }
  *address = g_array_index (self->addresses, FmxJoinAddress,
      self->next_address++);
  self->n_given++;
  self->may_refuse = TRUE;
  return GST_DPM_NEXT_FOUND;
}
