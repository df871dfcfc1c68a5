/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/playout/fmx-playout-others.h"
#include "fairmix/playout/fmx-playout-rest.h"
#include "fairmix/playout/fmx-playout-start.h"

#include <assert.h>
#include <string.h>

/* Nothing but late packets for so long is not jitter: a new route. */
#define RESTART_LATE (1 * FMX_SECOND)

/* Of a burst at the start one packet in so many goes, until it is caught up. */
#define CATCH_UP 4u

/* More packets that come before the first one is due are a burst. */
#define UNHEARD_PACKETS 5u

/* What a packet is worth that says itself that it is quiet */
#define QUIET_COST 0.1

/* More at once are another stream, not loss. */
#define MAX_LOST 100u

/* A talkspurt's delay may follow the one before if that was so long. */
#define MIN_SLACK_PACKETS 10u

/* For how long it counts what each of the two rules would have cost, and by how
 * many packets the other one must have been better */
#define ACCOUNT_HALF_LIFE (15 * FMX_SECOND)
#define FOLLOWING_IS_BETTER_BY 12
#define MEMORY_IS_BETTER_BY 16

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
  params->memory = 180 * FMX_SECOND;
  params->keeps_needed = false;
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
  FmxPlayoutRuleParams rule = {
    .reserve = params->reserve,
    .growth_step = params->growth_step,
    .cuts_at_once = params->keeps_needed,
    .in_packets = params->threshold_time == 0,
    .half_life = ACCOUNT_HALF_LIFE,
  };

  assert (params->min_delay >= 0 && params->max_delay >= params->min_delay);
  assert (params->max_delay < FMX_PLAYOUT_RESTART_STEP);
  assert (params->memory >= 0);

  if (params->threshold_time > 0)
    monitor.threshold = (uint64_t) params->threshold_time;
  memset (playout, 0, sizeof *playout);
  playout->params = *params;
  fmx_playout_rule_init (&playout->own, &rule, &monitor, params->memory > 0);
  if (params->memory > 0) {
    FmxDelayMemoryParams memory;

    fmx_playout_rule_init (&playout->rival, &rule, &monitor, false);
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
  bool never_rests = playout->never_rests;
  FmxPathDelay *path = playout->path;

  fmx_playout_init (playout, &params);
  playout->stats = stats;
  playout->path = path;
  playout->never_rests = never_rests;
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
    return decide (playout, packet, FMX_PLAYOUT_DROP_LATE, playout->own.delay);
  }
  if (fmx_slot_history_has (&playout->history, packet->ext_seq)) {
    playout->stats.n_duplicate++;
    return decide (playout, packet, FMX_PLAYOUT_DROP_DUPLICATE,
        playout->own.delay);
  }
  /* its slot is where it was when its turn came: after the one before it */
  delay = fmx_slot_history_delay_before (&playout->history, packet->ext_seq,
      oldest, playout->own.delay);
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

/* At the start of a talkspurt nothing is heard when the delay changes: the
 * time that no packet of the last one needed goes, but for what the monitor
 * would leave. */
static void
jump (FmxPlayout *playout, const FmxPlayoutPacket *packet, FmxTime now)
{
  FmxDuration keep = (playout->params.reserve < packet->duration ?
      playout->params.reserve : packet->duration)
      + packet->duration * ((FmxDuration) playout->params.length - 2);
  FmxDuration less, room;

  if (playout->n_slack < MIN_SLACK_PACKETS)
    return;
  less = playout->slack - keep;
  if (less > playout->own.delay - lowest_delay (playout))
    less = playout->own.delay - lowest_delay (playout);
  if (playout->params.memory > 0) {
    FmxDuration worth = playout->own.delay - fastest (playout)
        - fmx_delay_memory_best (&playout->memory,
        playout->own.delay - fastest (playout));

    less = less < worth ? less : worth;
  }
  /* not into what is still to be played */
  room =
      fmx_time_diff (playout_time (playout, packet->media, playout->own.delay),
      playout->end > now ? playout->end : now);
  if (less > room)
    less = room;
  if (less > 0) {
    playout->own.delay -= less;
    if (playout->rival.delay > playout->own.delay)
      playout->rival.delay = playout->own.delay;
    playout->stats.n_jumps++;
  }
  playout->slack = INT64_MAX;
  playout->n_slack = 0;
}

/* What came in a burst before anything was played is worth hearing: it is not
 * cut out in one piece. */
static bool
catches_up (FmxPlayout *playout, const FmxPlayoutPacket *packet,
    FmxDuration slack)
{
  if (playout->catching_up && playout->n_slack > MIN_SLACK_PACKETS
      && fmx_playout_rule_queue_length (&playout->own, slack, packet->duration)
      < playout->params.length)
    playout->catching_up = false;
  return playout->catching_up && !packet->quiet
      && packet->ext_seq % CATCH_UP != 0;
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
        playout->transit - fastest (playout), packet->duration);
}

/* The minimum was raised, or the path became slower: in steps, as growth is.  What
 * lacks only because the start knew no better waits until nobody hears it. */
