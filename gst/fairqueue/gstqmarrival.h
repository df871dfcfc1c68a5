/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_QM_ARRIVAL_H__
#define __GST_QM_ARRIVAL_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * GstQmLine:
 *
 * A segment, and where positions in it lie on the time line of the pipeline: of
 * those of live streams, which play at their own rate, the difference is all that
 * is needed.
 */
typedef struct
{
  /*< private >*/
  GstSegment segment;
  GstClockTime first, last;     /* positions that are shifted by ... */
  GstClockTime shift;           /* ... so much; modulo 2^64 */
} GstQmLine;

/* @segment: NULL: any time, as where it is none or runs backwards */
void gst_qm_line_set (GstQmLine * line, const GstSegment * segment);

/* gst_segment_to_running_time(), in a tenth of the instructions */
static inline GstClockTime
gst_qm_to_running_time (const GstQmLine * line, GstClockTime position)
{
  if (position >= line->first && position <= line->last)
    return position + line->shift;
  return gst_segment_to_running_time (&line->segment, GST_FORMAT_TIME,
      position);
}

/* The way back */
static inline GstClockTime
gst_qm_from_running_time (const GstQmLine * line, GstClockTime running_time)
{
  GstClockTime position = running_time - line->shift;

  if (position >= line->first && position <= line->last)
    return position;
  return gst_segment_position_from_running_time (&line->segment,
      GST_FORMAT_TIME, running_time);
}

/**
 * GstQmArrival:
 * @line: of the buffers that arrive
 * @playing: atomic: the clock runs
 * @n_clocked: atomic: packets that arrived when the clock said, not their stamps
 *
 * When packets arrived: of the thread that brings them.
 */
typedef struct
{
  GstQmLine line;
  gint playing;
  gint n_clocked;

  /*< private > */
  guint n_in, n_clocked_left;
} GstQmArrival;

/* Returns: the running time of @owner, 0 if it has no clock */
GstClockTime gst_qm_arrival_now (GstElement * owner);

/* Before the first packet: @playing and @n_clocked stay. */
void gst_qm_arrival_init (GstQmArrival * self);

/**
 * gst_qm_arrival_note:
 * @owner: the element whose clock is asked
 * @buffer: (transfer full): a packet that has just arrived
 *
 * The arrival, a running time, travels in the buffer's OFFSET_END, which RTP has no
 * use for and the inner jitter buffer leaves alone.
 *
 * Returns: (transfer full): the packet with its arrival
 */
GstBuffer *gst_qm_arrival_note (GstQmArrival * self, GstElement * owner,
    GstBuffer * buffer);

G_END_DECLS
#endif /* __GST_QM_ARRIVAL_H__ */
