/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_IDENTITY_H__
#define __GST_PARTIAL_MIX_IDENTITY_H__

/* Who is behind an SSRC, as far as RTCP is to be believed.
 *
 * Anybody who reaches the port can send RTCP in another one's name.  So it is
 * believed of a stream only what comes from where its RTP comes from; what was
 * claimed first holds; and a name that somebody has is nobody else's. */

#include <gio/gio.h>
#include <gst/gst.h>

G_BEGIN_DECLS

/* Without RTP for so long after a BYE a stream has left. */
#define GST_PARTIAL_MIX_BYE_WAIT (500 * GST_MSECOND)

/**
 * GstPartialMixPlace:
 * @neighbour: on whose pads it comes in
 * @host: from which address, %NULL where the buffers do not tell
 *
 * Where packets come from.
 */
typedef struct
{
  gint neighbour;
  GInetAddress *host;
} GstPartialMixPlace;

/* Whether nothing speaks against it: the neighbour is the same and, where both are
 * known, the host.  Ports may differ, as those of RTP and RTCP do. */
gboolean gst_partial_mix_place_matches (const GstPartialMixPlace * a,
    const GstPartialMixPlace * b);

/* Returns: (transfer none): from where @buffer came (GstNetAddressMeta), NULL
 * where it does not tell */
GInetAddress *gst_partial_mix_buffer_host (GstBuffer * buffer);

/**
 * GstPartialMixIdentity:
 * @cname: its RTCP canonical name, %NULL if nobody has told
 * @said: by the application or the caps (SDP): RTCP does not change it
 * @leaving: it said BYE at @bye_at, in running time
 *
 * Of one stream.
 */
typedef struct
{
  GstPartialMixPlace place;
  gchar *cname;
  gboolean said;
  gboolean leaving;
  GstClockTime bye_at;

  /*< private > */
  gchar *rival;                 /* another name that was claimed since ... */
  guint n_rival;                /* ... so often, and no other */
  GstClockTime rival_since;
} GstPartialMixIdentity;

void gst_partial_mix_identity_clear (GstPartialMixIdentity * identity);
void gst_partial_mix_identity_set_host (GstPartialMixIdentity * identity,
    GInetAddress * host);

/* @cname: NULL takes it away */
void gst_partial_mix_identity_set_cname (GstPartialMixIdentity * identity,
    const gchar * cname, gboolean said);

/**
 * gst_partial_mix_identity_claim:
 *
 * RTCP from the right place says that it is @cname.  The first name is believed
 * at once; another one when for 10 s and three reports nothing else was claimed.
 *
 * Returns: whether to give it that name
 */
gboolean gst_partial_mix_identity_claim (GstPartialMixIdentity * identity,
    const gchar * cname, GstClockTime now);

typedef enum
{
  GST_PARTIAL_MIX_STAYS,
  GST_PARTIAL_MIX_LEFT,
  GST_PARTIAL_MIX_BYE_WAS_VOID  /* its RTP goes on */
} GstPartialMixPresence;

/* What became of its BYE; @last_arrival: of its latest RTP packet. */
GstPartialMixPresence gst_partial_mix_identity_check_bye (GstPartialMixIdentity *
    identity, GstClockTime last_arrival, GstClockTime now);

/**
 * GstPartialMixClaims:
 *
 * Names that were claimed for SSRCs of which no RTP has come (yet, or any more):
 * they wait for it.  Few for each neighbour; the oldest give way.
 */
typedef struct _GstPartialMixClaims GstPartialMixClaims;

GstPartialMixClaims *gst_partial_mix_claims_new (void);
void gst_partial_mix_claims_free (GstPartialMixClaims * claims);
/* Whoever was @neighbour is no more: the next one of that number may be another. */
void gst_partial_mix_claims_forget (GstPartialMixClaims * claims,
    gint neighbour);
void gst_partial_mix_claims_clear (GstPartialMixClaims * claims);
void gst_partial_mix_claims_add (GstPartialMixClaims * claims, guint32 ssrc,
    const GstPartialMixPlace * place, const gchar * cname);
/* Returns: (transfer full): the name that was claimed from @place, or NULL */
gchar *gst_partial_mix_claims_take (GstPartialMixClaims * claims, guint32 ssrc,
    const GstPartialMixPlace * place);

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_IDENTITY_H__ */
