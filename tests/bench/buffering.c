/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One GAIMD flow (the library's, packets of 256 bytes) and UDP of constant rate
 * through a RED queue that marks, in virtual time, seeded; as CSV: what becomes of
 * its rate, and how much buffer smooths it.  After Li, Krasic, Walpole, Shor, Pu,
 * "The Minimal Buffering Requirements of Congestion Controlled Interactive
 * Multimedia Applications", 2001.
 *
 *   buffering policies    table 4.1
 *   buffering trace       figures 4.2 to 4.5
 *   buffering rate        figure 4.6
 *   buffering delay       figure 4.7
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fairmix/adapt/fmx-adapt-policy.h"
#include "fairmix/playout/fmx-minimal-buffer.h"
#include "sim/fmx-sim-bundle.h"

#define MS FMX_MSECOND
#define S FMX_SECOND
#define PACKET_BYTES 256u
/* RED's thresholds are a sixth and a half of it: 5.9 and 17.6 packets, about
 * ns-2's 5 and 15 */
#define QUEUE_BYTES 9000u
#define SAMPLE (5 * MS)
#define SAMPLE_S 0.005
#define MAX_SAMPLES 130000u
#define MAX_TEETH 4096u
#define LAYER_BPS 50000.0
#define LEAST_BPS 100000.0
#define MOST_BPS 1500000.0
#define SETTLE_S 200.0
#define WARM_UP_S 150.0         /* of policies */
#define SHOWN_S 40.0

/* The rate that congestion control found */
typedef struct
{
  unsigned n;
  double bps[MAX_SAMPLES];
  unsigned n_teeth;
  unsigned teeth[MAX_TEETH];    /* where each begins, after a back-off */
  double rtt_s;                 /* mean */
  double p;                     /* back-offs for each packet */
} trace;

static FmxSimWorld world;
static FmxSimBundle bundle;
static FmxSimAqm aqm;

static const struct
{
  double alpha, beta;
} pairs[] = {
  {1.0, 1.0 / 2.0}, {1.0 / 3.0, 4.0 / 5.0}, {1.0 / 5.0, 7.0 / 8.0}
};

/* ---- the flow ---- */

static void
set_up (double link_bps, FmxDuration delay, double alpha, double beta,
    uint64_t seed)
{
  FmxSimLinkParams link = {.rate_bps = link_bps,.queue_bytes = QUEUE_BYTES,
    .delay = delay
  };
  const FmxSimLinkNature red = {.discipline = FMX_SIM_RED,.ecn = true };
  FmxSimBundleParams params;

  memset (&params, 0, sizeof params);
  fmx_rate_sender_params_default (&params.sender);
  params.sender.klass = fmx_rate_class_find ("gaimd");
  params.sender.alpha = alpha;
  params.sender.beta = beta;
  params.sender.segment_bytes = 0;      /* its packets are its segments */
  params.sender.min_bps = 10000;
  params.sender.initial_bps = 100000;
  params.sender.max_bps = 10000000;
  params.behaviour = FMX_SIM_PACED;
  params.n_streams = 1;
  params.wire_bytes = PACKET_BYTES;
  params.packet_interval = MS / 10;
  params.feedback_fraction = 1.0;
  params.back.delay = delay;
  params.ecn = true;
  fmx_sim_world_init (&world, &link, &bundle, 1, seed);
  fmx_sim_link_set_nature (&world.forward, &red, &aqm, seed);
  /* it marks the queue as it is, so that saw-teeth are regular */
  aqm.red_max_p = 1.0;
  aqm.red_weight = 1.0;
  fmx_sim_bundle_init (&bundle, &params, &world.forward, 0, seed);
}

/* Runs from @from_s to @to_s and keeps what counts; @cbr_bps at each time */
static void
record (trace * t, double from_s, double to_s, double (*cbr_bps) (double))
{
  double rtt_s = 0.0, packets = 0.0, before = 0.0;
  uint64_t n_down = 0;

  t->n = t->n_teeth = 0;
  for (double now_s = 0.0; now_s < to_s; now_s += SAMPLE_S) {
    FmxRateSenderStats stats;
    double bps;

    world.cbr_bps = cbr_bps (now_s);
    fmx_sim_world_run (&world, (FmxTime) fmx_time_from_s (now_s) + SAMPLE);
    fmx_rate_sender_get_stats (&bundle.sender, &stats, world.now);
    bps = (double) fmx_rate_sender_target_bps (&bundle.sender);
    if (now_s >= from_s && t->n < MAX_SAMPLES) {
      if (bps < before && t->n_teeth < MAX_TEETH) {
        t->teeth[t->n_teeth++] = t->n;
        n_down++;
      }
      t->bps[t->n++] = bps;
      rtt_s += fmx_time_to_s (stats.rtt);
      packets += bps * SAMPLE_S / (8.0 * PACKET_BYTES);
    }
    before = bps;
  }
  t->rtt_s = rtt_s / t->n;
  t->p = (double) n_down / packets;
}

static double
mean_bps (const trace * t, unsigned from, unsigned to)
{
  double sum = 0.0;

  for (unsigned i = from; i < to; i++)
    sum += t->bps[i];
  return sum / (to - from);
}

/* ---- buffers ---- */

/* The most, in bytes, that media of @bps are ahead of the transmission from one
 * sample to another; @ahead_bits: how far they are at the beginning */
static double
most_ahead (const trace * t, unsigned from, unsigned to, double bps,
    double *ahead_bits)
{
  double most = 0.0;

  for (unsigned i = from; i < to; i++) {
    *ahead_bits = fmax (*ahead_bits + (bps - t->bps[i]) * SAMPLE_S, 0.0);
    most = fmax (most, *ahead_bits);
  }
  return most / 8.0;
}

/* What smooths each saw-tooth to its own mean: the mean of them, and the most */
static double
ideal_buffer (const trace * t, double *most)
{
  double sum = 0.0;

  *most = 0.0;
  for (unsigned k = 0; k + 1 < t->n_teeth; k++) {
    double ahead = 0.0, bytes = most_ahead (t, t->teeth[k], t->teeth[k + 1],
        mean_bps (t, t->teeth[k], t->teeth[k + 1]), &ahead);

    sum += bytes;
    *most = fmax (*most, bytes);
  }
  return t->n_teeth > 1 ? sum / (t->n_teeth - 1) : 0.0;
}

static FmxMinimalBufferParams
formula (const trace * t, double alpha, double beta)
{
  FmxMinimalBufferParams params = { alpha, beta, PACKET_BYTES,
    fmx_time_from_s (t->rtt_s)
  };

  return params;
}

/* ---- figures 4.6 and 4.7 ---- */

static double steady_bps;

static double
steady (double now_s)
{
  (void) now_s;
  return steady_bps;
}

static void
print_point (double x, double alpha, double beta, const trace * t)
{
  FmxMinimalBufferParams params = formula (t, alpha, beta);
  double bps = mean_bps (t, 0, t->n), most, mean = ideal_buffer (t, &most);

  printf ("%g,%.4f,%.4f,%.0f,%.2f,%.0f,%.0f,%.0f,%.0f,%.6f,%.0f\n", x, alpha,
      beta, bps, 1e3 * t->rtt_s, mean, most,
      fmx_minimal_buffer_bytes (&params, bps / 8.0),
      fmx_minimal_buffer_bytes_discrete (&params, bps / 8.0), t->p,
      8.0 * PACKET_BYTES / t->rtt_s * sqrt (alpha / 2.0 * (1.0 + beta)
          / (1.0 - beta) / t->p));
}

static void
print_sweep (int delays)
{
  static trace t;

  printf ("x,alpha,beta,rate_bps,rtt_ms,buffer_bytes,most_bytes,formula_bytes,"
      "discrete_bytes,p,a5_bps\n");
  for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
    double alpha = pairs[k].alpha, beta = pairs[k].beta;

    for (int i = 1; i <= (delays ? 12 : 15); i++) {
      double available = delays ? 1.2e6 : i * 1e5;

      set_up (1.5e6, delays ? i * 10 * MS : 40 * MS, alpha, beta, 1);
      steady_bps = 1.5e6 - available;
      record (&t, SETTLE_S, SETTLE_S + 600.0, steady);
      print_point (delays ? i * 10 : available / 1e3, alpha, beta, &t);
    }
  }
}

