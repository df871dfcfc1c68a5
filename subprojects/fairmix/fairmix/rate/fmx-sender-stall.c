/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-sender-stall.h"

#include <math.h>

#define USUAL_GAIN (1.0 / 16.0)
#define USUAL_TIMES 3.0         /* so much longer than between packets otherwise */

static bool
is_pause (const FmxSenderStall *stall, FmxDuration gap)
{
  return gap >= FMX_SENDER_STALL_LEAST
      && fmx_time_to_s (gap) > USUAL_TIMES * stall->usual_s;
}

static double
drained (const FmxSenderStall *stall, FmxTime now)
{
  return fmax (stall->queue_s - FMX_SENDER_STALL_DRAIN
      * fmx_time_to_s (fmx_time_diff (now, stall->last)), 0.0);
}

/* The first packet after a pause is not late because of it. */
void
fmx_sender_stall_on_sent (FmxSenderStall *stall, uint32_t wire_bytes,
    double bps, FmxTime now)
{
  FmxDuration pause = fmx_time_diff (now, stall->last);
  double took_s = bps > 0.0 ? 8.0 * wire_bytes / bps : 0.0;

  stall->queue_s = drained (stall, now);
  if (stall->last > 0 && is_pause (stall, pause)) {
    stall->begin = stall->last;
    stall->end = now;
    stall->left_s = fmx_time_to_s (pause);
    stall->queue_s = fmax (stall->queue_s - stall->left_s, 0.0);
  } else if (fmx_time_diff (now, stall->end) <= FMX_SENDER_STALL_BURST) {
    took_s = fmin (took_s, stall->left_s);
    stall->left_s -= took_s;
    stall->queue_s += took_s;
  }
  if (stall->last > 0)
    stall->usual_s += USUAL_GAIN * (fmx_time_to_s (pause) - stall->usual_s);
  stall->last = now;
}

void
fmx_sender_stall_excuse (FmxSenderStall *stall, FmxTime now)
{
  stall->queue_s = drained (stall, now);
  if (stall->last > 0)
    stall->last = now;
}

FmxDuration
fmx_sender_stall_queue (const FmxSenderStall *stall, FmxTime now)
{
  return fmx_time_from_s (drained (stall, now));
}

bool
fmx_sender_stall_is_late (const FmxSenderStall *stall, FmxTime sent)
{
  return stall->queue_s > 0.0 && sent >= stall->end
      && fmx_time_diff (sent, stall->end) < FMX_SENDER_STALL_BURST;
}

bool
fmx_sender_stall_is_half_told (const FmxSenderStall *stall, FmxTime acked_sent,
    FmxTime now)
{
  if (stall->last > 0 && is_pause (stall, fmx_time_diff (now, stall->last)))
    return true;
  return fmx_sender_stall_is_late (stall, acked_sent)
      || (stall->queue_s > 0.0 && acked_sent >= stall->begin
      && acked_sent < stall->end);
}
