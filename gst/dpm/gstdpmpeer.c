/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmpeer.h"

#include <net/if.h>
#include <srtp2/srtp.h>
#include <string.h>
#include "common/gstfairmixlock.h"

#define REPLAY_WINDOW 1024      /* packets: 20 s of speech */

/* One direction of SRTP. */
typedef struct
{
  GstFairmixLock lock;
  srtp_t session;               /* NULL: none */
  GHashTable *ssrcs;
} Direction;

struct _GstDpmPeer
{
  gint ref_count;
  guint number;
  gchar *name;
  guint flags;
  guint max_streams;

  Direction in, out;

  /* with the lock, which is taken last */
  GstFairmixLock lock;
  FmxJoinAddress address;
  GstPad *rtp, *rtcp;
  GstDpmPeerStats stats;
};

G_STATIC_ASSERT (SRTP_MAX_TRAILER_LEN + 4 <= GST_DPM_TRAILER_BYTES);

static srtp_t
session_create (const uint8_t * key, gboolean inbound)
{
  srtp_policy_t policy;
  srtp_t session = NULL;

  memset (&policy, 0, sizeof policy);
  srtp_crypto_policy_set_aes_gcm_256_16_auth (&policy.rtp);
  srtp_crypto_policy_set_aes_gcm_256_16_auth (&policy.rtcp);
  policy.ssrc.type = inbound ? ssrc_any_inbound : ssrc_any_outbound;
  policy.key = (unsigned char *) key;
  policy.window_size = REPLAY_WINDOW;
  return srtp_create (&session, &policy) == srtp_err_status_ok ? session : NULL;
}

static gpointer
init_srtp (gpointer nothing)
{
  static const uint8_t key[SRTP_MAX_KEY_LEN];
  srtp_t first;

  /* It fails where somebody else in this process has called it before, as
   * GStreamer's srtp plugin does; srtp_create () fails if it was never done. */
  srtp_init ();
  /* the first session finds and starts a library for ciphers */
  first = session_create (key, TRUE);
  if (first != NULL)
    srtp_dealloc (first);
  return nothing;
}

void
gst_dpm_peer_prepare (void)
{
  static GOnce once = G_ONCE_INIT;

  g_once (&once, init_srtp, NULL);
}

static srtp_t
session_new (const uint8_t * key, gboolean inbound)
{
  gst_dpm_peer_prepare ();
  return session_create (key, inbound);
}

static void
direction_init (Direction * direction)
{
  gst_fairmix_lock_init (&direction->lock, GST_FAIRMIX_RANK_DIRECTION);
  direction->ssrcs = g_hash_table_new (NULL, NULL);
}

/* Returns: whether it works; with @key %NULL it does not, and shall not */
static gboolean
direction_set_key (Direction * direction, const uint8_t * key, gboolean inbound)
{
  srtp_t session = key != NULL ? session_new (key, inbound) : NULL;

  gst_fairmix_lock_acquire (&direction->lock);
  if (direction->session != NULL)
    srtp_dealloc (direction->session);
  direction->session = session;
  g_hash_table_remove_all (direction->ssrcs);
  gst_fairmix_lock_release (&direction->lock);
  return session != NULL;
}

/* The rest of a session of SRTP: which numbers there were, and how often they have
 * begun anew, cannot be told from the keys. */
static void
direction_take (Direction * direction, Direction * from)
{
  GHashTable *ssrcs = g_hash_table_new (NULL, NULL), *old_ssrcs;
  srtp_t session, old_session;

  gst_fairmix_lock_acquire (&from->lock);
  session = from->session;
  from->session = NULL;
  old_ssrcs = from->ssrcs;
  from->ssrcs = ssrcs;
  ssrcs = old_ssrcs;
  gst_fairmix_lock_release (&from->lock);

  gst_fairmix_lock_acquire (&direction->lock);
  old_session = direction->session;
  direction->session = session;
  old_ssrcs = direction->ssrcs;
  direction->ssrcs = ssrcs;
  gst_fairmix_lock_release (&direction->lock);
  if (old_session != NULL)
    srtp_dealloc (old_session);
  g_hash_table_unref (old_ssrcs);
}

