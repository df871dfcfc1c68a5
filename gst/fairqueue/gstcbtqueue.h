/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_CBT_QUEUE_H__
#define __GST_CBT_QUEUE_H__

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_CBT_QUEUE (gst_cbt_queue_get_type ())
G_DECLARE_FINAL_TYPE (GstCbtQueue, gst_cbt_queue, GST, CBT_QUEUE, GstElement)

GST_ELEMENT_REGISTER_DECLARE (cbtqueue);

G_END_DECLS

#endif /* __GST_CBT_QUEUE_H__ */
