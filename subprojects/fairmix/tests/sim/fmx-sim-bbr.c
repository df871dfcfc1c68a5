/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/fmx-sim-bbr.h"

#include <math.h>
#include <string.h>

#define HIGH_GAIN 2.885         /* 2 / ln 2 */
#define CWND_GAIN 2.0
#define CYCLE 8u
#define MIN_RTT_TIME (10 * FMX_SECOND)
#define PROBE_RTT_TIME (200 * FMX_MSECOND)
#define LEAST_CWND 4.0
#define FIRST_CWND 10.0
#define FULL_GROWTH 1.25
#define FULL_ROUNDS 3u
#define FIRST_RTT_S 0.001       /* nothing is known */
#define PACED 0.99              /* a little less, so that no queue grows of it */
#define QUANTA 3.0              /* segments that hosts hold back */

static const double cycle_gains[CYCLE] = { 1.25, 0.75, 1, 1, 1, 1, 1, 1 };

void
fmx_sim_bbr_init (FmxSimBbr *bbr, double cwnd, FmxTime now)
{
  memset (bbr, 0, sizeof *bbr);
  bbr->cwnd = bbr->kept_cwnd = cwnd;
  bbr->delivered_at = bbr->first_sent = bbr->min_rtt_at = bbr->cycle_at = now;
}

static double
rate (const FmxSimBbr *bbr)
{
  double most = 0.0;

  for (unsigned i = 0; i < FMX_SIM_BBR_ROUNDS; i++)
    most = fmax (most, bbr->rates[i]);
  return most;
}

static double
pacing_gain (const FmxSimBbr *bbr)
{
  switch (bbr->phase) {
    case FMX_SIM_BBR_STARTUP:
      return HIGH_GAIN;
    case FMX_SIM_BBR_DRAIN:
      return 1.0 / HIGH_GAIN;
    case FMX_SIM_BBR_PROBE_BW:
      return cycle_gains[bbr->cycle];
    case FMX_SIM_BBR_PROBE_RTT:
    default:
      return 1.0;
  }
}

/* Returns: so many segments on their way are @gain of what the path holds */
static double
inflight_of (const FmxSimBbr *bbr, double gain)
{
  double cwnd = gain * rate (bbr) * bbr->min_rtt_s;

  if (bbr->min_rtt_s <= 0.0)
    return FIRST_CWND;
  cwnd = 2.0 * ceil ((cwnd + QUANTA) / 2.0);
  return bbr->phase == FMX_SIM_BBR_PROBE_BW
      && bbr->cycle == 0 ? cwnd + 2.0 : cwnd;
}

FmxDuration
fmx_sim_bbr_interval (const FmxSimBbr *bbr)
{
  double bps = rate (bbr);

  if (bps <= 0.0)
    bps = bbr->cwnd / (bbr->min_rtt_s > 0.0 ? bbr->min_rtt_s : FIRST_RTT_S);
  return fmx_time_from_s (1.0 / (PACED * pacing_gain (bbr) * bps));
}

FmxSimBbrSent
fmx_sim_bbr_on_sent (FmxSimBbr *bbr, unsigned inflight, FmxTime now)
{
  if (inflight == 0)
    bbr->first_sent = bbr->delivered_at = now;
  return (FmxSimBbrSent) {
    bbr->delivered, bbr->delivered_at, bbr->first_sent
  };
}

/* Returns: whether a round trip is over */
static bool
note_rate (FmxSimBbr *bbr, const FmxSimBbrAck *ack, FmxTime now)
{
  double heard_s = fmx_time_to_s (fmx_time_diff (now, ack->sent->delivered_at));
  double sent_s = fmx_time_to_s (fmx_time_diff (ack->sent_at,
          ack->sent->first_sent));
  double took_s = fmax (heard_s, sent_s);
  bool is_over = ack->sent->delivered >= bbr->round_end;
  double *most;

  bbr->delivered++;
  bbr->delivered_at = now;
  bbr->first_sent = ack->sent_at;
  if (is_over) {
    bbr->round_end = bbr->delivered;
    bbr->n_rounds++;
    bbr->rates[bbr->n_rounds % FMX_SIM_BBR_ROUNDS] = 0.0;
    bbr->conserves = false;
  }
  most = &bbr->rates[bbr->n_rounds % FMX_SIM_BBR_ROUNDS];
  if (took_s > 0.0 && took_s >= bbr->min_rtt_s)
    *most =
        fmax (*most, (double) (bbr->delivered - ack->sent->delivered) / took_s);
  return is_over;
}

static void
note_full (FmxSimBbr *bbr)
{
  if (bbr->is_full)
    return;
  if (rate (bbr) >= FULL_GROWTH * bbr->full_rate) {
    bbr->full_rate = rate (bbr);
    bbr->n_full = 0;
  } else if (++bbr->n_full >= FULL_ROUNDS) {
    bbr->is_full = true;
  }
}

/* Anywhere in the cycle but where less is sent */
static void
begin_to_probe_rate (FmxSimBbr *bbr, FmxRng *rng, FmxTime now)
{
  unsigned n = (unsigned) (fmx_rng_next_unit (rng) * (CYCLE - 1));

  bbr->phase = FMX_SIM_BBR_PROBE_BW;
  bbr->cycle = (CYCLE - n) % CYCLE;
  bbr->cycle_at = now;
}

