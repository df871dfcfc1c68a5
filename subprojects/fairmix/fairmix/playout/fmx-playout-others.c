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

/* A talker's own network may be worse than the path: what he found out holds for so long. */
#define AWAY (10 * FMX_SECOND)

/* Returns: whether others found out what the path is like, and the stream was not there */
static bool
knows_less_than_others (const FmxPlayout *playout,
    const FmxPlayoutPacket *packet, FmxTime now)
{
  FmxDuration waited;

  return fmx_time_diff (packet->media, playout->highest_media) > AWAY
      && fmx_path_delay_waited (playout->path, now, &waited);
}

static void
shrink_to (FmxPlayout *playout, FmxDuration delay)
{
  playout->own.delay = delay > playout->transit ? delay : playout->transit;
  if (playout->rival.delay > playout->own.delay)
    playout->rival.delay = playout->own.delay;
  playout->slack = INT64_MAX;
  playout->n_slack = 0;
}

void
fmx_playout_join_others (FmxPlayout *playout, const FmxPlayoutPacket *packet,
    FmxTime now)
{
  FmxDuration fastest = fmx_transit_range_least (&playout->range);
  FmxDuration before = playout->own.delay, delay;

  if (playout->path == NULL
      || !fmx_path_delay_of_others (playout->path, playout, &delay))
    return;
  if (delay > playout->params.max_delay)
    delay = playout->params.max_delay;
  delay += fastest;
  if (delay > before) {
    playout->own.delay = delay;
    if (playout->rival.delay < delay)
      playout->rival.delay = delay;
  } else if (knows_less_than_others (playout, packet, now)) {
    shrink_to (playout, delay);
  }
  playout->stats.n_jumps += playout->own.delay != before;
}

/* A pause is not worth less. */
#define WORTH_MOVING (1 * FMX_MSECOND)

/* Returns: whether the stream is to be elsewhere than its own packets say */
static bool
has_place (const FmxPlayout *playout, FmxDuration *delay)
{
  FmxDuration least = fmx_transit_range_least (&playout->range)
      + playout->params.min_delay;

  *delay = playout->told_delay - (FmxDuration) playout->offset;
  return playout->told && *delay >= least
      && *delay <= least + FMX_PLAYOUT_ALIGN_MOST;
}

bool
fmx_playout_is_apart (const FmxPlayout *playout)
{
  FmxDuration delay, apart;

  if (!has_place (playout, &delay))
    return playout->waits;
  apart = delay - playout->own.delay;
  return apart > WORTH_MOVING || apart < -WORTH_MOVING;
}

/* The delay may not shrink into what is still to be played. */
static FmxDuration
not_before_end (const FmxPlayout *playout, const FmxPlayoutPacket *packet,
    FmxDuration delay, FmxTime now)
{
  FmxTime end = playout->end > now ? playout->end : now;
  FmxDuration least = fmx_time_diff (end, packet->media + playout->offset);

  if (delay >= playout->own.delay || delay >= least)
    return delay;
  return least < playout->own.delay ? least : playout->own.delay;
}

/* Returns: the delay that it would have without others */
static FmxDuration
delay_alone (const FmxPlayout *playout)
{
  FmxDuration lowest = fmx_transit_range_least (&playout->range)
      + playout->params.min_delay;
  FmxDuration delay = playout->own.delay;

  if (playout->waits)
    delay -= playout->waits_for;
  if (delay < playout->transit)
    delay = playout->transit;
  return delay > lowest ? delay : lowest;
}

void
fmx_playout_take_place (FmxPlayout *playout, const FmxPlayoutPacket *packet,
    FmxTime now)
{
  FmxDuration before = playout->own.delay, alone = delay_alone (playout);
  bool waited = playout->waits;
  FmxDuration delay;

  playout->waits = has_place (playout, &delay) && delay >= playout->transit;
  if (!playout->waits && !waited)
    return;
  delay = not_before_end (playout, packet, playout->waits ? delay : alone, now);
  playout->waits_for = delay - alone;
  playout->own.delay = playout->rival.delay = playout->waits_delay = delay;
  if (playout->slack != INT64_MAX)
    playout->slack += delay - before;
  playout->stats.n_jumps += delay != before;
}
