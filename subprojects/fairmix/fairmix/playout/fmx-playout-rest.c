/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/playout/fmx-playout-rest.h"

#include <assert.h>

/* Whether the packet may go the short way */
static bool
is_at_rest (const FmxPlayout *playout,
    const FmxPlayoutPacket *packet, FmxTime now)
{
  FmxDuration duration = packet->duration, delay = playout->own.delay;
  FmxDuration transit = (FmxDuration) (now - packet->media - playout->offset);
  FmxDuration slack = delay - transit;

  return playout->rests
      && packet->ext_seq == playout->highest_seq + 1
      && packet->media == playout->highest_media + (uint64_t) duration
      && duration == playout->highest_duration && !packet->talkspurt
      && slack >= 0 && slack < duration && slack <= playout->params.reserve
      && transit >= playout->range.least
      && now < playout->range.window_end
      && delay - fmx_transit_range_least (&playout->range)
      >= playout->params.min_delay;
}

static FmxPlayoutDecision
short_way (FmxPlayout *playout, const FmxPlayoutPacket *packet, FmxTime now)
{
  FmxDuration delay = playout->own.delay;
  FmxDuration transit = (FmxDuration) (now - packet->media - playout->offset);
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
  playout->n_slack += playout->n_slack < UINT32_MAX;
  fmx_delay_memory_on_packet (&playout->memory,
      transit - fmx_transit_range_least (&playout->range), packet->duration);
  playout->n_rested++;
  playout->stats.n_played++;
  playout->end = decision.playout + (uint64_t) packet->duration;
  fmx_slot_history_put (&playout->history, packet->ext_seq, delay);
  playout->highest_seq = packet->ext_seq;
  playout->highest_media = packet->media;
  return decision;
}

/* Before a packet that goes the long way: the accounts are brought up to date. */
static void
end_rest (FmxPlayout *playout)
{
  FmxDuration duration = playout->highest_duration;
  FmxDuration delay = playout->own.delay
      - fmx_transit_range_least (&playout->range);

  if (playout->n_rested > 0) {
    fmx_playout_rule_account_rest (&playout->own, &playout->memory,
        playout->n_rested, duration, delay);
    fmx_playout_rule_account_rest (&playout->rival, &playout->memory,
        playout->n_rested, duration, delay);
  }
  playout->n_rested = 0;
  playout->rests = false;
}

/* After such a packet: whether the next one may go the short way */
static void
begin_rest (FmxPlayout *playout)
{
  FmxDuration end = (FmxDuration) (playout->highest_media + playout->offset)
      + playout->own.delay + playout->highest_duration;

  playout->rests = playout->params.memory > 0
      && playout->highest_action == FMX_PLAYOUT_PLAY
      && playout->late_since == FMX_TIME_NONE && !playout->catching_up
      && playout->own.delay == playout->rival.delay
      && fmx_playout_rule_rests (&playout->own, end)
      && fmx_playout_rule_rests (&playout->rival, end)
      && !playout->never_rests;
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
