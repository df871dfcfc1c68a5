/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_SIM_BBR_H
#define FMX_SIM_BBR_H

#include <stdbool.h>

#include "fairmix/base/fmx-time.h"
#include "fairmix/base/fmx-rng.h"

/* BBR's first version, as Linux has it (draft-cardwell-iccrg-bbr-congestion-control-00):
 * how much a FmxSimTcp may have on its way, and when it may send.  Without the detection of
 * policers and of aggregated acknowledgements. */

#define FMX_SIM_BBR_ROUNDS 10u

/**
 * FmxSimBbrPhase:
 * @FMX_SIM_BBR_STARTUP: doubles each round trip, until the rate no longer grows
 * @FMX_SIM_BBR_DRAIN: sends less, until the queue that it made is gone
 * @FMX_SIM_BBR_PROBE_BW: more for one of eight round trips, and less for another
 * @FMX_SIM_BBR_PROBE_RTT: next to nothing for 200 ms, to see the round trip alone
 */
typedef enum
{
  FMX_SIM_BBR_STARTUP,
  FMX_SIM_BBR_DRAIN,
  FMX_SIM_BBR_PROBE_BW,
  FMX_SIM_BBR_PROBE_RTT
} FmxSimBbrPhase;

/**
 * FmxSimBbrSent:
 * @delivered: segments, when this one left
 * @delivered_at: when the last of these was heard of
 * @first_sent: when the one left of which that was heard
 *
 * What is kept of a segment, until it is heard of: [BBR 4.1.1].
 */
typedef struct
{
  uint64_t delivered;
  FmxTime delivered_at;
  FmxTime first_sent;
} FmxSimBbrSent;

typedef struct
{
  FmxSimBbrPhase phase;
  double cwnd, kept_cwnd;       /* segments; before a loss, or PROBE_RTT */
  bool repairs, conserves;
  uint64_t delivered;
  FmxTime delivered_at, first_sent;
  uint64_t round_end;           /* in delivered */
  unsigned n_rounds;
  double rates[FMX_SIM_BBR_ROUNDS];     /* the highest of each, segments/s */
  double full_rate;
  unsigned n_full;
  bool is_full;
  double min_rtt_s;
  FmxTime min_rtt_at;
  FmxTime probed_at;            /* PROBE_RTT ends; 0 = not yet known */
  unsigned cycle;
  FmxTime cycle_at;
} FmxSimBbr;

/**
 * FmxSimBbrAck:
 * @sent: what was kept of the segment
 * @sent_at: when it left
 * @inflight: segments on their way, before
 * @n_lost: segments that are given up because of it
 *
 * A segment was heard of.
 */
typedef struct
{
  const FmxSimBbrSent *sent;
  FmxTime sent_at;
  unsigned inflight;
  unsigned n_lost;
} FmxSimBbrAck;

void fmx_sim_bbr_init (FmxSimBbr *bbr, double cwnd, FmxTime now);

/** A segment leaves.  Returns: what to keep of it */
FmxSimBbrSent fmx_sim_bbr_on_sent (FmxSimBbr *bbr, unsigned inflight,
    FmxTime now);

void fmx_sim_bbr_on_ack (FmxSimBbr *bbr, const FmxSimBbrAck *ack,
    FmxRng *rng, FmxTime now);

/** All that was lost is repaired. */
void fmx_sim_bbr_on_repaired (FmxSimBbr *bbr);

/** Nothing is heard for too long. */
void fmx_sim_bbr_on_timeout (FmxSimBbr *bbr);

/** Returns: between two segments */
FmxDuration fmx_sim_bbr_interval (const FmxSimBbr *bbr);

#endif /* FMX_SIM_BBR_H */
