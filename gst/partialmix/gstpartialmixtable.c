/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The streams that there are, and the SSRCs in use. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixtable.h"

void
gst_partial_mix_table_init (GstPartialMixTable * table)
{
  table->streams = g_ptr_array_new ();
  table->n_streams = 0;
  table->free_slots = g_array_new (FALSE, FALSE, sizeof (guint));
  table->used_ssrcs = g_hash_table_new (NULL, NULL);
  table->crowds = g_hash_table_new (NULL, NULL);
  table->mix_ssrcs = g_hash_table_new (NULL, NULL);
  table->paths = gst_partial_mix_paths_new ();
}

void
gst_partial_mix_table_clear (GstPartialMixTable * table)
{
  guint i;

  for (i = 0; i < table->streams->len; i++)
    if (gst_partial_mix_table_at (table, i) != NULL)
      gst_partial_mix_stream_unref (gst_partial_mix_table_at (table, i));
  g_ptr_array_unref (table->streams);
  g_array_unref (table->free_slots);
  g_hash_table_unref (table->used_ssrcs);
  g_hash_table_unref (table->crowds);
  g_hash_table_unref (table->mix_ssrcs);
  g_hash_table_unref (table->paths);
}

void
gst_partial_mix_table_restart (GstPartialMixTable * table)
{
  g_return_if_fail (table->n_streams == 0);
  g_ptr_array_set_size (table->streams, 0);
  g_array_set_size (table->free_slots, 0);
  g_hash_table_remove_all (table->mix_ssrcs);
}

/* --------------------------------------------------------------- counts -- */

static guint
get (GHashTable * counts, guint key)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (counts,
          GUINT_TO_POINTER (key)));
}

/* What counts nothing is not in the table. */
static void
count (GHashTable * counts, guint key, gint change)
{
  guint n = (guint) ((gint) get (counts, key) + change);

  if (n > 0)
    g_hash_table_insert (counts, GUINT_TO_POINTER (key), GUINT_TO_POINTER (n));
  else
    g_hash_table_remove (counts, GUINT_TO_POINTER (key));
}

/* @change: 1 for a stream that comes, -1 for one that goes */
static void
count_stream (GstPartialMixTable * table, GstPartialMixStream * stream,
    gint change)
{
  count (table->used_ssrcs, stream->ssrc, change);
  count (table->used_ssrcs, stream->out_ssrc, change);
  count (table->crowds, (guint) stream->neighbour, change);
  table->n_streams = (guint) ((gint) table->n_streams + change);
}

guint
gst_partial_mix_table_crowd (const GstPartialMixTable * table, gint neighbour)
{
  return get (table->crowds, (guint) neighbour);
}

guint
gst_partial_mix_table_n_crowds (const GstPartialMixTable * table)
{
  return g_hash_table_size (table->crowds);
}

/* -------------------------------------------------------------- streams -- */

static guint
take_slot (GstPartialMixTable * table)
{
  guint last = table->free_slots->len;
  guint slot;

  if (last == 0) {
    g_ptr_array_add (table->streams, NULL);
    return table->streams->len - 1;
  }
  slot = g_array_index (table->free_slots, guint, last - 1);
  g_array_set_size (table->free_slots, last - 1);
  return slot;
}

void
gst_partial_mix_table_add (GstPartialMixTable * table,
    GstPartialMixStream * stream)
{
  stream->slot = take_slot (table);
  g_ptr_array_index (table->streams, stream->slot) = stream;
  count_stream (table, stream, 1);
  stream->path = gst_partial_mix_paths_join (table->paths, stream->neighbour,
      stream->source, stream->pad);
}

GstPartialMixStream *
gst_partial_mix_table_remove (GstPartialMixTable * table,
    GstPartialMixStream * stream)
{
  g_ptr_array_index (table->streams, stream->slot) = NULL;
  g_array_append_val (table->free_slots, stream->slot);
  count_stream (table, stream, -1);
  gst_partial_mix_paths_leave (table->paths, stream->path);
  return stream;
}

void
gst_partial_mix_table_move (GstPartialMixTable * table,
    GstPartialMixStream * stream, GstPad * pad, gint neighbour)
{
  count (table->crowds, (guint) stream->neighbour, -1);
  gst_partial_mix_paths_leave (table->paths, stream->path);
  gst_partial_mix_path_unref (stream->path);
  gst_object_replace ((GstObject **) & stream->pad, GST_OBJECT (pad));
  stream->neighbour = neighbour;
  stream->identity.place.neighbour = neighbour;
  count (table->crowds, (guint) neighbour, 1);
  gst_partial_mix_stream_set_path (stream,
      gst_partial_mix_paths_join (table->paths, neighbour, stream->source,
          pad));
}

GstPartialMixStream *
gst_partial_mix_table_find_least (const GstPartialMixTable * table,
    gint neighbour)
{
  GstPartialMixStream *least = NULL;
  guint i;

  for (i = 0; i < gst_partial_mix_table_n_slots (table); i++) {
    GstPartialMixStream *stream = gst_partial_mix_table_at (table, i);

    if (stream == NULL || stream->neighbour != neighbour)
      continue;
    if (least == NULL || stream->last_arrival < least->last_arrival
        || (stream->last_arrival == least->last_arrival
            && stream->n_packets < least->n_packets))
      least = stream;
  }
  return least;
}

guint
gst_partial_mix_table_largest_crowd (const GstPartialMixTable * table,
    gint * neighbour)
{
  gpointer key, value;
  GHashTableIter iter;
  guint most = 0;

  g_hash_table_iter_init (&iter, table->crowds);
  while (g_hash_table_iter_next (&iter, &key, &value)) {
    if (GPOINTER_TO_UINT (value) > most) {
      most = GPOINTER_TO_UINT (value);
      *neighbour = (gint) GPOINTER_TO_UINT (key);
    }
  }
  return most;
}

/* ---------------------------------------------------------------- SSRCs -- */

gboolean
gst_partial_mix_table_is_ssrc_used (const GstPartialMixTable * table,
    guint32 ssrc)
{
  return gst_partial_mix_table_is_mix (table, ssrc)
      || get (table->used_ssrcs, ssrc) > 0;
}

guint32
gst_partial_mix_table_free_ssrc (const GstPartialMixTable * table)
{
  guint32 ssrc;

  do
    ssrc = g_random_int ();
  while (ssrc == 0 || gst_partial_mix_table_is_ssrc_used (table, ssrc));
  return ssrc;
}

void
gst_partial_mix_table_add_mix (GstPartialMixTable * table, guint32 ssrc)
{
  g_hash_table_add (table->mix_ssrcs, GUINT_TO_POINTER (ssrc));
}

void
gst_partial_mix_table_remove_mix (GstPartialMixTable * table, guint32 ssrc)
{
  if (ssrc != 0)
    g_hash_table_remove (table->mix_ssrcs, GUINT_TO_POINTER (ssrc));
}

gboolean
gst_partial_mix_table_is_mix (const GstPartialMixTable * table, guint32 ssrc)
{
  return g_hash_table_contains (table->mix_ssrcs, GUINT_TO_POINTER (ssrc));
}
