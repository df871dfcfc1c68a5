/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-rate-fairmix.h"

#include <math.h>

#include "fairmix/rate/fmx-rate-controller.h"
#include "fairmix/rate/fmx-tcp-equation.h"

#define Q_HIGH_S 0.03           /* a standing queue that is too long ... */
#define Q_HIGH_BPS 250000.0     /* ... at this rate */
#define Q_HIGH_MIN_S 0.015
#define Q_HIGH_MAX_S 0.06
#define Q_PACKETS 3.0           /* no shorter than so many packets */
#define PEAK_MIN (25 * FMX_MSECOND)     /* less is no queue to be full */
#define MOST_OF_CEILING 0.55    /* beside another; with the dead zone a half */
#define HALF 0.5
#define START_GROWTH 1.25
#define START_RTTS 2.5
#define START_QUEUES 2          /* who was there before gives way first */
#define STEP_BPS 16000.0        /* the first; then it doubles */
#define STEP_SHARE 0.0625       /* ... or so much of the rate */
#define STEP_MAX_BPS 100000.0
#define STEP_MAX_SHARE 0.25
#define CUT_OWN 0.85            /* of what the receiver got */
#define CUT_OTHERS 0.8
#define NEAR_CEILING 0.95
#define SAME_CEILING 0.1
#define HOLD_MIN (2 * FMX_SECOND)
#define HOLD_MAX (4 * HOLD_MIN)
#define HOLD_HALF_BPS 250000.0  /* half of it at this rate */
#define STAYS (2 * FMX_SECOND)  /* so long, half too long is too long */
#define OWN_RTTS 10.0           /* a step shows within so many */
#define DRAIN_TELLS_S 0.10      /* expected fall that suffices to judge */
#define DRAIN_SHARE 0.6         /* of it that must have happened */
#define DRAIN_MAX (3 * FMX_SECOND)
#define DRAINS 2u
#define FULL_GAIN 0.25
#define DEAD_ZONE 0.1
#define SHORT (4 * FMX_SECOND)
#define MARGIN 1.1              /* over the least rate: room for a cut */
#define LASTING (15 * FMX_SECOND)
#define PROBE_DOUBLINGS 4u
#define LASTING_LOSS 0.1        /* beyond, a TCP spends its time in timeouts */
#define OVERRUN 0.8             /* less of what is sent comes through */
#define SHED_TELLS (5 * FMX_SECOND)     /* two seconds longer than loss is counted */

/* The higher the rate the shorter the queue that is too long: of two who share
 * a path the greater gives way first, until they are equal. */
static FmxDuration
q_high (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  double high_s = Q_HIGH_S * sqrt (Q_HIGH_BPS / rc->rate_bps);

  high_s = fmin (fmax (high_s, Q_HIGH_MIN_S), Q_HIGH_MAX_S);
  if (fb->receive_bps > 0.0)
    high_s = fmax (high_s, Q_PACKETS * fb->packet_bytes * 8.0
        / fb->receive_bps);
  return fmx_time_from_s (high_s);
}

/* A loss while the queue is near its highest is one of a full queue; TCP hears
 * of it a round trip later, and then comes the dip. */
static void
note_loss (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;
  FmxDuration peak = fmx_queue_sense_peak (&s->queue);
  bool full = peak >= PEAK_MIN
      && fmx_queue_sense_recent (&s->queue) >= peak / 2;
  bool dip = fmx_queue_sense_take_dip (&s->queue) && !s->crest_noted;
  bool falling = fmx_queue_sense_is_falling (&s->queue);

  if (falling)
    s->crest_noted = false;
  if ((dip || (fb->new_loss_event && full))
      && fmx_full_queue_note (&s->full, fb->receive_bps, now))
    s->crest_noted = !falling;
  if (!fb->new_loss_event)
    return;
  s->loss_event = now;
  s->full_share = s->full_known
      ? s->full_share + FULL_GAIN * (full - s->full_share) : full;
  s->full_known = true;
}

static double
got_bps (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  /* what was not sent could not arrive */
  if (fb->receive_bps <= 0.0 || fb->sent_bps < 0.7 * rc->rate_bps)
    return rc->rate_bps;
  return fmin (fb->receive_bps, rc->rate_bps);
}

