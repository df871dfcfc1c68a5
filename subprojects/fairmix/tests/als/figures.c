/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The experiments of the ALS paper's section 4.1, and what it leaves open, with
 * packets in virtual time: ALS senders beside TCP Reno at one bottleneck with RED.
 *
 * usage: als-figures [SCENE [SEED [BYTES]]]: BYTES of queue, RED from a sixth of it to
 * a half.  als-figures told: senders without reports, who know the link's bandwidth and
 * everybody's number, but a change of it only some time later
 *
 * Prints lines of CSV: scene;variant;seed;measure;value.  Rates in kbit/s on the wire,
 * loss in percent of packets. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fairmix/als/fmx-als-receiver.h"
#include "fairmix/als/fmx-als-router.h"
#include "fairmix/als/fmx-als-sender.h"
#include "fairmix/asmp/fmx-asmp-loss.h"
#include "sim/fmx-sim-tcp.h"

#define MAX_ALS 8
#define MAX_TCP (3 + MAX_ALS)
#define PLACES 64
#define STEP (FMX_MSECOND / 2)
#define PACKET_BYTES 1000u
#define ONE_WAY (5 * FMX_MSECOND)       /* 10 ms round trip */
#define LINK_BPS 10e6
#define QUEUE_BYTES 750000u     /* RED from 100 to 300 ms of the link */
#define LENGTH_S 200
#define BIN_S 5

typedef struct
{
  const char *name;
  unsigned n_tcp, n_als;
  double start_s;               /* between the starts of two ALS */
  double change_s;              /* between two bandwidths; 0 = none */
  double restart_s;             /* of the router; 0 = never */
  double settled_s;             /* shares are taken from here on */
} Scene;

/* Figure 3: one more is "at least" a tenth more connections (ALS 4.1.1), so there were
 * ten before the last one came. */
static const Scene scenes[] = {
  {"figure 3, each 3 s", 3, 8, 3.0, 0.0, 0.0, 60.0},
  {"figure 3, each 8 s", 3, 8, 8.0, 0.0, 0.0, 110.0},
  {"figure 4, each 3 s", 3, 7, 0.5, 3.0, 0.0, 30.0},
  {"figure 4, each 8 s", 3, 7, 0.5, 8.0, 0.0, 30.0},
  {"two senders", 3, 2, 20.0, 0.0, 0.0, 60.0},
  {"two senders, no TCP", 0, 2, 20.0, 0.0, 0.0, 60.0},
  {"a router restarts", 3, 7, 0.5, 0.0, 100.0, 30.0},
};

/* The paper's to the letter; ours: max-min routers that fill their link, which need no
 * increase, reports each 0.2 s ([RFC4585 3.4] has no least interval; they are 1.3 % of 800
 * kbit/s) and early ones; and, to compare with, TCPs in the place of the ALS. */
typedef struct
{
  const char *name;
  FmxAlsRouterRule rule;
  double utilisation;
  uint32_t increase_bps;
  FmxDuration interval;
  bool tcp_instead;
  /* of those who are told: the part of an even share that they send; how much later
   * they are told; what they send of it then for DRAIN, where it has become less */
  double part, told_s, drain;
} Variant;

static const Variant variants[] = {
  {.name = "paper",.rule = FMX_ALS_ROUTER_EQUAL,.utilisation = 0.9,
      .increase_bps = 5000,.interval = 5 * FMX_SECOND},
  {.name = "ours",.rule = FMX_ALS_ROUTER_MAX_MIN,.utilisation = 0.995,
      .interval = 200 * FMX_MSECOND},
  {.name = "TCP in its place",.utilisation = 0.9,.interval = FMX_SECOND,
      .tcp_instead = true},
};

#define N_VARIANTS (sizeof variants / sizeof variants[0])

