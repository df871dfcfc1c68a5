/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_QM_INNER_H__
#define __GST_QM_INNER_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * GstQmInnerDelay:
 * @latency_ms: the latency of the inner jitter buffer, in milliseconds
 * @ts_offset: what it adds to its timestamps, in nanoseconds
 * @step: they go there by so much a packet, in nanoseconds; 0: at once
 *
 * A stock rtpjitterbuffer waits for what is missing as long as @latency_ms and @ts_offset
 * together say, in whatever moment a packet behind a gap comes.  Before 1.22.6 a sum below
 * 0 made it take a thousand million packets for lost, and drop those that came.
 */
typedef struct
{
  guint latency_ms;
  GstClockTimeDiff ts_offset;
  guint64 step;
} GstQmInnerDelay;

guint gst_qm_inner_get_latency (GstElement * inner);

/**
 * gst_qm_inner_set_delay:
 * @at_once: whatever @step says, which holds for what comes later
 *
 * Sets @inner to @delay while packets come.  If @at_once, and if neither is nor is to be
 * below 0, what it waits at any moment is not below 0 either, and at most 5 milliseconds
 * (or a thousandth of what the latency changes) longer than before or than after that.
 */
void gst_qm_inner_set_delay (GstElement * inner, const GstQmInnerDelay * delay,
    gboolean at_once);

G_END_DECLS

#endif /* __GST_QM_INNER_H__ */
