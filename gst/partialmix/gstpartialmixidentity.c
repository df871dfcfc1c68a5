/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixidentity.h"

#include <string.h>

#include <gst/net/gstnetaddressmeta.h>

#define RIVAL_TIME (10 * GST_SECOND)
#define RIVAL_CLAIMS 3
#define MAX_CLAIMS 64           /* of each neighbour */
#define IPV4_BYTES 4
#define IPV6_BYTES 16

/* --------------------------------------------------------------- places -- */

/* A socket for both families shows IPv4 as IPv6 [RFC4291 2.5.5.2]. */
static const guint8 *
ipv4_bytes (GInetAddress * host)
{
  static const guint8 mapped[IPV6_BYTES - IPV4_BYTES] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff
  };
  const guint8 *bytes = g_inet_address_to_bytes (host);

  if (g_inet_address_get_native_size (host) == IPV4_BYTES)
    return bytes;
  return memcmp (bytes, mapped, sizeof mapped) == 0 ? bytes + sizeof mapped
      : NULL;
}

static gboolean
is_same_host (GInetAddress * a, GInetAddress * b)
{
  const guint8 *bytes_a = ipv4_bytes (a), *bytes_b = ipv4_bytes (b);

  if (bytes_a != NULL && bytes_b != NULL)
    return memcmp (bytes_a, bytes_b, IPV4_BYTES) == 0;
  return g_inet_address_equal (a, b);
}

gboolean
gst_partial_mix_place_matches (const GstPartialMixPlace * a,
    const GstPartialMixPlace * b)
{
  return a->neighbour == b->neighbour && (a->host == NULL || b->host == NULL
      || is_same_host (a->host, b->host));
}

GInetAddress *
gst_partial_mix_buffer_host (GstBuffer * buffer)
{
  GstNetAddressMeta *meta = gst_buffer_get_net_address_meta (buffer);

  if (meta == NULL || !G_IS_INET_SOCKET_ADDRESS (meta->addr))
    return NULL;
  return g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (meta->addr));
}

/* ------------------------------------------------------------- identity -- */

static void
forget_rival (GstPartialMixIdentity * identity)
{
  g_clear_pointer (&identity->rival, g_free);
  identity->n_rival = 0;
}

void
gst_partial_mix_identity_clear (GstPartialMixIdentity * identity)
{
  g_clear_object (&identity->place.host);
  g_clear_pointer (&identity->cname, g_free);
  forget_rival (identity);
}

void
gst_partial_mix_identity_set_host (GstPartialMixIdentity * identity,
    GInetAddress * host)
{
  if (host != NULL)
    g_set_object (&identity->place.host, host);
}

void
gst_partial_mix_identity_set_cname (GstPartialMixIdentity * identity,
    const gchar * cname, gboolean said)
{
  gchar *copy = g_strdup (cname);

  g_free (identity->cname);
  identity->cname = copy;
  identity->said = said;
  forget_rival (identity);
}

gboolean
gst_partial_mix_identity_claim (GstPartialMixIdentity * identity,
    const gchar * cname, GstClockTime now)
{
  if (identity->said)
    return FALSE;
  if (identity->cname == NULL)
    return TRUE;
  if (strcmp (identity->cname, cname) == 0) {
    forget_rival (identity);
    return FALSE;
  }
  if (g_strcmp0 (identity->rival, cname) != 0) {
    forget_rival (identity);
    identity->rival = g_strdup (cname);
    identity->rival_since = now;
  }
  identity->n_rival++;
  return identity->n_rival >= RIVAL_CLAIMS
      && now >= identity->rival_since + RIVAL_TIME;
}

GstPartialMixPresence
gst_partial_mix_identity_check_bye (GstPartialMixIdentity * identity,
    GstClockTime last_arrival, GstClockTime now)
{
  if (!identity->leaving)
    return GST_PARTIAL_MIX_STAYS;
  if (last_arrival >= identity->bye_at + GST_PARTIAL_MIX_BYE_WAIT) {
    identity->leaving = FALSE;
    return GST_PARTIAL_MIX_BYE_WAS_VOID;
  }
  return now >= MAX (last_arrival, identity->bye_at)
      + GST_PARTIAL_MIX_BYE_WAIT ? GST_PARTIAL_MIX_LEFT : GST_PARTIAL_MIX_STAYS;
}

/* --------------------------------------------------------------- claims -- */

typedef struct
{
  guint32 ssrc;
  GstPartialMixPlace place;
  gchar *cname;
} Claim;

struct _GstPartialMixClaims
{
  GHashTable *by_neighbour;     /* -> GQueue of Claim, the oldest first */
};

static void
claim_free (gpointer data)
{
  Claim *claim = data;

  g_clear_object (&claim->place.host);
  g_free (claim->cname);
  g_free (claim);
}

static void
queue_free (gpointer data)
{
  g_queue_free_full (data, claim_free);
}

GstPartialMixClaims *
gst_partial_mix_claims_new (void)
{
  GstPartialMixClaims *claims = g_new (GstPartialMixClaims, 1);

  claims->by_neighbour = g_hash_table_new_full (NULL, NULL, NULL, queue_free);
  return claims;
}

void
gst_partial_mix_claims_free (GstPartialMixClaims * claims)
{
  g_hash_table_unref (claims->by_neighbour);
  g_free (claims);
}

void
gst_partial_mix_claims_clear (GstPartialMixClaims * claims)
{
  g_hash_table_remove_all (claims->by_neighbour);
}

void
gst_partial_mix_claims_forget (GstPartialMixClaims * claims, gint neighbour)
{
  g_hash_table_remove (claims->by_neighbour, GINT_TO_POINTER (neighbour));
}

void
gst_partial_mix_claims_add (GstPartialMixClaims * claims, guint32 ssrc,
    const GstPartialMixPlace * place, const gchar * cname)
{
  gpointer key = GINT_TO_POINTER (place->neighbour);
  GQueue *queue = g_hash_table_lookup (claims->by_neighbour, key);
  Claim *claim;
  GList *l;

  if (queue == NULL) {
    queue = g_queue_new ();
    g_hash_table_insert (claims->by_neighbour, key, queue);
  }
  /* the first claim holds */
  for (l = queue->head; l != NULL; l = l->next) {
    claim = l->data;
    if (claim->ssrc == ssrc
        && gst_partial_mix_place_matches (&claim->place, place))
      return;
  }
  if (queue->length >= MAX_CLAIMS)
    claim_free (g_queue_pop_head (queue));
  claim = g_new (Claim, 1);
  claim->ssrc = ssrc;
  claim->place.neighbour = place->neighbour;
  claim->place.host = place->host != NULL ? g_object_ref (place->host) : NULL;
  claim->cname = g_strdup (cname);
  g_queue_push_tail (queue, claim);
}

gchar *
gst_partial_mix_claims_take (GstPartialMixClaims * claims, guint32 ssrc,
    const GstPartialMixPlace * place)
{
  GQueue *queue = g_hash_table_lookup (claims->by_neighbour,
      GINT_TO_POINTER (place->neighbour));
  gchar *cname = NULL;
  GList *l = queue != NULL ? queue->head : NULL;

  while (l != NULL) {
    Claim *claim = l->data;
    GList *next = l->next;

    if (claim->ssrc == ssrc) {
      if (cname == NULL && gst_partial_mix_place_matches (&claim->place, place))
        cname = g_strdup (claim->cname);
      claim_free (claim);
      g_queue_delete_link (queue, l);
    }
    l = next;
  }
  return cname;
}