static void
note_rtt (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;

  fmx_full_queue_add_rtt (&s->full, fb->rtt_latest, now);
  if (fmx_queue_sense_standing (&s->queue) > q_high (rc, fb) / 2)
    s->short_since = now;
  else
    s->long_since = now;
  if (fmx_time_diff (now, s->short_since) > HOLD_MAX
      && fb->receive_bps > OVERRUN * fb->sent_bps) {
    s->alone_bps = got_bps (rc, fb);
    s->alone_time = now;
  }
}

static double
allowed_bps (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;
  double segment = rc->params.segment_bytes > 0
      ? (double) rc->params.segment_bytes : fb->packet_bytes;
  FmxTcpPath path = fmx_tcp_path (segment, fb->rtt);
  double p = fb->loss_event_rate * (1.0 - s->full_share);
  double bps;

  if (s->mode == FMX_RATE_FAIRMIX_COMPETING)
    path = fmx_tcp_path (segment, fmx_full_queue_rtt (&s->full));
  bps = fmx_tcp_equation_bps (&path, p);
  if (s->mode == FMX_RATE_FAIRMIX_COMPETING)
    bps = fmin (fmin (bps, s->most_bps),
        fmx_full_queue_bps (&s->full, fb->receive_bps, now));
  return fmax (bps, rc->params.min_bps);
}

/* Never below the least rate: a burst of losses is no reason to say nothing at
 * all ([RFC3714 5] speaks of persistent loss). */
static void
lower (FmxRateController *rc, double bps, const char *reason)
{
  bps = fmax (bps, rc->params.min_bps);
  if (bps < rc->rate_bps)
    fmx_rate_controller_set (rc, bps, reason);
}

static void
enter (FmxRateController *rc, FmxRateFairmixMode mode, FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;

  s->mode = mode;
  s->decided = s->short_since = s->long_since = now;
  s->n_steps = 0;
}

static void
begin_to_probe (FmxRateController *rc, FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;

  if (s->resumed == FMX_TIME_NONE || fmx_time_diff (now, s->resumed) > LASTING)
    s->n_again = 0;
  else if (s->n_again < PROBE_DOUBLINGS)
    s->n_again++;
  enter (rc, FMX_RATE_FAIRMIX_CALM, now);
  fmx_rate_controller_probe (rc);
}

/* The rate is above X: down to it, but as a TCP not below half of what the
 * receiver gets within a round trip. */
static void
obey (FmxRateController *rc, const FmxRateFeedback *fb, double allowed,
    FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;

  if (s->mode == FMX_RATE_FAIRMIX_STARTING)
    enter (rc, FMX_RATE_FAIRMIX_CALM, now);
  s->decided = now;
  if (fmx_time_diff (now, s->obeyed) < fb->rtt_latest)
    return;
  s->obeyed = now;
  lower (rc, fmax (allowed, HALF * got_bps (rc, fb)), FMX_RATE_DOWN_LOSS);
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

  if (rc->rate_bps <= least && since > SHED_TELLS) {
    begin_to_probe (rc, now);
  } else if (rc->rate_bps > least && since > fb->rtt_latest + fb->interval) {
    enter (rc, FMX_RATE_FAIRMIX_STARTING, now); /* as after a timeout */
    s->shed = now;
    lower (rc, fmax (HALF * got_bps (rc, fb), least), FMX_RATE_DOWN_LOSS);
  }
}

/* Much less comes through than is sent, and not by chance: the path carries no
 * more.  To a part of what it does carry, at once, whoever else is there
 * ([RFC5348 4.3]: X_recv * 0.85 after a loss). */
static bool
overrun (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;
  double sent = fmin (fb->sent_bps, rc->rate_bps);

  if (!fb->heard || s->loss_event == FMX_TIME_NONE
      || fmx_time_diff (now, s->loss_event) > fb->rtt_latest
      || fmx_time_diff (now, s->shed) < 2 * fb->rtt_latest
      || fb->receive_bps <= 0.0 || fb->receive_bps > OVERRUN * sent)
    return false;
  enter (rc, FMX_RATE_FAIRMIX_CALM, now);
  s->shed = s->decided = s->obeyed = now;
  lower (rc, CUT_OWN * fb->receive_bps, FMX_RATE_DOWN_LIMIT);
  return true;
}

/* What comes through is what came through when the queue showed before. */
static bool
is_same_ceiling (const FmxRateFairmixState *s)
{
  return fabs (s->drain_bps - s->ceiling_bps)
      < SAME_CEILING * s->ceiling_bps;
}

