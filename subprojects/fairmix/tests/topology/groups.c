/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which of twelve clients are behind the same link: who is grouped with whom.
 *
 *   groups [--held-out] [--seeds N] [--letter] [--least R] [--quick]
 *
 * One mixer sends to twelve clients, over links that they share or do not, in
 * virtual time, by the library's rate sender.  A table for docs/algorithms/topology.md,
 * of the second half of three minutes.  --letter: [RFC8382] alone.  --least: another least
 * correlation.  --quick: two kinds of networks, as a test: fails if anybody is in a wrong
 * group, or missing in one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmx-test-topology.h"

#define END (180 * FMX_SECOND)
#define STEADY (90 * FMX_SECOND)

static const Net nets[] = {
  {"three links, alone", 3, 300000, 0, 2 * FMX_MSECOND, 0, true, 0.0},
  {"three links, much jitter", 3, 300000, 0, 10 * FMX_MSECOND, 0, false, 0.0},
  {"three links, a TCP on each", 3, 1000000, 1, 2 * FMX_MSECOND, 0, false, 0.0},
  {"three links, transfers", 3, 600000, 1, 2 * FMX_MSECOND, 300000, false, 0.0},
  {"six links, alone", 6, 150000, 0, 2 * FMX_MSECOND, 0, false, 0.0},
  {"a link for each, alone", 12, 75000, 0, 2 * FMX_MSECOND, 0, false, 0.0},
  {"a link for each, transfers", 12, 300000, 1, 2 * FMX_MSECOND, 300000, true, 0.0},
  {"a link for each, a TCP for ever", 12, 300000, 1, 2 * FMX_MSECOND, 0, false, 0.0},
  {"... whose rates differ by 5 %", 12, 300000, 1, 2 * FMX_MSECOND, 0, false, 0.05},
  {"... by 20 %", 12, 300000, 1, 2 * FMX_MSECOND, 0, false, 0.2},
  {"room for all", 3, 20000000, 0, 2 * FMX_MSECOND, 0, false, 0.0},
};

typedef struct
{
  uint64_t looks, wrong, found, due;
  unsigned wrong_runs;
  double r_same, r_other;
  uint64_t n_same, n_other;
} Outcome;

static void
look (const Net * net, const FmxSharedBottleneck *sb, Outcome *out, bool *wrong)
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
run (const Net * net, uint64_t seed, bool letter, double least, Outcome *out)
{
  FmxSharedBottleneck sb;
  FmxSharedBottleneckParams params;
  FmxDelayShapeParams shape;
  FmxTime now = 0;
  bool wrong = false;

  fmx_delay_shape_params_default (&shape);
  fmx_shared_bottleneck_params_default (&params);
  if (least > 0.0)
    params.least_correlation = least;
  if (letter)
    params.least_correlation = -1.0;
  params.by_shape = letter;
  fmx_shared_bottleneck_init (&sb, &params, flows, pairs, CLIENTS);
  begin (net, seed, 5 * FMX_MSECOND);
  while (now < (FmxTime) END) {
    now = run_until (net, fmx_time_min (now + (FmxTime) shape.interval, END),
        now);
    if (now == END)             /* in the midst of an interval */
      break;
    take_shapes (&sb);
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
  double least = 0.0;

  for (int i = 1; i < argc; i++) {
    letter |= strcmp (argv[i], "--letter") == 0;
    held_out |= strcmp (argv[i], "--held-out") == 0;
    quick |= strcmp (argv[i], "--quick") == 0;
    if (strcmp (argv[i], "--seeds") == 0 && i + 1 < argc)
      n_seeds = (unsigned) atoi (argv[++i]);
    else if (strcmp (argv[i], "--least") == 0 && i + 1 < argc)
      least = atof (argv[++i]);
  }
  if (!quick)
    printf ("| network | runs with a wrong group | of the time | pairs found | "
        "mean correlation, same link | others |\n|---|--:|--:|--:|--:|--:|\n");
  for (unsigned k = 0; k < sizeof nets / sizeof nets[0]; k++) {
    Outcome out = { 0 };

    if (quick && !nets[k].quick)
      continue;
    for (unsigned s = 0; s < n_seeds; s++)
      run (&nets[k], 2 * s + 1 + held_out, letter, least, &out);
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
