/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/playout/fmx-playout-rest.h"

#include "fairmix/playout/fmx-playout-others.h"

#include <assert.h>

static FmxDuration
transit_of (const FmxPlayout *playout, const FmxPlayoutPacket *packet,
    FmxTime now)
{
  return (FmxDuration) (now - packet->media - playout->offset);
}

/* Whether the packet may go the short way: it follows the last one, is in time, is
 * not the fastest, and nothing stands in front of it */
static bool
is_at_rest (const FmxPlayout *playout,
    const FmxPlayoutPacket *packet, FmxTime now)
{
  FmxDuration duration = packet->duration;
  FmxDuration transit = transit_of (playout, packet, now);

  return playout->rests
      && packet->ext_seq == playout->highest_seq + 1
      && packet->media == playout->highest_media + (uint64_t) duration
      && duration == playout->highest_duration && !packet->talkspurt
      && !(packet->pause && fmx_playout_is_apart (playout))
      && transit <= playout->own.delay && transit >= playout->rest_lowest
      && now < playout->range.window_end
      && (playout->lent == 0 || !(packet->quiet || packet->pause))
      && playout->rest_delay + playout->lent >= playout->params.min_delay;
}

static FmxPlayoutDecision
short_way (FmxPlayout *playout, const FmxPlayoutPacket *packet, FmxTime now)
{
  FmxDuration delay = playout->own.delay;
  FmxDuration transit = transit_of (playout, packet, now);
  FmxPlayoutDecision decision = {
    .action = FMX_PLAYOUT_PLAY,
    .playout = packet->media + playout->offset + (uint64_t) delay,
    .delay = (FmxDuration) (playout->offset + (uint64_t) delay),
    .reason = FMX_PLAYOUT_UNCHANGED,
  };

  playout->transit = transit;
  if (transit > playout->range.greatest)
    playout->range.greatest = transit;
  if (delay - transit < playout->slack)
    playout->slack = delay - transit;
  fmx_delay_memory_on_packet (&playout->memory, transit - playout->rest_least,
      packet->duration);
  if (playout->path != NULL && !playout->waits)
    fmx_path_delay_tell (playout->path, playout, playout->rest_delay,
        transit - playout->rest_least, packet->duration, now);
  playout->n_rested++;
  fmx_slot_history_put (&playout->history, packet->ext_seq, delay);
  playout->highest_seq = packet->ext_seq;
  playout->highest_media = packet->media;
  return decision;
}

/* Before a packet that goes the long way: what was put off is made up for. */
static void
end_rest (FmxPlayout *playout)
{
  uint32_t n = playout->n_rested;
  FmxDuration duration = playout->highest_duration;

  playout->n_rested = 0;
  playout->rests = false;
  if (n == 0)
    return;
  fmx_playout_rule_account_rest (&playout->own, &playout->memory, n, duration,
      playout->rest_delay);
  fmx_playout_rule_account_rest (&playout->rival, &playout->memory, n,
      duration, playout->rest_delay);
  playout->stats.n_played += n;
  playout->n_slack = playout->n_slack < UINT32_MAX - n ?
      playout->n_slack + n : UINT32_MAX;
  playout->end = playout->highest_media + playout->offset
      + (uint64_t) (playout->own.delay + duration);
}

/* After such a packet: whether the next one may go the short way, and if it comes
 * when.  Faster packets and a new window go the long way, so the range's lower end
 * stays. */
static void
begin_rest (FmxPlayout *playout)
{
  FmxDuration delay = playout->own.delay, duration = playout->highest_duration;
  FmxDuration end = (FmxDuration) (playout->highest_media + playout->offset)
      + delay + duration;
  FmxDuration room = playout->params.reserve < duration ?
      playout->params.reserve : duration - 1;

  playout->rests = playout->params.memory > 0
      && playout->highest_action == FMX_PLAYOUT_PLAY
      && playout->late_since == FMX_TIME_NONE && !playout->catching_up
      && delay == playout->rival.delay
      && fmx_playout_rule_rests (&playout->own, end)
      && fmx_playout_rule_rests (&playout->rival, end)
      && !playout->never_rests;
  playout->rest_lowest = delay - room > playout->range.least ?
      delay - room : playout->range.least;
  playout->rest_least = fmx_transit_range_least (&playout->range);
  playout->rest_delay = delay - playout->rest_least;
}

FmxPlayoutDecision
fmx_playout_on_packet (FmxPlayout *playout, const FmxPlayoutPacket *packet,
    FmxTime now)
{
  FmxPlayoutDecision decision;

  assert (packet->duration > 0);

  if (is_at_rest (playout, packet, now))
    return short_way (playout, packet, now);
  end_rest (playout);
  decision = fmx_playout_long_way (playout, packet, now);
  begin_rest (playout);
  return decision;
}
