/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/base/fmx-rng.h"

#define PCG_MULTIPLIER UINT64_C (6364136223846793005)
#define PCG_INCREMENT UINT64_C (1442695040888963407)

void
fmx_rng_init (FmxRng *rng, uint64_t seed)
{
  rng->state = seed + PCG_INCREMENT;
  (void) fmx_rng_next (rng);
}

uint32_t
fmx_rng_next (FmxRng *rng)
{
  uint64_t old = rng->state;
  uint32_t xorshifted = (uint32_t) (((old >> 18) ^ old) >> 27);
  uint32_t rotation = (uint32_t) (old >> 59);

  rng->state = old * PCG_MULTIPLIER + PCG_INCREMENT;
  return (xorshifted >> rotation) | (xorshifted << ((32 - rotation) & 31));
}

double
fmx_rng_next_unit (FmxRng *rng)
{
  return fmx_rng_next (rng) / 4294967296.0;
}
