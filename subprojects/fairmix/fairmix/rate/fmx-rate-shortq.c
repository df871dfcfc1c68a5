/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "fairmix/rate/fmx-rate-shortq-private.h"
#include "fairmix/rate/fmx-tcp-equation.h"

#define Q_HIGH_S 0.03           /* a standing queue that is too long ... */
#define Q_HIGH_BPS 250000.0     /* ... at this rate */
#define Q_HIGH_MIN_S 0.015
#define Q_HIGH_MAX_S 0.06
#define RTT_LEAST (60 * FMX_MSECOND)    /* where others may have a longer one */
#define OTHERS_TIME (60 * FMX_SECOND)
#define Q_PACKETS 3.0           /* no shorter than so many packets ... */
#define Q_PACKETS_MAX_S 0.1     /* ... and no longer, however little comes through: that need
                                 * not be all that the path carries.  Where that is known, its packets
                                 * count: 96 tuned draws, inside 75.9: 76.5, in time 63.6: 64.3, ten
                                 * families in the mean */
#define OTHERS_PACKETS 2.0      /* of 1500 bytes, one behind the other */
#define OTHERS_BITS 12e3
#define ARRIVALS_S 0.003        /* 1.5 times two steps of 1/1024 s, in which arrivals are
                                 * told; without, alone 83: 81, own flows 98: 96 */
#define MOST_OF_LINK 0.46       /* somebody else has a half, or several do */
#define FULL_TIMES 1.15         /* a rate that falls at once and rises slowly is below X in the
                                 * mean; both, 0.42 and 1 before: of 144 tuned draws beside TCP
                                 * 83: 83, packets 65: 75, managed 81: 85, several 76: 76 */
#define GIVE_BACK 0.7           /* of what one has beyond, at once */
#define BREAKER_PART 0.8        /* it would be silent for 15 s; 0.6: token bucket 90: 86 */
#define BREAKER_COMPETES 0.6    /* a CUBIC behind a long queue has more than ten times the
                                 * equation's rate, which is where the breaker trips */
#define LASTING_LOSS 0.1        /* beyond, a TCP spends its time in timeouts */
#define RECOVERY 0.9            /* of what was sent before: a step below */
#define RECOVERY_APART (10 * FMX_SECOND)        /* sooner, it was too much */

/* The higher the rate the shorter the queue that is too long: of two who share
 * a path the greater gives way first, until they are equal. */
FmxDuration
fmx_shortq_queue_limit (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  double high_s = Q_HIGH_S * sqrt (Q_HIGH_BPS / rc->rate_bps);
  double known_bps = fmax (fb->receive_bps, fmax (fb->path_bps,
          fb->bottleneck_bps));

  high_s = fmin (fmax (high_s, Q_HIGH_MIN_S), Q_HIGH_MAX_S);
  if (fb->receive_bps > 0.0)
    high_s = fmax (high_s, fmin (Q_PACKETS * fb->packet_bytes * 8.0
            / known_bps, Q_PACKETS_MAX_S));
  return fmx_time_from_s (high_s);
}

/* Returns: what left when what has come did, or in the last second if that was less */
double
fmx_shortq_left_bps (const FmxRateFeedback *fb)
{
  return fb->left_bps > 0.0 ? fmin (fb->left_bps, fb->sent_bps) : fb->sent_bps;
}

double
fmx_shortq_got_bps (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  double left_bps = fmx_shortq_left_bps (fb);
  bool all_arrives = fb->receive_bps > OVERRUN * left_bps;

  /* what was not sent could not arrive; what was sent and did not, tells.  Who starts has
   * sent little in the last second, and yet all that the rate allows. */
  if (fb->receive_bps <= 0.0
      || (rc->data_limited && left_bps < 0.7 * rc->rate_bps && all_arrives))
    return rc->rate_bps;
  return fmin (fb->receive_bps, rc->rate_bps);
}

double
fmx_shortq_used_bps (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  return fmin (fmx_shortq_got_bps (rc, fb), fmax (fb->sent_bps, fb->receive_bps));
}

/* Delays may differ by what a few packets of ours take at the rate that comes through,
 * or by what large ones of others take on the link: that is no noise. */
