/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_SIM_LINK_H
#define FMX_SIM_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/base/fmx-time.h"
#include "sim/fmx-sim-aqm.h"

/* A path in virtual time: random loss, then a bottleneck with a drop-tail queue
 * or active queue management, then a delay that may wander.  The packets of a
 * flow come out in the order they went in. */

#define FMX_SIM_LINK_PACKETS 32768u

/**
 * FmxSimLinkParams:
 * @rate_bps: of the bottleneck; 0 = unlimited
 * @queue_bytes: what may wait there; 0 = unlimited
 * @queue_packets: how many may wait there; 0 = unlimited
 * @delay: one way, behind the bottleneck
 * @loss: probability that a packet is lost before it, in [0, 1]
 */
typedef struct
{
  double rate_bps;
  uint32_t queue_bytes;
  uint32_t queue_packets;
  FmxDuration delay;
  double loss;
} FmxSimLinkParams;

/**
 * FmxSimLinkNature:
 * @jitter: up to so much more delay, evenly random for each packet
 * @stall: now and then nothing arrives for up to so long, then all at once, as on
 *     a busy radio channel
 * @stall_interval: mean time between two such stalls; 0 = never
 * @discipline: other than %FMX_SIM_FIFO: with @queue_bytes
 * @ecn: of @discipline
 * @burst_bytes: what a link that was not used passes at once, with a drop-tail queue:
 *     the depth of a shaper's token bucket
 */
typedef struct
{
  FmxDuration jitter;
  FmxDuration stall;
  FmxDuration stall_interval;
  FmxSimDiscipline discipline;
  bool ecn;
  uint32_t burst_bytes;
} FmxSimLinkNature;

typedef struct
{
  FmxSimLinkParams params;
  FmxSimLinkNature nature;
  FmxRng rng;
  FmxTime free_at;              /* the bottleneck has sent all by then, or its bucket is
                                 * full again */
  uint64_t in, out;             /* packets so far; in - out are on their way */
  uint64_t left;                /* those before have left the queue */
  uint64_t waiting_bytes;       /* of all others; one that is being sent is whole */
  uint64_t n_lost, n_dropped;   /* at random, by the queue */
  FmxTime stalled_until, next_stall;
  FmxSimAqm *aqm;               /* NULL = drop-tail */
  FmxTime departure[FMX_SIM_LINK_PACKETS];      /* from the queue */
  FmxTime arrival[FMX_SIM_LINK_PACKETS];
  FmxSimPacket packets[FMX_SIM_LINK_PACKETS];
} FmxSimLink;

void fmx_sim_link_init (FmxSimLink * link, const FmxSimLinkParams * params,
    uint64_t seed);

/** fmx_sim_link_set_nature: after fmx_sim_link_init(); @aqm is the caller's, and
 * needed if the discipline is not %FMX_SIM_FIFO */
void fmx_sim_link_set_nature (FmxSimLink * link,
    const FmxSimLinkNature * nature, FmxSimAqm * aqm, uint64_t seed);

/** fmx_sim_link_set_rate: the bottleneck becomes faster or slower */
void fmx_sim_link_set_rate (FmxSimLink * link, double rate_bps);

/** Returns: false if the packet is lost */
bool fmx_sim_link_send (FmxSimLink * link, FmxSimPacket packet, FmxTime now);

/** Returns: whether a packet has arrived by @now */
bool fmx_sim_link_receive (FmxSimLink * link, FmxSimPacket * packet,
    FmxTime now);

/** Returns: when the next packet arrives, or leaves the queue, or FMX_TIME_NONE */
FmxTime fmx_sim_link_next (const FmxSimLink * link);

/** Returns: how long a packet that comes now has to wait */
FmxDuration fmx_sim_link_queue_delay (const FmxSimLink * link, FmxTime now);

#endif /* FMX_SIM_LINK_H */