/* Reports come each 0.5 to 1.5 s: 0.54 s is how long one waits for the next */
static const Variant told[] = {
  {.name = "at once",.part = 1.0,.drain = 1.0,.interval = FMX_SECOND,.utilisation = 0.9},
  {.name = "0.25 s later",.part = 1.0,.told_s = 0.25,.drain = 1.0,
      .interval = FMX_SECOND,.utilisation = 0.9},
  {.name = "0.54 s later",.part = 1.0,.told_s = 0.54,.drain = 1.0,
      .interval = FMX_SECOND,.utilisation = 0.9},
  {.name = "0.54 s later, then a fifth for 0.5 s",.part = 1.05,.told_s = 0.54,
      .drain = 0.2,.interval = FMX_SECOND,.utilisation = 0.9},
  {.name = "1 s later",.part = 1.0,.told_s = 1.0,.drain = 1.0,
      .interval = FMX_SECOND,.utilisation = 0.9},
};

#define N_TOLD (sizeof told / sizeof told[0])
#define DRAIN_S 0.5

static const Variant *variant;
static unsigned n_tcp, n_als;   /* of this run */
static uint32_t queue_bytes = QUEUE_BYTES;

/* Packets of all ALS that were lost in each second after the link became narrower, [0],
 * or wider */
#define SECONDS 3
static double lost_after[2][SECONDS];

static double link_bps, link_before_bps;
static FmxTime link_changed;

static const double capacities_bps[] = { 10e6, 7e6, 9e6, 5e6, 8e6 };

typedef struct
{
  FmxAlsSender sender;
  FmxAgingSlot slots[PLACES];
  FmxAlsSenderReceiver receivers[PLACES];
  FmxAlsReceiver receiver;
  FmxTime start, next_packet, next_sr, next_rr;
  uint32_t seq;
  FmxAsmpLoss loss;             /* as its receiver sees it */
  double sent_in[LENGTH_S / BIN_S + 1], received_in[LENGTH_S / BIN_S + 1];
} Als;

static FmxSimLink bottleneck;
static FmxSimAqm aqm;
static FmxSimTcp tcps[MAX_TCP];
static uint64_t tcp_seen[MAX_TCP], tcp_before[MAX_TCP];
static Als als[MAX_ALS];
static FmxAlsRouter router;
static FmxAgingSlot router_slots[PLACES];
static FmxAlsConnection router_connections[PLACES];
static FmxRng rng;

static FmxTime
next_report (FmxTime now, FmxDuration interval)
{
  return now + (FmxTime) interval / 2 +
      fmx_rng_next (&rng) % (FmxTime) interval;
}

static unsigned
bin_of (FmxTime now)
{
  return (unsigned) (now / (BIN_S * (FmxTime) FMX_SECOND));
}

static void
begin_router (double bps, FmxTime now)
{
  FmxAlsRouterParams params;

  fmx_als_router_params_default (&params);
  params.bandwidth_bps = (uint64_t) bps;
  params.rule = variant->rule;
  params.target_utilisation = variant->utilisation;
  fmx_als_router_init (&router, &params, router_slots, router_connections,
      PLACES, fmx_rng_next (&rng), now);
}

static void
begin_als (Als *a, FmxTime start)
{
  FmxAlsSenderParams params;

  memset (a, 0, sizeof *a);
  fmx_asmp_loss_init (&a->loss);
  fmx_als_sender_params_default (&params);
  params.n_layers = 1;
  params.wish_bps = (uint32_t) LINK_BPS;
  params.interval = variant->interval;
  params.memory = variant->increase_bps > 0 ? variant->interval
      : 3 * variant->interval;
  params.increase_bps = variant->increase_bps;
  fmx_als_sender_init (&a->sender, &params, a->slots, a->receivers, PLACES,
      fmx_rng_next (&rng), start);
  fmx_als_receiver_init (&a->receiver);
  a->start = a->next_packet = start;
  a->next_sr = next_report (start, FMX_SECOND);
  a->next_rr = next_report (start, variant->interval);
}

