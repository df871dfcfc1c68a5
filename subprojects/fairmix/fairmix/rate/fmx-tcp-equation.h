/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_TCP_EQUATION_H
#define FMX_TCP_EQUATION_H

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FMX_TCP_SEGMENT_BYTES:
 *
 * The nominal segment size of a TCP that small packets shall be fair to, in
 * bytes of payload ([RFC4828 3]).
 */
#define FMX_TCP_SEGMENT_BYTES 1460u

/** FMX_TCP_P_MIN: the least loss event rate that the inverse returns. */
#define FMX_TCP_P_MIN 1e-8

/**
 * FmxTcpPath:
 * @segment_bytes: segment size s, > 0
 * @rtt: round-trip time R, > 0
 * @rto: retransmission timeout t_RTO, > 0; [RFC5348 3.1] says 4R
 * @b: packets that one acknowledgement covers; [RFC5348 3.1] says 1
 *
 * What the equation knows of a TCP connection, but for p.
 */
typedef struct
{
  double segment_bytes;
  FmxDuration rtt;
  FmxDuration rto;
  double b;
} FmxTcpPath;

/**
 * fmx_tcp_path:
 * @segment_bytes: segment size s, > 0
 * @rtt: round-trip time R, > 0
 *
 * Returns: a path as [RFC5348 3.1] recommends it: t_RTO = 4R, b = 1
 */
FmxTcpPath fmx_tcp_path (double segment_bytes, FmxDuration rtt);

/**
 * fmx_tcp_equation_bps:
 * @p: loss event rate, in [0, 1]
 *
 * The long-term rate of TCP Reno:
 *
 * |[
 *                                  8 s
 *   X = ---------------------------------------------------------------
 *        R sqrt (2bp/3)  +  t_RTO  3 sqrt (3bp/8)  p (1 + 32 p^2)
 * ]|
 *
 * It falls in p and in R and grows without bound as p -> 0: the caller caps it
 * with what the receiver got.
 *
 * Which packets X counts.  In TCP's terms X is payload.  With @segment_bytes =
 * 1460 a sender of packets of s_true bytes of payload and H of headers may send
 * X s_true / (s_true + H) of payload ([RFC4828 3]), so on the wire
 *
 * |[ X * s_true / (s_true + H) * (s_true + H) / s_true = X ]|
 *
 * with H = 40 bytes of IP, UDP and RTP: since our rates count headers, the
 * correction is to take X as the wire rate.  With packets of their true size
 * ([RFC5348 3.1]) X / s packets per second are allowed, so the wire rate is X
 * with @segment_bytes = the packet's size on the wire.
 *
 * References: [RFC5348 3.1], [RFC4828 3, 4.2], DPM section 5.3; J. Padhye et
 * al., "Modeling TCP Throughput", SIGCOMM 1998.
 *
 * Returns: X in bits per second; HUGE_VAL for p = 0
 */
double fmx_tcp_equation_bps (const FmxTcpPath * path, double p);

/**
 * fmx_tcp_equation_inverse:
 * @bps: a rate X, in bits per second, > 0
 *
 * Returns: the p for which fmx_tcp_equation_bps() is within 0.1 % of @bps,
 * cut at %FMX_TCP_P_MIN and 1 ([RFC5348 6.3.1] asks for 5 %)
 */
double fmx_tcp_equation_inverse (const FmxTcpPath * path, double bps);

/**
 * fmx_tcp_equation_simple_bps:
 *
 * |[ X = 8 s / (R sqrt (2bp/3)) ]|, which ignores timeouts: what
 * [RFC8083 4.3] recommends for its order-of-magnitude test.
 *
 * Returns: X in bits per second; HUGE_VAL for p = 0
 */
double fmx_tcp_equation_simple_bps (const FmxTcpPath * path, double p);

/**
 * fmx_tcp_equation_marked_bps: where all loss events are marks ([RFC3168]): nothing
 * times out, and a window is never less than two segments ([RFC5681 3.1] (4))
 *
 * Returns: X in bits per second; HUGE_VAL for p = 0
 */
double fmx_tcp_equation_marked_bps (const FmxTcpPath * path, double p);

#ifdef __cplusplus
}
#endif

#endif /* FMX_TCP_EQUATION_H */
