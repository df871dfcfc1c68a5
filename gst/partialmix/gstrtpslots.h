/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_RTP_SLOTS_H__
#define __GST_RTP_SLOTS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_RTP_SLOTS (gst_rtp_slots_get_type ())
G_DECLARE_FINAL_TYPE (GstRtpSlots, gst_rtp_slots, GST, RTP_SLOTS, GstElement)

GST_ELEMENT_REGISTER_DECLARE (rtpslots);

G_END_DECLS

#endif /* __GST_RTP_SLOTS_H__ */