static void
direction_clear (Direction * direction)
{
  direction_set_key (direction, NULL, FALSE);
  g_hash_table_unref (direction->ssrcs);
  gst_fairmix_lock_clear (&direction->lock);
}

/* with the direction's lock; Returns: whether it may be one more */
static gboolean
direction_has_room (Direction * direction, guint32 ssrc)
{
  return g_hash_table_size (direction->ssrcs) < GST_DPM_MAX_SSRCS
      || g_hash_table_contains (direction->ssrcs, GUINT_TO_POINTER (ssrc));
}

static gboolean
direction_is_worn (Direction * direction)
{
  gboolean worn;

  gst_fairmix_lock_acquire (&direction->lock);
  worn = g_hash_table_size (direction->ssrcs) >= GST_DPM_MAX_SSRCS / 4 * 3;
  gst_fairmix_lock_release (&direction->lock);
  return worn;
}

GstDpmPeer *
gst_dpm_peer_new (guint number, const gchar * name, guint flags,
    guint max_streams)
{
  GstDpmPeer *peer = g_new0 (GstDpmPeer, 1);

  peer->ref_count = 1;
  peer->number = number;
  peer->name = g_strdup (name);
  peer->flags = flags;
  peer->max_streams = max_streams;
  direction_init (&peer->in);
  direction_init (&peer->out);
  gst_fairmix_lock_init (&peer->lock, GST_FAIRMIX_RANK_PEER);
  return peer;
}

GstDpmPeer *
gst_dpm_peer_ref (GstDpmPeer * peer)
{
  g_atomic_int_inc (&peer->ref_count);
  return peer;
}

void
gst_dpm_peer_unref (GstDpmPeer * peer)
{
  if (!g_atomic_int_dec_and_test (&peer->ref_count))
    return;
  gst_dpm_peer_set_pads (peer, NULL, NULL);
  direction_clear (&peer->in);
  direction_clear (&peer->out);
  gst_fairmix_lock_clear (&peer->lock);
  g_free (peer->name);
  g_free (peer);
}

guint
gst_dpm_peer_get_number (GstDpmPeer * peer)
{
  return peer->number;
}

const gchar *
gst_dpm_peer_get_name (GstDpmPeer * peer)
{
  return peer->name;
}

guint
gst_dpm_peer_get_flags (GstDpmPeer * peer)
{
  return peer->flags;
}

guint
gst_dpm_peer_get_max_streams (GstDpmPeer * peer)
{
  return peer->max_streams;
}

gboolean
gst_dpm_peer_set_keys (GstDpmPeer * peer, const uint8_t * in,
    const uint8_t * out)
{
  gboolean can_hear = direction_set_key (&peer->in, in, TRUE);
  gboolean can_say = direction_set_key (&peer->out, out, FALSE);

  return can_hear && can_say;
}

void
gst_dpm_peer_take_session (GstDpmPeer * peer, GstDpmPeer * from)
{
  direction_take (&peer->in, &from->in);
  direction_take (&peer->out, &from->out);
}

void
gst_dpm_peer_set_address (GstDpmPeer * peer, const FmxJoinAddress * address)
{
  gst_fairmix_lock_acquire (&peer->lock);
  peer->address = *address;
  gst_fairmix_lock_release (&peer->lock);
}

void
gst_dpm_peer_get_address (GstDpmPeer * peer, FmxJoinAddress * address)
{
  gst_fairmix_lock_acquire (&peer->lock);
  *address = peer->address;
  gst_fairmix_lock_release (&peer->lock);
}

