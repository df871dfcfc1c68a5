/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-rate-hold.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define TELLS (20 * FMX_MSECOND)        /* packets that left within less tell of no growth */

/* Never in the past: an end that has passed is now. */
static void
set_end (FmxRateHold *hold, FmxTime now)
{
  double grew_s = hold->growth
      * fmx_time_to_s (fmx_time_diff (hold->last, hold->news.sent));
  FmxTime until = hold->last + (FmxTime) (hold->news.queue
      + fmx_time_from_s (fmax (grew_s, 0.0)));

  if (until > hold->begun + (FmxTime) hold->most)
    until = hold->begun + (FmxTime) hold->most;
  hold->until = until > now ? until : now;
}

void
fmx_rate_hold_init (FmxRateHold *hold)
{
  memset (hold, 0, sizeof *hold);
}

void
fmx_rate_hold_begin (FmxRateHold *hold, FmxDuration most, FmxTime last,
    double growth, const FmxRateHoldNews *news, FmxTime now)
{
  assert (most > 0);
  fmx_rate_hold_init (hold);
  hold->begun = now;
  hold->most = most;
  hold->last = last > news->sent ? last : news->sent;
  hold->growth = growth;
  hold->news = *news;
  set_end (hold, now);
}

void
fmx_rate_hold_set_most (FmxRateHold *hold, FmxDuration most)
{
  assert (most > 0);
  hold->most = most;
  if (hold->until > hold->begun + (FmxTime) most)
    hold->until = hold->begun + (FmxTime) most;
}

/* A packet arrives as much later than the one before it as it left later and as the queue
 * grew. */
static void
note_came (FmxRateHold *hold, FmxDuration left, FmxDuration grew,
    double came_bps)
{
  double came_s = fmx_time_to_s (left + grew);

  if (came_bps <= 0.0 || came_s <= 0.0)
    return;
  hold->came_bits += came_bps * came_s;
  hold->came_s += came_s;
}

void
fmx_rate_hold_on_feedback (FmxRateHold *hold, const FmxRateHoldNews *news,
    FmxTime now)
{
  FmxDuration left = fmx_time_diff (news->sent, hold->news.sent);
  FmxDuration grew = news->queue - hold->news.queue;
  bool is_full = news->is_full || hold->news.is_full;

  if (left > 0) {
    note_came (hold, left, grew, news->came_bps);
    if (left >= TELLS)
      hold->growth = (double) grew / (double) left;
    hold->news = *news;
  }
  hold->news.is_full = is_full;
  if (is_full)
    hold->growth = 0.0;
  set_end (hold, now);
}

void
fmx_rate_hold_end (FmxRateHold *hold, FmxTime now)
{
  if (hold->until != 0)
    hold->took = fmx_time_diff (now, hold->begun);
  hold->until = 0;
}

double
fmx_rate_hold_came_bps (const FmxRateHold *hold)
{
  return hold->came_s > 0.0 ? hold->came_bits / hold->came_s : 0.0;
}
