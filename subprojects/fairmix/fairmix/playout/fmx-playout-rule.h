/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_PLAYOUT_RULE_H
#define FMX_PLAYOUT_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"
#include "fairmix/playout/fmx-delay-memory.h"
#include "fairmix/playout/fmx-queue-monitor.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxPlayoutRuleParams:
 * @reserve, @growth_step: as in FmxPlayoutParams
 * @cuts_at_once: what stands is cut in one piece of %FMX_PLAYOUT_LEAST_CUT or more, as soon as
 *     it grows no more: a queue of the path that drains comes in faster than it is played.  A
 *     cut is heard, however short it is
 * @in_packets: the queue monitor's thresholds are packets; else nanoseconds
 * @half_life: of the account of what was heard
 */
typedef struct
{
  FmxDuration reserve;
  FmxDuration growth_step;
  bool cuts_at_once;
  bool in_packets;
  FmxDuration half_life;
} FmxPlayoutRuleParams;

/** FMX_PLAYOUT_LEAST_CUT: in one piece of speech.  What one cut takes from the PESQ of 8 s grows
 * from 0.22 (5 ms) to 0.49 (40 ms) and 0.75 (300 ms) only (docs/algorithms/playout.md) */
#define FMX_PLAYOUT_LEAST_CUT (40 * FMX_MSECOND)

/**
 * FmxPlayoutRule:
 *
 * A delay that grows and shrinks by one of two rules, and an account of how that
 * would have sounded.  One remembers: it asks an #FmxDelayMemory whether a stall
 * is worth a longer delay, and a shorter one a packet.  The other follows: it
 * waits for each packet that is late, and cuts each queue that stands.  Where
 * the queue of the path swings within seconds, as with LTE, the second one is
 * better by far, else the first; both accounts tell which.
 *
 * All delays and transit times are relative to the same offset.
 */
typedef struct
{
  /*< private >*/
  FmxPlayoutRuleParams params;
  FmxQueueMonitor monitor;
  FmxDelayMemoryUse use;
  bool remembers;
  FmxDuration delay;
  FmxDuration most_slack;       /* of late ... */
  FmxTime grew;                 /* ... which it last had less of, then */
  FmxDuration to_cut;           /* what is left of a cut in one piece */
  double cost;                  /* of late, in points of the rating, times s */
  double missing;               /* packets, since something was heard */
  FmxDuration heard;            /* end of that, from media time 0 on */
  bool any;
} FmxPlayoutRule;

/**
 * FmxPlayoutRulePacket:
 * @media: its media time, on any axis
 * @duration: how much media it holds
 * @transit: how long it took
 * @n_lost: so many packets before it never came
 * @fastest, @lowest, @highest: transit time of the fastest packets; limits of
 *     the delay
 * @needed: who follows does not cut below it
 * @cut_cost: what cutting it costs, of what cutting another one does; (0, 1]
 * @after_silence: it follows silence, and is not to be cut
 * @unheard: nothing has been played so far
 * @spared: no cut begins with it unless the delay is too long by all means
 */
typedef struct
{
  FmxDuration media;
  FmxDuration duration;
  FmxDuration transit;
  uint64_t n_lost;
  FmxDuration fastest;
  FmxDuration lowest;
  FmxDuration highest;
  FmxDuration needed;
  double cut_cost;
  bool after_silence;
  bool unheard;
  bool spared;
} FmxPlayoutRulePacket;

typedef enum
{
  FMX_PLAYOUT_RULE_PLAY,        /* with the delay */
  FMX_PLAYOUT_RULE_CUT,         /* missed, and the delay is shorter by it */
  FMX_PLAYOUT_RULE_MISS,        /* came too late */
  FMX_PLAYOUT_RULE_DROP         /* later than may be */
} FmxPlayoutRuleAction;

void fmx_playout_rule_init (FmxPlayoutRule * rule,
    const FmxPlayoutRuleParams * params, const FmxQueueMonitorParams * monitor,
    bool remembers);

/** fmx_playout_rule_start: nothing is known, and @delay is the first one */
void fmx_playout_rule_start (FmxPlayoutRule * rule, FmxDuration delay);

/**
 * fmx_playout_rule_on_packet:
 * @memory: with this packet in it; only asked by a rule that remembers
 *
 * What becomes of a packet, and of the delay.  A packet that is played may be
 * late by less than itself: the rest of it is heard.
 */
FmxPlayoutRuleAction fmx_playout_rule_on_packet (FmxPlayoutRule * rule,
    const FmxDelayMemory * memory, const FmxPlayoutRulePacket * packet,
    FmxTime now);

/**
 * fmx_playout_rule_account:
 * @action: what became of the packet
 * @delay: the delay that it has, or would have had
 *
 * Where a stall or a cut is heard, media is missing, or there is nothing to
 * play: the larger one counts.
 */
void fmx_playout_rule_account (FmxPlayoutRule * rule,
    const FmxDelayMemory * memory, const FmxPlayoutRulePacket * packet,
    FmxPlayoutRuleAction action, FmxDuration delay);

/**
 * fmx_playout_rule_rests:
 * @end: of the last packet, as it is played
 *
 * Returns: whether that was heard to its end, with nothing missing before it, and no
 *     queue stands
 */
static inline bool
fmx_playout_rule_rests (const FmxPlayoutRule *rule, FmxDuration end)
{
  return rule->any && rule->heard == end && rule->missing <= 0.0
      && rule->monitor.count[0] == 0;
}

/**
 * fmx_playout_rule_account_rest:
 * @n_packets: of @duration that were in time and followed one another, without a
 *     queue
 * @delay: beyond the fastest packets
 *
 * The same as fmx_playout_rule_account() for each of them.
 */
void fmx_playout_rule_account_rest (FmxPlayoutRule * rule,
    const FmxDelayMemory * memory, uint32_t n_packets, FmxDuration duration,
    FmxDuration delay);

/**
 * fmx_playout_rule_change_places:
 *
 * @own, by which packets are played, goes on by the rule of @rival, and @rival
 * by that of @own, from where @own is now.
 */
void fmx_playout_rule_change_places (FmxPlayoutRule * own,
    FmxPlayoutRule * rival);

/** Returns: the position in the virtual queue of a packet with @slack until its
 * turn: what is still to be played before it, beyond the reserve.  A lost
 * packet keeps its place: loss is not lateness. */
uint32_t fmx_playout_rule_queue_length (const FmxPlayoutRule * rule,
    FmxDuration slack, FmxDuration duration);

/** Returns: @delay and as many growth steps as @late asks for: a clock that
 * drifts would otherwise make it grow a little with each packet */
FmxDuration fmx_playout_rule_grown (const FmxPlayoutRule * rule,
    FmxDuration late, FmxDuration duration, FmxDuration highest);

#ifdef __cplusplus
}
#endif

#endif /* FMX_PLAYOUT_RULE_H */
