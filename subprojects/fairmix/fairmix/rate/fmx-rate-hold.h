/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RATE_HOLD_H
#define FMX_RATE_HOLD_H

#include <stdbool.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxRateHoldNews:
 * @sent: when the newest packet that a feedback tells of left
 * @queue: how long a queue was before it
 * @came_bps: what came since the feedback before; 0 = not known
 * @is_full: something was lost that left before: it grows no more
 *
 * What one feedback tells of a queue that is to drain.
 */
typedef struct
{
  FmxTime sent;
  FmxDuration queue;
  double came_bps;
  bool is_full;
} FmxRateHoldNews;

/**
 * FmxRateHold:
 *
 * Nothing leaves until a queue of one's own has gone: what is said behind it would come
 * later than anybody waits.  The queue before the last packet that left is that before the
 * newest one which is known of, and what grew since then, as fast as it grew before:
 *
 * |[
 *   end = last + queue (newest) + growth (last - newest)
 * ]|
 *
 * No feedback is needed to know that it has gone; each tells when that will be.  A
 * queue that is full does not grow, and what it lost need not drain.
 *
 * What comes meanwhile is what the path carries: each packet left the queue behind another.
 */
typedef struct
{
  /*< private >*/
  FmxTime until;                /* 0 = nothing is held */
  FmxTime begun;
  FmxDuration took;             /* when it has ended */
  FmxDuration most;
  FmxTime last;                 /* packet that left */
  double growth;                /* of the queue, in seconds a second */
  FmxRateHoldNews news;         /* the latest */
  double came_bits, came_s;
} FmxRateHold;

/** fmx_rate_hold_init: nothing is held, nor was */
void fmx_rate_hold_init (FmxRateHold * hold);

/**
 * fmx_rate_hold_begin:
 * @most: for so long and no longer, > 0
 * @last: when the last packet left
 * @growth: of the queue, as far as is known
 */
void fmx_rate_hold_begin (FmxRateHold * hold, FmxDuration most, FmxTime last,
    double growth, const FmxRateHoldNews * news, FmxTime now);

/** fmx_rate_hold_set_most: for @most since it began and no longer, > 0, also if that is over */
void fmx_rate_hold_set_most (FmxRateHold * hold, FmxDuration most);

/** fmx_rate_hold_on_feedback: one came, and nothing has left since the begin */
void fmx_rate_hold_on_feedback (FmxRateHold * hold,
    const FmxRateHoldNews * news, FmxTime now);

/** fmx_rate_hold_end: @now, if it has not ended */
void fmx_rate_hold_end (FmxRateHold * hold, FmxTime now);

/** fmx_rate_hold_is_on: Returns: whether nothing may leave */
static inline bool
fmx_rate_hold_is_on (const FmxRateHold *hold)
{
  return hold->until != 0;
}

/** fmx_rate_hold_next: Returns: when to call fmx_rate_hold_end(), %FMX_TIME_NONE = never */
static inline FmxTime
fmx_rate_hold_next (const FmxRateHold *hold)
{
  return hold->until != 0 ? hold->until : FMX_TIME_NONE;
}

/** fmx_rate_hold_took: Returns: how long the last one took; 0 = it goes on, or there was none */
static inline FmxDuration
fmx_rate_hold_took (const FmxRateHold *hold)
{
  return hold->took;
}

/** fmx_rate_hold_ended: Returns: when; of no use where fmx_rate_hold_took() is 0 */
static inline FmxTime
fmx_rate_hold_ended (const FmxRateHold *hold)
{
  return hold->begun + (FmxTime) hold->took;
}

/** fmx_rate_hold_came_bps: Returns: what came out of the queue while nothing left, in this
 * hold or the last; 0 = not known */
double fmx_rate_hold_came_bps (const FmxRateHold * hold);

#ifdef __cplusplus
}
#endif

#endif /* FMX_RATE_HOLD_H */
