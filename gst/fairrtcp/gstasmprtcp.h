/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_ASMP_RTCP_H__
#define __GST_ASMP_RTCP_H__

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_ASMP_RTCP (gst_asmp_rtcp_get_type ())
G_DECLARE_FINAL_TYPE (GstAsmpRtcp, gst_asmp_rtcp, GST, ASMP_RTCP, GstElement)

GST_ELEMENT_REGISTER_DECLARE (asmprtcp);

G_END_DECLS

#endif /* __GST_ASMP_RTCP_H__ */
