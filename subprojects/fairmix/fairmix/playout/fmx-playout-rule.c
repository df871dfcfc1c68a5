/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/playout/fmx-playout-rule.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The slack has settled if it has not grown by a part of a packet for so long. */
#define SETTLES (300 * FMX_MSECOND)
#define GROWS_PART 2

/* A cut that has begun goes on, whatever it cuts, if no more than that is left of it. */
#define SHORT_CUT (100 * FMX_MSECOND)

void
fmx_playout_rule_init (FmxPlayoutRule *rule,
    const FmxPlayoutRuleParams *params, const FmxQueueMonitorParams *monitor,
    bool remembers)
{
  assert (params->reserve > 0 && params->growth_step > 0);
  assert (params->half_life > 0);

  memset (rule, 0, sizeof *rule);
  rule->params = *params;
  rule->remembers = remembers;
  fmx_queue_monitor_init (&rule->monitor, monitor);
  fmx_playout_rule_start (rule, 0);
}

void
fmx_playout_rule_start (FmxPlayoutRule *rule, FmxDuration delay)
{
  fmx_queue_monitor_clear (&rule->monitor);
  fmx_delay_memory_use_init (&rule->use);
  rule->delay = delay;
  rule->most_slack = 0;
  rule->grew = 0;
  rule->to_cut = 0;
  rule->cost = 0.0;
  rule->missing = 0.0;
  rule->any = false;
}

static FmxDuration
at_most (FmxDuration time, FmxDuration most)
{
  return time < most ? time : most;
}

uint32_t
fmx_playout_rule_queue_length (const FmxPlayoutRule *rule, FmxDuration slack,
    FmxDuration duration)
{
  FmxDuration beyond = slack - at_most (rule->params.reserve, duration);
  FmxDuration n = beyond > 0 ? (beyond + duration - 1) / duration : 0;

  return n < (FmxDuration) FMX_QUEUE_MONITOR_POSITIONS ?
      (uint32_t) n : FMX_QUEUE_MONITOR_POSITIONS;
}

FmxDuration
fmx_playout_rule_grown (const FmxPlayoutRule *rule, FmxDuration late,
    FmxDuration duration, FmxDuration highest)
{
  FmxDuration step = at_most (rule->params.growth_step, duration);

  return at_most (rule->delay + (late + step - 1) / step * step, highest);
}

static FmxDuration
least (FmxDuration a, FmxDuration b)
{
  return a < b ? a : b;
}

/* Notes how long before its turn a packet came. */
static void
note_slack (FmxPlayoutRule *rule, const FmxPlayoutRulePacket *packet,
    FmxDuration slack, FmxTime now)
{
  FmxDuration part = packet->duration / GROWS_PART;

  if (slack > rule->most_slack + part)
    rule->grew = now;
  if (slack > rule->most_slack + part
      || slack < rule->most_slack - packet->duration)
    rule->most_slack = slack;
}

/* Whether what stands is to be cut now */
static bool
is_due (const FmxPlayoutRule *rule, const FmxPlayoutRulePacket *packet,
    FmxTime now)
{
  return fmx_queue_monitor_exceeds (&rule->monitor, 1,
      packet->cut_cost < 1.0 ? 4 : 1)
      && (!rule->params.cuts_at_once
      || fmx_time_diff (now, rule->grew) >= SETTLES);
}

/* By how much, up to @most, the delay is to be shorter */
static FmxDuration
worth (FmxPlayoutRule *rule, const FmxDelayMemory *memory,
    const FmxPlayoutRulePacket *packet, FmxDuration most, FmxTime now)
{
  return !rule->remembers ? most : fmx_delay_memory_shrinkage (memory,
      &rule->use, rule->delay - packet->fastest, most, packet->cut_cost, now);
}

/* Returns: the packet's duration if it is of a cut in one piece, or 0.  @whole: what may be
 * cut.  A quiet one is not heard, and may be cut alone. */
