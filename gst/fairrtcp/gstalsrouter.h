/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_ALS_ROUTER_H__
#define __GST_ALS_ROUTER_H__

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_ALS_ROUTER (gst_als_router_get_type ())
G_DECLARE_FINAL_TYPE (GstAlsRouter, gst_als_router, GST, ALS_ROUTER, GstElement)

GST_ELEMENT_REGISTER_DECLARE (alsrouter);

G_END_DECLS

#endif /* __GST_ALS_ROUTER_H__ */
