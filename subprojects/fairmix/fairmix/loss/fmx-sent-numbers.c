/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/loss/fmx-sent-numbers.h"

#include <string.h>

#include "fairmix/base/fmx-restart.h"
#include "fairmix/base/fmx-serial.h"

void
fmx_sent_numbers_init (FmxSentNumbers *numbers)
{
  memset (numbers, 0, sizeof *numbers);
}

static void
remove_gap (FmxSentNumbers *numbers, unsigned i)
{
  numbers->n_gaps--;
  memmove (&numbers->gaps[i], &numbers->gaps[i + 1],
      (numbers->n_gaps - i) * sizeof numbers->gaps[0]);
}

/* In the order of the numbers; the oldest makes room. */
static void
insert_gap (FmxSentNumbers *numbers, unsigned at, FmxSentGap gap)
{
  if (numbers->n_gaps == FMX_SENT_NUMBERS_GAPS) {
    if (at == 0)
      return;
    remove_gap (numbers, 0);
    at--;
  }
  memmove (&numbers->gaps[at + 1], &numbers->gaps[at],
      (numbers->n_gaps - at) * sizeof numbers->gaps[0]);
  numbers->gaps[at] = gap;
  numbers->n_gaps++;
}

static void
begin (FmxSentNumbers *numbers, uint16_t seq, FmxTime now)
{
  numbers->anew = numbers->started;
  numbers->started = true;
  numbers->first = seq;
  numbers->next = (uint16_t) (seq + 1);
  numbers->ext_next = 65536u + (uint64_t) seq + 1;
  numbers->since = now;
  numbers->n_gaps = 0;
}

/* What is too old to be told from the next cycle. */
static void
forget_old (FmxSentNumbers *numbers)
{
  uint16_t oldest = (uint16_t) (numbers->next - FMX_SENT_NUMBERS_SPAN);

  if (fmx_serial_diff16 (numbers->first, oldest) < 0)
    numbers->first = oldest;
  while (numbers->n_gaps > 0) {
    FmxSentGap *gap = &numbers->gaps[0];
    int32_t old = fmx_serial_diff16 (numbers->first, gap->first);

    if (old <= 0)
      return;
    if (old < gap->n) {
      gap->first = numbers->first;
      gap->n = (uint16_t) (gap->n - old);
      return;
    }
    remove_gap (numbers, 0);
  }
}

/* A packet that comes late fills a gap, or splits it. */
static void
fill (FmxSentNumbers *numbers, uint16_t seq)
{
  for (unsigned i = 0; i < numbers->n_gaps; i++) {
    FmxSentGap *gap = &numbers->gaps[i];
    uint16_t before = (uint16_t) (seq - gap->first);
    FmxSentGap behind;

    if (before >= gap->n)
      continue;
    behind.first = (uint16_t) (seq + 1);
    behind.n = (uint16_t) (gap->n - before - 1);
    gap->n = before;
    if (before == 0 && behind.n > 0)
      *gap = behind;
    else if (before == 0)
      remove_gap (numbers, i);
    else if (behind.n > 0)
      insert_gap (numbers, i + 1, behind);
    return;
  }
}

bool
fmx_sent_numbers_add (FmxSentNumbers *numbers, uint16_t seq, FmxTime now)
{
  int32_t ahead = fmx_serial_diff16 (seq, numbers->next);

  if (!numbers->started || ahead > FMX_RESTART_MAX_DROPOUT
      || ahead < -FMX_RESTART_MAX_MISORDER) {
    begin (numbers, seq, now);
    return true;
  }
  if (ahead < 0) {
    fill (numbers, seq);
    return false;
  }
  if (ahead > 0) {
    FmxSentGap gap = { numbers->next, (uint16_t) ahead };

    insert_gap (numbers, numbers->n_gaps, gap);
  }
  numbers->next = (uint16_t) (seq + 1);
  numbers->ext_next += (uint64_t) ahead + 1;
  forget_old (numbers);
  return false;
}

FmxSentNumber
fmx_sent_numbers_check (const FmxSentNumbers *numbers, uint16_t seq,
    FmxTime now)
{
  bool young = fmx_time_diff (now, numbers->since) < FMX_SENT_NUMBERS_GRACE;

  if (!numbers->started)
    return FMX_SENT_NUMBER_UNKNOWN;
  if (fmx_serial_diff16 (seq, numbers->next) >= 0)
    return young ? FMX_SENT_NUMBER_UNKNOWN : FMX_SENT_NUMBER_NEVER;
  if (fmx_serial_diff16 (seq, numbers->first) < 0)
    return FMX_SENT_NUMBER_UNKNOWN;
  if (fmx_sent_numbers_left_out (numbers, seq, 1) == 0)
    return FMX_SENT_NUMBER_SENT;
  return young && numbers->anew ? FMX_SENT_NUMBER_UNKNOWN
      : FMX_SENT_NUMBER_NEVER;
}

uint16_t
fmx_sent_numbers_next (const FmxSentNumbers *numbers)
{
  return numbers->next;
}

uint64_t
fmx_sent_numbers_extend (const FmxSentNumbers *numbers, uint16_t seq)
{
  return numbers->ext_next - (uint16_t) (numbers->next - seq);
}

uint32_t
fmx_sent_numbers_left_out (const FmxSentNumbers *numbers, uint16_t first,
    uint32_t n)
{
  uint32_t left_out = 0;

  for (unsigned i = 0; i < numbers->n_gaps; i++) {
    const FmxSentGap *gap = &numbers->gaps[i];
    int32_t from = fmx_serial_diff16 (gap->first, first);
    int32_t until = from + gap->n;

    if (from < 0)
      from = 0;
    if (until > (int32_t) n)
      until = (int32_t) n;
    if (until > from)
      left_out += (uint32_t) (until - from);
  }
  return left_out;
}
