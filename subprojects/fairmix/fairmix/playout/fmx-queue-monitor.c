/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/playout/fmx-queue-monitor.h"

#include <assert.h>
#include <string.h>

#define N_POSITIONS FMX_QUEUE_MONITOR_POSITIONS

void
fmx_queue_monitor_init (FmxQueueMonitor *monitor,
    const FmxQueueMonitorParams *params)
{
  double threshold = (double) params->threshold;

  assert (params->threshold > 0);
  assert (params->length >= 1 && params->length <= N_POSITIONS);
  assert (params->decay >= 1.0);

  memset (monitor, 0, sizeof *monitor);
  monitor->after_drop = params->after_drop;
  monitor->length = params->length;
  for (uint32_t i = 0; i < N_POSITIONS; i++) {
    if (i + 1 < params->length) {
      monitor->threshold[i] = UINT64_MAX;
      continue;
    }
    monitor->threshold[i] = (uint64_t) threshold;
    threshold /= params->decay;
  }
}

void
fmx_queue_monitor_clear (FmxQueueMonitor *monitor)
{
  memset (monitor->count, 0, sizeof monitor->count);
}

void
fmx_queue_monitor_on_arrival (FmxQueueMonitor *monitor, uint32_t n_queued,
    uint64_t weight)
{
  uint32_t n = n_queued < N_POSITIONS ? n_queued : N_POSITIONS;

  /* [nanoManipulator 3.2] "the counts for positions 1 through n are
   * incremented"; a count is how long its position was taken without a break */
  for (uint32_t i = 0; i < n; i++)
    monitor->count[i] += weight;
  for (uint32_t i = n; i < N_POSITIONS && monitor->count[i] != 0; i++)
    monitor->count[i] = 0;
}

bool
fmx_queue_monitor_exceeds (const FmxQueueMonitor *monitor, uint32_t numerator,
    uint32_t denominator)
{
  assert (denominator > 0 && numerator <= denominator);

  for (uint32_t i = monitor->length - 1; i < N_POSITIONS; i++) {
    uint64_t threshold = monitor->threshold[i];

    if (monitor->count[i] == 0)
      return false;             /* nor does any position above */
    if (numerator != denominator)
      threshold = threshold / denominator * numerator;
    /* [nanoManipulator 3.2] "exceeds its threshold" */
    if (monitor->count[i] > threshold)
      return true;
  }
  return false;
}

void
fmx_queue_monitor_on_drop (FmxQueueMonitor *monitor)
{
  switch (monitor->after_drop) {
    case FMX_QUEUE_MONITOR_KEPT:
      break;
    case FMX_QUEUE_MONITOR_RESET:
      fmx_queue_monitor_clear (monitor);
      break;
    case FMX_QUEUE_MONITOR_SHIFT:
      memmove (monitor->count, monitor->count + 1,
          (N_POSITIONS - 1) * sizeof monitor->count[0]);
      monitor->count[N_POSITIONS - 1] = 0;
      break;
  }
}

uint64_t
fmx_queue_monitor_count (const FmxQueueMonitor *monitor, uint32_t position)
{
  assert (position >= 1 && position <= N_POSITIONS);
  return monitor->count[position - 1];
}

uint64_t
fmx_queue_monitor_threshold (const FmxQueueMonitor *monitor, uint32_t position)
{
  assert (position >= 1 && position <= N_POSITIONS);
  return monitor->threshold[position - 1];
}
