/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ASMP_EQUATION_H
#define FMX_ASMP_EQUATION_H

#include "fairmix/base/fmx-time.h"
#include "fairmix/rate/fmx-tcp-equation.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * fmx_asmp_equation_bps:
 * @packet_bytes: P, size of a packet, in bytes, > 0
 * @rtt: t, round-trip time, > 0
 * @loss: l, in [0, 1]
 *
 * A TCP's rate as ASMP reckons it, with D = 1 and t_out = 4 t:
 *
 * |[
 *                                 8 P
 *   r = ------------------------------------------------------------------
 *        t sqrt (2Dl/3)  +  t_out min (1, 3 sqrt (3Dl/8))  l (1 + 32 l^2)
 * ]|
 *
 * The difference from fmx_tcp_equation_bps() is the minimum, which counts from
 * l = 8/27 on.
 *
 * Source: ASMP (12), there in bytes per second.
 * Returns: r in bits per second; HUGE_VAL for l = 0
 */
double fmx_asmp_equation_bps (double packet_bytes, FmxDuration rtt,
    double loss);

/**
 * fmx_asmp_step_bps:
 *
 * Source: ASMP (13): a report without a loss allows P/t more.
 * Returns: 8 P / t in bits per second
 */
double fmx_asmp_step_bps (double packet_bytes, FmxDuration rtt);

/**
 * fmx_asmp_small_packets_bps:
 * @path: of the TCP
 * @p: loss event rate of the small packets
 * @fraction: share of them that was lost, in [0, 1]
 * @packets_per_s: how many there are
 *
 * What a TCP would get where packets smaller than its own are lost.  Of many
 * packets in a round trip the losses are one event; of a TCP's few nearly each is one
 * of its own, and there are no more events than those seen.  With f the share lost,
 * n the TCP's packets in a round trip, m and M packets a second of ours and of its:
 *
 * |[ p_TCP = max (p, min (1 / (1/f + n), p m/M)) ]|
 *
 * Where f is 10 %, 50 packets a second and a round trip of 0.4 s make p 4 %; a TCP
 * of 64 kbit/s, which sends two packets in a round trip, finds 8 %.
 *
 * And of so few packets no three come after a lost one: the share of losses that wait
 * for a time-out is at least min (1, 2.5 / n), for PFTK's min (1, 3 / w), w the window at
 * the loss.
 *
 * Returns: r in bits per second, which n and M follow from
 */
double fmx_asmp_small_packets_bps (const FmxTcpPath * path, double p,
    double fraction, double packets_per_s);

/**
 * fmx_asmp_plausible_bps:
 * @target_bps: what is sent
 * @rtt: the round-trip time as the sender has measured it; 0 = it has not
 * @loss: the loss event rate that the receiver tells, in [0, 1]
 * @fraction_lost: the share of packets that its report says were lost, in [0, 1]
 *
 * Loss and round trip are measured at both ends and never agree quite: so a rate
 * is believed down to a quarter of what a TCP with full segments would have, or
 * down to half of what arrives.
 *
 * Returns: the least rate of a receiver that is to be believed, in bits per second
 */
double fmx_asmp_plausible_bps (double target_bps, FmxDuration rtt,
    double loss, double fraction_lost);

#ifdef __cplusplus
}
#endif

#endif /* FMX_ASMP_EQUATION_H */
