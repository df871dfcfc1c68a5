/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/playout/fmx-tick-queue.h"

#include <assert.h>
#include <string.h>

void
fmx_tick_queue_params_paper (FmxTickQueueParams *params, uint32_t threshold,
    uint32_t length)
{
  params->monitor.threshold = threshold;
  params->monitor.length = length;
  params->monitor.decay = 1.0;
  params->monitor.after_drop = FMX_QUEUE_MONITOR_KEPT;
  params->threshold_time = 0;
  params->max_delay = 60 * FMX_SECOND;
}

void
fmx_tick_queue_init (FmxTickQueue *queue, const FmxTickQueueParams *params)
{
  FmxQueueMonitorParams monitor = params->monitor;

  assert (params->max_delay > 0);

  memset (queue, 0, sizeof *queue);
  queue->params = *params;
  if (params->threshold_time > 0)
    monitor.threshold = (uint64_t) params->threshold_time;
  fmx_queue_monitor_init (&queue->monitor, &monitor);
}

void
fmx_tick_queue_reset (FmxTickQueue *queue)
{
  queue->started = false;
  fmx_queue_monitor_clear (&queue->monitor);
}

/* Every tick from @now to the last one that is taken is taken. */
static uint32_t
count_queued (const FmxTickQueue *queue, FmxDuration interval, FmxTime now)
{
  FmxDuration left = fmx_time_diff (queue->last_tick, now);
  FmxDuration n = left >= 0 ? left / interval + 1 : 0;

  return n < UINT32_MAX ? (uint32_t) n : UINT32_MAX;
}

/* The first tick, after those that are taken, that is still to come */
static FmxTime
next_tick (const FmxTickQueue *queue, FmxDuration interval, FmxTime now)
{
  FmxDuration since = fmx_time_diff (now, queue->last_tick);
  FmxDuration n = since > interval ? (since + interval - 1) / interval : 1;

  return queue->last_tick + (FmxTime) (n * interval);
}

static void
take (FmxTickQueue *queue, FmxDuration interval, FmxTickQueueDecision *decision)
{
  FmxDuration step = fmx_time_diff (decision->tick, queue->last_tick);

  if (queue->started && step > interval) {
    decision->after_gap = true;
    queue->stats.n_gaps += (uint64_t) (step / interval) - 1;
  }
  queue->last_tick = decision->tick;
  queue->stats.n_played++;
}

FmxTickQueueDecision
fmx_tick_queue_on_packet (FmxTickQueue *queue, uint64_t ext_seq,
    FmxDuration interval, FmxTime now)
{
  FmxTickQueueDecision decision = {
    .action = FMX_TICK_QUEUE_PLAY,
    .tick = now,
  };

  assert (interval > 0);

  if (queue->started) {
    decision.n_queued = count_queued (queue, interval, now);
    decision.tick = next_tick (queue, interval, now);
  }
  if (queue->started && ext_seq <= queue->highest_seq) {
    decision.action = FMX_TICK_QUEUE_DROP_OLD;
    queue->stats.n_old++;
    return decision;
  }
  queue->highest_seq = ext_seq;
  /* [nanoManipulator 3.2] "When a packet arrives at the receiver and the
   * playout queue currently contains n items, the counts for positions 1
   * through n are incremented.  If the count for any queue position k between
   * 1 and n exceeds its threshold, then the arriving packet is dropped." */
  fmx_queue_monitor_on_arrival (&queue->monitor, decision.n_queued,
      queue->params.threshold_time > 0 ? (uint64_t) interval : 1);
  if (fmx_queue_monitor_exceeds (&queue->monitor, 1, 1)) {
    fmx_queue_monitor_on_drop (&queue->monitor);
    decision.action = FMX_TICK_QUEUE_DROP_MONITOR;
    queue->stats.n_dropped++;
  } else if (fmx_time_diff (decision.tick, now) > queue->params.max_delay) {
    decision.action = FMX_TICK_QUEUE_DROP_FULL;
    queue->stats.n_full++;
  } else {
    take (queue, interval, &decision);
  }
  queue->started = true;
  return decision;
}

const FmxQueueMonitor *
fmx_tick_queue_get_monitor (const FmxTickQueue *queue)
{
  return &queue->monitor;
}

void
fmx_tick_queue_get_stats (const FmxTickQueue *queue, FmxTickQueueStats *stats)
{
  *stats = queue->stats;
}
