/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfairmixrtp.h"

#include <gst/rtp/rtp.h>

#include "fairmix/base/fmx-units.h"

#define FIRST_RTCP_TYPE 192
#define LAST_RTCP_TYPE 223

gboolean
gst_fairmix_rtp_header_read (GstBuffer * buffer, GstFairmixRtpHeader * header)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint8 type;

  if (!gst_rtp_buffer_map (buffer,
          GST_MAP_READ | GST_RTP_BUFFER_MAP_FLAG_SKIP_PADDING, &rtp))
    return FALSE;

  type = ((const guint8 *) rtp.data[0])[1];
  header->ssrc = gst_rtp_buffer_get_ssrc (&rtp);
  header->timestamp = gst_rtp_buffer_get_timestamp (&rtp);
  header->seq = gst_rtp_buffer_get_seq (&rtp);
  header->payload_type = gst_rtp_buffer_get_payload_type (&rtp);
  header->header_bytes = gst_rtp_buffer_get_header_len (&rtp);
  gst_rtp_buffer_unmap (&rtp);
  /* [RFC5761 4] RTCP that shares the port */
  return type < FIRST_RTCP_TYPE || type > LAST_RTCP_TYPE;
}

guint32
gst_fairmix_rtp_wire_bytes (GstBuffer * buffer)
{
  return (guint32) gst_buffer_get_size (buffer) + FMX_IP_UDP_BYTES;
}

GstBuffer *
gst_fairmix_rtp_set_seq (GstBuffer * buffer, guint16 seq)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  buffer = gst_buffer_make_writable (buffer);
  if (gst_rtp_buffer_map (buffer,
          GST_MAP_READWRITE | GST_RTP_BUFFER_MAP_FLAG_SKIP_PADDING, &rtp)) {
    gst_rtp_buffer_set_seq (&rtp, seq);
    gst_rtp_buffer_unmap (&rtp);
  }
  return buffer;
}

GstBuffer *
gst_fairmix_rtp_padding_new (GstFairmixRtpHeader * header, guint8 n_bytes)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (0, n_bytes, 0);

  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_ssrc (&rtp, header->ssrc);
  gst_rtp_buffer_set_timestamp (&rtp, header->timestamp);
  gst_rtp_buffer_set_seq (&rtp, header->seq);
  gst_rtp_buffer_set_payload_type (&rtp, header->payload_type);
  header->header_bytes = gst_rtp_buffer_get_header_len (&rtp);
  gst_rtp_buffer_unmap (&rtp);
  return buffer;
}
