/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstrtpextension.h"

#include <gst/rtp/rtp.h>

#define WORD_BYTES 4u
#define FIXED_BYTES 12u         /* [RFC3550 5.1] the header without CSRCs */
#define CC_MASK 0x0f
#define EXTENSION_BIT 0x10
#define MAX_ONE_BYTE_ID 14      /* [RFC8285 4.2] 15 is reserved */
#define ONE_BYTE_PROFILE 0xBEDE
#define TWO_BYTES_PROFILE 0x1000        /* [RFC8285 4.3] and four bits of the application's */
#define TWO_BYTES_MASK 0xfff0

/* Where the extension's data stands, if the packet has it */
static guint8 *
find_element (GstRTPBuffer * rtp, guint8 id, guint wanted)
{
  gpointer data;
  guint8 bits;
  guint size;

  /* GStreamer complains of an id that no such header could have */
  if (((id <= MAX_ONE_BYTE_ID
              && gst_rtp_buffer_get_extension_onebyte_header (rtp, id, 0, &data,
                  &size))
          || gst_rtp_buffer_get_extension_twobytes_header (rtp, &bits, id, 0,
              &data, &size)) && size == wanted)
    return data;
  return NULL;
}

gboolean
gst_rtp_extension_read (GstBuffer * buffer, guint8 id, guint8 * data,
    guint size)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  const guint8 *place = NULL;

  if (gst_rtp_buffer_map (buffer,
          GST_MAP_READ | GST_RTP_BUFFER_MAP_FLAG_SKIP_PADDING, &rtp)) {
    place = find_element (&rtp, id, size);
    if (place != NULL)
      memcpy (data, place, size);
    gst_rtp_buffer_unmap (&rtp);
  }
  return place != NULL;
}

/* Where it stands already.  Returns: whether it was written there */
static gboolean
replace_element (GstBuffer * buffer, guint8 id, const guint8 * data, guint size)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint8 *place;

  if (!gst_rtp_buffer_map (buffer,
          GST_MAP_READWRITE | GST_RTP_BUFFER_MAP_FLAG_SKIP_PADDING, &rtp))
    return FALSE;
  place = find_element (&rtp, id, size);
  if (place != NULL)
    memcpy (place, data, size);
  gst_rtp_buffer_unmap (&rtp);
  return place != NULL;
}

static guint
element_words (guint16 profile, guint size)
{
  guint bytes = (profile == ONE_BYTE_PROFILE ? 1 : 2) + size;

  return (bytes + WORD_BYTES - 1) / WORD_BYTES;
}

/* Whole words, in either form of [RFC8285]; padding may stand between it and those
 * before it. */
static void
write_element (guint8 * words, guint16 profile, guint8 id, const guint8 * data,
    guint size)
{
  memset (words, 0, WORD_BYTES * (gsize) element_words (profile, size));
  if (profile == ONE_BYTE_PROFILE) {
    *words++ = (guint8) (id << 4 | (size - 1));
  } else {
    *words++ = id;
    *words++ = (guint8) size;
  }
  memcpy (words, data, size);
}

/* The packet with a header that is longer by the element; %NULL if its extension
 * is of another kind.  A new header memory, the payload's stays: what
 * gst_rtp_buffer_add_extension_onebyte_header() replaces is the second memory,
 * whatever that is. */
static GstBuffer *
add_element (GstBuffer * buffer, guint header_bytes, guint8 id,
    const guint8 * data, guint size)
{
  guint16 profile = id <= MAX_ONE_BYTE_ID ? ONE_BYTE_PROFILE
      : TWO_BYTES_PROFILE, words = 0;
  guint8 *header = g_alloca (header_bytes), *extension, *out;
  guint before = header_bytes, more;
  GstBuffer *packet;
  GstMapInfo map;

  gst_buffer_extract (buffer, 0, header, header_bytes);
  if (header[0] & EXTENSION_BIT) {
    before = FIXED_BYTES + WORD_BYTES * (header[0] & CC_MASK);
    extension = header + before;
    profile = GST_READ_UINT16_BE (extension);
    words = GST_READ_UINT16_BE (extension + 2);
    if ((profile != ONE_BYTE_PROFILE || id > MAX_ONE_BYTE_ID)
        && (profile & TWO_BYTES_MASK) != TWO_BYTES_PROFILE)
      return NULL;
  }
  more = element_words (profile, size);
  packet = gst_buffer_new_allocate (NULL,
      before + WORD_BYTES * (words + 1u + more), NULL);
  gst_buffer_map (packet, &map, GST_MAP_WRITE);
  memcpy (map.data, header, before);
  map.data[0] |= EXTENSION_BIT;
  out = map.data + before;
  GST_WRITE_UINT16_BE (out, profile);
  GST_WRITE_UINT16_BE (out + 2, words + more);
  if (words > 0)
    memcpy (out + WORD_BYTES, header + before + WORD_BYTES,
        WORD_BYTES * (gsize) words);
  write_element (out + WORD_BYTES * (words + 1u), profile, id, data, size);
  gst_buffer_unmap (packet, &map);
  gst_buffer_copy_into (packet, buffer, GST_BUFFER_COPY_FLAGS
      | GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_META, 0, -1);
  gst_buffer_copy_into (packet, buffer, GST_BUFFER_COPY_MEMORY, header_bytes,
      -1);
  return packet;
}

/* Whether a receiver finds it there: not after an element that ends the list, claims more
 * than there is, or has its number. */
static gboolean
is_found (GstBuffer * packet, guint8 id, const guint8 * data, guint size)
{
  guint8 *found = g_alloca (size);

  return gst_rtp_extension_read (packet, id, found, size)
      && memcmp (found, data, size) == 0;
}

GstBuffer *
gst_rtp_extension_write (GstBuffer * buffer, guint * header_bytes, guint8 id,
    const guint8 * data, guint size, gboolean * written)
{
  guint8 *before = g_alloca (size);
  GstBuffer *packet;

  if (gst_rtp_extension_read (buffer, id, before, size)) {
    buffer = gst_buffer_make_writable (buffer);
    *written = replace_element (buffer, id, data, size);
    return buffer;
  }
  packet = add_element (buffer, *header_bytes, id, data, size);
  if (packet != NULL && !is_found (packet, id, data, size))
    gst_clear_buffer (&packet);
  *written = packet != NULL;
  if (packet == NULL)
    return buffer;
  *header_bytes += (guint) (gst_buffer_get_size (packet)
      - gst_buffer_get_size (buffer));
  gst_buffer_unref (buffer);
  return packet;
}
