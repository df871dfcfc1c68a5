/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmroster.h"

#include <gst/base/gstbytewriter.h>
#include <gst/rtp/rtp.h>
#include <string.h>

#include "fairmix/join/fmx-join-message.h"

#define PAGE_NAMES 14           /* 72 bytes each at most: fits into a packet */
#define PAGE_BYTES (16 + PAGE_NAMES * 72)

/* Louder than this (in -dBov) is speech; it has ended when nothing was for so
 * long. */
#define TALK_LEVEL 45
#define TALK_HANGOVER_US (600 * 1000)

typedef struct
{
  guint ssrc;
  gint neighbour;
  gchar *name;
  gboolean is_news;             /* the name, since the update before */
  gboolean talks;
  gint64 last_talk_us;
  gboolean is_there;
} Entry;

struct _GstDpmRoster
{
  GstElement *owner;
  GPtrArray *entries;
};

static void
entry_free (gpointer data)
{
  Entry *entry = data;

  g_free (entry->name);
  g_free (entry);
}

GstDpmRoster *
gst_dpm_roster_new (GstElement * owner)
{
  GstDpmRoster *roster = g_new0 (GstDpmRoster, 1);

  roster->owner = owner;
  roster->entries = g_ptr_array_new_with_free_func (entry_free);
  return roster;
}

void
gst_dpm_roster_free (GstDpmRoster * roster)
{
  g_ptr_array_unref (roster->entries);
  g_free (roster);
}

static Entry *
find (GstDpmRoster * roster, guint ssrc)
{
  for (guint i = 0; i < roster->entries->len; i++) {
    Entry *entry = g_ptr_array_index (roster->entries, i);

    if (entry->ssrc == ssrc)
      return entry;
  }
  return NULL;
}

static void
message_talk (GstDpmRoster * roster, const Entry * entry)
{
  GstStructure *s = gst_structure_new ("dpm-talk",
      "talks", G_TYPE_BOOLEAN, entry->talks,
      "name", G_TYPE_STRING, entry->name != NULL ? entry->name : "",
      "ssrc", G_TYPE_UINT, entry->ssrc,
      "neighbour", G_TYPE_INT, entry->neighbour, NULL);

  gst_element_post_message (roster->owner,
      gst_message_new_element (GST_OBJECT (roster->owner), s));
}

static void
set_talks (GstDpmRoster * roster, Entry * entry, gboolean talks)
{
  if (entry->talks == talks)
    return;
  entry->talks = talks;
  message_talk (roster, entry);
}

/* Returns: whether the names changed */
static gboolean
update_entry (GstDpmRoster * roster, const GstStructure * s, gint64 now_us)
{
  const gchar *name = gst_structure_get_string (s, "cname");
  guint ssrc = 0, level = 127;
  gboolean news = FALSE;
  Entry *entry;

  gst_structure_get_uint (s, "out-ssrc", &ssrc);
  gst_structure_get_uint (s, "level", &level);
  entry = find (roster, ssrc);
  if (entry == NULL) {
    entry = g_new0 (Entry, 1);
    entry->ssrc = ssrc;
    g_ptr_array_add (roster->entries, entry);
    news = name != NULL;
  }
  gst_structure_get_int (s, "neighbour", &entry->neighbour);
  if (g_strcmp0 (entry->name, name) != 0) {
    g_free (entry->name);
    entry->name = g_strdup (name);
    news = TRUE;
    if (entry->talks)
      message_talk (roster, entry);     /* now we know who it is */
  }
  entry->is_there = TRUE;
  entry->is_news = news;
  if (level <= TALK_LEVEL) {
    entry->last_talk_us = now_us;
    set_talks (roster, entry, TRUE);
  } else if (now_us - entry->last_talk_us > TALK_HANGOVER_US) {
    set_talks (roster, entry, FALSE);
  }
  return news;
}

gboolean
gst_dpm_roster_update (GstDpmRoster * roster, const GstStructure * stats,
    gint64 now_us)
{
  const GValue *streams = gst_structure_get_value (stats, "streams");
  guint n = streams != NULL ? gst_value_array_get_size (streams) : 0;
  gboolean news = FALSE;

  for (guint i = 0; i < roster->entries->len; i++)
    ((Entry *) g_ptr_array_index (roster->entries, i))->is_there = FALSE;
  for (guint i = 0; i < n; i++)
    news |= update_entry (roster,
        gst_value_get_structure (gst_value_array_get_value (streams, i)),
        now_us);
  for (guint i = roster->entries->len; i > 0; i--) {
    Entry *entry = g_ptr_array_index (roster->entries, i - 1);

    if (!entry->is_there) {
      set_talks (roster, entry, FALSE);
      g_ptr_array_remove_index (roster->entries, i - 1);
    }
  }
  return news;
}

/* Adds a chunk of SDES: the CNAME of an SSRC [RFC3550 6.5].  (Several chunks are
 * more than GstRTCPBuffer of GStreamer 1.22 can write.) */
static void
write_chunk (GstByteWriter * writer, const Entry * entry)
{
  gchar name[FMX_JOIN_NAME_BYTES + 1];
  guint8 size;

  fmx_join_name_copy (name, entry->name);
  size = (guint8) strlen (name);
  gst_byte_writer_put_uint32_be (writer, entry->ssrc);
  gst_byte_writer_put_uint8 (writer, GST_RTCP_SDES_CNAME);
  gst_byte_writer_put_uint8 (writer, size);
  gst_byte_writer_put_data (writer, (const guint8 *) name, size);
  /* one to four zeros end it, at a word */
  gst_byte_writer_fill (writer, 0, 4 - gst_byte_writer_get_pos (writer) % 4);
}

/* Returns: how many it wrote */
static guint
write_names (GstDpmRoster * roster, gint neighbour, gboolean news, guint page,
    GstByteWriter * writer)
{
  guint n = 0, n_written = 0;

  for (guint i = 0; i < roster->entries->len; i++) {
    Entry *entry = g_ptr_array_index (roster->entries, i);

    if (entry->name == NULL || entry->neighbour == neighbour
        || (news && !entry->is_news) || n++ / PAGE_NAMES != page)
      continue;
    write_chunk (writer, entry);
    n_written++;
  }
  return n_written;
}

GstBuffer *
gst_dpm_roster_write_sdes (GstDpmRoster * roster, gint neighbour, guint32 ssrc,
    gboolean news, guint page)
{
  GstByteWriter writer;
  guint n, size;

  gst_byte_writer_init_with_size (&writer, PAGE_BYTES, FALSE);
  /* [RFC3550 6.1] a report comes first, an empty one if there is none */
  gst_byte_writer_put_uint16_be (&writer, 0x80 << 8 | GST_RTCP_TYPE_RR);
  gst_byte_writer_put_uint16_be (&writer, 1);
  gst_byte_writer_put_uint32_be (&writer, ssrc);
  gst_byte_writer_put_uint32_be (&writer, 0);
  n = write_names (roster, neighbour, news, page, &writer);
  size = gst_byte_writer_get_size (&writer);
  gst_byte_writer_set_pos (&writer, 8);
  gst_byte_writer_put_uint16_be (&writer,
      (guint16) ((0x80 | n) << 8 | GST_RTCP_TYPE_SDES));
  gst_byte_writer_put_uint16_be (&writer, (guint16) ((size - 8) / 4 - 1));
  if (n == 0) {
    gst_byte_writer_reset (&writer);
    return NULL;
  }
  return gst_byte_writer_reset_and_get_buffer (&writer);
}

guint
gst_dpm_roster_count (GstDpmRoster * roster)
{
  return roster->entries->len;
}
