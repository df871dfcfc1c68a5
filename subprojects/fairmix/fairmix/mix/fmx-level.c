/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/mix/fmx-level.h"

#include <math.h>

#define LEVEL_SILENCE 127
#define FULL_SCALE 32768.0

uint8_t
fmx_level_from_energy (uint64_t energy, size_t n_samples)
{
  double mean_square, level;

  if (energy == 0 || n_samples == 0)
    return LEVEL_SILENCE;
  mean_square = (double) energy / (double) n_samples;
  /* [RFC6464 3] -dBov, rounded; [RFC6465 4] against a full-scale square wave */
  level = -10.0 * log10 (mean_square / (FULL_SCALE * FULL_SCALE));
  if (level <= 0.0)
    return 0;
  if (level >= (double) LEVEL_SILENCE)
    return LEVEL_SILENCE;
  return (uint8_t) (level + 0.5);
}
