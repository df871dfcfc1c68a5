/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_FEEDBACK_WATCH_H__
#define __GST_FEEDBACK_WATCH_H__

#include <gst/gst.h>

#include "fairmix/rate/fmx-rate-sender.h"

G_BEGIN_DECLS

/**
 * GstFeedbackWatch:
 * @n_rtcp: buffers that came to rtcp_sink
 * @n_malformed: of those, with a part that is not as it should be
 *
 * Notices that a sender hears nothing from its receiver, and knows what to
 * say about it: once, and again when feedback had come and stopped again.
 */
typedef struct
{
  guint64 n_rtcp;
  guint64 n_malformed;
  /*< private >*/
  FmxTime unheard_since;        /* the first packet after the last feedback */
  FmxDuration patience;
  gboolean complained;
} GstFeedbackWatch;

void gst_feedback_watch_init (GstFeedbackWatch * watch);

void gst_feedback_watch_on_sent (GstFeedbackWatch * watch, FmxTime now);

/* @kind: what the sender understood */
void gst_feedback_watch_on_feedback (GstFeedbackWatch * watch,
    FmxRateSenderFeedback kind);

/* Nothing more will be sent: nobody need answer. */
void gst_feedback_watch_on_end (GstFeedbackWatch * watch);

/* Returns: when to complain, %FMX_TIME_NONE = not at all */
FmxTime gst_feedback_watch_deadline (const GstFeedbackWatch * watch);

/* Returns: %TRUE once, when that time has come; if it is long past, that time is put off */
gboolean gst_feedback_watch_take_complaint (GstFeedbackWatch * watch,
    FmxTime now);

/* Posts a warning of @element; not to be called with a lock held.
 * @rtcp_sinkpad: (nullable): where the feedback should come from
 * @reason: (nullable): why it does not, if that is known already */
void gst_feedback_watch_complain (const GstFeedbackWatch * watch,
    GstElement * element, GstPad * rtcp_sinkpad, const gchar * reason);

/* Posts a warning that feedback was found to be untrue; likewise. */
void gst_feedback_watch_complain_of_lies (GstElement * element);

G_END_DECLS

#endif /* __GST_FEEDBACK_WATCH_H__ */