static void
begin_to_drain (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;
  double since = (double) fmx_time_diff (now, s->raised);

  s->drain_own = since < OWN_RTTS * (double) fb->rtt;
  s->n_drains = s->mode == FMX_RATE_FAIRMIX_DRAINING ? s->n_drains + 1 : 1;
  enter (rc, FMX_RATE_FAIRMIX_DRAINING, now);
  s->drain_seen = false;
  s->drain_start = now;
  s->drain_expected_s = 0.0;
  s->drain_bps = got_bps (rc, fb);
  lower (rc, (!s->drain_own ? CUT_OTHERS : is_same_ceiling (s) ? NEAR_CEILING
          : CUT_OWN) * s->drain_bps, FMX_RATE_DOWN_DELAY);
}

/* The queue is short again. */
static void
drained (FmxRateController *rc, FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;

  enter (rc, FMX_RATE_FAIRMIX_CALM, now);
  s->hold = is_same_ceiling (s) && s->drain_own ? 2 * s->hold : HOLD_MIN;
  if (s->hold > HOLD_MAX)
    s->hold = HOLD_MAX;
  s->ceiling_bps = s->drain_bps;
  /* the lesser of two tries first, so the greater learns that there are two */
  s->hold_until = now + (FmxTime) ((double) s->hold * s->ceiling_bps
      / (s->ceiling_bps + HOLD_HALF_BPS));
}

static void
begin_to_compete (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;
  bool was_alone = s->alone_bps > 0.0
      && fmx_time_diff (now, s->alone_time) < HOLD_MAX;

  enter (rc, FMX_RATE_FAIRMIX_COMPETING, now);
  fmx_full_queue_init (&s->full, fmax (rc->rate_bps,
          was_alone ? HALF * s->alone_bps : 0.0), fb->rtt_latest, now);
  s->most_bps = s->hold >= HOLD_MAX ? MOST_OF_CEILING * s->ceiling_bps
      : rc->params.max_bps;
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
    fmx_queue_sense_add (&s->queue, fb->rtt_least, fb->way_back, fb->rtt / 2,
        now);
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
  FmxDuration standing;
  double expected_s;

  if (rc->rate_bps > allowed)
    obey (rc, fb, allowed, now);
  expect (rc, fb, now);
  if (!s->drain_seen)
    return;
  standing = fmx_queue_sense_standing (&s->queue);
  expected_s = fmin (s->drain_expected_s,
      fmx_time_to_s (s->drain_queue - q_high (rc, fb) / 2));
  if (standing < q_high (rc, fb) / 2)
    drained (rc, now);
  else if ((s->drain_expected_s <= DRAIN_TELLS_S
          || fmx_time_to_s (s->drain_queue - standing)
          >= DRAIN_SHARE * expected_s)
      && fmx_time_diff (now, s->drain_start) < DRAIN_MAX)
    return;
  else if (s->n_drains < DRAINS && rc->rate_bps > MARGIN * rc->params.min_bps)
    begin_to_drain (rc, fb, now);
  else
    begin_to_compete (rc, fb, now);
}

static bool
is_due (const FmxRateController *rc, const FmxRateFeedback *fb,
    double intervals, FmxTime now)
{
  double since = (double) fmx_time_diff (now, rc->state.fairmix.decided);

  return since >= intervals * (double) fb->rtt;
}

static void
raise (FmxRateController *rc, const FmxRateFeedback *fb, double bps,
    FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;

  bps = fmin (bps, 2.0 * fb->receive_bps);
  if (bps <= rc->rate_bps)
    return;
  s->raised = now;
  fmx_rate_controller_set (rc, bps, FMX_RATE_UP);
}

/* A small step first, then twice as much each time, up to a stream; small steps
 * at the ceiling; where it has moved, up to a part of the rate. */
static double
step_bps (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  const FmxRateFairmixState *s = &rc->state.fairmix;
  double small = fmin (STEP_BPS, STEP_SHARE * rc->rate_bps);
  double step = fmin (STEP_MAX_SHARE * rc->rate_bps,
      ldexp (small, (int) s->n_steps));

  if (s->ceiling_bps <= 0.0
      || rc->rate_bps + step <= NEAR_CEILING * s->ceiling_bps)
    return fmin (step, fmin (fb->stream_bps, STEP_MAX_BPS));
  return rc->rate_bps > (1.0 + SAME_CEILING) * s->ceiling_bps ? step : small;
}

