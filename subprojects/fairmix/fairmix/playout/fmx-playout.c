/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/playout/fmx-playout.h"

#include <assert.h>
#include <string.h>

/* A step of the transit time that no network makes: another time line. */
#define RESTART_STEP (5 * FMX_SECOND)

/* So much more than max_delay may a packet wait: the path got faster. */
#define RESTART_AHEAD (1 * FMX_SECOND)

/* Nothing but late packets for so long is not jitter: a new route. */
#define RESTART_LATE (1 * FMX_SECOND)

/* Of a burst at the start one packet in so many goes, until it is caught up. */
#define CATCH_UP 4u

/* What a packet is worth that says itself that it is quiet */
#define QUIET_COST 0.1

/* A talkspurt's delay may follow the one before if that was so long. */
#define MIN_SLACK_PACKETS 10u

void
fmx_playout_params_default (FmxPlayoutParams *params)
{
  params->threshold = 120;
  params->length = 2;
  params->decay = 2.0;
  params->after_drop = FMX_QUEUE_MONITOR_SHIFT;
  params->threshold_time = 1600 * FMX_MSECOND;
  params->reserve = 20 * FMX_MSECOND;
  params->growth_step = 2 * FMX_MSECOND;
  params->min_delay = 0;
  params->max_delay = 1000 * FMX_MSECOND;
  params->memory = 60 * FMX_SECOND;
}

void
fmx_playout_init (FmxPlayout *playout, const FmxPlayoutParams *params)
{
  FmxQueueMonitorParams monitor = {
    .threshold = params->threshold,
    .length = params->length,
    .decay = params->decay,
    .after_drop = params->after_drop,
  };

  assert (params->min_delay >= 0 && params->max_delay >= params->min_delay);
  assert (params->max_delay < RESTART_STEP);
  assert (params->reserve > 0 && params->growth_step > 0);
  assert (params->memory >= 0);

  if (params->threshold_time > 0)
    monitor.threshold = (uint64_t) params->threshold_time;
  memset (playout, 0, sizeof *playout);
  playout->params = *params;
  fmx_queue_monitor_init (&playout->monitor, &monitor);
  if (params->memory > 0) {
    FmxDelayMemoryParams memory;

    fmx_delay_memory_params_default (&memory);
    memory.half_life = params->memory;
    fmx_delay_memory_init (&playout->memory, &memory);
  }
}

void
fmx_playout_reset (FmxPlayout *playout)
{
  FmxPlayoutStats stats = playout->stats;
  FmxPlayoutParams params = playout->params;

  fmx_playout_init (playout, &params);
  playout->stats = stats;
}

/* Where the fastest packets lie on the axis of transit times. */
static FmxDuration
fastest (const FmxPlayout *playout)
{
  return fmx_transit_range_least (&playout->range);
}

/* The lowest delay that may be, and the highest, relative to the offset. */
static FmxDuration
lowest_delay (const FmxPlayout *playout)
{
  return fastest (playout) + playout->params.min_delay;
}

static FmxDuration
highest_delay (const FmxPlayout *playout)
{
  return fastest (playout) + playout->params.max_delay;
}

static FmxTime
playout_time (const FmxPlayout *playout, FmxTime media, FmxDuration delay)
{
  return media + playout->offset + (uint64_t) delay;
}

static FmxPlayoutDecision
decide (const FmxPlayout *playout, const FmxPlayoutPacket *packet,
    FmxPlayoutAction action, FmxDuration delay)
{
  FmxPlayoutDecision decision = {
    .action = action,
    .playout = playout_time (playout, packet->media, delay),
    .delay = (FmxDuration) (playout->offset + (uint64_t) delay),
  };

  return decision;
}

/* Starts on a time line of which nothing is known, but not before what was
 * scheduled on the one before has been played. */
static void
start (FmxPlayout *playout, const FmxPlayoutPacket *packet, FmxTime now)
{
  FmxDuration transit = fmx_time_diff (now, packet->media);
  FmxTime end = playout->started ? playout->end : now;
  FmxDuration pending;

  /* Media times that can be on the time line of `now` are taken at their
   * word; any other origin is as good as none. */
  playout->offset = 0;
  if (transit < 0 || transit > playout->params.max_delay) {
    playout->offset = now - packet->media;
    transit = 0;
  }
  fmx_queue_monitor_clear (&playout->monitor);
  fmx_slot_history_clear (&playout->history);
  if (playout->params.memory > 0)
    fmx_delay_memory_clear (&playout->memory);
  playout->started = true;
  playout->catching_up = true;
  playout->transit = transit;
  fmx_transit_range_start (&playout->range, transit, 0, now);
  playout->delay = transit > playout->params.min_delay ?
      transit : playout->params.min_delay;
  pending = fmx_time_diff (end, playout_time (playout, packet->media,
          playout->delay));
  if (pending > 0 && pending <= RESTART_STEP)
    playout->delay += pending;
  playout->slack = INT64_MAX;
  playout->n_slack = 0;
  playout->late_since = FMX_TIME_NONE;
}

