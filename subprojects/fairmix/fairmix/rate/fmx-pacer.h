/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_PACER_H
#define FMX_PACER_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_PACER_LATENESS: how late whoever waits for a departure may wake up
 * without the rate being the less for it */
#define FMX_PACER_LATENESS (5 * FMX_MSECOND)

/**
 * FmxPacer:
 *
 * When the next packet may leave so that no more leaves than the allowed rate
 * X (t), which changes.  Each packet that left is a debt that the rate pays off;
 * the next one leaves without debt.  So for any s < t
 *
 * |[
 *   bits sent in [s, t] <= integral of X from s to t
 *                          + one packet + FMX_PACER_LATENESS X (s)
 * ]|
 *
 * Counts what waits, too; the caller has the queue.  May be copied.
 *
 * Source: [Li01 2.1]: "data is transmitted over the Internet under the limit of
 * congestion control protocol" out of a buffer at the sender.
 */
typedef struct
{
  /*< private >*/
  double bps;
  double debt_bits;
  FmxTime last;                 /* that the debt is of */
  uint64_t queued_bytes;
} FmxPacer;

/** fmx_pacer_init: without a rate, packets leave at once */
void fmx_pacer_init (FmxPacer * pacer, FmxTime now);

/**
 * fmx_pacer_set_rate:
 * @bps: allowed from now on, in bits/s on the wire; 0 = nothing waits: who asks
 *     decides about each packet
 */
void fmx_pacer_set_rate (FmxPacer * pacer, uint64_t bps, FmxTime now);

/** fmx_pacer_on_queued: a packet of @wire_bytes waits from now on */
void fmx_pacer_on_queued (FmxPacer * pacer, uint32_t wire_bytes);

/** fmx_pacer_on_unqueued: one that was queued waits no more, sent or not */
void fmx_pacer_on_unqueued (FmxPacer * pacer, uint32_t wire_bytes);

/** fmx_pacer_on_sent: a packet of @wire_bytes left */
void fmx_pacer_on_sent (FmxPacer * pacer, uint32_t wire_bytes, FmxTime now);

/** fmx_pacer_due: Returns: when the next packet may leave; may lie in the past */
FmxTime fmx_pacer_due (const FmxPacer * pacer);

/** fmx_pacer_queued_bytes: Returns: what waits, in bytes on the wire */
uint64_t fmx_pacer_queued_bytes (const FmxPacer * pacer);

/** fmx_pacer_delay: Returns: how long a packet that comes now will wait, at the
 * present rate */
FmxDuration fmx_pacer_delay (const FmxPacer * pacer, FmxTime now);

#ifdef __cplusplus
}
#endif

#endif /* FMX_PACER_H */
