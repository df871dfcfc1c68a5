/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/asmp/fmx-asmp-others.h"

#include <math.h>
#include <string.h>

#define LEAST_BPS 8000.0        /* of the first class */
#define PER_OCTAVE 8.0          /* classes */
#define GAPS_LEAST 48u          /* that tell anything */
#define LOOK_EACH 16u           /* gaps */
#define FASTEST 0.02            /* of all gaps, at least */
#define SLOWER_FIRST 3u         /* classes below: from 0.77 of it ... */
#define SLOWER_END 6u           /* ... to 0.59 there are hardly any: */
#define TIMES 2u                /* half as many */
#define MEAN_S 8.0              /* a TCP's saw-tooth or two */
/* of the time: a TCP leaves no link idle for long */
#define BUSY_LEAST 0.7
#define BUSY 0.9
/* N: one TCP has 0.6 to 1.4 of what the equation says, two 1.7 to 2.4, and 1.2 to 1.5 while
 * the loss events of before the second came still count; asmp-smooth, asmp-dynamics */
#define MORE_THAN_ONE 1.5
#define ONE 1.1
#define HALF_OF_ONE 0.5
#define TWO_FROM 1.75
#define TWO_TO 2.25
#define MORE_THAN_TWO 2.5
#define FEW_MOST 3.5
#define SAME 0.06               /* of the known rate of the link */
#define ROW 8u                  /* gaps */
#define CHANGED 0.02            /* of their time: the queue, if it is ours */
#define DRAIN 0.90              /* of C, while the link is full */
#define TRY 1.05                /* of C, when it is not any more */
#define WIDER 1.02              /* of C comes: the link carries more */
#define LOST_MOST 0.1           /* that is sent on top of what is to arrive */

void
fmx_asmp_others_init (FmxAsmpOthers *others)
{
  memset (others, 0, sizeof *others);
}

static void
turn (FmxAsmpOthers *others, FmxTime now)
{
  if (fmx_time_diff (now, others->window_start) <= FMX_ASMP_OTHERS_WINDOW)
    return;
  others->before = others->now;
  memset (&others->now, 0, sizeof others->now);
  others->window_start = now;
}

/* Returns: how many there are in @n classes from @class on down; @sum_bps: of them */
static uint32_t
number (const FmxAsmpOthers *others, unsigned class, unsigned n,
    double *sum_bps)
{
  uint32_t sum = 0;

  *sum_bps = 0.0;
  for (unsigned i = class; i + n > class && i < FMX_ASMP_OTHERS_CLASSES; i--) {
    sum += others->now.n[i] + others->before.n[i];
    *sum_bps += others->now.sum_bps[i] + others->before.sum_bps[i];
  }
  return sum;
}

/* Fastest gaps that tell what is known tell it still, whatever comes in between. */
static bool
is_known (const FmxAsmpOthers *others, double bps)
{
  return fabs (bps - others->link_bps) < SAME * others->link_bps;
}

/* The fastest ones, if next to none is a little slower: a TCP's packet in between makes a
 * gap longer by half or more. */
static double
fastest_bps (const FmxAsmpOthers *others)
{
  unsigned i = FMX_ASMP_OTHERS_CLASSES - 1;
  double sum_bps, unused;
  uint32_t all = number (others, i, FMX_ASMP_OTHERS_CLASSES, &unused), n;

  while (i > SLOWER_END && (number (others, i, 1, &unused) == 0
          || number (others, i, 2, &unused) < FASTEST * all))
    i--;
  n = number (others, i, 2, &sum_bps);
  if (all < GAPS_LEAST || i <= SLOWER_END)
    return 0.0;
  if (!is_known (others, sum_bps / n)
      && n < TIMES * number (others, i - SLOWER_FIRST,
          SLOWER_END - SLOWER_FIRST, &unused))
    return 0.0;
  return sum_bps / n;
}

static void
look (FmxAsmpOthers *others)
{
  double bps = fastest_bps (others);

  if (!is_known (others, bps))
    others->full = 0;           /* that was of another rate */
  others->link_bps = bps;
}

static void
count (FmxAsmpOthers *others, double bps)
{
  double class = PER_OCTAVE * log2 (bps / LEAST_BPS);

  if (class < 0.0 || class >= FMX_ASMP_OTHERS_CLASSES)
    return;
  others->now.n[(unsigned) class]++;
  others->now.sum_bps[(unsigned) class] += bps;
  if (++others->n_gaps % LOOK_EACH == 0)
    look (others);
}

