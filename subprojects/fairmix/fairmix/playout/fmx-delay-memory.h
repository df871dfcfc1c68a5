/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_DELAY_MEMORY_H
#define FMX_DELAY_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_DELAY_MEMORY_BIN: resolution of what is remembered */
#define FMX_DELAY_MEMORY_BIN (5 * FMX_MSECOND)
#define FMX_DELAY_MEMORY_BINS 128u

/**
 * FmxDelayMemoryParams:
 * @half_life: after it a packet weighs half as much; > 0
 * @horizon: for how long a change of the delay is expected to last: what it
 *     gains in that time has to be worth the packet that it costs; > 0
 * @outside: mouth-to-ear delay besides the playout's; >= 0
 * @delay_price: what a second of delay costs where nobody hears it yet, in
 *     points of the rating; >= 0
 * @patience: so many packets in a row that are late, and not less late than
 *     the one before, are no stall that is over but a slower path; and at
 *     least as many as fit into the longer delay; > 0
 * @prior, @prior_mean: what is believed of a path before anything is known:
 *     as if for @prior packets had needed exponentially distributed delays
 *     of that mean; >= 0, > 0
 */
typedef struct
{
  FmxDuration half_life;
  FmxDuration horizon;
  FmxDuration outside;
  double delay_price;
  uint32_t patience;
  FmxDuration prior;
  FmxDuration prior_mean;
} FmxDelayMemoryParams;

/**
 * FmxDelayMemory:
 *
 * What the stalls of late say about the one that is on: whether packets that
 * are late are worth a longer delay, and whether a delay that is longer than
 * needed now is worth keeping.
 *
 * A stall leaves a gap that is as long whether its late packets are played or
 * not.  Who plays them goes on later, and pays with a cut when he wants to be
 * on time again; what he gets is that the next stall is shorter by as much.
 * So what delays packets needed tells what each constant delay would have cost,
 * by the E-model ([G.107 7.4, 7.5], G.711 with concealment: Ie = 0, Bpl = 25.1),
 * and the cheapest is what a stall may raise the delay to.  Of a packet that is
 * late by less than itself the rest is heard, so what is missed falls in a line
 * as the delay grows: only where it bends is kept.
 *
 * All delays are beyond the fastest packets.
 */
typedef struct
{
  /*< private >*/
  FmxDelayMemoryParams params;
  double weight;                /* of the next packet, a second */
  double total;
  float bends[FMX_DELAY_MEMORY_BINS];   /* of the misses over the delay */
  float impairment[FMX_DELAY_MEMORY_BINS];      /* by the delay alone */
} FmxDelayMemory;

/**
 * FmxDelayMemoryUse:
 *
 * What one who asks the memory has seen himself: several may ask the same one.
 */
typedef struct
{
  /*< private >*/
  bool late;                    /* the last packet was */
  FmxDuration highest_need;     /* since packets are late and that did not fall */
  FmxDuration since_highest;    /* was sent since that one */
  uint32_t n_not_falling;
  FmxDuration missed;           /* since then, of what came and of what did not */
  FmxTime checked;              /* @shrinkage was so then */
  double checked_loudness;
  FmxDuration shrinkage;
} FmxDelayMemoryUse;

void fmx_delay_memory_params_default (FmxDelayMemoryParams * params);
void fmx_delay_memory_init (FmxDelayMemory * memory,
    const FmxDelayMemoryParams * params);
/** Forgets all but the prior, keeps parameters. */
void fmx_delay_memory_clear (FmxDelayMemory * memory);

/** Somebody new asks. */
void fmx_delay_memory_use_init (FmxDelayMemoryUse * use);

/**
 * fmx_delay_memory_on_packet:
 * @need: the delay that would have been enough for it; >= 0
 * @duration: of the packet, > 0
 */
void fmx_delay_memory_on_packet (FmxDelayMemory * memory, FmxDuration need,
    FmxDuration duration);

/** fmx_delay_memory_use_on_time: a packet was not late */
static inline void
fmx_delay_memory_use_on_time (FmxDelayMemoryUse *use)
{
  use->late = false;
}

/**
 * fmx_delay_memory_on_late:
 * @need: of the packet, after fmx_delay_memory_on_packet(); > @delay
 * @since: its end, after that of the packet before it that came; of that time nothing
 *     is heard
 * @delay: (inout): the delay, which is raised to what is worth it
 *
 * Returns: whether a longer delay, that is enough for the packet, would not be
 *     worth it
 */
bool fmx_delay_memory_on_late (const FmxDelayMemory * memory,
    FmxDelayMemoryUse * use, FmxDuration need, FmxDuration since,
    FmxDuration * delay);

/**
 * fmx_delay_memory_shrinkage:
 * @delay: the delay
 * @most: by how much it could be shorter: a packet at most
 * @loudness: how much of that packet would be missed, in (0, 1]
 *
 * Returns: by how much less is worth the part of a packet that it costs; 0 if
 *     none is
 */
FmxDuration fmx_delay_memory_shrinkage (const FmxDelayMemory * memory,
    FmxDelayMemoryUse * use, FmxDuration delay, FmxDuration most,
    double loudness, FmxTime now);

/** FMX_DELAY_MEMORY_PACKET_COST: of a packet that is missing, where few are: in
 * points of the rating for each second, if it holds one [G.107 7.5] */
#define FMX_DELAY_MEMORY_PACKET_COST (100.0 * 95.0 / 25.1)

/** Returns: what a @delay costs by itself, in points of the rating */
double fmx_delay_memory_impairment (const FmxDelayMemory * memory,
    FmxDuration delay);

/** Returns: what a constant @delay would have cost, in points of the rating; delays
 * are rounded down to a %FMX_DELAY_MEMORY_BIN, needs to the nearest */
double fmx_delay_memory_cost (const FmxDelayMemory * memory,
    FmxDuration delay);

/** Returns: the constant delay up to @most that would have cost least */
FmxDuration fmx_delay_memory_best (const FmxDelayMemory * memory,
    FmxDuration most);

#ifdef __cplusplus
}
#endif

#endif /* FMX_DELAY_MEMORY_H */
