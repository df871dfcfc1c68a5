/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "fairmix/rate/fmx-rate-shortq-private.h"

#define HOLD_LINK (4 * HOLD_MAX)        /* nobody else is there, and trains tell of more room */
#define CEILING_MEAN 0.25       /* of the last few, behind a bucket: 0.2 s of 150 kbit/s are known
                                 * to 5 %, and 0.95 of too much drains nothing; 96 tuned draws: token
                                 * bucket 76: 83, 0.1 78; without one, too, alone 92: 90 */
#define TRIED 0.97              /* of the ceiling: more is one's own trial */
#define HOLD_HALF_BPS 250000.0  /* half of it at this rate */

/* "[a, b]" as in fmx-rate-shortq-steps.c */
#define OWN_RTTS 10.0           /* a step shows within so many: 7 until the next, and 3 to
                                 * hear of it; [0.9, -0.6], own flows 96: 96, 79 */
#define HEAR_RTTS 3.0           /* ... to hear of it, where the next one waits for longer */
#define EXCESS_PART 0.5         /* of the queue: a step of 2 % at the ceiling shows after a
                                 * second */
#define EXCESS_LOSS (60 * FMX_SECOND)   /* nobody has made us lose anything for so long */
#define EXCESS_GAP FMX_SECOND   /* nothing was heard for so long: nothing is known */
#define DRAIN_TELLS_S 0.10      /* expected fall that suffices to judge */
#define DRAIN_SHARE 0.6         /* of it that must have happened */
#define DRAIN_MAX (3 * FMX_SECOND)      /* [-1.8, 0.1]; alone 79: 67, 79, steps 62: 54, 67 */
#define GROWN (20 * FMX_MSECOND)        /* ... or the queue has grown by that: figures 4 to 6 were heard
                                         * with PESQ 3.05 and 3.09, with it 3.13 and 3.12 */
#define DRAINS 2u               /* in vain: [-8.9, 0.1]; own flows 96: 46, 96, steps
                                 * 62: 33, 71, beside TCP 50: 62, 46 */
#define DRAINS_LOSSLESS 4u      /* ... and where nothing has been lost of late: a TCP would have lost
                                 * something before; figures 4 to 6 were heard with PESQ 3.30 and
                                 * 3.11 without, with it 3.30 and 3.30 */
#define DRAINS_STARTS 1u        /* ... and where a train has just found room for far more than comes
                                 * through, for then it is none of ours.  In time, 96 tuned draws:
                                 * beside TCP 41: 46, several 24: 29, BBR 33: 40; 15 s later,
                                 * too: own flows inside 93: 91, many 10: 6 */
#define FOUND_TIMES 2.0         /* of what comes through */
#define FOUND_TIME (3 * FMX_SECOND)
#define CUT_OTHERS 0.8          /* of what comes through: who has not climbed, or cut in vain */
#define CUT_AGAIN 0.65          /* ... where others have a part in it and nothing is
                                 * lost: figures 4 to 6 were heard with PESQ 3.29, 3.27 and 3.13 at
                                 * 0.8, with it 3.32, 3.28 and 3.29; beside BBR, held out, 85: 90 */
#define OTHERS_AGAIN (20 * FMX_SECOND)  /* [-0.9, -0.4]; steps 62: 58, 58 */
#define OVERRUN_TIME (2 * FMX_SECOND)   /* a full queue of a second, at half the rate */
#define FOREIGN_PART 0.5        /* of what the path carries: others have the rest */
#define FOREIGN_TRAIN 0.7       /* of the fastest packets: so it is of late, too */
#define FOREIGN_QUEUES 3u       /* so many queues tell of a TCP ... */
#define FOREIGN_QUEUES_TIME (20 * FMX_SECOND)   /* ... with no longer between */
#define FOREIGN_TIMES 2.0       /* what our own cut can drain */
#define FOREIGN_S 0.02          /* ... and noise */
#define FOREIGN_SHARE 0.6       /* of the link, in the time since the cut */
#define RECOVERY 0.9            /* of what came through before */
#define FOREIGN_DRAINS 3u       /* so many tell of a TCP ... */
#define FOREIGN_TIME (120 * FMX_SECOND) /* ... in so long */

