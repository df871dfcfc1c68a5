/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/asmp/fmx-asmp-delay.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "fairmix/base/fmx-serial.h"

#define ONE_WAY_MIN_S 1e-6      /* less divides by nothing */
#define RTT_MAX_S 60.0          /* more is no round trip */
#define RTT_MIN_S 1e-6
/* Before the sender has told anything, t = 2 T1 (7): only if T1 can be one */
#define ONE_WAY_MAX_S 1.0
#define MEAN_S 8.0              /* what a queue does within it is noise */
#define REST_WEIGHT 0.5         /* of the newest measurement */

void
fmx_asmp_delay_init (FmxAsmpDelay *delay, uint32_t clock_rate_hz)
{
  assert (clock_rate_hz > 0);
  memset (delay, 0, sizeof *delay);
  delay->clock_rate_hz = clock_rate_hz;
}

void
fmx_asmp_delay_restart (FmxAsmpDelay *delay)
{
  FmxAsmpDelay before = *delay;

  fmx_asmp_delay_init (delay, before.clock_rate_hz);
  delay->jitter_s = before.jitter_s;
  delay->congested = before.congested;
  delay->has_measured = before.has_measured;
  delay->measured_s = before.measured_s;
  delay->has_rtt = before.has_rtt;
  delay->rtt_s = before.rtt_s;
  /* T1 begins anew with the next sender report, CJ with the next packet */
  delay->has_a = false;
  delay->rest_s = before.rest_s + before.mean_transit_s;
}

static double
media_s (const FmxAsmpDelay *delay, uint32_t ts)
{
  return (double) (delay->ticks + fmx_serial_diff32 (ts, delay->last_ts))
      / delay->clock_rate_hz;
}

static void
note_least (FmxAsmpDelay *delay, FmxTime now)
{
  FmxDuration lasted = fmx_time_diff (now, delay->window_start);

  if (lasted >= FMX_ASMP_DELAY_BASE_WINDOW) {
    delay->has_before = lasted < 2 * FMX_ASMP_DELAY_BASE_WINDOW;
    delay->before_least_s = delay->window_least_s;
    delay->window_least_s = delay->transit_s;
    delay->window_start = now;
  } else {
    delay->window_least_s = fmin (delay->window_least_s, delay->transit_s);
  }
}

/* @media_s: since the packet before */
static void
follow_mean (FmxAsmpDelay *delay, double media_s)
{
  if (media_s > 0.0)
    delay->mean_transit_s += (delay->transit_s - delay->mean_transit_s)
        * media_s / (media_s + MEAN_S);
}

void
fmx_asmp_delay_on_packet (FmxAsmpDelay *delay, uint32_t ts, FmxTime now)
{
  double before = delay->transit_s;

  if (!delay->started) {
    delay->started = true;
    delay->first_arrival = now;
    delay->window_start = now;
    delay->last_ts = ts;
    before = 0.0;
  }
  delay->transit_s = fmx_time_to_s (fmx_time_diff (now, delay->first_arrival))
      - media_s (delay, ts);
  follow_mean (delay, (double) fmx_serial_diff32 (ts, delay->last_ts)
      / delay->clock_rate_hz);
  delay->ticks += fmx_serial_diff32 (ts, delay->last_ts);
  delay->last_ts = ts;

  /* [ASMP (5)], [RFC3550 A.8] */
  delay->jitter_s += (fabs (delay->transit_s - before) - delay->jitter_s)
      / 16.0;
  /* [ASMP (17)] */
  delay->n_long++;
  delay->long_s += (delay->transit_s - delay->long_s) / (double) delay->n_long;
  delay->n_short++;
  delay->short_s +=
      (delay->transit_s - delay->short_s) / (double) delay->n_short;
  note_least (delay, now);
}

static double
one_way_s (const FmxAsmpDelay *delay)
{
  return delay->base_s + delay->transit_s;
}

