/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_QUEUE_MONITOR_H
#define FMX_QUEUE_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_QUEUE_MONITOR_POSITIONS: positions above it count as it. */
#define FMX_QUEUE_MONITOR_POSITIONS 64u

/**
 * FmxQueueMonitorAfterDrop:
 * @FMX_QUEUE_MONITOR_SHIFT: count[k] = count[k + 1]: the history as it would
 *     have been in a queue one shorter
 * @FMX_QUEUE_MONITOR_KEPT: the counts stay (the paper, read literally)
 * @FMX_QUEUE_MONITOR_RESET: all counts start again
 */
typedef enum
{
  FMX_QUEUE_MONITOR_SHIFT,
  FMX_QUEUE_MONITOR_KEPT,
  FMX_QUEUE_MONITOR_RESET
} FmxQueueMonitorAfterDrop;

/**
 * FmxQueueMonitorParams:
 * @threshold: base threshold T, in the unit of the weights that
 *     fmx_queue_monitor_on_arrival() is given; > 0
 * @length: the queue position L that it belongs to; in [1, 64]
 * @decay: D: position k >= L has the threshold T / D^(k - L); >= 1
 * @after_drop: what becomes of the counts
 */
typedef struct
{
  uint64_t threshold;
  uint32_t length;
  double decay;
  FmxQueueMonitorAfterDrop after_drop;
} FmxQueueMonitorParams;

/**
 * FmxQueueMonitor:
 *
 * Tells when a queue is longer than its jitter asks for.  Position k has a
 * count, for how long the queue has held at least k elements without a break,
 * and a threshold; a count above its threshold says that the jitter is less
 * than k packet times, and so that one packet may go.
 *
 * Source: Jeffay, Hudson, Parris, "Beyond Audio and Video", 2002, section 3.2;
 * Stone, Jeffay, "An Empirical Study of Delay Jitter Management Policies",
 * 1995.
 */
typedef struct
{
  /*< private >*/
  FmxQueueMonitorAfterDrop after_drop;
  uint32_t length;
  uint64_t count[FMX_QUEUE_MONITOR_POSITIONS];  /* of position k at [k - 1] */
  uint64_t threshold[FMX_QUEUE_MONITOR_POSITIONS];
} FmxQueueMonitor;

void fmx_queue_monitor_init (FmxQueueMonitor * monitor,
    const FmxQueueMonitorParams * params);

/** fmx_queue_monitor_clear: all counts start again */
void fmx_queue_monitor_clear (FmxQueueMonitor * monitor);

/**
 * fmx_queue_monitor_on_arrival:
 * @n_queued: how many elements the queue holds as the packet arrives, without
 *     it: the lowest that the queue has been since the last arrival
 * @weight: how much time passed since then: 1 in packet times
 *
 * Raises the counts of the positions that are taken, and ends those of the
 * positions that are not.
 */
void fmx_queue_monitor_on_arrival (FmxQueueMonitor * monitor,
    uint32_t n_queued, uint64_t weight);

/**
 * fmx_queue_monitor_exceeds:
 * @numerator: with @denominator: a fraction of each threshold, 1 / 1 for all
 *     of it
 *
 * Returns: whether some count exceeds that fraction of its threshold, so that
 *     the packet that just arrived should be dropped
 */
bool fmx_queue_monitor_exceeds (const FmxQueueMonitor * monitor,
    uint32_t numerator, uint32_t denominator);

/** fmx_queue_monitor_on_drop: the queue was made one shorter */
void fmx_queue_monitor_on_drop (FmxQueueMonitor * monitor);

/** Returns: the count of @position, which is in [1, 64] */
uint64_t fmx_queue_monitor_count (const FmxQueueMonitor * monitor,
    uint32_t position);

/** Returns: the threshold of @position in [1, 64]; UINT64_MAX below L */
uint64_t fmx_queue_monitor_threshold (const FmxQueueMonitor * monitor,
    uint32_t position);

#ifdef __cplusplus
}
#endif

#endif /* FMX_QUEUE_MONITOR_H */
