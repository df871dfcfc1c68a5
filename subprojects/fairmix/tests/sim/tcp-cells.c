/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tcp-cells RATE_BPS DELAY_MS QUEUE_BYTES QUEUE_PACKETS KIND N_TCPS
 *     voice|shortq SEED
 *
 * The simulator's TCPs at a drop-tail queue, beside a voice of constant rate or
 * beside shortq, for tests/experiments/write_tcp_model.py, which has the same of
 * Linux. */
#include "sim/fmx-sim-bundle.h"
#include "sim/fmx-sim-tcp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS FMX_MSECOND
#define S FMX_SECOND
#define FROM (30 * (FmxTime) S)
#define END (120 * (FmxTime) S)
#define LOOK (20 * MS)
#define MAX_TCPS 4u
#define FIRST_TCP_FLOW 8u
#define VOICE_FLOW 2u
#define VOICE_BYTES 200u
#define VOICE_INTERVAL (25 * MS)

static struct
{
  FmxSimLinkParams link;
  FmxSimLink forward;
  FmxSimTcp tcps[MAX_TCPS];
  unsigned n_tcps;
  bool voice;
  FmxSimBundle bundle;
  FmxTime tick, send_at;
  uint64_t n_sent, n_received;
  FmxRng rng;
} world;

static void
begin (FmxSimTcpKind kind, uint64_t seed)
{
  FmxSimBundleParams bundle;

  fmx_rng_init (&world.rng, seed + 7);
  fmx_sim_link_init (&world.forward, &world.link, seed);
  for (unsigned i = 0; i < world.n_tcps; i++) {
    FmxSimTcpParams params = { .kind = kind, .back = world.link.delay,
      .start = i * (FmxTime) S
    };

    fmx_sim_tcp_init (&world.tcps[i], &params, &world.forward,
        FIRST_TCP_FLOW + i, seed * 100 + i);
  }
  world.tick = 5 * (FmxTime) S;
  world.send_at = world.voice ? world.tick : FMX_TIME_NONE;
  memset (&bundle, 0, sizeof bundle);
  fmx_rate_sender_params_default (&bundle.sender);
  bundle.behaviour = FMX_SIM_PACED;
  bundle.n_streams = 1;
  bundle.wire_bytes = VOICE_BYTES;
  bundle.packet_interval = MS / 10;
  bundle.jitter = 2 * MS;
  bundle.back.delay = world.link.delay;
  bundle.start = world.voice ? 2 * END : world.tick;
  bundle.sender.klass = &fmx_rate_shortq;
  fmx_sim_bundle_init (&world.bundle, &bundle, &world.forward, 1, seed);
}

/* As cbrflow: each late by an evenly random part of an interval. */
static void
send_voice (FmxTime now)
{
  FmxSimPacket packet = { .flow = VOICE_FLOW, .wire_bytes = VOICE_BYTES };

  (void) fmx_sim_link_send (&world.forward, packet, now);
  world.n_sent++;
  world.tick += (FmxTime) VOICE_INTERVAL;
  world.send_at = world.tick + (FmxTime) (fmx_rng_next_unit (&world.rng)
      * (double) VOICE_INTERVAL);
}

static void
deliver (const FmxSimPacket *packet, FmxTime now)
{
  if (packet->flow >= FIRST_TCP_FLOW)
    fmx_sim_tcp_on_arrival (&world.tcps[packet->flow - FIRST_TCP_FLOW], packet,
        now);
  else if (packet->flow == VOICE_FLOW)
    world.n_received++;
  else
    fmx_sim_bundle_on_arrival (&world.bundle, packet, now);
}

