/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_QM_RTP_BIN_H__
#define __GST_QM_RTP_BIN_H__

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_QM_RTP_BIN (gst_qm_rtp_bin_get_type ())
G_DECLARE_FINAL_TYPE (GstQmRtpBin, gst_qm_rtp_bin, GST, QM_RTP_BIN, GstElement)

GST_ELEMENT_REGISTER_DECLARE (qmrtpbin);

G_END_DECLS

#endif /* __GST_QM_RTP_BIN_H__ */
