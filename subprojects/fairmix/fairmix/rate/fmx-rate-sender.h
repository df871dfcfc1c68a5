/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RATE_SENDER_H
#define FMX_RATE_SENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fairmix/base/fmx-event.h"
#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/* DRAFT, its owner may refine it: everything that a sender of RTP needs, made
 * of the sent-packet history (loss), RTT (rtt), a controller and the circuit
 * breaker (rate).  tfrcrate, the ns-3 application and the fuzzer use this. */

typedef struct _FmxRateSender FmxRateSender;    /* caller-allocated */
typedef struct _FmxRateSenderParams FmxRateSenderParams;

/* FmxRateSenderParams: algorithm (const FmxRateClass *), segment_bytes (1460; 0 = the true packet
 * size), decision_interval_rtts (7), min_bps, max_bps, initial_bps, loss_limit (< 0: automatic
 * from the smallest stream), rto_min, event sink ... */
void fmx_rate_sender_params_default (FmxRateSenderParams * params);
void fmx_rate_sender_init (FmxRateSender * sender,
    const FmxRateSenderParams * params, FmxTime now);

/* An RTP packet of the bundle left; @wire_bytes with IP and UDP. */
void fmx_rate_sender_on_sent (FmxRateSender * sender, uint32_t ssrc,
    uint16_t seq, uint32_t wire_bytes, FmxTime now);

/* The FCI of an RFC 8888 packet (see fmx_ccfb_reader_init()); false = malformed. */
bool fmx_rate_sender_on_ccfb (FmxRateSender * sender, const uint8_t * data,
    size_t size, FmxTime now);

/* A report block of an SR or RR about one of our SSRCs: the fallback.  @ntp_now_mid32: middle 32
 * bits of the NTP time now, for LSR/DLSR. */
typedef struct
{
  uint32_t ssrc;
  uint8_t fraction_lost;        /* in 1/256 */
  int32_t cumulative_lost;
  uint32_t ext_highest_seq;
  uint32_t jitter_ts;
  uint32_t lsr;
  uint32_t dlsr;
} FmxReportBlock;
void fmx_rate_sender_on_report_block (FmxRateSender * sender,
    const FmxReportBlock * block, uint32_t ntp_now_mid32, FmxTime now);

FmxTime fmx_rate_sender_next_timeout (const FmxRateSender * sender);
void fmx_rate_sender_on_timeout (FmxRateSender * sender, FmxTime now);

/* The target, in bits/s on the wire; 0 while probing or after the breaker tripped. */
uint64_t fmx_rate_sender_target_bps (const FmxRateSender * sender);
/* Media may pass now (false: probing, breaker). */
bool fmx_rate_sender_may_send (const FmxRateSender * sender);
/* Probing: a dummy packet is due now; the caller sends one and reports it with ..._on_sent(). */
bool fmx_rate_sender_take_probe (FmxRateSender * sender, FmxTime now);

/* rtt, rto, loss event rate, loss fraction, sent bps, receive bps, streams, probing, feedback kind
 * (none, rr, ccfb), last feedback time, counters ... */
typedef struct _FmxRateSenderStats FmxRateSenderStats;
void fmx_rate_sender_get_stats (const FmxRateSender * sender,
    FmxRateSenderStats * stats, FmxTime now);

#ifdef __cplusplus
}
#endif

#endif /* FMX_RATE_SENDER_H */