static void
note_noise (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  double packets_s;

  if (fb->receive_bps <= 0.0)
    return;
  packets_s = ARRIVALS_S + Q_PACKETS * fb->packet_bytes * 8.0 / fb->receive_bps;
  if (fb->bottleneck_bps > 0.0)
    packets_s = fmax (packets_s, OTHERS_PACKETS * OTHERS_BITS
        / fb->bottleneck_bps);
  fmx_queue_sense_add_spread (&rc->state.shortq.queue, fb->delay_spread,
      fmx_time_from_s (packets_s), now);
}

static void
note_rtt (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  FmxDuration half = fmx_shortq_queue_limit (rc, fb) / 2;

  fmx_full_queue_add_rtt (&s->full, fb->rtt_median, now);
  fmx_bbr_sense_add (&s->bbr, fmx_queue_sense_standing (&s->queue),
      fmx_queue_sense_peak (&s->queue), fb->rtt_median, now);
  fmx_shortq_note_growth (rc, fb, now);
  if (fmx_queue_sense_latest (&s->queue) > half)
    s->met_time = now;
  if (fmx_queue_sense_standing (&s->queue) > half)
    s->short_since = now;
  else
    s->long_since = now;
  if (fmx_time_diff (now, s->short_since) > HOLD_MAX
      && fb->receive_bps > OVERRUN * fb->sent_bps) {
    s->alone_bps = fmx_shortq_got_bps (rc, fb);
    s->alone_time = now;
  }
}

static FmxTcpPath
path_with (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxDuration rtt)
{
  return fmx_tcp_path (rc->params.segment_bytes > 0
      ? (double) rc->params.segment_bytes : fb->packet_bytes, rtt);
}

double
fmx_shortq_tcp_bps (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  FmxTcpPath path = path_with (rc, fb, fb->rtt);

  return fb->only_marks ? fmx_tcp_equation_marked_bps (&path,
      fb->loss_event_rate) : fb->equation_bps;
}

static double
part_of_link_bps (const FmxRateController *rc, const FmxRateFeedback *fb)
{
  double link_bps = fb->path_bps > 0.0 ? fb->path_bps : fb->bottleneck_bps;

  return link_bps <= 0.0 ? HUGE_VAL : fmax (MOST_OF_LINK * link_bps,
      GIVE_BACK * fmx_shortq_got_bps (rc, fb));
}

/* Returns: X of who competes */
static double
competing_bps (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;
  double bps = fmx_shortq_beside_bbr_bps (rc, fb, now);

  if (bps <= 0.0)
    bps = fmx_shortq_pause_bps (rc, fb, now);
  if (bps <= 0.0)
    bps = fmin (fmin (s->most_bps, part_of_link_bps (rc, fb)),
        FULL_TIMES * fmx_full_queue_bps (&s->full, fb->receive_bps,
            fb->path_bps, now));
  if (fb->breaker_bps > 0.0)
    bps = fmin (bps, BREAKER_COMPETES * fb->breaker_bps);
  return bps;
}

static double
allowed_bps (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  FmxTcpPath path = path_with (rc, fb, s->mode == FMX_RATE_SHORTQ_COMPETING
      ? fmx_full_queue_rtt (&s->full) : fb->rtt);
  double p = fb->loss_event_rate * (1.0 - s->full_share);
  double bps = fb->only_marks ? fmx_tcp_equation_marked_bps (&path, p)
      : fmx_tcp_equation_bps (&path, p);

  if (s->mode == FMX_RATE_SHORTQ_COMPETING)
    bps = fmin (bps, competing_bps (rc, fb, now));
  if (fb->breaker_bps > 0.0)
    bps = fmin (bps, BREAKER_PART * fb->breaker_bps);
  return fmax (bps, rc->params.min_bps);
}

/* Never below the least rate: a burst of losses is no reason to say nothing at
 * all ([RFC3714 5] speaks of persistent loss). */
void
fmx_shortq_lower (FmxRateController *rc, double bps, const char *reason)
{
  bps = fmax (bps, rc->params.min_bps);
  if (bps < rc->rate_bps)
    fmx_rate_controller_set (rc, bps, reason);
}

