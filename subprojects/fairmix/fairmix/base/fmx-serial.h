/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_SERIAL_H
#define FMX_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxSerial:
 *
 * Extends wrapping serial numbers (RTP sequence numbers, RTP timestamps) to
 * 64 bits that do not wrap.  The first number seen becomes itself plus one
 * whole wrap, so that earlier ones that arrive late do not fall below zero.
 */
typedef struct
{
  /*< private >*/
  uint64_t last;
  bool valid;
} FmxSerial;

/**
 * fmx_serial_diff16:
 *
 * Returns: how far @a is ahead of @b, modulo 2^16, in [-32768, 32767]
 */
static inline int32_t
fmx_serial_diff16 (uint16_t a, uint16_t b)
{
  return (int16_t) (uint16_t) (a - b);
}

/**
 * fmx_serial_diff32:
 *
 * Returns: how far @a is ahead of @b, modulo 2^32, in [-2^31, 2^31 - 1]
 */
static inline int64_t
fmx_serial_diff32 (uint32_t a, uint32_t b)
{
  return (int32_t) (a - b);
}

/**
 * fmx_serial_extend16:
 *
 * Returns: the 64-bit number nearest to the highest one so far whose low 16
 * bits are @n; remembers it when it is the highest
 */
uint64_t fmx_serial_extend16 (FmxSerial * serial, uint16_t n);

/**
 * fmx_serial_extend32:
 *
 * Returns: as fmx_serial_extend16(), for 32 bits
 */
uint64_t fmx_serial_extend32 (FmxSerial * serial, uint32_t n);

#ifdef __cplusplus
}
#endif

#endif /* FMX_SERIAL_H */
