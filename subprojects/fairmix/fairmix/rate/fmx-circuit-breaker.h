/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_CIRCUIT_BREAKER_H
#define FMX_CIRCUIT_BREAKER_H

#include <stdbool.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_CIRCUIT_BREAKER_REPORTS: the congestion test looks back over so many
 * reports at most. */
#define FMX_CIRCUIT_BREAKER_REPORTS 64u

/**
 * FmxCircuitBreakerCause:
 * @FMX_CIRCUIT_BREAKER_CLOSED: all is well
 * @FMX_CIRCUIT_BREAKER_RTCP_TIMEOUT: no report for three intervals
 *     ([RFC8083 4.1])
 * @FMX_CIRCUIT_BREAKER_MEDIA_TIMEOUT: reports say that nothing arrives
 *     ([RFC8083 4.2])
 * @FMX_CIRCUIT_BREAKER_CONGESTION: ten times what a TCP would send
 *     ([RFC8083 4.3])
 */
typedef enum
{
  FMX_CIRCUIT_BREAKER_CLOSED,
  FMX_CIRCUIT_BREAKER_RTCP_TIMEOUT,
  FMX_CIRCUIT_BREAKER_MEDIA_TIMEOUT,
  FMX_CIRCUIT_BREAKER_CONGESTION
} FmxCircuitBreakerCause;

/**
 * FmxCircuitBreakerParams:
 * @td: deterministic RTCP interval Td with Tmin = 5 s ([RFC8083 4.1])
 * @k: non-reporting threshold ([RFC8083 3])
 * @factor: "an order of magnitude" ([RFC8083 4.3])
 * @hold: open for so long at least, doubled each time it trips again soon
 */
typedef struct
{
  FmxDuration td;
  unsigned k;
  double factor;
  FmxDuration hold;
} FmxCircuitBreakerParams;

/**
 * FmxCircuitBreakerReport:
 * @fraction_lost: since the last report, in [0, 1]
 * @media_received: whether something arrived since the last report
 * @rtt: Tr; 0 = unknown
 * @sent_bps: the rate that was really sent, in bits/s
 * @segment_bytes: s of the simplified TCP equation
 * @frame_interval: Tf: time between two packets of a stream
 *
 * What one RTCP report said, together with what the sender did meanwhile.
 */
typedef struct
{
  double fraction_lost;
  bool media_received;
  FmxDuration rtt;
  double sent_bps;
  double segment_bytes;
  FmxDuration frame_interval;
} FmxCircuitBreakerReport;

/**
 * FmxCircuitBreaker:
 *
 * The emergency stop beside a rate controller.  It knows nothing of the
 * controller and looks only at what was really sent: a sender that adapts as
 * TCP does never trips it, one that does not listen always does.
 *
 * - No report for 3 Td while media is sent, ten packets of it at least.
 * - MEDIA_TIMEOUT = ceil (k max (Tf, Tr, Tdr) / Tdr) reports in a row that
 *   nothing arrived.
 * - Over CB_INTERVAL = ceil (3 min (max (10 Tf, 10 Tr, 3 Tdr),
 *   max (15 s, 3 Td)) / (3 Tdr)) reports, with p the mean of the fractions
 *   lost, weighted with the time that each report covers:
 *   sent rate > @factor * s / (Tr sqrt (2p/3)).
 *
 * Tdr is the mean time between the reports seen.  After a trip nothing may be
 * sent for @hold, then the caller may try gently.
 *
 * Source: [RFC8083 4].
 */
typedef struct
{
  /*< private >*/
  FmxCircuitBreakerParams params;
  FmxCircuitBreakerCause cause;
  FmxTime armed;                /* media since; NONE = none is sent */
  FmxTime last_media;
  unsigned n_unheard;           /* media since something was heard */
  FmxTime last_report;
  FmxDuration tdr;
  FmxDuration tr;
  unsigned n_silent;            /* reports in a row without media */
  unsigned media_timeout;       /* how many are too many */
  unsigned n_reports;
  double fraction[FMX_CIRCUIT_BREAKER_REPORTS];
  FmxDuration duration[FMX_CIRCUIT_BREAKER_REPORTS];
  FmxTime close_at;
  FmxTime closed;
  unsigned n_again;             /* trips soon after the last one */
} FmxCircuitBreaker;

/** fmx_circuit_breaker_params_default: 5 s, 5, 10, 15 s */
void fmx_circuit_breaker_params_default (FmxCircuitBreakerParams * params);

void fmx_circuit_breaker_init (FmxCircuitBreaker * breaker,
    const FmxCircuitBreakerParams * params);

/** fmx_circuit_breaker_on_media: a packet of media left (not a dummy) */
void fmx_circuit_breaker_on_media (FmxCircuitBreaker * breaker, FmxTime now);

/** fmx_circuit_breaker_on_heard: RTCP about any of our streams came, whatever
 * it said: the reverse path works ([RFC8083 4.1], last paragraph) */
void fmx_circuit_breaker_on_heard (FmxCircuitBreaker * breaker, FmxTime now);

/** fmx_circuit_breaker_on_report: Returns: whether it has just tripped */
bool fmx_circuit_breaker_on_report (FmxCircuitBreaker * breaker,
    const FmxCircuitBreakerReport * report, FmxTime now);

/** fmx_circuit_breaker_limit_bps: Returns: what may be sent without tripping, as far as
 * the last reports tell, in segments of @segment_bytes; 0 = they tell nothing */
double fmx_circuit_breaker_limit_bps (const FmxCircuitBreaker * breaker,
    double segment_bytes);

/** fmx_circuit_breaker_next_timeout: Returns: when to call
 * fmx_circuit_breaker_on_timeout() */
FmxTime fmx_circuit_breaker_next_timeout (const FmxCircuitBreaker * breaker);

/** fmx_circuit_breaker_on_timeout: trips, or closes, when it is time.
 * Returns: whether it changed */
bool fmx_circuit_breaker_on_timeout (FmxCircuitBreaker * breaker, FmxTime now);

/** fmx_circuit_breaker_cause: Returns: why it is open, or
 * %FMX_CIRCUIT_BREAKER_CLOSED */
FmxCircuitBreakerCause fmx_circuit_breaker_cause (
    const FmxCircuitBreaker * breaker);

#ifdef __cplusplus
}
#endif

#endif /* FMX_CIRCUIT_BREAKER_H */
