/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/fmx-sim-aqm.h"

#include <math.h>
#include <string.h>

#define MASK (FMX_SIM_AQM_PACKETS - 1u)
#define MTU 1514
#define CODEL_TARGET (5 * FMX_MSECOND)
#define CODEL_INTERVAL (100 * FMX_MSECOND)
#define PIE_TARGET_S 0.015
#define PIE_UPDATE (15 * FMX_MSECOND)
#define PIE_BURST (150 * FMX_MSECOND)
#define PIE_ALPHA 0.125
#define PIE_BETA 1.25
#define DUALPI2_TARGET_S 0.015
#define DUALPI2_UPDATE (16 * FMX_MSECOND)
#define DUALPI2_ALPHA 0.16      /* Hz, for each update: 0.1 update / (100 ms)^2 */
#define DUALPI2_BETA 3.2        /* Hz; Linux' sch_dualpi2 has both */
#define DUALPI2_COUPLING 2.0
#define DUALPI2_STEP_S 0.001
#define DUALPI2_CLASSIC 10u     /* each tenth packet, while L4S waits too */
#define RED_WEIGHT 0.002
#define RED_MAX_P 0.1

void
fmx_sim_aqm_init (FmxSimAqm *aqm, FmxSimDiscipline discipline,
    uint32_t limit_bytes, bool ecn, double rate_bps, uint64_t seed)
{
  memset (aqm, 0, sizeof *aqm);
  aqm->discipline = discipline;
  aqm->limit_bytes = limit_bytes;
  aqm->ecn = ecn;
  aqm->rate_bps = rate_bps;
  aqm->burst = PIE_BURST;
  aqm->red_weight = RED_WEIGHT;
  aqm->red_max_p = RED_MAX_P;
  fmx_rng_init (&aqm->rng, seed);
}

/* Returns: whether the packet was spared, with a mark */
static bool
mark (FmxSimAqm *aqm, FmxSimPacket *packet)
{
  if (!aqm->ecn || !packet->ect)
    return false;
  packet->ce = true;
  aqm->n_marked++;
  return true;
}

/* The average of an empty queue falls as if small packets had come. */
static bool
red_drops (FmxSimAqm *aqm, FmxTime now)
{
  double least = aqm->limit_bytes / 6.0, most = aqm->limit_bytes / 2.0, p;

  if (aqm->bytes == 0) {
    double packets = fmx_time_to_s (fmx_time_diff (now, aqm->empty_since))
        * aqm->rate_bps / (8.0 * 500.0);

    aqm->average_bytes *= pow (1.0 - aqm->red_weight, packets);
    aqm->empty_since = now;
  } else {
    aqm->average_bytes += aqm->red_weight
        * ((double) aqm->bytes - aqm->average_bytes);
  }
  if (aqm->average_bytes < least) {
    aqm->since_drop = 0;
    return false;
  }
  p = aqm->average_bytes < most
      ? aqm->red_max_p * (aqm->average_bytes - least) / (most - least)
      : aqm->red_max_p + (1.0 - aqm->red_max_p) * (aqm->average_bytes - most) / most;
  aqm->since_drop++;
  if (p * aqm->since_drop < 1.0)
    p = p / (1.0 - p * aqm->since_drop);
  else
    p = 1.0;
  if (fmx_rng_next_unit (&aqm->rng) >= p)
    return false;
  aqm->since_drop = 0;
  return true;
}

/* [RFC8033 4.2] with its table of steps */
static void
pie_update (FmxSimAqm *aqm, FmxTime now)
{
  double delay_s = (double) aqm->bytes * 8.0 / aqm->rate_bps, step;
  static const struct
  {
    double below, divisor;
  } steps[] = { {1e-6, 2048}, {1e-5, 512}, {1e-4, 128}, {1e-3, 32},
  {1e-2, 8}, {1e-1, 2}
  };

  step = PIE_ALPHA * (delay_s - PIE_TARGET_S)
      + PIE_BETA * (delay_s - aqm->old_delay_s);
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
    if (aqm->p < steps[i].below) {
      step /= steps[i].divisor;
      break;
    }
  if (aqm->p >= 0.1 && step > 0.02)
    step = 0.02;
  aqm->p = fmin (fmax (aqm->p + step, 0.0), 1.0);
  if (delay_s == 0.0 && aqm->old_delay_s == 0.0)
    aqm->p *= 0.98;
  if (aqm->burst > 0)
    aqm->burst -= PIE_UPDATE;
  if (aqm->p == 0.0 && delay_s < PIE_TARGET_S / 2.0
      && aqm->old_delay_s < PIE_TARGET_S / 2.0)
    aqm->burst = PIE_BURST;
  aqm->old_delay_s = delay_s;
  aqm->updated = now;
}

