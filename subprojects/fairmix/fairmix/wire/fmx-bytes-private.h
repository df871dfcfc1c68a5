/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_BYTES_PRIVATE_H
#define FMX_BYTES_PRIVATE_H

/* Numbers in network byte order, at any address. */

#include <stdint.h>

static inline uint16_t
fmx_read_u16 (const uint8_t *data)
{
  return (uint16_t) (data[0] << 8 | data[1]);
}

static inline uint32_t
fmx_read_u32 (const uint8_t *data)
{
  return (uint32_t) fmx_read_u16 (data) << 16 | fmx_read_u16 (data + 2);
}

static inline void
fmx_write_u16 (uint8_t *data, uint32_t value)
{
  data[0] = (uint8_t) (value >> 8);
  data[1] = (uint8_t) value;
}

static inline void
fmx_write_u32 (uint8_t *data, uint32_t value)
{
  fmx_write_u16 (data, value >> 16);
  fmx_write_u16 (data + 2, value);
}

#endif /* FMX_BYTES_PRIVATE_H */
