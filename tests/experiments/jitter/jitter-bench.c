/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Jitter buffers side by side on traces of real and made-up networks: the
 * elements themselves, in virtual time.  Prints CSV; write_playout.py makes tables
 * and figures of it.
 *
 *   jitter-bench [--table1 | --sweep | --day | --seconds | --check | --check-all]
 *       TRACE...
 *
 * TRACE is a file, or a made-up one: syn_NAME[:SEED], see jitter-trace.
 *
 *   jitter-bench --cost | --cost-probe ELEMENT N
 *
 * --table1   the settings of the paper's table 1, and ours
 * --sweep    the library alone, one parameter after another changed
 * --day      no trace: 24 h with a clock that is off by 200 ppm either way
 * --seconds  delay and gaps second by second
 * --check-all  fails if ours falls behind; 77 (skipped) without speexdsp
 * --check    the same beside those fixed settings only that are the best of some
 *     trace: a test
 * --cost     just feeds N packets to an element: for cost.sh
 * --cost-probe   the same, with a probe on its source pad that does nothing */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gst/gst.h>

#include "policies.h"
#include "policy-element.h"
#include "synth.h"

#define MAX_DELAY_MS 65.0       /* mean over the real traces */
/* Behind the best of all fixed settings, chosen for each trace when it is over:
 * on a real one, on one that is made up, and in the mean of the real ones */
#define MAX_BEHIND_REAL_R 0.5
#define MAX_BEHIND_MADE_UP_R 1.0
#define MAX_BEHIND_MEAN_R 0.02

/* One of the two says how to run it. */
typedef struct
{
  const char *name;
  const char *element;          /* as in a launch line */
  bool (*run) (const Trace * trace, Playout * playouts);
  Sink sink;
} Policy;

/* A constant delay (mode none), or one that follows the sender's clock and
 * moves with every stall (mode slave) */
#define FIXED(mode, ms) "rtpjitterbuffer mode=" mode " latency=" ms

static const Policy policies[] = {
  {"qmjitterbuffer", "qmjitterbuffer", NULL, SINK_EXACT},
  {"none 20 ms", FIXED ("none", "20"), NULL, SINK_EXACT},
  {"none 60 ms", FIXED ("none", "60"), NULL, SINK_EXACT},
  {"none 100 ms", FIXED ("none", "100"), NULL, SINK_EXACT},
  {"none 200 ms", FIXED ("none", "200"), NULL, SINK_EXACT},
  {"slave 20 ms", FIXED ("slave", "20"), NULL, SINK_EXACT},
  {"slave 60 ms", FIXED ("slave", "60"), NULL, SINK_EXACT},
  {"slave 100 ms", FIXED ("slave", "100"), NULL, SINK_EXACT},
  {"slave 200 ms", FIXED ("slave", "200"), NULL, SINK_EXACT},
  {"speexdsp", NULL, policy_speex, SINK_EXACT},
  {"clairvoyant", NULL, policy_clairvoyant, SINK_ELASTIC},
};

#define PACKET (20 * FMX_MSECOND)
#define FIRST_FIXED 1
#define LAST_FIXED 8
/* Of each of the traces in docs/algorithms/playout.md one of these is the best. */
static const char *const best_fixed[] = {
  "none 20 ms", "none 60 ms", "none 100 ms", "slave 60 ms", NULL
};

#define SPEEXDSP 9
#define EXIT_SKIPPED 77         /* for meson */

static bool
run (const Trace * trace, const Policy * policy, Playout * playouts)
{
  if (policy->run != NULL)
    return policy->run (trace, playouts);
  policy_element (trace, policy->element, playouts);
  return true;
}

static void
print_header (void)
{
  printf
      ("trace,policy,gaps_per_s,skips_per_s,drops_per_s,delay_ms,delay_p95_ms,"
      "adaptations_per_min,r,r_p5,r_larger\n");
}

static void
print_score (const Trace * trace, const char *policy, const Score * s)
{
  printf ("%s,\"%s\",%.4f,%.4f,%.4f,%.2f,%.2f,%.2f,%.3f,%.3f,%.3f\n",
      trace->name, policy, s->gaps_per_s, s->skips_per_s, s->drops_per_s,
      s->delay_ms, s->delay_p95_ms, s->adaptations_per_min, s->r, s->r_p5,
      s->r_larger);
  fflush (stdout);
}

