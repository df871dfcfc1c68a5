/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/loss/fmx-loss-intervals.h"

#include <assert.h>
#include <string.h>

#define DISCOUNT_MIN 0.25       /* THRESHOLD, [RFC5348 5.5] */

/* [RFC5348 5.4] w_i = 1 for i < n/2, then 2 (n - i) / (n + 2) */
static const double weights[FMX_LOSS_INTERVALS_N] = {
  1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2
};

/* The sums of [RFC5348 5.5]; @packets is @length with all packets of short
 * intervals, too. */
typedef struct
{
  double length;
  double packets;
  double weight;
} Sum;

void
fmx_loss_intervals_init (FmxLossIntervals *intervals,
    const FmxLossIntervalsParams *params)
{
  memset (intervals, 0, sizeof *intervals);
  intervals->params = *params;
}

void
fmx_loss_intervals_reset (FmxLossIntervals *intervals)
{
  intervals->n_events = 0;
  intervals->synthetic = 0.0;
}

void
fmx_loss_intervals_set_params (FmxLossIntervals *intervals,
    const FmxLossIntervalsParams *params)
{
  intervals->params = *params;
}

void
fmx_loss_intervals_on_packet (FmxLossIntervals *intervals,
    FmxLossRecord packet)
{
  if (intervals->has_newest && packet.number <= intervals->newest.number)
    return;
  intervals->has_newest = true;
  intervals->newest = packet;
}

/* The length of @event's interval, which @end follows (for I_0: is its last
 * packet's successor). */
static double
length_of (const FmxLossIntervals *intervals, const FmxLossEvent *event,
    FmxLossRecord end)
{
  double n = (double) (end.number - event->first.number);
  FmxDuration lasted = fmx_time_diff (end.sent, event->first.sent);

  /* [RFC4828 3] "at most two round-trip times ... calculated as N/K" */
  if (intervals->params.short_intervals && lasted <= 2 * event->rtt)
    n /= event->n_lost;
  return n < 1.0 ? 1.0 : n;
}

/* I_i for i > 0; false when there is no such interval. */
static bool
closed_interval (const FmxLossIntervals *intervals, unsigned i, double *length,
    double *packets)
{
  if (i < intervals->n_events) {
    const FmxLossRecord *end = &intervals->events[i - 1].first;

    *length = length_of (intervals, &intervals->events[i], *end);
    *packets = (double) (end->number - intervals->events[i].first.number);
    return true;
  }
  *length = *packets = intervals->synthetic;
  return i == intervals->n_events && intervals->synthetic > 0.0;
}

/* I_0, [RFC5348 5.3]: S_C - S_A + 1. */
static double
open_interval (const FmxLossIntervals *intervals)
{
  const FmxLossEvent *event = &intervals->events[0];

  if (intervals->newest.number < event->first.number)
    return 1.0;
  return (double) (intervals->newest.number - event->first.number) + 1.0;
}

static bool
open_interval_is_short (const FmxLossIntervals *intervals)
{
  const FmxLossEvent *event = &intervals->events[0];

  return intervals->newest.number < event->first.number
      || fmx_time_diff (intervals->newest.sent, event->first.sent)
      <= 2 * event->rtt;
}

/* I_tot1 and W_tot1, and what of I_1 ... I_(n-1) goes into I_tot0. */
static void
sum_closed (const FmxLossIntervals *intervals, Sum *one, Sum *zero)
{
  double discount = 1.0;        /* DF_i */
  double length, packets;

  memset (one, 0, sizeof *one);
  memset (zero, 0, sizeof *zero);
  for (unsigned i = 1; i <= FMX_LOSS_INTERVALS_N; i++) {
    if (!closed_interval (intervals, i, &length, &packets))
      break;
    one->length += length * weights[i - 1] * discount;
    one->packets += packets * weights[i - 1] * discount;
    one->weight += weights[i - 1] * discount;
    if (i < FMX_LOSS_INTERVALS_N) {
      zero->length += length * weights[i] * discount;
      zero->weight += weights[i] * discount;
    }
    discount *= intervals->events[i - 1].discount;
  }
}

/* [RFC5348 5.5] DF, from I_0 and the mean of the closed intervals.  I_0 counts
 * all its packets, so the others do here: against their N/K of [RFC4828 3] any
 * I_0 of more than two round-trip times would look long. */
static double
general_discount (const FmxLossIntervals *intervals, const Sum *one)
{
  double open = open_interval (intervals);
  double df;

  if (!intervals->params.discounting || one->weight == 0.0)
    return 1.0;
  if (intervals->params.short_intervals && open_interval_is_short (intervals))
    return 1.0;
  df = 2.0 * (one->packets / one->weight) / open;
  if (df > 1.0)
    return 1.0;
  return df < DISCOUNT_MIN ? DISCOUNT_MIN : df;
}

