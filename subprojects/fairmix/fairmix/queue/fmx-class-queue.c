/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/queue/fmx-class-queue.h"

#include <assert.h>
#include <string.h>

const char *const fmx_discipline_names[FMX_N_DISCIPLINES] = {
  [FMX_DISCIPLINE_FIFO] = "fifo",
  [FMX_DISCIPLINE_RED] = "red",
  [FMX_DISCIPLINE_CBT] = "cbt",
};

/* [Floyd97] "Discussions of setting parameters": min 5, max three times that,
 * max_p 1/10, w 0.002 */
static void
red_params_default (FmxRedParams *red)
{
  red->min_packets = 5.0;
  red->max_packets = 15.0;
  red->max_p = 0.1;
  red->gentle = true;
  red->ecn = true;
}

void
fmx_class_queue_params_default (FmxClassQueueParams *params)
{
  memset (params, 0, sizeof *params);
  params->discipline = FMX_DISCIPLINE_CBT;
  params->limit_packets = 120;
  params->average.weight = 0.002;
  red_params_default (&params->red);
}

void
fmx_class_params_default (FmxClassParams *params, FmxClassRule rule)
{
  memset (params, 0, sizeof *params);
  params->rule = rule;
  params->average.weight = rule == FMX_CLASS_RED ? 0.002 : 0.0625;
  params->threshold_packets = 2.0;
  red_params_default (&params->red);
}

void
fmx_queue_class_init (FmxQueueClass *klass, const FmxClassParams *params)
{
  memset (klass, 0, sizeof *klass);
  fmx_queue_average_init (&klass->average);
  fmx_red_init (&klass->red);
  fmx_queue_class_set_params (klass, params);
}

void
fmx_queue_class_set_params (FmxQueueClass *klass, const FmxClassParams *params)
{
  assert (params->threshold_packets >= 0.0);
  klass->params = *params;
}

void
fmx_queue_class_get_stats (const FmxQueueClass *klass, FmxClassStats *stats)
{
  *stats = klass->stats;
}

double
fmx_queue_class_get_average (const FmxQueueClass *klass)
{
  return fmx_queue_average_get (&klass->average);
}

uint32_t
fmx_queue_class_get_length (const FmxQueueClass *klass)
{
  return klass->n_packets;
}

void
fmx_class_queue_init (FmxClassQueue *queue, const FmxClassQueueParams *params)
{
  memset (queue, 0, sizeof *queue);
  fmx_queue_average_init (&queue->average);
  fmx_red_init (&queue->red);
  fmx_class_queue_set_params (queue, params);
}

void
fmx_class_queue_set_params (FmxClassQueue *queue,
    const FmxClassQueueParams *params)
{
  assert ((unsigned) params->discipline < FMX_N_DISCIPLINES);
  queue->params = *params;
}

static bool
has_room (const FmxClassQueue *queue, uint32_t bytes)
{
  const FmxClassQueueParams *params = &queue->params;

  if (queue->n_packets == 0)
    return true;
  if (params->limit_packets > 0 && queue->n_packets >= params->limit_packets)
    return false;
  return params->limit_bytes == 0
      || queue->bytes + bytes <= params->limit_bytes;
}

/* What the discipline says, were there room */
static FmxQueueVerdict
judge (FmxClassQueue *queue, FmxQueueClass *klass, bool can_mark, FmxRng *rng)
{
  FmxQueueVerdict verdict;

  if (queue->params.discipline == FMX_DISCIPLINE_FIFO)
    return FMX_QUEUE_TAKE;
  if (queue->params.discipline == FMX_DISCIPLINE_CBT
      && klass->params.rule == FMX_CLASS_THRESHOLD) {
    /* [nanoManipulator 4.2] "If the class average exceeds the threshold, the
     * incoming packet is dropped" */
    if (fmx_queue_average_get (&klass->average)
        <= klass->params.threshold_packets)
      return FMX_QUEUE_TAKE;
    klass->stats.n_dropped_threshold++;
    return FMX_QUEUE_DROP;
  }
  if (queue->params.discipline == FMX_DISCIPLINE_CBT)
    verdict = fmx_red_on_arrival (&klass->red, &klass->params.red,
        fmx_queue_average_get (&klass->average), can_mark, rng);
  else
    verdict = fmx_red_on_arrival (&queue->red, &queue->params.red,
        fmx_queue_average_get (&queue->average), can_mark, rng);
  if (verdict == FMX_QUEUE_DROP)
    klass->stats.n_dropped_early++;
  return verdict;
}

FmxQueueVerdict
fmx_class_queue_on_arrival (FmxClassQueue *queue, FmxQueueClass *klass,
    const FmxQueuePacket *packet, FmxRng *rng, FmxTime now)
{
  FmxQueueVerdict verdict;

  /* [nanoManipulator 4.2] "the weighted average for the appropriate class is
   * updated", whatever the discipline, so that it may be changed */
  fmx_queue_average_on_arrival (&klass->average, &klass->params.average,
      klass->n_packets, now);
  fmx_queue_average_on_arrival (&queue->average, &queue->params.average,
      queue->n_packets, now);
  klass->stats.n_arrived++;
  klass->stats.arrived_bytes += packet->bytes;

  verdict = judge (queue, klass, packet->can_mark, rng);
  if (verdict == FMX_QUEUE_DROP)
    return verdict;
  if (!has_room (queue, packet->bytes)) {
    klass->stats.n_dropped_full++;
    return FMX_QUEUE_DROP;
  }
  if (verdict == FMX_QUEUE_MARK)
    klass->stats.n_marked++;
  klass->n_packets++;
  klass->bytes += packet->bytes;
  queue->n_packets++;
  queue->bytes += packet->bytes;
  return verdict;
}

static void
forget (FmxClassQueue *queue, FmxQueueClass *klass, uint32_t n_packets,
    uint64_t bytes, FmxTime now)
{
  assert (n_packets <= klass->n_packets && bytes <= klass->bytes);
  assert (n_packets <= queue->n_packets && bytes <= queue->bytes);

  klass->n_packets -= n_packets;
  klass->bytes -= bytes;
  queue->n_packets -= n_packets;
  queue->bytes -= bytes;
  if (klass->n_packets == 0)
    fmx_queue_average_on_empty (&klass->average, now);
  if (queue->n_packets == 0)
    fmx_queue_average_on_empty (&queue->average, now);
}

void
fmx_class_queue_on_departure (FmxClassQueue *queue, FmxQueueClass *klass,
    const FmxQueuePacket *packet, FmxTime now)
{
  forget (queue, klass, 1, packet->bytes, now);
  klass->stats.n_departed++;
  klass->stats.departed_bytes += packet->bytes;
}

void
fmx_class_queue_clear (FmxClassQueue *queue, FmxQueueClass *klass, FmxTime now)
{
  klass->stats.n_cleared += klass->n_packets;
  forget (queue, klass, klass->n_packets, klass->bytes, now);
}

uint32_t
fmx_class_queue_get_length (const FmxClassQueue *queue)
{
  return queue->n_packets;
}

uint64_t
fmx_class_queue_get_bytes (const FmxClassQueue *queue)
{
  return queue->bytes;
}

double
fmx_class_queue_get_average (const FmxClassQueue *queue)
{
  return fmx_queue_average_get (&queue->average);
}
