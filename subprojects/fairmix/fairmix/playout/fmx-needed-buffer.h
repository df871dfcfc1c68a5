/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_NEEDED_BUFFER_H
#define FMX_NEEDED_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"
#include "fairmix/playout/fmx-minimal-buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_NEEDED_BUFFER_TEETH: saw-teeth that are remembered */
#define FMX_NEEDED_BUFFER_TEETH 8u

/**
 * FmxNeededBufferStats:
 * @n_sawteeth: of the rate, that have ended
 * @beta: what the last back-off left of the rate, in (0, 1)
 * @increase_bps: by how much the rate rose in a round-trip time, in bits/s: alpha
 *     MSS / RTT
 * @rate_bps: the mean of the last saw-tooth, in bits/s
 * @bytes: what smooths it: fmx_minimal_buffer_bytes()
 * @discrete_bytes: fmx_minimal_buffer_bytes_discrete()
 * @two_backoffs_bytes: fmx_minimal_buffer_bytes_two_backoffs()
 *
 * All 0 before a saw-tooth has ended.
 */
typedef struct
{
  uint64_t n_sawteeth;
  double beta;
  double increase_bps;
  double rate_bps;
  double bytes;
  double discrete_bytes;
  double two_backoffs_bytes;
} FmxNeededBufferStats;

/**
 * FmxNeededBuffer:
 *
 * How much buffer the rate of a congestion control asks for, whichever it is: reads
 * alpha and beta off its saw-teeth,
 *
 * |[
 *   beta = low / high,   alpha MSS = (high - low) RTT^2 / length
 * ]|
 *
 * A saw-tooth begins where the rate has fallen, by 5 % or more, and ends with the
 * next such fall.  May be copied.
 *
 * Source: [Li01 3.2] (figure 3.1).
 */
typedef struct
{
  /*< private >*/
  FmxNeededBufferStats stats;
  double delay_s[FMX_NEEDED_BUFFER_TEETH][2];   /* of the last ones: one back-off, two */
  double bps, low_bps, high_bps;        /* now; of this saw-tooth */
  FmxTime start;                /* NONE: it began with no fall */
  bool falls;
} FmxNeededBuffer;

/** fmx_needed_buffer_init: nothing is known yet */
void fmx_needed_buffer_init (FmxNeededBuffer * needed);

/**
 * fmx_needed_buffer_on_rate:
 * @bps: what the congestion control allows from now on, in bits/s; 0 = nothing:
 *     the saw-tooth that this ends is none
 * @rtt: round-trip time; 0 = unknown
 */
void fmx_needed_buffer_on_rate (FmxNeededBuffer * needed, double bps,
    FmxDuration rtt, FmxTime now);

/**
 * fmx_needed_buffer_delay:
 * @n_backoffs: in a row that media of the mean rate shall play through, 0 to 2
 *
 * Returns: how long media of the mean rate must lie in buffers for that: the
 *     most of the last %FMX_NEEDED_BUFFER_TEETH saw-teeth, in steps, as windows
 *     grow; 0 before there was one
 */
FmxDuration fmx_needed_buffer_delay (const FmxNeededBuffer * needed,
    unsigned n_backoffs);

/** fmx_needed_buffer_get_stats: a snapshot */
void fmx_needed_buffer_get_stats (const FmxNeededBuffer * needed,
    FmxNeededBufferStats * stats);

#ifdef __cplusplus
}
#endif

#endif /* FMX_NEEDED_BUFFER_H */
