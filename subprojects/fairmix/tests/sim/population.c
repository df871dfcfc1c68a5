/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A controller in a population of networks.
 *
 * usage: population [--controller NAME] [--draws N] [--tuned|--held-out|--both]
 *                   [--family N] [--each] [--paced] [--compare]
 *                   [--seen-late] [--max-hold MS]
 *
 * NAME may be tcp: an endless one, of the kind of the others.  --compare: how many
 * draws are inside, and in brackets the median, of each controller side by side.  --seen-late: arrivals are noted when a busy
 * computer reads them, not by its kernel.
 * --max-hold: nothing leaves for so long at most where a path became narrow; 0 = never.
 * Prints for each family how many of its draws are inside the targets.  Even
 * seeds are for tuning, odd ones are held out: what is said of a controller is
 * said of these. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fmx-sim-draw.h"

#define MAX_DRAWS 2000u
#define CLIMB_BESIDE_TCP_S 10.0
#define CLIMB_ALONE_S 4.0

typedef struct
{
  FmxSimSubject subject;
  unsigned n;
  unsigned first;               /* seed: 0 = tuned, 1 = held out */
  int family;                   /* -1 = all */
  bool each;
  bool seen_late;
  bool compare;                 /* all controllers, side by side */
  bool both;                    /* a column for what is inside of the tuned ones */
} Options;

typedef struct
{
  unsigned n, ok, extreme, steady, quick;
  double changes, apart, padding, start_queue_s;
  double values[MAX_DRAWS];     /* what the family is about */
} Tally;

static Tally tally;

static bool
is_beside_tcp (FmxSimFamily family)
{
  return family <= FMX_SIM_BESIDE_TCP_LOSSY || family == FMX_SIM_SEVERAL
      || family == FMX_SIM_BESIDE_BBR;
}

/* The figure that the family's target is about. */
static double
value_of (const FmxSimDraw *draw, const FmxSimOutcome *out)
{
  if (is_beside_tcp (draw->family))
    return out->ratio;
  if (draw->family == FMX_SIM_WEB)
    return out->share;
  return draw->family == FMX_SIM_OWN || draw->family == FMX_SIM_MANY ? out->jain : out->used;
}

static int
compare (const void *a, const void *b)
{
  double left = *(const double *) a, right = *(const double *) b;

  return (left > right) - (left < right);
}

static void
print_each (const FmxSimDraw *draw, const FmxSimOutcome *out)
{
  static const char *const disciplines[] = { "fifo", "red", "codel",
    "fq_codel", "pie"
  };

  printf ("%4u %s %7.0f kbit/s %5.1f ms queue %5.0f ms %-8s %s%u %s loss %.3f "
      "jitter %.0f+%.0f ms: ratio %5.2f used %.2f jain %.2f queue95 %5.1f ms "
      "loss %.3f tcp %.3f changes %.1f turns %.1f apart %.2f padding %.3f "
      "climb %.0f s start %.0f ms\n", (unsigned) draw->seed,
      out->ok ? "ok " : "BAD", draw->link.rate_bps / 1e3,
      fmx_time_to_s (draw->link.delay) * 1e3, draw->link.queue_packets > 0
      ? draw->link.queue_packets * 12e6 / draw->link.rate_bps
      : draw->link.queue_bytes * 8e3 / draw->link.rate_bps,
      disciplines[draw->nature.discipline], draw->nature.ecn ? "ecn " : "",
      draw->n_tcps, fmx_sim_tcp_kind_names[draw->tcp.kind],
      draw->link.loss, fmx_time_to_s (draw->nature.jitter) * 1e3,
      fmx_time_to_s (draw->nature.stall) * 1e3, out->ratio, out->used,
      out->jain, out->queue_s * 1e3, out->loss, out->tcp_loss, out->changes, out->turns, out->apart,
      out->padding, out->climb_s, out->start_queue_s * 1e3);
}

static void
run_draws (const Options *options, FmxSimFamily family, unsigned first)
{
  memset (&tally, 0, sizeof tally);
  for (unsigned i = 0; i < options->n; i++) {
    FmxSimDraw draw = fmx_sim_draw (family, 2 * i + first);
    FmxSimOutcome out;
    double value;

    draw.seen_late = options->seen_late;
    out = fmx_sim_draw_run (&draw, &options->subject);
    value = value_of (&draw, &out);
    tally.values[tally.n++] = value;
    tally.ok += out.ok;
    tally.changes += out.changes;
    tally.apart += out.apart;
    tally.padding += out.padding;
    tally.start_queue_s += out.start_queue_s;
    tally.steady += out.changes <= 2.0;
    tally.quick += out.climb_s <= (is_beside_tcp (family)
        ? CLIMB_BESIDE_TCP_S : CLIMB_ALONE_S);
    if (is_beside_tcp (family))
      tally.extreme += value < 0.33 || value > 3.0;
    if (options->each)
      print_each (&draw, &out);
  }
  qsort (tally.values, tally.n, sizeof tally.values[0], compare);
}

