/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_TICK_QUEUE_H
#define FMX_TICK_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"
#include "fairmix/playout/fmx-queue-monitor.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxTickQueueParams:
 * @monitor: thresholds in packets, and what becomes of the counts
 * @threshold_time: if > 0, instead of the monitor's threshold: in time, as in
 *     #FmxPlayoutParams
 * @max_delay: a packet that would wait longer is dropped: the paper's queue has
 *     no end, ours has; > 0
 */
typedef struct
{
  FmxQueueMonitorParams monitor;
  FmxDuration threshold_time;
  FmxDuration max_delay;
} FmxTickQueueParams;

typedef enum
{
  FMX_TICK_QUEUE_PLAY,
  FMX_TICK_QUEUE_DROP_MONITOR,  /* a count exceeded its threshold */
  FMX_TICK_QUEUE_DROP_FULL,     /* it would wait for more than max_delay */
  FMX_TICK_QUEUE_DROP_OLD       /* one that was sent after it came before it */
} FmxTickQueueAction;

/**
 * FmxTickQueueDecision:
 * @action: play or drop
 * @tick: when it is due; of a packet that is dropped: when it would have been
 * @n_queued: how many packets it found waiting
 * @after_gap: there was nothing to play at the tick before
 */
typedef struct
{
  FmxTickQueueAction action;
  FmxTime tick;
  uint32_t n_queued;
  bool after_gap;
} FmxTickQueueDecision;

/**
 * FmxTickQueueStats:
 * @n_played, @n_dropped: packets that were given a tick; by the monitor none
 * @n_full, @n_old: packets dropped for other reasons
 * @n_gaps: ticks at which the queue was empty, between two that had a packet
 */
typedef struct
{
  uint64_t n_played;
  uint64_t n_dropped;
  uint64_t n_full;
  uint64_t n_old;
  uint64_t n_gaps;
} FmxTickQueueStats;

/**
 * FmxTickQueue:
 *
 * Queue monitoring to the letter: a FIFO that is served at the ticks of the
 * display, one packet a tick.  Sequence numbers and time stamps do not matter:
 * after a lost packet the next one takes its tick, and so each loss makes the
 * queue one shorter, as each gap makes it one longer.
 *
 * What is queued is stored elsewhere: the packets of a FIFO without holes are
 * known by the tick of the last one.
 *
 * Source: nanoManipulator 2002, section 3.2 ("dealing only with buffer
 * occupancies at regular polling intervals").
 */
typedef struct
{
  /*< private >*/
  FmxTickQueueParams params;
  FmxTickQueueStats stats;
  FmxQueueMonitor monitor;
  bool started;
  uint64_t highest_seq;
  FmxTime last_tick;            /* that is taken */
} FmxTickQueue;

/** fmx_tick_queue_params_paper: the paper's (T, L): @threshold, @length */
void fmx_tick_queue_params_paper (FmxTickQueueParams * params,
    uint32_t threshold, uint32_t length);

void fmx_tick_queue_init (FmxTickQueue * queue,
    const FmxTickQueueParams * params);
/** Forgets the stream, keeps parameters and statistics. */
void fmx_tick_queue_reset (FmxTickQueue * queue);

/**
 * fmx_tick_queue_on_packet:
 * @ext_seq: extended sequence number
 * @interval: from tick to tick, > 0; the grid goes on from the last tick that
 *     is taken.  The first packet makes it: it is played when it arrives
 * @now: when it arrived; a packet that comes with a tick is there for it
 */
FmxTickQueueDecision fmx_tick_queue_on_packet (FmxTickQueue * queue,
    uint64_t ext_seq, FmxDuration interval, FmxTime now);

/** Returns: the queue monitor, for statistics */
const FmxQueueMonitor *fmx_tick_queue_get_monitor (const FmxTickQueue * queue);

/** fmx_tick_queue_get_stats: @stats: (out): the counters */
void fmx_tick_queue_get_stats (const FmxTickQueue * queue,
    FmxTickQueueStats * stats);

#ifdef __cplusplus
}
#endif

#endif /* FMX_TICK_QUEUE_H */
