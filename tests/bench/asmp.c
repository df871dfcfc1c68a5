/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What multicast feedback costs.
 *
 *   asmp [--csv]
 *
 * Rounds: one round of n receivers, each 100 ms from all others: how many
 * report before they hear that another has spoken, and when the first does.
 * With one rate for all (the worst for ASMP's 2 %), and with rates drawn
 * between one and eight times the least.  20 seeds.
 *
 * Table: a sender's time for one report, with n receivers known, and the memory
 * for each.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fairmix/asmp/fmx-asmp-feedback.h"
#include "fairmix/asmp/fmx-asmp-sender.h"
#include "fairmix/base/fmx-rng.h"

#define N_MAX 10000u
#define N_SEEDS 20u
#define ONE_WAY (100 * FMX_MSECOND)
#define N_REPORTS 2000000u

typedef struct
{
  FmxDuration wait;
  double bps;
} Receiver;

static Receiver receivers[N_MAX];
static bool csv;

static int
by_wait (const void *a, const void *b)
{
  const Receiver *x = a, *y = b;

  return x->wait < y->wait ? -1 : x->wait > y->wait;
}

/* Whether @receiver has heard by @wait of somebody who speaks for it. */
static bool
is_spoken_for (const Receiver * receiver, const Receiver * told,
    unsigned n_told, bool fair)
{
  for (unsigned i = 0; i < n_told; i++) {
    double peer = told[i].bps;

    if (told[i].wait + ONE_WAY > receiver->wait)
      continue;
    if (fair ? receiver->bps >= 0.9 * peer
        : fabs (peer - receiver->bps) <= 0.02 * receiver->bps)
      return true;
  }
  return false;
}

static unsigned
play_round (const FmxAsmpFeedbackParams * params, unsigned n, double spread,
    bool fair, FmxRng * rng)
{
  static Receiver told[N_MAX];
  unsigned n_told = 0;

  for (unsigned i = 0; i < n; i++) {
    receivers[i].wait =
        fmx_asmp_feedback_wait (params, fmx_rng_next_unit (rng));
    receivers[i].bps = pow (spread, fmx_rng_next_unit (rng));
  }
  qsort (receivers, n, sizeof receivers[0], by_wait);
  for (unsigned i = 0; i < n; i++)
    if (!is_spoken_for (&receivers[i], told, n_told, fair))
      told[n_told++] = receivers[i];
  return n_told;
}

static void
rounds (unsigned n, double lambda, double spread, bool fair)
{
  FmxAsmpFeedbackParams params;
  double sum = 0.0, first_s = 0.0;
  unsigned most = 0;
  FmxRng rng;

  fmx_asmp_feedback_params_default (&params);
  params.lambda = lambda;
  for (unsigned seed = 1; seed <= N_SEEDS; seed++) {
    unsigned n_told;

    fmx_rng_init (&rng, seed);
    n_told = play_round (&params, n, spread, fair, &rng);
    sum += n_told;
    most = n_told > most ? n_told : most;
    first_s += fmx_time_to_s (receivers[0].wait);
  }
  printf (csv ? "rounds,%u,%g,%g,%s,%.1f,%u,%.2f\n"
      : "%9u %7g %7g %-10s %9.1f %6u %8.2f s\n", n, lambda, spread,
      fair ? "asmp-fair" : "asmp", sum / N_SEEDS, most, first_s / N_SEEDS);
}

static double
cpu_s (void)
{
  struct timespec t;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static void
table (unsigned n)
{
  void *memory = malloc (n * FMX_ASMP_BYTES_PER_RECEIVER);
  FmxAsmpSenderParams params;
  FmxAsmpRate rate = { 0 };
  FmxAsmpSender sender;
  double spent_s;
  FmxRng rng;

  if (memory == NULL)
    exit (1);
  fmx_asmp_sender_params_default (&params);
  params.algorithm = FMX_ASMP_PAPER;
  fmx_asmp_sender_init (&sender, &params, memory, n, 1);
  fmx_rng_init (&rng, 1);
  spent_s = cpu_s ();
  for (unsigned i = 0; i < N_REPORTS; i++) {
    FmxReportBlock block = { 1, 0, 0, i, 0, 0x10000, 0x8000 };
    uint32_t ssrc = fmx_rng_next (&rng) % n + 1;

    rate.rate_bps = 100000 + fmx_rng_next (&rng) % 100000;
    fmx_asmp_sender_on_report (&sender, ssrc, &block, 0x1a000, i);
    fmx_asmp_sender_on_rate (&sender, ssrc, &rate, i);
  }
  spent_s = cpu_s () - spent_s;
  printf (csv ? "table,%u,%.0f,%zu\n" : "%9u %11.0f ns %8zu bytes\n", n,
      spent_s / N_REPORTS * 1e9, (size_t) FMX_ASMP_BYTES_PER_RECEIVER);
  free (memory);
}

int
main (int argc, char **argv)
{
  const unsigned ns[] = { 10, 100, 1000, 10000 };
  const double lambdas[] = { 2, 5, 8, 10, 12, 15 };

  csv = argc > 1 && strcmp (argv[1], "--csv") == 0;
  puts (csv ? "kind,receivers,lambda,spread,algorithm,reports,most,first_s"
      : "receivers  lambda  spread algorithm    reports   most    first");
  for (unsigned i = 0; i < 4; i++)
    for (unsigned k = 0; k < 6; k++)
      rounds (ns[i], lambdas[k], 1.0, false);
  for (unsigned i = 0; i < 4; i++) {
    rounds (ns[i], 10.0, 8.0, false);
    rounds (ns[i], 10.0, 8.0, true);
  }
  puts (csv ? "kind,receivers,ns,bytes" :
      "receivers     a report   a receiver");
  for (unsigned n = 10; n <= 100000; n *= 10)
    table (n);
  return 0;
}
