/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Payload types of one src pad: docs/decisions/partialmix-0007-payload-types.md */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixpayloads.h"

#include <string.h>

#include "common/gstfairmixextmap.h"

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
  for (guint pt = 0; pt < GST_PARTIAL_MIX_N_PAYLOADS; pt++)
    gst_clear_caps (&payloads->caps[pt]);
}

gboolean
gst_partial_mix_payloads_ask (GstPartialMixPayloads * payloads,
    const gint * asked)
{
  if (memcmp (payloads->asked, asked, sizeof payloads->asked) == 0)
    return FALSE;
  gst_partial_mix_payloads_clear (payloads);
  memset (payloads->n_users, 0, sizeof payloads->n_users);
  memcpy (payloads->asked, asked, sizeof payloads->asked);
  return TRUE;
}

static gboolean
means (const GstPartialMixPayloads * payloads, guint pt,
    const GstPartialMixFormat * format)
{
  return payloads->caps[pt] != NULL
      && gst_partial_mix_format_is_equal (&payloads->formats[pt], format);
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

static guint8
bind (GstPartialMixPayloads * payloads, guint pt,
    const GstPartialMixFormat * format)
{
  GstPartialMixFormat *own = &payloads->formats[pt];
  GstCaps *caps;

  *own = *format;
  own->pt = (guint8) pt;
  caps = gst_partial_mix_format_to_caps (own);
  if (payloads->csrc_level_ext_id != 0) {
    gchar *field = g_strdup_printf ("extmap-%u", payloads->csrc_level_ext_id);

    gst_caps_set_simple (caps, field, G_TYPE_STRING,
        GST_FAIRMIX_CSRC_LEVEL_URN, NULL);
    g_free (field);
  }
  gst_clear_caps (&payloads->caps[pt]);
  payloads->caps[pt] = caps;
  return own->pt;
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
    if (payloads->caps[pt] == NULL && never_used == n)
      never_used = pt;
    else if (payloads->n_users[pt] == 0 && unused == n)
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
        && (payloads->caps[pt] == NULL || payloads->n_users[pt] == 0
            || (is_mix && (gint) pt == payloads->reserved)))
      bind (payloads, pt, format);
    else
      pt = find_other (payloads, format, is_mix);
  }
  payloads->n_users[pt]++;
  return pt;
}

void
gst_partial_mix_payloads_give (GstPartialMixPayloads * payloads, guint8 pt)
{
  if (payloads->n_users[pt] > 0)
    payloads->n_users[pt]--;
}