static void
keep_minimum (FmxPlayout *playout, const FmxPlayoutPacket *packet, bool silence)
{
  FmxDuration step = playout->params.growth_step < packet->duration ?
      playout->params.growth_step : packet->duration;
  FmxDuration lowest, lacking;

  if (silence || packet->quiet || packet->pause)
    playout->lent = 0;
  lowest = lowest_delay (playout) - playout->lent;
  lacking = lowest - playout->own.delay;
  if (lacking >= step)
    playout->own.delay += lacking / step * step;
  if (playout->rival.delay < lowest)
    playout->rival.delay = lowest;
}

/* Goes by the rule that would have sounded better of late. */
static void
compare_rules (FmxPlayout *playout, const FmxPlayoutRulePacket *packet,
    FmxPlayoutRuleAction action, FmxDuration delay, FmxTime now)
{
  FmxDuration rivals = playout->rival.delay;
  FmxPlayoutRuleAction rival = fmx_playout_rule_on_packet (&playout->rival,
      &playout->memory, packet, now);

  if (rival == FMX_PLAYOUT_RULE_PLAY || playout->rival.delay > rivals)
    rivals = playout->rival.delay;
  fmx_playout_rule_account (&playout->own, &playout->memory, packet, action,
      delay);
  fmx_playout_rule_account (&playout->rival, &playout->memory, packet, rival,
      rivals);
  if (playout->own.cost > playout->rival.cost + (playout->own.remembers ?
          FOLLOWING_IS_BETTER_BY : MEMORY_IS_BETTER_BY)
      * 0.02 * FMX_DELAY_MEMORY_PACKET_COST) {
    fmx_playout_rule_change_places (&playout->own, &playout->rival);
    playout->stats.n_rule_changes++;
  }
}

/* What no rule goes below: who is played with others waits for them. */
static FmxDuration
least_delay (const FmxPlayout *playout)
{
  FmxDuration lowest = lowest_delay (playout);

  return playout->waits && playout->waits_delay > lowest
      && playout->waits_delay <= playout->own.delay ? playout->waits_delay
      : lowest;
}

/* The packet as the rules see it */
static FmxPlayoutRulePacket
seen_by_rules (FmxPlayout *playout, const FmxPlayoutPacket *packet,
    bool after_silence, FmxTime now)
{
  FmxDuration slack = playout->own.delay - playout->transit;
  uint64_t n_lost = packet->ext_seq - playout->highest_seq - 1;
  FmxPlayoutRulePacket seen = {
    .media = (FmxDuration) (packet->media + playout->offset),
    .duration = packet->duration,
    .transit = playout->transit,
    .n_lost = n_lost < MAX_LOST ? n_lost : MAX_LOST,
    .fastest = fastest (playout),
    .lowest = least_delay (playout),
    .highest = highest_delay (playout),
    .needed = playout->params.keeps_needed ?
        fmx_transit_range_greatest (&playout->range) : least_delay (playout),
    .cut_cost = packet->quiet ? QUIET_COST : 1.0,
    .after_silence = after_silence,
    .unheard = playout->params.keeps_needed
        && fmx_time_diff (playout->begin, now) > 0
        && playout->n_slack < UNHEARD_PACKETS,
    .spared = slack >= 0 && !after_silence
        && catches_up (playout, packet, slack),
  };

  return seen;
}

static void
count (FmxPlayout *playout, FmxPlayoutRuleAction action, FmxTime now)
{
  switch (action) {
    case FMX_PLAYOUT_RULE_PLAY:
      playout->late_since = FMX_TIME_NONE;
      playout->stats.n_played++;
      break;
    case FMX_PLAYOUT_RULE_CUT:
      playout->stats.n_dropped++;
      break;
    case FMX_PLAYOUT_RULE_DROP:
      if (playout->late_since == FMX_TIME_NONE)
        playout->late_since = now;
      playout->stats.n_late++;
      break;
    case FMX_PLAYOUT_RULE_MISS:
      playout->stats.n_late++;
      break;
  }
}

/* Where nobody hears it. */
static void
change_unheard (FmxPlayout *playout, const FmxPlayoutPacket *packet,
    bool silence, FmxTime now)
{
  if (silence && playout->own.delay > playout->transit)
    jump (playout, packet, now);
  if (silence && !playout->waits)
    fmx_playout_join_others (playout, packet, now);
  if (silence || (packet->pause && fmx_playout_is_apart (playout)))
    fmx_playout_take_place (playout, packet, now);
}

