/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_QM_DEBUG_H__
#define __GST_QM_DEBUG_H__

#include <gst/gst.h>

G_BEGIN_DECLS
/**
 * gst_qm_debug_category:
 *
 * Made by who asks first, from any thread.
 *
 * Returns: the category "qmstage", of all that is part of the playout stage
 */
    GstDebugCategory * gst_qm_debug_category (void);

G_END_DECLS
#endif /* __GST_QM_DEBUG_H__ */
