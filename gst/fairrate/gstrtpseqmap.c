/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstrtpseqmap.h"

#include "fairmix/base/fmx-serial.h"

/* A packet that is further behind belongs to a new numbering
 * (MAX_MISORDER in [RFC3550 A.1]). */
#define MAX_MISORDER 100

/* How long the start of a numbering is remembered, in packets: less than half
 * of the number space, more than any reordering. */
#define MAX_AGE 16384

typedef struct
{
  GList link;                   /* of GstRtpSeqMap.recent */
  GstFairmixRtpHeader last;     /* as it came in */
  GstClockTime last_pts;
  guint16 highest;              /* as they come in */
  guint16 offset;               /* out = in + offset */
  guint16 since;                /* first one in to which the offset applies */
  gboolean changed;
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
gst_rtp_seq_map_shift (GstRtpSeqMap * map, Stream * stream, gint by)
{
  stream->offset += (guint16) by;
  stream->since = stream->highest + 1;
  if (!stream->changed)
    map->n_changed++;
  stream->changed = TRUE;
}

static void
gst_rtp_seq_map_forget_oldest (GstRtpSeqMap * map)
{
  GList *link = g_queue_pop_tail_link (&map->recent);
  Stream *stream = link->data;

  map->n_changed -= stream->changed;
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
    stream->highest = header->seq - 1;
    g_hash_table_insert (map->streams, GUINT_TO_POINTER (header->ssrc), stream);
    g_queue_push_head_link (&map->recent, &stream->link);
  } else if (map->recent.head != &stream->link) {
    g_queue_unlink (&map->recent, &stream->link);
    g_queue_push_head_link (&map->recent, &stream->link);
  }
  stream->last = *header;
  stream->last_pts = pts;

  if (fmx_serial_diff16 (header->seq, stream->highest) < -MAX_MISORDER) {
    stream->highest = header->seq - 1;
    stream->since = header->seq;
  }
  return stream;
}

gboolean
gst_rtp_seq_map_pass (GstRtpSeqMap * map, GstFairmixRtpHeader * header,
    GstClockTime pts)
{
  Stream *stream = gst_rtp_seq_map_touch (map, header, pts);

  if (fmx_serial_diff16 (header->seq, stream->highest) > 0) {
    stream->highest = header->seq;
    if ((guint16) (stream->highest - stream->since) > MAX_AGE)
      stream->since = stream->highest - MAX_AGE;
  } else if (stream->changed
      && fmx_serial_diff16 (header->seq, stream->since) < 0) {
    return FALSE;
  }
  header->seq += stream->offset;
  return TRUE;
}

gboolean
gst_rtp_seq_map_is_next (const GstRtpSeqMap * map,
    const GstFairmixRtpHeader * header)
{
  const Stream *stream = g_hash_table_lookup (map->streams,
      GUINT_TO_POINTER (header->ssrc));

  return stream != NULL && header->seq == (guint16) (stream->highest + 1);
}

void
gst_rtp_seq_map_skip (GstRtpSeqMap * map, const GstFairmixRtpHeader * header)
{
  Stream *stream = g_hash_table_lookup (map->streams,
      GUINT_TO_POINTER (header->ssrc));

  if (stream != NULL)
    gst_rtp_seq_map_shift (map, stream, 1);
}

void
gst_rtp_seq_map_drop (GstRtpSeqMap * map, const GstFairmixRtpHeader * header,
    GstClockTime pts)
{
  Stream *stream = gst_rtp_seq_map_touch (map, header, pts);
  gint ahead = fmx_serial_diff16 (header->seq, stream->highest);

  if (ahead > 0) {
    stream->highest = header->seq;
    gst_rtp_seq_map_shift (map, stream, -ahead);
  }
}

gboolean
gst_rtp_seq_map_insert (GstRtpSeqMap * map, GstFairmixRtpHeader * header,
    GstClockTime * pts)
{
  Stream *stream;

  if (map->recent.head == NULL)
    return FALSE;

  stream = map->recent.head->data;
  gst_rtp_seq_map_shift (map, stream, 1);
  *header = stream->last;
  header->seq = stream->highest + stream->offset;
  *pts = stream->last_pts;
  return TRUE;
}

gboolean
gst_rtp_seq_map_is_active (const GstRtpSeqMap * map)
{
  return map->n_changed > 0;
}
