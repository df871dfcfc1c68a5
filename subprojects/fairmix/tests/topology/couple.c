/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Twelve flows of one mixer over three links, four over each: what each has of its link
 * if those that are found behind one link are coupled (RFC 8699), and if not.
 *
 *   couple [--held-out] [--seeds N] [--quick]
 *
 * The rate sender, the grouping and the coupling are the library's, in virtual time.  A
 * table for docs/algorithms/topology.md, of the second half of six minutes.  --quick: as a
 * test: fails if Jain's index by weights is below 0.98, or if the four have less than 700 or
 * more than 880 of their 800 kbit/s beside a TCP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fairmix/rate/fmx-rate-coupling.h"
#include "fmx-test-topology.h"

#define END (360 * FMX_SECOND)
#define STEADY (180 * FMX_SECOND)
#define STEP (400 * FMX_MSECOND)
#define ENOUGH_BPS 700e3
#define TOO_MUCH_BPS 880e3

static const Net nets[] = {
  {"alone", 3, 1000000, 0, 2 * FMX_MSECOND, 0, true, 0.0},
  {"much jitter", 3, 1000000, 0, 10 * FMX_MSECOND, 0, false, 0.0},
  {"a TCP on each", 3, 1000000, 1, 2 * FMX_MSECOND, 0, false, 0.0},
  {"transfers on each", 3, 1000000, 1, 2 * FMX_MSECOND, 300000, false, 0.0},
};

static FmxCoupledFlow coupled_flows[CLIENTS];
static FmxCoupledGroup coupled_groups[CLIENTS];

typedef struct
{
  double jain, least_jain, bps, loss, queue_ms;
  unsigned n;
} Outcome;

/* Of the four behind each link one has four times as much as another. */
static double
weight_of (const Net * net, unsigned client, bool equal)
{
  return equal ? 1.0 : 1.0 + client / net->n_links;
}

static void
couple (const Net * net, FmxRateCoupling *coupling,
    const FmxSharedBottleneck *sb, bool equal, FmxTime now)
{
  FmxRateSenderStats stats;

  for (unsigned i = 0; i < CLIENTS; i++) {
    double own = (double) fmx_rate_sender_target_bps (&bundles[i].sender);
    uint32_t group = fmx_shared_bottleneck_group (sb, i);

    fmx_rate_coupling_place (coupling, i, own > 0.0 ? group : FMX_NO_GROUP,
        weight_of (net, i, equal), own);
    if (!fmx_rate_coupling_has (coupling, i))
      continue;
    fmx_rate_coupling_note (coupling, i, own, 20e3, 1e9);
    fmx_rate_sender_get_stats (&bundles[i].sender, &stats, now);
    fmx_rate_coupling_note_drains (coupling, i, stats.n_drains);
  }
  for (unsigned i = 0; i < CLIENTS; i++)
    fmx_rate_coupling_share_out (coupling, i);
  for (unsigned i = 0; i < CLIENTS; i++) {
    FmxRateSender *sender = &bundles[i].sender;
    double own = (double) fmx_rate_sender_target_bps (sender);

    if (!fmx_rate_coupling_has (coupling, i))
      continue;
    fmx_rate_sender_set_share (sender, fmx_rate_coupling_share (coupling, i),
        now);
    fmx_rate_sender_set_bps (sender, fmx_rate_coupling_next (coupling, i, own),
        now);
    if (fmx_rate_coupling_drains_too (coupling, i))
      fmx_rate_sender_drain_too (sender);
  }
}

static void
measure (const Net * net, bool equal, Outcome *out)
{
  for (unsigned link = 0; link < net->n_links; link++) {
    double sum = 0.0, squares = 0.0, jain;
    unsigned n = 0;

    for (unsigned i = link; i < CLIENTS; i += net->n_links) {
      double bytes = (double) bundles[i].received_bytes;
      double share = bytes / weight_of (net, i, equal);

      sum += share;
      squares += share * share;
      out->bps += 8.0 * bytes / fmx_time_to_s (END - STEADY) / net->n_links;
      out->loss += fmx_sim_bundle_loss (&bundles[i]) / CLIENTS;
      n++;
    }
    jain = sum * sum / (n * squares);
    out->jain += jain / net->n_links;
    if (jain < out->least_jain)
      out->least_jain = jain;
  }
}

