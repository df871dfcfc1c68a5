/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-bottleneck-rate.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "fairmix/base/fmx-units.h"

#define CLOCK_SET FMX_SECOND
#define ROW_GAPS 3u             /* between the packets of a row */
#define TAIL_GAPS 5u            /* at least, between the last packets of a feedback ... */
#define TAIL (40 * FMX_MSECOND) /* ... and so long: two packets of each voice */
#define TAIL_EVEN 1.5           /* no four of them came so many times as fast */
#define LEAST_BPS 8000.0        /* of the first class */
#define PER_OCTAVE 4.0          /* classes */
#define NEAR 2u                 /* classes of one speed, give or take 1/1024 s */
#define APART 3u                /* classes below, where there is next to nothing */
#define TOP 4u                  /* classes that arrival times of 1/1024 s make of one */
#define AS_SENT 0.08            /* came as they left, give or take: no queue changed; halved
                                 * and doubled [0, -0.4], own flows 96: 96, 92 */
#define QUEUED (4 * FMX_MSECOND)        /* more than the least: two steps of 1/1024 s each way */
#define SAME_S 1e-4             /* a gap, a tenth of a step of arrival times: no difference */
#define FITTING 0.75            /* of the trains of that speed; paced, with 0.67, beside a
                                 * TCP 14 of 384 looks find too low a rate: 1 */
#define TRAINS_LEAST 4u
#define TRAINS_TIMES 2u         /* so many times what is in the classes below */

static void
note_delay (FmxBottleneckRate *rate, FmxDuration delay)
{
  if (!rate->knows_least)
    rate->least[0] = rate->least[1] = delay;
  else if (delay < rate->least[0])
    rate->least[0] = delay;
  rate->knows_least = true;
}

/* Nearly sorted: those of each stream are in order.  Much earlier than the last:
 * the receiver's clock was set. */
void
fmx_bottleneck_rate_add (FmxBottleneckRate *rate, FmxTime sent, FmxTime time,
    uint32_t bytes)
{
  unsigned i;

  if (rate->n == FMX_BOTTLENECK_RATE_ARRIVALS)
    return;
  if (rate->n > 0 && fmx_time_diff (rate->arrivals[rate->n - 1].time, time)
      > CLOCK_SET) {
    rate->n = rate->n_before = 0;
    rate->knows_least = false;
  }
  note_delay (rate, fmx_time_diff (time, sent));
  for (i = rate->n; i > 0 && rate->arrivals[i - 1].time > time; i--)
    rate->arrivals[i] = rate->arrivals[i - 1];
  rate->arrivals[i].time = time;
  rate->arrivals[i].sent = sent;
  rate->arrivals[i].bytes = bytes;
  rate->n++;
}

static void
count (FmxTrains *trains, double bps)
{
  double class = PER_OCTAVE * log2 (bps / LEAST_BPS);

  if (class >= 0.0 && class < FMX_BOTTLENECK_RATE_CLASSES)
    trains->now[(unsigned) class]++;
}

static void
turn (FmxTrains *trains, FmxDuration window, FmxTime now)
{
  if (fmx_time_diff (now, trains->start) <= window)
    return;
  memcpy (trains->before, trains->now, sizeof trains->now);
  memset (trains->now, 0, sizeof trains->now);
  trains->start = now;
}

static void
turn_least (FmxBottleneckRate *rate, FmxTime now)
{
  if (fmx_time_diff (now, rate->least_start) <= FMX_BOTTLENECK_RATE_EMPTY)
    return;
  rate->least[1] = rate->least[0];
  rate->least[0] = INT64_MAX;
  rate->least_start = now;
}

/* A packet that had not to wait went first; a token bucket lets several go so. */
static bool
is_queued (const FmxBottleneckRate *rate, unsigned i)
{
  FmxDuration least = rate->least[0] < rate->least[1] ? rate->least[0]
      : rate->least[1];

  return fmx_time_diff (rate->arrivals[i].time, rate->arrivals[i].sent) - least
      >= QUEUED;
}

