/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_H__
#define __GST_PARTIAL_MIX_H__

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_PARTIAL_MIX (gst_partial_mix_get_type ())
G_DECLARE_FINAL_TYPE (GstPartialMix, gst_partial_mix, GST, PARTIAL_MIX,
    GstElement)

GST_ELEMENT_REGISTER_DECLARE (partialmix);

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_H__ */
