/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_RTP_EXTENSION_H__
#define __GST_RTP_EXTENSION_H__

#include <gst/gst.h>

G_BEGIN_DECLS
/**
 * gst_rtp_extension_read:
 * @buffer: an RTP packet
 * @data: (out caller-allocates) (array length=size): what extension @id says
 *
 * Returns: whether the packet has it, with @size bytes
 */
    gboolean gst_rtp_extension_read (GstBuffer * buffer, guint8 id,
    guint8 * data, guint size);

/**
 * gst_rtp_extension_write:
 * @buffer: (transfer full): an RTP packet
 * @header_bytes: (inout): length of its header, with CSRCs and extension
 * @data: (array length=size): what extension @id shall say
 * @written: (out): whether it does: not in a packet that has a header extension
 *     of another kind than [RFC8285], or one to which nothing can be added, or the same one
 *     with another size
 *
 * Returns: (transfer full): the packet with that element, in the place of
 *     an older one of that size if there is one; metas, flags and times stay
 */
GstBuffer *gst_rtp_extension_write (GstBuffer * buffer, guint * header_bytes,
    guint8 id, const guint8 * data, guint size, gboolean * written);

G_END_DECLS
#endif /* __GST_RTP_EXTENSION_H__ */
