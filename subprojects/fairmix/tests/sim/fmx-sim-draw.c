/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/fmx-sim-draw.h"

#include <math.h>
#include <string.h>

#define MS FMX_MSECOND
#define SEVERAL 4u              /* bundles at most */
#define MANY 5u                 /* at least */
#define EACH_BPS 80e3           /* so much for each */
#define LEAST_BURST 1600.0      /* bytes: a packet of 1500, and its headers */

const char *const fmx_sim_family_names[FMX_SIM_N_FAMILIES] = {
  "beside TCP", "beside TCP, packets", "beside TCP, managed",
  "beside TCP, lossy", "alone", "alone, steps", "own flows", "reverse TCP",
  "noise", "beside web", "late talkers", "busy computer",
  "token bucket", "several beside TCP", "own flows, many", "beside BBR"
};

static double
between (FmxRng *rng, double least, double most)
{
  return least + fmx_rng_next_unit (rng) * (most - least);
}

static double
log_between (FmxRng *rng, double least, double most)
{
  return least * pow (most / least, fmx_rng_next_unit (rng));
}

static unsigned
one_of (FmxRng *rng, unsigned n)
{
  return (unsigned) (fmx_rng_next_unit (rng) * n);
}

static void
set_queue (FmxSimDraw *draw, double seconds)
{
  double bytes = seconds * draw->link.rate_bps / 8.0;

  draw->link.queue_bytes = (uint32_t) fmax (bytes, 10.0 * 1500.0);
}

static void
draw_queue (FmxSimDraw *draw, FmxRng *rng)
{
  static const FmxSimDiscipline disciplines[] = { FMX_SIM_RED, FMX_SIM_CODEL,
    FMX_SIM_FQ_CODEL, FMX_SIM_PIE
  };

  set_queue (draw, log_between (rng, 0.02, 2.0));
  if (draw->family == FMX_SIM_BESIDE_TCP_PACKETS) {
    draw->link.queue_packets = (uint32_t) fmax (10.0,
        draw->link.queue_bytes / 1500.0);
    draw->link.queue_bytes = 0;
  } else if (draw->family == FMX_SIM_BESIDE_TCP_MANAGED
      || (draw->family == FMX_SIM_ALONE && one_of (rng, 2) == 0)) {
    draw->nature.discipline = disciplines[one_of (rng, 4)];
    draw->nature.ecn = one_of (rng, 2) == 0;
    set_queue (draw, between (rng, 0.1, 0.5));
  }
}

/* As many as can have 80 kbit/s each. */
static void
draw_tcps (FmxSimDraw *draw, FmxRng *rng)
{
  unsigned most = (unsigned) (draw->link.rate_bps / 80e3);

  draw->n_tcps = 1 + one_of (rng, most < 5 ? (most > 1 ? most - 1 : 1) : 4);
  draw->tcp.kind = one_of (rng, 2) == 0 ? FMX_SIM_RENO : FMX_SIM_CUBIC;
  if (draw->family == FMX_SIM_BESIDE_BBR)
    draw->tcp.kind = FMX_SIM_BBR;
  draw->tcp.ecn = draw->nature.ecn;
  draw->tcp.back = draw->link.delay;
  if (draw->family == FMX_SIM_WEB) {
    draw->tcp.transfer_bytes = (uint64_t) log_between (rng, 20e3, 2e6);
    draw->tcp.pause = (FmxDuration) log_between (rng, 1e9, 10e9);
  }
  if (draw->family == FMX_SIM_BESIDE_TCP_LOSSY) {
    draw->n_tcps = 1;
    draw->link.loss = log_between (rng, 0.001, 0.1);
    draw->link.rate_bps = 20e6; /* the loss is the limit */
    set_queue (draw, 0.2);
  }
}