static bool
pie_drops (FmxSimAqm *aqm, FmxTime now)
{
  while (fmx_time_diff (now, aqm->updated) >= PIE_UPDATE) {
    FmxTime next = aqm->updated + (FmxTime) PIE_UPDATE;

    if (fmx_time_diff (now, next) > FMX_SECOND)
      next = now;               /* nothing came for long */
    pie_update (aqm, next);
  }
  if (aqm->burst > 0 || (aqm->old_delay_s < PIE_TARGET_S / 2.0
          && aqm->p < 0.2) || aqm->bytes <= 2 * MTU)
    return false;
  return fmx_rng_next_unit (&aqm->rng) < aqm->p;
}

static FmxSimAqmQueue *
queue_of (FmxSimAqm *aqm, const FmxSimPacket *packet)
{
  if (aqm->discipline == FMX_SIM_DUALPI2)
    return &aqm->queues[packet->l4s];
  if (aqm->discipline != FMX_SIM_FQ_CODEL)
    return &aqm->queues[0];
  return &aqm->queues[packet->flow % FMX_SIM_AQM_QUEUES];
}

static FmxSimPacket
take (FmxSimAqm *aqm, FmxSimAqmQueue *queue)
{
  FmxSimPacket packet = queue->packets[queue->head++ & MASK];

  queue->n--;
  queue->bytes -= packet.wire_bytes;
  aqm->bytes -= packet.wire_bytes;
  return packet;
}

/* [RFC8290 4.1.3] the longest queue loses its first packet */
static void
drop_from_longest (FmxSimAqm *aqm)
{
  FmxSimAqmQueue *longest = &aqm->queues[0];

  for (unsigned i = 1; i < FMX_SIM_AQM_QUEUES; i++)
    if (aqm->queues[i].bytes > longest->bytes)
      longest = &aqm->queues[i];
  (void) take (aqm, longest);
  aqm->n_dropped++;
}

bool
fmx_sim_aqm_enqueue (FmxSimAqm *aqm, FmxSimPacket packet, FmxTime now)
{
  FmxSimAqmQueue *queue = queue_of (aqm, &packet);
  bool early = (aqm->discipline == FMX_SIM_RED && red_drops (aqm, now))
      || (aqm->discipline == FMX_SIM_PIE && pie_drops (aqm, now));
  bool full = aqm->bytes + packet.wire_bytes > aqm->limit_bytes
      || queue->n == FMX_SIM_AQM_PACKETS;

  if (full && aqm->discipline == FMX_SIM_FQ_CODEL) {
    drop_from_longest (aqm);
    full = queue->n == FMX_SIM_AQM_PACKETS;
  }
  if (full || (early && !mark (aqm, &packet))) {
    aqm->n_dropped++;
    return false;
  }
  packet.sent = now;            /* into the queue */
  queue->packets[(queue->head + queue->n++) & MASK] = packet;
  queue->bytes += packet.wire_bytes;
  aqm->bytes += packet.wire_bytes;
  if (!queue->active) {
    queue->active = true;
    queue->deficit = MTU;
  }
  return true;
}

/* [RFC8289 5.4] */
static bool
codel_should_drop (FmxSimAqmQueue *queue, const FmxSimPacket *packet,
    FmxTime now)
{
  if (fmx_time_diff (now, packet->sent) < CODEL_TARGET || queue->bytes <= MTU) {
    queue->first_above = 0;
    return false;
  }
  if (queue->first_above == 0) {
    queue->first_above = now + (FmxTime) CODEL_INTERVAL;
    return false;
  }
  return now >= queue->first_above;
}

static FmxTime
control_law (FmxTime from, uint32_t count)
{
  return from + (FmxTime) ((double) CODEL_INTERVAL / sqrt ((double) count));
}

static bool
drop_or_mark (FmxSimAqm *aqm, FmxSimPacket *packet)
{
  if (mark (aqm, packet))
    return false;
  aqm->n_dropped++;
  return true;
}

