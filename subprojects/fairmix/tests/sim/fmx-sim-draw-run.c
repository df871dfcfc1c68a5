/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/fmx-sim-draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS FMX_MSECOND
#define S FMX_SECOND
#define LOOK (20 * MS)
#define MAX_LOOKS 8192u
#define FIRST_TCP_FLOW (1 + FMX_SIM_DRAW_FLOWS)
#define DEMAND 1.3
#define VOICES_MIN 4.0
#define FIRST_BUNDLE (2 * (FmxTime) S)  /* the others 3 s apart */
#define CLIMB_PART 0.8          /* of the share, as the targets have it */
#define SECONDS fmx_time_to_s (FMX_SIM_DRAW_END - FMX_SIM_DRAW_WARM_UP)
#define CLIMB_WINDOW (1 * S)
#define MAX_CLIMBS 60u          /* until they are counted anew */
#define START (15 * S)          /* of the first bundle */

/* All that runs; one at a time. */
static struct
{
  const FmxSimDraw *draw;
  FmxSimLink forward;
  FmxSimAqm aqm;
  FmxSimBundle bundles[FMX_SIM_DRAW_FLOWS];
  FmxSimLink access[FMX_SIM_DRAW_FLOWS];        /* behind the bottleneck */
  FmxSimTcp tcps[FMX_SIM_DRAW_FLOWS + 1];
  unsigned n_bundles, n_tcps;   /* with the one in a bundle's place */
  FmxRng rng;
  FmxTime step_at;
  double nominal_bps;
  double capacity_bits;         /* since the warm-up */
  FmxTime counted;
  double queue_s[MAX_LOOKS];
  unsigned n_looks;
  FmxTime climb_due;
  uint64_t climb_bytes;
  double climb_bps[MAX_CLIMBS];
  unsigned n_climbs;
  double start_queue_s;
} world;

static void
on_reverse (void *user, const FmxSimPacket *packet, FmxTime now)
{
  fmx_sim_tcp_on_arrival (user, packet, now);
}

unsigned
fmx_sim_draw_voices (const FmxSimDraw *draw, uint32_t *wire_bytes)
{
  double activity = draw->family == FMX_SIM_LATE_TALKERS
      ? FMX_SIM_VOICES_ACTIVITY : 1.0;
  double bps = fmax (DEMAND * draw->link.rate_bps, VOICES_MIN
      * FMX_SIM_VOICES_BPS) / activity;
  double each_bps = fmax (FMX_SIM_VOICES_BPS, bps / FMX_SIM_VOICES_MAX);

  *wire_bytes = (uint32_t) (each_bps / 8.0
      * fmx_time_to_s (FMX_SIM_VOICES_INTERVAL) + 0.5);
  return (unsigned) ceil (bps / each_bps - 0.001);
}

static FmxSimBundleParams
bundle_params (const FmxSimDraw *draw, const FmxSimSubject *subject,
    unsigned i)
{
  FmxSimBundleParams params;

  memset (&params, 0, sizeof params);
  fmx_rate_sender_params_default (&params.sender);
  params.sender.klass = subject->klass;
  if (subject->min_bps > 0)
    params.sender.min_bps = subject->min_bps;
  if (subject->max_hold != 0)
    params.sender.max_hold = subject->max_hold > 0 ? subject->max_hold : 0;
  params.behaviour = FMX_SIM_PACED;
  params.n_streams = 1;
  params.wire_bytes = 200;
  params.packet_interval = MS / 10;
  params.jitter = 2 * MS;
  params.back.delay = draw->link.delay + 2 * draw->delay[i];
  params.back.loss = draw->loss_back;
  params.start = FIRST_BUNDLE + 3 * i * (FmxTime) S;
  params.ecn = draw->nature.ecn;
  params.pauses = draw->family == FMX_SIM_LATE_TALKERS;
  params.stall = draw->stall;
  params.seen_late = draw->seen_late;
  params.stall_interval = draw->stall_interval;
  if (!subject->paced) {
    params.behaviour = FMX_SIM_SELECTED;
    params.n_streams = fmx_sim_draw_voices (draw, &params.wire_bytes);
  }
  if (draw->family == FMX_SIM_REVERSE) {
    params.back.rate_bps = draw->link.rate_bps;
    params.back.queue_bytes = draw->link.queue_bytes;
  }
  return params;
}

