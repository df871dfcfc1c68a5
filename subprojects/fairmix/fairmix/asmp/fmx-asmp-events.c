/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/asmp/fmx-asmp-events.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define EULER_GAMMA 0.5772156649
#define LN_4_PI 2.5310242470
#define FIRST_EVENTS 8u         /* that the eight intervals are of */

void
fmx_asmp_events_init (FmxAsmpEvents *events)
{
  const FmxLossIntervalsParams params = {
    .short_intervals = true,
    .discounting = true
  };

  memset (events, 0, sizeof *events);
  fmx_loss_intervals_init (&events->intervals, &params);
}

void
fmx_asmp_events_restart (FmxAsmpEvents *events)
{
  events->started = false;
}

static FmxAsmpArrival *
slot_of (FmxAsmpEvents *events, uint64_t number)
{
  return &events->arrivals[number % FMX_ASMP_EVENTS_WINDOW];
}

/* After a restart the numbers go on where they were: the history stays. */
static void
start (FmxAsmpEvents *events, uint16_t seq, FmxTime now)
{
  uint64_t before = events->highest;
  uint64_t number;

  memset (&events->seq, 0, sizeof events->seq);
  memset (events->arrivals, 0, sizeof events->arrivals);
  number = fmx_serial_extend16 (&events->seq, seq);
  if (before > 0)
    fmx_loss_intervals_rebase (&events->intervals,
        (int64_t) (number - 1 - before));
  events->started = true;
  events->highest = number - 1;
  events->undecided = number;
  events->before = (FmxAsmpArrival) { number - 1, now };
}

/* The first packet after @number that came; @newest if there is none before */
static FmxAsmpArrival
arrival_after (FmxAsmpEvents *events, uint64_t number, FmxAsmpArrival newest)
{
  for (uint64_t n = number + 1; n < newest.number
      && n <= number + FMX_ASMP_EVENTS_WINDOW; n++)
    if (slot_of (events, n)->number == n)
      return *slot_of (events, n);
  return newest;
}

/* When it would have come: [RFC5348 5.2] */
static FmxTime
time_of_lost (const FmxAsmpArrival *before, const FmxAsmpArrival *after,
    uint64_t number)
{
  double part = (double) (number - before->number)
      / (double) (after->number - before->number);
  FmxDuration span = fmx_time_diff (after->time, before->time);

  return span <= 0 ? before->time
      : before->time + (FmxTime) (part * (double) span);
}

/* The steady interval, no further from the newest eight than it may be. */
static double
near_newest (const FmxAsmpEvents *events, double newest)
{
  double differ = events->large ? FMX_ASMP_EVENTS_DIFFER_LARGE
      : FMX_ASMP_EVENTS_DIFFER;
  double rarer = events->few_others && !events->large
      ? FMX_ASMP_EVENTS_RARER : differ;

  if (events->n_steady == 0)
    return newest;
  return fmin (fmax (events->steady, newest / rarer), newest * differ);
}

/* @event has ended; @weight: of it */
static void
count_lost (FmxAsmpEvents *events, const FmxLossEvent *event, double weight)
{
  double packets = (double) (event[-1].first.number - event->first.number);

  events->packets += weight * (packets - events->packets);
  events->lost += weight * (event->n_lost - events->lost);
}

static void
count_lost_anew (FmxAsmpEvents *events)
{
  unsigned n = fmx_loss_intervals_n_events (&events->intervals) - 1;

  n = n < FIRST_EVENTS ? n : FIRST_EVENTS;
  for (unsigned i = 1; i <= n; i++)
    count_lost (events, &events->intervals.events[i], 1.0 / i);
}