static void
climb (FmxRateController *rc, const FmxRateFeedback *fb, double allowed,
    FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;
  double bps = fmin (allowed, rc->rate_bps + step_bps (rc, fb));

  s->decided = now;
  if (now < s->hold_until && bps > NEAR_CEILING * s->ceiling_bps)
    return;
  raise (rc, fb, bps, now);
  if (s->n_steps < 8)
    s->n_steps++;
}

static void
calm (FmxRateController *rc, const FmxRateFeedback *fb, double allowed,
    FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;
  FmxDuration standing = fmx_queue_sense_standing (&s->queue);
  bool starting = s->mode == FMX_RATE_FAIRMIX_STARTING;
  bool stays = fmx_time_diff (now, s->long_since) > STAYS;

  if (rc->rate_bps > allowed) {
    obey (rc, fb, allowed, now);
  } else if (stays
      || standing > (starting ? START_QUEUES : 1) * q_high (rc, fb)) {
    if (rc->rate_bps > MARGIN * rc->params.min_bps)
      begin_to_drain (rc, fb, now);
    else
      begin_to_compete (rc, fb, now);
  } else if (standing > q_high (rc, fb) / 2) {
    return;                     /* somebody else may give way */
  } else if (starting && is_due (rc, fb, START_RTTS, now)) {
    s->decided = now;
    raise (rc, fb, fmin (allowed, START_GROWTH * rc->rate_bps), now);
  } else if (!starting
      && is_due (rc, fb, rc->params.decision_interval_rtts, now)) {
    climb (rc, fb, allowed, now);
  }
}

static void
compete (FmxRateController *rc, const FmxRateFeedback *fb, double allowed,
    FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;
  if (rc->rate_bps * (1.0 - DEAD_ZONE) > allowed) {
    obey (rc, fb, allowed, now);
  } else if (fmx_time_diff (now, s->short_since) > SHORT) {
    enter (rc, FMX_RATE_FAIRMIX_CALM, now);
    s->ceiling_bps = 0.0;
  } else if (is_due (rc, fb, rc->params.decision_interval_rtts, now)) {
    s->decided = now;
    if (allowed > rc->rate_bps * (1.0 + DEAD_ZONE))
      raise (rc, fb, fmin (allowed, (1.0 + HALF) * rc->rate_bps), now);
  }
}

static void
try_to_resume (FmxRateController *rc, const FmxRateFeedback *fb,
    double allowed, FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;
  double bps = fmax (fmin (fb->stream_bps, STEP_MAX_BPS), rc->params.min_bps);
  double wait = rc->params.decision_interval_rtts * (double) (1u << s->n_again);

  if (!fb->heard || !fb->answered || !is_due (rc, fb, wait, now))
    return;
  fmx_rate_controller_resume (rc, fmin (bps, allowed));
  enter (rc, FMX_RATE_FAIRMIX_STARTING, now);
  s->resumed = now;
}

static void
fairmix_init (FmxRateController *rc, FmxTime now)
{
  FmxRateFairmixState *s = &rc->state.fairmix;

  enter (rc, FMX_RATE_FAIRMIX_STARTING, now);
  s->full.rtt_time = now;
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
    fmx_queue_sense_add (&s->queue, fb->rtt_least, fb->way_back, fb->rtt / 2,
        now);
    note_rtt (rc, fb, now);
  }
  note_loss (rc, fb, now);
  allowed = allowed_bps (rc, fb, now);
  if (rc->probing)
    try_to_resume (rc, fb, allowed, now);
  else if ((s->mode != FMX_RATE_FAIRMIX_COMPETING
          || fb->loss_fraction > LASTING_LOSS) && overrun (rc, fb, now))
    return;
  else if (fb->loss_fraction > fb->loss_limit)
    shed (rc, fb, now);
  else if (s->mode == FMX_RATE_FAIRMIX_DRAINING)
    drain (rc, fb, allowed, now);
  else if (s->mode == FMX_RATE_FAIRMIX_COMPETING)
    compete (rc, fb, allowed, now);
  else
    calm (rc, fb, allowed, now);
}

static void
fairmix_on_no_feedback (FmxRateController *rc, FmxTime now)
{
  double bps = rc->rate_bps / 2.0;

  if (rc->probing || (rc->idle && rc->rate_bps <= 2.0 * rc->params.initial_bps))
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