static Playout *
playouts_for (const Trace * trace)
{
  return calloc (trace->n_packets, sizeof (Playout));
}

/* --- side by side --- */

static void
compare (const Trace * trace)
{
  Playout *playouts = playouts_for (trace);

  for (size_t i = 0; i < G_N_ELEMENTS (policies); i++) {
    Score s;

    if (!run (trace, &policies[i], playouts)) {
      fprintf (stderr, "%s: not built in\n", policies[i].name);
      continue;
    }
    score (trace, playouts, policies[i].sink, &s);
    print_score (trace, policies[i].name, &s);
  }
  free (playouts);
}

static void
print_seconds (const Trace * trace)
{
  Playout *playouts = playouts_for (trace);

  for (size_t i = 0; i < G_N_ELEMENTS (policies); i++) {
    ScoreSecond *seconds;
    size_t n;

    if (!run (trace, &policies[i], playouts))
      continue;
    seconds = score_seconds (trace, playouts, policies[i].sink, &n);
    for (size_t t = 0; t < n; t++)
      printf ("%s,\"%s\",%zu,%.4f,%.2f\n", trace->name, policies[i].name, t,
          seconds[t].gaps, seconds[t].delay_ms);
    free (seconds);
  }
  free (playouts);
}

/* --- table 1 of the paper --- */

/* The paper's queue, to the letter; and a virtual one in which a lost packet
 * keeps its place, so that its delay does not shrink with each loss */
#define LITERAL(threshold) "qmjitterbuffer timing=tick threshold=" threshold \
    " length=2 decay=1 after-drop=kept max-delay=4000"
#define VIRTUAL(threshold) "qmjitterbuffer threshold=" threshold \
    " length=2 decay=1 after-drop=kept max-delay=4000 memory-time=0"

static void
print_table1 (const Trace * trace)
{
  static const struct
  {
    const char *name, *element;
  } rows[] = {
    {"(30, 2)", LITERAL ("30")},
    {"(150, 2)", LITERAL ("150")},
    {"(3600, 2)", LITERAL ("3600")},
    {"virtual (30, 2)", VIRTUAL ("30")},
    {"virtual (150, 2)", VIRTUAL ("150")},
    {"virtual (3600, 2)", VIRTUAL ("3600")},
    {"qmjitterbuffer", "qmjitterbuffer"},
    {"none 20 ms", FIXED ("none", "20")},
    {"none 60 ms", FIXED ("none", "60")},
    {"none 100 ms", FIXED ("none", "100")},
    {"none 200 ms", FIXED ("none", "200")},
  };
  Playout *playouts = playouts_for (trace);
  Score s;

  policy_none (trace, playouts);
  score (trace, playouts, SINK_EXACT, &s);
  print_score (trace, "no buffering", &s);
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    policy_element (trace, rows[i].element, playouts);
    score (trace, playouts, SINK_EXACT, &s);
    print_score (trace, rows[i].name, &s);
  }
  free (playouts);
}

/* --- one parameter after another --- */

typedef struct
{
  const char *name;
  size_t offset;                /* of the parameter */
  FmxDuration values_ms[5];     /* 0 ends */
} Sweep;

static void
print_variant (const Trace * trace, const char *name,
    const FmxPlayoutParams * params)
{
  FmxPlayoutParams by_default;
  Playout *playouts = playouts_for (trace);
  char label[80];
  Score s;

  memset (&by_default, 0, sizeof by_default);
  fmx_playout_params_default (&by_default);
  snprintf (label, sizeof label, "%s%s", name,
      memcmp (&by_default, params, sizeof by_default) == 0 ? " (default)" : "");
  policy_lib (trace, params, playouts);
  score (trace, playouts, SINK_EXACT, &s);
  print_score (trace, label, &s);
  free (playouts);
}

static void
params_init (FmxPlayoutParams * params)
{
  memset (params, 0, sizeof *params);   /* padding too: see print_variant() */
  fmx_playout_params_default (params);
}

