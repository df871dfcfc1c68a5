/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the adaptation makes of a rate.
 *
 *   adapt [--csv] streams      eight streams while the target falls and rises
 *   adapt [--csv] policies     the four policies on a saw-tooth that dips
 *   adapt [--csv] cost         the time of one plan, rank included
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fairmix/adapt/fmx-adapt-policy.h"
#include "fairmix/adapt/fmx-adapt-streams.h"
#include "fairmix/base/fmx-rng.h"

#define N_MOST 1024u
#define STREAM_BPS 78400u       /* the DPM paper's */

static bool csv;

static FmxSelectStream streams[N_MOST];
static uint32_t order[N_MOST];
static int32_t assignment[N_MOST];
static FmxAdaptPlan plan;

static const FmxAdaptParams params = {
  .mix_min_bps = 40000,
  .mix_max_bps = 160000,
  .headroom = 0.05,
};

static void
decide (size_t n, uint64_t target_bps, FmxTime now)
{
  FmxSelectParams select;

  fmx_select_params_default (&select);
  fmx_select_rank (&select, streams, order, n, now);
  fmx_adapt_plan_streams (&params, target_bps, streams, order, assignment, n,
      &plan);
  for (size_t i = 0; i < n; i++) {
    bool separate = assignment[i] == FMX_ADAPT_SEPARATE;

    if (separate != streams[i].separate)
      streams[i].since = now;
    streams[i].separate = separate;
    streams[i].mix = assignment[i] > 0 ? (uint32_t) assignment[i] : 0;
  }
}

static void
show_plan (const char *direction, uint64_t target_bps)
{
  printf (csv ? "%s,%.1f,%u,%u,%.1f,%.1f\n" : "%8s %8.1f %9u %6u %9.1f %9.1f\n",
      direction, (double) target_bps / 1e3, plan.n_separate, plan.n_mixes,
      plan.mix_bps / 1e3, (double) plan.used_bps / 1e3);
}

static void
sweep (void)
{
  const unsigned n = 8, step = csv ? 2000 : 20000, most = 700000;

  for (size_t i = 0; i < n; i++)
    streams[i].wire_bps = STREAM_BPS;
  puts (csv ? "direction,target_kbps,separate,mixes,mix_kbps,used_kbps"
      : "  target:  kbit/s  separate  mixes    kbit/s      used");
  decide (n, FMX_TARGET_UNLIMITED, 0);
  for (unsigned target = most; target > 0; target -= step) {
    decide (n, target, 0);
    show_plan ("falls", target);
  }
  for (unsigned target = 0; target <= most; target += step) {
    decide (n, target, 0);
    show_plan ("rises", target);
  }
}

/* AIMD(1, 1/2), 256 bytes, 80 ms: the experiment of Li et al., section 4.1. */
static void
saw_teeth (const FmxAdaptPolicyClass * klass)
{
  const FmxTime end = 60 * (FmxTime) FMX_SECOND;
  const FmxDuration rtt = 80 * FMX_MSECOND;
  double window = 4500 * 8, sent = 0.0, played = 0.0;
  FmxAdaptPolicyParams chosen;
  FmxAdaptPolicy policy;
  FmxAdaptPolicyStats stats;

  fmx_adapt_policy_params_default (&chosen);
  chosen.klass = klass;
  fmx_adapt_policy_init (&policy, &chosen);
  for (FmxTime now = 0; now < end; now += (FmxTime) rtt) {
    double s = fmx_time_to_s ((FmxDuration) now);
    double available = s > 30 && s < 40 ? 400e3 : 600e3;
    uint64_t media;

    window += 256 * 8;
    if (window / fmx_time_to_s (rtt) > available)
      window /= 2;
    media = fmx_adapt_policy_on_rate (&policy,
        (uint64_t) (window / fmx_time_to_s (rtt)), now);
    fmx_adapt_policy_get_stats (&policy, &stats);
    sent += window;
    played += (double) media *fmx_time_to_s (rtt);
    if (csv)
      printf ("%s,%.2f,%.1f,%.1f,%.2f\n", klass->name, s,
          window / fmx_time_to_s (rtt) / 1e3, (double) media / 1e3,
          stats.backlog_bits / 8e3);
  }
  if (!csv)
    printf ("%-12s %9.1f %9llu %11.1f\n", klass->name, 100 * played / sent,
        (unsigned long long) stats.n_changes, stats.backlog_max_bits / 8e3);
}

static void
policies (void)
{
  puts (csv ? "policy,t_s,transmission_kbps,media_kbps,backlog_kbytes"
      : "policy         % used   changes  buffer, kB");
  for (size_t i = 0; fmx_adapt_policy_classes[i] != NULL; i++)
    saw_teeth (fmx_adapt_policy_classes[i]);
}

static double
cpu_us (void)
{
  struct timespec t;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double) t.tv_sec * 1e6 + (double) t.tv_nsec / 1e3;
}

/* Levels and target wander, so that something changes in most plans. */
static void
cost (void)
{
  FmxRng rng;

  fmx_rng_init (&rng, 1);
  puts (csv ? "streams,groups,us" : "streams  groups  us for one plan");
  for (unsigned n = 8; n <= N_MOST; n *= 8) {
    for (unsigned n_groups = 0; n_groups <= 4; n_groups += 4) {
      unsigned n_rounds = 400000 / n;
      double begun;

      for (unsigned i = 0; i < n; i++) {
        memset (&streams[i], 0, sizeof streams[i]);
        streams[i].wire_bps = 20000 + fmx_rng_next (&rng) % 60000;
        streams[i].group = n_groups ? i % n_groups + 1 : 0;
      }
      begun = cpu_us ();
      for (unsigned round = 0; round < n_rounds; round++) {
        streams[fmx_rng_next (&rng) % n].level = fmx_rng_next (&rng) % 60;
        decide (n, 400000 + fmx_rng_next (&rng) % 200000,
            round * (FmxTime) (FMX_SECOND / 10));
      }
      printf (csv ? "%u,%u,%.2f\n" : "%7u %7u %16.2f\n", n, n_groups,
          (cpu_us () - begun) / n_rounds);
    }
  }
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    void (*run) (void);
  } parts[] = {
    {"streams", sweep},
    {"policies", policies},
    {"cost", cost},
  };
  const char *chosen = NULL;

  for (int i = 1; i < argc; i++) {
    if (strcmp (argv[i], "--csv") == 0)
      csv = true;
    else
      chosen = argv[i];
  }
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
    if (chosen == NULL || strcmp (chosen, parts[i].name) == 0)
      parts[i].run ();
  return EXIT_SUCCESS;
}
