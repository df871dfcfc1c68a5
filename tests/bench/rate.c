/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What rtt, loss and rate make of a path, as CSV for the figures of their pages;
 * all of it in virtual time, seeded.
 *
 *   rate rtt      a machine that stalls, then a queue that grows
 *   rate loss     the loss event rate as the share of lost packets changes
 *   rate tables   TFRC-SP against RFC 4828's tables
 *   rate levels   DPM beside constant traffic (its figures 4 and 5)
 *   rate share    two DPM bundles on one link (its figure 9)
 *   rate          a summary of the last three
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fairmix/rtt/fmx-rtt.h"
#include "sim/fmx-sim-bundle.h"

#define MS FMX_MSECOND
#define S FMX_SECOND

static FmxSimWorld world;
static FmxSimBundle bundles[2];

static void
print_rtt (void)
{
  FmxRttParams params;
  FmxRng rng;
  FmxRtt rtt;

  fmx_rtt_params_default (&params);
  params.rto_min = params.granularity = 200 * MS;
  fmx_rtt_init (&rtt, &params);
  fmx_rng_init (&rng, 3);
  puts ("t_s,sample_ms,r_ms,srtt_ms,rto_ms");
  for (unsigned i = 0; i < 300; i++) {
    FmxTime now = i * 100 * (FmxTime) MS;
    FmxDuration sample = 60 * MS + (FmxDuration) (fmx_rng_next_unit (&rng)
        * 4e6);

    if (i > 10 && i < 150 && fmx_rng_next (&rng) % 12 == 0)
      sample += 43 * MS + (FmxDuration) (fmx_rng_next_unit (&rng) * 171e6);
    if (i >= 200)
      sample += i < 230 ? (i - 200) * 10 * MS : 300 * MS;
    fmx_rtt_add (&rtt, sample, now);
    printf ("%.1f,%.1f,%.1f,%.1f,%.1f\n", fmx_time_to_s ((FmxDuration) now),
        fmx_time_to_s (sample) * 1e3, fmx_time_to_s (fmx_rtt_smoothed (&rtt))
        * 1e3, fmx_time_to_s (fmx_rtt_srtt (&rtt)) * 1e3,
        fmx_time_to_s (fmx_rtt_rto (&rtt)) * 1e3);
  }
}

/* 100 packets/s, round-trip time 100 ms. */
static void
print_loss (void)
{
  static const struct
  {
    const char *name;
    FmxLossIntervalsParams params;
  } kinds[] = {
    {"RFC 5348", {false, true}},
    {"without discounting", {false, false}},
    {"with RFC 4828", {true, true}},
  };

  puts ("kind,t_s,share_lost,p");
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    FmxLossIntervals intervals;
    FmxRng rng;

    fmx_loss_intervals_init (&intervals, &kinds[k].params);
    fmx_rng_init (&rng, 1);
    for (uint64_t i = 0; i < 9000; i++) {
      FmxLossRecord packet = { i, i * 10 * (FmxTime) MS };
      double share = i < 3000 ? 0.01 : i < 6000 ? 0.2 : 0.002;

      fmx_loss_intervals_on_packet (&intervals, packet);
      if (fmx_rng_next_unit (&rng) < share
          && fmx_loss_intervals_on_lost (&intervals, packet, 100 * MS)
          && fmx_loss_intervals_n_events (&intervals) == 1)
        fmx_loss_intervals_set_first (&intervals, 100.0);
      if (i % 10 == 0)
        printf ("%s,%.1f,%.3f,%.5f\n", kinds[k].name, (double) i / 100.0,
            share, fmx_loss_intervals_rate (&intervals));
    }
  }
}

/* [RFC4828 B.1] */
static double
send_rate_kbps (uint32_t payload, double payload_bps, double loss,
    unsigned n_flows)
{
  FmxSimLinkParams link = { 0.0, 0, 0, 120 * MS, loss };
  FmxSimBundleParams params;
  double sum = 0.0;

  memset (&params, 0, sizeof params);
  fmx_rate_sender_params_default (&params.sender);
  params.sender.klass = fmx_rate_class_find ("tfrc");
  params.sender.min_bps = 100;
  params.sender.initial_bps = 8 * (payload + 32);
  params.behaviour = FMX_SIM_PACED;
  params.n_streams = 1;
  params.wire_bytes = payload + 32;
  params.packet_interval = fmx_time_from_s (8.0 * payload / payload_bps);
  params.feedback_fraction = 1.0;
  params.back.delay = 120 * MS;
  for (uint64_t seed = 0; seed < n_flows; seed++) {
    fmx_sim_world_init (&world, &link, bundles, 1, seed);
    fmx_sim_bundle_init (&bundles[0], &params, &world.forward, 0, seed);
    fmx_sim_world_run (&world, 50 * (FmxTime) S);
    fmx_sim_bundle_restart_counters (&bundles[0], world.now);
    fmx_sim_world_run (&world, 100 * (FmxTime) S);
    sum += 8.0 * (double) bundles[0].sent_bytes / 50e3;
  }
  return sum / n_flows;
}

