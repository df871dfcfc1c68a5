/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/playout/fmx-lag-search.h"

#include <assert.h>
#include <math.h>

float
fmx_lag_similarity (const float *a, const float *b, size_t n_samples)
{
  float product = 0.0f, energy_a = 0.0f, energy_b = 0.0f;
  float energy;

  for (size_t i = 0; i < n_samples; i++) {
    product += a[i] * b[i];
    energy_a += a[i] * a[i];
    energy_b += b[i] * b[i];
  }
  energy = sqrtf (energy_a) * sqrtf (energy_b);
  return energy > 0.0f ? product / energy : 0.0f;
}

size_t
fmx_lag_search_scratch_samples (const FmxLagRange *range)
{
  return (range->longest + range->n_samples) / range->coarse;
}

/* One of @n_out samples for @factor of @in: their mean */
static void
decimate (float *out, const float *in, size_t n_out, uint32_t factor)
{
  for (size_t i = 0; i < n_out; i++) {
    float sum = 0.0f;

    for (uint32_t k = 0; k < factor; k++)
      sum += in[i * factor + k];
    out[i] = sum / (float) factor;
  }
}

/* The best of the lags from @shortest to @longest */
static FmxLag
best_of (const float *at, const FmxLagRange *range)
{
  FmxLag best = { range->shortest, -2.0f };

  for (uint32_t lag = range->shortest; lag <= range->longest; lag++) {
    float similarity = fmx_lag_similarity (at,
        at + range->direction * (ptrdiff_t) lag, range->n_samples);

    if (similarity > best.similarity) {
      best.n_samples = lag;
      best.similarity = similarity;
    }
  }
  return best;
}

/* @range in steps of its @coarse, and where in @scratch its segment begins */
static FmxLagRange
coarse_range (const FmxLagRange *range)
{
  FmxLagRange coarse = {
    .n_samples = range->n_samples / range->coarse,
    .shortest = (range->shortest + range->coarse - 1) / range->coarse,
    .longest = range->longest / range->coarse,
    .direction = range->direction,
    .coarse = 1,
  };

  return coarse;
}

FmxLag
fmx_lag_search (const float *at, const FmxLagRange *range, float *scratch)
{
  FmxLagRange coarse, fine = *range;
  uint32_t before, near;

  assert (range->n_samples >= 1 && range->coarse >= 1);
  assert (range->shortest >= 1 && range->shortest <= range->longest);
  assert (range->direction == 1 || range->direction == -1);

  coarse = coarse_range (range);
  if (range->coarse == 1 || coarse.shortest > coarse.longest
      || coarse.n_samples == 0)
    return best_of (at, range);
  before = range->direction < 0 ? coarse.longest : 0;
  decimate (scratch, at - (size_t) before * range->coarse,
      coarse.longest + coarse.n_samples, range->coarse);
  near = best_of (scratch + before, &coarse).n_samples * range->coarse;
  if (near - range->coarse + 1 > fine.shortest)
    fine.shortest = near - range->coarse + 1;
  if (near + range->coarse - 1 < fine.longest)
    fine.longest = near + range->coarse - 1;
  return best_of (at, &fine);
}
