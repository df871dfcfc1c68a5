/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_MINIMAL_BUFFER_H
#define FMX_MINIMAL_BUFFER_H

#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxMinimalBufferParams:
 * @alpha: additive increase, in segments per round-trip time, > 0
 * @beta: what a back-off leaves of the window, in (0, 1)
 * @mss_bytes: segment size, in bytes, > 0
 * @rtt: round-trip time, > 0
 *
 * The sender's congestion control: AIMD(alpha, beta); TCP Reno is (1, 1/2), see
 * fmx_aimd_fair_alpha().
 */
typedef struct
{
  double alpha;
  double beta;
  uint32_t mss_bytes;
  FmxDuration rtt;
} FmxMinimalBufferParams;

/**
 * fmx_minimal_buffer_bytes:
 * @rate_Bps: the media's mean rate R, in bytes per second, >= 0
 *
 * The least buffer that lets media play at their mean rate while the rate of
 * the network goes up and down one saw-tooth:
 *
 * |[
 *         1      / 1 - beta \ 2
 *   -----------  | -------- |   R^2 RTT^2
 *   2 alpha MSS  \ 1 + beta /
 * ]|
 *
 * Source: Li, Krasic, Walpole, Shor, Pu, "The Minimal Buffering Requirements of
 * Congestion Controlled Interactive Multimedia Applications", 2001, section
 * 3.2.
 *
 * Returns: bytes; divided by R they are the delay in seconds
 */
double fmx_minimal_buffer_bytes (const FmxMinimalBufferParams * params,
    double rate_Bps);

/**
 * fmx_minimal_buffer_bytes_two_backoffs:
 *
 * Returns: the same for two back-offs in a row: (1 + 2 beta)^2 times as much
 */
double fmx_minimal_buffer_bytes_two_backoffs (const FmxMinimalBufferParams *
    params, double rate_Bps);

/**
 * fmx_minimal_buffer_bytes_discrete:
 *
 * The same for one back-off of a window that stands still for a round-trip
 * time and then grows by a step, as real ones do.  The formula above takes it
 * for a straight line; with few segments in flight that is far too little.
 * A saw-tooth of N round-trip times, with the mean R RTT, has
 *
 * |[
 *   N = (1 - beta) W / (alpha MSS) + 1,  W = 2 R RTT / (1 + beta)
 * ]|
 *
 * windows, alpha MSS apart; those above the mean exceed it by
 * alpha MSS N^2 / 8 together.
 *
 * Returns: bytes
 */
double fmx_minimal_buffer_bytes_discrete (const FmxMinimalBufferParams *
    params, double rate_Bps);

#ifdef __cplusplus
}
#endif

#endif /* FMX_MINIMAL_BUFFER_H */
