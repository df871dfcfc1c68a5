/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The population's networks for other runners, and the judgement of what came
 * of them there.
 *
 * usage: draws FAMILY N MOST_BPS: the first N held-out networks of that family in
 *            which there is no more to be had than MOST_BPS, and what the model
 *            makes of them; one in a line, in CSV
 *        draws --judge: reads lines FAMILY,ratio,share,used,jain,queue_s,packet_s,
 *            loss,tcp_loss and answers each with 1, inside the targets, or 0
 *
 * FAMILY is a number, that of population --family. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fmx-sim-draw.h"

#define MAX_SEED 4000u
#define TCP_BITS (8.0 * 1460.0)

/* The link's rate, or what random loss leaves a TCP of it. */
static double
most_of (const FmxSimDraw *draw)
{
  double rtt_s = 2.0 * fmx_time_to_s (draw->link.delay);

  if (draw->link.loss <= 0.0)
    return draw->link.rate_bps;
  return fmin (draw->link.rate_bps,
      TCP_BITS / (rtt_s * sqrt (2.0 * draw->link.loss / 3.0)));
}

static void
print_rates (const FmxSimDraw *draw)
{
  FmxRng rng;

  printf ("0:%.0f", draw->link.rate_bps);
  if (draw->step_interval <= 0)
    return;
  fmx_rng_init (&rng, fmx_sim_draw_rates_seed (draw));
  for (FmxTime t = (FmxTime) draw->step_interval; t < (FmxTime) FMX_SIM_DRAW_END;
      t += (FmxTime) draw->step_interval)
    printf (" %.3f:%.0f", fmx_time_to_s ((FmxDuration) t),
        fmx_sim_draw_next_rate (draw, &rng));
}

static void
print_network (const FmxSimDraw *draw)
{
  static const char *const queues[] = { "droptail", "red", "codel", "fq_codel",
    "pie"
  };
  uint32_t wire_bytes;
  unsigned n = fmx_sim_draw_voices (draw, &wire_bytes);

  printf ("\"%s\",%u,", fmx_sim_family_names[draw->family], (unsigned) draw->seed);
  print_rates (draw);
  printf (",%.3f,%u,%u,%s,%d,%.6f,%u,%u,", fmx_time_to_s (draw->link.delay) * 1e3,
      draw->link.queue_bytes, draw->link.queue_packets,
      queues[draw->nature.discipline], draw->nature.ecn, draw->link.loss,
      draw->nature.burst_bytes, wire_bytes);
  for (unsigned i = 0; i < draw->n_bundles; i++)
    printf ("%s%.3f", i > 0 ? " " : "", fmx_time_to_s (draw->delay[i]) * 1e3);
  printf (",%u,%u,%s,%llu,%.3f", n, draw->n_tcps,
      fmx_sim_tcp_kind_names[draw->tcp.kind],
      (unsigned long long) draw->tcp.transfer_bytes,
      fmx_time_to_s (draw->tcp.pause));
}

static void
print_draws (FmxSimFamily family, unsigned n, double most_bps)
{
  const FmxSimSubject subject = { &fmx_rate_shortq, false, 0, 0 };

  printf ("family,seed,rates,delay_ms,queue_bytes,queue_packets,queue,ecn,loss,"
      "burst_bytes,wire_bytes,access_ms,voices,tcps,cc,transfer_bytes,pause_s,"
      "ok,ratio,share,used,jain,queue_s,packet_s,own_loss,tcp_loss,changes,apart\n");
  for (unsigned seed = 1; n > 0 && seed < MAX_SEED; seed += 2) {
    FmxSimDraw draw = fmx_sim_draw (family, seed);
    FmxSimOutcome out;

    if (most_of (&draw) > most_bps)
      continue;
    out = fmx_sim_draw_run (&draw, &subject);
    print_network (&draw);
    printf (",%d,%.4f,%.4f,%.4f,%.4f,%.4f,%.6f,%.5f,%.5f,%.2f,%.2f\n", out.ok,
        out.ratio, out.share, out.used, out.jain, out.queue_s,
        out.packet_s, out.loss, out.tcp_loss, out.changes, out.apart);
    n--;
  }
}

static int
judge_lines (void)
{
  FmxSimOutcome out = { 0 };
  unsigned family;

  while (scanf ("%u,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", &family, &out.ratio,
          &out.share, &out.used, &out.jain, &out.queue_s, &out.packet_s,
          &out.loss, &out.tcp_loss) == 9 && family < FMX_SIM_N_FAMILIES)
    printf ("%d\n", fmx_sim_draw_judge ((FmxSimFamily) family, &out));
  return feof (stdin) ? 0 : 2;
}

int
main (int argc, char **argv)
{
  if (argc == 2 && strcmp (argv[1], "--judge") == 0)
    return judge_lines ();
  if (argc != 4 || atoi (argv[1]) >= FMX_SIM_N_FAMILIES) {
    fprintf (stderr, "usage: draws FAMILY N MOST_BPS | draws --judge\n");
    return 2;
  }
  print_draws ((FmxSimFamily) atoi (argv[1]), (unsigned) atoi (argv[2]), atof (argv[3]));
  return 0;
}
