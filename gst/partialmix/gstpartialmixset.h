/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_SET_H__
#define __GST_PARTIAL_MIX_SET_H__

/* Sets of stream slots: a bit for each, so that a crowd is compared with a
 * crowd in a few words. */

#include <glib.h>

G_BEGIN_DECLS

/* of guint64; what lies beyond its end is not in it */
typedef GArray GstPartialMixSet;

static inline GstPartialMixSet *
gst_partial_mix_set_new (void)
{
  return g_array_new (FALSE, TRUE, sizeof (guint64));
}

static inline void
gst_partial_mix_set_clear (GstPartialMixSet * set)
{
  g_array_set_size (set, 0);
}

static inline guint64
gst_partial_mix_set_word (const GstPartialMixSet * set, guint w)
{
  return w < set->len ? g_array_index (set, guint64, w) : 0;
}

static inline gboolean
gst_partial_mix_set_contains (const GstPartialMixSet * set, guint slot)
{
  return gst_partial_mix_set_word (set, slot / 64) >> slot % 64 & 1;
}

static inline void
gst_partial_mix_set_add (GstPartialMixSet * set, guint slot)
{
  if (slot / 64 >= set->len)
    g_array_set_size (set, slot / 64 + 1);
  g_array_index (set, guint64, slot / 64) |= G_GUINT64_CONSTANT (1)
      << slot % 64;
}

static inline void
gst_partial_mix_set_remove (GstPartialMixSet * set, guint slot)
{
  if (slot / 64 < set->len)
    g_array_index (set, guint64, slot / 64) &= ~(G_GUINT64_CONSTANT (1)
        << slot % 64);
}

static inline void
gst_partial_mix_set_copy (GstPartialMixSet * set, const GstPartialMixSet * from)
{
  gst_partial_mix_set_clear (set);
  g_array_append_vals (set, from->data, from->len);
}

/* Takes the lowest slot out of the @w-th word of a set; @word is not 0. */
static inline guint
gst_partial_mix_set_take (guint64 * word, guint w)
{
  guint bit = (guint) __builtin_ctzll (*word);

  *word &= *word - 1;
  return w * 64 + bit;
}

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_SET_H__ */