/* Ours alone fill the link for a row of gaps, while their queue grows or drains. */
static void
note_row (FmxAsmpOthers *others, double bits, double waited_s, FmxTime now)
{
  double row_s = fmx_time_to_s (fmx_time_diff (now, others->row_start));

  others->row_bits += bits;
  if (++others->n_row < ROW)
    return;
  if (is_known (others, others->row_bits / row_s)
      && fabs (waited_s - others->row_waited_s) > CHANGED * row_s)
    others->full = now;
  others->n_row = 0;
}

static void
start_row (FmxAsmpOthers *others, double waited_s, FmxTime now)
{
  others->n_row = 0;
  others->row_start = now;
  others->row_waited_s = waited_s;
  others->row_bits = 0.0;
}

void
fmx_asmp_others_on_packet (FmxAsmpOthers *others, uint32_t wire_bytes,
    FmxDuration queue, FmxTime now)
{
  double gap_s = fmx_time_to_s (fmx_time_diff (now, others->last));
  double waited_s = fmx_time_to_s (queue);
  double bits = 8.0 * wire_bytes, stays;
  bool first = others->last == 0;

  others->last = now;
  if (first || gap_s <= 0.0)
    return;
  turn (others, now);
  if (waited_s >= gap_s) {
    count (others, bits / gap_s);
    note_row (others, bits, waited_s, now);
  }
  if (waited_s < gap_s || others->n_row == 0)
    start_row (others, waited_s, now);
  if (others->link_bps <= 0.0)
    return;
  stays = exp (-gap_s / MEAN_S);
  others->busy_s = stays * others->busy_s
      + fmin (gap_s, waited_s + bits / others->link_bps);
  others->time_s = stays * others->time_s + gap_s;
  others->bits = stays * others->bits + bits;
}

void
fmx_asmp_others_on_companion (FmxAsmpOthers *others, uint32_t wire_bytes)
{
  others->bits += 8.0 * wire_bytes;
}

double
fmx_asmp_others_link_bps (const FmxAsmpOthers *others)
{
  return others->link_bps;
}

double
fmx_asmp_others_most_bps (const FmxAsmpOthers *others, double received_bps,
    FmxTime now)
{
  if (others->link_bps <= 0.0 || others->full == 0
      || received_bps > WIDER * others->link_bps)
    return HUGE_VAL;
  return (fmx_time_diff (now, others->full) <= FMX_ASMP_OTHERS_FULL
      ? DRAIN : TRY) * others->link_bps;
}

double
fmx_asmp_others_bps (const FmxAsmpOthers *others)
{
  if (others->link_bps <= 0.0 || others->time_s <= 0.0)
    return 0.0;
  return fmax (others->link_bps * others->busy_s - others->bits, 0.0)
      / others->time_s;
}

/* 0 at @none, 1 at @whole, and beyond */
static double
ramp (double value, double none, double whole)
{
  return fmin (fmax ((value - none) / (whole - none), 0.0), 1.0);
}

/* How sure it is that somebody keeps the link busy */
static double
is_busy (const FmxAsmpOthers *others)
{
  return others->time_s > 0.0
      ? ramp (others->busy_s / others->time_s, BUSY_LEAST, BUSY) : 0.0;
}

double
fmx_asmp_others_are_one (const FmxAsmpOthers *others, double tcp_bps)
{
  double n = fmx_asmp_others_bps (others) / tcp_bps;

  return ramp (n, MORE_THAN_ONE, ONE) * ramp (n, 0.0, HALF_OF_ONE)
      * is_busy (others);
}

static double
are_two (const FmxAsmpOthers *others, double tcp_bps)
{
  double n = fmx_asmp_others_bps (others) / tcp_bps;

  return ramp (n, MORE_THAN_ONE, TWO_FROM) * ramp (n, MORE_THAN_TWO, TWO_TO)
      * is_busy (others);
}

bool
fmx_asmp_others_are_few (const FmxAsmpOthers *others, double tcp_bps)
{
  double n = fmx_asmp_others_bps (others) / tcp_bps;

  return n > HALF_OF_ONE && n < FEW_MOST && is_busy (others) > 0.5;
}

double
fmx_asmp_others_fair_bps (const FmxAsmpOthers *others, double tcp_bps,
    double fraction)
{
  double one = fmx_asmp_others_are_one (others, tcp_bps);
  double sure = one > 0.0 ? one : are_two (others, tcp_bps);
  double share_bps = others->link_bps / (one > 0.0 ? 2.0 : 3.0)
      / (1.0 - fmin (fraction, LOST_MOST));

  return sure > 0.0 ? tcp_bps * pow (share_bps / tcp_bps, sure) : tcp_bps;
}
