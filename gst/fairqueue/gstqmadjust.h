/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_QM_ADJUST_H__
#define __GST_QM_ADJUST_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * GST_QM_ADJUST_EVENT:
 *
 * Name of the custom downstream event that goes before the first packet that
 * is played with another delay: `fairmix-playout-adjust`, with the fields
 * `adjustment` (gint64, nanoseconds; < 0: the delay shrank) and `delay`
 * (guint64, nanoseconds).
 */
#define GST_QM_ADJUST_EVENT "fairmix-playout-adjust"

GstEvent *gst_qm_adjust_event_new (GstClockTimeDiff adjustment,
    GstClockTime delay);

/* Returns: whether @event is one; then @adjustment is set */
gboolean gst_qm_adjust_event_parse (GstEvent * event,
    GstClockTimeDiff * adjustment);

/**
 * GST_QM_STRETCHER_EVENT:
 *
 * Name of the custom upstream event by which a time stretcher says that it is
 * there: `fairmix-playout-stretcher`.  Who plays packets earlier to shorten the
 * delay need not drop any.
 */
#define GST_QM_STRETCHER_EVENT "fairmix-playout-stretcher"

GstEvent *gst_qm_stretcher_event_new (void);
gboolean gst_qm_stretcher_event_is (GstEvent * event);

G_END_DECLS

#endif /* __GST_QM_ADJUST_H__ */
