/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-circuit-breaker.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "fairmix/rate/fmx-tcp-equation.h"

#define LIMIT_REPORTS 3u        /* the least that count ([RFC8083 4.3]) */
#define TR_GAIN 0.2             /* [RFC8083 3] Tr = 0.8*Tr + 0.2*Tr_new */
#define MAX_DOUBLINGS 6u

/* A receiver that speaks only when something arrives is not silent because a
 * few packets were lost. */
#define UNHEARD_PACKETS 10u

void
fmx_circuit_breaker_params_default (FmxCircuitBreakerParams *params)
{
  params->td = 5 * FMX_SECOND;
  params->k = 5;
  params->factor = 10.0;
  params->hold = 15 * FMX_SECOND;
}

static void
forget (FmxCircuitBreaker *breaker)
{
  breaker->armed = FMX_TIME_NONE;
  breaker->last_report = FMX_TIME_NONE;
  breaker->n_silent = 0;
  breaker->n_unheard = 0;
  breaker->media_timeout = 0;
  breaker->n_reports = 0;
}

void
fmx_circuit_breaker_init (FmxCircuitBreaker *breaker,
    const FmxCircuitBreakerParams *params)
{
  assert (params->td > 0 && params->k > 0 && params->factor > 0.0);
  assert (params->hold > 0);

  memset (breaker, 0, sizeof *breaker);
  breaker->params = *params;
  breaker->closed = FMX_TIME_NONE;
  forget (breaker);
}

static void
trip (FmxCircuitBreaker *breaker, FmxCircuitBreakerCause cause, FmxTime now)
{
  FmxDuration hold = breaker->params.hold;

  /* [RFC8083 4.5] "MUST rate limit attempts to restart"; each one that fails
   * soon after the last doubles the wait. */
  if (breaker->closed != FMX_TIME_NONE
      && fmx_time_diff (now, breaker->closed) < 4 * breaker->params.hold) {
    if (breaker->n_again < MAX_DOUBLINGS)
      breaker->n_again++;
  } else {
    breaker->n_again = 0;
  }
  breaker->cause = cause;
  breaker->close_at = now + (FmxTime) (hold << breaker->n_again);
  forget (breaker);
}

void
fmx_circuit_breaker_on_media (FmxCircuitBreaker *breaker, FmxTime now)
{
  if (breaker->cause != FMX_CIRCUIT_BREAKER_CLOSED)
    return;                     /* it has been told already */
  /* After a pause of three intervals reports need time to come again. */
  if (breaker->armed == FMX_TIME_NONE
      || fmx_time_diff (now, breaker->last_media) > 3 * breaker->params.td) {
    breaker->armed = now;
    breaker->n_silent = 0;
  }
  breaker->n_unheard++;
  breaker->last_media = now;
}

void
fmx_circuit_breaker_on_heard (FmxCircuitBreaker *breaker, FmxTime now)
{
  if (breaker->armed != FMX_TIME_NONE)
    breaker->armed = now;
  breaker->n_unheard = 0;
}

static double
largest (double a, double b, double c)
{
  double most = a > b ? a : b;

  return most > c ? most : c;
}

/* [RFC8083 4.2] */
static unsigned
media_timeout (const FmxCircuitBreaker *breaker, FmxDuration tf)
{
  double tdr = (double) breaker->tdr;

  return (unsigned) ceil (breaker->params.k * largest ((double) tf,
          (double) breaker->tr, tdr) / tdr);
}

/* [RFC8083 4.3] CB_INTERVAL, with G = 1 */
static unsigned
congestion_interval (const FmxCircuitBreaker *breaker, FmxDuration tf)
{
  double tdr = (double) breaker->tdr;
  double time = largest (10.0 * (double) tf, 10.0 * (double) breaker->tr,
      3.0 * tdr);
  double limit = largest (15.0 * (double) FMX_SECOND,
      3.0 * (double) breaker->params.td, 0.0);
  double n = ceil (3.0 * (time < limit ? time : limit) / (3.0 * tdr));

  if (n > FMX_CIRCUIT_BREAKER_REPORTS - 1u)
    n = FMX_CIRCUIT_BREAKER_REPORTS - 1u;
  return n < 3.0 ? 3u : (unsigned) n;
}

/* Weighted mean of the fractions lost of the last @n reports. */
static double
mean_fraction (const FmxCircuitBreaker *breaker, unsigned n)
{
  double lost = 0.0, all = 0.0;

  for (unsigned i = 1; i <= n; i++) {
    unsigned at = (breaker->n_reports - i) % FMX_CIRCUIT_BREAKER_REPORTS;

    lost += breaker->fraction[at] * (double) breaker->duration[at];
    all += (double) breaker->duration[at];
  }
  return all > 0.0 ? lost / all : 0.0;
}

