/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/playout/fmx-alignment.h"

/* How slowly what is not exact rises, once each time that it is told */
#define RISE 16

void
fmx_alignment_init (FmxAlignment *alignment)
{
  *alignment = (FmxAlignment) {
    .told = FMX_TIME_NONE,
    .exact_at = FMX_TIME_NONE,
  };
}

static bool
holds (FmxTime told, FmxTime now)
{
  return told != FMX_TIME_NONE
      && fmx_time_diff (now, told) <= FMX_ALIGNMENT_HOLDS;
}

void
fmx_alignment_tell (FmxAlignment *alignment, FmxDuration delay, bool exact,
    FmxTime now)
{
  bool known = holds (alignment->told, now);

  alignment->told = now;
  if (exact)
    alignment->exact_at = now;
  else if (holds (alignment->exact_at, now))
    return;
  if (exact || !known || delay < alignment->delay)
    alignment->delay = delay;
  else
    alignment->delay += (delay - alignment->delay) / RISE;
}

bool
fmx_alignment_get (const FmxAlignment *alignment, FmxTime now,
    FmxDuration *delay)
{
  *delay = alignment->delay;
  return holds (alignment->told, now);
}