static void
begin_tcps (const FmxSimDraw *draw)
{
  bool reverse = draw->family == FMX_SIM_REVERSE;

  for (unsigned i = 0; i < world.n_tcps; i++) {
    FmxSimTcpParams params = draw->tcp;

    params.start = reverse ? 20 * (FmxTime) S : i * 5 * (FmxTime) S;
    if (i == draw->n_tcps) {    /* in a bundle's place: it has no end */
      params.start = FIRST_BUNDLE;
      params.transfer_bytes = 0;
    }
    fmx_sim_tcp_init (&world.tcps[i], &params,
        reverse ? &world.bundles[0].back : &world.forward, FIRST_TCP_FLOW + i,
        draw->seed + 100 * i);
  }
  if (reverse) {
    world.bundles[0].on_other = on_reverse;
    world.bundles[0].user = &world.tcps[0];
  }
}

static void
begin (const FmxSimDraw *draw, const FmxSimSubject *subject)
{
  memset (&world, 0, sizeof world);
  world.draw = draw;
  world.nominal_bps = draw->link.rate_bps;
  world.n_bundles = subject->klass != NULL ? draw->n_bundles : 0;
  world.n_tcps = draw->n_tcps + (subject->klass == NULL);
  fmx_rng_init (&world.rng, fmx_sim_draw_rates_seed (draw));
  fmx_sim_link_init (&world.forward, &draw->link, draw->seed + 1);
  fmx_sim_link_set_nature (&world.forward, &draw->nature, &world.aqm,
      draw->seed + 2);
  for (unsigned i = 0; i < world.n_bundles; i++) {
    FmxSimBundleParams params = bundle_params (draw, subject, i);

    fmx_sim_bundle_init (&world.bundles[i], &params, &world.forward, 1 + i,
        draw->seed + 10 * i);
  }
  begin_tcps (draw);
  world.step_at = draw->step_interval > 0 ? (FmxTime) draw->step_interval
      : FMX_TIME_NONE;
}

static FmxTime
next_event (void)
{
  FmxTime next = fmx_sim_link_next (&world.forward);

  for (unsigned i = 0; i < world.n_bundles; i++)
    next = fmx_time_min (next, fmx_sim_bundle_next (&world.bundles[i]));
  for (unsigned i = 0; i < world.n_tcps; i++)
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
    fmx_sim_link_set_rate (&world.forward,
        fmx_sim_draw_next_rate (world.draw, &world.rng));
    world.step_at = now + (FmxTime) world.draw->step_interval;
  }
  while (fmx_sim_link_receive (&world.forward, &packet, now))
    if (packet.flow >= FIRST_TCP_FLOW)
        fmx_sim_tcp_on_arrival (&world.tcps[packet.flow - FIRST_TCP_FLOW],
          &packet, now);
    else
      fmx_sim_bundle_on_arrival (&world.bundles[packet.flow - 1], &packet, now);
  for (unsigned i = 0; i < world.n_tcps; i++)
    if (fmx_sim_tcp_next (&world.tcps[i]) <= now)
        fmx_sim_tcp_run (&world.tcps[i], now);
  for (unsigned i = 0; i < world.n_bundles; i++)
    if (fmx_sim_bundle_next (&world.bundles[i]) <= now)
        fmx_sim_bundle_run (&world.bundles[i], now);
}

/* What each second brings the first bundle, or the TCP in its place; where there is less to
 * say than fits, what it may send */
