/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstqmarrival.h"
#include "gstqmdebug.h"

#define GST_CAT_DEFAULT gst_qm_debug_category ()

#define CLOCKED_TOLERANCE (5 * GST_MSECOND)
#define CLOCKED_FIRST 32u       /* packets */
#define CLOCKED_EVERY 64u
#define CLOCKED_AFTER 1024u

void
gst_qm_line_set (GstQmLine * line, const GstSegment * segment)
{
  const GstSegment *s = &line->segment;

  if (segment != NULL && segment->format == GST_FORMAT_TIME
      && segment->rate > 0.0)
    line->segment = *segment;
  else
    gst_segment_init (&line->segment, GST_FORMAT_TIME);
  line->first = s->start + s->offset;
  line->last = MIN (s->stop, G_MAXINT64);       /* not what is before the base */
  line->shift = s->base - line->first;
  if (s->rate != 1.0) {
    line->first = GST_CLOCK_TIME_NONE;  /* none */
    line->last = 0;
  }
}

GstClockTime
gst_qm_arrival_now (GstElement * owner)
{
  GstClockTime now = gst_element_get_current_running_time (owner);

  return GST_CLOCK_TIME_IS_VALID (now) ? now : 0;
}

void
gst_qm_arrival_init (GstQmArrival * self)
{
  gst_qm_line_set (&self->line, NULL);
  self->n_in = 0;
  self->n_clocked_left = 0;
}

/* Whether the clock is to be asked when this packet arrived */
static gboolean
is_clocked (GstQmArrival * self)
{
  guint n = self->n_in++;

  if (self->n_clocked_left > 0) {
    self->n_clocked_left--;
    return TRUE;
  }
  return n < CLOCKED_FIRST || n % CLOCKED_EVERY == 0;
}

/* A network source stamps packets with their arrival.  Without one (a queue, a
 * loop in the process, an appsrc) stamps may be the sender's, on which there is
 * no jitter at all: packets that are stamped in the past arrive now, and the
 * inner jitter buffer is told as well.  The clock is asked now and then, and
 * for each packet after one that was stamped wrong. */
static GstClockTime
correct_arrival (GstQmArrival * self, GstElement * owner,
    GstBuffer * buffer, GstClockTime time)
{
  GstClockTime now = gst_qm_arrival_now (owner);
  GstClockTime stamp;

  if (now <= time)
    return time;
  if (now - time >= CLOCKED_TOLERANCE) {
    if (self->n_clocked_left == 0)
      GST_INFO_OBJECT (owner, "packets are stamped %" GST_TIME_FORMAT
          " before they arrive: taking the clock's word for it",
          GST_TIME_ARGS (now - time));
    self->n_clocked_left = CLOCKED_AFTER;
  } else if (self->n_clocked_left == 0) {
    return time;
  }
  stamp = gst_qm_from_running_time (&self->line, now);
  if (!GST_CLOCK_TIME_IS_VALID (stamp))
    return time;
  GST_BUFFER_PTS (buffer) = stamp;
  GST_BUFFER_DTS (buffer) = stamp;
  g_atomic_int_inc (&self->n_clocked);
  return now;
}

GstBuffer *
gst_qm_arrival_note (GstQmArrival * self, GstElement * owner,
    GstBuffer * buffer)
{
  GstClockTime time = GST_BUFFER_DTS_OR_PTS (buffer);

  if (!gst_buffer_is_writable (buffer))
    buffer = gst_buffer_make_writable (buffer);
  if (GST_CLOCK_TIME_IS_VALID (time))
    time = gst_qm_to_running_time (&self->line, time);
  if (!GST_CLOCK_TIME_IS_VALID (time))
    time = gst_qm_arrival_now (owner);
  else if (g_atomic_int_get (&self->playing) && is_clocked (self))
    time = correct_arrival (self, owner, buffer, time);
  GST_BUFFER_OFFSET_END (buffer) = time;
  return buffer;
}