static void
print_tables (void)
{
  static const double losses[] = { 0.005, 0.01, 0.02, 0.04, 0.05, 0.1, 0.2,
    0.3
  };
  static const struct
  {
    uint32_t payload;
    double payload_bps;
    double rfc_kbps[8];
  } tables[] = {
    {200, 160e3, {185.06, 185.33, 185.57, 185.14, 180.08, 127.33, 54.66,
            24.50}},
    {14, 5.6e3, {18.11, 17.69, 17.69, 17.69, 17.69, 17.69, 17.80, 10.26}},
  };

  puts ("payload_bytes,drop,kbps,rfc4828_kbps");
  for (size_t i = 0; i < 2; i++)
    for (size_t j = 0; j < 8; j++)
      printf ("%u,%.3f,%.2f,%.2f\n", tables[i].payload, losses[j],
          send_rate_kbps (tables[i].payload, tables[i].payload_bps, losses[j],
              100), tables[i].rfc_kbps[j]);
}

/* DPM section 6.1 */
static FmxSimBundleParams
paper_bundle (void)
{
  FmxSimBundleParams params;

  memset (&params, 0, sizeof params);
  fmx_rate_sender_params_default (&params.sender);
  params.sender.min_bps = params.sender.initial_bps = 78400;
  params.n_streams = 8;
  params.wire_bytes = 196;
  params.packet_interval = 20 * MS;
  params.jitter = 2 * MS;
  params.back.delay = 70 * MS;
  return params;
}

static const FmxSimLinkParams paper_link = { 635000.0, 75000, 0, 70 * MS, 0.0 };

static void
print_levels (void)
{
  FmxSimBundleParams params = paper_bundle ();

  puts ("seed,other_kbps,fit,streams,loss,queue_ms");
  for (uint64_t seed = 1; seed <= 10; seed++) {
    fmx_sim_world_init (&world, &paper_link, bundles, 1, seed);
    fmx_sim_bundle_init (&bundles[0], &params, &world.forward, 0, seed);
    for (unsigned i = 0; i < 9; i++) {
      double queue_s = 0.0;

      world.cbr_bps = 78400.0 * i;
      world.cbr_at = world.now;
      fmx_sim_bundle_restart_counters (&bundles[0], world.now);
      for (unsigned j = 0; j < 300; j++) {
        fmx_sim_world_run (&world, world.now + S);
        queue_s += fmx_time_to_s (fmx_sim_link_queue_delay (&world.forward,
                world.now));
      }
      printf ("%u,%.1f,%.0f,%.3f,%.4f,%.0f\n", (unsigned) seed,
          world.cbr_bps / 1e3, floor ((635e3 - world.cbr_bps) / 78400.0),
          bundles[0].stream_seconds / 300.0,
          fmx_sim_bundle_loss (&bundles[0]), queue_s / 300.0 * 1e3);
    }
  }
}

static void
print_share (void)
{
  FmxSimBundleParams params[2] = { paper_bundle (), paper_bundle () };

  params[1].start = 60 * (FmxTime) S;
  fmx_sim_world_init (&world, &paper_link, bundles, 2, 1);
  for (unsigned i = 0; i < 2; i++)
    fmx_sim_bundle_init (&bundles[i], &params[i], &world.forward, i, 1);
  puts ("t_s,first_kbps,second_kbps,queue_ms");
  for (unsigned t = 1; t <= 300; t++) {
    for (unsigned i = 0; i < 2; i++)
      fmx_sim_bundle_restart_counters (&bundles[i], world.now);
    fmx_sim_world_run (&world, t * (FmxTime) S);
    printf ("%u,%.1f,%.1f,%.0f\n", t,
        8.0 * (double) bundles[0].sent_bytes / 1e3,
        8.0 * (double) bundles[1].sent_bytes / 1e3,
        fmx_time_to_s (fmx_sim_link_queue_delay (&world.forward, world.now))
        * 1e3);
  }
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    void (*print) (void);
    bool in_summary;
  } modes[] = {
    {"rtt", print_rtt, false},
    {"loss", print_loss, false},
    {"tables", print_tables, true},
    {"levels", print_levels, true},
    {"share", print_share, true},
  };
  bool found = argc < 2;

  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
    if (argc < 2 ? modes[i].in_summary : strcmp (argv[1],
            modes[i].name) == 0) {
      modes[i].print ();
      found = true;
    }
  if (!found)
    fprintf (stderr, "usage: %s [rtt | loss | tables | levels | share]\n",
        argv[0]);
  return found ? 0 : 2;
}
