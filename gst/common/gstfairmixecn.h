/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_FAIRMIX_ECN_H__
#define __GST_FAIRMIX_ECN_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* ECN ([RFC3168 5]) of a packet in GStreamer: the two low bits of the byte in
 * a control message of type IP_TOS or IPV6_TCLASS, which the buffer carries in
 * a #GstNetControlMessageMeta.  The UDP sinks put it on the wire.  Any
 * #GSocketControlMessage of that type will do; GLib has one of its own
 * (GIPTosMessage) from 2.88 on. */

/**
 * gst_fairmix_ecn_get:
 *
 * Returns: the two bits: 0 if the packet's transport does not understand a mark
 *     or the buffer does not say, 1 or 2 if it does, 3 if it is marked
 */
guint8 gst_fairmix_ecn_get (GstBuffer * buffer);

/**
 * gst_fairmix_ecn_mark:
 * @buffer: (inout) (transfer full): a packet that can be marked
 *
 * Makes @buffer writable and says "congestion experienced" in it.
 *
 * Returns: %FALSE if that cannot be done; @buffer is still there
 */
gboolean gst_fairmix_ecn_mark (GstBuffer ** buffer);

G_END_DECLS

#endif /* __GST_FAIRMIX_ECN_H__ */
