/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_QM_TYPES_H__
#define __GST_QM_TYPES_H__

#include <glib-object.h>

G_BEGIN_DECLS

/* The enumerations that are properties of qmjitterbuffer */
typedef enum
{
  GST_QM_MODE_NONE = 0,
  GST_QM_MODE_SLAVE = 1,
  GST_QM_MODE_BUFFER = 2,
  GST_QM_MODE_SYNCED = 4
} GstQmMode;

#define GST_TYPE_QM_MODE (gst_qm_mode_get_type ())
GType gst_qm_mode_get_type (void);

#define GST_TYPE_QM_AFTER_DROP (gst_qm_after_drop_get_type ())
GType gst_qm_after_drop_get_type (void);

#define GST_TYPE_QM_TIMING (gst_qm_timing_get_type ())
GType gst_qm_timing_get_type (void);

#define GST_TYPE_QM_SHRINK (gst_qm_shrink_get_type ())
GType gst_qm_shrink_get_type (void);

G_END_DECLS

#endif /* __GST_QM_TYPES_H__ */
