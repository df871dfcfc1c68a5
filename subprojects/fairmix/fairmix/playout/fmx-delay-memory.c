/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/playout/fmx-delay-memory.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define N_BINS FMX_DELAY_MEMORY_BINS
#define BIN FMX_DELAY_MEMORY_BIN
#define MAX_WEIGHT 1e12
#define CHECK_INTERVAL (200 * FMX_MSECOND)

/* [G.107 7.5] */
#define BPL 25.1

void
fmx_delay_memory_params_default (FmxDelayMemoryParams *params)
{
  params->half_life = 120 * FMX_SECOND;
  params->horizon = 60 * FMX_SECOND;
  params->outside = 65 * FMX_MSECOND;
  params->delay_price = 10.0;
  params->patience = 3;
  params->prior = 10 * FMX_SECOND;
  params->prior_mean = 15 * FMX_MSECOND;
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

void
fmx_delay_memory_clear (FmxDelayMemory *memory)
{
  double share = exp (-(double) BIN / (double) memory->params.prior_mean);
  double left = fmx_time_to_s (memory->params.prior);

  memory->weight = 1.0;
  memory->total = left;
  for (unsigned i = 0; i < N_BINS; i++) {
    memory->needs[i] = (float) (left * (1.0 - share));
    left *= share;
  }
}

void
fmx_delay_memory_use_init (FmxDelayMemoryUse *use)
{
  memset (use, 0, sizeof *use);
  use->checked = FMX_TIME_NONE;
  use->checked_loudness = 1.0;
}

/* A need is met by the delay of its bin. */
static unsigned
bin_of (FmxDuration need)
{
  FmxDuration i = (need + BIN - 1) / BIN;

  return i < (FmxDuration) N_BINS ? (unsigned) i : N_BINS - 1;
}

/* Instead of the old ones becoming lighter the new ones become heavier. */
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
  memory->needs[bin_of (need)] += (float) weight;
  memory->total += weight;
  if (memory->weight > MAX_WEIGHT) {
    for (unsigned i = 0; i < N_BINS; i++)
      memory->needs[i] /= (float) memory->weight;
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

double
fmx_delay_memory_cost (const FmxDelayMemory *memory, FmxDuration delay)
{
  unsigned bin = bin_within (delay);
  double missed = 0.0;

  for (unsigned i = bin + 1; i < N_BINS; i++)
    missed += memory->needs[i];
  return cost_of (memory, bin, missed);
}

FmxDuration
fmx_delay_memory_best (const FmxDelayMemory *memory, FmxDuration most)
{
  unsigned last = bin_within (most), best = 0;
  double least = INFINITY, missed = 0.0;

  for (unsigned i = N_BINS - 1; i > last; i--)
    missed += memory->needs[i];
  for (unsigned i = last + 1; i-- > 0;) {
    double cost = cost_of (memory, i, missed);

    if (cost < least) {
      least = cost;
      best = i;
    }
    missed += memory->needs[i];
  }
  return (FmxDuration) best *BIN;
}

double
fmx_delay_memory_impairment (const FmxDelayMemory *memory, FmxDuration delay)
{
  return memory->impairment[bin_within (delay)];
}

/* In a stall that is over packets come at once, each less late than the one
 * before by the time between their sendings.  A path that is slower is followed
 * when as much has been missed as must be cut if it was none. */
static bool
is_slower_path (const FmxDelayMemory *memory, FmxDelayMemoryUse *use,
    FmxDuration need, FmxDuration duration, FmxDuration delay)
{
  if (!use->late || use->late_need - need >= duration / 2)
    use->n_not_falling = 0;
  else
    use->n_not_falling++;
  use->late = true;
  use->late_need = need;
  return use->n_not_falling >= memory->params.patience
      && (FmxDuration) use->n_not_falling * duration >= need - delay;
}

bool
fmx_delay_memory_on_late (const FmxDelayMemory *memory,
    FmxDelayMemoryUse *use, FmxDuration need, FmxDuration duration,
    FmxDuration *delay)
{
  FmxDuration best;

  if (is_slower_path (memory, use, need, duration, *delay))
    return false;
  best = fmx_delay_memory_best (memory, need);
  if (best + BIN >= need)
    return false;
  if (best > *delay)
    *delay = best;
  return true;
}

bool
fmx_delay_memory_may_shrink (const FmxDelayMemory *memory,
    FmxDelayMemoryUse *use, FmxDuration delay, FmxDuration duration,
    double loudness, FmxTime now)
{
  double gain;

  assert (loudness > 0.0);

  if (use->checked != FMX_TIME_NONE && !use->may_shrink
      && loudness >= use->checked_loudness
      && fmx_time_diff (now, use->checked) < CHECK_INTERVAL)
    return false;
  if (delay >= (FmxDuration) N_BINS * BIN)
    return true;                /* beyond what is remembered, and sense */
  gain = fmx_delay_memory_cost (memory, delay)
      - fmx_delay_memory_cost (memory, delay - duration);
  use->checked = now;
  use->checked_loudness = loudness;
  use->may_shrink = gain * (double) memory->params.horizon
      > FMX_DELAY_MEMORY_PACKET_COST * loudness * (double) duration;
  return use->may_shrink;
}
