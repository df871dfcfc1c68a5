/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "fairmix/rate/fmx-rate-shortq-private.h"
#include "fairmix/rate/fmx-rate-train.h"

/* Who starts grows by a quarter each time, or faster where a train tells that there is room,
 * and each packet that leaves until a queue stands makes it longer.  Alone it is known to be
 * one's own before it stands. */

#define LAST 1.5                /* of the last packet alone: it may be late by chance */
#define LEAST (30 * FMX_MSECOND)        /* with half of it, beside TCPs whose queue is never
                                         * longer 0.15: 0.68; beside TCP 85: 85 */

#define BEGINS (5 * FMX_SECOND) /* later one may have had the path alone, and moments of
                                 * standstill lose something, too; 10: the same */
#define FULL_CUT 0.5            /* as a TCP; 1: beside TCP changes 86: 82, in time 54: 52 */

#define TRY_TIMES 4.0           /* the rate: so much more is tried; 6: alone 88: 88, own flows 98:
                                 * 94 */
#define FREE_PART 0.5           /* of what passes: whoever else starts finds it free as well;
                                 * 0.75: the longest queue of own flows at the start 139: 220 ms */
#define DOUBLES 2.0             /* [RFC5348 4.3], slow start ... */
#define SHORT 1.5               /* ... or, as a small bucket lets a short train pass: behind one of
                                 * up to 200 kbit/s twice made 0.24 to 0.28 s of queue */
#define SHORT_BPS (8.0 * FMX_RATE_TRAIN_BUCKET_BYTES / FMX_RATE_TRAIN_LASTS_S)

bool
fmx_shortq_take_free (FmxRateController *rc, const FmxRateFeedback *fb,
    double allowed, FmxTime now)
{
  FmxRateShortqState *s = &rc->state.shortq;
  double bps;

  if (fb->passed_bps > 0.0) {
    s->passed_bps = s->room_found_bps = fb->passed_bps;
    s->room_found = now;
  }
  rc->try_bps = TRY_TIMES * rc->rate_bps;
  bps = fmin (fmin (allowed, FREE_PART * s->passed_bps),
      (rc->try_bps < SHORT_BPS ? SHORT : DOUBLES) * rc->rate_bps);
  if (bps <= START_GROWTH * rc->rate_bps
      || !fmx_shortq_is_due (rc, fb, 1.0, now))
    return false;
  s->decided = now;
  s->passed_bps = 0.0;
  fmx_shortq_raise_to (rc, bps, now);
  rc->try_bps = TRY_TIMES * rc->rate_bps;
  return true;
}

bool
fmx_shortq_starts_alone (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  double sent_bps = rc->data_limited ? fmin (fb->sent_bps, rc->rate_bps)
      : rc->rate_bps;

  return rc->state.shortq.mode == FMX_RATE_SHORTQ_STARTING
      && fb->latest_bps < NEAR_CEILING * sent_bps
      && fmx_shortq_is_alone (rc, fb, now);
}

double
fmx_shortq_own_queue (const FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  const FmxQueueSense *queue = &rc->state.shortq.queue;
  double latest = (double) fmx_queue_sense_latest (queue);
  double last =
      (double) fmx_queue_sense_beyond_latest (queue, fb->delay_spread);
  double limit =
      fmax ((double) fmx_shortq_queue_limit (rc, fb), (double) LEAST);

  if (!fmx_shortq_starts_alone (rc, fb, now))
    return 0.0;
  return fmax (latest, last / LAST) / limit;
}

bool
fmx_shortq_meets_full_queue (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  const FmxRateShortqState *s = &rc->state.shortq;

  if (s->mode != FMX_RATE_SHORTQ_STARTING || !fb->new_loss_event
      || fb->only_marks || fb->loss_is_late
      || fmx_time_diff (now, s->heard) > BEGINS)
    return false;
  fmx_shortq_begin_to_compete (rc, fb, now);
  fmx_shortq_lower (rc, FULL_CUT * rc->rate_bps, FMX_RATE_DOWN_LOSS);
  return true;
}
