/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_QM_STRETCH_H__
#define __GST_QM_STRETCH_H__

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_QM_STRETCH (gst_qm_stretch_get_type ())
G_DECLARE_FINAL_TYPE (GstQmStretch, gst_qm_stretch, GST, QM_STRETCH,
    GstElement)

GST_ELEMENT_REGISTER_DECLARE (qmstretch);

G_END_DECLS

#endif /* __GST_QM_STRETCH_H__ */
