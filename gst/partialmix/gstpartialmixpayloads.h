/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_PAYLOADS_H__
#define __GST_PARTIAL_MIX_PAYLOADS_H__

#include <gst/gst.h>

#include "gstpartialmixcodec.h"

G_BEGIN_DECLS

#define GST_PARTIAL_MIX_N_PAYLOADS 128
#define GST_PARTIAL_MIX_FIRST_DYNAMIC 96        /* [RFC3551 3] */
#define GST_PARTIAL_MIX_MAX_EXT_ID 14   /* [RFC8285 4.2] with the short header */

/* What one payload type means */
typedef struct
{
  GstPartialMixFormat format;
  GstCaps *caps;
  guint n_users;
} GstPartialMixMeaning;

/**
 * GstPartialMixPayloads:
 *
 * What the payload types mean on one src pad.  Streams of several neighbours
 * leave there, each with payload types of its own; what means two things is
 * given another number.
 */
typedef struct
{
  /*< private >*/
  GstPartialMixMeaning *meanings;       /* few: most numbers mean nothing, ever */
  guint n_meanings;
  guint8 at[GST_PARTIAL_MIX_N_PAYLOADS];        /* 1 + place in @meanings; 0: none */
  guint next;                   /* to lose its meaning, if all are in use */
  gint reserved;                /* for mixes, -1 = none */
  gint asked[GST_PARTIAL_MIX_N_ENCODINGS];      /* by the peer, -1 = any */
  guint csrc_level_ext_id;      /* as wanted, 0: none */
  guint8 time_id;               /* of the contributors, 0: they do not want it */
} GstPartialMixPayloads;

/* @reserved: a number that gst_partial_mix_payloads_take() gives to mixes only,
 * and to what means the same; -1 for none */
void gst_partial_mix_payloads_init (GstPartialMixPayloads * payloads,
    gint reserved, guint csrc_level_ext_id);
void gst_partial_mix_payloads_clear (GstPartialMixPayloads * payloads);

/* @asked: for each encoding the number that the peer takes it under, -1 for any;
 * @time_id: of the header extension contributor-time that it wants, 0 for none.
 * Returns: whether that is another than before; then none means anything yet */
gboolean gst_partial_mix_payloads_ask (GstPartialMixPayloads * payloads,
    const gint * asked, guint8 time_id);

/* Returns: the number for what comes as @format, which keeps its meaning until
 * it is given back: what the peer asked for, else that of @format, if it is free,
 * else one from 96 on. */
guint8 gst_partial_mix_payloads_take (GstPartialMixPayloads * payloads,
    const GstPartialMixFormat * format, gboolean is_mix);
void gst_partial_mix_payloads_give (GstPartialMixPayloads * payloads,
    guint8 pt);

/* Returns: the number of the header extension with the contributors' levels, 0 for
 * none; what the peer asks for has its own */
static inline guint8
gst_partial_mix_payloads_level_id (const GstPartialMixPayloads * payloads)
{
  guint id = payloads->csrc_level_ext_id;

  if (id != 0 && id == payloads->time_id)
    id = id % GST_PARTIAL_MIX_MAX_EXT_ID + 1;
  return (guint8) id;
}

/* Returns: (transfer none) (nullable): the same as long as the number means the
 * same; %NULL if that is nothing yet */
static inline GstCaps *
gst_partial_mix_payloads_caps (const GstPartialMixPayloads * payloads,
    guint8 pt)
{
  guint at = payloads->at[pt];

  return at > 0 ? payloads->meanings[at - 1].caps : NULL;
}

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_PAYLOADS_H__ */