/* ---- table 4.1 and figures 4.2 to 4.5 ---- */

/* 400 kbit/s, and 600 for ten of 40 seconds: before those that count, too, so
 * that an average over a long time is one of what comes */
static double
with_burst (double now_s)
{
  double s = fmod (now_s, SHOWN_S);

  return s >= 15.0 && s < 25.0 ? 6e5 : 4e5;
}

static double
layers (double bps)
{
  bps = floor (bps / LAYER_BPS) * LAYER_BPS;
  return fmin (fmax (bps, LEAST_BPS), MOST_BPS);
}

/* The media rate at each sample; the paper's ideal one knows what comes */
static void
adapt (const trace * t, const char *name, double *media)
{
  FmxAdaptPolicyParams params;
  FmxAdaptPolicy policy;
  unsigned tooth = 0;

  if (strcmp (name, "ideal") == 0) {
    for (unsigned i = 0; i < t->n; i++) {
      unsigned from, to;

      while (tooth < t->n_teeth && t->teeth[tooth] <= i)
        tooth++;
      from = tooth > 0 ? t->teeth[tooth - 1] : 0;
      to = tooth < t->n_teeth ? t->teeth[tooth] : t->n;
      media[i] = layers (mean_bps (t, from, to));
    }
    return;
  }
  fmx_adapt_policy_params_default (&params);
  params.klass = fmx_adapt_policy_find (name);
  params.max_delay = 60 * S;
  fmx_adapt_policy_init (&policy, &params);
  for (unsigned i = 0; i < t->n; i++)
    media[i] = layers ((double) fmx_adapt_policy_on_rate (&policy,
            (uint64_t) t->bps[i], (FmxTime) i * SAMPLE));
}