/* t, or 0 where it is not known */
static double
instant_s (const FmxAsmpDelay *delay)
{
  double t;

  if (delay->has_base && delay->has_measured && delay->has_a) {
    t = (1.0 + delay->a) * one_way_s (delay);   /* [ASMP (8)] */
    if (t > RTT_MIN_S && t < RTT_MAX_S)
      return t;
  }
  if (delay->has_measured)
    return delay->measured_s;
  if (delay->has_base && one_way_s (delay) > RTT_MIN_S
      && one_way_s (delay) <= ONE_WAY_MAX_S)
    return 2.0 * one_way_s (delay);     /* [ASMP (7)] */
  return 0.0;
}

/* [ASMP (10)], so that t is @rtt_s now */
static void
set_a (FmxAsmpDelay *delay, double rtt_s)
{
  delay->has_a = delay->has_base && fabs (one_way_s (delay)) > ONE_WAY_MIN_S;
  if (delay->has_a)
    delay->a = rtt_s / one_way_s (delay) - 1.0;
}

void
fmx_asmp_delay_on_sender_report (FmxAsmpDelay *delay, uint32_t ts,
    FmxTime sender_time, FmxTime own_time, FmxTime now)
{
  double t = instant_s (delay);

  if (!delay->started)
    return;
  delay->base_s = fmx_time_to_s (fmx_time_diff (own_time, sender_time))
      - fmx_time_to_s (fmx_time_diff (now, delay->first_arrival))
      + media_s (delay, ts);
  delay->has_base = true;
  delay->sender_transit_s = delay->transit_s;
  if (delay->has_measured)
    set_a (delay, t);
}

void
fmx_asmp_delay_on_rtt (FmxAsmpDelay *delay, FmxDuration rtt)
{
  double rtt_s = fmx_time_to_s (rtt);
  double rest_s = rtt_s - delay->reported_transit_s;

  if (rtt_s < RTT_MIN_S || rtt_s > RTT_MAX_S)
    return;
  delay->rest_s += (delay->has_measured ? REST_WEIGHT : 1.0)
      * (rest_s - delay->rest_s);
  if (!delay->has_measured)
    delay->has_rtt = false;     /* what was guessed by (7) goes */
  delay->has_measured = true;
  delay->measured_s = rtt_s;
  set_a (delay, rtt_s);
}

void
fmx_asmp_delay_report (FmxAsmpDelay *delay, double beta)
{
  double t = instant_s (delay);

  if (t > 0.0) {
    /* [ASMP (11)] */
    delay->rtt_s = delay->has_rtt ? beta * t + (1.0 - beta) * delay->rtt_s : t;
    delay->has_rtt = true;
  }
  if (delay->n_short > 0)
    delay->congested = delay->short_s >= delay->long_s; /* [ASMP (18)] */
  delay->n_short = 0;
  delay->short_s = 0.0;
  delay->reported_transit_s = delay->sender_transit_s;
}

FmxDuration
fmx_asmp_delay_rtt (const FmxAsmpDelay *delay)
{
  return delay->has_rtt ? fmx_time_from_s (delay->rtt_s) : 0;
}

bool
fmx_asmp_delay_is_measured (const FmxAsmpDelay *delay)
{
  return delay->has_measured;
}

FmxDuration
fmx_asmp_delay_rtt_now (const FmxAsmpDelay *delay)
{
  double t;

  if (!delay->has_measured)
    return 0;
  t = delay->rest_s + delay->mean_transit_s;
  /* clocks that part cannot make a path shorter than half of what it was */
  t = fmin (fmax (t, 0.5 * delay->measured_s), RTT_MAX_S);
  return fmx_time_from_s (t);
}

bool
fmx_asmp_delay_is_congested (const FmxAsmpDelay *delay)
{
  return delay->congested;
}

FmxDuration
fmx_asmp_delay_jitter (const FmxAsmpDelay *delay)
{
  return fmx_time_from_s (delay->jitter_s);
}

FmxDuration
fmx_asmp_delay_queue (const FmxAsmpDelay *delay)
{
  double least = delay->window_least_s;

  if (delay->has_before)
    least = fmin (least, delay->before_least_s);
  return fmx_time_from_s (fmax (delay->transit_s - least, 0.0));
}
