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

/* Returns: (transfer full) (nullable): the nearest element with this name: in the
 * bin of @owner, or upwards */
GstElement *gst_fairmix_find_element (GstElement * owner, const gchar * name);

G_END_DECLS

#endif /* __GST_FAIRMIX_PADS_H__ */