/* What comes through is what came through when the queue showed before. */
static bool
is_same_ceiling (const FmxRateShortqState *s)
{
  return fabs (s->drain_most_bps - s->ceiling_bps)
      < SAME_CEILING * s->ceiling_bps;
}

/* A queue stands although the path carries far more than what we get: it is that
 * of others, who do not mind.  Not if our own step shows there again: a shaper lets some
 * packets pass as fast as if the path carried more. */
static bool
note_foreign_queue (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  double got_bps = fmx_shortq_got_bps (rc, fb);

  if (fmx_time_diff (now, s->foreign_queue_time) > FOREIGN_QUEUES_TIME
      || got_bps > FOREIGN_TRAIN * fb->train_bps)
    s->n_foreign_queues = 0;    /* long ago, or it is all ours */
  if (got_bps > FOREIGN_PART * fb->bottleneck_bps
      || got_bps > FOREIGN_TRAIN * fb->train_bps
      || (rc->rate_bps > TRIED * s->ceiling_bps
          && fabs (got_bps - s->ceiling_bps) < SAME_CEILING * s->ceiling_bps))
    return false;
  s->foreign_queue_time = now;
  return ++s->n_foreign_queues >= FOREIGN_QUEUES;
}

/* The rate was just cut because the path had become narrow: a full queue goes on letting
 * out all that the path carries, and the ceiling is that, not what is left to us. */
static bool
has_overrun (const FmxRateShortqState *s, FmxTime now)
{
  return s->halved > 0 && s->cut_time == s->halved
      && fmx_time_diff (now, s->halved) < OVERRUN_TIME;
}

/* x beyond the link make a queue of x seconds in a second. */
void
fmx_shortq_note_excess (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  FmxDuration since = fmx_time_diff (now, s->excess_time);
  double most_s = fmx_time_to_s (fmx_shortq_queue_limit (rc, fb)), more_s;

  s->excess_time = now;
  if (s->ceiling_bps <= 0.0 || rc->rate_bps <= s->ceiling_bps) {
    s->excess_s = s->beyond_s = 0.0;
    return;
  }
  if (since >= EXCESS_GAP)
    return;
  more_s = fmx_time_to_s (since) * (rc->rate_bps / s->ceiling_bps - 1.0);
  s->excess_s = fmin (s->excess_s + more_s, most_s);
  s->beyond_s += more_s;
}

bool
fmx_shortq_has_lost (const FmxRateShortqState *s, FmxTime now)
{
  return s->loss_event != FMX_TIME_NONE
      && fmx_time_diff (now, s->loss_event) < EXCESS_LOSS;
}

/* A small step beyond the ceiling shows late.  The queue is our own all the same, if nobody
 * else has a part of what the link carries, or, where that is not known, has made us lose
 * anything of late. */
static bool
is_own_excess (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;
  double standing_s = fmx_time_to_s (fmx_queue_sense_standing (&s->queue));

  if (rc->rate_bps > TRIED * s->ceiling_bps
      && fmx_shortq_has_link (fb, fmx_shortq_got_bps (rc, fb)))
    return true;
  if (s->excess_s <= EXCESS_PART * standing_s)
    return false;
  return fb->bottleneck_bps > 0.0 ? fmx_shortq_got_bps (rc, fb)
      > fb->bottleneck_bps : !fmx_shortq_has_lost (s, now);
}

static bool
is_own_step (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  double since = (double) fmx_time_diff (now, rc->state.shortq.raised);

  return since < fmax (OWN_RTTS * (double) fb->rtt, HEAR_RTTS
      * (double) fb->rtt + (double) fmx_shortq_shows_after (rc, fb));
}

/* What leaves the queue.  Who starts knows it before it has come for a whole second. */
static double
drained_bps (const FmxRateController *rc, const FmxRateFeedback *fb,
    bool starts)
{
  if (starts)
    return fmin (fmin (fb->latest_bps, fb->row_bps), rc->rate_bps);
  return fmx_shortq_used_bps (rc, fb);
}

