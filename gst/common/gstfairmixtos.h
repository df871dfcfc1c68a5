/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_DPM_TOS_H__
#define __GST_DPM_TOS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* @buffer came in a packet with @tos in its IP header, which is where ECN is: rtpccfb
 * reports it */
void gst_dpm_tos_attach (GstBuffer * buffer, guint8 tos);

G_END_DECLS

#endif /* __GST_DPM_TOS_H__ */
