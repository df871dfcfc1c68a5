/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_SIM_AQM_H
#define FMX_SIM_AQM_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/base/fmx-time.h"

/* Active queue management for a bottleneck in virtual time. */

#define FMX_SIM_AQM_PACKETS 4096u       /* a power of 2 */
#define FMX_SIM_AQM_QUEUES 16u

/**
 * FmxSimPacket:
 * @flow: whose it is
 * @wire_bytes: its size with all headers
 * @data: the flow's own
 * @sent: when it went in; set by fmx_sim_link_send()
 * @ect: may be marked instead of dropped
 * @l4s: it is ECT(1): a short queue of its own, and marks for who answers each of them a
 *     little, where there is such a queue
 * @ce: was marked
 */
typedef struct
{
  uint32_t flow;
  uint32_t wire_bytes;
  uint64_t data;
  FmxTime sent;
  bool ect;
  bool l4s;
  bool ce;
} FmxSimPacket;

/**
 * FmxSimDiscipline:
 * @FMX_SIM_FIFO: drop-tail, without AQM; nothing of this file
 * @FMX_SIM_RED: Floyd and Jacobson 1993, gentle; thresholds 1/6 and 1/2 of the
 *     limit, 0.1 at the upper one, weight 0.002
 * @FMX_SIM_CODEL: [RFC8289], 5 ms, 100 ms
 * @FMX_SIM_FQ_CODEL: [RFC8290], a queue for each flow, quantum 1514 bytes
 * @FMX_SIM_PIE: [RFC8033], 15 ms
 * @FMX_SIM_DUALPI2: [RFC9332], 15 ms, k = 2, 1 ms or two packets for L4S
 */
typedef enum
{
  FMX_SIM_FIFO,
  FMX_SIM_RED,
  FMX_SIM_CODEL,
  FMX_SIM_FQ_CODEL,
  FMX_SIM_PIE,
  FMX_SIM_DUALPI2
} FmxSimDiscipline;

typedef struct
{
  uint32_t n, head;
  uint64_t bytes;
  int32_t deficit;
  bool active;
  /* CoDel */
  FmxTime first_above, drop_next;
  uint32_t count, last_count;
  bool dropping;
  FmxSimPacket packets[FMX_SIM_AQM_PACKETS];
} FmxSimAqmQueue;

typedef struct
{
  FmxSimDiscipline discipline;
  uint32_t limit_bytes;
  bool ecn;
  double rate_bps;
  FmxRng rng;
  uint64_t bytes;               /* all queues together */
  uint64_t n_dropped, n_marked;
  unsigned turn;                /* FQ-CoDel */
  /* RED */
  double average_bytes;
  double red_weight, red_max_p; /* may be changed after fmx_sim_aqm_init() */
  FmxTime empty_since;
  uint32_t since_drop;
  /* PIE; of DualPI2 p' */
  double p, old_delay_s;
  FmxTime updated;
  FmxDuration burst;
  FmxSimAqmQueue queues[FMX_SIM_AQM_QUEUES];
} FmxSimAqm;

void fmx_sim_aqm_init (FmxSimAqm * aqm, FmxSimDiscipline discipline,
    uint32_t limit_bytes, bool ecn, double rate_bps, uint64_t seed);

/** Returns: false if the packet is dropped */
bool fmx_sim_aqm_enqueue (FmxSimAqm * aqm, FmxSimPacket packet, FmxTime now);

/** Returns: false if nothing waits (any more) */
bool fmx_sim_aqm_dequeue (FmxSimAqm * aqm, FmxSimPacket * packet, FmxTime now);

#endif /* FMX_SIM_AQM_H */