static void
print_sweep_ms (const Trace * trace, const Sweep * sweep)
{
  for (size_t i = 0; i < G_N_ELEMENTS (sweep->values_ms)
      && sweep->values_ms[i] > 0; i++) {
    FmxPlayoutParams params;
    char name[64];

    params_init (&params);
    *(FmxDuration *) ((char *) &params + sweep->offset) =
        sweep->values_ms[i] * FMX_MSECOND;
    snprintf (name, sizeof name, "%s = %d ms", sweep->name,
        (int) sweep->values_ms[i]);
    print_variant (trace, name, &params);
  }
}

static void
print_sweep (const Trace * trace)
{
  static const Sweep sweeps[] = {
    {"memory", offsetof (FmxPlayoutParams, memory),
        {15000, 30000, 60000, 180000, 300000}},
    {"threshold_time", offsetof (FmxPlayoutParams, threshold_time),
        {400, 800, 1600, 2400, 4800}},
    {"reserve", offsetof (FmxPlayoutParams, reserve), {5, 10, 20, 30, 1000}},
    {"growth_step", offsetof (FmxPlayoutParams, growth_step),
        {1, 2, 5, 10, 1000}},
  };
  static const double decays[] = { 1.0, 1.5, 2.0, 3.0 };
  static const char *const after_drops[] = { "shift", "kept", "reset" };
  FmxPlayoutParams params;
  char name[64];

  params_init (&params);
  params.memory = 0;
  print_variant (trace, "memory = none", &params);
  for (size_t i = 0; i < G_N_ELEMENTS (sweeps); i++)
    print_sweep_ms (trace, &sweeps[i]);
  for (size_t i = 0; i < G_N_ELEMENTS (decays); i++) {
    params_init (&params);
    params.decay = decays[i];
    snprintf (name, sizeof name, "decay = %.1f", decays[i]);
    print_variant (trace, name, &params);
  }
  for (uint32_t length = 1; length <= 3; length++) {
    params_init (&params);
    params.length = length;
    snprintf (name, sizeof name, "length = %u", length);
    print_variant (trace, name, &params);
  }
  for (size_t i = 0; i < G_N_ELEMENTS (after_drops); i++) {
    params_init (&params);
    params.after_drop = (FmxQueueMonitorAfterDrop) i;
    snprintf (name, sizeof name, "after_drop = %s", after_drops[i]);
    print_variant (trace, name, &params);
  }
}

/* --- a day --- */

/* Delays are counted on the sender's clock. */
static void
put_on_senders_clock (const Trace * trace, Playout * playouts, double ppm)
{
  for (size_t i = 0; i < trace->n_packets; i++) {
    Playout *p = &playouts[i];

    if (p->due == FMX_TIME_NONE)
      continue;
    p->due = (FmxTime) ((double) (p->due - TRACE_SKEW_START)
        / (1.0 + ppm * 1e-6));
    p->pushed = (FmxTime) ((double) (p->pushed - TRACE_SKEW_START)
        / (1.0 + ppm * 1e-6));
  }
}

static void
print_day (void)
{
  static const double ppm[] = { 200.0, -200.0 };

  for (size_t i = 0; i < G_N_ELEMENTS (ppm); i++) {
    Trace trace;
    Playout *playouts;
    Score s;

    trace_make_skew (&trace, ppm[i], 24 * 3600 * FMX_SECOND);
    playouts = playouts_for (&trace);
    policy_element (&trace, "qmjitterbuffer", playouts);
    put_on_senders_clock (&trace, playouts, ppm[i]);
    score (&trace, playouts, SINK_EXACT, &s);
    print_score (&trace, "qmjitterbuffer", &s);
    free (playouts);
    trace_free (&trace);
  }
}

/* --- what a packet costs --- */

static void
feed (const char *element, const char *n_packets, bool with_probe)
{
  Trace trace;

  trace_make_skew (&trace, 0.0, atoi (n_packets) * (FmxDuration) PACKET);
  /* a second of silence after the first one, in which that is let go */
  for (size_t i = 1; i < trace.n_packets; i++) {
    trace.packets[i].send += FMX_SECOND;
    trace.packets[i].arrival += FMX_SECOND;
  }
  policy_element_feed (&trace, element, with_probe);
  trace_free (&trace);
}

/* --- the test --- */

typedef struct
{
  double r, best_fixed, speexdsp, delay_ms;
  unsigned n;
  bool no_speexdsp;
} Means;

