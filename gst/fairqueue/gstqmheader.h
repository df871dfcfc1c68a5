/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_QM_HEADER_H__
#define __GST_QM_HEADER_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * GstQmHeader:
 * @header_bytes: length of the header with CSRCs and extension, in bytes
 * @mapped_bytes: length of the packet, at least
 *
 * What the playout stage looks at in an RTP packet.
 */
typedef struct
{
  guint32 ssrc;
  guint32 timestamp;
  guint16 seq;
  guint8 pt;
  gboolean marker;
  gboolean extended;
  gsize header_bytes;
  gsize mapped_bytes;
} GstQmHeader;

/**
 * gst_qm_header_read:
 *
 * GstRTPBuffer checks and maps more than we need of every packet.
 *
 * Returns: %FALSE if @buffer is not an RTP packet
 */
gboolean gst_qm_header_read (GstQmHeader * header, GstBuffer * buffer);

/**
 * gst_qm_header_read_extension:
 * @id: of the header extension element, in either of the two forms
 * @bytes: (out): its beginning
 * @most: how many bytes fit
 *
 * Returns: how long it is, in bytes; 0 if it is not there
 */
guint gst_qm_header_read_extension (GstBuffer * buffer, guint id,
    guint8 * bytes, guint most);

/**
 * gst_qm_header_read_level:
 * @id: of the header extension
 * @level: (out): loudness, in -dBov ([RFC6464])
 *
 * Returns: %FALSE if @buffer does not tell
 */
gboolean gst_qm_header_read_level (GstBuffer * buffer, guint id,
    guint8 * level);

G_END_DECLS

#endif /* __GST_QM_HEADER_H__ */