static void
note_climb (FmxTime now)
{
  const FmxSimBundle *bundle = &world.bundles[0];
  uint64_t bytes = world.n_bundles > 0 ? bundle->received_bytes
      : world.tcps[world.draw->n_tcps].received_bytes;

  if (now < world.climb_due || world.n_climbs >= MAX_CLIMBS)
    return;
  world.climb_due = now + (FmxTime) CLIMB_WINDOW;
  world.climb_bps[world.n_climbs++] = bundle->params.pauses
      && bundle->params.behaviour == FMX_SIM_SELECTED
      ? (double) fmx_rate_sender_target_bps (&bundle->sender)
      : 8.0 * (double) (bytes - world.climb_bytes)
      / fmx_time_to_s (CLIMB_WINDOW);
  world.climb_bytes = bytes;
}

static void
look (FmxTime now)
{
  double queue_s = fmx_time_to_s (fmx_sim_link_queue_delay (&world.forward,
          now));

  note_climb (now);
  if (fmx_time_diff (now, FIRST_BUNDLE) < START)
    world.start_queue_s = fmax (world.start_queue_s, queue_s);
  if (world.n_looks < MAX_LOOKS)
    world.queue_s[world.n_looks++] = queue_s;
}

static void
begin_to_count (FmxTime now)
{
  for (unsigned i = 0; i < world.n_bundles; i++)
    fmx_sim_bundle_restart_counters (&world.bundles[i], now);
  for (unsigned i = 0; i < world.n_tcps; i++)
    fmx_sim_tcp_restart_counters (&world.tcps[i]);
  world.capacity_bits = 0.0;
  world.counted = now;
  world.n_looks = 0;
}

static int
compare (const void *a, const void *b)
{
  double left = *(const double *) a, right = *(const double *) b;

  return (left > right) - (left < right);
}

static bool
has_short_queue (const FmxSimOutcome *out, double loss_limit)
{
  return out->queue_s <= fmax (0.06, 5.0 * out->packet_s)
      && out->loss <= loss_limit;
}

static bool
is_shared (const FmxSimOutcome *out)
{
  return out->jain >= 0.9 && out->used >= 0.9;
}

static bool
is_beside (const FmxSimOutcome *out)
{
  return out->ratio >= 0.5 && out->ratio <= 2.0;
}

bool
fmx_sim_draw_judge (FmxSimFamily family, const FmxSimOutcome *out)
{
  double loss_limit = fmax (0.01, 1.5 * out->tcp_loss);

  switch (family) {
    case FMX_SIM_BESIDE_TCP:
    case FMX_SIM_BESIDE_TCP_PACKETS:
    case FMX_SIM_BESIDE_TCP_MANAGED:
    case FMX_SIM_SEVERAL:
    case FMX_SIM_BESIDE_BBR:
      return is_beside (out) && out->loss <= loss_limit;
    case FMX_SIM_BESIDE_TCP_LOSSY:
      return is_beside (out);
    case FMX_SIM_ALONE:
    case FMX_SIM_SHAPED:
      return out->used >= 0.9 && has_short_queue (out, loss_limit);
    case FMX_SIM_LATE_TALKERS: /* what is not used nobody had to say */
      return has_short_queue (out, loss_limit);
    case FMX_SIM_WEB:
      return out->used >= 0.85 && out->share >= 0.5
          && out->loss <= loss_limit;
    case FMX_SIM_MANY:
      return is_shared (out) && has_short_queue (out, loss_limit);
    case FMX_SIM_OWN:
      return is_shared (out);
    case FMX_SIM_STEPS:
    case FMX_SIM_REVERSE:
    default:
      return out->used >= 0.85;
  }
}

static double
tcps_bps (unsigned first, unsigned n)
{
  uint64_t bytes = 0;

  for (unsigned i = first; i < first + n; i++)
    bytes += world.tcps[i].received_bytes;
  return 8.0 * (double) bytes / SECONDS;
}

