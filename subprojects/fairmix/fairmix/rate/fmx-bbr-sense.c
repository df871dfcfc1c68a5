/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-bbr-sense.h"

#define SHORT 4                 /* a fourth of the peak, ... */
#define LONG 2                  /* ... and no more from a half on */
#define PEAK_MIN (20 * FMX_MSECOND)
#define REFILLS 8               /* round trips, until the queue is what it was */
#define REFILL_MOST (FMX_BBR_SENSE_INTERVAL / 2)
#define EARLY (300 * FMX_MSECOND)       /* what was heard of it may be older, or ... */
#define LATE_RTTS 2             /* ... younger by so many */

/* From the beginning of one pause to that of the next */
static bool
is_in_time (FmxDuration since, FmxDuration rtt)
{
  return since >= FMX_BBR_SENSE_INTERVAL - EARLY
      && since <= FMX_BBR_SENSE_INTERVAL + FMX_BBR_SENSE_PAUSE + EARLY
      + LATE_RTTS * rtt;
}

static void
note_pause (FmxBbrSense *sense, FmxDuration rtt)
{
  bool in_time = sense->last != 0
      && is_in_time (fmx_time_diff (sense->short_from, sense->last), rtt);

  sense->n_in_time = in_time ? sense->n_in_time + 1 : 1;
  sense->last = sense->short_from;
  if (sense->n_in_time >= FMX_BBR_SENSE_TIMES)
    sense->known = sense->last;
}

void
fmx_bbr_sense_add (FmxBbrSense *sense, FmxDuration queue, FmxDuration peak,
    FmxDuration rtt, FmxTime now)
{
  if (peak < PEAK_MIN)
    return;
  if (!sense->is_short && queue < peak / SHORT) {
    sense->is_short = true;
    sense->short_from = now;
  } else if (sense->is_short && queue > peak / LONG) {
    FmxDuration took = fmx_time_diff (now, sense->short_from);

    sense->is_short = false;
    if (took <= 2 * FMX_BBR_SENSE_PAUSE + REFILLS * rtt && took <= REFILL_MOST)
      note_pause (sense, rtt);
  }
}

bool
fmx_bbr_sense_is_there (const FmxBbrSense *sense, FmxTime now)
{
  return sense->known != 0
      && fmx_time_diff (now, sense->known) < FMX_BBR_SENSE_HOLDS;
}
