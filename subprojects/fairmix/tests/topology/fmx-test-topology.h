/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_TEST_TOPOLOGY_H
#define FMX_TEST_TOPOLOGY_H

#include <stdbool.h>

#include "fairmix/topology/fmx-shared-bottleneck.h"
#include "sim/fmx-sim-bundle.h"
#include "sim/fmx-sim-tcp.h"

/* One mixer that sends to twelve clients, over links that they share or do not, in
 * virtual time, by the library's rate sender. */

#define CLIENTS 12u
#define TCP_FLOW 100u

/* A kind of network: @n_links of @rate_bps, give or take the share @spread, to each so many
 * clients */
typedef struct
{
  const char *name;
  unsigned n_links;
  double rate_bps;
  unsigned n_tcps;              /* on each link */
  FmxDuration jitter;
  uint64_t transfer_bytes;      /* of the TCPs, with pauses; 0: for ever */
  bool quick;                   /* one for the test */
  double spread;
} Net;

typedef struct
{
  FmxSimLink link;
  FmxSimTcp tcp;
  unsigned n_tcps;
} Road;

static Road roads[CLIENTS];
static FmxSimBundle bundles[CLIENTS];
static FmxSharedFlow flows[CLIENTS];
static FmxSharedPair pairs[FMX_SHARED_BOTTLENECK_PAIRS (CLIENTS)];

static inline unsigned
road_of (const Net * net, unsigned client)
{
  return client % net->n_links;
}

/* @interval: the least between two packets to a client */
static inline void
begin (const Net * net, uint64_t seed, FmxDuration interval)
{
  FmxRng rng;

  fmx_rng_init (&rng, seed);
  for (unsigned i = 0; i < net->n_links; i++) {
    FmxSimLinkParams params = {.rate_bps = net->rate_bps };
    FmxSimTcpParams tcp = {.kind = FMX_SIM_CUBIC };
    FmxSimLinkNature nature = {.jitter = net->jitter };

    if (net->spread > 0.0)
      params.rate_bps *=
          1.0 + net->spread * (2.0 * fmx_rng_next_unit (&rng) - 1.0);
    params.queue_bytes = (uint32_t) (params.rate_bps / 8 * 0.25);
    params.delay =
        10 * FMX_MSECOND + (FmxDuration) (fmx_rng_next_unit (&rng) * 30e6);
    fmx_sim_link_init (&roads[i].link, &params, seed * 100 + i);
    fmx_sim_link_set_nature (&roads[i].link, &nature, NULL, seed * 100 + i);
    tcp.back =
        10 * FMX_MSECOND + (FmxDuration) (fmx_rng_next_unit (&rng) * 30e6);
    tcp.transfer_bytes = net->transfer_bytes;
    tcp.pause = 3 * FMX_SECOND;
    tcp.start = (1 + fmx_rng_next (&rng) % 5) * (FmxTime) FMX_SECOND;
    roads[i].n_tcps = net->n_tcps;
    fmx_sim_tcp_init (&roads[i].tcp, &tcp, &roads[i].link, TCP_FLOW,
        seed * 100 + i);
  }
  for (unsigned i = 0; i < CLIENTS; i++) {
    FmxSimBundleParams params = {.behaviour = FMX_SIM_PACED,.n_streams = 1,
      .wire_bytes = 150,.packet_interval = interval
    };

    fmx_rate_sender_params_default (&params.sender);
    params.sender.klass = fmx_rate_class_find ("shortq");
    params.sender.seed = seed + i;
    params.jitter = 3 * FMX_MSECOND;
    params.back.delay = (5 + fmx_rng_next (&rng) % 40) * FMX_MSECOND;
    params.start = fmx_rng_next (&rng) % 5000 * (FmxTime) FMX_MSECOND;
    fmx_sim_bundle_init (&bundles[i], &params, &roads[road_of (net,
                i)].link, i, seed * 1000 + i);
  }
}

static inline FmxTime
next_event (const Net * net)
{
  FmxTime next = FMX_TIME_NONE;

  for (unsigned i = 0; i < net->n_links; i++) {
    next = fmx_time_min (next, fmx_sim_link_next (&roads[i].link));
    if (roads[i].n_tcps > 0)
      next = fmx_time_min (next, fmx_sim_tcp_next (&roads[i].tcp));
  }
  for (unsigned i = 0; i < CLIENTS; i++)
    next = fmx_time_min (next, fmx_sim_bundle_next (&bundles[i]));
  return next;
}

static inline void
run_events (const Net * net, FmxTime now)
{
  FmxSimPacket packet;

  for (unsigned i = 0; i < net->n_links; i++) {
    while (fmx_sim_link_receive (&roads[i].link, &packet, now))
      if (packet.flow == TCP_FLOW)
        fmx_sim_tcp_on_arrival (&roads[i].tcp, &packet, now);
      else
        fmx_sim_bundle_on_arrival (&bundles[packet.flow], &packet, now);
    if (roads[i].n_tcps > 0 && fmx_sim_tcp_next (&roads[i].tcp) <= now)
      fmx_sim_tcp_run (&roads[i].tcp, now);
  }
  for (unsigned i = 0; i < CLIENTS; i++)
    if (fmx_sim_bundle_next (&bundles[i]) <= now)
      fmx_sim_bundle_run (&bundles[i], now);
}

/* Lets the network run from @now until @end; returns when that is over */
static inline FmxTime
run_until (const Net * net, FmxTime end, FmxTime now)
{
  while (now < end) {
    FmxTime next = fmx_time_min (next_event (net), end);

    now = next > now ? next : now;
    run_events (net, now);
  }
  return now;
}

/* What the mixer sees of each client after an interval */
static inline void
take_shapes (FmxSharedBottleneck * sb)
{
  for (unsigned i = 0; i < CLIENTS; i++) {
    FmxDelayShapeStats stats;

    fmx_rate_sender_get_delay_shape (&bundles[i].sender, &stats);
    fmx_shared_bottleneck_set (sb, i, &stats);
  }
  fmx_shared_bottleneck_update (sb);
}

#endif /* FMX_TEST_TOPOLOGY_H */
