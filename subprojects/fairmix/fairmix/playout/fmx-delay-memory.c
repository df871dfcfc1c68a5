/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/playout/fmx-delay-memory.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define N_BINS FMX_DELAY_MEMORY_BINS
#define BIN FMX_DELAY_MEMORY_BIN
#define MAX_WEIGHT 1e12
#define CHECK_INTERVAL (200 * FMX_MSECOND)

/* Who plays may look so rarely at what has come: all of that looks as late. */
#define LOOKS_APART (10 * FMX_MSECOND)

/* [G.107 7.5] */
#define BPL 25.1

/* What a shorter delay has to gain besides what it costs, in points of the rating
 * times s: a change is one, however small */
#define LEAST_GAIN 2.0

void
fmx_delay_memory_params_default (FmxDelayMemoryParams *params)
{
  params->half_life = 180 * FMX_SECOND;
  params->horizon = 60 * FMX_SECOND;
  params->outside = 65 * FMX_MSECOND;
  params->delay_price = 10.0;
  params->patience = 3;
  params->prior = 10 * FMX_SECOND;
  params->prior_mean = 12 * FMX_MSECOND;
}

/* [G.107 7.4] */
static double
impairment_by_delay (double ms)
{
  double x;

  if (ms <= 100.0)
    return 0.0;
  x = log2 (ms / 100.0);
  return 25.0 * (pow (1.0 + pow (x, 6.0), 1.0 / 6.0)
      - 3.0 * pow (1.0 + pow (x / 3.0, 6.0), 1.0 / 6.0) + 2.0);
}

void
fmx_delay_memory_init (FmxDelayMemory *memory,
    const FmxDelayMemoryParams *params)
{
  assert (params->half_life > 0 && params->horizon > 0);
  assert (params->outside >= 0 && params->delay_price >= 0.0);
  assert (params->prior >= 0 && params->prior_mean > 0);

  memset (memory, 0, sizeof *memory);
  memory->params = *params;
  for (unsigned i = 0; i < N_BINS; i++) {
    FmxDuration delay = (FmxDuration) i * BIN;

    memory->impairment[i] = (float)
        (impairment_by_delay (1e3 * fmx_time_to_s (delay + params->outside))
        + params->delay_price * fmx_time_to_s (delay));
  }
  fmx_delay_memory_clear (memory);
}

/* Misses by the prior, at each delay: left, left share, left share^2, ... */
void
fmx_delay_memory_clear (FmxDelayMemory *memory)
{
  double share = exp (-(double) BIN / (double) memory->params.prior_mean);
  double bend = fmx_time_to_s (memory->params.prior)
      * (1.0 - share) * (1.0 - share) / share / fmx_time_to_s (BIN);

  memory->weight = 1.0;
  memory->total = fmx_time_to_s (memory->params.prior);
  for (unsigned i = 0; i < N_BINS; i++) {
    bend *= share;
    memory->bends[i] = (float) bend;
  }
}

void
fmx_delay_memory_use_init (FmxDelayMemoryUse *use)
{
  memset (use, 0, sizeof *use);
  use->checked = FMX_TIME_NONE;
  use->checked_loudness = 1.0;
}

static unsigned
bin_of (FmxDuration need)
{
  FmxDuration i = (need + BIN / 2) / BIN;

  return i < (FmxDuration) N_BINS ? (unsigned) i : N_BINS - 1;
}

/* With a delay of d (need - d) / duration of the packet is missed, from nothing to
 * all of it: a line that bends where d is the need, and where it is shorter by the
 * packet.  Instead of the old ones becoming lighter the new ones become heavier. */
void
fmx_delay_memory_on_packet (FmxDelayMemory *memory, FmxDuration need,
    FmxDuration duration)
{
  double weight;

  assert (need >= 0 && duration > 0);

  /* 2^x, of small x */
  memory->weight *= 1.0 + 0.6931 * (double) duration
      / (double) memory->params.half_life;
  weight = memory->weight * fmx_time_to_s (duration);
  memory->total += weight;
  memory->bends[bin_of (need)] += (float) memory->weight;
  if (need > duration)
    memory->bends[bin_of (need - duration)] -= (float) memory->weight;
  if (memory->weight > MAX_WEIGHT) {
    for (unsigned i = 0; i < N_BINS; i++)
      memory->bends[i] /= (float) memory->weight;
    memory->total /= memory->weight;
    memory->weight = 1.0;
  }
}

/* [G.107 7.5] */
static double
cost_of (const FmxDelayMemory *memory, unsigned bin, double missed)
{
  double ppl = memory->total > 0.0 ? 100.0 * missed / memory->total : 0.0;

  return memory->impairment[bin] + 95.0 * ppl / (ppl + BPL);
}

static unsigned
bin_within (FmxDuration delay)
{
  FmxDuration i = delay > 0 ? delay / BIN : 0;

  return i < (FmxDuration) N_BINS ? (unsigned) i : N_BINS - 1;
}

