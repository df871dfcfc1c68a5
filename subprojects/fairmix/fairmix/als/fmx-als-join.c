/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/als/fmx-als-join.h"

#include <assert.h>
#include <string.h>

void
fmx_als_join_init (FmxAlsJoin *join, uint32_t clock_rate_hz)
{
  memset (join, 0, sizeof *join);
  join->clock_rate_hz = clock_rate_hz;
  for (unsigned i = 0; i < FMX_ALS_MAX_LAYERS; i++)
    join->heard[i] = FMX_TIME_NONE;
}

void
fmx_als_join_restart (FmxAlsJoin *join)
{
  join->anchored = false;
}

bool
fmx_als_join_get_time (const FmxAlsJoin *join, uint32_t timestamp,
    FmxTime *time)
{
  int64_t ticks = (int32_t) (timestamp - join->anchor_timestamp);
  int64_t ns;

  if (!join->anchored)
    return false;
  ns = ticks * FMX_SECOND / join->clock_rate_hz;
  if (ns < 0 && (FmxTime) -ns > join->anchor_time)
    return false;
  *time = join->anchor_time + (FmxTime) ns;
  return true;
}

/* Timestamps wrap: the anchor moves along, by whole seconds, which are exact. */
static void
follow (FmxAlsJoin *join, uint32_t timestamp)
{
  int32_t ticks = (int32_t) (timestamp - join->anchor_timestamp);
  uint32_t seconds = ticks > 0 ? (uint32_t) ticks / join->clock_rate_hz : 0;

  join->anchor_timestamp += seconds * join->clock_rate_hz;
  join->anchor_time += seconds * (FmxTime) FMX_SECOND;
}

FmxTime
fmx_als_join_on_base (FmxAlsJoin *join, uint32_t timestamp, FmxTime time)
{
  FmxTime expected;
  FmxDuration off;

  if (join->clock_rate_hz == 0)
    return time;
  if (fmx_als_join_get_time (join, timestamp, &expected)) {
    off = fmx_time_diff (time, expected);
    if (off <= FMX_ALS_JOIN_TOLERANCE && off >= -FMX_ALS_JOIN_TOLERANCE) {
      follow (join, timestamp);
      return expected;
    }
  }
  join->anchored = true;
  join->anchor_timestamp = timestamp;
  join->anchor_time = time;
  join->n_anchors++;
  return time;
}

bool
fmx_als_join_on_layer (const FmxAlsJoin *join, uint32_t timestamp, FmxTime own,
    FmxTime *time)
{
  FmxDuration off;

  if (!fmx_als_join_get_time (join, timestamp, time))
    return false;
  if (own == FMX_TIME_NONE)
    return true;
  off = fmx_time_diff (*time, own);
  return off <= FMX_ALS_JOIN_APART && off >= -FMX_ALS_JOIN_APART;
}

void
fmx_als_join_heard (FmxAlsJoin *join, unsigned layer, FmxTime now)
{
  assert (layer < FMX_ALS_MAX_LAYERS);

  join->heard[layer] = now;
}

unsigned
fmx_als_join_get_top (const FmxAlsJoin *join, FmxTime now)
{
  unsigned top = FMX_ALS_MAX_LAYERS - 1;

  while (top > 0 && (join->heard[top] == FMX_TIME_NONE
          || fmx_time_diff (now, join->heard[top]) >= FMX_ALS_JOIN_PATIENCE))
    top--;
  return top;
}

uint64_t
fmx_als_join_get_n_anchors (const FmxAlsJoin *join)
{
  return join->n_anchors;
}
