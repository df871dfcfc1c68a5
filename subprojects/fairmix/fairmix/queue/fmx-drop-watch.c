/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/queue/fmx-drop-watch.h"

#include <assert.h>

void
fmx_drop_watch_params_default (FmxDropWatchParams *params)
{
  params->window = 1 * FMX_SECOND;
  params->n_windows = 3;
  params->share = 0.05;
}

void
fmx_drop_watch_init (FmxDropWatch *watch)
{
  *watch = (FmxDropWatch) {.begin = FMX_TIME_NONE };
}

static FmxDropWatchChange
end_window (FmxDropWatch *watch, const FmxDropWatchParams *params)
{
  bool was = watch->sustained;

  watch->share = (double) watch->n_dropped / (double) watch->n_packets;
  if (watch->share < params->share) {
    watch->n_bad = 0;
    watch->sustained = false;
  } else if (watch->n_bad < params->n_windows) {
    watch->n_bad++;
    watch->sustained = watch->n_bad == params->n_windows || was;
  }
  if (watch->sustained == was)
    return FMX_DROP_WATCH_NONE;
  return was ? FMX_DROP_WATCH_ENDED : FMX_DROP_WATCH_BEGAN;
}

FmxDropWatchChange
fmx_drop_watch_on_packet (FmxDropWatch *watch,
    const FmxDropWatchParams *params, bool dropped, FmxTime now)
{
  FmxDropWatchChange change = FMX_DROP_WATCH_NONE;
  FmxDuration age;

  assert (params->window > 0 && params->n_windows > 0);

  if (watch->begin == FMX_TIME_NONE)
    watch->begin = now;
  age = fmx_time_diff (now, watch->begin);
  if (age >= params->window) {
    change = end_window (watch, params);
    if (age / 2 >= params->window) {    /* a pause */
      watch->n_bad = watch->sustained ? params->n_windows : 0;
      watch->begin = now;
    } else {
      watch->begin += (FmxTime) params->window;
    }
    watch->n_packets = 0;
    watch->n_dropped = 0;
  }
  watch->n_packets++;
  watch->n_dropped += dropped;
  return change;
}

double
fmx_drop_watch_get_share (const FmxDropWatch *watch)
{
  return watch->share;
}