/* Who loses much for the first time in long may have met a moment in which some
 * computer stood still: where the queue stays short the rate is soon what it was. */
void
fmx_shortq_halve (FmxRateController *rc, double bps, const char *reason,
    FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;

  s->recover_bps = fmx_time_diff (now, s->halved) > RECOVERY_APART
      ? RECOVERY * rc->rate_bps : 0.0;
  s->halved = s->shed = rc->losses_since = now;
  s->halved_seen = s->answered = false;
  /* of what leaves from now on nothing can be known before */
  fmx_rate_controller_postpone (rc, now + (FmxTime) rc->rto);
  fmx_shortq_lower (rc, bps, reason);
}

bool
fmx_shortq_may_halve (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;
  FmxDuration since = fmx_time_diff (now, s->halved);

  return s->halved_seen && since >= fb->rtt_median + FMX_QUEUE_SENSE_WINDOW_MIN;
}

void
fmx_shortq_enter (FmxRateController *rc, FmxRateShortqMode mode, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;

  s->mode = mode;
  rc->drains_too = false;
  s->decided = s->short_since = s->long_since = now;
  s->n_steps = s->n_near = 0;
  s->passed_bps = 0.0;
}

void
fmx_shortq_begin_to_probe (FmxRateController *rc, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;

  if (s->resumed == FMX_TIME_NONE
      || fmx_time_diff (now, s->resumed) > FMX_RATE_DPM_LASTING)
    s->n_again = 0;
  else if (s->n_again < FMX_RATE_DPM_DOUBLINGS)
    s->n_again++;
  fmx_shortq_enter (rc, FMX_RATE_SHORTQ_CALM, now);
  s->return_bps = 0.0;
  fmx_rate_controller_probe (rc);
}

bool
fmx_shortq_is_shared (const FmxRateController *rc, FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;

  return s->others_time > 0
      && fmx_time_diff (now, s->others_time) < OTHERS_TIME;
}

bool
fmx_shortq_is_due (const FmxRateController *rc, const FmxRateFeedback *fb,
    double intervals, FmxTime now)
{
  double since = (double) fmx_time_diff (now, rc->state.shortq.decided);
  bool shared = fmx_shortq_is_shared (rc, now);
  double unit = (double) (shared && fb->rtt < RTT_LEAST ? RTT_LEAST : fb->rtt);

  return since >= intervals * unit;
}

void
fmx_shortq_raise (FmxRateController *rc, const FmxRateFeedback *fb,
    double bps, FmxTime now)
{
  fmx_shortq_raise_to (rc, fmin (bps, 2.0 * fb->receive_bps), now);
}

void
fmx_shortq_raise_to (FmxRateController *rc, double bps, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;

  bps = fmin (fmin (bps, fmx_shortq_held_bps (rc, now)), rc->params.max_bps);
  if (bps <= rc->rate_bps)
    return;
  s->raised = now;
  s->step_share = bps / rc->rate_bps - 1.0;
  fmx_rate_controller_set (rc, bps, FMX_RATE_UP);
}

static void
try_to_resume (FmxRateController *rc, const FmxRateFeedback *fb,
    double allowed, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  double bps = fmax (fmax (fmin (fb->stream_bps, STEP_MAX_BPS), s->return_bps),
      rc->params.min_bps);
  double wait = rc->params.decision_interval_rtts * (double) (1u << s->n_again);

  if (!fb->heard || !fb->answered || !fmx_shortq_is_due (rc, fb, wait, now))
    return;
  fmx_rate_controller_resume (rc, fmin (bps, allowed));
  fmx_shortq_enter (rc, FMX_RATE_SHORTQ_STARTING, now);
  s->resumed = now;
  s->return_bps = 0.0;
}

/* An outage is one loss event: half of what came through before it, as soon as the path
 * carries anything again, not what timeout after timeout left of it ([RFC5681 3.1]: the
 * slow start threshold is that of the first). */
