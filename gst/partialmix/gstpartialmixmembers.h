/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_MEMBERS_H__
#define __GST_PARTIAL_MIX_MEMBERS_H__

#include <gst/gst.h>

#include "fairmix/mix/fmx-mix-envelope.h"
#include "fairmix/mix/fmx-mix-key.h"

#include "gstpartialmixset.h"
#include "gstpartialmixstream.h"

G_BEGIN_DECLS

/**
 * GstPartialMixShape:
 * @gain: relative to that in the sum of all
 *
 * A member of a mix that is not heard in it as it is in the sum of all: it fades
 * in or out in this frame, or has another gain.
 */
typedef struct
{
  GstPartialMixStream *stream;
  FmxMixEnvelope envelope;
  gfloat gain;
} GstPartialMixShape;

/**
 * GstPartialMixMembers:
 * @key: the same for the same members in the same shapes
 * @n: how many there are
 * @slots: of whom
 * @shapes: of #GstPartialMixShape, for those who have one
 *
 * Who is heard in one mix, in one tick.  They are not referenced: the mixer holds
 * all streams for as long as the tick lasts.
 */
typedef struct
{
  FmxMixKey key;
  guint n;
  GstPartialMixSet *slots;
  GArray *shapes;
} GstPartialMixMembers;

void gst_partial_mix_members_init (GstPartialMixMembers * members);
void gst_partial_mix_members_clear (GstPartialMixMembers * members);
void gst_partial_mix_members_empty (GstPartialMixMembers * members);
void gst_partial_mix_members_copy (GstPartialMixMembers * members,
    const GstPartialMixMembers * from);
void gst_partial_mix_members_add (GstPartialMixMembers * members,
    const GstPartialMixStream * stream);
void gst_partial_mix_members_remove (GstPartialMixMembers * members,
    const GstPartialMixStream * stream);
/* In the frame of @n samples that begins at @pos */
void gst_partial_mix_members_add_shape (GstPartialMixMembers * members,
    const GstPartialMixShape * shape, gint64 pos, guint n);

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_MEMBERS_H__ */