static void
turn_cycle (FmxSimBbr *bbr, const FmxSimBbrAck *ack, FmxTime now)
{
  bool whole = fmx_time_to_s (fmx_time_diff (now, bbr->cycle_at))
      > bbr->min_rtt_s;
  double gain = cycle_gains[bbr->cycle];

  if (gain > 1.0)
    whole = whole && (ack->n_lost > 0
        || ack->inflight >= inflight_of (bbr, gain));
  else if (gain < 1.0)
    whole = whole || ack->inflight <= inflight_of (bbr, 1.0);
  if (!whole)
    return;
  bbr->cycle = (bbr->cycle + 1) % CYCLE;
  bbr->cycle_at = now;
}

static void
change_phase (FmxSimBbr *bbr, const FmxSimBbrAck *ack, FmxRng *rng, FmxTime now)
{
  if (bbr->phase == FMX_SIM_BBR_STARTUP && bbr->is_full)
    bbr->phase = FMX_SIM_BBR_DRAIN;
  if (bbr->phase == FMX_SIM_BBR_DRAIN
      && ack->inflight <= inflight_of (bbr, 1.0))
    begin_to_probe_rate (bbr, rng, now);
  else if (bbr->phase == FMX_SIM_BBR_PROBE_BW)
    turn_cycle (bbr, ack, now);
}

static void
note_rtt (FmxSimBbr *bbr, const FmxSimBbrAck *ack, FmxRng *rng, bool is_over,
    FmxTime now)
{
  double rtt_s = fmx_time_to_s (fmx_time_diff (now, ack->sent_at));
  bool old = fmx_time_diff (now, bbr->min_rtt_at) > MIN_RTT_TIME;

  if (bbr->min_rtt_s <= 0.0 || rtt_s <= bbr->min_rtt_s || old) {
    bbr->min_rtt_s = rtt_s;
    bbr->min_rtt_at = now;
  }
  if (old && bbr->phase != FMX_SIM_BBR_PROBE_RTT) {
    bbr->phase = FMX_SIM_BBR_PROBE_RTT;
    bbr->kept_cwnd =
        bbr->repairs ? fmax (bbr->kept_cwnd, bbr->cwnd) : bbr->cwnd;
    bbr->probed_at = 0;
  }
  if (bbr->phase != FMX_SIM_BBR_PROBE_RTT)
    return;
  if (bbr->probed_at == 0 && ack->inflight <= LEAST_CWND) {
    bbr->probed_at = now + (FmxTime) PROBE_RTT_TIME;
    bbr->round_end = bbr->delivered;
  } else if (bbr->probed_at > 0 && is_over && now >= bbr->probed_at) {
    bbr->min_rtt_at = now;
    bbr->cwnd = fmax (bbr->cwnd, bbr->kept_cwnd);
    bbr->phase = FMX_SIM_BBR_STARTUP;
    if (bbr->is_full)
      begin_to_probe_rate (bbr, rng, now);
  }
}

static void
set_cwnd (FmxSimBbr *bbr, const FmxSimBbrAck *ack)
{
  double target = inflight_of (bbr, bbr->phase == FMX_SIM_BBR_STARTUP
      || bbr->phase == FMX_SIM_BBR_DRAIN ? HIGH_GAIN : CWND_GAIN);

  bbr->cwnd = fmax (bbr->cwnd - ack->n_lost, 1.0);
  if (ack->n_lost > 0 && !bbr->repairs) {
    bbr->repairs = bbr->conserves = true;
    bbr->kept_cwnd = bbr->cwnd + ack->n_lost;
    bbr->cwnd = ack->inflight - fmin (ack->n_lost, ack->inflight - 1.0);
    bbr->round_end = bbr->delivered;
  }
  if (bbr->conserves)
    bbr->cwnd =
        fmax (bbr->cwnd, ack->inflight - fmin (ack->n_lost, ack->inflight));
  else if (bbr->is_full)
    bbr->cwnd = fmin (bbr->cwnd + 1.0, target);
  else if (bbr->cwnd < target || bbr->delivered < FIRST_CWND)
    bbr->cwnd += 1.0;
  bbr->cwnd = fmax (bbr->cwnd, LEAST_CWND);
  if (bbr->phase == FMX_SIM_BBR_PROBE_RTT)
    bbr->cwnd = fmin (bbr->cwnd, LEAST_CWND);
}

void
fmx_sim_bbr_on_ack (FmxSimBbr *bbr, const FmxSimBbrAck *ack, FmxRng *rng,
    FmxTime now)
{
  bool is_over = note_rate (bbr, ack, now);

  if (is_over)
    note_full (bbr);
  change_phase (bbr, ack, rng, now);
  note_rtt (bbr, ack, rng, is_over, now);
  set_cwnd (bbr, ack);
}

void
fmx_sim_bbr_on_repaired (FmxSimBbr *bbr)
{
  if (!bbr->repairs)
    return;
  bbr->repairs = bbr->conserves = false;
  if (bbr->phase != FMX_SIM_BBR_PROBE_RTT)
    bbr->cwnd = fmax (bbr->cwnd, bbr->kept_cwnd);
}

void
fmx_sim_bbr_on_timeout (FmxSimBbr *bbr)
{
  if (!bbr->repairs)
    bbr->kept_cwnd = bbr->cwnd;
  bbr->repairs = true;
  bbr->conserves = false;
  bbr->full_rate = 0.0;
  bbr->cwnd = 1.0;
}