static void
run_events (FmxTime now)
{
  FmxSimPacket packet;

  while (fmx_sim_link_receive (&world.forward, &packet, now))
    deliver (&packet, now);
  for (unsigned i = 0; i < world.n_tcps; i++)
    if (fmx_sim_tcp_next (&world.tcps[i]) <= now)
      fmx_sim_tcp_run (&world.tcps[i], now);
  if (world.send_at <= now)
    send_voice (now);
  if (!world.voice && fmx_sim_bundle_next (&world.bundle) <= now)
    fmx_sim_bundle_run (&world.bundle, now);
}

static FmxTime
next_event (void)
{
  FmxTime next = fmx_time_min (fmx_sim_link_next (&world.forward),
      world.send_at);

  for (unsigned i = 0; i < world.n_tcps; i++)
    next = fmx_time_min (next, fmx_sim_tcp_next (&world.tcps[i]));
  return world.voice ? next
      : fmx_time_min (next, fmx_sim_bundle_next (&world.bundle));
}

static void
begin_to_count (FmxTime now)
{
  for (unsigned i = 0; i < world.n_tcps; i++)
    fmx_sim_tcp_restart_counters (&world.tcps[i]);
  fmx_sim_bundle_restart_counters (&world.bundle, now);
  world.n_sent = world.n_received = 0;
}

static void
report (double queue_s)
{
  double seconds = fmx_time_to_s (END - FROM), bps = 0.0, own, loss;
  uint64_t sent = 0, lost = 0;

  for (unsigned i = 0; i < world.n_tcps; i++) {
    bps += 8.0 * (double) world.tcps[i].received_bytes / seconds;
    sent += world.tcps[i].n_sent;
    lost += world.tcps[i].n_lost;
  }
  own = 8.0 * (world.voice ? (double) world.n_received * VOICE_BYTES
      : (double) world.bundle.received_bytes) / seconds;
  loss = !world.voice ? fmx_sim_bundle_loss (&world.bundle)
      : world.n_received < world.n_sent
      ? 1.0 - (double) world.n_received / (double) world.n_sent : 0.0;
  printf ("tcp_bps,tcp_loss,queue_ms,own_bps,own_loss\n%.0f,%.6f,%.2f,%.0f,"
      "%.6f\n", bps, (double) lost / (double) sent, queue_s * 1e3, own, loss);
}

static FmxSimTcpKind
kind_of (const char *name)
{
  unsigned kind = FMX_SIM_RENO;

  while (kind + 1 < FMX_SIM_N_TCP_KINDS
      && strcmp (name, fmx_sim_tcp_kind_names[kind]) != 0)
    kind++;
  return (FmxSimTcpKind) kind;
}

int
main (int argc, char **argv)
{
  FmxTime now = 0, looked = FROM;
  double queue_s = 0.0;
  unsigned n_looks = 0;
  bool counts = false;

  if (argc != 9 || atoi (argv[6]) < 1 || atoi (argv[6]) > (int) MAX_TCPS) {
    fprintf (stderr, "usage: tcp-cells RATE_BPS DELAY_MS QUEUE_BYTES "
        "QUEUE_PACKETS KIND N_TCPS voice|shortq SEED\n");
    return 2;
  }
  world.link = (FmxSimLinkParams) {
    .rate_bps = atof (argv[1]), .queue_bytes = (uint32_t) atoi (argv[3]),
    .queue_packets = (uint32_t) atoi (argv[4]),
    .delay = (FmxDuration) (atof (argv[2]) * 1e6)
  };
  world.n_tcps = (unsigned) atoi (argv[6]);
  world.voice = strcmp (argv[7], "voice") == 0;
  begin (kind_of (argv[5]),
      strtoull (argv[8], NULL, 10));
  while (now < END) {
    FmxTime next = next_event ();

    if (!counts && next >= FROM) {
      counts = true;
      begin_to_count (FROM);
    }
    now = next > now ? next : now;
    for (; looked < now && looked < END; looked += LOOK, n_looks++)
      queue_s += fmx_time_to_s (fmx_sim_link_queue_delay (&world.forward,
              looked));
    run_events (now);
  }
  report (queue_s / n_looks);
  return 0;
}