/* Returns: how long a queue of our own is when a cut shows */
static double
own_queue_s (const FmxRateController *rc, const FmxRateFeedback *fb,
    bool starts, FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;
  FmxDuration there = starts ? fmx_queue_sense_beyond_latest (&s->queue,
      fb->delay_spread) : fmx_queue_sense_standing (&s->queue);
  FmxDuration since = starts ? fmx_time_diff (now, fb->acked_sent) : fb->rtt;
  double beyond =
      fmin (rc->rate_bps, fb->sent_bps) / fmax (s->drain_bps, 1.0) - 1.0;

  return fmx_time_to_s (there) + fmx_time_to_s (since) * fmax (beyond, 0.0);
}

/* Of a queue of our own: what drains it soon.  A long one where nothing is lost may have been made by one step,
 * where a token bucket hid the steps before; the path carries as much as it did, so the
 * rate comes back when the queue has gone.  Returns: of what comes through */
static double
cut_own (FmxRateController *rc, double queue_s, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  double cut = is_same_ceiling (s) ? NEAR_CEILING : CUT_OWN;
  double soon = fmax (1.0 - queue_s / DRAINS_WITHIN_S, HALF);

  if (soon >= CUT_OWN || fmx_shortq_has_lost (s, now))
    return cut;
  s->recover_bps = NEAR_CEILING * s->drain_bps;
  return soon;
}

/* A step of our own may have made it show just when somebody came: whoever has most of what
 * the path carries has a part in it all the same. */
static void
note_first (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;

  s->drain_found_room = s->room_found > 0
      && fmx_time_diff (now, s->room_found) < FOUND_TIME
      && s->room_found_bps > FOUND_TIMES * fmx_shortq_got_bps (rc, fb);
  s->drain_from_bps = rc->rate_bps;
  s->drain_others = !s->drain_own || s->drain_bps < FOREIGN_PART
      * fmax (fb->path_bps, fb->bottleneck_bps);
}

/* Returns: what is left of what comes through */
static double
cut_part (FmxRateController *rc, const FmxRateFeedback *fb, bool starts,
    FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;

  if (s->n_drains == 1 && s->drain_own)
    return cut_own (rc, own_queue_s (rc, fb, starts, now), now);
  if (s->n_drains == 2 && s->drain_others && !fmx_shortq_has_lost (s, now))
    return CUT_AGAIN;
  return CUT_OTHERS;
}

/* A burst that passed before it showed is no wider path. */
static void
note_own_ceiling (FmxRateShortqState *s, const FmxRateFeedback *fb)
{
  s->has_bucket = fb->passes_bursts;
  if (s->has_bucket && is_same_ceiling (s))
    s->drain_bps = s->drain_most_bps = s->ceiling_bps
        + CEILING_MEAN * (s->drain_bps - s->ceiling_bps);
}

void
fmx_shortq_begin_to_drain (FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  bool starts = fmx_shortq_starts_alone (rc, fb, now);

  if (fmx_shortq_lets_others_go_first (rc, fb, now))
    return;
  if (note_foreign_queue (rc, fb, now) || fb->has_teeth
      || fmx_shortq_has_little (rc, fb, now)) {
    fmx_shortq_begin_to_compete (rc, fb, now);
    return;
  }
  s->drain_own = is_own_step (rc, fb, now) || is_own_excess (rc, fb, now);
  fmx_shortq_note_no_room (rc, fb, now);
  s->excess_s = 0.0;
  if (!s->drain_own) {
    if (s->others_last > 0
        && fmx_time_diff (now, s->others_last) < OTHERS_AGAIN)
      s->others_time = now;
    s->others_last = now;
  }
  rc->stats.n_drains += !rc->drains_too;
  s->drain_starts = s->mode == FMX_RATE_SHORTQ_STARTING;
  s->n_drains = s->mode == FMX_RATE_SHORTQ_DRAINING ? s->n_drains + 1 : 1;
  fmx_shortq_enter (rc, FMX_RATE_SHORTQ_DRAINING, now);
  s->drain_seen = false;
  s->recover_bps = 0.0;
  s->drain_start = now;
  s->drain_expected_s = 0.0;
  s->drain_bps = s->drain_most_bps = drained_bps (rc, fb, starts);
  if (s->n_drains == 1)
    note_first (rc, fb, now);
  if (s->n_drains == 1 && s->drain_own)
    note_own_ceiling (s, fb);
  if (has_overrun (s, now))
    s->drain_most_bps = fmax (s->drain_bps, fb->receive_bps);
  s->cut_time = now;
  s->cut_bps = s->drain_bps;
  fmx_shortq_begin_crest (rc, now);
  fmx_shortq_lower (rc, fmax (cut_part (rc, fb, starts, now) * s->drain_bps,
          fmx_shortq_floor_bps (rc, fb, now)), FMX_RATE_DOWN_DELAY);
}

