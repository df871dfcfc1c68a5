/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixdebug.h"

GST_DEBUG_CATEGORY (gst_partial_mix_debug);
