/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_TEST_RATE_SHORTQ_H
#define FMX_TEST_RATE_SHORTQ_H

/* The controller fairmix, told what the queue is */
#include "fmx-test-rate.h"

#define STEP (50 * MS)

typedef struct
{
  FmxRateController rc;
  FmxRateFeedback fb;
  FmxTime now;
  double link_bps;
  double sent_share;            /* of the rate */
} Told;

static inline Told
told_begin (double bps)
{
  Told t;
  FmxRateParams params = fmx_test_params ();

  params.initial_bps = bps;
  fmx_rate_controller_init (&t.rc, &fmx_rate_shortq, &params, 0);
  t.fb = fmx_test_feedback (bps);
  t.now = 0;
  t.link_bps = HUGE_VAL;
  t.sent_share = 1.0;
  return t;
}

/* What the link carries arrives, after 100 ms and what the queue adds. */
static inline void
told_for (Told *t, FmxDuration time, FmxDuration queue)
{
  for (FmxTime until = t->now + (FmxTime)time; t->now < until; t->now += STEP) {
    t->fb.rtt = t->fb.rtt_median = t->fb.rtt_sample_min = 100 * MS + queue;
    t->fb.sent_bps = t->sent_share * fmx_rate_controller_bps (&t->rc);
    t->fb.receive_bps = fmin (t->fb.sent_bps, t->link_bps);
    t->fb.acked_sent = t->now - (FmxTime) t->fb.rtt_median;
    t->fb.loss_event_sent = t->fb.acked_sent;   /* if anything was lost */
    fmx_rate_controller_on_feedback (&t->rc, &t->fb, t->now);
    t->fb.new_loss_event = false;
  }
}

static inline FmxRateShortqMode
told_mode (const Told *t)
{
  return t->rc.state.shortq.mode;
}

/* Until it is in @mode, or no longer; soon. */
static inline void
told_until (Told *t, FmxRateShortqMode mode, FmxDuration queue)
{
  FmxTime end = t->now + 20 * (FmxTime) S;

  for (; told_mode (t) != mode; told_for (t, STEP, queue))
    assert_true (t->now < end);
}

static inline void
told_while (Told *t, FmxRateShortqMode mode, FmxDuration queue)
{
  FmxTime end = t->now + 20 * (FmxTime) S;

  for (; told_mode (t) == mode; told_for (t, STEP, queue))
    assert_true (t->now < end);
}

/* The queue is @queue until the cut shows, and then drained. */
static inline void
told_drain (Told *t, FmxDuration queue)
{
  while (told_mode (t) == FMX_RATE_SHORTQ_DRAINING
      && !t->rc.state.shortq.drain_seen)
    told_for (t, STEP, queue);
  told_while (t, FMX_RATE_SHORTQ_DRAINING, 0);
}

/* Somebody makes it lose something: the next feedback tells. */
static inline void
told_lose (Told *t)
{
  t->fb.new_loss_event = true;
}

/* It may have so much, and no more. */
static inline void
told_limit (Told *t, double max_bps)
{
  FmxRateParams params = t->rc.params;

  params.max_bps = max_bps;
  fmx_rate_controller_set_params (&t->rc, &params);
}

/* It starts still, and what it loses says nothing of how it began. */
static inline Told
told_begun (double bps)
{
  Told t = told_begin (bps);
  double most_bps = t.rc.params.max_bps;

  told_limit (&t, bps);
  told_for (&t, 6 * S, 0);
  told_limit (&t, most_bps);
  return t;
}

/* The p that lets a TCP have @bps and no more, at a round trip of @rtt. */
static inline double
told_loss (double bps, FmxDuration rtt)
{
  FmxTcpPath path = fmx_tcp_path (1460.0, rtt);
  double low = 1e-9, high = 1.0;

  for (unsigned i = 0; i < 200; i++) {
    double p = 0.5 * (low + high);

    if (fmx_tcp_equation_bps (&path, p) > bps)
      low = p;
    else
      high = p;
  }
  return high;
}

/* Losses let it have no more than it has, for some seconds. */
static inline void
told_held (Told *t)
{
  t->fb.loss_event_rate = told_loss (t->rc.rate_bps, 100 * MS);
  told_for (t, 4 * S, 0);
  t->fb.loss_event_rate = 0.0;
}

static inline void
assert_bps (const Told *t, double expected)
{
  if (fabs (t->rc.rate_bps - expected) > 1e-6 * expected)
    fail_msg ("%.1f bits/s, not %.1f, at %.2f s", t->rc.rate_bps, expected,
        fmx_time_to_s ((FmxDuration) t->now));
}

static inline void
assert_near (double value, double expected)
{
  if (fabs (value - expected) > 0.15 * expected)
    fail_msg ("%.0f, not %.0f", value, expected);
}

/* Losses have ended its start; the rate is still what it was, for no round trip is
 * over.  Nothing is known of a ceiling. */
static inline Told
told_calm (double bps)
{
  Told t = told_begin (bps);

  t.fb.loss_event_rate = 1.0;
  told_for (&t, STEP, 0);
  t.fb.loss_event_rate = 0.0;
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_CALM);
  assert_bps (&t, bps);
  return t;
}

/* Somebody fills the queue, whatever we do. */
static inline Told
told_competing (double bps)
{
  Told t = told_calm (bps);

  told_lose (&t);
  told_for (&t, MS, 0);
  told_until (&t, FMX_RATE_SHORTQ_COMPETING, 200 * MS);
  assert_true (t.now < 6 * (FmxTime) S);
  return t;
}

/* The same as told_calm(), and the last step up, to @bps, was a moment ago. */
static inline Told
told_raised (double bps)
{
  Told t = told_calm (bps - 16e3);

  told_for (&t, 700 * MS, 0);
  assert_bps (&t, bps);
  return t;
}

/* Its own step, to @bps or nearly, makes the queue show, which drains: @n times in
 * a row. */
static inline Told
told_ceiling (double bps, unsigned n)
{
  Told t = told_raised (bps);

  while (n-- > 0) {
    FmxTime end = t.now + 20 * (FmxTime) S;

    for (; t.rc.rate_bps <= 0.95 * bps; told_for (&t, STEP, 0))
      assert_true (t.now < end);
    told_until (&t, FMX_RATE_SHORTQ_DRAINING, 60 * MS);
    told_drain (&t, 60 * MS);
  }
  return t;
}

#endif /* FMX_TEST_RATE_SHORTQ_H */
