/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_TFRC_RATE_H__
#define __GST_TFRC_RATE_H__

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_TFRC_RATE (gst_tfrc_rate_get_type ())
G_DECLARE_FINAL_TYPE (GstTfrcRate, gst_tfrc_rate, GST, TFRC_RATE, GstElement)

GST_ELEMENT_REGISTER_DECLARE (tfrcrate);

G_END_DECLS

#endif /* __GST_TFRC_RATE_H__ */
