/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_SIM_LINK_H
#define FMX_SIM_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/base/fmx-time.h"

/* A path in virtual time: random loss, then a bottleneck with a drop-tail
 * queue, then a constant delay.  Packets come out in the order they went in. */

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
 * FmxSimPacket:
 * @flow: whose it is
 * @wire_bytes: its size with all headers
 * @data: the flow's own
 * @sent: when it went in; set by fmx_sim_link_send()
 */
typedef struct
{
  uint32_t flow;
  uint32_t wire_bytes;
  uint64_t data;
  FmxTime sent;
} FmxSimPacket;

typedef struct
{
  FmxSimLinkParams params;
  FmxRng rng;
  FmxTime free_at;              /* the bottleneck has sent all by then */
  uint64_t in, out;             /* packets so far; in - out are on their way */
  uint64_t started;             /* those before have left the queue */
  uint64_t n_lost, n_dropped;   /* at random, by the queue */
  FmxTime departure[FMX_SIM_LINK_PACKETS];      /* from the queue */
  FmxTime arrival[FMX_SIM_LINK_PACKETS];
  FmxSimPacket packets[FMX_SIM_LINK_PACKETS];
} FmxSimLink;

void fmx_sim_link_init (FmxSimLink * link, const FmxSimLinkParams * params,
    uint64_t seed);

/** Returns: false if the packet is lost */
bool fmx_sim_link_send (FmxSimLink * link, FmxSimPacket packet, FmxTime now);

/** Returns: whether a packet has arrived by @now */
bool fmx_sim_link_receive (FmxSimLink * link, FmxSimPacket * packet,
    FmxTime now);

/** Returns: when the next packet arrives, or FMX_TIME_NONE */
FmxTime fmx_sim_link_next (const FmxSimLink * link);

/** Returns: how long a packet that comes now has to wait */
FmxDuration fmx_sim_link_queue_delay (const FmxSimLink * link, FmxTime now);

#endif /* FMX_SIM_LINK_H */
