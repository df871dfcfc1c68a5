/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_RTP_SEQ_MAP_H__
#define __GST_RTP_SEQ_MAP_H__

#include "common/gstfairmixrtp.h"

G_BEGIN_DECLS

/**
 * GstRtpSeqMap:
 *
 * Numbers the packets of each SSRC anew, so that what we drop and what we add
 * leaves neither a gap nor a duplicate, while gaps and reordering that come
 * from upstream stay what they are.  Knows a bounded number of SSRCs; the one
 * that was silent longest is forgotten first.  Not thread-safe.
 */
typedef struct _GstRtpSeqMap GstRtpSeqMap;

GstRtpSeqMap *gst_rtp_seq_map_new (guint max_ssrcs);
void gst_rtp_seq_map_free (GstRtpSeqMap * map);

/**
 * gst_rtp_seq_map_pass:
 * @header: (inout): of a packet that is to be passed; gets its new number
 * @pts: presentation time of its buffer
 *
 * Returns: %FALSE if the packet must be dropped: it comes so late that its
 *     number was given away
 */
gboolean gst_rtp_seq_map_pass (GstRtpSeqMap * map,
    GstFairmixRtpHeader * header, GstClockTime pts);

/* Returns: whether the packet is the next one of a stream that was seen before:
 * a number may be left out before it */
gboolean gst_rtp_seq_map_is_next (const GstRtpSeqMap * map,
    const GstFairmixRtpHeader * header);

/* Leaves out the number that such a packet would get. */
void gst_rtp_seq_map_skip (GstRtpSeqMap * map,
    const GstFairmixRtpHeader * header);

/* A packet that we drop. */
void gst_rtp_seq_map_drop (GstRtpSeqMap * map,
    const GstFairmixRtpHeader * header, GstClockTime pts);

/**
 * gst_rtp_seq_map_insert:
 * @header: (out): of a packet to add to the stream last seen, with the
 *     timestamp of its last packet
 * @pts: (out): presentation time of that packet
 *
 * Returns: %FALSE if no stream has been seen yet
 */
gboolean gst_rtp_seq_map_insert (GstRtpSeqMap * map,
    GstFairmixRtpHeader * header, GstClockTime * pts);

/* Returns: whether a packet may get another number, or have to be dropped */
gboolean gst_rtp_seq_map_is_active (const GstRtpSeqMap * map);

G_END_DECLS

#endif /* __GST_RTP_SEQ_MAP_H__ */
