/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gsttransportwide.h"

#include <gst/rtp/rtp.h>

#define EXTMAP "extmap-"
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
add_extension (GstRTPBuffer * rtp, guint8 id, const guint8 * data)
{
  guint16 profile = id <= MAX_ONE_BYTE_ID ? ONE_BYTE_PROFILE
      : TWO_BYTES_PROFILE;

  if (gst_rtp_buffer_get_extension (rtp))
    gst_rtp_buffer_get_extension_data (rtp, &profile, NULL, NULL);
  if (profile == ONE_BYTE_PROFILE && id <= MAX_ONE_BYTE_ID)
    return gst_rtp_buffer_add_extension_onebyte_header (rtp, id, data,
        FMX_TWCC_EXTENSION_BYTES);
  if ((profile & TWO_BYTES_MASK) == TWO_BYTES_PROFILE)
    return gst_rtp_buffer_add_extension_twobytes_header (rtp, profile & 0xf,
        id, data, FMX_TWCC_EXTENSION_BYTES);
  return FALSE;
}

static gboolean
write_number (GstRTPBuffer * rtp, guint8 id, guint16 number)
{
  guint8 *place = find_extension (rtp, id);
  guint8 data[FMX_TWCC_EXTENSION_BYTES];

  GST_WRITE_UINT16_BE (data, number);
  if (place == NULL)
    return add_extension (rtp, id, data);
  memcpy (place, data, sizeof data);
  return TRUE;
}

GstBuffer *
gst_transport_wide_number (GstTransportWide * self, GstBuffer * buffer,
    const GstFairmixRtpHeader * header)
{
  guint8 id = (guint8) gst_transport_wide_get_id (self);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  if (id == 0)
    return buffer;
  buffer = gst_buffer_make_writable (buffer);
  if (gst_rtp_buffer_map (buffer,
          GST_MAP_READWRITE | GST_RTP_BUFFER_MAP_FLAG_SKIP_PADDING, &rtp)) {
    guint16 number = fmx_twcc_numbers_give (need_numbers (self), header->ssrc,
        header->seq);

    if (!write_number (&rtp, id, number))
      self->n_not_numbered++;
    gst_rtp_buffer_unmap (&rtp);
  }
  return buffer;
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