static void
run_family (const Options *options, FmxSimFamily family)
{
  char tuned[16] = "", start[16] = "";        /* of a TCP's queue it says nothing */

  if (options->both) {
    run_draws (options, family, 0);
    snprintf (tuned, sizeof tuned, " %.0f %% |", 100.0 * tally.ok / tally.n);
  }
  run_draws (options, family, options->both ? 1 : options->first);
  printf ("| %s |%s", fmx_sim_family_names[family], tuned);
  if (!is_beside_tcp (family) && family != FMX_SIM_WEB)
    snprintf (start, sizeof start, "%.0f ms", 1e3 * tally.start_queue_s
        / tally.n);
  printf (" %u | %.0f %% | %.0f %% | %.0f %% | %.1f | %.1f | %.1f %% | %.0f %% | %s | %.2f | %.2f | %.2f |\n",
      tally.n, 100.0 * tally.ok / tally.n, 100.0 * tally.extreme / tally.n,
      100.0 * tally.steady / tally.n, tally.changes / tally.n,
      tally.apart / tally.n,
      100.0 * tally.padding / tally.n,
      100.0 * tally.quick / tally.n, start, tally.values[tally.n / 20],
      tally.values[tally.n / 2], tally.values[tally.n - 1 - tally.n / 20]);
  fflush (stdout);
}

static const char *
name_of (const FmxSimSubject *subject)
{
  return subject->klass != NULL ? subject->klass->name : "tcp";
}

/* --------------------------------------------------------- side by side -- */

static const FmxRateClass *const compared[] = {
  &fmx_rate_shortq, &fmx_rate_dpm, &fmx_rate_tfrc, &fmx_rate_gaimd
};

static const unsigned n_compared = sizeof compared / sizeof compared[0];

static void
compare_in_family (Options *options, FmxSimFamily family)
{
  printf ("| %s |", fmx_sim_family_names[family]);
  for (unsigned i = 0; i < n_compared; i++) {
    options->subject.klass = compared[i];
    run_draws (options, family, options->first);
    printf (" %.0f %% (%.2f) |", 100.0 * tally.ok / tally.n,
        tally.values[tally.n / 2]);
  }
  printf ("\n");
  fflush (stdout);
}

static void
print_head (const Options *options)
{
  printf ("%s, %s seeds\n\n", options->compare ? "inside (median)"
      : name_of (&options->subject),
      options->first == 0 && !options->both ? "tuned (even)" : "held-out (odd)");
  if (options->compare) {
    printf ("| family |");
    for (unsigned i = 0; i < n_compared; i++)
      printf (" %s |", compared[i]->name);
    printf ("\n|---|---|---|---|---|\n");
    return;
  }
  printf ("| family |%s draws | inside | ratio outside 1/3 to 3 "
      "| changes <= 2/min | changes/min | apart | padding | climbs in time | start's queue | 5 %% | median | 95 %% |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|%s\n",
      options->both ? " inside, tuned |" : "", options->both ? "---|" : "");
}

static bool
set_controller (FmxSimSubject *subject, const char *name)
{
  subject->klass = fmx_rate_class_find (name);
  return subject->klass != NULL || strcmp (name, "tcp") == 0;
}

/* Of FmxSimSubject, 0 is another */
static FmxDuration
max_hold (const char *ms)
{
  FmxDuration most = atoi (ms) * FMX_MSECOND;

  return most > 0 ? most : -1;
}

static bool
parse (Options *options, int argc, char **argv)
{
  for (int i = 1; i < argc; i++) {
    if (strcmp (argv[i], "--tuned") == 0)
      options->first = 0;
    else if (strcmp (argv[i], "--held-out") == 0)
      options->first = 1;
    else if (strcmp (argv[i], "--both") == 0)
      options->both = true;
    else if (strcmp (argv[i], "--each") == 0)
      options->each = true;
    else if (strcmp (argv[i], "--paced") == 0)
      options->subject.paced = true;
    else if (strcmp (argv[i], "--seen-late") == 0)
      options->seen_late = true;
    else if (strcmp (argv[i], "--compare") == 0)
      options->compare = true;
    else if (i + 1 == argc)
      return false;
    else if (strcmp (argv[i], "--controller") == 0) {
      if (!set_controller (&options->subject, argv[++i]))
        return false;
    } else if (strcmp (argv[i], "--draws") == 0)
      options->n = (unsigned) atoi (argv[++i]);
    else if (strcmp (argv[i], "--family") == 0)
      options->family = atoi (argv[++i]);
    else if (strcmp (argv[i], "--max-hold") == 0)
      options->subject.max_hold = max_hold (argv[++i]);
    else
      return false;
  }
  return options->n > 0 && options->n <= MAX_DRAWS
      && options->family < (int) FMX_SIM_N_FAMILIES;
}

int
main (int argc, char **argv)
{
  Options options = {.subject = {.klass = &fmx_rate_shortq},.n = 24,.first = 1,.family = -1 };

  if (!parse (&options, argc, argv)) {
    fprintf (stderr, "usage: population [--controller NAME] [--draws N] "
        "[--tuned|--held-out|--both] [--family N] [--each] [--paced] [--compare] "
        "[--seen-late] [--max-hold MS]\n");
    return 2;
  }
  print_head (&options);
  for (unsigned f = 0; f < FMX_SIM_N_FAMILIES; f++)
    if (options.family < 0 || options.family == (int) f) {
      if (options.compare)
        compare_in_family (&options, (FmxSimFamily) f);
      else
        run_family (&options, (FmxSimFamily) f);
    }
  return 0;
}