/* Packets that stand one behind the other come as far apart as they are long; where others
 * stand in between, the more so the longer after each other they left.
 * Returns: whether the first fits better, of @n packets from @i on that came in @took_s and
 * left in @left_s */
static bool
came_in_a_row (const FmxBottleneckRate *rate, unsigned i, unsigned n,
    double took_s, double left_s)
{
  double off_row_s = 0.0, off_left_s = 0.0, bytes = 0.0;

  for (unsigned k = 1; k < n; k++)
    bytes += rate->arrivals[i + k].bytes;
  for (unsigned k = i + 1; k < i + n; k++) {
    double gap_s = fmx_time_to_s (fmx_time_diff (rate->arrivals[k].time,
            rate->arrivals[k - 1].time));
    double left_gap_s = fmx_time_to_s (fmx_time_diff (rate->arrivals[k].sent,
            rate->arrivals[k - 1].sent));

    off_row_s += fabs (gap_s - took_s * rate->arrivals[k].bytes / bytes);
    off_left_s += fabs (gap_s - left_gap_s * took_s / left_s);
  }
  return left_s <= 0.0 || off_row_s <= off_left_s + SAME_S * n;
}

/* Returns: of the train that begins with packet @i, 0 if there is none;
 * @squeezed: whether its packets came in another time than they left; @row: and stood
 * one behind the other */
static double
train_bps (const FmxBottleneckRate *rate, unsigned i, bool *squeezed,
    bool *row)
{
  uint32_t bytes = 0;
  FmxDuration took = 0;

  for (unsigned k = 1; i + k < rate->n; k++) {
    bytes += rate->arrivals[i + k].bytes;
    took = fmx_time_diff (rate->arrivals[i + k].time, rate->arrivals[i].time);
    if (k + 1 >= FMX_BOTTLENECK_RATE_PACKETS
        && took >= FMX_BOTTLENECK_RATE_LEAST) {
      double took_s = fmx_time_to_s (took);
      double left_s = fmx_time_to_s (fmx_time_diff (rate->arrivals[i + k].sent,
              rate->arrivals[i].sent));

      *squeezed = fabs (left_s - took_s) > AS_SENT * left_s;
      *row = *squeezed && came_in_a_row (rate, i, k + 1, took_s, left_s);
      return fmx_rate_bps (bytes, took);
    }
  }
  return 0.0;
}

/* Returns: of the packets from @i on; 0 if they are too few or too soon one after the other */
static double
row_from_bps (const FmxBottleneckRate *rate, unsigned i)
{
  uint32_t bytes = 0;

  for (unsigned k = i + 1; k < rate->n; k++) {
    FmxDuration took = fmx_time_diff (rate->arrivals[k].time,
        rate->arrivals[i].time);

    bytes += rate->arrivals[k].bytes;
    if (k - i >= ROW_GAPS && took >= FMX_BOTTLENECK_RATE_LEAST)
      return fmx_rate_bps (bytes, took);
  }
  return 0.0;
}

/* Of all that this feedback tells of */
static double
row_bps (const FmxBottleneckRate *rate)
{
  double most_bps = 0.0;

  for (unsigned i = rate->n_before; i < rate->n; i++)
    if (is_queued (rate, i))
      most_bps = fmax (most_bps, row_from_bps (rate, i));
  return most_bps > 0.0 ? most_bps : HUGE_VAL;
}

/* Returns: whether the packets from @i on came at @bps, none much faster */
static bool
came_evenly (const FmxBottleneckRate *rate, unsigned i, double bps)
{
  for (; i < rate->n; i++)
    if (!is_queued (rate, i) || row_from_bps (rate, i) > TAIL_EVEN * bps)
      return false;
  return true;
}