static const char *const policies[] = { "aggressive", "conservative", "lazy",
  "average", "ideal"
};

#define N_POLICIES (sizeof policies / sizeof policies[0])
#define N_SEEDS 10u

static trace table;
static double media[N_POLICIES][MAX_SAMPLES];
static unsigned first;          /* sample that counts: policies have settled */

static void
run_table (uint64_t seed)
{
  set_up (1e6, 40 * MS, 1.0, 0.5, seed);
  record (&table, SETTLE_S - WARM_UP_S, SETTLE_S + SHOWN_S, with_burst);
  first = (unsigned) (WARM_UP_S / SAMPLE_S);
  for (size_t k = 0; k < N_POLICIES; k++)
    adapt (&table, policies[k], media[k]);
}

typedef struct
{
  double buffer_bytes, tooth_bytes, efficiency, n_changes;
} result;

/* The saw-tooth that takes most of those that count, and what (3.4) says for it */
typedef struct
{
  double bytes, formula_bytes;
} deepest;

/* (3.4) takes it that one back-off leaves @beta of the rate that comes back before the
 * next.  @own: of all, with what is true of the tooth in beta's place; else of those of
 * which it is true, to a tenth. */
static deepest
find_deepest (const trace * t, double alpha, double beta, bool own)
{
  FmxMinimalBufferParams params = formula (t, alpha, beta);
  deepest d = { 0.0, 0.0 };

  for (unsigned k = 0; k + 1 < t->n_teeth; k++) {
    unsigned from = t->teeth[k], to = t->teeth[k + 1];
    double ahead = 0.0, bps = mean_bps (t, from, to);
    double left = t->bps[from] / t->bps[to - 1], bytes;

    if (from < first || left >= 1.0 || (!own && fabs (left - beta) > 0.1))
      continue;
    bytes = most_ahead (t, from, to, bps, &ahead);
    if (bytes > d.bytes) {
      params.beta = own ? left : beta;
      d = (deepest) { bytes, fmx_minimal_buffer_bytes (&params, bps / 8.0) };
    }
  }
  return d;
}