/* A time stamp that no network makes of the last one: it is off by seconds, or
 * asks to wait for longer than anything may. */
static bool
is_absurd (const FmxPlayout *playout, const FmxPlayoutPacket *packet,
    FmxTime now)
{
  uint64_t transit = now - packet->media - playout->offset;
  FmxDuration step = (FmxDuration) (transit - (uint64_t) playout->transit);

  if (step > RESTART_STEP || step < -RESTART_STEP)
    return true;
  return playout->delay - (FmxDuration) transit
      > playout->params.max_delay + RESTART_AHEAD;
}

static FmxPlayoutDecision
on_reordered (FmxPlayout *playout, const FmxPlayoutPacket *packet, FmxTime now)
{
  uint64_t oldest = fmx_slot_history_oldest (playout->highest_seq);
  FmxDuration delay;
  FmxPlayoutDecision decision;

  if (packet->ext_seq < oldest) {
    playout->stats.n_late++;
    if (playout->late_since == FMX_TIME_NONE)
      playout->late_since = now;        /* a sender that counts anew? */
    return decide (playout, packet, FMX_PLAYOUT_DROP_LATE, playout->delay);
  }
  if (fmx_slot_history_has (&playout->history, packet->ext_seq)) {
    playout->stats.n_duplicate++;
    return decide (playout, packet, FMX_PLAYOUT_DROP_DUPLICATE, playout->delay);
  }
  /* its slot is where it was when its turn came: after the one before it */
  delay = fmx_slot_history_delay_before (&playout->history, packet->ext_seq,
      oldest, playout->delay);
  decision = decide (playout, packet, FMX_PLAYOUT_PLAY, delay);
  if (fmx_time_diff (decision.playout, now) < 0) {
    decision.action = FMX_PLAYOUT_DROP_LATE;
    playout->stats.n_late++;
  } else {
    fmx_slot_history_put (&playout->history, packet->ext_seq, delay);
    playout->stats.n_played++;
  }
  return decision;
}

static FmxDuration
at_most_a_packet (FmxDuration time, const FmxPlayoutPacket *packet)
{
  return time < packet->duration ? time : packet->duration;
}

static bool
follows_silence (const FmxPlayout *playout, const FmxPlayoutPacket *packet)
{
  return packet->talkspurt || (packet->ext_seq == playout->highest_seq + 1
      && fmx_time_diff (packet->media, playout->highest_media)
      > playout->highest_duration + packet->duration / 2);
}

/* At the start of a talkspurt nothing is heard when the delay changes: the
 * time that no packet of the last one needed goes, but for what the monitor
 * would leave. */
static void
jump (FmxPlayout *playout, const FmxPlayoutPacket *packet, FmxTime now)
{
  FmxDuration keep = at_most_a_packet (playout->params.reserve, packet)
      + packet->duration * ((FmxDuration) playout->params.length - 2);
  FmxDuration less, room;

  if (playout->n_slack < MIN_SLACK_PACKETS)
    return;
  less = playout->slack - keep;
  if (less > playout->delay - lowest_delay (playout))
    less = playout->delay - lowest_delay (playout);
  if (playout->params.memory > 0) {
    FmxDuration worth = playout->delay - fastest (playout)
        - fmx_delay_memory_best (&playout->memory,
        playout->delay - fastest (playout));

    less = less < worth ? less : worth;
  }
  /* not into what is still to be played */
  room = fmx_time_diff (playout_time (playout, packet->media, playout->delay),
      playout->end > now ? playout->end : now);
  if (less > room)
    less = room;
  if (less > 0) {
    playout->delay -= less;
    playout->stats.n_jumps++;
  }
  playout->slack = INT64_MAX;
  playout->n_slack = 0;
}

/* The virtual queue: what is still to be played when the packet arrives, which
 * has @slack until its own turn.  A lost packet keeps its place in it: loss is
 * not lateness. */
static uint32_t
queue_length (const FmxPlayout *playout, const FmxPlayoutPacket *packet,
    FmxDuration slack)
{
  FmxDuration beyond =
      slack - at_most_a_packet (playout->params.reserve, packet);
  FmxDuration n = beyond > 0 ?
      (beyond + packet->duration - 1) / packet->duration : 0;

  return n < (FmxDuration) FMX_QUEUE_MONITOR_POSITIONS ?
      (uint32_t) n : FMX_QUEUE_MONITOR_POSITIONS;
}

