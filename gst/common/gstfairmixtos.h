/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_FAIRMIX_TOS_H__
#define __GST_FAIRMIX_TOS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* A #GSocketControlMessage of the byte of an IP header that has ECN in it ([RFC3168 5]), for
 * gst_fairmix_ecn_get(); GLib has a GIPTosMessage of its own from 2.88 on. */
GType gst_fairmix_tos_get_type (void);

/* @buffer came in a packet with @tos in its IP header. */
void gst_fairmix_tos_attach (GstBuffer * buffer, guint8 tos);

G_END_DECLS

#endif /* __GST_FAIRMIX_TOS_H__ */
