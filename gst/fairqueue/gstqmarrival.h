/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_QM_ARRIVAL_H__
#define __GST_QM_ARRIVAL_H__

#include <gst/gst.h>

G_BEGIN_DECLS
/**
 * GstQmArrival:
 * @segment: of the buffers that arrive
 * @playing: atomic: the clock runs
 * @n_clocked: atomic: packets that arrived when the clock said, not their stamps
 *
 * When packets arrived: of the thread that brings them.
 */
    typedef struct
{
  GstSegment segment;
  gint playing;
  gint n_clocked;

  /*< private > */
  guint n_in, n_clocked_left;
} GstQmArrival;

/* gst_segment_to_running_time() for the segments of live streams, in a sixth
 * of the instructions */
static inline GstClockTime
gst_qm_to_running_time (const GstSegment * segment, GstClockTime position)
{
  GstClockTime first = segment->start + segment->offset;

  if (segment->rate == 1.0 && position >= first && position <= segment->stop)
    return position - first + segment->base;
  return gst_segment_to_running_time (segment, GST_FORMAT_TIME, position);
}

/* The way back */
static inline GstClockTime
gst_qm_from_running_time (const GstSegment * segment, GstClockTime running_time)
{
  GstClockTime first = segment->start + segment->offset;

  if (segment->rate == 1.0 && running_time >= segment->base
      && running_time - segment->base <= segment->stop - first)
    return running_time - segment->base + first;
  return gst_segment_position_from_running_time (segment, GST_FORMAT_TIME,
      running_time);
}

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