void
fmx_shortq_drain_narrowed (FmxRateController *rc, double from_bps,
    double came_bps, double queue_s, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;

  fmx_shortq_enter (rc, FMX_RATE_SHORTQ_DRAINING, now);
  fmx_rate_hold_init (&rc->hold);
  s->n_drains = 0;              /* the next one is the first that is in vain */
  s->drain_own = true;
  s->drain_from_bps = from_bps;
  s->drain_seen = false;
  s->drain_start = now;
  s->drain_expected_s = s->excess_s = 0.0;
  s->drain_bps = s->drain_most_bps = came_bps;
  s->narrow_s = queue_s;
}

/* It fell by more than our own cut explains: somebody else gave way, as TCPs do
 * when the queue is full or managed, and will be back. */
static bool
is_foreign_drain (const FmxRateShortqState *s, FmxDuration standing,
    FmxTime now)
{
  double fell_s = fmx_time_to_s (s->drain_queue - standing);
  double most_s = fmx_time_to_s (fmx_time_diff (now, s->drain_start));

  return fell_s > FOREIGN_TIMES * s->drain_expected_s + FOREIGN_S
      && fell_s >= FOREIGN_SHARE * most_s;
}

static bool
note_foreign_drain (FmxRateShortqState *s, FmxDuration standing, FmxTime now)
{
  if (fmx_time_diff (now, s->foreign_time) > FOREIGN_TIME)
    s->n_foreign = 0;
  if (!is_foreign_drain (s, standing, now)) {
    s->own_time = now;
    if (s->poor_sent < s->drain_start)
      s->n_poor = 0;            /* nothing was lost any more */
    return false;
  }
  s->n_foreign++;
  s->foreign_time = now;
  return s->n_foreign >= FOREIGN_DRAINS;
}

/* Two cuts at least, down to the least rate, and yet the queue sank more slowly than if all
 * of it were ours: whoever has the rest keeps it. */
static void
note_constant (FmxRateController *rc, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;

  if (s->n_drains >= DRAINS && rc->rate_bps <= MARGIN * rc->params.min_bps
      && fmx_time_diff (now, s->drain_start) > DRAIN_MAX)
    s->constant_time = now;
}

/* The queue is short again. */
static void
drained (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  FmxDuration most = fmx_shortq_has_link (fb, s->drain_bps)
      ? HOLD_LINK : HOLD_MAX;
  double part;

  fmx_shortq_enter (rc, FMX_RATE_SHORTQ_CALM, now);
  if (s->n_bursts > 0)
    s->n_bursts--;              /* it was none */
  fmx_shortq_note_hidden (rc);
  if (s->n_drains == 0)
    s->recover_bps = s->drain_most_bps
        * (fmx_rate_hold_took (&rc->hold) > 0 ? NEAR_CEILING : RECOVERY);
  rc->is_narrow = s->n_drains == 0 || (s->overrun && s->own_time == now);
  s->overrun = false;
  s->hold = is_same_ceiling (s) && s->drain_own ? 2 * s->hold : HOLD_MIN;
  if (s->hold > most)
    s->hold = most;
  s->ceiling_bps = s->widest_bps = s->drain_most_bps;
  /* the lesser of two tries first, so the greater learns that there are two */
  part = s->ceiling_bps / (s->ceiling_bps + HOLD_HALF_BPS);
  s->hold_until = now + (FmxTime) (part * (double) s->hold);
  s->hold_unknown_until = now + (FmxTime) (part * fmin ((double) s->hold,
          (double) HOLD_MAX));
}