/* What came in a burst before anything was played is worth hearing: it is not
 * cut out in one piece. */
static bool
catches_up (FmxPlayout *playout, const FmxPlayoutPacket *packet,
    FmxDuration slack)
{
  if (playout->n_slack > MIN_SLACK_PACKETS
      && queue_length (playout, packet, slack) < playout->params.length)
    playout->catching_up = false;
  return playout->catching_up && !packet->quiet
      && packet->ext_seq % CATCH_UP != 0;
}

/* Whether the packet is to go so that those after it are played earlier */
static bool
monitor_drops (FmxPlayout *playout, const FmxPlayoutPacket *packet,
    FmxDuration slack, bool after_silence, FmxTime now)
{
  uint64_t weight = playout->params.threshold_time > 0 ?
      (uint64_t) packet->duration : 1;
  FmxDuration shorter = playout->delay - packet->duration;

  if (!after_silence)
    fmx_queue_monitor_on_arrival (&playout->monitor,
        queue_length (playout, packet, slack), weight);
  if (slack < packet->duration || shorter < lowest_delay (playout))
    return false;
  if (shorter >= highest_delay (playout))
    return true;
  if (after_silence)
    return false;               /* an onset is not to be cut: see jump() */
  if (catches_up (playout, packet, slack)
      || !fmx_queue_monitor_exceeds (&playout->monitor, 1,
          packet->quiet ? 4 : 1))
    return false;
  return playout->params.memory == 0
      || fmx_delay_memory_may_shrink (&playout->memory,
      playout->delay - fastest (playout), packet->duration,
      packet->quiet ? QUIET_COST : 1.0, now);
}

/* Whether a longer delay, to play what has come too late, would not be worth
 * it */
static bool
lets_go (FmxPlayout *playout, const FmxPlayoutPacket *packet)
{
  FmxDuration base = fastest (playout), delay = playout->delay - base;
  bool missed = playout->params.memory > 0
      && fmx_delay_memory_on_late (&playout->memory, playout->transit - base,
      packet->duration, &delay);

  playout->delay = base + delay;
  return missed;
}

/* Whether the packet is later than may be, or than is worth it */
static bool
misses (FmxPlayout *playout, const FmxPlayoutPacket *packet, FmxTime now)
{
  FmxDuration highest = highest_delay (playout);

  if (playout->transit > highest) {
    if (playout->delay < highest)
      playout->delay = highest;
    if (playout->late_since == FMX_TIME_NONE)
      playout->late_since = now;
  } else if (!lets_go (playout, packet)) {
    return false;
  }
  playout->stats.n_late++;
  fmx_queue_monitor_clear (&playout->monitor);
  return true;
}

static void
note_slack (FmxPlayout *playout, const FmxPlayoutPacket *packet,
    FmxDuration slack)
{
  playout->catching_up = playout->catching_up && slack >= 0;
  if (slack < playout->slack)
    playout->slack = slack;
  if (playout->n_slack < UINT32_MAX)
    playout->n_slack++;
  if (playout->params.memory > 0)
    fmx_delay_memory_on_packet (&playout->memory,
        playout->transit - fastest (playout),
        playout->delay - fastest (playout), packet->duration);
}

/* The delay that a packet which is @late asks for.  In steps, because a clock
 * that drifts would otherwise make it grow a little with each packet. */
static FmxDuration
grown_delay (const FmxPlayout *playout, const FmxPlayoutPacket *packet,
    FmxDuration late)
{
  FmxDuration step = at_most_a_packet (playout->params.growth_step, packet);
  FmxDuration delay = playout->delay + (late + step - 1) / step * step;

  return delay < highest_delay (playout) ? delay : highest_delay (playout);
}

/* The minimum was raised, or the path became slower: in steps, as above. */
static void
keep_minimum (FmxPlayout *playout, const FmxPlayoutPacket *packet)
{
  FmxDuration step = at_most_a_packet (playout->params.growth_step, packet);
  FmxDuration lacking = lowest_delay (playout) - playout->delay;

  if (lacking >= step)
    playout->delay += lacking / step * step;
}

