/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LAUNCH_REPAIR_H
#define LAUNCH_REPAIR_H

/* What a path that keeps the order lost comes right before the next packet that arrives. */

#include <gst/gst.h>

/* At the sender, an element `wire` writes what it takes to the file $FMX_SENT; at the
 * receiver, an element `repair` reads there what did not come. */
void launch_repair_prepare (GstElement *pipeline, const gchar *path);

#endif
