/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which of twelve clients are behind the same link: who is grouped with whom.
 *
 *   groups [--held-out] [--seeds N] [--letter] [--quick]
 *
 * One mixer sends to twelve clients, over links that they share or do not, in
 * virtual time, by the library's rate sender.  A table for docs/algorithms/topology.md,
 * of the second half of three minutes.  --letter: [RFC8382] alone.  --quick: two kinds
 * of networks, as a test: fails if anybody is in a wrong group, or missing in one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fairmix/topology/fmx-shared-bottleneck.h"
#include "sim/fmx-sim-bundle.h"
#include "sim/fmx-sim-tcp.h"

#define CLIENTS 12u
#define TCP_FLOW 100u
#define END (180 * FMX_SECOND)
#define STEADY (90 * FMX_SECOND)

/* A kind of network: @n_links of @rate_bps, to each so many clients */
typedef struct
{
  const char *name;
  unsigned n_links;
  double rate_bps;
  unsigned n_tcps;              /* on each link */
  FmxDuration jitter;
  uint64_t transfer_bytes;      /* of the TCPs, with pauses; 0: for ever */
  bool quick;
} Net;

static const Net nets[] = {
  {"three links, alone", 3, 300000, 0, 2 * FMX_MSECOND, 0, true},
  {"three links, much jitter", 3, 300000, 0, 10 * FMX_MSECOND, 0, false},
  {"three links, a TCP on each", 3, 1000000, 1, 2 * FMX_MSECOND, 0, false},
  {"three links, transfers", 3, 600000, 1, 2 * FMX_MSECOND, 300000, false},
  {"six links, alone", 6, 150000, 0, 2 * FMX_MSECOND, 0, false},
  {"a link for each, alone", 12, 75000, 0, 2 * FMX_MSECOND, 0, false},
  {"a link for each, transfers", 12, 300000, 1, 2 * FMX_MSECOND, 300000, true},
  {"a link for each, a TCP for ever", 12, 300000, 1, 2 * FMX_MSECOND, 0, false},
  {"room for all", 3, 20000000, 0, 2 * FMX_MSECOND, 0, false},
};

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

static unsigned
road_of (const Net *net, unsigned client)
{
  return client % net->n_links;
}

static void
begin (const Net *net, uint64_t seed)
{
  FmxRng rng;

  fmx_rng_init (&rng, seed);
  for (unsigned i = 0; i < net->n_links; i++) {
    FmxSimLinkParams params = {.rate_bps = net->rate_bps };
    FmxSimTcpParams tcp = {.kind = FMX_SIM_CUBIC };
    FmxSimLinkNature nature = {.jitter = net->jitter };

    params.queue_bytes = (uint32_t) (net->rate_bps / 8 * 0.25);
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
      .wire_bytes = 150,.packet_interval = 5 * FMX_MSECOND
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

static FmxTime
next_event (const Net *net)
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

static void
run_events (const Net *net, FmxTime now)
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

typedef struct
{
  uint64_t looks, wrong, found, due;
  unsigned wrong_runs;
  double r_same, r_other;
  uint64_t n_same, n_other;
} Outcome;

static void
look (const Net *net, const FmxSharedBottleneck *sb, Outcome *out, bool *wrong)
{
  bool wrong_lasting = false;

  for (unsigned b = 1; b < CLIENTS; b++)
    for (unsigned a = 0; a < b; a++) {
      bool same = road_of (net, a) == road_of (net, b);
      double r = fmx_shared_bottleneck_correlation (sb, a, b);
      uint32_t g = fmx_shared_bottleneck_group (sb, a);
      bool together = g != FMX_NO_GROUP
          && g == fmx_shared_bottleneck_group (sb, b);

      wrong_lasting |= together && !same;
      out->due += same;
      out->found += same && together;
      if (same) {
        out->r_same += r;
        out->n_same++;
      } else {
        out->r_other += r;
        out->n_other++;
      }
    }
  out->looks++;
  out->wrong += wrong_lasting;
  *wrong |= wrong_lasting;
}

static void
run (const Net *net, uint64_t seed, bool letter, Outcome *out)
{
  FmxSharedBottleneck sb;
  FmxSharedBottleneckParams params;
  FmxDelayShapeParams shape;
  FmxTime now = 0, look_at;
  bool wrong = false;

  fmx_delay_shape_params_default (&shape);
  fmx_shared_bottleneck_params_default (&params);
  if (letter)
    params.least_correlation = -1.0;
  params.by_shape = letter;
  fmx_shared_bottleneck_init (&sb, &params, flows, pairs, CLIENTS);
  begin (net, seed);
  look_at = (FmxTime) shape.interval;
  while (now < (FmxTime) END) {
    FmxTime next = fmx_time_min (next_event (net), look_at);

    now = next > now ? next : now;
    run_events (net, now);
    if (now < look_at)
      continue;
    look_at += (FmxTime) shape.interval;
    for (unsigned i = 0; i < CLIENTS; i++) {
      FmxDelayShapeStats stats;

      fmx_rate_sender_get_delay_shape (&bundles[i].sender, &stats);
      fmx_shared_bottleneck_set (&sb, i, &stats);
    }
    fmx_shared_bottleneck_update (&sb);
    if (now >= (FmxTime) STEADY)
      look (net, &sb, out, &wrong);
  }
  out->wrong_runs += wrong;
}

static double
percent (uint64_t n, uint64_t all)
{
  return all > 0 ? 100.0 * (double) n / (double) all : 0.0;
}

int
main (int argc, char **argv)
{
  bool letter = false, held_out = false, quick = false, good = true;
  unsigned n_seeds = 4;

  for (int i = 1; i < argc; i++) {
    letter |= strcmp (argv[i], "--letter") == 0;
    held_out |= strcmp (argv[i], "--held-out") == 0;
    quick |= strcmp (argv[i], "--quick") == 0;
    if (strcmp (argv[i], "--seeds") == 0 && i + 1 < argc)
      n_seeds = (unsigned) atoi (argv[++i]);
  }
  if (!quick)
    printf ("| network | runs with a wrong group | of the time | pairs found | "
        "mean correlation, same link | others |\n|---|--:|--:|--:|--:|--:|\n");
  for (unsigned k = 0; k < sizeof nets / sizeof nets[0]; k++) {
    Outcome out = { 0 };

    if (quick && !nets[k].quick)
      continue;
    for (unsigned s = 0; s < n_seeds; s++)
      run (&nets[k], 2 * s + 1 + held_out, letter, &out);
    good &= out.wrong_runs == 0 && out.found >= out.due - out.due / 20;
    printf ("| %s | %u of %u | %.1f %% | %.1f %% | %.2f | %.2f |\n",
        nets[k].name, out.wrong_runs, n_seeds, percent (out.wrong, out.looks),
        percent (out.found, out.due),
        out.n_same > 0 ? out.r_same / (double) out.n_same : 0.0,
        out.n_other > 0 ? out.r_other / (double) out.n_other : 0.0);
    fflush (stdout);
  }
  return quick && !good;
}
