/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-rate-fairmix.h"

#include <math.h>
#include <string.h>

#include "fairmix/rate/fmx-rate-controller.h"
#include "fairmix/rate/fmx-tcp-equation.h"

#define Q_HIGH (30 * FMX_MSECOND)       /* a standing queue that is too long */
#define Q_PACKETS 3.0           /* ... or so many packets on a slow link */
#define PEAK_MIN (25 * FMX_MSECOND)     /* less is no queue to be full */
#define HALF 0.5
#define CUT 0.85                /* of what the receiver got */
#define NEAR_CEILING 0.95
#define SAME_CEILING 0.1
#define HOLD_MIN (2 * FMX_SECOND)
#define HOLD_MAX (60 * FMX_SECOND)
#define DRAIN_TELLS_S 0.06      /* expected fall that suffices to judge */
#define DRAIN_SHARE 0.6         /* of it that must have happened */
#define DRAIN_MAX (3 * FMX_SECOND)
#define TEST_INTERVAL (20 * FMX_SECOND)
#define TEST_DOUBLINGS 2u
#define TEST_CUT 0.75
#define MEAN_TIME_S 8.0
#define FULL_GAIN 0.25
#define DEAD_ZONE 0.1
#define MARGIN 1.1               /* over the least rate, to have room for a cut */
#define STEP_MAX_BPS 100000.0
#define STEP_MAX_SHARE 0.25
#define LASTING (15 * FMX_SECOND)
#define PROBE_DOUBLINGS 4u
#define OVERRUN 0.8             /* less of what is sent comes through */
#define SHED_TELLS (5 * FMX_SECOND)     /* as long as loss is counted */

static FmxDuration
q_high (const FmxRateFeedback *fb)
{
  FmxDuration packets = 0;

  if (fb->receive_bps > 0.0)
    packets = fmx_time_from_s (Q_PACKETS * fb->packet_bytes * 8.0
        / fb->receive_bps);
  return packets > Q_HIGH ? packets : Q_HIGH;
}

/* One stream, but never more than a part of the rate. */
static double
step_bps (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  double step = fb->stream_bps;

  if (step > STEP_MAX_BPS)
    step = STEP_MAX_BPS;
  if (step > STEP_MAX_SHARE * rc->rate_bps)
    step = STEP_MAX_SHARE * rc->rate_bps;
  return step;
}

static double
stream_bps (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  return fb->stream_bps > rc->params.min_bps
      && fb->stream_bps < STEP_MAX_BPS ? fb->stream_bps : rc->params.min_bps;
}

/* ---- X ---- */

static void
note_loss (FmxRateFairmixState *s, const FmxRateFeedback *fb)
{
  FmxDuration peak = fmx_queue_sense_peak (&s->queue);
  double full = peak >= PEAK_MIN
      && fmx_queue_sense_recent (&s->queue) >= peak / 2;

  if (!fb->new_loss_event)
    return;
  if (!s->full_known)
    s->full_share = full;
  else
    s->full_share += FULL_GAIN * (full - s->full_share);
  s->full_known = true;
}

static void
note_rtt (FmxRateFairmixState *s, const FmxRateFeedback *fb, FmxTime now)
{
  double rtt_s = fmx_time_to_s (fb->rtt_latest);
  double passed_s = fmx_time_to_s (fmx_time_diff (now, s->mean_time));
  double gain = passed_s < MEAN_TIME_S ? passed_s / MEAN_TIME_S : 1.0;

  if (s->mean_rtt_s <= 0.0)
    s->mean_rtt_s = rtt_s;
  s->mean_rtt_s += gain * (rtt_s - s->mean_rtt_s);
  s->mean_time = now;
}

static double
allowed_bps (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  const FmxRateFairmixState *s = &rc->state.fairmix;
  double segment = rc->params.segment_bytes > 0
      ? (double) rc->params.segment_bytes : fb->packet_bytes;
  FmxTcpPath path = fmx_tcp_path (segment, s->competing
      ? fmx_time_from_s (s->mean_rtt_s) : fb->rtt);

  double bps = fmx_tcp_equation_bps (&path, fb->loss_event_rate);

  if (segment > fb->packet_bytes)
    bps /= sqrt (1.0 + s->full_share * (segment / fb->packet_bytes - 1.0));
  return bps;
}

