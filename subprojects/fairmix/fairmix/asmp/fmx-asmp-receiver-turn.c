/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whether and when a receiver speaks */

#include <math.h>

#include "fairmix/asmp/fmx-asmp-receiver-private.h"

/* A report that is this far below the sender's rate speaks for nobody else: a
 * liar would silence all others. */
#define SPEAKS_FOR_OTHERS 0.5
#define MARGIN 0.1              /* g, [RFC4654 2.5.3] */
#define ROUNDS_MARGIN 0.05      /* of the sender's rate: it may be so far too high */
/* A low rate that the sender does not follow in so many rounds may be a lie, or its
 * report was lost. */
#define TRUSTED 2u
#define CROWD 1000u             /* receivers, in a large session of nobody knows
                                 * how many */

void
fmx_asmp_receiver_on_peer (FmxAsmpReceiver *receiver, const FmxAsmpRate *rate,
    FmxTime now)
{
  double *least = &receiver->others_bps;

  (void) now;
  if (rate->media_ssrc != receiver->media_ssrc)
    return;
  if (receiver->params.algorithm == FMX_ASMP_PAPER) {
    if (receiver->has_rate)
      fmx_asmp_feedback_on_peer (&receiver->feedback, receiver->rate_bps,
          rate->rate_bps);
    return;
  }
  if (rate->rate_bps < SPEAKS_FOR_OTHERS * receiver->sender_bps)
    least = &receiver->low_others_bps;
  else if (!rate->measured)
    least = &receiver->joiners_bps;
  if (rate->measured || least == &receiver->joiners_bps)
    *least = fmin (*least, rate->rate_bps);
}

/* The least that speaks for this one, which would tell @bps.  With rounds the limiting
 * receiver has its turn in each: it has told the sender's rate. */
static double
spoken_bps (const FmxAsmpReceiver *receiver, double bps, bool measured)
{
  double least = receiver->others_bps;

  if (!receiver->params.rounds)
    return least;
  if (bps < SPEAKS_FOR_OTHERS * receiver->sender_bps && !receiver->speaks_up)
    least = fmin (least, receiver->low_others_bps);
  if (!measured)
    least = fmin (least, receiver->joiners_bps);
  return receiver->limiting_ssrc != 0 ? fmin (least, receiver->sender_bps)
      : least;
}

/* Without rounds a rate that does not count is told in each report of a small
 * session, and once in a large one, to say that there will be some: else all would
 * tell theirs until the sender has come round to telling them their round trips.
 * With rounds FMX_ASMP_APP_HERE says so, and it is told where it is low. */
bool
fmx_asmp_receiver_may_tell (const FmxAsmpReceiver *receiver, double bps,
    FmxTime now)
{
  bool measured = fmx_asmp_receiver_is_measured (receiver, now);

  if (!measured && !receiver->feedback.large)
    return !receiver->params.rounds;
  if (fmx_asmp_receiver_is_limiting (receiver) || !receiver->feedback.large)
    return true;
  if (receiver->params.algorithm == FMX_ASMP_PAPER)
    return fmx_asmp_feedback_may_report (&receiver->feedback);
  if (!measured && !receiver->params.rounds)
    return receiver->stats.n_reports == 0;
  if (fmx_time_diff (now, receiver->first_packet) < receiver->params.settle)
    return false;
  /* [RFC4654 2.5.3]: what is no lower than others' tells nothing */
  return bps < (1.0 - (receiver->params.rounds ? ROUNDS_MARGIN : MARGIN))
      * spoken_bps (receiver, bps, measured);
}

/* Whether a low rate of others has spoken for it, and it is as low still */
static bool
is_silenced (const FmxAsmpReceiver *receiver)
{
  return receiver->rate_bps < SPEAKS_FOR_OTHERS * receiver->sender_bps
      && receiver->rate_bps >= (1.0 - ROUNDS_MARGIN) * receiver->low_others_bps;
}

static void
begin_round (FmxAsmpReceiver *receiver, FmxTime now)
{
  if (receiver->params.rounds
      && fmx_time_diff (now, receiver->interval_start) > 0) {
    receiver->silenced = is_silenced (receiver) ? receiver->silenced + 1 : 0;
    fmx_asmp_receiver_end_interval (receiver, now);     /* in silence */
  }
  receiver->others_bps = HUGE_VAL;
  receiver->low_others_bps = receiver->joiners_bps = HUGE_VAL;
}

/* Of those that are silenced a crowd speaks, and twice as many in each round. */
static bool
may_speak_up (const FmxAsmpReceiver *receiver, uint32_t n_receivers, double u)
{
  return receiver->silenced >= TRUSTED && u * n_receivers
      < ldexp (receiver->params.feedback.crowd, (int) (receiver->silenced
          - TRUSTED));
}

void
fmx_asmp_receiver_schedule (FmxAsmpReceiver *receiver, FmxDuration interval,
    uint32_t n_receivers, double u, FmxTime now)
{
  bool paper = receiver->params.algorithm == FMX_ASMP_PAPER;

  if (receiver->has_rate)
    begin_round (receiver, now);
  fmx_asmp_feedback_schedule (&receiver->feedback, interval,
      paper ? 0 : n_receivers, u, now);
  if (receiver->feedback.large && n_receivers == 0)
    n_receivers = CROWD;
  receiver->speaks_up = may_speak_up (receiver, n_receivers, u);
  fmx_asmp_events_set_receivers (&receiver->events, n_receivers,
      receiver->feedback.large);
}

FmxTime
fmx_asmp_receiver_next_timeout (const FmxAsmpReceiver *receiver)
{
  return fmx_asmp_feedback_next_timeout (&receiver->feedback);
}

bool
fmx_asmp_receiver_on_timeout (FmxAsmpReceiver *receiver, FmxTime now)
{
  return fmx_asmp_feedback_on_timeout (&receiver->feedback, now)
      && (receiver->params.algorithm == FMX_ASMP_PAPER
      || fmx_asmp_receiver_may_tell (receiver,
          fmx_asmp_receiver_fair_bps (receiver, now), now));
}

bool
fmx_asmp_receiver_take_urgent (FmxAsmpReceiver *receiver, FmxTime now)
{
  /* in a large session others speak for it, or it has a turn */
  bool urgent = receiver->urgent
      && fmx_asmp_receiver_is_measured (receiver, now)
      && (fmx_asmp_receiver_is_limiting (receiver)
      || (!receiver->feedback.large
          && fmx_asmp_receiver_fair_bps (receiver, now)
          < receiver->sender_bps));

  /* what comes is less than what is sent, whether or not a report has said that */
  urgent |= receiver->urgent && !receiver->feedback.large
      && fmx_asmp_receiver_overruns (receiver, now);
  receiver->urgent = false;
  return urgent;
}
