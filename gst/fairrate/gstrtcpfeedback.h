/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_RTCP_FEEDBACK_H__
#define __GST_RTCP_FEEDBACK_H__

#include <gst/gst.h>

#include "gsttransportwide.h"
#include "fairmix/rate/fmx-rate-sender.h"

G_BEGIN_DECLS

/**
 * gst_rtcp_feedback_read:
 * @buffer: a compound or reduced-size ([RFC5506]) RTCP packet
 * @sender: gets what it says of its streams
 * @transport_wide: knows what transport-wide numbers mean
 * @ntp_mid32: the middle 32 bits of the NTP time now
 *
 * Hands on congestion control feedback ([RFC8888]), transport-wide feedback and
 * all report blocks, and
 * whom they come from: the address that sent @buffer, if that is known
 * (#GstNetAddressMeta), else the SSRC that per-packet feedback names.  Report
 * blocks then come from anyone: browsers send them under many SSRCs.
 *
 * Returns: %FALSE if @buffer is not RTCP or a part of it is malformed
 */
gboolean gst_rtcp_feedback_read (GstBuffer * buffer, FmxRateSender * sender,
    GstTransportWide * transport_wide, guint32 ntp_mid32, FmxTime now);

G_END_DECLS

#endif /* __GST_RTCP_FEEDBACK_H__ */
