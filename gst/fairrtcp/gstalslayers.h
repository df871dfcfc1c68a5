/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_ALS_LAYERS_H__
#define __GST_ALS_LAYERS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_ALS_LAYERS (gst_als_layers_get_type ())
G_DECLARE_FINAL_TYPE (GstAlsLayers, gst_als_layers, GST, ALS_LAYERS, GstElement)

GST_ELEMENT_REGISTER_DECLARE (alslayers);

G_END_DECLS

#endif /* __GST_ALS_LAYERS_H__ */
