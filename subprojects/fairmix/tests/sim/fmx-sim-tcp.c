/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/fmx-sim-tcp.h"

#include <math.h>
#include <string.h>

#define SLOT(seq) ((seq) % FMX_SIM_TCP_WINDOW)
#define FIRST_WINDOW 10.0
#define REORDERING 3u
#define RTO_MIN (200 * FMX_MSECOND)
#define ACK_DELAY (40 * FMX_MSECOND)
#define CUBIC_C 0.4
#define CUBIC_BETA 0.7

const char *const fmx_sim_tcp_kind_names[FMX_SIM_N_TCP_KINDS] = {
  "reno", "cubic", "bbr"
};

static void
begin_transfer (FmxSimTcp *tcp, FmxTime now)
{
  tcp->cwnd = FIRST_WINDOW;
  tcp->ssthresh = 1e9;
  tcp->w_max = 0.0;
  tcp->epoch = 0;
  tcp->resume_at = now;
  fmx_sim_bbr_init (&tcp->bbr, FIRST_WINDOW, now);
  tcp->flight = tcp->debt = tcp->debt_weight = tcp->holes = 0;
  tcp->transfer_end = tcp->params.transfer_bytes == 0 ? UINT64_MAX
      : tcp->next + 1 + tcp->params.transfer_bytes / FMX_SIM_TCP_BYTES;
}

void
fmx_sim_tcp_init (FmxSimTcp *tcp, const FmxSimTcpParams *params,
    FmxSimLink *forward, uint32_t flow, uint64_t seed)
{
  memset (tcp, 0, sizeof *tcp);
  tcp->params = *params;
  tcp->forward = forward;
  tcp->flow = flow;
  tcp->timer = FMX_TIME_NONE;
  fmx_rng_init (&tcp->rng, seed);
  begin_transfer (tcp, params->start);
}

static bool
repairing (const FmxSimTcp *tcp)
{
  return tcp->una <= tcp->recover && tcp->recover > 0;
}

/* Returns: how much may be on its way; [RFC6937 3] while it repairs */
static uint32_t
window (const FmxSimTcp *tcp)
{
  uint32_t allowed, most = (uint32_t) tcp->cwnd;

  if (!repairing (tcp) || tcp->flight == 0)
    return most;
  if (tcp->inflight > most)
    allowed = (uint32_t) ceil (tcp->delivered * tcp->cwnd / tcp->flight);
  else
    allowed = tcp->delivered + 1;
  if (allowed == 0)
    allowed = 1;                /* the first is repaired at once */
  allowed = allowed > tcp->out ? allowed - tcp->out : 0;
  if (tcp->inflight <= most && allowed > most - tcp->inflight)
    allowed = most - tcp->inflight;
  return tcp->inflight + allowed;
}

FmxTime
fmx_sim_tcp_next (const FmxSimTcp *tcp)
{
  FmxTime next = tcp->timer;

  if (tcp->ack_in != tcp->ack_out)
    next = fmx_time_min (next, tcp->acks[SLOT (tcp->ack_out)].at);
  if (tcp->inflight < window (tcp) && tcp->next < tcp->transfer_end)
    next = fmx_time_min (next, tcp->resume_at);
  return next;
}

static FmxDuration
rto (const FmxSimTcp *tcp)
{
  FmxDuration wait = fmx_time_from_s (tcp->srtt_s + 4.0 * tcp->rttvar_s);

  if (tcp->srtt_s == 0.0)
    wait = FMX_SECOND;
  if (wait < RTO_MIN + fmx_time_from_s (tcp->srtt_s))
    wait = RTO_MIN + fmx_time_from_s (tcp->srtt_s);
  return wait << (tcp->backoff < 6 ? tcp->backoff : 6);
}

static void
reduce (FmxSimTcp *tcp)
{
  double beta = tcp->params.kind == FMX_SIM_CUBIC ? CUBIC_BETA : 0.5;

  tcp->recover = tcp->next;
  tcp->flight = tcp->inflight + 1;
  tcp->delivered = tcp->out = 0;
  /* [RFC9438 4.7] fast convergence */
  tcp->w_max = tcp->cwnd < tcp->w_max ? tcp->cwnd * (1.0 + CUBIC_BETA) / 2.0
      : tcp->cwnd;
  tcp->cwnd = fmax (tcp->cwnd * beta, 2.0);
  tcp->ssthresh = tcp->cwnd;
  tcp->epoch = 0;
}

