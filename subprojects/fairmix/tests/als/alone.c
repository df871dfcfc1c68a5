/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Without ALS routers: what alsrtcp falls back to, asmprtcp and tfrcrate, each seven
 * times on 10 Mbit/s, alone and beside three TCP Reno.
 *
 * usage: als-alone [SEED]
 *
 * Prints lines of CSV: scene;variant;seed;measure;value.  Loss in percent of packets,
 * used in percent of the link. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fairmix/als/fmx-als-sender.h"
#include "fairmix/asmp/fmx-asmp-loss.h"
#include "fairmix/asmp/fmx-asmp-sender.h"
#include "sim/fmx-sim-bundle.h"
#include "sim/fmx-sim-tcp.h"

#define N 7
#define N_TCP 3
#define PLACES 16
#define STEP (FMX_MSECOND / 2)
#define PACKET_BYTES 1000u
#define ONE_WAY (5 * FMX_MSECOND)       /* 10 ms round trip */
#define LINK_BPS 10e6
#define QUEUE_BYTES 750000u     /* RED from 100 to 300 ms */
#define BEGIN_S 60
#define END_S 200
#define CLOCK_RATE 48000
#define OWN 9u                  /* SSRC of a receiver */
#define MEDIA 1u
#define NTP_EPOCH (UINT64_C (3900000000) * FMX_SECOND)

typedef enum
{
  ALS, ASMP, TFRC
} Kind;

static const struct
{
  const char *name;
  Kind kind;
  FmxDuration interval;         /* of RTCP, half to one and a half of it */
} variants[] = {
  {"alsrtcp, 5 s", ALS, 5 * FMX_SECOND},
  {"alsrtcp, 1 s", ALS, FMX_SECOND},
  {"asmprtcp, 5 s", ASMP, 5 * FMX_SECOND},
  {"asmprtcp, 1 s", ASMP, FMX_SECOND},
  {"tfrcrate", TFRC, 0},
};

#define N_VARIANTS (sizeof variants / sizeof variants[0])

typedef struct
{
  Kind kind;
  FmxDuration interval;
  FmxAlsSender als;
  FmxAgingSlot slots[PLACES];
  FmxAlsSenderReceiver receivers[PLACES];
  FmxAsmpSender asmp;           /* of ALS: for plain reports */
  char memory[4 * FMX_ASMP_BYTES_PER_RECEIVER];
  FmxAsmpReceiver receiver;
  FmxSimBundle bundle;
  FmxTime next_packet, next_sr, next_rr;
  FmxTime sr_sent;              /* a sender report is on its way; 0 = none */
  uint32_t seq;
  FmxAsmpLoss loss;             /* of a plain receiver */
  uint64_t n_sent, n_arrived, bytes;    /* since BEGIN_S */
} Flow;

static FmxSimLink bottleneck;
static FmxSimAqm aqm;
static FmxSimTcp tcps[N_TCP];
static Flow flows[N];
static FmxRng rng;

static FmxTime
next_report (const Flow *f, FmxTime now)
{
  return now + (FmxTime) f->interval / 2
      + fmx_rng_next (&rng) % (FmxTime) f->interval;
}

static uint32_t
mid32 (FmxTime t)
{
  return (uint32_t) (fmx_time_to_s ((FmxDuration) t) * 65536.0);
}

static uint32_t
rtp_time (FmxTime t)
{
  return (uint32_t) (t / (FMX_SECOND / CLOCK_RATE));
}

static void
begin_bundle (Flow *f, unsigned i, FmxTime start)
{
  FmxSimBundleParams params = {.behaviour = FMX_SIM_PACED,.n_streams = 1,
    .wire_bytes = PACKET_BYTES,.packet_interval = FMX_MSECOND / 2,
    .jitter = FMX_MSECOND,.back = {.delay = ONE_WAY},.start = start
  };

  fmx_rate_sender_params_default (&params.sender);
  params.sender.klass = fmx_rate_class_find ("shortq");
  params.sender.max_bps = (uint64_t) LINK_BPS;
  fmx_sim_bundle_init (&f->bundle, &params, &bottleneck, N_TCP + i,
      fmx_rng_next (&rng));
}

