/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/playout/fmx-path-delay.h"

#include <string.h>

/* A queue is another one after so long. */
#define WAITED_HOLDS (100 * FMX_MSECOND)

/* Who has the least delay tells, until he has been silent for so long. */
#define TELLER_HOLDS (1 * FMX_SECOND)

void
fmx_path_delay_init (FmxPathDelay *path, const FmxDelayMemoryParams *params)
{
  memset (path, 0, sizeof *path);
  fmx_delay_memory_init (&path->memory, params);
}

void
fmx_path_delay_tell (FmxPathDelay *path, const void *teller, FmxDuration delay,
    FmxDuration need, FmxDuration duration, FmxTime now)
{
  if (path->teller != NULL && path->teller != teller && delay > path->delay
      && fmx_time_diff (now, path->told) <= TELLER_HOLDS)
    return;
  path->teller = teller;
  path->delay = delay;
  path->need = need;
  path->told = now;
  fmx_delay_memory_on_packet (&path->memory, need, duration);
}

bool
fmx_path_delay_waited (const FmxPathDelay *path, FmxTime now,
    FmxDuration *waited)
{
  if (path->teller == NULL || fmx_time_diff (now, path->told) > WAITED_HOLDS)
    return false;
  *waited = path->need;
  return true;
}
