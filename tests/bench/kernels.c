/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the inner loops of mixing cost: nanoseconds of CPU time for each sample
 * (and stream), every variant beside the scalar reference, in one run.
 *
 *   kernels [--csv]
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/mix/fmx-g711.h"
#include "fairmix/mix/fmx-level.h"
#include "fairmix/mix/fmx-limiter.h"
#include "fairmix/mix/fmx-mix-kernels.h"

#define FRAME 960u              /* 20 ms at 48 kHz */
#define MAX_STREAMS 1000u
#define ROUNDS 25               /* the best counts */
#define ROUND_NS 2000000.0      /* how long one takes, about */

/* One thing to measure; @run does it @n times. */
typedef struct
{
  const char *name;
  void (*run) (const FmxMixKernels * kernels, unsigned n_streams, unsigned n);
  unsigned n_streams;
  bool one_variant;             /* it chooses its kernels itself */
} Measurement;

static int16_t *streams[MAX_STREAMS];
static int32_t total[FRAME], stereo[2 * FRAME], loud[8 * FRAME],
    quiet[8 * FRAME];
static int16_t frame_out[FRAME];
static uint8_t coded[FRAME];
static volatile uint64_t sink;
static bool csv;

static double
cpu_ns (void)
{
  struct timespec now;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double) now.tv_sec * 1e9 + (double) now.tv_nsec;
}

static void
run_sum (const FmxMixKernels * kernels, unsigned n_streams, unsigned n)
{
  while (n-- > 0)
    kernels->sum (total, (const int16_t * const *) streams, n_streams, FRAME);
}

static void
run_subtract (const FmxMixKernels * kernels, unsigned n_streams, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    kernels->subtract (total, streams[i % n_streams], FRAME);
}

static void
run_add_ramp (const FmxMixKernels * kernels, unsigned n_streams, unsigned n)
{
  const FmxMixRamp ramp = { 0.0f, 1.0f / FRAME, 0, 1, INT16_MAX };

  for (unsigned i = 0; i < n; i++)
    kernels->add_ramp (total, streams[i % n_streams], FRAME, &ramp);
}

static void
run_add_panned (const FmxMixKernels * kernels, unsigned n_streams, unsigned n)
{
  const FmxMixRamp left = { 1.0f, -1.0f / FRAME, 0, 1, INT16_MAX };
  const FmxMixRamp right = { 0.0f, 1.0f / FRAME, 0, 1, INT16_MAX };

  for (unsigned i = 0; i < n; i++)
    kernels->add_panned (stereo, streams[i % n_streams], FRAME, &left, &right);
}

static void
run_energy (const FmxMixKernels * kernels, unsigned n_streams, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    sink += kernels->energy (streams[i % n_streams], FRAME);
}

static void
run_level (const FmxMixKernels * kernels, unsigned n_streams, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    sink += fmx_level_from_energy (kernels->energy (streams[i % n_streams],
            FRAME), FRAME);
}

static void
run_narrow (const FmxMixKernels * kernels, unsigned n_streams, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    kernels->narrow (frame_out, quiet + i % n_streams * FRAME, FRAME);
}

static void
run_limiter (const FmxMixKernels * kernels, const int32_t * in, unsigned n)
{
  FmxLimiterParams params;
  FmxLimiter limiter;

  fmx_limiter_params_default (&params, 48000, 1);
  fmx_limiter_init (&limiter, &params);
  limiter.kernels = kernels;
  for (unsigned i = 0; i < n; i++)
    fmx_limiter_process (&limiter, frame_out, in + i % 8 * FRAME, FRAME);
}

static void
run_limiter_quiet (const FmxMixKernels * kernels, unsigned n_streams,
    unsigned n)
{
  (void) n_streams;
  run_limiter (kernels, quiet, n);
}

static void
run_limiter_crowd (const FmxMixKernels * kernels, unsigned n_streams,
    unsigned n)
{
  (void) n_streams;
  run_limiter (kernels, loud, n);
}