double
fmx_circuit_breaker_limit_bps (const FmxCircuitBreaker *breaker,
    double segment_bytes)
{
  unsigned n = breaker->n_reports < LIMIT_REPORTS ? breaker->n_reports
      : LIMIT_REPORTS;
  FmxTcpPath path;

  if (n == 0 || breaker->tr <= 0)
    return 0.0;
  path = fmx_tcp_path (segment_bytes, breaker->tr);
  return breaker->params.factor
      * fmx_tcp_equation_simple_bps (&path, mean_fraction (breaker, n));
}

static bool
is_congested (const FmxCircuitBreaker *breaker,
    const FmxCircuitBreakerReport *report)
{
  unsigned n = congestion_interval (breaker, report->frame_interval);
  FmxTcpPath path;
  double p;

  /* "If more than CB_INTERVAL report blocks have been received" */
  if (breaker->n_reports <= n || breaker->tr <= 0)
    return false;
  p = mean_fraction (breaker, n);
  path = fmx_tcp_path (report->segment_bytes, breaker->tr);
  return report->sent_bps > breaker->params.factor
      * fmx_tcp_equation_simple_bps (&path, p);
}

static void
record (FmxCircuitBreaker *breaker, const FmxCircuitBreakerReport *report,
    FmxTime now)
{
  unsigned at = breaker->n_reports % FMX_CIRCUIT_BREAKER_REPORTS;
  FmxDuration took = fmx_time_diff (now, breaker->last_report);

  breaker->tdr = breaker->n_reports == 0 ? took
      : breaker->tdr + (took - breaker->tdr) / 4;
  if (breaker->tdr < FMX_MSECOND)
    breaker->tdr = FMX_MSECOND;
  breaker->fraction[at] = report->fraction_lost;
  breaker->duration[at] = took;
  breaker->n_reports++;
}

bool
fmx_circuit_breaker_on_report (FmxCircuitBreaker *breaker,
    const FmxCircuitBreakerReport *report, FmxTime now)
{
  bool sending = breaker->armed != FMX_TIME_NONE
      && fmx_time_diff (now, breaker->last_media) <= breaker->params.td;
  unsigned timeout;

  assert (report->fraction_lost >= 0.0 && report->fraction_lost <= 1.0);
  fmx_circuit_breaker_on_heard (breaker, now);
  if (report->rtt > 0)
    breaker->tr = breaker->tr == 0 ? report->rtt : breaker->tr
        + (FmxDuration) (TR_GAIN * (double) (report->rtt - breaker->tr));
  if (breaker->last_report == FMX_TIME_NONE || !sending) {
    breaker->last_report = now;
    breaker->n_silent = 0;
    return false;
  }
  record (breaker, report, now);
  breaker->last_report = now;

  /* "cancels the media timeout circuit breaker ... MUST calculate a new
   * value", or reconsiders: a larger one replaces it */
  timeout = media_timeout (breaker, report->frame_interval);
  if (report->media_received || timeout > breaker->media_timeout)
    breaker->media_timeout = timeout;
  breaker->n_silent = report->media_received ? 0 : breaker->n_silent + 1;
  if (breaker->n_silent >= breaker->media_timeout) {
    trip (breaker, FMX_CIRCUIT_BREAKER_MEDIA_TIMEOUT, now);
    return true;
  }
  if (report->media_received && is_congested (breaker, report)) {
    trip (breaker, FMX_CIRCUIT_BREAKER_CONGESTION, now);
    return true;
  }
  return false;
}

FmxTime
fmx_circuit_breaker_next_timeout (const FmxCircuitBreaker *breaker)
{
  if (breaker->cause != FMX_CIRCUIT_BREAKER_CLOSED)
    return breaker->close_at;
  if (breaker->armed == FMX_TIME_NONE)
    return FMX_TIME_NONE;
  return breaker->armed + 3 * (FmxTime) breaker->params.td;
}

bool
fmx_circuit_breaker_on_timeout (FmxCircuitBreaker *breaker, FmxTime now)
{
  if (now < fmx_circuit_breaker_next_timeout (breaker))
    return false;
  if (breaker->cause != FMX_CIRCUIT_BREAKER_CLOSED) {
    breaker->cause = FMX_CIRCUIT_BREAKER_CLOSED;
    breaker->closed = now;
    return true;
  }
  /* [RFC8083 4.1]; a sender that fell silent meanwhile has nothing to stop */
  if (fmx_time_diff (now, breaker->last_media) > breaker->params.td) {
    breaker->armed = FMX_TIME_NONE;
    return false;
  }
  if (breaker->n_unheard < UNHEARD_PACKETS) {
    breaker->armed = now;
    return false;
  }
  trip (breaker, FMX_CIRCUIT_BREAKER_RTCP_TIMEOUT, now);
  return true;
}

FmxCircuitBreakerCause
fmx_circuit_breaker_cause (const FmxCircuitBreaker *breaker)
{
  return breaker->cause;
}