static FmxDuration
of_a_piece (FmxPlayoutRule *rule, const FmxDelayMemory *memory,
    const FmxPlayoutRulePacket *packet, FmxDuration whole, FmxTime now)
{
  if (rule->to_cut < packet->duration) {
    rule->to_cut = is_due (rule, packet, now) ?
        worth (rule, memory, packet, whole, now) : 0;
    if (rule->to_cut < FMX_PLAYOUT_LEAST_CUT && packet->cut_cost >= 1.0)
      rule->to_cut = 0;
  }
  if (least (rule->to_cut, whole) < packet->duration) {
    rule->to_cut = 0;
    return 0;
  }
  rule->to_cut -= packet->duration;
  return packet->duration;
}

/* Two cuts are heard twice; but what came in a burst is worth hearing if it is long. */
static bool
is_within_short_cut (const FmxPlayoutRule *rule,
    const FmxPlayoutRulePacket *packet)
{
  return rule->to_cut >= packet->duration && rule->to_cut <= SHORT_CUT;
}

/* By how much the delay is to be shorter: by the packet, which is cut, or by a part
 * of it, which is played earlier and cuts into the one before it. */
static FmxDuration
shrinkage (FmxPlayoutRule *rule, const FmxDelayMemory *memory,
    const FmxPlayoutRulePacket *packet, FmxTime now)
{
  FmxDuration slack = rule->delay - packet->transit;
  FmxDuration lowest = !rule->remembers && packet->needed > packet->lowest ?
      packet->needed : packet->lowest;
  FmxDuration whole = least (slack, rule->delay - lowest);
  FmxDuration most = least (whole, packet->duration);

  if (most <= 0 || (!rule->remembers && most < packet->duration))
    return 0;
  if (most == packet->duration && rule->delay - most >= packet->highest)
    return most;
  /* of less, the next packet may tell more, and it would not be asked again so soon */
  if (packet->unheard)
    return most >= packet->duration / GROWS_PART ? worth (rule, memory, packet,
        most, now) : 0;
  if (packet->after_silence || (packet->spared
          && !is_within_short_cut (rule, packet)))
    return 0;
  if (rule->params.cuts_at_once)
    return of_a_piece (rule, memory, packet, whole, now);
  return is_due (rule, packet, now) ?
      worth (rule, memory, packet, most, now) : 0;
}

/* Whether a delay that is long enough for the packet is worth it; else it is as
 * long as is worth it. */
static bool
waits (FmxPlayoutRule *rule, const FmxDelayMemory *memory,
    const FmxPlayoutRulePacket *packet)
{
  FmxDuration delay = rule->delay - packet->fastest;
  FmxDuration since = packet->duration * (FmxDuration) (1 + packet->n_lost);
  bool worth_it = !rule->remembers || !fmx_delay_memory_on_late (memory,
      &rule->use, packet->transit - packet->fastest, since, &delay);

  rule->delay = packet->fastest + delay;
  return worth_it;
}

static FmxPlayoutRuleAction
on_late (FmxPlayoutRule *rule, const FmxDelayMemory *memory,
    const FmxPlayoutRulePacket *packet)
{
  if (packet->transit > packet->highest) {
    if (!rule->remembers && rule->delay < packet->highest)
      rule->delay = packet->highest;
    fmx_queue_monitor_clear (&rule->monitor);
    return FMX_PLAYOUT_RULE_DROP;
  }
  if (waits (rule, memory, packet)) {
    rule->delay = fmx_playout_rule_grown (rule, packet->transit - rule->delay,
        packet->duration, packet->highest);
    return FMX_PLAYOUT_RULE_PLAY;
  }
  if (packet->transit - rule->delay < packet->duration)
    return FMX_PLAYOUT_RULE_PLAY;       /* what is left of it */
  fmx_queue_monitor_clear (&rule->monitor);
  return FMX_PLAYOUT_RULE_MISS;
}