static void
note_tail (FmxBottleneckRate *rate)
{
  unsigned last = rate->n - 1, i = last;
  FmxDuration took = 0, left;
  uint32_t bytes = 0;

  rate->tail_bps = rate->tail_left_bps = 0.0;
  while (rate->n > 0 && i > rate->n_before
      && (took < TAIL || last - i < TAIL_GAPS)) {
    bytes += rate->arrivals[i--].bytes;
    took = fmx_time_diff (rate->arrivals[last].time, rate->arrivals[i].time);
  }
  if (took < TAIL || last - i < TAIL_GAPS
      || !came_evenly (rate, i, fmx_rate_bps (bytes, took)))
    return;
  left = fmx_time_diff (rate->arrivals[last].sent, rate->arrivals[i].sent);
  rate->tail_bps = fmx_rate_bps (bytes, took);
  rate->tail_left_bps = left > 0 ? fmx_rate_bps (bytes, left) : HUGE_VAL;
}

void
fmx_bottleneck_rate_end (FmxBottleneckRate *rate, FmxTime now)
{
  unsigned left = FMX_BOTTLENECK_RATE_PACKETS - 1;

  rate->row_bps = row_bps (rate);
  note_tail (rate);
  turn (&rate->all, FMX_BOTTLENECK_RATE_WINDOW, now);
  turn (&rate->rows, FMX_BOTTLENECK_RATE_WINDOW, now);
  turn (&rate->late, FMX_BOTTLENECK_RATE_LATELY, now);
  turn_least (rate, now);
  for (unsigned i = 0; i + FMX_BOTTLENECK_RATE_PACKETS <= rate->n; i++) {
    bool squeezed = false, row = false;
    double bps = train_bps (rate, i, &squeezed, &row);

    squeezed = squeezed && is_queued (rate, i);
    if (bps > 0.0 && squeezed)
      count (&rate->all, bps);
    if (bps > 0.0 && squeezed && row)
      count (&rate->rows, bps);
    if (bps > 0.0)
      count (&rate->late, bps);
  }
  if (left > rate->n)
    left = rate->n;
  memmove (rate->arrivals, rate->arrivals + rate->n - left,
      left * sizeof rate->arrivals[0]);
  rate->n = rate->n_before = left;
}

static void
forget (FmxTrains *trains)
{
  memset (trains->now, 0, sizeof trains->now);
  memset (trains->before, 0, sizeof trains->before);
}

void
fmx_bottleneck_rate_forget (FmxBottleneckRate *rate)
{
  forget (&rate->all);
  forget (&rate->rows);
}

/* Returns: how many there are in @n classes from @class on down */
static uint32_t
number (const FmxTrains *trains, unsigned class, unsigned n)
{
  uint32_t sum = 0;

  for (unsigned i = 0; i < n && i <= class; i++)
    sum += trains->now[class - i] + trains->before[class - i];
  return sum;
}

/* The fastest ones, if they are of one speed and next to none is a little slower:
 * a packet of a TCP in between makes a train of small ones slower by half or more. */
static double
fastest_bps (const FmxTrains *rows, const FmxTrains *all)
{
  unsigned i = FMX_BOTTLENECK_RATE_CLASSES - 1, top = 0, n;

  for (; i > NEAR + APART && number (rows, i, NEAR) < TRAINS_LEAST; i--);
  for (; top < TOP && number (rows, i - 1, 1) > number (rows, i, 1); top++)
    i--;
  n = number (rows, i + top, NEAR + top);
  if (i <= NEAR + APART || n < TRAINS_TIMES * number (all, i - NEAR, APART)
      || n < FITTING * number (all, i + top, NEAR + top))
    return 0.0;
  return LEAST_BPS * exp2 ((i + 0.5) / PER_OCTAVE);
}

double
fmx_bottleneck_rate_bps (const FmxBottleneckRate *rate)
{
  double bps = fastest_bps (&rate->rows, &rate->all);

  return bps <= FMX_BOTTLENECK_RATE_MOST_BPS ? bps : 0.0;
}

double
fmx_bottleneck_rate_late_bps (const FmxBottleneckRate *rate)
{
  unsigned i = FMX_BOTTLENECK_RATE_CLASSES - 1;

  for (; i > 0 && number (&rate->late, i, 1) == 0; i--);
  return LEAST_BPS * exp2 ((i + 0.5) / PER_OCTAVE);
}