void
gst_dpm_peer_set_pads (GstDpmPeer * peer, GstPad * rtp, GstPad * rtcp)
{
  GstPad *old_rtp, *old_rtcp;

  gst_fairmix_lock_acquire (&peer->lock);
  old_rtp = peer->rtp;
  old_rtcp = peer->rtcp;
  peer->rtp = rtp != NULL ? gst_object_ref (rtp) : NULL;
  peer->rtcp = rtcp != NULL ? gst_object_ref (rtcp) : NULL;
  gst_fairmix_lock_release (&peer->lock);
  gst_clear_object (&old_rtp);
  gst_clear_object (&old_rtcp);
}

void
gst_dpm_peer_share_pads (GstDpmPeer * peer, GstDpmPeer * other)
{
  GstPad *rtp, *rtcp;

  gst_fairmix_lock_acquire (&other->lock);
  rtp = other->rtp != NULL ? gst_object_ref (other->rtp) : NULL;
  rtcp = other->rtcp != NULL ? gst_object_ref (other->rtcp) : NULL;
  gst_fairmix_lock_release (&other->lock);
  gst_dpm_peer_set_pads (peer, rtp, rtcp);
  gst_clear_object (&rtp);
  gst_clear_object (&rtcp);
}

/* --- in ------------------------------------------------------------------ */

typedef enum
{
  RECEIVED,
  FORGED,
  REPLAYED,
  MALFORMED
} Verdict;

/* GST_READ_UINT32_BE() wants an address that is a multiple of four. */
static guint32
read_ssrc (const guint8 * data, gboolean rtcp)
{
  guint32 ssrc;

  memcpy (&ssrc, data + (rtcp ? 4 : 8), sizeof ssrc);
  return GUINT32_FROM_BE (ssrc);
}

/* Nothing is remembered of an SSRC before one of its packets is genuine. */
static Verdict
unprotect (Direction * in, guint8 * data, gint * size, gboolean rtcp)
{
  guint32 ssrc = read_ssrc (data, rtcp);
  Verdict verdict = MALFORMED;
  srtp_err_status_t status;

  gst_fairmix_lock_acquire (&in->lock);
  if (in->session != NULL && direction_has_room (in, ssrc)) {
    status = rtcp ? srtp_unprotect_rtcp (in->session, data, size)
        : srtp_unprotect (in->session, data, size);
    if (status == srtp_err_status_ok) {
      g_hash_table_add (in->ssrcs, GUINT_TO_POINTER (ssrc));
      verdict = RECEIVED;
    } else if (status == srtp_err_status_replay_fail
        || status == srtp_err_status_replay_old) {
      verdict = REPLAYED;
    } else {
      verdict = FORGED;
    }
  }
  gst_fairmix_lock_release (&in->lock);
  return verdict;
}

/* with the lock */
static void
count_received (GstDpmPeer * peer, Verdict verdict, gboolean early)
{
  GstDpmPeerStats *stats = &peer->stats;
  guint64 *counters[] = { &stats->n_received, &stats->n_forged,
    &stats->n_replayed, &stats->n_malformed
  };

  (*counters[verdict])++;
  if (early)
    stats->n_early++;
}

GstBuffer *
gst_dpm_peer_receive (GstDpmPeer * peer, guint8 * data, gsize size,
    GstPad ** pad)
{
  gboolean rtcp = size > 1 && data[1] >= 192 && data[1] <= 223;
  Verdict verdict = MALFORMED;
  gint plain = (gint) size;

  *pad = NULL;
  if (size >= (rtcp ? 8 : 12))
    verdict = unprotect (&peer->in, data, &plain, rtcp);
  gst_fairmix_lock_acquire (&peer->lock);
  if (verdict == RECEIVED)
    *pad = rtcp ? peer->rtcp : peer->rtp;
  if (*pad != NULL)
    gst_object_ref (*pad);
  count_received (peer, verdict, verdict == RECEIVED && *pad == NULL);
  gst_fairmix_lock_release (&peer->lock);
  if (*pad == NULL)
    return NULL;
  return gst_buffer_new_memdup (data, (gsize) plain);
}