static void
run_ulaw (const FmxMixKernels * kernels, unsigned n_streams, unsigned n)
{
  (void) kernels;
  for (unsigned i = 0; i < n; i++) {
    fmx_g711_ulaw_encode (coded, streams[i % n_streams], FRAME);
    fmx_g711_ulaw_decode (frame_out, coded, FRAME);
  }
}

static const Measurement measurements[] = {
  {"sum of 8", run_sum, 8, false},
  {"sum of 64", run_sum, 64, false},
  {"sum of 1000", run_sum, 1000, false},
  {"subtract", run_subtract, 8, false},
  {"add with ramp", run_add_ramp, 8, false},
  {"add panned to stereo", run_add_panned, 8, false},
  {"energy", run_energy, 8, false},
  {"level", run_level, 8, false},
  {"narrow", run_narrow, 8, false},
  {"limiter, nothing to do", run_limiter_quiet, 8, false},
  {"limiter, a crowd", run_limiter_crowd, 8, false},
  {"mu-law both ways", run_ulaw, 8, true},
};

static void
fill (void)
{
  FmxRng rng;

  fmx_rng_init (&rng, 1);
  for (unsigned j = 0; j < MAX_STREAMS; j++) {
    streams[j] = malloc (FRAME * sizeof *streams[j]);
    if (streams[j] == NULL)
      exit (1);
    for (unsigned i = 0; i < FRAME; i++)
      streams[j][i] = (int16_t) ((int32_t) fmx_rng_next (&rng) >> 18);
  }
  /* A crowd is like noise: beyond full scale a third of the time. */
  for (unsigned i = 0; i < 8 * FRAME; i++) {
    for (unsigned j = 0; j < 4; j++)
      loud[i] += (int32_t) fmx_rng_next (&rng) >> 16;
    quiet[i] = (int32_t) fmx_rng_next (&rng) >> 17;
  }
}

/* Returns: the least CPU time of one call, in nanoseconds */
static double
best_of (const Measurement * measurement, const FmxMixKernels * kernels)
{
  unsigned n = 8;
  double best = 0;

  for (;;) {                    /* how many calls make a round */
    double start = cpu_ns ();

    measurement->run (kernels, measurement->n_streams, n);
    if (cpu_ns () - start >= ROUND_NS)
      break;
    n *= 2;
  }
  for (int i = 0; i < ROUNDS; i++) {
    double start = cpu_ns (), time;

    measurement->run (kernels, measurement->n_streams, n);
    time = (cpu_ns () - start) / n;
    if (i == 0 || time < best)
      best = time;
  }
  return best;
}

static void
measure (const Measurement * measurement)
{
  const FmxMixKernels *const *all = fmx_mix_kernels_available ();
  const FmxMixKernels *reference;
  double samples = FRAME, reference_ns;
  size_t n = 0;

  if (measurement->run == run_sum)
    samples *= measurement->n_streams;
  while (all[n + 1] != NULL)
    n++;
  reference = all[n];
  reference_ns = best_of (measurement, reference);
  for (size_t i = n + 1; i-- > 0;) {
    double ns = i == n ? reference_ns : best_of (measurement, all[i]);
    const char *name = measurement->one_variant ? "-" : all[i]->name;

    printf (csv ? "%s,%s,%.4f,%.3f,%.2f\n"
        : "%-24s %-5s %12.4f %16.3f %9.1f\n", measurement->name, name,
        ns / samples, ns * FRAME / samples / 1000, reference_ns / ns);
    if (measurement->one_variant)
      break;
  }
}

int
main (int argc, char **argv)
{
  if (argc == 2 && strcmp (argv[1], "--csv") == 0) {
    csv = true;
  } else if (argc > 1) {
    fprintf (stderr, "usage: %s [--csv]\n", argv[0]);
    return 2;
  }
  fill ();
  if (csv)
    printf ("kernel,variant,ns_per_sample,us_per_20ms_frame,times_faster\n");
  else
    printf ("%-24s %-5s %12s %16s %9s\n", "", "", "ns/sample",
        "us/20 ms frame", "x faster");
  for (size_t i = 0; i < sizeof measurements / sizeof *measurements; i++)
    measure (&measurements[i]);
  for (unsigned j = 0; j < MAX_STREAMS; j++)
    free (streams[j]);
  return 0;
}
