/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_SIM_DRAW_H
#define FMX_SIM_DRAW_H

#include "sim/fmx-sim-bundle.h"
#include "sim/fmx-sim-tcp.h"

/* A population of networks: what a controller meets, drawn by a seed, and what
 * it makes of it. */

#define FMX_SIM_DRAW_FLOWS 8u
#define FMX_SIM_DRAW_WARM_UP (60 * FMX_SECOND)
#define FMX_SIM_DRAW_END (160 * FMX_SECOND)

/**
 * FmxSimFamily:
 * @FMX_SIM_BESIDE_TCP: one to four TCPs at a drop-tail queue of bytes
 * @FMX_SIM_BESIDE_TCP_PACKETS: the same, at a queue that counts packets
 * @FMX_SIM_BESIDE_TCP_MANAGED: the same, with RED, CoDel, FQ-CoDel or PIE
 * @FMX_SIM_BESIDE_TCP_LOSSY: random loss, of 0.1 to 10 %, and room enough
 * @FMX_SIM_ALONE: nobody else, any queue
 * @FMX_SIM_STEPS: nobody else, the bottleneck's rate changes each 15 to 30 s
 * @FMX_SIM_OWN: two or three bundles, round trips of 1:1 to 1:30
 * @FMX_SIM_REVERSE: a TCP on the reverse path, nobody else on the way there
 * @FMX_SIM_NOISE: nobody else, delays that wander, or radio stalls
 * @FMX_SIM_WEB: beside one to four TCPs that fetch something now and then
 * @FMX_SIM_LATE_TALKERS: nobody else; voices that come late, talk and pause
 * @FMX_SIM_BUSY: nobody else; now and then the computer stands still
 * @FMX_SIM_SHAPED: nobody else; a shaper passes bursts of 5 to 500 ms
 * @FMX_SIM_SEVERAL: two to four bundles beside one to four TCPs at a queue of bytes
 * @FMX_SIM_MANY: five to eight bundles, as @FMX_SIM_OWN
 * @FMX_SIM_BESIDE_BBR: one to four BBRs at a drop-tail queue of bytes
 *
 * A class of networks.
 */
typedef enum
{
  FMX_SIM_BESIDE_TCP,
  FMX_SIM_BESIDE_TCP_PACKETS,
  FMX_SIM_BESIDE_TCP_MANAGED,
  FMX_SIM_BESIDE_TCP_LOSSY,
  FMX_SIM_ALONE,
  FMX_SIM_STEPS,
  FMX_SIM_OWN,
  FMX_SIM_REVERSE,
  FMX_SIM_NOISE,
  FMX_SIM_WEB,
  FMX_SIM_LATE_TALKERS,
  FMX_SIM_BUSY,
  FMX_SIM_SHAPED,
  FMX_SIM_SEVERAL,
  FMX_SIM_MANY,
  FMX_SIM_BESIDE_BBR,
  FMX_SIM_N_FAMILIES
} FmxSimFamily;

/** fmx_sim_family_names: one for each family */
extern const char *const fmx_sim_family_names[FMX_SIM_N_FAMILIES];

/**
 * FmxSimDraw:
 * @family: the class that it is of
 * @seed: what it was drawn by
 * @link: the bottleneck
 * @nature: likewise
 * @n_bundles: 1 to 8
 * @delay: one way, for each bundle, beyond the bottleneck's
 * @n_tcps: beside them
 * @tcp: the first; the others are alike, but begin later
 * @loss_back: on the reverse path
 * @step_interval: between two changes of the bottleneck's rate; 0 = none
 * @stall: the computer's, at most
 * @stall_interval: mean time between two of them; 0 = none
 * @seen_late: see #FmxSimBundleParams; false as it is drawn
 */
typedef struct
{
  FmxSimFamily family;
  uint64_t seed;
  FmxSimLinkParams link;
  FmxSimLinkNature nature;
  unsigned n_bundles;
  FmxDuration delay[FMX_SIM_DRAW_FLOWS];
  unsigned n_tcps;
  FmxSimTcpParams tcp;
  double loss_back;
  FmxDuration step_interval;
  FmxDuration stall;
  FmxDuration stall_interval;
  bool seen_late;
} FmxSimDraw;

/**
 * FmxSimOutcome:
 * @ratio: of a bundle's rate to a TCP's, in the mean; 0 where there is none
 * @share: of a bundle's rate to what each flow had if all sent all the time
 * @used: share of the bottleneck that was used
 * @jain: of the bundles
 * @queue_s: the 95th percentile of what stood in the queue
 * @packet_s: what a packet of the bundle, or a TCP's, takes to pass the bottleneck
 * @loss: share of the bundles' packets
 * @tcp_loss: share of the TCPs' packets
 * @padding: share of what arrives of the bundles
 * @changes: a minute and bundle, of who is separate, because of the rate
 * @turns: likewise, because of who talks
 * @apart: voices that are separate, in the mean of time and bundles
 * @climb_s: from the first bundle's start, or that of the TCP in its place, until a second
 *     brings 0.8 of an equal share, or beside TCPs that lose packets of what one of them has;
 *     of late talkers, who have little to say at first, until that may be sent
 * @start_queue_s: the longest queue of the first bundle's first 15 s
 * @ok: whether it is inside its family's targets
 *
 * What came of it, after %FMX_SIM_DRAW_WARM_UP.
 */
typedef struct
{
  double ratio;
  double share;
  double used;
  double jain;
  double queue_s;
  double packet_s;
  double loss;
  double tcp_loss;
  double changes;
  double turns;
  double apart;
  double padding;
  double climb_s;
  double start_queue_s;
  bool ok;
} FmxSimOutcome;

/** fmx_sim_draw: Returns: a network of @family; the same for the same @seed */
FmxSimDraw fmx_sim_draw (FmxSimFamily family, uint64_t seed);

/** fmx_sim_draw_rates_seed: Returns: what to begin fmx_sim_draw_next_rate() with */
uint64_t fmx_sim_draw_rates_seed (const FmxSimDraw * draw);

/** fmx_sim_draw_next_rate: Returns: what the link carries after its next step, in
 * bits/s */
double fmx_sim_draw_next_rate (const FmxSimDraw * draw, FmxRng * rng);

/** fmx_sim_draw_voices: more than the link carries want to talk: many voices, or dear
 * ones.  Returns: how many; @wire_bytes: of a packet of each, one in 20 ms */
unsigned fmx_sim_draw_voices (const FmxSimDraw * draw, uint32_t * wire_bytes);

/** fmx_sim_draw_judge: Returns: whether @out, all but its ok, is inside the targets of
 * @family */
bool fmx_sim_draw_judge (FmxSimFamily family, const FmxSimOutcome * out);

/**
 * FmxSimSubject:
 * @klass: the controller; NULL = an endless TCP in the place of one bundle
 * @paced: one stream of packets at the target's rate, and not voices and a mix
 * @min_bps: the least rate; 0 = the library's.  Real pipelines have more, as a mix of Opus
 *     in packets of 20 ms needs 42 kbit/s on the wire
 * @max_hold: see #FmxRateSenderParams; 0 = the library's, < 0 = never
 *
 * Who meets the networks.
 */
typedef struct
{
  const FmxRateClass *klass;
  bool paced;
  uint64_t min_bps;
  FmxDuration max_hold;
} FmxSimSubject;

/** fmx_sim_draw_run: @subject in that network, for %FMX_SIM_DRAW_END of virtual
 * time */
FmxSimOutcome fmx_sim_draw_run (const FmxSimDraw * draw,
    const FmxSimSubject * subject);

#endif /* FMX_SIM_DRAW_H */
