/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/playout/fmx-playout-start.h"

#include "fairmix/playout/fmx-playout-others.h"

/* So much more than max_delay may a packet wait: the path got faster. */
#define RESTART_AHEAD (1 * FMX_SECOND)

/* So few packets at the start say little of the path. */
#define FEW_PACKETS 10u

/* Starts on a time line of which nothing is known, but not before what was
 * scheduled on the one before has been played. */
void
fmx_playout_start (FmxPlayout *playout, const FmxPlayoutPacket *packet,
    FmxTime now)
{
  FmxDuration transit = fmx_time_diff (now, packet->media);
  FmxTime end = playout->started ? playout->end : now;
  FmxDuration pending, least, delay;

  /* Media times that can be on the time line of `now` are taken at their
   * word; any other origin is as good as none. */
  playout->offset = 0;
  if (transit < 0 || transit > playout->params.max_delay) {
    playout->offset = now - packet->media;
    transit = 0;
  }
  fmx_slot_history_clear (&playout->history);
  if (playout->params.memory > 0)
    fmx_delay_memory_clear (&playout->memory);
  playout->started = true;
  playout->catching_up = true;
  playout->transit = transit;
  least = fmx_playout_ask_others (playout, transit, now, &delay);
  delay += least;
  fmx_transit_range_start (&playout->range, transit, least, now);
  playout->guesses = true;
  playout->lent = 0;
  fmx_playout_rule_start (&playout->own, transit > delay ? transit : delay);
  pending = fmx_time_diff (end, packet->media + playout->offset
      + (uint64_t) playout->own.delay);
  if (pending > 0 && pending <= FMX_PLAYOUT_RESTART_STEP)
    playout->own.delay += pending;
  fmx_playout_rule_start (&playout->rival, playout->own.delay);
  playout->slack = INT64_MAX;
  playout->n_slack = 0;
  playout->late_since = FMX_TIME_NONE;
  fmx_playout_take_place (playout, packet, now);
}

void
fmx_playout_learn_fastest (FmxPlayout *playout, FmxTime now)
{
  FmxDuration before = fmx_transit_range_least (&playout->range), less;
  bool was_guessed = playout->guesses && now >= playout->range.window_end;

  fmx_transit_range_add (&playout->range, playout->transit, now);
  if (!was_guessed)
    return;
  less = fmx_transit_range_least (&playout->range) - before;
  playout->guesses = false;
  playout->lent = less > 0 ? less : 0;
}

/* A time stamp that no network makes of the last one: it is off by seconds, or
 * asks to wait for longer than anything may. */
bool
fmx_playout_is_absurd (const FmxPlayout *playout,
    const FmxPlayoutPacket *packet, FmxTime now)
{
  uint64_t transit = now - packet->media - playout->offset;
  FmxDuration step = (FmxDuration) (transit - (uint64_t) playout->transit);

  if (step > FMX_PLAYOUT_RESTART_STEP || step < -FMX_PLAYOUT_RESTART_STEP)
    return true;
  return playout->own.delay - (FmxDuration) transit
      > playout->params.max_delay + RESTART_AHEAD;
}

bool
fmx_playout_follows_silence (const FmxPlayout *playout,
    const FmxPlayoutPacket *packet)
{
  return packet->talkspurt || (packet->ext_seq == playout->highest_seq + 1
      && fmx_time_diff (packet->media, playout->highest_media)
      > playout->highest_duration + packet->duration / 2);
}

/* What the first packets waited for, before they came here, held up none that comes
 * after a pause: an RTP session keeps the first packet of a stream until a second one
 * proves that it is one (RFC 3550 A.1). */
bool
fmx_playout_had_waited (const FmxPlayout *playout,
    const FmxPlayoutPacket *packet, FmxTime now)
{
  FmxDuration transit = (FmxDuration) (now - packet->media - playout->offset);

  return playout->catching_up && playout->n_slack < FEW_PACKETS
      && packet->ext_seq > playout->highest_seq
      && fmx_playout_follows_silence (playout, packet)
      && transit + packet->duration < playout->own.delay;
}
