/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ADAPT_BUFFER_H
#define FMX_ADAPT_BUFFER_H

#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxAdaptBufferFlow:
 * @increase: alpha, in segments per round-trip time, > 0; TCP Reno: 1
 * @decrease: beta, what remains of the window on a loss event, in (0, 1);
 *     TCP Reno: 0.5; fair to TCP if alpha = 3 (1 - beta) / (1 + beta)
 * @segment_bytes: MSS, in bytes, > 0
 * @rtt: round-trip time, > 0
 * @media_bps: R, the rate at which the media is played: the average of the
 *     transmission rate, in bits/s
 *
 * A flow whose window grows and shrinks as AIMD(alpha, beta), with media that
 * uses its average rate (the `average` policy).
 */
typedef struct
{
  double increase;
  double decrease;
  uint32_t segment_bytes;
  FmxDuration rtt;
  double media_bps;
} FmxAdaptBufferFlow;

/**
 * fmx_adapt_buffer_bytes:
 *
 * The least buffer that smooths one saw-tooth:
 *
 * |[
 *   1 / (2 alpha MSS) * ((1 - beta) / (1 + beta))^2 * R^2 * RTT^2
 * ]|
 *
 * with R in bytes/s.  For a flow that is fair to TCP that is
 * alpha / (18 MSS) * R^2 * RTT^2.
 * Source: Li et al. 2001, (3.4), (3.6).
 *
 * Returns: it, in bytes
 */
double fmx_adapt_buffer_bytes (const FmxAdaptBufferFlow * flow);

/**
 * fmx_adapt_buffer_two_backoffs_bytes:
 *
 * The same for two back-offs in a row: (1 + 2 beta)^2 times as much.
 * Source: Li et al. 2001, (3.5), (3.7).
 *
 * Returns: it, in bytes
 */
double fmx_adapt_buffer_two_backoffs_bytes (const FmxAdaptBufferFlow * flow);

/**
 * fmx_adapt_buffer_discrete_bytes:
 *
 * As fmx_adapt_buffer_bytes(), but for a window that grows in steps, once a
 * round-trip time, instead of along a line.  N = n + 1 windows in a row, each
 * alpha MSS larger than the one before, miss their own average by
 *
 * |[
 *   alpha MSS N^2 / 8,    n = (1 - beta) W / (alpha MSS),  W = 2 R RTT / (1 + beta)
 * ]|
 *
 * where the line has n^2 for N^2.  The difference matters where a saw-tooth
 * has few steps: large segments at the rates of audio.
 *
 * Returns: it, in bytes
 */
double fmx_adapt_buffer_discrete_bytes (const FmxAdaptBufferFlow * flow);

/** Returns: how long the media plays from a buffer of @bytes */
FmxDuration fmx_adapt_buffer_delay (const FmxAdaptBufferFlow * flow,
    double bytes);

#ifdef __cplusplus
}
#endif

#endif /* FMX_ADAPT_BUFFER_H */
