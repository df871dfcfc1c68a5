/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_UNITS_H
#define FMX_UNITS_H

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FMX_IP_UDP_BYTES:
 *
 * What IPv4 (20) and UDP (8) add to every RTP packet on the wire, in bytes.
 * All rates of this library count it.
 */
#define FMX_IP_UDP_BYTES 28u

/** FMX_RTP_HEADER_BYTES: the fixed RTP header, in bytes ([RFC3550 5.1]). */
#define FMX_RTP_HEADER_BYTES 12u

/**
 * fmx_rate_bps:
 * @bytes: what was transferred, in bytes
 * @duration: in how much time, > 0
 *
 * Returns: the rate, in bits per second
 */
static inline double
fmx_rate_bps (double bytes, FmxDuration duration)
{
  return bytes * 8.0 / fmx_time_to_s (duration);
}

#ifdef __cplusplus
}
#endif

#endif /* FMX_UNITS_H */