static void
begin (const Scene *scene, uint64_t seed)
{
  FmxSimLinkParams params = {.rate_bps = LINK_BPS,.queue_bytes = queue_bytes,
    .delay = ONE_WAY
  };
  FmxSimLinkNature nature = {.discipline = FMX_SIM_RED };

  link_bps = link_before_bps = LINK_BPS;
  link_changed = 0;
  memset (lost_after, 0, sizeof lost_after);
  fmx_rng_init (&rng, seed);
  fmx_sim_link_init (&bottleneck, &params, seed);
  fmx_sim_link_set_nature (&bottleneck, &nature, &aqm, seed);
  begin_router (LINK_BPS, 0);
  n_als = variant->tcp_instead ? 0 : scene->n_als;
  n_tcp = scene->n_tcp + scene->n_als - n_als;
  for (unsigned i = 0; i < n_tcp; i++) {
    FmxSimTcpParams tcp = {.kind = FMX_SIM_RENO,.back = ONE_WAY };

    tcp.start = i < scene->n_tcp ? i * 100 * (FmxTime) FMX_MSECOND
        : (FmxTime) ((i - scene->n_tcp) * scene->start_s * FMX_SECOND);

    fmx_sim_tcp_init (&tcps[i], &tcp, &bottleneck, i, seed + i);
    tcp_seen[i] = tcp_before[i] = 0;
  }
  for (unsigned i = 0; i < n_als; i++)
    begin_als (&als[i], (FmxTime) (i * scene->start_s * FMX_SECOND));
}

/* --- what an ALS does in a step --- */

static void
request (Als *a, FmxTime now)
{
  uint8_t data[FMX_ALS_SHARE_BYTES];
  FmxAlsShare share;

  fmx_als_sender_get_request (&a->sender, &share);
  fmx_als_share_write (&share, data, sizeof data);
  fmx_als_router_on_request (&router, MAX_TCP + (unsigned) (a - als), now);
  fmx_als_request_cut (data, sizeof data,
      fmx_als_router_get_share_bps (&router, now),
      fmx_als_router_get_utilisation (&router, now));
  if (fmx_als_share_read (&share, data, sizeof data))
    fmx_als_receiver_on_request (&a->receiver, &share, 1, now);
  if (variant->increase_bps == 0 && fmx_als_receiver_take_urgent (&a->receiver))
    a->next_rr = now;
  a->next_sr = next_report (now, variant->interval);
}

static void
report (Als *a, FmxTime now)
{
  FmxAlsReport r = {.ssrc = 9 };
  FmxAlsShare share;
  double lost;

  if (fmx_asmp_loss_report (&a->loss, &lost))
    r.loss = floor (fmin (255.0, 256.0 * lost)) / 256.0;
  a->next_rr = next_report (now, variant->interval);
  if (!fmx_als_receiver_get_return (&a->receiver, &share, now))
    return;
  r.share_bps = share.share_bps;
  r.utilisation = share.utilisation;
  r.answered = share.answered;
  fmx_als_sender_on_report (&a->sender, &r, now);
}

static double
rate_bps (const Als *a, FmxTime now)
{
  double since_s = fmx_time_to_s (fmx_time_diff (now, link_changed));
  double bps;

  if (!(variant->part > 0.0))
    return fmx_als_sender_get_rate_bps (&a->sender, 0);
  bps = variant->part / (n_tcp + n_als)
      * (since_s < variant->told_s ? link_before_bps : link_bps);
  return link_bps < link_before_bps && since_s >= variant->told_s
      && since_s < variant->told_s + DRAIN_S ? variant->drain * bps : bps;
}

static void
note_loss (FmxTime now)
{
  unsigned second = (unsigned) (fmx_time_diff (now, link_changed) / FMX_SECOND);

  if (second < SECONDS)
    lost_after[link_bps > link_before_bps][second]++;
}

