/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_ALS_RTCP_H__
#define __GST_ALS_RTCP_H__

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_ALS_RTCP (gst_als_rtcp_get_type ())
G_DECLARE_FINAL_TYPE (GstAlsRtcp, gst_als_rtcp, GST, ALS_RTCP, GstElement)

GST_ELEMENT_REGISTER_DECLARE (alsrtcp);

G_END_DECLS

#endif /* __GST_ALS_RTCP_H__ */
