/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_CLASS_QUEUE_H
#define FMX_CLASS_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/base/fmx-time.h"
#include "fairmix/queue/fmx-queue-average.h"
#include "fairmix/queue/fmx-red.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxDiscipline:
 * @FMX_DISCIPLINE_FIFO: packets are dropped when the queue is full
 * @FMX_DISCIPLINE_RED: RED for all packets alike
 * @FMX_DISCIPLINE_CBT: class-based thresholds: each class has a rule of its own
 */
typedef enum
{
  FMX_DISCIPLINE_FIFO,
  FMX_DISCIPLINE_RED,
  FMX_DISCIPLINE_CBT
} FmxDiscipline;

/** FMX_N_DISCIPLINES, fmx_discipline_names: their names, e.g. "cbt" */
#define FMX_N_DISCIPLINES 3u
extern const char *const fmx_discipline_names[FMX_N_DISCIPLINES];

/**
 * FmxClassRule:
 * @FMX_CLASS_RED: RED, on the average of the class's own packets: for those
 *     who answer to loss
 * @FMX_CLASS_THRESHOLD: dropped while the class's average is above its
 *     threshold: for those who do not
 */
typedef enum
{
  FMX_CLASS_RED,
  FMX_CLASS_THRESHOLD
} FmxClassRule;

/**
 * FmxClassParams:
 * @rule: what happens to its packets with %FMX_DISCIPLINE_CBT
 * @average: of its own packets
 * @red: for %FMX_CLASS_RED
 * @threshold_packets: for %FMX_CLASS_THRESHOLD, >= 0: how many of its packets
 *     may wait on average; of the link it gets at most that share which these
 *     have of all that wait
 */
typedef struct
{
  FmxClassRule rule;
  FmxQueueAverageParams average;
  FmxRedParams red;
  double threshold_packets;
} FmxClassParams;

/**
 * FmxClassQueueParams:
 * @discipline: which packets are dropped
 * @limit_packets: no more wait, whatever they are; 0 = unlimited
 * @limit_bytes: nor more bytes (but one packet always may); 0 = unlimited
 * @average: of all packets
 * @red: for %FMX_DISCIPLINE_RED
 */
typedef struct
{
  FmxDiscipline discipline;
  uint32_t limit_packets;
  uint64_t limit_bytes;
  FmxQueueAverageParams average;
  FmxRedParams red;
} FmxClassQueueParams;

/**
 * FmxClassStats:
 * @n_arrived, @arrived_bytes: all that came
 * @n_departed, @departed_bytes: what was sent on
 * @n_marked: of those taken
 * @n_dropped_full: the queue was full
 * @n_dropped_early: by RED
 * @n_dropped_threshold: the class's average was above its threshold
 * @n_cleared: taken, and thrown away by fmx_class_queue_clear()
 */
typedef struct
{
  uint64_t n_arrived, arrived_bytes;
  uint64_t n_departed, departed_bytes;
  uint64_t n_marked;
  uint64_t n_dropped_full, n_dropped_early, n_dropped_threshold;
  uint64_t n_cleared;
} FmxClassStats;

/**
 * FmxQueueClass:
 *
 * The packets that are counted together.  It lives where the caller wants it,
 * for as long as one of its packets waits.
 */
typedef struct
{
  /*< private >*/
  FmxClassParams params;
  FmxQueueAverage average;
  FmxRed red;
  uint32_t n_packets;
  uint64_t bytes;
  FmxClassStats stats;
} FmxQueueClass;

/**
 * FmxClassQueue:
 *
 * Says which packets join a queue that all classes share and leave in the
 * order in which they came.  It counts; the packets are kept by the caller.
 *
 * Source: Jeffay, Hudson, Parris, "Beyond Audio and Video: Multimedia
 * Networking Support for Distributed, Immersive Virtual Environments", 2002,
 * section 4.2.
 */
typedef struct
{
  /*< private >*/
  FmxClassQueueParams params;
  FmxQueueAverage average;
  FmxRed red;
  uint32_t n_packets;
  uint64_t bytes;
} FmxClassQueue;

/**
 * FmxQueuePacket:
 * @bytes: its size
 * @can_mark: its transport understands a mark (ECT)
 */
typedef struct
{
  uint32_t bytes;
  bool can_mark;
} FmxQueuePacket;

/** fmx_class_queue_params_default: class-based thresholds, 120 packets */
void fmx_class_queue_params_default (FmxClassQueueParams * params);

/** fmx_class_params_default: RED for TCP, or a threshold of 2 packets */
void fmx_class_params_default (FmxClassParams * params, FmxClassRule rule);

/** fmx_queue_class_init: nothing of it waits */
void fmx_queue_class_init (FmxQueueClass * klass, const FmxClassParams *
    params);

/** fmx_queue_class_set_params: from the next packet on */
void fmx_queue_class_set_params (FmxQueueClass * klass,
    const FmxClassParams * params);

void fmx_queue_class_get_stats (const FmxQueueClass * klass,
    FmxClassStats * stats);

/** Returns: packets of the class that wait, on average */
double fmx_queue_class_get_average (const FmxQueueClass * klass);

/** Returns: packets of the class that wait now */
uint32_t fmx_queue_class_get_length (const FmxQueueClass * klass);

/** fmx_class_queue_init: nothing waits */
void fmx_class_queue_init (FmxClassQueue * queue,
    const FmxClassQueueParams * params);

/** fmx_class_queue_set_params: from the next packet on; what waits stays */
void fmx_class_queue_set_params (FmxClassQueue * queue,
    const FmxClassQueueParams * params);

/**
 * fmx_class_queue_on_arrival:
 * @klass: the packet's class, of this queue
 * @rng: used by RED
 *
 * Unless the verdict is %FMX_QUEUE_DROP the caller puts the packet at the end
 * of its queue.
 */
FmxQueueVerdict fmx_class_queue_on_arrival (FmxClassQueue * queue,
    FmxQueueClass * klass, const FmxQueuePacket * packet, FmxRng * rng,
    FmxTime now);

/** fmx_class_queue_on_departure: the packet at the head is being sent */
void fmx_class_queue_on_departure (FmxClassQueue * queue,
    FmxQueueClass * klass, const FmxQueuePacket * packet, FmxTime now);

/** fmx_class_queue_clear: all packets of @klass are thrown away */
void fmx_class_queue_clear (FmxClassQueue * queue, FmxQueueClass * klass,
    FmxTime now);

/** Returns: packets of all classes that wait now */
uint32_t fmx_class_queue_get_length (const FmxClassQueue * queue);

/** Returns: their bytes */
uint64_t fmx_class_queue_get_bytes (const FmxClassQueue * queue);

/** Returns: packets of all classes that wait, on average */
double fmx_class_queue_get_average (const FmxClassQueue * queue);

#ifdef __cplusplus
}
#endif

#endif /* FMX_CLASS_QUEUE_H */
