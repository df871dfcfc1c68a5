/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RATE_METER_H
#define FMX_RATE_METER_H

#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_RATE_METER_SLOTS: the window is cut into so many slots. */
#define FMX_RATE_METER_SLOTS 10u

/**
 * FmxRateMeter:
 *
 * Bits per second over a sliding window that moves in tenths: a packet counts
 * fully until it leaves, so a stream of constant rate reads as constant once
 * a window has passed.  Before that it is what came after the first packet,
 * over the time from the first to the last.
 */
typedef struct
{
  /*< private >*/
  FmxDuration slot;
  FmxTime first;
  FmxTime last;
  uint32_t first_bytes;
  uint64_t slot_number;
  uint64_t bytes[FMX_RATE_METER_SLOTS + 1];
} FmxRateMeter;

/**
 * fmx_rate_meter_init:
 * @window: how far back to look, > 0; a second suits voice
 */
void fmx_rate_meter_init (FmxRateMeter * meter, FmxDuration window);

/** fmx_rate_meter_add: @wire_bytes passed at @now */
void fmx_rate_meter_add (FmxRateMeter * meter, uint32_t wire_bytes,
    FmxTime now);

/** Returns: the rate over the window that ends at @now, in bits per second */
double fmx_rate_meter_bps (const FmxRateMeter * meter, FmxTime now);

#ifdef __cplusplus
}
#endif

#endif /* FMX_RATE_METER_H */