/* What was missed with delays, from the longest one down */
typedef struct
{
  unsigned bin;
  double missed, slope;
} Misses;

#define LONGEST ((Misses) { N_BINS - 1, 0.0, 0.0 })

static void
step_down (const FmxDelayMemory *memory, Misses *misses)
{
  misses->slope += memory->bends[misses->bin--];
  misses->missed += misses->slope * (1e-9 * BIN);
}

static double
cost_here (const FmxDelayMemory *memory, const Misses *misses)
{
  return cost_of (memory, misses->bin, misses->missed);
}

static Misses
misses_at (const FmxDelayMemory *memory, FmxDuration delay)
{
  unsigned bin = bin_within (delay);
  Misses misses = LONGEST;

  while (misses.bin > bin)
    step_down (memory, &misses);
  return misses;
}

double
fmx_delay_memory_cost (const FmxDelayMemory *memory, FmxDuration delay)
{
  Misses misses = misses_at (memory, delay);

  return cost_here (memory, &misses);
}

FmxDuration
fmx_delay_memory_best (const FmxDelayMemory *memory, FmxDuration most)
{
  Misses misses = misses_at (memory, most);
  unsigned best = misses.bin;
  double least = cost_here (memory, &misses);

  while (misses.bin > 0) {
    double cost;

    step_down (memory, &misses);
    cost = cost_here (memory, &misses);
    if (cost < least) {
      least = cost;
      best = misses.bin;
    }
  }
  return (FmxDuration) best *BIN;
}

double
fmx_delay_memory_impairment (const FmxDelayMemory *memory, FmxDuration delay)
{
  return memory->impairment[bin_within (delay)];
}

/* Returns: whether lateness has fallen since it was highest as it does in a stall that is
 * over: packets come at once, each less late than the one before by the time between their
 * sendings */
static bool
is_falling (FmxDelayMemoryUse *use, FmxDuration need, FmxDuration since)
{
  if (!use->late || need >= use->highest_need) {
    use->highest_need = need;
    use->since_highest = 0;
    return !use->late;
  }
  use->since_highest += since;
  return use->highest_need - need > use->since_highest / 2 + LOOKS_APART;
}

/* A path that is slower is followed when as much has been missed as must be cut if it was
 * none.  A queue that is full loses most of what is missed. */
static bool
is_slower_path (const FmxDelayMemory *memory, FmxDelayMemoryUse *use,
    FmxDuration need, FmxDuration since, FmxDuration delay)
{
  if (is_falling (use, need, since)) {
    use->highest_need = need;
    use->since_highest = 0;
    use->n_not_falling = 0;
    use->missed = 0;
  } else {
    use->n_not_falling++;
    use->missed += since;
  }
  use->late = true;
  return use->n_not_falling >= memory->params.patience
      && use->missed >= need - delay;
}

bool
fmx_delay_memory_on_late (const FmxDelayMemory *memory,
    FmxDelayMemoryUse *use, FmxDuration need, FmxDuration since,
    FmxDuration *delay)
{
  FmxDuration best;

  if (is_slower_path (memory, use, need, since, *delay))
    return false;
  best = fmx_delay_memory_best (memory, need);
  if (best + BIN >= need)
    return false;
  if (best > *delay)
    *delay = best;
  return true;
}

/* By how much less is worth most, beyond the part of a packet that it costs */
static FmxDuration
worth_most (const FmxDelayMemory *memory, FmxDuration delay, FmxDuration most,
    double per_second)
{
  double horizon = fmx_time_to_s (memory->params.horizon);
  Misses misses = misses_at (memory, delay);
  double now = cost_here (memory, &misses), best = 0.0;
  FmxDuration less = 0, here = delay % BIN;

  for (; misses.bin > 0 && here < most; here += BIN) {
    double gain;

    step_down (memory, &misses);
    gain = (now - cost_here (memory, &misses)) * horizon
        - per_second * fmx_time_to_s (here + BIN);
    if (gain > best) {
      best = gain;
      less = here + BIN;
    }
  }
  less = less < most ? less : most;
  return best > LEAST_GAIN ? less : 0;
}

FmxDuration
fmx_delay_memory_shrinkage (const FmxDelayMemory *memory,
    FmxDelayMemoryUse *use, FmxDuration delay, FmxDuration most,
    double loudness, FmxTime now)
{
  assert (loudness > 0.0 && most > 0);

  if (use->checked != FMX_TIME_NONE && use->shrinkage == 0
      && loudness >= use->checked_loudness
      && fmx_time_diff (now, use->checked) < CHECK_INTERVAL)
    return 0;
  if (delay >= (FmxDuration) N_BINS * BIN)
    return most;                /* beyond what is remembered, and sense */
  use->checked = now;
  use->checked_loudness = loudness;
  use->shrinkage = worth_most (memory, delay, most,
      FMX_DELAY_MEMORY_PACKET_COST * loudness);
  return use->shrinkage;
}
