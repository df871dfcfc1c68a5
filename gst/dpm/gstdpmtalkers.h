/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_DPM_TALKERS_H__
#define __GST_DPM_TALKERS_H__

#include "gstdpmgraph.h"

G_BEGIN_DECLS

/** GST_DPM_MAX_TALKERS: places at the most */
#define GST_DPM_MAX_TALKERS 64

/**
 * GstDpmTalkers:
 *
 * Places for talkers, each with a pad of its own: who talks gets one, and when
 * there are more of them than places, the rest is mixed into one.
 */
typedef struct _GstDpmTalkers GstDpmTalkers;

/* @graph: to live as long */
GstDpmTalkers *gst_dpm_talkers_new (GstDpmGraph * graph);
/* no pads are left */
void gst_dpm_talkers_free (GstDpmTalkers * talkers);

/* @name: (nullable): "src_N".  Returns: (transfer floating) (nullable): a pad of
 * raw audio, active and to be added to the graph's bin */
GstPad *gst_dpm_talkers_request (GstDpmTalkers * talkers,
    GstPadTemplate * template, const gchar * name);

/* Returns: whether it was one of them; it is removed from the bin */
gboolean gst_dpm_talkers_release (GstDpmTalkers * talkers, GstPad * pad);

guint gst_dpm_talkers_get_n (GstDpmTalkers * talkers);

G_END_DECLS

#endif /* __GST_DPM_TALKERS_H__ */
