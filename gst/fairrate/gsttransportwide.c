/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gsttransportwide.h"

#include <gst/rtp/rtp.h>

#define EXTMAP "extmap-"
#define WORD_BYTES 4u
#define FIXED_BYTES 12u         /* [RFC3550 5.1] the header without CSRCs */
#define CC_MASK 0x0f
#define EXTENSION_BIT 0x10
#define MAX_ID 255
#define MAX_ONE_BYTE_ID 14      /* [RFC8285 4.2] 15 is reserved */
#define ONE_BYTE_PROFILE 0xBEDE
#define TWO_BYTES_PROFILE 0x1000        /* [RFC8285 4.3] and four bits of the application's */
#define TWO_BYTES_MASK 0xfff0

/* What is handed on at a time: four times what a browser tells of */
#define METRICS_AT_ONCE 256

void
gst_transport_wide_clear (GstTransportWide * self)
{
  g_clear_pointer (&self->numbers, g_free);
  self->caps_id = 0;
  self->n_not_numbered = 0;
}

void
gst_transport_wide_set_id (GstTransportWide * self, guint id)
{
  self->chosen_id = (guint8) id;
}

guint
gst_transport_wide_get_id (const GstTransportWide * self)
{
  return self->chosen_id != 0 ? self->chosen_id : self->caps_id;
}

guint64
gst_transport_wide_n_not_numbered (const GstTransportWide * self)
{
  return self->n_not_numbered;
}

/* The extension's name, alone or between direction and attributes */
static const gchar *
extmap_uri (const GValue * value)
{
  if (GST_VALUE_HOLDS_ARRAY (value) && gst_value_array_get_size (value) > 1)
    value = gst_value_array_get_value (value, 1);
  return G_VALUE_HOLDS_STRING (value) ? g_value_get_string (value) : NULL;
}

/* Returns: the field of @s that maps the extension, NULL = none; @id: its id */
static const gchar *
find_extmap (const GstStructure * s, guint8 * id)
{
  for (gint i = 0; i < gst_structure_n_fields (s); i++) {
    const gchar *name = gst_structure_nth_field_name (s, (guint) i);
    guint64 number;

    if (g_str_has_prefix (name, EXTMAP)
        && g_ascii_string_to_unsigned (name + strlen (EXTMAP), 10, 1, MAX_ID,
            &number, NULL)
        && g_strcmp0 (extmap_uri (gst_structure_get_value (s, name)),
            FMX_TWCC_URN) == 0) {
      *id = (guint8) number;
      return name;
    }
  }
  return NULL;
}

GstCaps *
gst_transport_wide_take_caps (GstTransportWide * self, GstCaps * caps)
{
  const gchar *name;

  self->caps_id = 0;
  if (gst_caps_get_size (caps) == 0)
    return gst_caps_ref (caps);
  name = find_extmap (gst_caps_get_structure (caps, 0), &self->caps_id);
  if (name == NULL)
    return gst_caps_ref (caps);
  caps = gst_caps_copy (caps);
  gst_structure_remove_field (gst_caps_get_structure (caps, 0), name);
  return caps;
}

static FmxTwccNumbers *
need_numbers (GstTransportWide * self)
{
  if (self->numbers == NULL) {
    self->numbers = g_new (FmxTwccNumbers, 1);
    fmx_twcc_numbers_init (self->numbers, (guint16) g_random_int ());
  }
  return self->numbers;
}

/* Where the extension's data stands, if the packet has it; somebody before us
 * may have numbered it, for another path. */
static guint8 *
find_extension (GstRTPBuffer * rtp, guint8 id)
{
  gpointer data;
  guint8 bits;
  guint size;

  if ((gst_rtp_buffer_get_extension_onebyte_header (rtp, id, 0, &data, &size)
          || gst_rtp_buffer_get_extension_twobytes_header (rtp, &bits, id, 0,
              &data, &size)) && size == FMX_TWCC_EXTENSION_BYTES)
    return data;
  return NULL;
}

static gboolean
has_extension (GstBuffer * buffer, guint8 id)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  gboolean has = FALSE;

  if (gst_rtp_buffer_map (buffer,
          GST_MAP_READ | GST_RTP_BUFFER_MAP_FLAG_SKIP_PADDING, &rtp)) {
    has = find_extension (&rtp, id) != NULL;
    gst_rtp_buffer_unmap (&rtp);
  }
  return has;
}

/* GST_WRITE_UINT16_BE() wants an even address; extensions stand anywhere. */
static void
write_number (guint8 * place, guint16 number)
{
  place[0] = (guint8) (number >> 8);
  place[1] = (guint8) number;
}