/* Returns: what the cut itself has drained when it shows */
static FmxDuration
drained_before (const FmxRateShortqState *s, double part, FmxTime acked)
{
  return fmx_time_from_s (fmax (part, 0.0)
      * fmx_time_to_s (fmx_time_diff (acked, s->drain_start)));
}

/* What must have left the queue since the cut showed, if all of it is ours.
 * Returns: false if there was none any more when it showed */
static bool
expect (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  double part = 1.0 - rc->rate_bps / s->drain_bps;

  if (!s->drain_seen) {
    s->drain_seen = fb->acked_sent >= s->drain_start;
    s->drain_time = now;
    fmx_queue_sense_restart (&s->queue);
    fmx_queue_sense_add (&s->queue, fb->rtt_sample_min, fb->reverse_delay,
        fb->rtt / 2, now);
    s->drain_queue = fmx_queue_sense_standing (&s->queue);
    if (s->drain_seen && s->n_drains == 0
        && fmx_rate_hold_took (&rc->hold) == 0)
      s->drain_most_bps =
          fmax (s->drain_most_bps, fmin (fb->latest_bps, fb->receive_bps));
    return !s->drain_seen || s->n_drains != 1
        || s->drain_queue + drained_before (s, part, fb->acked_sent)
        >= fmx_shortq_queue_limit (rc, fb) / 2;
  }
  if (part > 0.0)
    s->drain_expected_s += part
        * fmx_time_to_s (fmx_time_diff (now, s->drain_time));
  s->drain_time = now;
  return true;
}

/* Another cut, or somebody else fills the queue, and is not of our kind. */
static void
drained_nothing (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  bool can_cut = rc->rate_bps > MARGIN * rc->params.min_bps;
  unsigned most = fmx_shortq_has_lost (s, now) ? DRAINS : DRAINS_LOSSLESS;

  if (s->drain_found_room)
    most = DRAINS_STARTS;
  if (s->n_drains < most && can_cut)
    fmx_shortq_begin_to_drain (rc, fb, now);
  else if (can_cut || fmx_shortq_has_to_compete (rc, fb, now))
    fmx_shortq_begin_to_compete (rc, fb, now);
}

void
fmx_shortq_drain (FmxRateController *rc, const FmxRateFeedback *fb,
    double allowed, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  FmxDuration standing;
  double expected_s;

  fmx_shortq_follow_crest (rc, fb, now);
  if (!expect (rc, fb, now)) {
    fmx_shortq_take_back (rc, now);
    return;
  }
  if (rc->rate_bps > allowed)
    fmx_shortq_obey (rc, fb, allowed, now);
  if (s->n_drains > 0
      && rc->rate_bps < fmin (allowed, fmx_shortq_floor_bps (rc, fb, now))) {
    fmx_shortq_enter (rc, FMX_RATE_SHORTQ_CALM, now);
    return;
  }
  if (!s->drain_seen)
    return;
  standing = fmx_queue_sense_standing (&s->queue);
  expected_s = fmin (s->drain_expected_s,
      fmx_time_to_s (s->drain_queue - fmx_shortq_queue_limit (rc, fb) / 2));
  if (standing < fmx_shortq_queue_limit (rc, fb) / 2) {
    if (fmx_shortq_was_a_burst (rc, fb, now))
      fmx_shortq_take_back (rc, now);
    else if (note_foreign_drain (s, standing, now))
      fmx_shortq_begin_to_compete (rc, fb, now);
    else {
      note_constant (rc, now);
      drained (rc, fb, now);
    }
  } else if (standing <= s->drain_queue + GROWN
      && (s->drain_expected_s <= DRAIN_TELLS_S
          || fmx_time_to_s (s->drain_queue - standing)
          >= DRAIN_SHARE * expected_s)
      && fmx_time_diff (now, s->drain_start) < DRAIN_MAX)
    return;
  else
    drained_nothing (rc, fb, now);
}
