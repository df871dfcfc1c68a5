/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstqmheader.h"

#include <gst/rtp/rtp.h>

#include "fairmix/wire/fmx-audio-level.h"

#define MAX_ONE_BYTE_ID 14      /* [RFC8285 4.2] 15 is reserved */

static gboolean
read_fixed_header (const guint8 * data, gsize size, GstQmHeader * header)
{
  if (size < 12 || data[0] >> 6 != 2)
    return FALSE;
  header->header_bytes = 12 + 4 * (data[0] & 0x0f);
  header->extended = (data[0] & 0x10) != 0;
  header->marker = data[1] >> 7;
  header->pt = data[1] & 0x7f;
  header->seq = GST_READ_UINT16_BE (data + 2);
  header->timestamp = GST_READ_UINT32_BE (data + 4);
  header->ssrc = GST_READ_UINT32_BE (data + 8);
  return TRUE;
}

gboolean
gst_qm_header_read (GstQmHeader * header, GstBuffer * buffer)
{
  guint8 extension[4];
  GstMemory *memory;
  GstMapInfo map;
  gboolean good;

  if (gst_buffer_n_memory (buffer) == 0)
    return FALSE;
  memory = gst_buffer_peek_memory (buffer, 0);
  if (!gst_memory_map (memory, &map, GST_MAP_READ))
    return FALSE;
  good = read_fixed_header (map.data, map.size, header);
  header->mapped_bytes = map.size;
  gst_memory_unmap (memory, &map);
  if (!good)
    return FALSE;
  if (header->extended) {       /* [RFC3550 5.3.1] */
    if (gst_buffer_extract (buffer, header->header_bytes, extension, 4) != 4)
      return FALSE;
    header->header_bytes += 4 + 4 * GST_READ_UINT16_BE (extension + 2);
  }
  return TRUE;
}

guint
gst_qm_header_read_extension (GstBuffer * buffer, guint id, guint8 * bytes,
    guint most)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  gpointer data;
  guint size;

  if (!gst_rtp_buffer_map (buffer,
          GST_MAP_READ | GST_RTP_BUFFER_MAP_FLAG_SKIP_PADDING, &rtp))
    return 0;
  /* GStreamer complains of an id that no such header could have */
  if ((id <= MAX_ONE_BYTE_ID
          && gst_rtp_buffer_get_extension_onebyte_header (&rtp, (guint8) id, 0,
              &data, &size))
      || gst_rtp_buffer_get_extension_twobytes_header (&rtp, NULL, id, 0,
          &data, &size))
    memcpy (bytes, data, MIN (size, most));
  else
    size = 0;
  gst_rtp_buffer_unmap (&rtp);
  return size;
}

gboolean
gst_qm_header_read_level (GstBuffer * buffer, guint id, guint8 * level)
{
  guint8 byte;
  guint size = gst_qm_header_read_extension (buffer, id, &byte, 1);
  bool voice;

  return fmx_audio_level_parse (&byte, size, level, &voice);
}
