/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_SIM_TCP_H
#define FMX_SIM_TCP_H

#include "sim/fmx-sim-bbr.h"
#include "sim/fmx-sim-link.h"

/* A model of a TCP connection in virtual time: its congestion window, with
 * selective and delayed acknowledgements; what is lost is not sent again but
 * something else is, in its place, which is the same for the rate.  How near
 * Linux it is: docs/algorithms/rate-tcp.md. */

#define FMX_SIM_TCP_WINDOW 16384u       /* a power of 2 */
#define FMX_SIM_TCP_BYTES 1500u

/**
 * FmxSimTcpKind:
 * @FMX_SIM_RENO: [RFC5681], one segment more per round trip, half on a loss
 * @FMX_SIM_CUBIC: [RFC9438] with its Reno-friendly region
 * @FMX_SIM_BBR: see #FmxSimBbr; it does not mind losses
 */
typedef enum
{
  FMX_SIM_RENO,
  FMX_SIM_CUBIC,
  FMX_SIM_BBR,
  FMX_SIM_N_TCP_KINDS
} FmxSimTcpKind;

/** fmx_sim_tcp_kind_names: one for each, as Linux names them */
extern const char *const fmx_sim_tcp_kind_names[FMX_SIM_N_TCP_KINDS];

/**
 * FmxSimTcpParams:
 * @kind: the congestion control
 * @back: how long an acknowledgement takes
 * @start: when it begins
 * @transfer_bytes: ends after so much, and begins anew after a pause; 0 = goes
 *     on for ever
 * @pause: the mean of that pause, exponential
 * @ecn: negotiated
 */
typedef struct
{
  FmxSimTcpKind kind;
  FmxDuration back;
  FmxTime start;
  uint64_t transfer_bytes;
  FmxDuration pause;
  bool ecn;
} FmxSimTcpParams;

typedef struct
{
  FmxTime at;
  uint64_t seq;
  bool ce;
} FmxSimTcpAck;

typedef struct
{
  FmxSimTcpParams params;
  FmxSimLink *forward;
  uint32_t flow;
  FmxRng rng;
  double cwnd, ssthresh;        /* in segments */
  uint32_t inflight;
  uint64_t next, una, recover;
  uint64_t transfer_end;        /* segment number */
  FmxTime resume_at;
  FmxTime sent[FMX_SIM_TCP_WINDOW];
  bool pending[FMX_SIM_TCP_WINDOW];
  double srtt_s, rttvar_s, min_rtt_s;
  FmxTime timer;
  unsigned backoff;
  /* repairing, [RFC6937]; flight is 0 if not */
  uint32_t flight, delivered, out;
  uint32_t debt, debt_weight;   /* what replaces lost segments: see receive() */
  uint32_t repairs[FMX_SIM_TCP_WINDOW];
  /* at the receiver */
  uint64_t expected;
  uint32_t holes;
  FmxTime held_until;           /* the last acknowledgement waits so long */
  /* CUBIC */
  double w_max, k_s, w_est;
  FmxTime epoch;
  /* BBR, whose window cwnd is */
  FmxSimBbr bbr;
  FmxSimBbrSent kept[FMX_SIM_TCP_WINDOW];
  uint64_t ack_in, ack_out;
  FmxSimTcpAck acks[FMX_SIM_TCP_WINDOW];
  /* counters, for whoever watches */
  uint64_t n_sent, n_lost, received_bytes;
} FmxSimTcp;

void fmx_sim_tcp_init (FmxSimTcp * tcp, const FmxSimTcpParams * params,
    FmxSimLink * forward, uint32_t flow, uint64_t seed);

/** Returns: when fmx_sim_tcp_run() has something to do */
FmxTime fmx_sim_tcp_next (const FmxSimTcp * tcp);
void fmx_sim_tcp_run (FmxSimTcp * tcp, FmxTime now);

/** A packet of this flow arrived. */
void fmx_sim_tcp_on_arrival (FmxSimTcp * tcp, const FmxSimPacket * packet,
    FmxTime now);

/** Forgets the counters: what follows is measured. */
void fmx_sim_tcp_restart_counters (FmxSimTcp * tcp);

#endif /* FMX_SIM_TCP_H */
