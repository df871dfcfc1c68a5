/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_DPM_COUPLER_H__
#define __GST_DPM_COUPLER_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * GstDpmCoupler:
 *
 * Neighbours behind one bottleneck share out what their paths have together, by weight,
 * instead of competing for it (RFC 8699).
 */
typedef struct _GstDpmCoupler GstDpmCoupler;

/**
 * GstDpmCoupled:
 * @rate: the neighbour's tfrcrate; %NULL: nobody is there
 * @group: of those behind the same bottleneck, below the number of places; else alone
 * @weight: > 0
 * @target_bps, @sent_bps: what it may send, and does, on the wire
 * @n_drains: of its stats
 */
typedef struct
{
  GstElement *rate;
  guint group;
  gdouble weight;
  gdouble target_bps;
  gdouble sent_bps;
  guint64 n_drains;
} GstDpmCoupled;

/* All of it from one and the same thread, at a time. */
GstDpmCoupler *gst_dpm_coupler_new (guint n);
void gst_dpm_coupler_free (GstDpmCoupler * coupler);

/* @all: (array length=n): who is at each place, as they are now.  Tells each its share;
 * call it with no lock.  Returns: how many are coupled */
guint gst_dpm_coupler_share_out (GstDpmCoupler * coupler,
    const GstDpmCoupled * all);

/* Somebody else may be at @place from now on. */
void gst_dpm_coupler_forget (GstDpmCoupler * coupler, guint place);

/* Returns: whether @value can be a weight */
gboolean gst_dpm_coupler_is_weight (const GValue * value);

/* @weights: (nullable): fields of numbers by name.  Returns: what @name has, 0.01 to 100;
 * 1 if nothing is said of it */
gdouble gst_dpm_coupler_weight (const GstStructure * weights,
    const gchar * name);

G_END_DECLS

#endif /* __GST_DPM_COUPLER_H__ */