FmxPlayoutRuleAction
fmx_playout_rule_on_packet (FmxPlayoutRule *rule,
    const FmxDelayMemory *memory, const FmxPlayoutRulePacket *packet,
    FmxTime now)
{
  FmxDuration slack = rule->delay - packet->transit, less;

  if (!packet->after_silence)
    fmx_queue_monitor_on_arrival (&rule->monitor,
        fmx_playout_rule_queue_length (rule, slack, packet->duration),
        rule->params.in_packets ? 1 : (uint64_t) packet->duration);
  note_slack (rule, packet, slack, now);
  if (slack < 0 || packet->after_silence)
    rule->to_cut = 0;
  if (slack < 0)
    return on_late (rule, memory, packet);
  fmx_delay_memory_use_on_time (&rule->use);
  less = shrinkage (rule, memory, packet, now);
  rule->delay -= less;
  rule->most_slack -= less;
  if (less < packet->duration)
    return FMX_PLAYOUT_RULE_PLAY;
  fmx_queue_monitor_on_drop (&rule->monitor);
  return FMX_PLAYOUT_RULE_CUT;
}

/* Plays the packet, as far as it is not too late: how much of it was missed
 * and how long there was nothing to play before it, in packets */
static double
hear (FmxPlayoutRule *rule, const FmxPlayoutRulePacket *packet,
    FmxDuration delay)
{
  FmxDuration start = packet->media
      + (delay > packet->transit ? delay : packet->transit);
  FmxDuration end = packet->media + delay + packet->duration;
  double gap = 0.0, missing;

  if (rule->any && rule->heard > start)
    start = rule->heard;
  if (start >= end) {
    rule->missing += 1.0;
    return 0.0;
  }
  missing = rule->missing
      + 1.0 - (double) (end - start) / (double) packet->duration;
  if (rule->any)
    gap = (double) (start - rule->heard) / (double) packet->duration;
  rule->any = true;
  rule->heard = end;
  rule->missing = 0.0;
  return missing > gap ? missing : gap;
}

/* 1 - 2^-x, of small x */
static double
forgotten (const FmxPlayoutRule *rule, FmxDuration duration)
{
  return 0.6931 * (double) duration / (double) rule->params.half_life;
}

void
fmx_playout_rule_account (FmxPlayoutRule *rule, const FmxDelayMemory *memory,
    const FmxPlayoutRulePacket *packet, FmxPlayoutRuleAction action,
    FmxDuration delay)
{
  double heard = 0.0;

  if (packet->after_silence)
    rule->any = false;          /* nobody hears how long that was */
  rule->missing += (double) packet->n_lost;
  if (action == FMX_PLAYOUT_RULE_PLAY)
    heard = hear (rule, packet, delay);
  else
    rule->missing += packet->cut_cost;
  rule->cost -= rule->cost * forgotten (rule, packet->duration);
  rule->cost += fmx_time_to_s (packet->duration)
      * (heard * FMX_DELAY_MEMORY_PACKET_COST
      + fmx_delay_memory_impairment (memory, rule->delay - packet->fastest));
}

void
fmx_playout_rule_account_rest (FmxPlayoutRule *rule,
    const FmxDelayMemory *memory, uint32_t n_packets, FmxDuration duration,
    FmxDuration delay)
{
  double each = forgotten (rule, duration);
  double left = pow (1.0 - each, n_packets);

  /* a geometric series */
  rule->cost = rule->cost * left + fmx_time_to_s (duration)
      * fmx_delay_memory_impairment (memory, delay) * (1.0 - left) / each;
  rule->heard += (FmxDuration) n_packets *duration;
  fmx_delay_memory_use_on_time (&rule->use);
}

void
fmx_playout_rule_change_places (FmxPlayoutRule *own, FmxPlayoutRule *rival)
{
  FmxPlayoutRule before = *own;

  own->remembers = rival->remembers;
  own->cost = rival->cost;
  fmx_delay_memory_use_init (&own->use);
  *rival = before;
}
