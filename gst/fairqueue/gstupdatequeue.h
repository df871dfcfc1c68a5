/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_UPDATE_QUEUE_H__
#define __GST_UPDATE_QUEUE_H__

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_UPDATE_QUEUE (gst_update_queue_get_type ())
G_DECLARE_FINAL_TYPE (GstUpdateQueue, gst_update_queue, GST, UPDATE_QUEUE,
    GstElement)

GST_ELEMENT_REGISTER_DECLARE (updatequeue);

G_END_DECLS

#endif /* __GST_UPDATE_QUEUE_H__ */