static void
begin_flow (Flow *f, unsigned i, size_t variant)
{
  FmxTime start = (FmxTime) i * FMX_SECOND / 2;
  FmxAlsSenderParams als;
  FmxAsmpSenderParams asmp;
  FmxAsmpReceiverParams receiver;

  memset (f, 0, sizeof *f);
  f->kind = variants[variant].kind;
  f->interval = variants[variant].interval;
  if (f->kind == TFRC) {
    begin_bundle (f, i, start);
    return;
  }
  fmx_als_sender_params_default (&als);
  als.n_layers = 1;
  als.wish_bps = (uint32_t) LINK_BPS;
  als.interval = f->interval;
  als.memory = 3 * f->interval;
  fmx_als_sender_init (&f->als, &als, f->slots, f->receivers, PLACES,
      fmx_rng_next (&rng), start);
  fmx_asmp_sender_params_default (&asmp);
  asmp.max_bps = (uint32_t) LINK_BPS;
  fmx_asmp_sender_init (&f->asmp, &asmp, f->memory, 4,
      (uint32_t) fmx_rng_next (&rng));
  fmx_asmp_receiver_params_default (&receiver);
  receiver.clock_rate_hz = CLOCK_RATE;
  fmx_asmp_receiver_init (&f->receiver, &receiver, MEDIA);
  fmx_asmp_loss_init (&f->loss);
  f->next_packet = start;
  f->next_sr = next_report (f, start);
  f->next_rr = next_report (f, start);
}

static void
begin (bool beside_tcp, size_t variant, uint64_t seed)
{
  FmxSimLinkParams params = {.rate_bps = LINK_BPS,.queue_bytes = QUEUE_BYTES,
    .delay = ONE_WAY
  };
  FmxSimLinkNature nature = {.discipline = FMX_SIM_RED };

  fmx_rng_init (&rng, seed);
  fmx_sim_link_init (&bottleneck, &params, seed);
  fmx_sim_link_set_nature (&bottleneck, &nature, &aqm, seed);
  for (unsigned i = 0; beside_tcp && i < N_TCP; i++) {
    FmxSimTcpParams tcp = {.kind = FMX_SIM_RENO,.back = ONE_WAY,
      .start = i * 100 * (FmxTime) FMX_MSECOND
    };

    fmx_sim_tcp_init (&tcps[i], &tcp, &bottleneck, i, seed + i);
  }
  for (unsigned i = 0; i < N; i++)
    begin_flow (&flows[i], i, variant);
}

/* --- what a flow with RTCP does --- */

static double
rate_bps (const Flow *f)
{
  return f->kind == ALS ? fmx_als_sender_get_rate_bps (&f->als, 0)
      : fmx_asmp_sender_target_bps (&f->asmp);
}

static void
send_packet (Flow *f, unsigned i, FmxTime now)
{
  FmxSimPacket packet = {.flow = N_TCP + i,.wire_bytes = PACKET_BYTES,
    .data = f->seq++,.sent = now
  };

  fmx_sim_link_send (&bottleneck, packet, now);
  fmx_asmp_sender_on_sent (&f->asmp, PACKET_BYTES, now);
  f->n_sent++;
  f->next_packet += (FmxTime) (PACKET_BYTES * 8.0 / rate_bps (f) * FMX_SECOND
      * (0.9 + 0.2 * fmx_rng_next_unit (&rng)));
}

static void
report (Flow *f, FmxTime now)
{
  FmxDuration rtt = 2 * ONE_WAY + fmx_sim_link_queue_delay (&bottleneck, now);
  FmxReportBlock block = {.ssrc = MEDIA,
    .ext_highest_seq = (uint32_t) f->loss.highest,
    .lsr = mid32 (now - (FmxTime) rtt)
  };
  FmxAlsReport als = {.ssrc = OWN };
  FmxAsmpRate rate;
  double lost;

  if (fmx_asmp_loss_report (&f->loss, &lost))
    block.fraction_lost = (uint8_t) fmin (255.0, 256.0 * lost);
  f->next_rr = next_report (f, now);
  fmx_asmp_sender_on_report (&f->asmp, OWN, &block, mid32 (now), now);
  if (f->kind == ASMP) {
    if (fmx_asmp_receiver_report (&f->receiver, &rate, now))
      fmx_asmp_sender_on_rate (&f->asmp, OWN, &rate, now);
    return;
  }
  als.loss = block.fraction_lost / 256.0;
  als.fallback_bps = fmx_asmp_sender_get_rate_bps (&f->asmp, OWN);
  if (als.fallback_bps > 0)
    fmx_als_sender_on_report (&f->als, &als, now);
}

/* A sender report arrives with the packet behind it. */
static void
tell (Flow *f, FmxTime now)
{
  uint8_t data[FMX_ASMP_RTT_BYTES (1)];
  FmxAsmpRttHeader header;
  FmxAsmpRtt rtt;

  fmx_asmp_sender_take_rtts (&f->asmp, &header, &rtt, 1, now);
  fmx_asmp_rtt_write (&header, &rtt, data, sizeof data);
  fmx_asmp_receiver_on_rtt (&f->receiver, OWN, &header, data);
  fmx_asmp_receiver_on_sender_report (&f->receiver, rtp_time (f->sr_sent),
      NTP_EPOCH + f->sr_sent, NTP_EPOCH + now, now);
  f->sr_sent = 0;
}

