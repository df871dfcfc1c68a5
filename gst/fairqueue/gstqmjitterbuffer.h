/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_QM_JITTER_BUFFER_H__
#define __GST_QM_JITTER_BUFFER_H__

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_QM_JITTER_BUFFER (gst_qm_jitter_buffer_get_type ())
G_DECLARE_FINAL_TYPE (GstQmJitterBuffer, gst_qm_jitter_buffer, GST,
    QM_JITTER_BUFFER, GstBin)

/**
 * gst_qm_jitter_buffer_share_delay:
 *
 * Plays the members of @self's sync group, which are its siblings in the same
 * bin, with the largest delay that one of them needs.
 */
void gst_qm_jitter_buffer_share_delay (GstQmJitterBuffer * self);

GST_ELEMENT_REGISTER_DECLARE (qmjitterbuffer);

G_END_DECLS

#endif /* __GST_QM_JITTER_BUFFER_H__ */
