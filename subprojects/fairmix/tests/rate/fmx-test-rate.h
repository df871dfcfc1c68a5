/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_TEST_RATE_H
#define FMX_TEST_RATE_H

#include "fmx-test.h"

#include <math.h>
#include <string.h>

#include "fairmix/rate/fmx-rate-controller.h"
#include "fairmix/rate/fmx-tcp-equation.h"

#define MS FMX_MSECOND
#define S FMX_SECOND

/* A path of 100 ms, G.711 of 80 kbit/s, feedback each 50 ms, no loss. */
static inline FmxRateFeedback
fmx_test_feedback (double receive_bps)
{
  FmxRateFeedback fb;

  memset (&fb, 0, sizeof fb);
  fb.heard = true;
  fb.rtt = fb.rtt_median = fb.rtt_sample_min = fb.rtt_min = 100 * MS;
  fb.damping = 1.0;
  fb.rto = fb.rto_backed_off = 300 * MS;
  fb.interval = fb.interval_mean = 50 * MS;
  fb.loss_limit = 0.2;
  fb.equation_bps = HUGE_VAL;
  fb.receive_bps = fb.sent_bps = receive_bps;
  fb.row_bps = HUGE_VAL;
  fb.packet_bytes = 200.0;
  fb.stream_bps = 80000.0;
  return fb;
}

/* The same with loss event rate @p. */
static inline FmxRateFeedback
fmx_test_feedback_with_loss (double receive_bps, double p, bool new_event)
{
  FmxRateFeedback fb = fmx_test_feedback (receive_bps);
  FmxTcpPath path = fmx_tcp_path (1460.0, fb.rtt);

  fb.loss_event_rate = p;
  fb.new_loss_event = new_event;
  fb.equation_bps = fmx_tcp_equation_bps (&path, p);
  return fb;
}

static inline FmxRateParams
fmx_test_params (void)
{
  FmxRateParams params = { 20000.0, 1e9, 80000.0, 1460, 7.0, 0.0, 0.5, 0 };

  return params;
}

static inline FmxRateController
fmx_test_controller (const FmxRateClass *klass)
{
  FmxRateParams params = fmx_test_params ();
  FmxRateController rc;

  fmx_rate_controller_init (&rc, klass, &params, 0);
  return rc;
}

/* Sends at its full rate until @now. */
static inline void
fmx_test_send (FmxRateController *rc, FmxTime from, FmxTime until)
{
  FmxDuration interval;

  for (FmxTime now = from; now < until; now += (FmxTime) interval) {
    fmx_rate_controller_on_sent (rc, 200, now);
    interval = fmx_time_from_s (1600.0 / rc->rate_bps);
  }
}

#endif /* FMX_TEST_RATE_H */
