/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Who is heard in one mix, in one tick. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixmembers.h"

void
gst_partial_mix_members_init (GstPartialMixMembers * members)
{
  members->key = 0;
  members->n = 0;
  members->slots = gst_partial_mix_set_new ();
  members->shapes = g_array_new (FALSE, FALSE, sizeof (GstPartialMixShape));
}

void
gst_partial_mix_members_clear (GstPartialMixMembers * members)
{
  g_array_unref (members->slots);
  g_array_unref (members->shapes);
}

void
gst_partial_mix_members_empty (GstPartialMixMembers * members)
{
  members->key = 0;
  members->n = 0;
  gst_partial_mix_set_clear (members->slots);
  g_array_set_size (members->shapes, 0);
}

void
gst_partial_mix_members_copy (GstPartialMixMembers * members,
    const GstPartialMixMembers * from)
{
  gst_partial_mix_members_empty (members);
  members->key = from->key;
  members->n = from->n;
  gst_partial_mix_set_copy (members->slots, from->slots);
  g_array_append_vals (members->shapes, from->shapes->data, from->shapes->len);
}

static void
add (GstPartialMixMembers * members, const GstPartialMixStream * stream,
    FmxMixKey key)
{
  gst_partial_mix_set_add (members->slots, stream->slot);
  members->n++;
  members->key = fmx_mix_key_toggle (members->key, key);
}

void
gst_partial_mix_members_add (GstPartialMixMembers * members,
    const GstPartialMixStream * stream)
{
  add (members, stream, stream->key);
}

void
gst_partial_mix_members_remove (GstPartialMixMembers * members,
    const GstPartialMixStream * stream)
{
  gst_partial_mix_set_remove (members->slots, stream->slot);
  members->n--;
  members->key = fmx_mix_key_toggle (members->key, stream->key);
}

void
gst_partial_mix_members_add_shape (GstPartialMixMembers * members,
    const GstPartialMixShape * shape, gint64 pos, guint n)
{
  FmxMixKey key = fmx_mix_key_of_gain (shape->stream->key, shape->gain);

  if (!fmx_mix_envelope_is_full (&shape->envelope, pos, n))
    key = fmx_mix_key_of_ramped (key, &shape->envelope, pos);
  add (members, shape->stream, key);
  g_array_append_val (members->shapes, *shape);
}
