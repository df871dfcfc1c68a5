/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstrtpseqmap.h"

#include "fairmix/base/fmx-renumber.h"

typedef struct
{
  GList link;                   /* of GstRtpSeqMap.recent */
  GstFairmixRtpHeader last;     /* as it came in */
  GstClockTime last_pts;
  FmxRenumber renumber;
} Stream;

struct _GstRtpSeqMap
{
  guint max_ssrcs;
  GHashTable *streams;          /* SSRC -> Stream */
  GQueue recent;                /* of Stream, the last seen first */
  guint n_changed;              /* streams that had something dropped or added */
};

GstRtpSeqMap *
gst_rtp_seq_map_new (guint max_ssrcs)
{
  GstRtpSeqMap *map = g_new0 (GstRtpSeqMap, 1);

  map->max_ssrcs = max_ssrcs;
  map->streams = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  g_queue_init (&map->recent);
  return map;
}

void
gst_rtp_seq_map_free (GstRtpSeqMap * map)
{
  g_hash_table_unref (map->streams);
  g_free (map);
}

static void
gst_rtp_seq_map_forget_oldest (GstRtpSeqMap * map)
{
  GList *link = g_queue_pop_tail_link (&map->recent);
  Stream *stream = link->data;

  map->n_changed -= fmx_renumber_is_changed (&stream->renumber);
  g_hash_table_remove (map->streams, GUINT_TO_POINTER (stream->last.ssrc));
}

/* Finds the stream of @header and makes it the last one seen. */
static Stream *
gst_rtp_seq_map_touch (GstRtpSeqMap * map, const GstFairmixRtpHeader * header,
    GstClockTime pts)
{
  Stream *stream = g_hash_table_lookup (map->streams,
      GUINT_TO_POINTER (header->ssrc));

  if (stream == NULL) {
    if (map->recent.length >= map->max_ssrcs)
      gst_rtp_seq_map_forget_oldest (map);
    stream = g_new0 (Stream, 1);
    stream->link.data = stream;
    g_hash_table_insert (map->streams, GUINT_TO_POINTER (header->ssrc), stream);
    g_queue_push_head_link (&map->recent, &stream->link);
  } else if (map->recent.head != &stream->link) {
    g_queue_unlink (&map->recent, &stream->link);
    g_queue_push_head_link (&map->recent, &stream->link);
  }
  stream->last = *header;
  stream->last_pts = pts;
  return stream;
}

gboolean
gst_rtp_seq_map_pass (GstRtpSeqMap * map, GstFairmixRtpHeader * header,
    GstClockTime pts)
{
  Stream *stream = gst_rtp_seq_map_touch (map, header, pts);

  return fmx_renumber_pass (&stream->renumber, &header->seq);
}

gboolean
gst_rtp_seq_map_is_next (const GstRtpSeqMap * map,
    const GstFairmixRtpHeader * header)
{
  const Stream *stream = g_hash_table_lookup (map->streams,
      GUINT_TO_POINTER (header->ssrc));

  return stream != NULL
      && fmx_renumber_is_next (&stream->renumber, header->seq);
}

static guint16
gst_rtp_seq_map_add (GstRtpSeqMap * map, Stream * stream)
{
  map->n_changed += !fmx_renumber_is_changed (&stream->renumber);
  return fmx_renumber_insert (&stream->renumber);
}

void
gst_rtp_seq_map_skip (GstRtpSeqMap * map, const GstFairmixRtpHeader * header)
{
  Stream *stream = g_hash_table_lookup (map->streams,
      GUINT_TO_POINTER (header->ssrc));

  if (stream != NULL)
    gst_rtp_seq_map_add (map, stream);
}

void
gst_rtp_seq_map_drop (GstRtpSeqMap * map, const GstFairmixRtpHeader * header,
    GstClockTime pts)
{
  Stream *stream = gst_rtp_seq_map_touch (map, header, pts);
  gboolean changed = fmx_renumber_is_changed (&stream->renumber);

  fmx_renumber_drop (&stream->renumber, header->seq);
  map->n_changed += fmx_renumber_is_changed (&stream->renumber) && !changed;
}

gboolean
gst_rtp_seq_map_insert (GstRtpSeqMap * map, GstFairmixRtpHeader * header,
    GstClockTime * pts)
{
  Stream *stream;

  if (map->recent.head == NULL)
    return FALSE;

  stream = map->recent.head->data;
  *header = stream->last;
  header->seq = gst_rtp_seq_map_add (map, stream);
  *pts = stream->last_pts;
  return TRUE;
}

gboolean
gst_rtp_seq_map_is_active (const GstRtpSeqMap * map)
{
  return map->n_changed > 0;
}
