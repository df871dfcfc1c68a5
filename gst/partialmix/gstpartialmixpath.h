/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_PATH_H__
#define __GST_PARTIAL_MIX_PATH_H__

#include <gio/gio.h>
#include <gst/gst.h>

#include "fairmix/playout/fmx-path-delay.h"

G_BEGIN_DECLS

/**
 * GstPartialMixPath:
 *
 * A way on which streams come: from one address of one neighbour, or where buffers do
 * not tell addresses, through one pad.  What is known of its delays is guarded by the
 * element's lock.
 */
typedef struct _GstPartialMixPath GstPartialMixPath;

/* The paths that streams come on: a set of GstPartialMixPath */
GHashTable *gst_partial_mix_paths_new (void);

/* One stream more comes from @source, or @pad if that is NULL.  Returns: (transfer full) */
GstPartialMixPath *gst_partial_mix_paths_join (GHashTable * paths,
    gint neighbour, GSocketAddress * source, GstPad * pad);
/* The stream is gone; whoever comes when all are gone begins anew. */
void gst_partial_mix_paths_leave (GHashTable * paths,
    GstPartialMixPath * path);

/* @params: if nobody has asked before */
FmxPathDelay *gst_partial_mix_path_delay (GstPartialMixPath * path,
    const FmxDelayMemoryParams * params);
void gst_partial_mix_path_unref (GstPartialMixPath * path);

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_PATH_H__ */
