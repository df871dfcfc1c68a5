/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfairmixorigin.h"

#include <gst/net/gstnetaddressmeta.h>

typedef struct
{
  GList link;                   /* of GstFairmixOrigins.recent */
  gpointer ssrc;
  GSocketAddress *address;
  GstClockTime last;            /* from there */
  gboolean told;                /* that there is another one */
} Origin;

struct _GstFairmixOrigins
{
  guint most;
  GHashTable *by_ssrc;          /* of Origin */
  GQueue recent;                /* of Origin, the last heard first */
};

gboolean
gst_fairmix_origin_is_other (GSocketAddress ** known, GstBuffer * buffer)
{
  GstNetAddressMeta *meta = gst_buffer_get_net_address_meta (buffer);
  GInetSocketAddress *before, *from;

  if (meta == NULL || !G_IS_INET_SOCKET_ADDRESS (meta->addr)
      || meta->addr == *known)
    return FALSE;
  if (*known == NULL) {
    *known = g_object_ref (meta->addr);
    return FALSE;
  }
  before = G_INET_SOCKET_ADDRESS (*known);
  from = G_INET_SOCKET_ADDRESS (meta->addr);
  return g_inet_socket_address_get_port (before)
      != g_inet_socket_address_get_port (from)
      || !g_inet_address_equal (g_inet_socket_address_get_address (before),
      g_inet_socket_address_get_address (from));
}

static void
origin_free (gpointer data)
{
  Origin *origin = data;

  g_clear_object (&origin->address);
  g_free (origin);
}

GstFairmixOrigins *
gst_fairmix_origins_new (guint most)
{
  GstFairmixOrigins *origins = g_new0 (GstFairmixOrigins, 1);

  origins->most = most;
  g_queue_init (&origins->recent);
  origins->by_ssrc = g_hash_table_new_full (NULL, NULL, NULL, origin_free);
  return origins;
}

void
gst_fairmix_origins_free (GstFairmixOrigins * origins)
{
  g_hash_table_unref (origins->by_ssrc);
  g_free (origins);
}

static gboolean
is_over (const Origin * origin, GstClockTime now)
{
  return origin->last + GST_FAIRMIX_ORIGIN_WAIT <= now;
}

static void
hear (GstFairmixOrigins * origins, Origin * origin, GstClockTime now)
{
  origin->last = now;
  g_queue_unlink (&origins->recent, &origin->link);
  g_queue_push_head_link (&origins->recent, &origin->link);
}

/* Who floods has as many SSRCs as he likes: no look at all of them for each of his packets.
 * Returns: FALSE if too many are known */
static gboolean
make_room (GstFairmixOrigins * origins, GstClockTime now)
{
  Origin *oldest = g_queue_peek_tail (&origins->recent);

  if (origins->recent.length < origins->most)
    return TRUE;
  if (!is_over (oldest, now))
    return FALSE;
  g_queue_unlink (&origins->recent, &oldest->link);
  g_hash_table_remove (origins->by_ssrc, oldest->ssrc);
  return TRUE;
}

/* Returns: (nullable): NULL if @buffer does not say, or too many are known */
static Origin *
find_origin (GstFairmixOrigins * origins, guint32 ssrc, GstBuffer * buffer,
    GstClockTime now)
{
  gpointer key = GUINT_TO_POINTER (ssrc);
  Origin *origin;

  if (gst_buffer_get_net_address_meta (buffer) == NULL)
    return NULL;
  origin = g_hash_table_lookup (origins->by_ssrc, key);
  if (origin != NULL)
    return origin;
  if (!make_room (origins, now))
    return NULL;
  origin = g_new0 (Origin, 1);
  origin->link.data = origin;
  origin->ssrc = key;
  g_hash_table_insert (origins->by_ssrc, key, origin);
  g_queue_push_head_link (&origins->recent, &origin->link);
  origin->last = now;
  return origin;
}

gboolean
gst_fairmix_origins_intrudes (GstFairmixOrigins * origins, guint32 ssrc,
    GstBuffer * buffer, GstClockTime now, gboolean * first)
{
  Origin *origin = find_origin (origins, ssrc, buffer, now);

  *first = FALSE;
  if (origin == NULL)
    return FALSE;
  if (gst_fairmix_origin_is_other (&origin->address, buffer)) {
    if (!is_over (origin, now)) {
      *first = !origin->told;
      origin->told = TRUE;
      return TRUE;
    }
    g_clear_object (&origin->address);
    gst_fairmix_origin_is_other (&origin->address, buffer);
    origin->told = FALSE;
  }
  hear (origins, origin, now);
  return FALSE;
}
