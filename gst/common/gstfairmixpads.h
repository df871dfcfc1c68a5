/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_FAIRMIX_PADS_H__
#define __GST_FAIRMIX_PADS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Adds a sink and a src pad that stay as long as @element: what is known of one is
 * known of the other, and events and queries pass between them.  Uses their
 * element_private. */
void gst_fairmix_pads_add_pair (GstElement * element, GstPad * sink,
    GstPad * src);

/* The templates of pads that stay, before an rtpbin: "sink" and "src" for RTP,
 * "rtcp_sink" and "rtcp_src" for RTCP. */
void gst_fairmix_pads_install_rtp (GstElementClass * klass);
void gst_fairmix_pads_install_rtcp (GstElementClass * klass);

/* Adds them.  @src: (out) (transfer none): where it goes on.
 * Returns: (transfer none): where it comes in */
GstPad *gst_fairmix_pads_add_rtp (GstElement * element,
    GstPadChainFunction chain, GstPadChainListFunction chain_list,
    GstPadEventFunction event, GstPad ** src);
GstPad *gst_fairmix_pads_add_rtcp (GstElement * element,
    GstPadChainFunction chain, GstPad ** src);

/* @buffer: (transfer full): goes on, if anybody is there: nobody needs to be */
GstFlowReturn gst_fairmix_pads_push_rtcp (GstPad * src, GstBuffer * buffer);

/* A GInterfaceInitFunc of GstChildProxy: the children of an element are its pads that were
 * asked for. */
void gst_fairmix_pads_child_proxy_init (gpointer iface, gpointer data);

/* Sets @flag of @element, or takes it away, under its lock, as all flags share a word.
 * Returns: whether it was otherwise */
gboolean gst_fairmix_element_set_flag (GstElement * element, guint flag,
    gboolean set);

/* Returns: (transfer full) (nullable): the nearest element with this name: in the
 * bin of @owner, or upwards */
GstElement *gst_fairmix_find_element (GstElement * owner, const gchar * name);

/* Returns: whether both are in the same pipeline, at whatever depth */
gboolean gst_fairmix_is_beside (GstObject * a, GstObject * b);

G_END_DECLS

#endif /* __GST_FAIRMIX_PADS_H__ */