/* ---- down ---- */

static double
got_bps (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  /* what was not sent could not arrive */
  if (fb->receive_bps <= 0.0 || fb->sent_bps < 0.7 * rc->rate_bps)
    return rc->rate_bps;
  return fb->receive_bps < rc->rate_bps ? fb->receive_bps : rc->rate_bps;
}

static void
begin_to_probe (FmxRateController *rc, FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;

  if (s->resumed == FMX_TIME_NONE
      || fmx_time_diff (now, s->resumed) > LASTING)
    s->n_again = 0;
  else if (s->n_again < PROBE_DOUBLINGS)
    s->n_again++;
  s->draining = false;
  s->decided = now;
  fmx_rate_controller_probe (rc);
}

static void lower (FmxRateController * rc, double bps, const char *reason);

/* X is too high for the rate: down to it, but as a TCP not below half of what
 * the receiver gets within a round trip. */
static void
obey (FmxRateController *rc, const FmxRateFeedback *fb, double allowed,
    FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;
  double least = HALF * got_bps (rc, fb);

  if (fmx_time_diff (now, s->obeyed) < fb->rtt_latest)
    return;
  s->obeyed = now;
  s->starting = false;
  lower (rc, allowed > least ? allowed : least, FMX_RATE_DOWN_LOSS);
}

/* Never below the least rate: a burst of losses is no reason to say nothing at
 * all ([RFC3714 5] speaks of persistent loss). */
static void
lower (FmxRateController *rc, double bps, const char *reason)
{
  if (bps < rc->params.min_bps)
    bps = rc->params.min_bps;
  if (bps < rc->rate_bps)
    fmx_rate_controller_set (rc, bps, reason);
}

/* More than the loss limit is lost: the path became narrow.  First the rate
 * gives way, as a TCP's would; media stop only when at the least rate that
 * does not help. */
static void
shed (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;
  FmxDuration since = fmx_time_diff (now, s->shed);
  double least = MARGIN * rc->params.min_bps;
  double bps = HALF * got_bps (rc, fb);

  if (rc->rate_bps <= least && since > SHED_TELLS) {
    begin_to_probe (rc, now);
  } else if (rc->rate_bps > least && since > fb->rtt_latest + fb->interval) {
    s->shed = now;
    s->starting = s->draining = false;
    s->decided = now;
    lower (rc, bps > least ? bps : least, FMX_RATE_DOWN_LOSS);
  }
}

/* Much less comes through than is sent, and not by chance: the path carries no
 * more.  To a part of what it does carry, at once, whoever else is there
 * ([RFC5348 4.3]: X_recv * 0.85 after a loss). */
static bool
overrun (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;
  double sent = fb->sent_bps < rc->rate_bps ? fb->sent_bps : rc->rate_bps;

  if (fb->new_loss_event)
    s->loss_event = now;
  if (!fb->heard || s->loss_event == FMX_TIME_NONE
      || fmx_time_diff (now, s->loss_event) > fb->rtt_latest
      || fmx_time_diff (now, s->shed) < 2 * fb->rtt_latest
      || fb->receive_bps <= 0.0 || fb->receive_bps > OVERRUN * sent)
    return false;
  s->shed = s->decided = s->obeyed = now;
  s->starting = s->draining = false;
  lower (rc, CUT * fb->receive_bps, FMX_RATE_DOWN_LIMIT);
  return true;
}

static void
begin_to_drain (FmxRateController *rc, const FmxRateFeedback *fb, double cut,
    FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;
  double got = got_bps (rc, fb);
  double bps = cut * got;

  s->starting = false;
  s->draining = true;
  s->drain_seen = false;
  s->drain_start = now;
  s->drain_expected_s = 0.0;
  s->drain_bps = got;
  if (bps < rc->params.min_bps)
    bps = rc->params.min_bps;
  lower (rc, bps, FMX_RATE_DOWN_DELAY);
}

