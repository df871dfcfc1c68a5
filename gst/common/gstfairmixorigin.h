/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_FAIRMIX_ORIGIN_H__
#define __GST_FAIRMIX_ORIGIN_H__

#include <gio/gio.h>
#include <gst/gst.h>

G_BEGIN_DECLS

/* nothing has come from an address for so long: another one may have its SSRC */
#define GST_FAIRMIX_ORIGIN_WAIT (2 * GST_SECOND)

/**
 * gst_fairmix_origin_is_other:
 * @known: (inout): from where packets of this SSRC come, NULL at first
 * @buffer: one of them
 *
 * As far as buffers say where they are from (#GstNetAddressMeta); the first one that
 * does is noted.  NAT and forgers change ports, so that ports count.
 *
 * Returns: whether @buffer came from another address
 */
gboolean gst_fairmix_origin_is_other (GSocketAddress ** known,
    GstBuffer * buffer);

/**
 * GstFairmixOrigins:
 *
 * From where the packets of each SSRC come.  Of two senders with one SSRC the first
 * keeps it, until it has been silent for %GST_FAIRMIX_ORIGIN_WAIT.
 */
typedef struct _GstFairmixOrigins GstFairmixOrigins;

/* @most: SSRCs that are remembered at a time */
GstFairmixOrigins *gst_fairmix_origins_new (guint most);
void gst_fairmix_origins_free (GstFairmixOrigins * origins);

/* @first: (out): it is the first packet of that intruder, so that it may be told
 * Returns: whether @buffer is of a second sender with @ssrc */
gboolean gst_fairmix_origins_intrudes (GstFairmixOrigins * origins,
    guint32 ssrc, GstBuffer * buffer, GstClockTime now, gboolean * first);

G_END_DECLS

#endif /* __GST_FAIRMIX_ORIGIN_H__ */