static bool
check (const Trace * trace, bool all, Means * means)
{
  Playout *playouts = playouts_for (trace);
  Score ours, s;
  double best = 0.0;
  const char *best_name = "";
  bool good;

  run (trace, &policies[0], playouts);
  score (trace, playouts, SINK_EXACT, &ours);
  for (size_t i = FIRST_FIXED; i <= LAST_FIXED; i++) {
    if (!all && !g_strv_contains (best_fixed, policies[i].name))
      continue;
    run (trace, &policies[i], playouts);
    score (trace, playouts, SINK_EXACT, &s);
    if (s.r > best) {
      best = s.r;
      best_name = policies[i].name;
    }
  }
  memset (&s, 0, sizeof s);
  if (run (trace, &policies[SPEEXDSP], playouts))
    score (trace, playouts, policies[SPEEXDSP].sink, &s);
  else
    means->no_speexdsp = true;
  free (playouts);
  good = ours.r >= best - (strncmp (trace->name, "syn_", 4) == 0 ?
      MAX_BEHIND_MADE_UP_R : MAX_BEHIND_REAL_R);
  printf ("%s %-14s R %.2f, best of the fixed ones %.2f (%s), ",
      good ? "ok  " : "FAIL", trace->name, ours.r, best, best_name);
  if (!means->no_speexdsp)
    printf ("speexdsp %.2f, ", s.r);
  printf ("delay %.1f ms\n", ours.delay_ms);
  if (strncmp (trace->name, "syn_", 4) != 0) {
    means->r += ours.r;
    means->best_fixed += best;
    means->speexdsp += s.r;
    means->delay_ms += ours.delay_ms;
    means->n++;
  }
  return good;
}

static bool
check_means (const Means * means)
{
  double n = means->n;
  bool good = means->n == 0 || (means->r / n
      >= means->best_fixed / n - MAX_BEHIND_MEAN_R
      && (means->no_speexdsp || means->r >= means->speexdsp)
      && means->delay_ms / n < MAX_DELAY_MS);

  if (means->n > 0)
    printf ("%s mean of %u real ones: R %.2f, best fixed one of each %.2f, ",
        good ? "ok  " : "FAIL", means->n, means->r / n, means->best_fixed / n);
  if (means->n > 0 && !means->no_speexdsp)
    printf ("speexdsp %.2f, ", means->speexdsp / n);
  if (means->n > 0)
    printf ("delay %.1f ms\n", means->delay_ms / n);
  if (means->no_speexdsp)
    printf ("speexdsp's jitter buffer is not there to compare with: install "
        "libspeexdsp-dev and build anew\n");
  return good;
}

int
main (int argc, char **argv)
{
  const char *mode = "";
  Means means = { 0 };
  bool good = true, is_check;
  int i = 1;

  gst_init (&argc, &argv);
  if (argc == 4 && strncmp (argv[1], "--cost", 6) == 0) {
    feed (argv[2], argv[3], strcmp (argv[1], "--cost-probe") == 0);
    return 0;
  }
  if (argc > 1 && argv[1][0] == '-')
    mode = argv[i++];
  is_check = strncmp (mode, "--check", 7) == 0;
  if (strcmp (mode, "--seconds") == 0)
    printf ("trace,policy,second,gaps,delay_ms\n");
  else if (!is_check)
    print_header ();
  if (strcmp (mode, "--day") == 0)
    print_day ();
  for (; i < argc; i++) {
    Trace trace;

    if (!trace_open (&trace, argv[i])) {
      fprintf (stderr, "%s: not a trace\n", argv[i]);
      return 2;
    }
    if (is_check)
      good = check (&trace, strcmp (mode, "--check-all") == 0, &means) && good;
    else if (strcmp (mode, "--seconds") == 0)
      print_seconds (&trace);
    else if (strcmp (mode, "--sweep") == 0)
      print_sweep (&trace);
    else if (strcmp (mode, "--table1") == 0)
      print_table1 (&trace);
    else
      compare (&trace);
    trace_free (&trace);
  }
  if (is_check)
    good = check_means (&means) && good;
  if (good && means.no_speexdsp)
    return EXIT_SKIPPED;
  return good ? 0 : 1;
}