static void
draw_noise (FmxSimDraw *draw, FmxRng *rng)
{
  set_queue (draw, log_between (rng, 0.1, 0.5));
  if (one_of (rng, 2) == 0) {
    draw->nature.jitter = (FmxDuration) log_between (rng, 5e6, 50e6);
  } else {
    draw->nature.jitter = 3 * MS;
    draw->nature.stall = (FmxDuration) log_between (rng, 20e6, 150e6);
    draw->nature.stall_interval = (FmxDuration) log_between (rng, 0.2e9, 5e9);
  }
}

FmxSimDraw
fmx_sim_draw (FmxSimFamily family, uint64_t seed)
{
  FmxSimDraw draw;
  FmxRng rng;

  memset (&draw, 0, sizeof draw);
  fmx_rng_init (&rng, seed * 2654435761u + (uint64_t) family * 40503u + 1);
  draw.family = family;
  draw.seed = seed;
  draw.link.rate_bps = log_between (&rng, 100e3, 10e6);
  draw.link.delay = (FmxDuration) log_between (&rng, 2e6, 200e6);
  draw.n_bundles = 1;
  draw_queue (&draw, &rng);
  if (family <= FMX_SIM_BESIDE_TCP_LOSSY || family == FMX_SIM_WEB
      || family == FMX_SIM_SEVERAL || family == FMX_SIM_BESIDE_BBR)
    draw_tcps (&draw, &rng);
  if (family == FMX_SIM_STEPS)
    draw.step_interval = (FmxDuration) between (&rng, 15e9, 30e9);
  if (family == FMX_SIM_NOISE)
    draw_noise (&draw, &rng);
  if (family == FMX_SIM_BUSY) {
    draw.stall = (FmxDuration) log_between (&rng, 50e6, 300e6);
    draw.stall_interval = (FmxDuration) log_between (&rng, 0.5e9, 10e9);
  }
  if (family == FMX_SIM_SHAPED)
    draw.nature.burst_bytes = (uint32_t) fmax (LEAST_BURST,
        log_between (&rng, 0.005, 0.5) * draw.link.rate_bps / 8.0);
  if (family == FMX_SIM_SEVERAL) {
    draw.n_bundles = 2 + one_of (&rng, SEVERAL - 1);
    draw.link.rate_bps *= draw.n_bundles;       /* each has what one would have */
    draw.link.queue_bytes *= draw.n_bundles;
    for (unsigned i = 1; i < draw.n_bundles; i++)
      draw.delay[i] = (FmxDuration) between (&rng, 0.0, 30e6);
  }
  if (family == FMX_SIM_OWN || family == FMX_SIM_MANY) {
    double spread = log_between (&rng, 1.0, 30.0);

    draw.n_bundles = family == FMX_SIM_OWN ? 2 + one_of (&rng, 2)
        : MANY + one_of (&rng, FMX_SIM_DRAW_FLOWS - MANY + 1);
    if (family == FMX_SIM_MANY)
      draw.link.rate_bps = fmax (draw.link.rate_bps, draw.n_bundles * EACH_BPS);
    draw.link.delay = (FmxDuration) log_between (&rng, 2e6, 10e6);
    for (unsigned i = 1; i < draw.n_bundles; i++)
      draw.delay[i] = (FmxDuration) ((double) draw.link.delay
          * (pow (spread, i / (draw.n_bundles - 1.0)) - 1.0));
  }
  if (family == FMX_SIM_REVERSE) {
    draw.n_tcps = 1;
    draw.tcp.kind = one_of (&rng, 2) == 0 ? FMX_SIM_RENO : FMX_SIM_CUBIC;
    draw.tcp.back = draw.link.delay;
    set_queue (&draw, log_between (&rng, 0.05, 1.0));
  }
  return draw;
}

uint64_t
fmx_sim_draw_rates_seed (const FmxSimDraw *draw)
{
  return draw->seed + 77;
}

double
fmx_sim_draw_next_rate (const FmxSimDraw *draw, FmxRng *rng)
{
  return draw->link.rate_bps * log_between (rng, 0.4, 1.6);
}