static void
come_back (FmxRateController *rc, const FmxRateFeedback *fb, double allowed,
    FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  double bps = fmin (HALF * fb->silent_from_bps, allowed);

  if (rc->probing) {
    s->return_bps = bps;
    return;
  }
  fmx_shortq_enter (rc, FMX_RATE_SHORTQ_STARTING, now);
  rc->losses_since = s->halved = s->shed = now;
  s->halved_seen = s->answered = false;
  if (bps > rc->rate_bps)
    fmx_rate_controller_set (rc, bps, FMX_RATE_UP);
}

static void
shortq_init (FmxRateController *rc, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;

  fmx_shortq_enter (rc, FMX_RATE_SHORTQ_STARTING, now);
  s->full.rtt_time = now;
  s->hold = HOLD_MIN;
  s->hold_until = s->hold_unknown_until = s->shed = s->halved = now;
  s->halved_seen = s->answered = true;
  s->heard = s->resumed = s->loss_event = s->random_loss = FMX_TIME_NONE;
}

/* What the queue was before says nothing of the present rate, either. */
static void
note_halved (FmxRateController *rc, const FmxRateFeedback *fb, double allowed,
    FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;

  if (s->halved_seen && (fb->loss_event_sent >= s->halved
          || rc->rate_bps <= allowed))
    s->answered = true;
  if (s->halved_seen || !fb->heard || fb->acked_sent < s->halved)
    return;
  s->halved_seen = true;
  fmx_queue_sense_restart (&s->queue);
  fmx_queue_sense_add (&s->queue, fb->rtt_sample_min, fb->reverse_delay,
      fb->rtt / 2, now);
}

static void
shortq_on_feedback (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  double allowed;

  if (fb->heard) {
    s->heard = fmx_time_min (s->heard, now);
    fmx_queue_sense_add (&s->queue, fb->rtt_sample_min, fb->reverse_delay,
        fb->rtt / 2, now);
    fmx_queue_sense_set_own (&s->queue, fb->own_queue);
    note_noise (rc, fb, now);
    note_rtt (rc, fb, now);
  }
  fmx_shortq_note_lasting (rc, fb);
  fmx_shortq_note_room (rc, fb, now);
  fmx_shortq_note_loss (rc, fb, now);
  rc->loses = fmx_shortq_loses (rc, fb, now);
  allowed = allowed_bps (rc, fb, now);
  note_halved (rc, fb, allowed, now);
  fmx_shortq_take_back_choked (rc, fb, now);
  if (fmx_rate_hold_is_on (&rc->hold))
    fmx_shortq_follow_hold (rc, fb, now);
  if (fb->returned)
    come_back (rc, fb, allowed, now);
  if (rc->probing)
    try_to_resume (rc, fb, allowed, now);
  else if ((s->mode != FMX_RATE_SHORTQ_COMPETING
          || fb->loss_fraction > LASTING_LOSS)
      && fmx_shortq_overrun (rc, fb, now))
    return;
  else if (fb->loss_fraction > fb->loss_limit)
    fmx_shortq_shed (rc, fb, now);
  else if (s->mode == FMX_RATE_SHORTQ_DRAINING)
    fmx_shortq_drain (rc, fb, allowed, now);
  else if (s->mode == FMX_RATE_SHORTQ_COMPETING)
    fmx_shortq_compete (rc, fb, allowed, now);
  else
    fmx_shortq_climb_or_drain (rc, fb, allowed, now);
}

static void
shortq_on_no_feedback (FmxRateController *rc, FmxTime now)
{
  double bps = rc->rate_bps / 2.0;

  if (rc->probing || (rc->idle && rc->rate_bps <= 2.0 * rc->params.initial_bps))
    return;
  if (bps < rc->params.min_bps)
    fmx_shortq_begin_to_probe (rc, now);
  else
    fmx_shortq_halve (rc, bps, FMX_RATE_DOWN_NO_FEEDBACK, now);
  rc->state.shortq.decided = now;
}

const FmxRateClass fmx_rate_shortq = {
  .name = "shortq",
  .alias = "fairmix",           /* what it was called first */
  .description = "short queues; fair to TCP where one fills them",
  .init = shortq_init,
  .on_feedback = shortq_on_feedback,
  .on_no_feedback = shortq_on_no_feedback,
};
