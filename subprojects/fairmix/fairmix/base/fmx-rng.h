/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RNG_H
#define FMX_RNG_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxRng:
 *
 * A small seeded random source (PCG-XSH-RR 64/32, M. E. O'Neill, "PCG: A
 * Family of Simple Fast Space-Efficient Statistically Good Algorithms for
 * Random Number Generation", 2014).  The same seed gives the same numbers on
 * every machine.  Not for secrets.
 */
typedef struct
{
  /*< private >*/
  uint64_t state;
} FmxRng;

void fmx_rng_init (FmxRng * rng, uint64_t seed);

/** Returns: the next number, uniform over all 32 bits */
uint32_t fmx_rng_next (FmxRng * rng);

/** Returns: the next number, uniform in [0, 1) */
double fmx_rng_next_unit (FmxRng * rng);

#ifdef __cplusplus
}
#endif

#endif /* FMX_RNG_H */