static void
grow_cubic (FmxSimTcp *tcp, FmxTime now)
{
  double t, target;

  if (tcp->epoch == 0) {
    tcp->epoch = now;
    tcp->w_est = tcp->cwnd;
    if (tcp->w_max < tcp->cwnd)
      tcp->w_max = tcp->cwnd;
    tcp->k_s = cbrt ((tcp->w_max - tcp->cwnd) / CUBIC_C);
  }
  t = fmx_time_to_s (fmx_time_diff (now, tcp->epoch)) + tcp->min_rtt_s;
  target = tcp->w_max + CUBIC_C * pow (t - tcp->k_s, 3.0);
  target = fmin (fmax (target, tcp->cwnd), 1.5 * tcp->cwnd);
  /* [RFC9438 4.3] alpha = 3 (1 - beta) / (1 + beta) */
  tcp->w_est += (tcp->w_est < tcp->w_max ? 3.0 * 0.3 / 1.7 : 1.0) / tcp->cwnd;
  if (tcp->w_est > target)
    tcp->cwnd = fmax (tcp->cwnd, tcp->w_est);
  else
    tcp->cwnd += (target - tcp->cwnd) / tcp->cwnd;
}

static void
grow (FmxSimTcp *tcp, FmxTime now)
{
  if (repairing (tcp))
    return;
  if (tcp->inflight + 1 < (uint32_t) tcp->cwnd / 2)
    return;                     /* not limited by it */
  if (tcp->cwnd < tcp->ssthresh)
    tcp->cwnd += 1.0;
  else if (tcp->params.kind == FMX_SIM_CUBIC)
    grow_cubic (tcp, now);
  else
    tcp->cwnd += 1.0 / tcp->cwnd;
  if (tcp->cwnd > FMX_SIM_TCP_WINDOW / 2)
    tcp->cwnd = FMX_SIM_TCP_WINDOW / 2;
}

static void
sample_rtt (FmxSimTcp *tcp, double rtt_s)
{
  if (tcp->min_rtt_s == 0.0 || rtt_s < tcp->min_rtt_s)
    tcp->min_rtt_s = rtt_s;
  if (tcp->srtt_s == 0.0) {
    tcp->srtt_s = rtt_s;
    tcp->rttvar_s = rtt_s / 2.0;
    return;
  }
  tcp->rttvar_s += 0.25 * (fabs (tcp->srtt_s - rtt_s) - tcp->rttvar_s);
  tcp->srtt_s += 0.125 * (rtt_s - tcp->srtt_s);
}

static void
forget (FmxSimTcp *tcp, uint64_t seq)
{
  tcp->pending[SLOT (seq)] = false;
  tcp->inflight--;
}

static void
lose (FmxSimTcp *tcp, uint64_t seq)
{
  forget (tcp, seq);
  tcp->n_lost++;
  tcp->debt++;
  tcp->debt_weight += 1 + tcp->repairs[SLOT (seq)];
}

/* Returns: whether it is a reason to reduce: once in a round trip, and not if it was
 * sent in the place of another */
static bool
lose_newly (FmxSimTcp *tcp, uint64_t seq)
{
  bool repair = tcp->repairs[SLOT (seq)] > 0;

  lose (tcp, seq);
  return seq >= tcp->recover && !repair;
}

static void
answer_bbr (FmxSimTcp *tcp, uint64_t seq, unsigned inflight, unsigned n_lost,
    FmxTime now)
{
  FmxSimBbrAck ack = { &tcp->kept[SLOT (seq)], tcp->sent[SLOT (seq)], inflight,
    n_lost
  };

  if (n_lost > 0)
    tcp->recover = tcp->next;
  fmx_sim_bbr_on_ack (&tcp->bbr, &ack, &tcp->rng, now);
  if (!repairing (tcp))
    fmx_sim_bbr_on_repaired (&tcp->bbr);
  tcp->cwnd = fmin (tcp->bbr.cwnd, FMX_SIM_TCP_WINDOW / 2);
}

static void
on_ack (FmxSimTcp *tcp, const FmxSimTcpAck *ack, FmxTime now)
{
  bool reduces = ack->ce && ack->seq >= tcp->recover;
  uint32_t inflight = tcp->inflight;
  uint64_t una = tcp->una, n_lost = tcp->n_lost;

  if (ack->seq < tcp->una || !tcp->pending[SLOT (ack->seq)])
    return;                     /* it had been given up */
  sample_rtt (tcp, fmx_time_to_s (fmx_time_diff (now,
              tcp->sent[SLOT (ack->seq)])));
  forget (tcp, ack->seq);
  tcp->delivered++;
  for (; tcp->una < tcp->next && (!tcp->pending[SLOT (tcp->una)]
          || tcp->una + REORDERING <= ack->seq); tcp->una++)
    if (tcp->pending[SLOT (tcp->una)] && lose_newly (tcp, tcp->una))
      reduces = true;
  if (tcp->params.kind == FMX_SIM_BBR)
    answer_bbr (tcp, ack->seq, inflight, (unsigned) (tcp->n_lost - n_lost), now);
  else if (reduces)
    reduce (tcp);
  else if (tcp->una > una)
    grow (tcp, now);
  tcp->backoff = 0;
  tcp->timer = tcp->inflight > 0 ? now + (FmxTime) rto (tcp) : FMX_TIME_NONE;
}