static void
send_packet (Als *a, unsigned flow, FmxTime now)
{
  FmxSimPacket packet = {.flow = flow,.wire_bytes = PACKET_BYTES,
    .data = a->seq++
  };
  double bps = rate_bps (a, now);

  fmx_als_router_on_packet (&router, flow, PACKET_BYTES, now);
  if (!fmx_sim_link_send (&bottleneck, packet, now))
    note_loss (now);
  a->sent_in[bin_of (now)]++;
  a->next_packet += (FmxTime) (PACKET_BYTES * 8.0 / bps * FMX_SECOND
      * (0.9 + 0.2 * fmx_rng_next_unit (&rng)));
}

static void
arrive (Als *a, const FmxSimPacket *packet, FmxTime now)
{
  fmx_asmp_loss_on_packet (&a->loss, (uint16_t) packet->data);
  a->received_in[bin_of (now)]++;
}

static void
run_als (unsigned i, FmxTime now)
{
  Als *a = &als[i];

  while (now >= a->next_packet)
    send_packet (a, MAX_TCP + i, now);
  if (now < a->start || variant->part > 0.0)
    return;
  if (now >= a->next_sr)
    request (a, now);
  if (now >= a->next_rr)
    report (a, now);
  if (now >= fmx_als_sender_next_timeout (&a->sender))
    fmx_als_sender_on_timeout (&a->sender, now);
}

static void
run_tcp (unsigned i, FmxTime now)
{
  fmx_sim_tcp_run (&tcps[i], now);
  for (; tcp_seen[i] < tcps[i].n_sent; tcp_seen[i]++)
    fmx_als_router_on_packet (&router, i, FMX_SIM_TCP_BYTES, now);
}

static void
change_bandwidth (double bps, FmxTime now)
{
  link_before_bps = link_bps;
  link_bps = bps;
  link_changed = now;
  fmx_sim_link_set_rate (&bottleneck, bps);
  fmx_als_router_set_bandwidth (&router, (uint64_t) bps);
}

static bool
comes (double at_s, FmxTime now)
{
  FmxTime at = (FmxTime) (at_s * FMX_SECOND);

  return at_s > 0.0 && now >= at && now < at + STEP;
}

/* --- what came of it --- */

static void
row (const char *scene, uint64_t seed, const char *measure, double value)
{
  printf ("%s;%s;%llu;%s;%.4g\n", scene, variant->name,
      (unsigned long long) seed, measure, value);
}

static double
rate_kbps (const Als *a, unsigned from, unsigned until)
{
  double packets = 0.0;

  for (unsigned b = from; b < until; b++)
    packets += a->received_in[b];
  return packets * PACKET_BYTES * 8e-3 / ((until - from) * BIN_S);
}

/* In percent, of what all sent in the bins @from to @until; NaN if that is nothing */
static double
loss_in (unsigned from, unsigned until, double *sent)
{
  double received = 0.0;

  *sent = 0.0;
  for (unsigned b = from; b < until; b++)
    for (unsigned i = 0; i < n_als; i++) {
      *sent += als[i].sent_in[b];
      received += als[i].received_in[b];
    }
  return 100.0 * (*sent - received) / *sent;
}

static void
losses (const Scene *scene, uint64_t seed)
{
  double sent;

  row (scene->name, seed, "first 10 s", loss_in (0, 10 / BIN_S, &sent));
  row (scene->name, seed, "first 80 s", loss_in (0, 80 / BIN_S, &sent));
  row (scene->name, seed, "loss", loss_in (0, LENGTH_S / BIN_S, &sent));
  for (unsigned wider = 0; scene->change_s > 0.0 && wider < 2; wider++)
    for (unsigned s = 0; s < SECONDS; s++) {
      char name[32];

      snprintf (name, sizeof name, "%s, second %u", wider ? "wider"
          : "narrower", s + 1);
      row (scene->name, seed, name, 100.0 * lost_after[wider][s] / sent);
    }
}

