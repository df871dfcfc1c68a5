/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Payload types of one src pad: docs/decisions/partialmix-0007-payload-types.md */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixpayloads.h"

#include <string.h>

#include "common/gstfairmixextmap.h"
#include "fairmix/wire/fmx-contributor-time.h"

void
gst_partial_mix_payloads_init (GstPartialMixPayloads * payloads, gint reserved,
    guint csrc_level_ext_id)
{
  *payloads = (GstPartialMixPayloads) {
  .reserved = reserved,.csrc_level_ext_id = csrc_level_ext_id,};
  memset (payloads->asked, -1, sizeof payloads->asked);
}

void
gst_partial_mix_payloads_clear (GstPartialMixPayloads * payloads)
{
  for (guint i = 0; i < payloads->n_meanings; i++)
    gst_caps_unref (payloads->meanings[i].caps);
  g_clear_pointer (&payloads->meanings, g_free);
  payloads->n_meanings = 0;
  memset (payloads->at, 0, sizeof payloads->at);
}

gboolean
gst_partial_mix_payloads_ask (GstPartialMixPayloads * payloads,
    const gint * asked, guint8 time_id)
{
  if (memcmp (payloads->asked, asked, sizeof payloads->asked) == 0
      && payloads->time_id == time_id)
    return FALSE;
  payloads->time_id = time_id;
  gst_partial_mix_payloads_clear (payloads);
  memcpy (payloads->asked, asked, sizeof payloads->asked);
  return TRUE;
}

/* Returns: NULL if @pt means nothing yet */
static GstPartialMixMeaning *
meaning_of (const GstPartialMixPayloads * payloads, guint pt)
{
  guint at = payloads->at[pt];

  return at > 0 ? &payloads->meanings[at - 1] : NULL;
}

static gboolean
means (const GstPartialMixPayloads * payloads, guint pt,
    const GstPartialMixFormat * format)
{
  const GstPartialMixMeaning *meaning = meaning_of (payloads, pt);

  return meaning != NULL
      && gst_partial_mix_format_is_equal (&meaning->format, format);
}

/* Whether nobody's packets leave under it. */
static gboolean
is_free (const GstPartialMixPayloads * payloads, guint pt)
{
  const GstPartialMixMeaning *meaning = meaning_of (payloads, pt);

  return meaning == NULL || meaning->n_users == 0;
}

/* What RFC 3551 says once for all is not to be said otherwise, even where it
 * came like that.  It is the same for a stream and a mix, and so is what the peer
 * asks for; any other number of the mixes is theirs alone. */
static gboolean
may_mean (const GstPartialMixPayloads * payloads, guint pt,
    const GstPartialMixFormat * format, gboolean is_mix)
{
  GstPartialMixFormat fixed;

  if (gst_partial_mix_format_from_pt (&fixed, (guint8) pt))
    return gst_partial_mix_format_is_equal (&fixed, format);
  return is_mix || (gint) pt != payloads->reserved
      || (gint) pt == payloads->asked[format->encoding];
}

static GstPartialMixMeaning *
add_meaning (GstPartialMixPayloads * payloads, guint pt)
{
  guint n = payloads->n_meanings++;

  payloads->meanings = g_renew (GstPartialMixMeaning, payloads->meanings,
      n + 1);
  memset (&payloads->meanings[n], 0, sizeof payloads->meanings[n]);
  payloads->at[pt] = (guint8) (n + 1);
  return &payloads->meanings[n];
}

static void
set_extension (GstCaps * caps, guint id, const gchar * urn)
{
  gchar *field = g_strdup_printf ("extmap-%u", id);

  if (id != 0)
    gst_caps_set_simple (caps, field, G_TYPE_STRING, urn, NULL);
  g_free (field);
}

static guint8
bind (GstPartialMixPayloads * payloads, guint pt,
    const GstPartialMixFormat * format)
{
  GstPartialMixMeaning *meaning = meaning_of (payloads, pt);
  GstCaps *caps;

  if (meaning == NULL)
    meaning = add_meaning (payloads, pt);
  meaning->format = *format;
  meaning->format.pt = (guint8) pt;
  caps = gst_partial_mix_format_to_caps (&meaning->format);
  set_extension (caps, gst_partial_mix_payloads_level_id (payloads),
      GST_FAIRMIX_CSRC_LEVEL_URN);
  set_extension (caps, payloads->time_id, FMX_CONTRIBUTOR_TIME_URN);
  gst_clear_caps (&meaning->caps);
  meaning->caps = caps;
  return (guint8) pt;
}

/* Returns: a dynamic one that means @format already, or nothing to anybody. */
static guint8
find_other (GstPartialMixPayloads * payloads,
    const GstPartialMixFormat * format, gboolean is_mix)
{
  const guint n = GST_PARTIAL_MIX_N_PAYLOADS;
  guint pt, unused = n, never_used = n;

  for (pt = GST_PARTIAL_MIX_FIRST_DYNAMIC; pt < n; pt++) {
    if (!may_mean (payloads, pt, format, is_mix))
      continue;
    if (means (payloads, pt, format))
      return (guint8) pt;
    if (meaning_of (payloads, pt) == NULL && never_used == n)
      never_used = pt;
    else if (is_free (payloads, pt) && unused == n)
      unused = pt;
  }
  if (never_used < n)
    return bind (payloads, never_used, format);
  if (unused < n)
    return bind (payloads, unused, format);
  /* More than there are numbers: the caps before each packet still tell. */
  do
    pt = GST_PARTIAL_MIX_FIRST_DYNAMIC + payloads->next++
        % (n - GST_PARTIAL_MIX_FIRST_DYNAMIC);
  while (!may_mean (payloads, pt, format, is_mix));
  return bind (payloads, pt, format);
}

guint8
gst_partial_mix_payloads_take (GstPartialMixPayloads * payloads,
    const GstPartialMixFormat * format, gboolean is_mix)
{
  gint asked = payloads->asked[format->encoding];
  guint8 pt = format->pt & 0x7f;

  if (asked >= 0)
    pt = (guint8) asked;
  if (!means (payloads, pt, format)) {
    if (may_mean (payloads, pt, format, is_mix)
        && (is_free (payloads, pt)
            || (is_mix && (gint) pt == payloads->reserved)))
      bind (payloads, pt, format);
    else
      pt = find_other (payloads, format, is_mix);
  }
  meaning_of (payloads, pt)->n_users++;
  return pt;
}

void
gst_partial_mix_payloads_give (GstPartialMixPayloads * payloads, guint8 pt)
{
  GstPartialMixMeaning *meaning = meaning_of (payloads, pt);

  if (meaning != NULL && meaning->n_users > 0)
    meaning->n_users--;
}