static void
run (const Net * net, uint64_t seed, bool coupled, bool equal, Outcome *out)
{
  FmxSharedBottleneckParams params;
  FmxSharedBottleneck sb;
  FmxRateCoupling coupling;
  FmxTime now = 0, look_at = STEP;
  bool counting = false;
  double looks = 0.0, queue_ms = 0.0;

  fmx_shared_bottleneck_params_default (&params);
  fmx_shared_bottleneck_init (&sb, &params, flows, pairs, CLIENTS);
  fmx_rate_coupling_init (&coupling, coupled_flows, coupled_groups, CLIENTS,
      false);
  begin (net, seed, 1 * FMX_MSECOND);
  while (now < (FmxTime) END) {
    FmxTime next = fmx_time_min (next_event (net), look_at);

    now = next > now ? next : now;
    run_events (net, now);
    if (now < look_at)
      continue;
    look_at += (FmxTime) STEP;
    take_shapes (&sb);
    if (coupled)
      couple (net, &coupling, &sb, equal, now);
    if (now >= (FmxTime) STEADY && !counting) {
      counting = true;
      for (unsigned i = 0; i < CLIENTS; i++)
        fmx_sim_bundle_restart_counters (&bundles[i], now);
    }
    if (!counting)
      continue;
    looks++;
    for (unsigned i = 0; i < CLIENTS; i++) {
      FmxRateSenderStats stats;

      fmx_rate_sender_get_stats (&bundles[i].sender, &stats, now);
      queue_ms += fmx_time_to_s (stats.rtt - stats.rtt_min) * 1e3 / CLIENTS;
    }
  }
  measure (net, equal, out);
  out->queue_ms += queue_ms / looks;
  out->n++;
}

static bool
is_quick (const Net * net, bool coupled, bool equal)
{
  bool beside_tcp = net->n_tcps > 0 && net->transfer_bytes == 0;

  return coupled && (net->quick || (beside_tcp && !equal));
}

int
main (int argc, char **argv)
{
  bool held_out = false, quick = false, good = true;
  unsigned n_seeds = 4;

  for (int i = 1; i < argc; i++) {
    held_out |= strcmp (argv[i], "--held-out") == 0;
    quick |= strcmp (argv[i], "--quick") == 0;
    if (strcmp (argv[i], "--seeds") == 0 && i + 1 < argc)
      n_seeds = (unsigned) atoi (argv[++i]);
  }
  if (!quick)
    printf
        ("| four flows on each of three links of 1 Mbit/s | weights | | Jain by "
        "weights | least | kbit/s | loss | queue, ms |\n"
        "|---|---|---|--:|--:|--:|--:|--:|\n");
  for (unsigned k = 0; k < sizeof nets / sizeof nets[0]; k++)
    for (unsigned mode = 0; mode < 4; mode++) {
      bool coupled = mode % 2 == 1, equal = mode < 2;
      Outcome out = {.least_jain = 1.0 };

      if (quick && !is_quick (&nets[k], coupled, equal))
        continue;
      for (unsigned s = 0; s < n_seeds; s++)
        run (&nets[k], 2 * s + 1 + held_out, coupled, equal, &out);
      good &= out.least_jain >= 0.98 && (nets[k].n_tcps == 0
          || (out.bps >= ENOUGH_BPS * out.n && out.bps <= TOO_MUCH_BPS * out.n));
      printf ("| %s | %s | %s | %.3f | %.3f | %.0f | %.2f %% | %.0f |\n",
          nets[k].name, equal ? "1:1:1:1" : "1:2:3:4",
          coupled ? "coupled" : "not", out.jain / out.n, out.least_jain,
          out.bps / 1e3 / out.n, 100.0 * out.loss / out.n,
          out.queue_ms / out.n);
      fflush (stdout);
    }
  return quick && !good;
}
