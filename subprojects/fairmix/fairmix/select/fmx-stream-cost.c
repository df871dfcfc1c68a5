/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/select/fmx-stream-cost.h"

#include "fairmix/base/fmx-units.h"

#define WINDOW FMX_SECOND

void
fmx_stream_cost_init (FmxStreamCost *cost)
{
  *cost = (FmxStreamCost) {.first = FMX_TIME_NONE,.last = FMX_TIME_NONE };
  fmx_rate_meter_init (&cost->meter, WINDOW);
}

void
fmx_stream_cost_add (FmxStreamCost *cost, const FmxStreamCostPacket *packet,
    FmxTime now)
{
  double bps = fmx_rate_bps (packet->wire_bytes, packet->duration);

  fmx_rate_meter_add (&cost->meter, packet->wire_bytes, now);
  if (cost->first == FMX_TIME_NONE)
    cost->first = now;
  cost->last = now;
  cost->speaking = !packet->silent;
  if (!cost->speaking)
    return;
  if (cost->active_bps > 0.0)
    cost->active_bps += (bps - cost->active_bps) / FMX_STREAM_COST_PACKETS;
  else
    cost->active_bps = bps;
}

bool
fmx_stream_cost_speaks (const FmxStreamCost *cost, FmxTime now)
{
  return cost->speaking && now < cost->last + (FmxTime) FMX_STREAM_COST_SPEAKING;
}

/* A header extension may be longer than any audio: what little there is behind it looks
 * dearer than can be said. */
static uint32_t
say (double bps)
{
  return bps < UINT32_MAX ? (uint32_t) bps : UINT32_MAX;
}

/* Packets say how much audio is in them: not all of them truly. */
static bool
comes_too_fast (const FmxStreamCost *cost, double metered_bps, FmxTime now)
{
  return metered_bps > FMX_STREAM_COST_BURST * cost->active_bps
      && fmx_time_diff (now, cost->first) >= WINDOW;
}

uint32_t
fmx_stream_cost_bps (const FmxStreamCost *cost, FmxTime now)
{
  double metered_bps = fmx_rate_meter_bps (&cost->meter, now);

  /* One that begins to speak costs at once what it cost last time.  The meter
   * counts a packet more or less with each turn of the jitter; a selection that
   * followed it would never come to rest. */
  if (!fmx_stream_cost_speaks (cost, now) || comes_too_fast (cost,
          metered_bps, now))
    return say (metered_bps);
  return say (cost->active_bps + 0.5);
}

double
fmx_stream_cost_metered_bps (const FmxStreamCost *cost, FmxTime now)
{
  return fmx_rate_meter_bps (&cost->meter, now);
}

bool
fmx_stream_news_update (FmxStreamNews *news, uint32_t bps, uint8_t level)
{
  uint32_t moved = bps > news->bps ? bps - news->bps : news->bps - bps;
  int louder = (int) level - (int) news->level;

  if (moved <= news->bps / FMX_STREAM_NEWS_SHARE
      && louder < FMX_STREAM_NEWS_DB && louder > -FMX_STREAM_NEWS_DB)
    return false;
  news->bps = bps;
  news->level = level;
  return true;
}
