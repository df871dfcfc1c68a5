/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_DEBUG_H__
#define __GST_PARTIAL_MIX_DEBUG_H__

#include <gst/gst.h>

/* What all files of partialmix log under; the element's class makes it. */
GST_DEBUG_CATEGORY_EXTERN (gst_partial_mix_debug);

#endif /* __GST_PARTIAL_MIX_DEBUG_H__ */