static FmxPlayoutDecision
on_next (FmxPlayout *playout, const FmxPlayoutPacket *packet, FmxTime now)
{
  FmxDuration before = playout->delay;
  FmxDuration slack;
  bool silence = follows_silence (playout, packet);
  FmxPlayoutReason reason = FMX_PLAYOUT_MINIMUM;
  FmxPlayoutDecision decision;

  keep_minimum (playout, packet);
  if (silence && playout->delay > playout->transit) {
    jump (playout, packet, now);
    reason = FMX_PLAYOUT_SILENCE;
  }
  slack = playout->delay - playout->transit;
  note_slack (playout, packet, slack);
  if (slack < 0 && misses (playout, packet, now)) {
    decision = decide (playout, packet, FMX_PLAYOUT_DROP_LATE, playout->delay);
    reason = FMX_PLAYOUT_LATE;
  } else if (monitor_drops (playout, packet, slack, silence, now)) {
    decision =
        decide (playout, packet, FMX_PLAYOUT_DROP_MONITOR, playout->delay);
    playout->delay -= packet->duration;
    playout->slack -= packet->duration;
    fmx_queue_monitor_on_drop (&playout->monitor);
    playout->stats.n_dropped++;
    reason = FMX_PLAYOUT_STANDING_QUEUE;
  } else {
    if (slack < 0) {
      playout->delay = grown_delay (playout, packet, -slack);
      playout->slack = 0;
      playout->stats.n_grown++;
      reason = FMX_PLAYOUT_LATE;
    }
    decision = decide (playout, packet, FMX_PLAYOUT_PLAY, playout->delay);
    playout->end = decision.playout + (uint64_t) packet->duration;
    playout->late_since = FMX_TIME_NONE;
    playout->stats.n_played++;
  }
  decision.adjusted = playout->delay - before;
  decision.reason = decision.adjusted != 0 ? reason : FMX_PLAYOUT_UNCHANGED;
  return decision;
}

/* Several packets of one media time share a slot, and its fate; a slot that is
 * not complete when it is due was late. */
static FmxPlayoutDecision
on_same_slot (FmxPlayout *playout, const FmxPlayoutPacket *packet)
{
  FmxPlayoutAction action = playout->highest_action;
  FmxDuration before = playout->delay;
  FmxPlayoutDecision decision;

  if (action == FMX_PLAYOUT_PLAY && playout->transit > playout->delay) {
    if (playout->transit > highest_delay (playout)) {
      action = FMX_PLAYOUT_DROP_LATE;
      playout->stats.n_late++;
    } else {
      playout->delay =
          grown_delay (playout, packet, playout->transit - playout->delay);
      playout->stats.n_grown++;
    }
  }
  decision = decide (playout, packet, action, playout->delay);
  decision.adjusted = playout->delay - before;
  decision.reason = decision.adjusted != 0 ?
      FMX_PLAYOUT_LATE : FMX_PLAYOUT_UNCHANGED;
  if (action == FMX_PLAYOUT_PLAY) {
    playout->end = decision.playout + (uint64_t) packet->duration;
    playout->stats.n_played++;
  }
  return decision;
}

FmxPlayoutDecision
fmx_playout_on_packet (FmxPlayout *playout, const FmxPlayoutPacket *packet,
    FmxTime now)
{
  FmxPlayoutDecision decision;
  bool restart;

  assert (packet->duration > 0);

  restart = !playout->started || is_absurd (playout, packet, now)
      || (playout->late_since != FMX_TIME_NONE
      && fmx_time_diff (now, playout->late_since) > RESTART_LATE);
  if (!restart && packet->ext_seq <= playout->highest_seq)
    return on_reordered (playout, packet, now);

  if (restart) {
    if (playout->started)
      playout->stats.n_restarts++;
    start (playout, packet, now);
    decision = decide (playout, packet, FMX_PLAYOUT_PLAY, playout->delay);
    decision.reason = FMX_PLAYOUT_RESTART;
    playout->end = decision.playout + (uint64_t) packet->duration;
    playout->stats.n_played++;
  } else {
    playout->transit = (FmxDuration) (now - packet->media - playout->offset);
    fmx_transit_range_add (&playout->range, playout->transit, now);
    decision = packet->media == playout->highest_media ?
        on_same_slot (playout, packet) : on_next (playout, packet, now);
  }
  fmx_slot_history_put (&playout->history, packet->ext_seq,
      fmx_time_diff (decision.playout, packet->media)
      - (FmxDuration) playout->offset);
  playout->highest_seq = packet->ext_seq;
  playout->highest_media = packet->media;
  playout->highest_duration = packet->duration;
  playout->highest_action = decision.action;
  return decision;
}

void
fmx_playout_set_min_delay (FmxPlayout *playout, FmxDuration min_delay)
{
  assert (min_delay >= 0 && min_delay <= playout->params.max_delay);
  playout->params.min_delay = min_delay;
}
