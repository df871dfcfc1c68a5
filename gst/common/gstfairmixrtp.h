/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_FAIRMIX_RTP_H__
#define __GST_FAIRMIX_RTP_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * GstFairmixRtpHeader:
 * @ssrc: the stream
 * @timestamp: RTP timestamp, in units of the stream's clock rate
 * @seq: sequence number
 * @payload_type: 0 ... 127
 * @header_bytes: length of the header with CSRCs and extension, in bytes
 *
 * What our elements look at in an RTP packet that they pass on.
 */
typedef struct
{
  guint32 ssrc;
  guint32 timestamp;
  guint16 seq;
  guint8 payload_type;
  guint header_bytes;
} GstFairmixRtpHeader;

/**
 * gst_fairmix_rtp_header_read:
 * @header: (out): the fields
 *
 * Checks the header only, not the padding, so that encrypted packets (SRTP)
 * are read as well.
 *
 * Returns: %FALSE if @buffer is not an RTP packet
 */
gboolean gst_fairmix_rtp_header_read (GstBuffer * buffer,
    GstFairmixRtpHeader * header);

/**
 * gst_fairmix_rtp_wire_bytes:
 *
 * Returns: what the packet in @buffer is on the wire, with IP and UDP headers
 */
guint32 gst_fairmix_rtp_wire_bytes (GstBuffer * buffer);

/**
 * gst_fairmix_rtp_set_seq:
 * @buffer: (transfer full): an RTP packet that was read before
 *
 * Copies no more than needed; metas, flags and times stay.
 *
 * Returns: (transfer full): the packet with sequence number @seq
 */
GstBuffer *gst_fairmix_rtp_set_seq (GstBuffer * buffer, guint16 seq);

/**
 * gst_fairmix_rtp_padding_new:
 * @header: (inout): SSRC, timestamp, sequence number and payload type to use;
 * the length of the header is set, which the packet before may have had longer
 * @n_bytes: of padding, 1 to 255: the last one counts them
 *
 * A packet without payload that tells a receiver nothing: the header and padding
 * ([RFC3550 5.1]).
 */
GstBuffer *gst_fairmix_rtp_padding_new (GstFairmixRtpHeader * header, guint8 n_bytes);

G_END_DECLS

#endif /* __GST_FAIRMIX_RTP_H__ */