/* Where the number stands already.  Returns: whether it was written there */
static gboolean
replace_number (GstBuffer * buffer, guint8 id, guint16 number)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint8 *place;

  if (!gst_rtp_buffer_map (buffer,
          GST_MAP_READWRITE | GST_RTP_BUFFER_MAP_FLAG_SKIP_PADDING, &rtp))
    return FALSE;
  place = find_extension (&rtp, id);
  if (place != NULL)
    write_number (place, number);
  gst_rtp_buffer_unmap (&rtp);
  return place != NULL;
}

/* One element is one word, in either form of [RFC8285]; padding may stand between
 * it and those before it. */
static void
write_element (guint8 * word, guint16 profile, guint8 id, guint16 number)
{
  if (profile == ONE_BYTE_PROFILE) {
    word[0] = (guint8) (id << 4 | (FMX_TWCC_EXTENSION_BYTES - 1));
    write_number (word + 1, number);
    word[3] = 0;
  } else {
    word[0] = id;
    word[1] = FMX_TWCC_EXTENSION_BYTES;
    write_number (word + 2, number);
  }
}

/* The packet with a header that is longer by the number; %NULL if its extension
 * is of another kind.  A new header memory, the payload's stays: what
 * gst_rtp_buffer_add_extension_onebyte_header() replaces is the second memory,
 * whatever that is. */
static GstBuffer *
add_number (GstBuffer * buffer, guint header_bytes, guint8 id, guint16 number)
{
  guint16 profile = id <= MAX_ONE_BYTE_ID ? ONE_BYTE_PROFILE
      : TWO_BYTES_PROFILE, words = 0;
  guint8 *header = g_alloca (header_bytes), *extension, *out;
  guint before = header_bytes;
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
  packet = gst_buffer_new_allocate (NULL, before + WORD_BYTES * (words + 2u),
      NULL);
  gst_buffer_map (packet, &map, GST_MAP_WRITE);
  memcpy (map.data, header, before);
  map.data[0] |= EXTENSION_BIT;
  out = map.data + before;
  GST_WRITE_UINT16_BE (out, profile);
  GST_WRITE_UINT16_BE (out + 2, words + 1);
  if (words > 0)
    memcpy (out + WORD_BYTES, header + before + WORD_BYTES,
        WORD_BYTES * (gsize) words);
  write_element (out + WORD_BYTES * (words + 1u), profile, id, number);
  gst_buffer_unmap (packet, &map);
  gst_buffer_copy_into (packet, buffer, GST_BUFFER_COPY_FLAGS
      | GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_META, 0, -1);
  gst_buffer_copy_into (packet, buffer, GST_BUFFER_COPY_MEMORY, header_bytes,
      -1);
  return packet;
}

GstBuffer *
gst_transport_wide_number (GstTransportWide * self, GstBuffer * buffer,
    const GstFairmixRtpHeader * header)
{
  guint8 id = (guint8) gst_transport_wide_get_id (self);
  GstBuffer *packet;
  guint16 number;

  if (id == 0)
    return buffer;
  number = fmx_twcc_numbers_give (need_numbers (self), header->ssrc,
      header->seq);
  if (has_extension (buffer, id)) {
    buffer = gst_buffer_make_writable (buffer);
    if (!replace_number (buffer, id, number))
      self->n_not_numbered++;
    return buffer;
  }
  packet = add_number (buffer, header->header_bytes, id, number);
  if (packet == NULL) {
    self->n_not_numbered++;
    return buffer;
  }
  gst_buffer_unref (buffer);
  return packet;
}

void
gst_transport_wide_skip (GstTransportWide * self, guint32 ssrc, guint16 seq)
{
  if (gst_transport_wide_get_id (self) != 0)
    (void) fmx_twcc_numbers_give (need_numbers (self), ssrc, seq);
}

gboolean
gst_transport_wide_read (GstTransportWide * self, const guint8 * packet,
    gsize size, FmxRateSender * sender, FmxTime now)
{
  FmxCcfbMetric metrics[METRICS_AT_ONCE];
  FmxTwccFeedback feedback;
  guint32 mid32;
  gsize n;

  if (self->numbers == NULL)
    return TRUE;                /* about somebody else's */
  if (!fmx_twcc_numbers_read (self->numbers, &feedback, packet, size, &mid32))
    return FALSE;
  do {
    for (n = 0; n < METRICS_AT_ONCE && fmx_twcc_numbers_next (self->numbers,
            &feedback, &metrics[n]);)
      n++;
    if (n > 0)
      fmx_rate_sender_on_metrics (sender, metrics, n, mid32, now);
  } while (n == METRICS_AT_ONCE);
  return TRUE;
}
