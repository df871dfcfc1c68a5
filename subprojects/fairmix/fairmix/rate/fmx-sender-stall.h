/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_SENDER_STALL_H
#define FMX_SENDER_STALL_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_SENDER_STALL_LEAST: a shorter pause is none: voices have packets each 20 ms */
#define FMX_SENDER_STALL_LEAST (30 * FMX_MSECOND)

/** FMX_SENDER_STALL_BURST: what leaves within so long after a pause makes up for it */
#define FMX_SENDER_STALL_BURST (10 * FMX_MSECOND)

/** FMX_SENDER_STALL_DRAIN: the queue of a burst gets shorter by such a part of time */
#define FMX_SENDER_STALL_DRAIN 0.05

/**
 * FmxSenderStall:
 *
 * A computer that stood still for a moment sends all that it should have sent meanwhile
 * at once.  The queue which that makes is our own, and no sign that the rate is
 * too high; nor did the path carry less while nothing was sent.
 *
 * |[
 *   queue <= (burst / rate), and <= the pause, less what has drained since
 * ]|
 *
 * A pause without a burst after it is one of the talkers: it makes no queue.
 */
typedef struct
{
  /*< private >*/
  FmxTime last;                 /* a packet left; 0 = none */
  FmxTime begin, end;           /* of the last pause */
  double left_s;                /* of it that may still be made up for */
  double queue_s;               /* at @last */
  double usual_s;               /* between two packets, in the mean */
} FmxSenderStall;

/** fmx_sender_stall_on_sent: @wire_bytes left, of the @bps that are allowed */
void fmx_sender_stall_on_sent (FmxSenderStall * stall, uint32_t wire_bytes,
    double bps, FmxTime now);

/** fmx_sender_stall_excuse: until @now nothing was to leave */
void fmx_sender_stall_excuse (FmxSenderStall * stall, FmxTime now);

/** fmx_sender_stall_queue: Returns: what our own late packets make of the queue, at most */
FmxDuration fmx_sender_stall_queue (const FmxSenderStall * stall, FmxTime now);

/** fmx_sender_stall_is_late: Returns: whether what left at @sent made up for the last pause */
bool fmx_sender_stall_is_late (const FmxSenderStall * stall, FmxTime sent);

/** fmx_sender_stall_is_half_told: Returns: whether it stands still, or stood still after
 * the packet that was sent at @acked_sent or little before: what arrived until then says
 * nothing of the path */
bool fmx_sender_stall_is_half_told (const FmxSenderStall * stall,
    FmxTime acked_sent, FmxTime now);

#ifdef __cplusplus
}
#endif

#endif /* FMX_SENDER_STALL_H */
