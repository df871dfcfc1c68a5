/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* l4s
 *
 * What would become of shortq if its packets said ECT(1), as if it answered marks like
 * DCTCP: beside Reno behind DualPI2 [RFC9332], without ECN, with ECT(0) and with ECT(1).
 * Means of five seeds, 30 to 120 s. */
#include "sim/fmx-sim-bundle.h"
#include "sim/fmx-sim-tcp.h"

#include <stdio.h>
#include <string.h>

#define MS FMX_MSECOND
#define FROM (30 * (FmxTime) FMX_SECOND)
#define END (120 * (FmxTime) FMX_SECOND)
#define MAX_TCPS 4u
#define FIRST_TCP_FLOW 8u
#define N_SEEDS 5u

typedef struct
{
  const char *name;
  bool ecn, l4s;
} Way;

typedef struct
{
  double rate_bps;
  FmxDuration delay;
  unsigned n_tcps;
} Cell;

static struct
{
  FmxSimLink forward;
  FmxSimAqm aqm;
  FmxSimTcp tcps[MAX_TCPS];
  unsigned n_tcps;
  FmxSimBundle bundle;
  double waited_s;              /* of its packets, in all */
} world;

static void
begin (const Cell *cell, const Way *way, uint64_t seed)
{
  FmxSimLinkParams link = { .rate_bps = cell->rate_bps, .delay = cell->delay,
    .queue_bytes = (uint32_t) (cell->rate_bps / 8.0 * 0.25)
  };
  FmxSimLinkNature nature = { .discipline = FMX_SIM_DUALPI2, .ecn = true };
  FmxSimBundleParams bundle;

  memset (&bundle, 0, sizeof bundle);
  fmx_rate_sender_params_default (&bundle.sender);
  fmx_sim_link_init (&world.forward, &link, seed);
  fmx_sim_link_set_nature (&world.forward, &nature, &world.aqm, seed);
  world.n_tcps = cell->n_tcps;
  for (unsigned i = 0; i < world.n_tcps; i++) {
    FmxSimTcpParams params = { .kind = FMX_SIM_RENO, .back = cell->delay,
      .start = i * (FmxTime) FMX_SECOND, .ecn = true
    };

    fmx_sim_tcp_init (&world.tcps[i], &params, &world.forward,
        FIRST_TCP_FLOW + i, seed * 100 + i);
  }
  bundle.behaviour = FMX_SIM_PACED;
  bundle.n_streams = 1;
  bundle.wire_bytes = 200;
  bundle.packet_interval = MS / 10;
  bundle.jitter = 2 * MS;
  bundle.back.delay = cell->delay;
  bundle.start = 5 * (FmxTime) FMX_SECOND;
  bundle.sender.klass = &fmx_rate_shortq;
  bundle.ecn = way->ecn;
  bundle.l4s = way->l4s;
  fmx_sim_bundle_init (&world.bundle, &bundle, &world.forward, 1, seed);
  world.waited_s = 0.0;
}

static void
run_events (const Cell *cell, FmxTime now)
{
  FmxSimPacket packet;

  while (fmx_sim_link_receive (&world.forward, &packet, now)) {
    if (packet.flow >= FIRST_TCP_FLOW) {
      fmx_sim_tcp_on_arrival (&world.tcps[packet.flow - FIRST_TCP_FLOW],
          &packet, now);
      continue;
    }
    world.waited_s += fmx_time_to_s (fmx_time_diff (now, packet.sent)
        - cell->delay);
    fmx_sim_bundle_on_arrival (&world.bundle, &packet, now);
  }
  for (unsigned i = 0; i < world.n_tcps; i++)
    if (fmx_sim_tcp_next (&world.tcps[i]) <= now)
      fmx_sim_tcp_run (&world.tcps[i], now);
  if (fmx_sim_bundle_next (&world.bundle) <= now)
    fmx_sim_bundle_run (&world.bundle, now);
}

static FmxTime
next_event (void)
{
  FmxTime next = fmx_time_min (fmx_sim_link_next (&world.forward),
      fmx_sim_bundle_next (&world.bundle));

  for (unsigned i = 0; i < world.n_tcps; i++)
    next = fmx_time_min (next, fmx_sim_tcp_next (&world.tcps[i]));
  return next;
}

/* Adds its rate over that of a TCP, its queue in s, what it lost */
static void
run (const Cell *cell, const Way *way, uint64_t seed, double sums[3])
{
  bool counts = false;
  double tcp_bytes = 0.0;

  begin (cell, way, seed);
  for (FmxTime now = 0; now < END;) {
    FmxTime next = next_event ();

    if (!counts && next >= FROM) {
      counts = true;
      for (unsigned i = 0; i < world.n_tcps; i++)
        fmx_sim_tcp_restart_counters (&world.tcps[i]);
      fmx_sim_bundle_restart_counters (&world.bundle, FROM);
      world.waited_s = 0.0;
    }
    now = next > now ? next : now;
    run_events (cell, now);
  }
  for (unsigned i = 0; i < world.n_tcps; i++)
    tcp_bytes += (double) world.tcps[i].received_bytes / world.n_tcps;
  sums[0] += (double) world.bundle.received_bytes / tcp_bytes;
  sums[1] += world.waited_s / (double) world.bundle.n_received;
  sums[2] += fmx_sim_bundle_loss (&world.bundle);
}

int
main (void)
{
  static const Way ways[] = {
    {"no ECN", false, false}, {"ECT(0)", true, false}, {"ECT(1)", true, true}
  };
  static const Cell cells[] = {
    {1e6, 20 * MS, 1}, {2e6, 10 * MS, 1}, {2e6, 40 * MS, 2}, {5e6, 20 * MS, 2},
    {10e6, 10 * MS, 4}
  };

  printf ("| link | one way | Renos |");
  for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++)
    printf (" %s: over a Reno | queue, ms | lost, %% |", ways[w].name);
  printf ("\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (size_t c = 0; c < sizeof cells / sizeof cells[0]; c++) {
    printf ("| %.0f Mbit/s | %.0f ms | %u |", cells[c].rate_bps / 1e6,
        fmx_time_to_s (cells[c].delay) * 1e3, cells[c].n_tcps);
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
      double sums[3] = { 0.0 };

      for (unsigned i = 1; i <= N_SEEDS; i++)
        run (&cells[c], &ways[w], i, sums);
      printf (" %.2f | %.1f | %.2f |", sums[0] / N_SEEDS, sums[1] / N_SEEDS * 1e3,
          100.0 * sums[2] / N_SEEDS);
    }
    printf ("\n");
    fflush (stdout);
  }
  return 0;
}