/* Adds what became of policy @k */
static void
add_result (result * r, size_t k)
{
  double sent = 0.0, played = 0.0, ahead = 0.0, most = 0.0;

  for (unsigned i = first; i < table.n; i++) {
    sent += table.bps[i];
    played += media[k][i];
    most = fmax (most, most_ahead (&table, i, i + 1, media[k][i], &ahead));
    r->n_changes += media[k][i] != media[k][i - 1];
  }
  r->buffer_bytes += most;
  r->tooth_bytes += ideal_buffer (&table, &most);
  r->efficiency += played / sent;
}

static void
print_policies (void)
{
  result results[N_POLICIES];
  double formula_bytes = 0.0, rtt_s = 0.0, bps = 0.0;
  deepest sums[2] = { {0.0, 0.0}, {0.0, 0.0} };

  memset (results, 0, sizeof results);
  for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
    FmxMinimalBufferParams params;

    run_table (seed);
    params = formula (&table, 1.0, 0.5);
    bps += mean_bps (&table, 0, table.n) / N_SEEDS;
    formula_bytes += fmx_minimal_buffer_bytes (&params,
        mean_bps (&table, 0, table.n) / 8.0) / N_SEEDS;
    rtt_s += table.rtt_s / N_SEEDS;
    for (int own = 0; own < 2; own++) {
      deepest d = find_deepest (&table, 1.0, 0.5, own);

      sums[own].bytes += d.bytes / N_SEEDS;
      sums[own].formula_bytes += d.formula_bytes / N_SEEDS;
    }
    for (size_t k = 0; k < N_POLICIES; k++)
      add_result (&results[k], k);
  }
  printf ("policy,buffer_bytes,efficiency,n_changes,tooth_bytes,formula_bytes,"
      "rate_bps,rtt_ms,even_bytes,even_formula_bytes,deepest_bytes,"
      "deepest_formula_bytes\n");
  for (size_t k = 0; k < N_POLICIES; k++)
    printf ("%s,%.0f,%.4f,%.1f,%.0f,%.0f,%.0f,%.1f,%.0f,%.0f,%.0f,%.0f\n", policies[k],
        results[k].buffer_bytes / N_SEEDS, results[k].efficiency / N_SEEDS,
        results[k].n_changes / N_SEEDS, results[k].tooth_bytes / N_SEEDS,
        formula_bytes, bps, 1e3 * rtt_s, sums[0].bytes, sums[0].formula_bytes,
        sums[1].bytes, sums[1].formula_bytes);
}

static void
print_trace (void)
{
  run_table (1);
  printf ("t_s,rate_bps");
  for (size_t k = 0; k < N_POLICIES; k++)
    printf (",%s_bps", policies[k]);
  for (unsigned i = first; i < table.n; i += 4) {
    printf ("\n%.3f,%.0f", (i - first) * SAMPLE_S, table.bps[i]);
    for (size_t k = 0; k < N_POLICIES; k++)
      printf (",%.0f", media[k][i]);
  }
  printf ("\n");
}

int
main (int argc, char **argv)
{
  const char *what = argc == 2 ? argv[1] : "policies";

  if (strcmp (what, "trace") == 0)
    print_trace ();
  else if (strcmp (what, "rate") == 0 || strcmp (what, "delay") == 0)
    print_sweep (what[0] == 'd');
  else if (strcmp (what, "policies") == 0)
    print_policies ();
  else {
    fprintf (stderr, "usage: buffering policies|trace|rate|delay\n");
    return 2;
  }
  return 0;
}