static bool
codel_dequeue (FmxSimAqm *aqm, FmxSimAqmQueue *queue, FmxSimPacket *packet,
    FmxTime now)
{
  bool should;

  if (queue->n == 0) {
    queue->dropping = false;
    return false;
  }
  *packet = take (aqm, queue);
  should = codel_should_drop (queue, packet, now);
  if (queue->dropping && !should) {
    queue->dropping = false;
  } else if (queue->dropping) {
    while (queue->dropping && now >= queue->drop_next) {
      queue->count++;
      queue->drop_next = control_law (queue->drop_next, queue->count);
      if (!drop_or_mark (aqm, packet))
        return true;
      if (queue->n == 0) {
        queue->dropping = false;
        return false;
      }
      *packet = take (aqm, queue);
      if (!codel_should_drop (queue, packet, now))
        queue->dropping = false;
    }
  } else if (should) {
    uint32_t delta = queue->count - queue->last_count;
    bool dropped = drop_or_mark (aqm, packet);

    queue->dropping = true;
    queue->count = delta > 1 && fmx_time_diff (now, queue->drop_next)
        < 16 * CODEL_INTERVAL ? delta : 1;
    queue->drop_next = control_law (now, queue->count);
    queue->last_count = queue->count;
    if (dropped) {
      if (queue->n == 0)
        return false;
      *packet = take (aqm, queue);
    }
  }
  return true;
}

static bool
fq_dequeue (FmxSimAqm *aqm, FmxSimPacket *packet, FmxTime now)
{
  for (unsigned tries = 0; tries < 64 * FMX_SIM_AQM_QUEUES; tries++) {
    FmxSimAqmQueue *queue = &aqm->queues[aqm->turn];

    if (queue->active && queue->deficit > 0) {
      if (codel_dequeue (aqm, queue, packet, now)) {
        queue->deficit -= (int32_t) packet->wire_bytes;
        return true;
      }
      queue->active = false;
    } else if (queue->active) {
      queue->deficit += MTU;
    }
    aqm->turn = (aqm->turn + 1) % FMX_SIM_AQM_QUEUES;
    if (aqm->bytes == 0)
      return false;
  }
  return false;
}

static double
waited_s (const FmxSimAqmQueue *queue, FmxTime now)
{
  return queue->n == 0 ? 0.0 : fmx_time_to_s (fmx_time_diff (now,
          queue->packets[queue->head & MASK].sent));
}

/* [RFC9332 A.1] */
static void
dualpi2_update (FmxSimAqm *aqm, FmxTime now)
{
  while (fmx_time_diff (now, aqm->updated) >= DUALPI2_UPDATE) {
    double delay_s = fmax (waited_s (&aqm->queues[0], now),
        waited_s (&aqm->queues[1], now));

    aqm->p += DUALPI2_ALPHA * (delay_s - DUALPI2_TARGET_S)
        + DUALPI2_BETA * (delay_s - aqm->old_delay_s);
    aqm->p = fmin (fmax (aqm->p, 0.0), 1.0);
    aqm->old_delay_s = delay_s;
    aqm->updated += (FmxTime) DUALPI2_UPDATE;
  }
}

static bool
dualpi2_dequeue (FmxSimAqm *aqm, FmxSimPacket *packet, FmxTime now)
{
  const double step_s = fmax (DUALPI2_STEP_S, 2.0 * MTU * 8.0 / aqm->rate_bps);

  dualpi2_update (aqm, now);
  while (aqm->bytes > 0) {
    bool l4s = aqm->queues[1].n > 0 && (aqm->queues[0].n == 0
        || aqm->turn++ % DUALPI2_CLASSIC != 0);
    FmxSimAqmQueue *queue = &aqm->queues[l4s];
    bool late = waited_s (queue, now) > step_s;
    double p = l4s ? DUALPI2_COUPLING * aqm->p : aqm->p * aqm->p;

    *packet = take (aqm, queue);
    if (!(l4s && late) && fmx_rng_next_unit (&aqm->rng) >= p)
      return true;
    if (mark (aqm, packet))
      return true;
    aqm->n_dropped++;
  }
  return false;
}

bool
fmx_sim_aqm_dequeue (FmxSimAqm *aqm, FmxSimPacket *packet, FmxTime now)
{
  FmxSimAqmQueue *queue = &aqm->queues[0];

  if (aqm->discipline == FMX_SIM_FQ_CODEL)
    return fq_dequeue (aqm, packet, now);
  if (aqm->discipline == FMX_SIM_CODEL)
    return codel_dequeue (aqm, queue, packet, now);
  if (aqm->discipline == FMX_SIM_DUALPI2)
    return dualpi2_dequeue (aqm, packet, now);
  if (queue->n == 0)
    return false;
  *packet = take (aqm, queue);
  if (aqm->bytes == 0)
    aqm->empty_since = now;
  return true;
}