/* --- out ----------------------------------------------------------------- */

static gboolean
protect (Direction * out, guint8 * data, gint * size, gboolean rtcp)
{
  guint32 ssrc = read_ssrc (data, rtcp);
  gboolean good = FALSE;

  gst_fairmix_lock_acquire (&out->lock);
  if (out->session != NULL && direction_has_room (out, ssrc)) {
    g_hash_table_add (out->ssrcs, GUINT_TO_POINTER (ssrc));
    good = (rtcp ? srtp_protect_rtcp (out->session, data, size)
        : srtp_protect (out->session, data, size)) == srtp_err_status_ok;
  }
  gst_fairmix_lock_release (&out->lock);
  return good;
}

gsize
gst_dpm_peer_protect (GstDpmPeer * peer, GstBuffer * buffer, gboolean rtcp,
    guint8 * data, FmxJoinAddress * to)
{
  gsize size = gst_buffer_get_size (buffer);
  gint protected = (gint) size;
  gboolean good = FALSE;

  if (size >= (rtcp ? 8 : 12) && size <= GST_DPM_MAX_PACKET_BYTES) {
    gst_buffer_extract (buffer, 0, data, size);
    good = protect (&peer->out, data, &protected, rtcp);
  }
  gst_fairmix_lock_acquire (&peer->lock);
  *to = peer->address;
  if (!good)
    peer->stats.n_protect_failed++;
  gst_fairmix_lock_release (&peer->lock);
  return good ? (gsize) protected : 0;
}

void
gst_dpm_peer_count_sent (GstDpmPeer * peer, gboolean sent)
{
  gst_fairmix_lock_acquire (&peer->lock);
  if (sent)
    peer->stats.n_sent++;
  else
    peer->stats.n_unsent++;
  gst_fairmix_lock_release (&peer->lock);
}

gboolean
gst_dpm_peer_is_worn (GstDpmPeer * peer)
{
  return direction_is_worn (&peer->in) || direction_is_worn (&peer->out);
}

void
gst_dpm_peer_remove_pads (GstDpmPeer * peer, GstElement * element)
{
  static const gchar *const kinds[] = { "rtp", "rtcp" };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    gchar *name = g_strdup_printf ("%s_%u", kinds[i],
        gst_dpm_peer_get_number (peer));
    GstPad *pad = gst_element_get_static_pad (element, name);

    if (pad != NULL) {
      gst_pad_set_active (pad, FALSE);
      gst_element_remove_pad (element, pad);
      gst_object_unref (pad);
    }
    g_free (name);
  }
}

void
gst_dpm_peer_get_stats (GstDpmPeer * peer, GstDpmPeerStats * stats)
{
  gst_fairmix_lock_acquire (&peer->lock);
  *stats = peer->stats;
  gst_fairmix_lock_release (&peer->lock);
}

gchar *
gst_dpm_address_to_string (const FmxJoinAddress * address)
{
  static const guint8 v4[12] = {[10] = 0xff,[11] = 0xff };
  gboolean is_v4 = memcmp (address->ip, v4, sizeof v4) == 0;
  GInetAddress *ip = g_inet_address_new_from_bytes (address->ip +
      (is_v4 ? 12 : 0), is_v4 ? G_SOCKET_FAMILY_IPV4 : G_SOCKET_FAMILY_IPV6);
  gchar *host = g_inet_address_to_string (ip);
  gchar zone[IF_NAMESIZE + 1] = "", *text;

  if (address->zone != 0 && if_indextoname (address->zone, zone + 1) != NULL)
    zone[0] = '%';
  text = g_strdup_printf (is_v4 ? "%s%s:%u" : "[%s%s]:%u", host, zone,
      address->port);
  g_free (host);
  g_object_unref (ip);
  return text;
}
