/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_QM_LATE_H__
#define __GST_QM_LATE_H__

#include <gst/gst.h>

#include "fairmix/base/fmx-time.h"

G_BEGIN_DECLS

/* So much is concealed at a time: Opus does at least that. */
#define GST_QM_LATE_STEP (10 * GST_MSECOND)

/**
 * GstQmLate:
 *
 * Up to when there is something to play, and what a decoder has to be told in
 * time if nothing more has come by then: during a stall nothing is lost, as far
 * as a jitter buffer knows, and nothing is concealed.  Running times.
 */
typedef struct
{
  /*< private >*/
  FmxTime end;                  /* of what is to be played; 0 = nothing ever was */
  FmxDuration told;             /* in this stall */
  gboolean waiting;             /* a timer will ask */
} GstQmLate;

/* A packet is played from @playout on.  Returns: when to ask whether the next one is
 * late; %FMX_TIME_NONE if somebody will */
static inline FmxTime
gst_qm_late_on_packet (GstQmLate * self, FmxTime playout, FmxDuration duration)
{
  FmxTime end = playout + (FmxTime) duration;

  if (end > self->end)
    self->end = end;
  self->told = 0;
  if (self->waiting)
    return FMX_TIME_NONE;
  self->waiting = TRUE;
  return self->end;
}

/* The decoder conceals a packet that got lost, and had this slot.  @start, @duration:
 * (inout): what of it has not been concealed yet.  Returns: whether any has not */
gboolean gst_qm_late_on_lost (GstQmLate * self, FmxTime * start,
    FmxDuration * duration);

/**
 * gst_qm_late_take:
 * @start: (out): of %GST_QM_LATE_STEP that is to be concealed
 * @next: (out): when to ask again; %FMX_TIME_NONE = after the next packet
 *
 * Returns: whether there is something to be concealed at @now
 */
gboolean gst_qm_late_take (GstQmLate * self, FmxTime now, FmxTime * start,
    FmxTime * next);

G_END_DECLS

#endif /* __GST_QM_LATE_H__ */
