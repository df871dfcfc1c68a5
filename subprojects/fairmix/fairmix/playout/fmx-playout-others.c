/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/playout/fmx-playout-others.h"

FmxDuration
fmx_playout_ask_others (FmxPlayout *playout, FmxDuration transit,
    FmxTime now, FmxDuration *delay)
{
  FmxDuration waited, others;

  *delay = playout->params.min_delay;
  if (playout->path == NULL
      || !fmx_path_delay_of_others (playout->path, NULL, &others))
    return 0;
  if (playout->params.memory > 0)
    playout->memory = *fmx_path_delay_get_memory (playout->path);
  if (others > *delay)
    *delay = others;
  return fmx_path_delay_waited (playout->path, now, &waited)
      ? transit - waited : 0;
}

void
fmx_playout_join_others (FmxPlayout *playout)
{
  FmxDuration fastest = fmx_transit_range_least (&playout->range);
  FmxDuration delay;

  if (playout->path == NULL
      || !fmx_path_delay_of_others (playout->path, playout, &delay))
    return;
  if (delay > playout->params.max_delay)
    delay = playout->params.max_delay;
  delay += fastest;
  if (delay <= playout->own.delay)
    return;
  playout->own.delay = delay;
  if (playout->rival.delay < delay)
    playout->rival.delay = delay;
  playout->stats.n_jumps++;
}