static void
on_timer (FmxSimTcp *tcp, FmxTime now)
{
  for (; tcp->una < tcp->next; tcp->una++)
    if (tcp->pending[SLOT (tcp->una)])
      lose (tcp, tcp->una);
  tcp->w_max = tcp->cwnd;
  tcp->ssthresh = fmax (tcp->cwnd * 0.5, 2.0);
  tcp->cwnd = 1.0;
  tcp->epoch = 0;
  tcp->recover = tcp->next;
  tcp->flight = 0;
  tcp->una = tcp->next;
  tcp->backoff++;
  tcp->timer = FMX_TIME_NONE;
  tcp->resume_at = now;
  fmx_sim_bbr_on_timeout (&tcp->bbr);
}

/* Returns: how many holes at the receiver the next segment fills: that of the
 * segment in whose place it is sent, and what that one was to fill */
static uint32_t
pay_debt (FmxSimTcp *tcp)
{
  uint32_t filled = tcp->debt > 1 ? 1 : tcp->debt_weight;

  if (tcp->debt == 0)
    return 0;
  tcp->debt--;
  tcp->debt_weight -= filled;
  return filled;
}

static void
send_segments (FmxSimTcp *tcp, FmxTime now)
{
  while (now >= tcp->resume_at && tcp->inflight < window (tcp)
      && tcp->next < tcp->transfer_end
      && tcp->next - tcp->una < FMX_SIM_TCP_WINDOW - 1) {
    FmxSimPacket packet = { .flow = tcp->flow, .wire_bytes = FMX_SIM_TCP_BYTES,
      .data = tcp->next, .ect = tcp->params.ecn
    };

    tcp->sent[SLOT (tcp->next)] = now;
    tcp->kept[SLOT (tcp->next)] = fmx_sim_bbr_on_sent (&tcp->bbr, tcp->inflight,
        now);
    tcp->pending[SLOT (tcp->next)] = true;
    tcp->repairs[SLOT (tcp->next)] = pay_debt (tcp);
    tcp->next++;
    tcp->inflight++;
    tcp->out++;
    tcp->n_sent++;
    (void) fmx_sim_link_send (tcp->forward, packet, now);
    if (tcp->timer == FMX_TIME_NONE)
      tcp->timer = now + (FmxTime) rto (tcp);
    if (tcp->params.kind == FMX_SIM_BBR)
      tcp->resume_at = now + (FmxTime) fmx_sim_bbr_interval (&tcp->bbr);
  }
}

static void
end_transfer (FmxSimTcp *tcp, FmxTime now)
{
  double pause_s = -log (1.0 - fmx_rng_next_unit (&tcp->rng))
      * fmx_time_to_s (tcp->params.pause);

  begin_transfer (tcp, now + (FmxTime) fmx_time_from_s (pause_s));
  tcp->timer = FMX_TIME_NONE;
}

void
fmx_sim_tcp_run (FmxSimTcp *tcp, FmxTime now)
{
  while (tcp->ack_in != tcp->ack_out
      && tcp->acks[SLOT (tcp->ack_out)].at <= now) {
    FmxSimTcpAck ack = tcp->acks[SLOT (tcp->ack_out)];

    tcp->ack_out++;
    on_ack (tcp, &ack, now);
  }
  if (now >= tcp->timer)
    on_timer (tcp, now);
  if (tcp->next >= tcp->transfer_end && tcp->inflight == 0)
    end_transfer (tcp, now);
  send_segments (tcp, now);
}

/* [RFC5681 4.2] Each second segment is acknowledged, and at once where one is
 * missing or no longer is.  Returns: whether it is at once. */
static bool
receive (FmxSimTcp *tcp, uint64_t seq, FmxTime now)
{
  uint32_t filled = tcp->repairs[SLOT (seq)];
  bool in_order = tcp->holes == 0 && seq == tcp->expected;

  if (seq > tcp->expected)
    tcp->holes += (uint32_t) (seq - tcp->expected);
  tcp->holes -= filled < tcp->holes ? filled : tcp->holes;
  tcp->expected = seq + 1;
  return !in_order || now < tcp->held_until;
}

void
fmx_sim_tcp_on_arrival (FmxSimTcp *tcp, const FmxSimPacket *packet, FmxTime now)
{
  FmxSimTcpAck ack = { now + (FmxTime) tcp->params.back, packet->data,
    packet->ce
  };
  bool at_once = receive (tcp, packet->data, now) || packet->ce;

  tcp->received_bytes += packet->wire_bytes;
  if (at_once && now < tcp->held_until)
    tcp->acks[SLOT (tcp->ack_in - 1)].at = ack.at;
  tcp->held_until = at_once ? 0 : now + (FmxTime) ACK_DELAY;
  if (!at_once)
    ack.at += (FmxTime) ACK_DELAY;
  tcp->acks[SLOT (tcp->ack_in++)] = ack;
}

void
fmx_sim_tcp_restart_counters (FmxSimTcp *tcp)
{
  tcp->n_sent = tcp->n_lost = tcp->received_bytes = 0;
}
