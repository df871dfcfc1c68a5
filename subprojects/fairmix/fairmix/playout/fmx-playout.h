/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_PLAYOUT_H
#define FMX_PLAYOUT_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"
#include "fairmix/playout/fmx-delay-memory.h"
#include "fairmix/playout/fmx-path-delay.h"
#include "fairmix/playout/fmx-playout-rule.h"
#include "fairmix/playout/fmx-queue-monitor.h"
#include "fairmix/playout/fmx-slot-history.h"
#include "fairmix/playout/fmx-transit-range.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxPlayoutParams:
 * @threshold: base threshold T: packet times that the queue may stand at
 *     @length or more before a packet is dropped; > 0
 * @length: the queue position L that the threshold belongs to; in [1, 64]
 * @decay: the threshold is divided by it for each position above @length;
 *     1 = the same for all (the paper's (T, L)), 2 = halving; >= 1
 * @after_drop: what becomes of the counts
 * @threshold_time: if > 0, instead of @threshold: in time, so that sources of
 *     10 and of 50 packets/s are watched for equally long
 * @reserve: the queue stands at position k when a packet waits for more than
 *     k - 1 packet times and this, or one more packet time if that is less;
 *     > 0
 * @growth_step: the delay grows by multiples of it, or of a packet time if
 *     that is less; > 0
 * @min_delay: playout is at least so much later than the media time, or than
 *     the arrival of the fastest packets, whichever is later; >= 0
 * @max_delay: and at most so much; >= @min_delay
 * @memory: half-life of the #FmxDelayMemory that decides whether a late packet
 *     is worth a longer delay, and whether a shorter one is worth a packet, for
 *     as long as that is better than to say yes to both (#FmxPlayoutRule);
 *     0 = none: every late packet is, and so is every shorter delay; >= 0
 * @keeps_needed: even then no cut leaves less than packets of the last 10 to 20 s
 *     needed
 *
 * Source: nanoManipulator 2002, section 3.2; the virtual queue, decay, shift,
 * reserve, step and memory are ours.  To the letter: fmx-tick-queue.h.
 */
typedef struct
{
  uint32_t threshold;
  uint32_t length;
  double decay;
  FmxQueueMonitorAfterDrop after_drop;
  FmxDuration threshold_time;
  FmxDuration reserve;
  FmxDuration growth_step;
  FmxDuration min_delay;
  FmxDuration max_delay;
  FmxDuration memory;
  bool keeps_needed;
} FmxPlayoutParams;

/**
 * FmxPlayoutPacket:
 * @ext_seq: extended sequence number
 * @media: media time of its first sample: the RTP timestamp, on the time line
 *     of `now` (any fixed offset)
 * @duration: how much media it holds, > 0
 * @talkspurt: its first packet after silence: the delay may jump here
 * @quiet: cutting it would not be heard (DTX, level near silence)
 * @pause: nor would it be that the delay changes before it, for who is to be played with
 *     others: nobody speaks
 */
typedef struct
{
  uint64_t ext_seq;
  FmxTime media;
  FmxDuration duration;
  bool talkspurt;
  bool quiet;
  bool pause;
} FmxPlayoutPacket;

typedef enum
{
  FMX_PLAYOUT_PLAY,             /* play it at @playout */
  FMX_PLAYOUT_DROP_MONITOR,     /* dropped to shorten the delay */
  FMX_PLAYOUT_MISSED,           /* its slot has passed, but not for a decoder */
  FMX_PLAYOUT_DROP_LATE,        /* later than may be, or out of order too */
  FMX_PLAYOUT_DROP_DUPLICATE
} FmxPlayoutAction;

/**
 * FmxPlayoutReason:
 * @FMX_PLAYOUT_UNCHANGED: the delay is what it was
 * @FMX_PLAYOUT_LATE: it grew for a packet that was late
 * @FMX_PLAYOUT_STANDING_QUEUE: it shrank because the queue monitor said so
 * @FMX_PLAYOUT_SILENCE: it changed at the start of a talkspurt
 * @FMX_PLAYOUT_MINIMUM: it grew to the minimum
 * @FMX_PLAYOUT_RESTART: first packet, or time stamps that fitted nothing
 */
typedef enum
{
  FMX_PLAYOUT_UNCHANGED,
  FMX_PLAYOUT_LATE,
  FMX_PLAYOUT_STANDING_QUEUE,
  FMX_PLAYOUT_SILENCE,
  FMX_PLAYOUT_MINIMUM,
  FMX_PLAYOUT_RESTART
} FmxPlayoutReason;

/**
 * FmxPlayoutDecision:
 * @action: play or drop
 * @playout: when its first sample is due, on the time line of `now`; of a packet
 *     that is late by less than itself that may have been, and what is left of
 *     it is heard.  With @adjusted < 0 that is before the end of the one before,
 *     of which so much is cut off
 * @delay: how much later that is than its media time
 * @adjusted: how much the delay grew (> 0) or shrank (< 0) with this packet
 * @reason: why
 */
typedef struct
{
  FmxPlayoutAction action;
  FmxTime playout;
  FmxDuration delay;
  FmxDuration adjusted;
  FmxPlayoutReason reason;
} FmxPlayoutDecision;

/**
 * FmxPlayoutStats:
 * @n_played: packets that were given a playout time
 * @n_dropped: packets dropped by the queue monitor, to shorten the delay
 * @n_late: packets whose slot had passed, and that were not waited for
 * @n_duplicate: packets that had been there before
 * @n_grown: how often the delay grew, because a packet was late
 * @n_jumps: how often it changed at a talkspurt, where nobody hears it
 * @n_restarts: time stamps that fitted nothing before them
 * @n_rule_changes: how often the other rule was better, and is gone by since
 *
 * Monotonic counters; the library writes them and never reads them.
 */
typedef struct
{
  uint64_t n_played;
  uint64_t n_dropped;
  uint64_t n_late;
  uint64_t n_duplicate;
  uint64_t n_grown;
  uint64_t n_jumps;
  uint64_t n_restarts;
  uint64_t n_rule_changes;
} FmxPlayoutStats;

/**
 * FmxPlayout:
 *
 * One stream's playout schedule; caller-allocated, needs no destructor.  All
 * delays inside are relative to @offset, which is chosen so that they are
 * small whatever the origin of the media times.
 */
typedef struct
{
  /*< private >*/
  FmxPlayoutParams params;
  FmxPlayoutStats stats;
  FmxPathDelay *path;           /* that others come over as well, or NULL */
  FmxDelayMemory memory;
  FmxPlayoutRule own;           /* has the delay, playout - media - offset */
  FmxPlayoutRule rival;         /* goes by the other rule, and is not heard */

  bool started;
  bool catching_up;             /* with a burst at the start */
  uint64_t offset;              /* of the media time line, modulo 2^64 */
  FmxDuration transit;          /* arrival - media - offset, the last one's */

  FmxTransitRange range;
  bool guesses;                 /* how fast the fastest are: of the first window */
  FmxDuration lent;             /* by that guess, of the minimum, until silence */

  bool told;                    /* what delay it would be with others at ... */
  FmxDuration told_delay;       /* ... that, with the offset in it */
  bool waits;                   /* it is at one that it was told ... */
  FmxDuration waits_delay;      /* ... that ... */
  FmxDuration waits_for;        /* ... which is so much longer than its own */

  /* the packet with the highest number so far */
  uint64_t highest_seq;
  FmxTime highest_media;
  FmxDuration highest_duration;
  FmxPlayoutAction highest_action;
  FmxTime begin;                /* of the first slot */
  FmxTime end;                  /* of the last slot that is taken */

  FmxDuration slack;            /* least time before a slot, this talkspurt */
  uint32_t n_slack;             /* packets that @slack was taken over */
  FmxTime late_since;           /* nothing but late packets since then */

  bool rests;                   /* see fmx-playout-rest.h */
  bool never_rests;             /* for tests: each packet goes the long way */
  uint32_t n_rested;            /* packets that no account has yet */
  FmxDuration rest_lowest;      /* what is no faster goes the short way */
  FmxDuration rest_least;       /* the fastest packets of late */
  FmxDuration rest_delay;       /* the delay beyond those */

  FmxSlotHistory history;
} FmxPlayout;

/** fmx_playout_params_default: what does well on every path without tuning */
void fmx_playout_params_default (FmxPlayoutParams * params);

void fmx_playout_init (FmxPlayout * playout, const FmxPlayoutParams * params);
/**
 * fmx_playout_share:
 * @path: what is known of the path that the stream comes over, and is to be learnt
 *     of it; it outlives @playout.  NULL: nobody else comes over it
 *
 * Before the first packet, or when the stream goes on over another path.  A stream that
 * begins, or goes on after silence, does so with the delay that those who come the same
 * way have by then, if that is longer.
 */
static inline void
fmx_playout_share (FmxPlayout *playout, FmxPathDelay *path)
{
  playout->path = path;
}

/** Forgets the stream (new SSRC, flush, hand-over), keeps parameters. */
void fmx_playout_reset (FmxPlayout * playout);

/**
 * fmx_playout_on_packet:
 * @packet: what arrived; duplicate packets are welcome, and those that come up
 *     to %FMX_SLOT_HISTORY_LENGTH numbers late
 * @now: when
 *
 * Decides at arrival when a packet is played.  The queue that is monitored is
 * virtual: the packets whose playout is still to come.  The first packet after
 * fmx_playout_reset() is due at max (@media + min_delay, @now).
 */
FmxPlayoutDecision fmx_playout_on_packet (FmxPlayout * playout,
    const FmxPlayoutPacket * packet, FmxTime now);

/**
 * fmx_playout_get_delay:
 *
 * Returns: how much later than the fastest packets of late arrive the current
 *     delay plays: the part of it that jitter is to blame for; 0 before the
 *     first packet
 */
static inline FmxDuration
fmx_playout_get_delay (const FmxPlayout *playout)
{
  return playout->started ?
      playout->own.delay - fmx_transit_range_least (&playout->range) : 0;
}

/**
 * fmx_playout_get_need:
 *
 * Returns: the delay, counted as fmx_playout_get_delay() does, that would have
 *     been enough for all packets of the last 10 ... 20 s
 */
static inline FmxDuration
fmx_playout_get_need (const FmxPlayout *playout)
{
  return playout->started ? fmx_transit_range_greatest (&playout->range)
      - fmx_transit_range_least (&playout->range) : 0;
}

/**
 * fmx_playout_set_min_delay:
 * @min_delay: the new one, in [0, max_delay]
 *
 * The delay grows to it with the next packet, in steps, and shrinks below the
 * old one as the queue monitor sees fit: for streams that are to be played
 * together.
 */
static inline void
fmx_playout_set_min_delay (FmxPlayout *playout, FmxDuration min_delay)
{
  assert (min_delay >= 0 && min_delay <= playout->params.max_delay);
  if (min_delay > playout->params.min_delay)
    playout->lent = 0;
  playout->params.min_delay = min_delay;
}

/**
 * fmx_playout_align:
 * @delay: playout beyond the media time, as in #FmxPlayoutDecision, with which the stream
 *     would be at its place among others
 *
 * It goes to that delay where nobody hears it, after silence or at a pause, and stays
 * until it goes to another one.  What is less than its packets need, or more than
 * %FMX_PLAYOUT_ALIGN_MOST above the minimum, does not count.
 */
static inline void
fmx_playout_align (FmxPlayout *playout, FmxDuration delay)
{
  playout->told = true;
  playout->told_delay = delay;
}

/** FMX_PLAYOUT_ALIGN_MOST: so much longer may others make a stream wait */
#define FMX_PLAYOUT_ALIGN_MOST (250 * FMX_MSECOND)

/** fmx_playout_align_no_more: it has the delay that it needs itself, from the next
 * silence on */
static inline void
fmx_playout_align_no_more (FmxPlayout *playout)
{
  playout->told = false;
}

/** Returns: the queue monitor, for statistics */
static inline const FmxQueueMonitor *
fmx_playout_get_monitor (const FmxPlayout *playout)
{
  return &playout->own.monitor;
}

/** fmx_playout_get_stats: @stats: (out): the counters */
static inline void
fmx_playout_get_stats (const FmxPlayout *playout, FmxPlayoutStats *stats)
{
  *stats = playout->stats;
  stats->n_played += playout->n_rested;
}

#ifdef __cplusplus
}
#endif

#endif /* FMX_PLAYOUT_H */