static double
tcps_loss (unsigned first, unsigned n)
{
  uint64_t sent = 0, lost = 0;

  for (unsigned i = first; i < first + n; i++) {
    sent += world.tcps[i].n_sent;
    lost += world.tcps[i].n_lost;
  }
  return sent > 0 ? (double) lost / (double) sent : 0.0;
}

/* Returns: when a second first brought as much as the targets ask for: of an equal part of
 * the link, or, where loss leaves a TCP less, of what a TCP has of it */
static double
climb_s (const FmxSimDraw *draw, double tcps_mean_bps)
{
  double share_bps = world.nominal_bps / (draw->n_bundles + draw->n_tcps);

  if (draw->family == FMX_SIM_BESIDE_TCP_LOSSY)
    share_bps = fmin (share_bps, tcps_mean_bps);
  for (unsigned i = 0; i < world.n_climbs; i++)
    if (world.climb_bps[i] >= CLIMB_PART * share_bps)
      return fmx_time_to_s (i * CLIMB_WINDOW - FIRST_BUNDLE);
  return HUGE_VAL;
}

static FmxSimOutcome
sum_up (const FmxSimDraw *draw)
{
  double padding = 0.0, own = 0.0, squares = 0.0, others = 0.0;
  uint64_t n_changes = 0, n_turns = 0;
  FmxSimOutcome out = { 0 };

  for (unsigned i = 0; i < world.n_bundles; i++) {
    double bps = 8.0 * (double) world.bundles[i].received_bytes / SECONDS;

    own += bps;
    squares += bps * bps;
    padding += 8.0 * (double) world.bundles[i].padding_bytes / SECONDS;
    out.apart += world.bundles[i].stream_seconds / SECONDS / draw->n_bundles;
    n_changes += world.bundles[i].voices.n_changes;
    n_turns += world.bundles[i].voices.n_turns;
    out.loss += fmx_sim_bundle_loss (&world.bundles[i]) / draw->n_bundles;
  }
  if (world.n_bundles == 0) {
    own = tcps_bps (draw->n_tcps, 1);
    squares = own * own;
    out.loss = tcps_loss (draw->n_tcps, 1);
  }
  out.tcp_loss = tcps_loss (0, draw->n_tcps);
  if (draw->family != FMX_SIM_REVERSE)
    others = tcps_bps (0, draw->n_tcps);
  if (others > 0.0)
    out.ratio = own / draw->n_bundles / (others / draw->n_tcps);
  out.share = own * SECONDS / world.capacity_bits * (1.0 + draw->n_tcps)
      / draw->n_bundles;
  out.padding = own > 0.0 ? padding / own : 0.0;
  out.used = (own + others) * SECONDS / world.capacity_bits;
  out.jain = squares > 0.0 ? own * own / (draw->n_bundles * squares) : 0.0;
  qsort (world.queue_s, world.n_looks, sizeof world.queue_s[0], compare);
  out.queue_s = world.queue_s[world.n_looks * 95 / 100];
  out.packet_s = 8.0 * 200.0 / draw->link.rate_bps;
  out.changes = (double) n_changes / draw->n_bundles * 60.0 / SECONDS;
  out.turns = (double) n_turns / draw->n_bundles * 60.0 / SECONDS;
  out.climb_s = climb_s (draw, draw->n_tcps > 0
      ? tcps_bps (0, draw->n_tcps) / draw->n_tcps : 0.0);
  out.start_queue_s = world.start_queue_s;
  out.ok = fmx_sim_draw_judge (draw->family, &out);
  return out;
}

FmxSimOutcome
fmx_sim_draw_run (const FmxSimDraw *draw, const FmxSimSubject *subject)
{
  FmxTime now = 0, look_at = 0, end = (FmxTime) FMX_SIM_DRAW_END;
  bool counts = false;

  begin (draw, subject);
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