static FmxPlayoutDecision
on_next (FmxPlayout *playout, const FmxPlayoutPacket *packet, FmxTime now)
{
  static const FmxPlayoutAction actions[] = {
    [FMX_PLAYOUT_RULE_PLAY] = FMX_PLAYOUT_PLAY,
    [FMX_PLAYOUT_RULE_CUT] = FMX_PLAYOUT_DROP_MONITOR,
    [FMX_PLAYOUT_RULE_MISS] = FMX_PLAYOUT_MISSED,
    [FMX_PLAYOUT_RULE_DROP] = FMX_PLAYOUT_DROP_LATE,
  };
  FmxDuration first = playout->own.delay, before;
  bool silence = fmx_playout_follows_silence (playout, packet);
  FmxPlayoutReason reason = FMX_PLAYOUT_MINIMUM;
  FmxPlayoutRulePacket seen;
  FmxPlayoutRuleAction action;
  FmxPlayoutDecision decision;

  keep_minimum (playout, packet, silence);
  before = playout->own.delay;
  change_unheard (playout, packet, silence, now);
  if (playout->own.delay != before)
    reason = FMX_PLAYOUT_SILENCE;
  note_slack (playout, packet, playout->own.delay - playout->transit);
  seen = seen_by_rules (playout, packet, silence, now);
  before = playout->own.delay;
  action = fmx_playout_rule_on_packet (&playout->own, &playout->memory, &seen,
      now);
  if (playout->own.delay > before)
    playout->stats.n_grown++;
  if (playout->own.delay != before)
    reason = playout->own.delay > before ? FMX_PLAYOUT_LATE :
        FMX_PLAYOUT_STANDING_QUEUE;
  playout->slack += playout->own.delay - before;
  if (action == FMX_PLAYOUT_RULE_PLAY || playout->own.delay > before)
    before = playout->own.delay;
  decision = decide (playout, packet, actions[action], before);
  count (playout, action, now);
  if (action == FMX_PLAYOUT_RULE_PLAY)
    playout->end = decision.playout + (uint64_t) packet->duration;
  if (playout->params.memory > 0)
    compare_rules (playout, &seen, action, before, now);
  decision.adjusted = playout->own.delay - first;
  decision.reason = decision.adjusted != 0 ? reason : FMX_PLAYOUT_UNCHANGED;
  return decision;
}

/* Several packets of one media time share a slot, and its fate; a slot that is
 * not complete when it is due was late. */
static FmxPlayoutDecision
on_same_slot (FmxPlayout *playout, const FmxPlayoutPacket *packet)
{
  FmxPlayoutAction action = playout->highest_action;
  FmxDuration before = playout->own.delay;
  FmxPlayoutDecision decision;

  if (action == FMX_PLAYOUT_PLAY && playout->transit > playout->own.delay) {
    if (playout->transit > highest_delay (playout)) {
      action = FMX_PLAYOUT_DROP_LATE;
      playout->stats.n_late++;
    } else {
      playout->own.delay = fmx_playout_rule_grown (&playout->own,
          playout->transit - playout->own.delay, packet->duration,
          highest_delay (playout));
      playout->stats.n_grown++;
    }
  }
  decision = decide (playout, packet, action, playout->own.delay);
  decision.adjusted = playout->own.delay - before;
  decision.reason = decision.adjusted != 0 ?
      FMX_PLAYOUT_LATE : FMX_PLAYOUT_UNCHANGED;
  if (action == FMX_PLAYOUT_PLAY) {
    playout->end = decision.playout + (uint64_t) packet->duration;
    playout->stats.n_played++;
  }
  return decision;
}

/* After a pause one late packet may be the last that came: who is in time tells that the
 * route is the old one. */
static bool
is_on_new_route (const FmxPlayout *playout, const FmxPlayoutPacket *packet,
    FmxTime now)
{
  FmxDuration transit = (FmxDuration) (now - packet->media - playout->offset);

  return playout->late_since != FMX_TIME_NONE
      && fmx_time_diff (now, playout->late_since) > RESTART_LATE
      && (packet->ext_seq <= playout->highest_seq
      || transit > highest_delay (playout));
}

FmxPlayoutDecision
fmx_playout_long_way (FmxPlayout *playout, const FmxPlayoutPacket *packet,
    FmxTime now)
{
  FmxPlayoutDecision decision;
  bool restart;

  restart = !playout->started || fmx_playout_is_absurd (playout, packet, now)
      || is_on_new_route (playout, packet, now);
  if (!restart && packet->ext_seq <= playout->highest_seq)
    return on_reordered (playout, packet, now);

  if (restart || fmx_playout_had_waited (playout, packet, now)) {
    if (restart && playout->started)
      playout->stats.n_restarts++;
    fmx_playout_start (playout, packet, now);
    decision = decide (playout, packet, FMX_PLAYOUT_PLAY, playout->own.delay);
    decision.reason = FMX_PLAYOUT_RESTART;
    playout->begin = decision.playout;
    playout->end = decision.playout + (uint64_t) packet->duration;
    playout->stats.n_played++;
  } else {
    playout->transit = (FmxDuration) (now - packet->media - playout->offset);
    fmx_playout_learn_fastest (playout, now);
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
  if (playout->path != NULL && !playout->catching_up && !playout->waits)
    fmx_path_delay_tell (playout->path, playout,
        playout->own.delay - fastest (playout),
        playout->transit - fastest (playout), packet->duration, now);
  return decision;
}
