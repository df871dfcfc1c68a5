/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_LEVEL_H
#define FMX_LEVEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * fmx_level_from_energy:
 * @energy: sum of squares of 16-bit samples
 * @n_samples: how many; 0 gives 127
 *
 * Returns: the level in -dBov, 0 loudest ... 127 silence, where 0 is a
 *     full-scale square wave ([RFC6464 3], [RFC6465 4])
 */
uint8_t fmx_level_from_energy (uint64_t energy, size_t n_samples);

#ifdef __cplusplus
}
#endif

#endif /* FMX_LEVEL_H */