static void
note_ceiling (FmxRateFairmixState *s, double bps, FmxTime now)
{
  bool same = fabs (bps - s->ceiling_bps) < SAME_CEILING * s->ceiling_bps;

  s->hold = same ? 2 * s->hold : HOLD_MIN;
  if (s->hold > HOLD_MAX)
    s->hold = HOLD_MAX;
  s->ceiling_bps = bps;
  s->hold_until = now + (FmxTime) s->hold;
}

/* The queue is short again: it was ours alone. */
static void
drained (FmxRateController *rc, FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;
  double bps = NEAR_CEILING * s->drain_bps;

  s->draining = false;
  s->n_tests = 0;
  if (!s->competing)
    note_ceiling (s, s->drain_bps, now);
  s->competing = false;
  s->decided = now;
  if (s->hold > HOLD_MIN && bps > rc->rate_bps)
    fmx_rate_controller_set (rc, bps, FMX_RATE_UP);
}

/* Somebody else fills it: back to what came through before, within X. */
static void
compete (FmxRateController *rc, double allowed, FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;
  double bps = s->drain_bps < allowed ? s->drain_bps : allowed;

  if (!s->draining)
    bps = rc->rate_bps;
  s->draining = false;
  if (s->competing && s->n_tests < TEST_DOUBLINGS)
    s->n_tests++;
  s->competing = true;
  s->starting = false;
  s->tested = s->decided = now;
  if (bps > rc->rate_bps)
    fmx_rate_controller_set (rc, bps, FMX_RATE_UP);
}

/* What must have left the queue since the cut showed, if all of it is ours. */
static void
expect (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;
  double part = 1.0 - rc->rate_bps / s->drain_bps;

  if (!s->drain_seen) {
    s->drain_seen = fb->acked_sent >= s->drain_start;
    s->drain_time = now;
    fmx_queue_sense_restart (&s->queue);
    fmx_queue_sense_add (&s->queue, fb->rtt_latest, fb->rtt_latest, now);
    s->drain_queue = fmx_queue_sense_standing (&s->queue);
    return;
  }
  if (part > 0.0)
    s->drain_expected_s += part
        * fmx_time_to_s (fmx_time_diff (now, s->drain_time));
  s->drain_time = now;
}

static void
drain (FmxRateController *rc, const FmxRateFeedback *fb, double allowed,
    FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;
  FmxDuration standing, fallen;
  double expected_s;

  if (rc->rate_bps > allowed)
    obey (rc, fb, allowed, now);
  expect (rc, fb, now);
  if (!s->drain_seen)
    return;
  standing = fmx_queue_sense_standing (&s->queue);
  fallen = s->drain_queue - standing;
  expected_s = fmx_time_to_s (s->drain_queue - q_high (fb) / 2);
  if (expected_s > s->drain_expected_s)
    expected_s = s->drain_expected_s;
  if (standing < q_high (fb) / 2)
    drained (rc, now);
  else if ((s->drain_expected_s > DRAIN_TELLS_S
          && fmx_time_to_s (fallen) < DRAIN_SHARE * expected_s)
      || fmx_time_diff (now, s->drain_start) > DRAIN_MAX)
    compete (rc, allowed, now);
}

/* ---- up ---- */

static bool
is_due (const FmxRateController *rc, const FmxRateFeedback *fb,
    double intervals, FmxTime now)
{
  double since = (double) fmx_time_diff (now, rc->state.fairmix.decided);

  return since >= intervals * (double) fb->rtt;
}

static void
raise (FmxRateController *rc, const FmxRateFeedback *fb, double bps,
    double allowed)
{
  if (bps > 2.0 * fb->receive_bps)
    bps = 2.0 * fb->receive_bps;
  if (bps > allowed)
    bps = allowed;
  if (bps > rc->rate_bps)
    fmx_rate_controller_set (rc, bps, FMX_RATE_UP);
}