static void
print (const Scene *scene, uint64_t seed)
{
  unsigned from = (unsigned) scene->settled_s / BIN_S, until = LENGTH_S / BIN_S;
  double sum = 0.0, least = INFINITY, most = 0.0, tcp = 0.0;

  for (unsigned i = 0; i < n_als; i++) {
    double kbps = rate_kbps (&als[i], from, until);

    sum += kbps;
    least = fmin (least, kbps);
    most = fmax (most, kbps);
  }
  for (unsigned i = 0; i < scene->n_tcp; i++)
    tcp += (double) (tcps[i].received_bytes - tcp_before[i]) * 8e-3
        / (LENGTH_S - scene->settled_s) / scene->n_tcp;
  row (scene->name, seed, "an ALS", sum / n_als);
  row (scene->name, seed, "slowest ALS over fastest", least / most);
  if (scene->n_tcp > 0) {
    row (scene->name, seed, "a TCP", tcp);
    row (scene->name, seed, "a TCP over an ALS", tcp * n_als / sum);
  }
  losses (scene, seed);
}

static void
print_tcp (const Scene *scene, uint64_t seed)
{
  double sent = 0.0, lost = 0.0;

  for (unsigned i = 0; i < n_tcp; i++) {
    sent += (double) tcps[i].n_sent;
    lost += (double) tcps[i].n_lost;
  }
  row (scene->name, seed, "loss", 100.0 * lost / sent);
}

static void
play (const Scene *scene, uint64_t seed)
{
  unsigned n_changes = 1;

  begin (scene, seed);
  for (FmxTime now = 0; now < LENGTH_S * (FmxTime) FMX_SECOND; now += STEP) {
    FmxSimPacket packet;

    if (comes (scene->change_s * n_changes, now))
      change_bandwidth (capacities_bps[n_changes++ % 5], now);
    if (comes (scene->restart_s, now))
      begin_router (LINK_BPS, now);
    if (comes (scene->settled_s, now))
      for (unsigned i = 0; i < n_tcp; i++)
        tcp_before[i] = tcps[i].received_bytes;
    while (fmx_sim_link_receive (&bottleneck, &packet, now)) {
      if (packet.flow < MAX_TCP) {
        fmx_sim_tcp_on_arrival (&tcps[packet.flow], &packet, now);
        continue;
      }
      arrive (&als[packet.flow - MAX_TCP], &packet, now);
    }
    for (unsigned i = 0; i < n_tcp; i++)
      run_tcp (i, now);
    for (unsigned i = 0; i < n_als; i++)
      run_als (i, now);
  }
  if (variant->tcp_instead)
    print_tcp (scene, seed);
  else
    print (scene, seed);
}

static void
play_all (const Scene *scene, const Variant *all, size_t n, uint64_t first,
    uint64_t last)
{
  for (size_t v = 0; v < n; v++)
    for (uint64_t seed = first; seed <= last; seed++) {
      variant = &all[v];
      play (scene, seed);
    }
}

int
main (int argc, char **argv)
{
  /* our rule was made with seeds 1 to 10 */
  uint64_t first = argc > 2 ? strtoull (argv[2], NULL, 10) : 11;
  uint64_t last = argc > 2 ? first : 15;
  bool are_told = argc > 1 && strcmp (argv[1], "told") == 0;
  bool found = false;

  if (argc > 3)
    queue_bytes = (uint32_t) strtoul (argv[3], NULL, 10);
  for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
    const Scene *scene = &scenes[i];

    if (are_told ? !(scene->change_s > 0.0) : argc > 1
        && strcmp (argv[1], scene->name) != 0)
      continue;
    found = true;
    play_all (scene, are_told ? told : variants, are_told ? N_TOLD : N_VARIANTS,
        first, last);
  }
  if (!found)
    fprintf (stderr, "usage: als-figures [SCENE | told [SEED [BYTES]]]\n");
  return found ? 0 : 2;
}