/* A loss event has begun. */
static void
follow (FmxAsmpEvents *events)
{
  double newest = 1.0 / fmx_loss_intervals_rate (&events->intervals);
  unsigned most;
  double near;

  if (fmx_loss_intervals_n_events (&events->intervals) < 2)
    return;                     /* no interval has ended yet */
  most = events->large ? FMX_ASMP_EVENTS_STEADY_LARGE
      : FMX_ASMP_EVENTS_STEADY;
  events->n_steady = events->n_steady < most ? events->n_steady + 1 : most;
  events->steady += (newest - events->steady) / events->n_steady;
  count_lost (events, &events->intervals.events[1],
      events->packets > 0.0 ? 1.0 / events->n_steady : 1.0);
  near = near_newest (events, newest);
  if (near != events->steady) {
    events->n_steady = FIRST_EVENTS;
    count_lost_anew (events);
  }
  events->steady = near;
}

unsigned
fmx_asmp_events_on_packet (FmxAsmpEvents *events, uint16_t seq,
    FmxDuration rtt, FmxTime now)
{
  FmxAsmpArrival newest;
  unsigned n_events = 0;

  assert (rtt > 0);
  if (!events->started)
    start (events, seq, now);
  newest = (FmxAsmpArrival) { fmx_serial_extend16 (&events->seq, seq), now };
  if (newest.number < events->undecided)
    return 0;                   /* late */
  if (newest.number <= events->highest) {
    *slot_of (events, newest.number) = newest;
    return 0;
  }

  for (; events->undecided + FMX_ASMP_EVENTS_REORDER <= newest.number;
      events->undecided++) {
    uint64_t n = events->undecided;

    if (slot_of (events, n)->number == n) {
      events->before = *slot_of (events, n);
      fmx_loss_intervals_on_packet (&events->intervals,
          (FmxLossRecord) { n, events->before.time });
    } else {
      FmxAsmpArrival after = arrival_after (events, n, newest);
      FmxLossRecord lost = { n, time_of_lost (&events->before, &after, n) };

      if (fmx_loss_intervals_on_lost (&events->intervals, lost, rtt)) {
        follow (events);
        n_events++;
      }
    }
  }
  *slot_of (events, newest.number) = newest;
  events->highest = newest.number;
  return n_events;
}

void
fmx_asmp_events_set_receivers (FmxAsmpEvents *events, uint32_t n_receivers,
    bool large)
{
  events->n_receivers = n_receivers;
  events->large = large;
}

void
fmx_asmp_events_set_few_others (FmxAsmpEvents *events, bool few)
{
  events->few_others = few;
}

void
fmx_asmp_events_set_first (FmxAsmpEvents *events, double packets)
{
  fmx_loss_intervals_set_first (&events->intervals, packets);
  events->steady = 1.0 / fmx_loss_intervals_rate (&events->intervals);
  events->n_steady = FIRST_EVENTS;
}

unsigned
fmx_asmp_events_count (const FmxAsmpEvents *events)
{
  return fmx_loss_intervals_n_events (&events->intervals);
}

/* By how many deviations the largest of @n normal deviates lies above their mean,
 * in the mean: by extreme value theory, within 0.14 of the tables, 0.08 from 20 on */
static double
worst_of (uint32_t n)
{
  double s;

  if (n < 3)
    return 0.0;
  s = sqrt (2.0 * log (n));
  return s + (EULER_GAMMA - 0.5 * (log (log (n)) + LN_4_PI)) / s;
}

double
fmx_asmp_events_rate (const FmxAsmpEvents *events)
{
  double p = fmx_loss_intervals_rate (&events->intervals);

  if (p == 0.0)
    return 0.0;
  p = 1.0 / near_newest (events, 1.0 / p);
  /* a mean of n that follows with 1/n deviates by 1 / sqrt (2 n) */
  return p * exp (-worst_of (events->n_receivers)
      / sqrt (2.0 * fmax (1.0, events->n_steady)));
}

double
fmx_asmp_events_fraction (const FmxAsmpEvents *events)
{
  return events->packets > 0.0 ? fmin (events->lost / events->packets, 1.0)
      : 0.0;
}