double
fmx_loss_intervals_rate (const FmxLossIntervals *intervals)
{
  Sum one, zero;
  double df, p0, p1 = 1.0;

  if (intervals->n_events == 0)
    return 0.0;
  sum_closed (intervals, &one, &zero);
  if (one.weight > 0.0)
    p1 = one.weight / one.length;
  /* [RFC4828 3] "If the current loss interval I_0 is "short" then
   * I_tot = I_tot1" */
  if (intervals->params.short_intervals && one.weight > 0.0
      && open_interval_is_short (intervals))
    return p1;
  df = general_discount (intervals, &one);
  p0 = (weights[0] + zero.weight * df)
      / (open_interval (intervals) * weights[0] + zero.length * df);
  return p0 < p1 ? p0 : p1;
}

/* Makes room for a new event at @at. */
static FmxLossEvent *
insert_event (FmxLossIntervals *intervals, unsigned at)
{
  unsigned n = intervals->n_events;

  if (n == FMX_LOSS_INTERVALS_EVENTS) {
    intervals->synthetic = 0.0;
    n--;
  }
  memmove (&intervals->events[at + 1], &intervals->events[at],
      (n - at) * sizeof intervals->events[0]);
  intervals->n_events = n + 1;
  intervals->stats.n_events++;
  return &intervals->events[at];
}

/* The newest event that begins at @number or before; n_events if none does. */
static unsigned
event_before (const FmxLossIntervals *intervals, uint64_t number)
{
  unsigned at = 0;

  while (at < intervals->n_events
      && intervals->events[at].first.number > number)
    at++;
  return at;
}

static bool
is_within (const FmxLossEvent *event, FmxTime sent)
{
  /* [RFC5348 5.2] "If T_old + R >= T_new, then S_new is part of the existing
   * loss event" */
  return fmx_time_diff (sent, event->first.sent) <= event->rtt;
}

bool
fmx_loss_intervals_on_lost (FmxLossIntervals *intervals, FmxLossRecord packet,
    FmxDuration rtt)
{
  unsigned at = event_before (intervals, packet.number);
  FmxLossEvent *event;
  Sum one, zero;
  double df = 1.0;

  /* DF is what it was before this packet, [RFC5348 5.5] */
  if (at == 0 && intervals->n_events > 0) {
    sum_closed (intervals, &one, &zero);
    df = general_discount (intervals, &one);
  }
  fmx_loss_intervals_on_packet (intervals, packet);
  if (at < intervals->n_events && is_within (&intervals->events[at],
          packet.sent)) {
    intervals->events[at].n_lost++;
    return false;
  }
  /* Found late: the next event may have begun with this one. */
  if (at > 0 && fmx_time_diff (intervals->events[at - 1].first.sent,
          packet.sent) <= intervals->events[at - 1].rtt) {
    intervals->events[at - 1].first = packet;
    intervals->events[at - 1].n_lost++;
    return false;
  }
  if (at == FMX_LOSS_INTERVALS_EVENTS)
    return false;               /* older than all that counts */

  event = insert_event (intervals, at);
  event->first = packet;
  event->rtt = rtt;
  event->discount = df;
  event->n_lost = 1;
  return true;
}

bool
fmx_loss_intervals_take_back (FmxLossIntervals *intervals,
    FmxLossRecord packet, const FmxLossRecord *next_lost)
{
  unsigned at = event_before (intervals, packet.number);
  FmxLossEvent *event;

  if (at == intervals->n_events)
    return false;               /* forgotten meanwhile */
  event = &intervals->events[at];
  if (packet.number != event->first.number) {
    if (event->n_lost > 1 && is_within (event, packet.sent))
      event->n_lost--;
    return false;
  }
  if (next_lost != NULL && event->n_lost > 1
      && (at == 0 || next_lost->number < event[-1].first.number)) {
    event->first = *next_lost;
    event->n_lost--;
    return false;
  }
  intervals->n_events--;
  memmove (event, event + 1, (intervals->n_events - at) * sizeof *event);
  if (intervals->n_events == 0)
    fmx_loss_intervals_reset (intervals);
  intervals->stats.n_taken_back++;
  return true;
}

FmxTime
fmx_loss_intervals_event_end (const FmxLossIntervals *intervals,
    FmxLossRecord packet)
{
  unsigned at = event_before (intervals, packet.number);

  if (at == intervals->n_events)
    return packet.sent;
  return intervals->events[at].first.sent
      + (FmxTime) intervals->events[at].rtt;
}

void
fmx_loss_intervals_set_first (FmxLossIntervals *intervals, double packets)
{
  assert (packets >= 1.0);
  intervals->synthetic = packets;
}

unsigned
fmx_loss_intervals_n_events (const FmxLossIntervals *intervals)
{
  return intervals->n_events;
}

void
fmx_loss_intervals_rebase (FmxLossIntervals *intervals, int64_t delta)
{
  intervals->newest.number += (uint64_t) delta;
  for (unsigned i = 0; i < intervals->n_events; i++)
    intervals->events[i].first.number += (uint64_t) delta;
}

void
fmx_loss_intervals_get_stats (const FmxLossIntervals *intervals,
    FmxLossIntervalsStats *stats)
{
  *stats = intervals->stats;
}