static void
run_flow (Flow *f, unsigned i, FmxTime now)
{
  if (f->kind == TFRC) {
    if (fmx_sim_bundle_next (&f->bundle) <= now)
      fmx_sim_bundle_run (&f->bundle, now);
    return;
  }
  while (now >= f->next_packet)
    send_packet (f, i, now);
  if (now >= f->next_sr) {
    f->sr_sent = now;
    f->next_sr = next_report (f, now);
  }
  if (now >= f->next_rr)
    report (f, now);
  if (fmx_asmp_sender_next_timeout (&f->asmp) <= now)
    fmx_asmp_sender_on_timeout (&f->asmp, now);
  if (fmx_asmp_receiver_next_timeout (&f->receiver) <= now)
    fmx_asmp_receiver_on_timeout (&f->receiver, now);
  if (now >= fmx_als_sender_next_timeout (&f->als))
    fmx_als_sender_on_timeout (&f->als, now);
}

static void
arrive (Flow *f, const FmxSimPacket *packet, FmxTime now)
{
  if (f->kind == TFRC) {
    fmx_sim_bundle_on_arrival (&f->bundle, packet, now);
    return;
  }
  f->n_arrived++;
  f->bytes += PACKET_BYTES;
  fmx_asmp_loss_on_packet (&f->loss, (uint16_t) packet->data);
  if (f->kind == ASMP)
    fmx_asmp_receiver_on_packet (&f->receiver, (uint16_t) packet->data,
        rtp_time (packet->sent), PACKET_BYTES, now);
  if (f->sr_sent > 0 && packet->sent >= f->sr_sent)
    tell (f, now);
}

/* --- what came of it --- */

static void
begin_to_count (FmxTime now)
{
  for (unsigned i = 0; i < N; i++) {
    flows[i].n_sent = flows[i].n_arrived = flows[i].bytes = 0;
    if (flows[i].kind == TFRC)
      fmx_sim_bundle_restart_counters (&flows[i].bundle, now);
  }
  for (unsigned i = 0; i < N_TCP; i++)
    fmx_sim_tcp_restart_counters (&tcps[i]);
}

static void
row (const char *scene, size_t variant, uint64_t seed, const char *measure,
    double value)
{
  printf ("%s;%s;%llu;%s;%.4g\n", scene, variants[variant].name,
      (unsigned long long) seed, measure, value);
}

static void
print (bool beside_tcp, size_t variant, uint64_t seed)
{
  double sum = 0.0, least = INFINITY, most = 0.0, tcp = 0.0, loss = 0.0;
  const char *scene = beside_tcp ? "beside three TCPs" : "alone";
  double seconds = END_S - BEGIN_S;

  for (unsigned i = 0; i < N; i++) {
    const Flow *f = &flows[i];
    double bytes = (double) (f->kind == TFRC ? f->bundle.received_bytes
        : f->bytes);

    sum += bytes;
    least = fmin (least, bytes);
    most = fmax (most, bytes);
    loss += f->kind == TFRC ? fmx_sim_bundle_loss (&f->bundle)
        : 1.0 - (double) f->n_arrived / (double) f->n_sent;
  }
  for (unsigned i = 0; beside_tcp && i < N_TCP; i++)
    tcp += (double) tcps[i].received_bytes;
  row (scene, variant, seed, "loss", 100.0 * loss / N);
  row (scene, variant, seed, "slowest over fastest", least / most);
  row (scene, variant, seed, "used", 800.0 * (sum + tcp) / LINK_BPS / seconds);
  if (beside_tcp)
    row (scene, variant, seed, "a TCP over a flow", tcp / N_TCP * N / sum);
}

static void
play (bool beside_tcp, size_t variant, uint64_t seed)
{
  begin (beside_tcp, variant, seed);
  for (FmxTime now = 0; now < END_S * (FmxTime) FMX_SECOND; now += STEP) {
    FmxSimPacket packet;

    if (now == BEGIN_S * (FmxTime) FMX_SECOND)
      begin_to_count (now);
    while (fmx_sim_link_receive (&bottleneck, &packet, now)) {
      if (packet.flow < N_TCP)
        fmx_sim_tcp_on_arrival (&tcps[packet.flow], &packet, now);
      else
        arrive (&flows[packet.flow - N_TCP], &packet, now);
    }
    for (unsigned i = 0; beside_tcp && i < N_TCP; i++)
      fmx_sim_tcp_run (&tcps[i], now);
    for (unsigned i = 0; i < N; i++)
      run_flow (&flows[i], i, now);
  }
  print (beside_tcp, variant, seed);
}

int
main (int argc, char **argv)
{
  uint64_t first = argc > 1 ? strtoull (argv[1], NULL, 10) : 6;
  uint64_t last = argc > 1 ? first : 10;

  for (int beside_tcp = 0; beside_tcp < 2; beside_tcp++)
    for (size_t v = 0; v < N_VARIANTS; v++)
      for (uint64_t seed = first; seed <= last; seed++)
        play (beside_tcp, v, seed);
  return 0;
}
