/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_TABLE_H__
#define __GST_PARTIAL_MIX_TABLE_H__

#include <gst/gst.h>

#include "gstpartialmixstream.h"

G_BEGIN_DECLS

/**
 * GstPartialMixTable:
 *
 * The streams that there are, each in a slot of its own, and all SSRCs in use:
 * theirs, those under which they leave, and those of our own mixes.
 *
 * A slot is the stream's index in every listener's arrays.  Finding one, putting a
 * stream in and taking it out are O(1).
 */
typedef struct
{
  /*< private >*/
  GPtrArray *streams;           /* by slot, holes are NULL */
  guint n_streams;
  GArray *free_slots;           /* of guint: the holes */
  GHashTable *used_ssrcs;       /* ssrc -> by how many, in or out */
  GHashTable *crowds;           /* neighbour -> how many streams */
  GHashTable *mix_ssrcs;        /* our own */
  GHashTable *paths;            /* on which streams come */
} GstPartialMixTable;

void gst_partial_mix_table_init (GstPartialMixTable * table);
void gst_partial_mix_table_clear (GstPartialMixTable * table);

/* Forgets slots and mixes' SSRCs; there must be no stream. */
void gst_partial_mix_table_restart (GstPartialMixTable * table);

/* Puts @stream, whose SSRCs and neighbour are set, into a slot; takes it. */
void gst_partial_mix_table_add (GstPartialMixTable * table,
    GstPartialMixStream * stream);
/* Returns: (transfer full): the stream */
GstPartialMixStream *gst_partial_mix_table_remove (GstPartialMixTable *
    table, GstPartialMixStream * stream);

/* @stream, of which the source is known already, comes in at @pad from now on. */
void gst_partial_mix_table_move (GstPartialMixTable * table,
    GstPartialMixStream * stream, GstPad * pad, gint neighbour);

static inline guint
gst_partial_mix_table_n_streams (const GstPartialMixTable * table)
{
  return table->n_streams;
}

/* Slots are 0 ... this - 1 */
static inline guint
gst_partial_mix_table_n_slots (const GstPartialMixTable * table)
{
  return table->streams->len;
}

/* NULL: nobody is in it */
static inline GstPartialMixStream *
gst_partial_mix_table_at (const GstPartialMixTable * table, guint slot)
{
  return g_ptr_array_index (table->streams, slot);
}

/* How many streams of @neighbour there are; with their number, how many
 * neighbours have any. */
guint gst_partial_mix_table_crowd (const GstPartialMixTable * table,
    gint neighbour);
guint gst_partial_mix_table_n_crowds (const GstPartialMixTable * table);

/* The most streams that a neighbour has, and whose they are; 0 if there are none */
guint gst_partial_mix_table_largest_crowd (const GstPartialMixTable * table,
    gint * neighbour);
/* Returns: the one that would be missed least of @neighbour's: silent for the
 * longest, or with the fewest packets */
GstPartialMixStream *gst_partial_mix_table_find_least (const
    GstPartialMixTable * table, gint neighbour);

gboolean gst_partial_mix_table_is_ssrc_used (const GstPartialMixTable * table,
    guint32 ssrc);
/* A random one that nobody uses */
guint32 gst_partial_mix_table_free_ssrc (const GstPartialMixTable * table);

void gst_partial_mix_table_add_mix (GstPartialMixTable * table, guint32 ssrc);
/* 0 is nobody's */
void gst_partial_mix_table_remove_mix (GstPartialMixTable * table,
    guint32 ssrc);
gboolean gst_partial_mix_table_is_mix (const GstPartialMixTable * table,
    guint32 ssrc);

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_TABLE_H__ */
