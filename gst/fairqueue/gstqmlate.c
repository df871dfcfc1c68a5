/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstqmlate.h"

/* Decoders fade out within it, and who says nothing for longer has nothing to say. */
#define LONGEST (200 * FMX_MSECOND)

/* So late nobody is: where there is no jitter, packets come when their turn does. */
#define GRACE (1 * FMX_MSECOND)

/* Who asks so much too late was held back: that time is over. */
#define OVER (100 * FMX_MSECOND)

gboolean
gst_qm_late_on_lost (GstQmLate * self, FmxTime * start, FmxDuration * duration)
{
  FmxTime end = *start + (FmxTime) * duration;

  if (end <= self->end && self->told > 0)
    return FALSE;
  if (*start < self->end && self->told > 0) {
    *start = self->end;
    *duration = (FmxDuration) (end - self->end);
  }
  if (end > self->end)
    self->end = end;
  return TRUE;
}

gboolean
gst_qm_late_take (GstQmLate * self, FmxTime now, FmxTime * start,
    FmxTime * next)
{
  *next = FMX_TIME_NONE;
  if (self->end == 0 || self->told >= LONGEST) {
    self->waiting = FALSE;
    return FALSE;
  }
  *next = self->told == 0 ? self->end + GRACE : self->end;
  if (now < *next)
    return FALSE;
  if (now - self->end > OVER)
    self->end = now;
  *start = self->end;
  self->end += GST_QM_LATE_STEP;
  self->told += GST_QM_LATE_STEP;
  *next = self->end;
  return TRUE;
}
