/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/fmx-sim-draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS FMX_MSECOND
#define S FMX_SECOND
#define VOICE_BPS 80e3
#define VOICES 8.0
#define LOOK (20 * MS)
#define MAX_LOOKS 8192u
#define FIRST_TCP_FLOW 8u

const char *const fmx_sim_family_names[FMX_SIM_N_FAMILIES] = {
  "beside TCP", "beside TCP, packets", "beside TCP, managed",
  "beside TCP, lossy", "alone", "alone, steps", "own flows", "reverse TCP",
  "noise"
};

/* All that runs; one at a time. */
static struct
{
  const FmxSimDraw *draw;
  FmxSimLink forward;
  FmxSimAqm aqm;
  FmxSimBundle bundles[FMX_SIM_DRAW_FLOWS];
  FmxSimLink access[FMX_SIM_DRAW_FLOWS];        /* behind the bottleneck */
  FmxSimTcp tcps[FMX_SIM_DRAW_FLOWS];
  FmxRng rng;
  FmxTime step_at;
  double nominal_bps;
  double capacity_bits;         /* since the warm-up */
  FmxTime counted;
  double queue_s[MAX_LOOKS];
  unsigned n_looks;
  unsigned n_voices[FMX_SIM_DRAW_FLOWS];
  uint64_t n_changes;
} world;

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
  draw->tcp.ecn = draw->nature.ecn;
  draw->tcp.back = draw->link.delay;
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
  if (family <= FMX_SIM_BESIDE_TCP_LOSSY)
    draw_tcps (&draw, &rng);
  if (family == FMX_SIM_STEPS)
    draw.step_interval = (FmxDuration) between (&rng, 15e9, 30e9);
  if (family == FMX_SIM_NOISE)
    draw_noise (&draw, &rng);
  if (family == FMX_SIM_OWN) {
    double spread = log_between (&rng, 1.0, 30.0);

    draw.n_bundles = 2 + one_of (&rng, 2);
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

static void
on_reverse (void *user, const FmxSimPacket *packet, FmxTime now)
{
  fmx_sim_tcp_on_arrival (user, packet, now);
}

static FmxSimBundleParams
bundle_params (const FmxSimDraw *draw, const FmxRateClass *klass, unsigned i)
{
  FmxSimBundleParams params;

  memset (&params, 0, sizeof params);
  fmx_rate_sender_params_default (&params.sender);
  params.sender.klass = klass;
  params.behaviour = FMX_SIM_PACED;
  params.n_streams = 1;
  params.wire_bytes = 200;
  params.packet_interval = MS / 10;
  params.jitter = 2 * MS;
  params.back.delay = draw->link.delay + 2 * draw->delay[i];
  params.back.loss = draw->loss_back;
  params.start = (2 + 3 * i) * (FmxTime) S;
  params.ecn = draw->nature.ecn;
  if (draw->family == FMX_SIM_REVERSE) {
    params.back.rate_bps = draw->link.rate_bps;
    params.back.queue_bytes = draw->link.queue_bytes;
  }
  return params;
}

static void
begin (const FmxSimDraw *draw, const FmxRateClass *klass)
{
  memset (&world, 0, sizeof world);
  world.draw = draw;
  world.nominal_bps = draw->link.rate_bps;
  fmx_rng_init (&world.rng, draw->seed + 77);
  fmx_sim_link_init (&world.forward, &draw->link, draw->seed + 1);
  fmx_sim_link_set_nature (&world.forward, &draw->nature, &world.aqm,
      draw->seed + 2);
  for (unsigned i = 0; i < draw->n_bundles; i++) {
    FmxSimBundleParams params = bundle_params (draw, klass, i);

    fmx_sim_bundle_init (&world.bundles[i], &params, &world.forward, 1 + i,
        draw->seed + 10 * i);
  }
  for (unsigned i = 0; i < draw->n_tcps; i++) {
    FmxSimTcpParams params = draw->tcp;
    bool reverse = draw->family == FMX_SIM_REVERSE;

    params.start = reverse ? 20 * (FmxTime) S : i * 5 * (FmxTime) S;
    fmx_sim_tcp_init (&world.tcps[i], &params,
        reverse ? &world.bundles[0].back : &world.forward, FIRST_TCP_FLOW + i,
        draw->seed + 100 * i);
    if (reverse) {
      world.bundles[0].on_other = on_reverse;
      world.bundles[0].user = &world.tcps[0];
    }
  }
  world.step_at = draw->step_interval > 0 ? (FmxTime) draw->step_interval
      : FMX_TIME_NONE;
}

static FmxTime
next_event (void)
{
  FmxTime next = fmx_sim_link_next (&world.forward);

  for (unsigned i = 0; i < world.draw->n_bundles; i++)
    next = fmx_time_min (next, fmx_sim_bundle_next (&world.bundles[i]));
  for (unsigned i = 0; i < world.draw->n_tcps; i++)
    next = fmx_time_min (next, fmx_sim_tcp_next (&world.tcps[i]));
  return fmx_time_min (next, world.step_at);
}

static void
count_capacity (FmxTime now)
{
  world.capacity_bits += world.forward.params.rate_bps
      * fmx_time_to_s (fmx_time_diff (now, world.counted));
  world.counted = now;
}

static void
run_events (FmxTime now)
{
  FmxSimPacket packet;

  if (now >= world.step_at) {
    count_capacity (now);
    fmx_sim_link_set_rate (&world.forward, world.nominal_bps
        * log_between (&world.rng, 0.4, 1.6));
    world.step_at = now + (FmxTime) world.draw->step_interval;
  }
  while (fmx_sim_link_receive (&world.forward, &packet, now))
    if (packet.flow >= FIRST_TCP_FLOW)
        fmx_sim_tcp_on_arrival (&world.tcps[packet.flow - FIRST_TCP_FLOW],
          &packet, now);
    else
      fmx_sim_bundle_on_arrival (&world.bundles[packet.flow - 1], &packet, now);
  for (unsigned i = 0; i < world.draw->n_tcps; i++)
    if (fmx_sim_tcp_next (&world.tcps[i]) <= now)
        fmx_sim_tcp_run (&world.tcps[i], now);
  for (unsigned i = 0; i < world.draw->n_bundles; i++)
    if (fmx_sim_bundle_next (&world.bundles[i]) <= now)
        fmx_sim_bundle_run (&world.bundles[i], now);
}

/* How many voices fit, of eight, with a tenth to spare against flapping. */
static void
look (FmxTime now)
{
  if (world.n_looks < MAX_LOOKS)
    world.queue_s[world.n_looks++] =
        fmx_time_to_s (fmx_sim_link_queue_delay (&world.forward, now));
  for (unsigned i = 0; i < world.draw->n_bundles; i++) {
    double fit = (double) fmx_rate_sender_target_bps (&world.bundles[i].sender)
        / VOICE_BPS;
    unsigned n = (unsigned) fmin (fit, VOICES);

    if (n > world.n_voices[i] && fit < 1.1 * n)
      n = world.n_voices[i];
    world.n_changes += n != world.n_voices[i];
    world.n_voices[i] = n;
  }
}

static void
begin_to_count (FmxTime now)
{
  for (unsigned i = 0; i < world.draw->n_bundles; i++)
    fmx_sim_bundle_restart_counters (&world.bundles[i], now);
  for (unsigned i = 0; i < world.draw->n_tcps; i++)
    fmx_sim_tcp_restart_counters (&world.tcps[i]);
  world.capacity_bits = 0.0;
  world.counted = now;
  world.n_looks = 0;
  look (now);
  world.n_changes = 0;
}

static int
compare (const void *a, const void *b)
{
  double left = *(const double *) a, right = *(const double *) b;

  return (left > right) - (left < right);
}

static void
judge (FmxSimOutcome *out, const FmxSimDraw *draw)
{
  double loss_limit = fmax (0.01, 1.5 * out->tcp_loss);

  switch (draw->family) {
    case FMX_SIM_BESIDE_TCP:
    case FMX_SIM_BESIDE_TCP_PACKETS:
    case FMX_SIM_BESIDE_TCP_MANAGED:
      out->ok = out->ratio >= 0.5 && out->ratio <= 2.0
          && out->loss <= loss_limit;
      break;
    case FMX_SIM_BESIDE_TCP_LOSSY:
      out->ok = out->ratio >= 0.5 && out->ratio <= 2.0;
      break;
    case FMX_SIM_ALONE:
      out->ok = out->used >= 0.9 && out->queue_s <= fmax (0.06,
          5.0 * out->packet_s) && out->loss <= loss_limit;
      break;
    case FMX_SIM_OWN:
      out->ok = out->jain >= 0.9 && out->used >= 0.9;
      break;
    case FMX_SIM_STEPS:
    case FMX_SIM_REVERSE:
    default:
      out->ok = out->used >= 0.85;
      break;
  }
}

static FmxSimOutcome
sum_up (const FmxSimDraw *draw)
{
  double seconds = fmx_time_to_s (FMX_SIM_DRAW_END - FMX_SIM_DRAW_WARM_UP);
  double own = 0.0, squares = 0.0, others = 0.0;
  uint64_t sent = 0, lost = 0;
  FmxSimOutcome out = { 0 };

  for (unsigned i = 0; i < draw->n_bundles; i++) {
    double bps = 8.0 * (double) world.bundles[i].received_bytes / seconds;

    own += bps;
    squares += bps * bps;
    out.loss += fmx_sim_bundle_loss (&world.bundles[i]) / draw->n_bundles;
  }
  for (unsigned i = 0; i < draw->n_tcps; i++) {
    others += 8.0 * (double) world.tcps[i].received_bytes / seconds;
    sent += world.tcps[i].n_sent;
    lost += world.tcps[i].n_lost;
  }
  out.tcp_loss = sent > 0 ? (double) lost / (double) sent : 0.0;
  if (draw->family == FMX_SIM_REVERSE)
    others = 0.0;
  if (others > 0.0)
    out.ratio = own / draw->n_bundles / (others / draw->n_tcps);
  out.used = (own + others) * seconds / world.capacity_bits;
  out.jain = squares > 0.0 ? own * own / (draw->n_bundles * squares) : 0.0;
  qsort (world.queue_s, world.n_looks, sizeof world.queue_s[0], compare);
  out.queue_s = world.queue_s[world.n_looks * 95 / 100];
  out.packet_s = 8.0 * 200.0 / draw->link.rate_bps;
  out.changes = (double) world.n_changes / draw->n_bundles * 60.0 / seconds;
  judge (&out, draw);
  return out;
}

FmxSimOutcome
fmx_sim_draw_run (const FmxSimDraw *draw, const FmxRateClass *klass)
{
  FmxTime now = 0, look_at = 0, end = (FmxTime) FMX_SIM_DRAW_END;
  bool counts = false;

  begin (draw, klass);
  while (now < end) {
    FmxTime next = fmx_time_min (next_event (), look_at);

    now = next > now ? next : now;
    if (!counts && now >= (FmxTime) FMX_SIM_DRAW_WARM_UP) {
      counts = true;
      begin_to_count (now);
    }
    run_events (now);
    if (now >= look_at) {
      look (now);
      look_at = now + (FmxTime) LOOK;
    }
  }
  count_capacity (now);
  return sum_up (draw);
}