static void
calm (FmxRateController *rc, const FmxRateFeedback *fb, double allowed,
    FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;
  FmxDuration standing = fmx_queue_sense_standing (&s->queue);
  double bps = rc->rate_bps + step_bps (rc, fb);

  if (rc->rate_bps > allowed) {
    obey (rc, fb, allowed, now);
    s->decided = now;
    return;
  }
  if (standing > q_high (fb)) {
    if (rc->rate_bps > MARGIN * rc->params.min_bps)
      begin_to_drain (rc, fb, CUT, now);
    else
      compete (rc, allowed, now);
    return;
  }
  if (standing > q_high (fb) / 2)
    return;
  if (s->starting && is_due (rc, fb, 1.5, now)) {
    raise (rc, fb, 2.0 * rc->rate_bps, allowed);
    s->decided = now;
  } else if (!s->starting
      && is_due (rc, fb, rc->params.decision_interval_rtts, now)) {
    if (now >= s->hold_until || bps < NEAR_CEILING * s->ceiling_bps)
      raise (rc, fb, bps, allowed);
    s->decided = now;
  }
}

static void
competing (FmxRateController *rc, const FmxRateFeedback *fb, double allowed,
    FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;
  double step = step_bps (rc, fb);

  if (rc->rate_bps * (1.0 - DEAD_ZONE) > allowed) {
    obey (rc, fb, allowed, now);
    s->decided = now;
  } else if (fmx_time_diff (now, s->tested) > TEST_INTERVAL << s->n_tests
      && rc->rate_bps > MARGIN * rc->params.min_bps) {
    begin_to_drain (rc, fb, TEST_CUT, now);
  } else if (is_due (rc, fb, rc->params.decision_interval_rtts, now)) {
    if (allowed > rc->rate_bps * (1.0 + DEAD_ZONE))
      raise (rc, fb, rc->rate_bps + step, allowed);
    s->decided = now;
  }
}

static void
try_to_resume (FmxRateController *rc, const FmxRateFeedback *fb,
    double allowed, FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;
  double bps = stream_bps (rc, fb);
  double wait = rc->params.decision_interval_rtts
      * (double) (1u << s->n_again);

  if (!fb->heard || !fb->answered || !is_due (rc, fb, wait, now))
    return;
  fmx_rate_controller_resume (rc, bps < allowed ? bps : allowed);
  s->resumed = s->decided = now;
  s->draining = s->competing = false;
}

/* ---- the class ---- */

static void
fairmix_init (FmxRateController *rc, FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;

  s->starting = true;
  s->decided = s->mean_time = now;
  s->hold = HOLD_MIN;
  s->hold_until = s->shed = now;
  s->resumed = s->loss_event = FMX_TIME_NONE;
}

static void
fairmix_on_feedback (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;
  double allowed;

  if (fb->heard) {
    fmx_queue_sense_add (&s->queue, fb->rtt_latest, fb->rtt_latest, now);
    note_rtt (s, fb, now);
  }
  note_loss (s, fb);
  allowed = allowed_bps (rc, fb);
  if (allowed < rc->params.min_bps)
    allowed = rc->params.min_bps;
  if (rc->probing)
    try_to_resume (rc, fb, allowed, now);
  else if (overrun (rc, fb, now))
    return;
  else if (fb->loss_fraction > fb->loss_limit)
    shed (rc, fb, now);
  else if (s->draining)
    drain (rc, fb, allowed, now);
  else if (s->competing)
    competing (rc, fb, allowed, now);
  else
    calm (rc, fb, allowed, now);
}

static void
fairmix_on_no_feedback (FmxRateController *rc, FmxTime now)
{
  double bps = rc->rate_bps / 2.0;

  if (rc->probing || (rc->idle && rc->rate_bps
          <= 2.0 * rc->params.initial_bps))
    return;
  if (bps < rc->params.min_bps)
    begin_to_probe (rc, now);
  else
    lower (rc, bps, FMX_RATE_DOWN_NO_FEEDBACK);
  rc->state.fairmix.decided = now;
}

const FmxRateClass fmx_rate_fairmix = {
  .name = "fairmix",
  .description = "short queues; fair to TCP where one fills them",
  .init = fairmix_init,
  .on_feedback = fairmix_on_feedback,
  .on_no_feedback = fairmix_on_no_feedback,
};
