/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/wire/fmx-twcc-numbers.h"

#include <string.h>

#include "fairmix/base/fmx-serial.h"

/* The reference time has 24 bits, in steps of 64 ms. */
#define ARRIVAL_PERIOD (64 * FMX_MSECOND * (INT64_C (1) << 24))

/* So that what arrived before the first packet that was told of is not before
 * the beginning of time. */
#define FIRST_THEIR_TIME ((uint64_t) (3600 * FMX_SECOND))

void
fmx_twcc_numbers_init (FmxTwccNumbers *numbers, uint16_t first)
{
  memset (numbers, 0, sizeof *numbers);
  numbers->next = first;
  numbers->their_time = FIRST_THEIR_TIME;
}

uint16_t
fmx_twcc_numbers_give (FmxTwccNumbers *numbers, uint32_t ssrc, uint16_t seq)
{
  uint16_t number = numbers->next++;
  FmxTwccSent *sent = &numbers->sent[number % FMX_TWCC_NUMBERS_SPAN];

  sent->ssrc = ssrc;
  sent->seq = seq;
  if (numbers->n_given < FMX_TWCC_NUMBERS_SPAN)
    numbers->n_given++;
  return number;
}

/* How many numbers were given since @number; negative: it was not given yet */
static int32_t
age (const FmxTwccNumbers *numbers, uint16_t number)
{
  return fmx_serial_diff16 ((uint16_t) (numbers->next - 1), number);
}

/* Follows the receiver's clock across the wraps of the reference time. */
static void
follow (FmxTwccNumbers *numbers, FmxDuration arrival)
{
  FmxDuration step = numbers->has_arrival ? arrival - numbers->arrival : 0;

  if (step > ARRIVAL_PERIOD / 2)
    step -= ARRIVAL_PERIOD;
  else if (step < -ARRIVAL_PERIOD / 2)
    step += ARRIVAL_PERIOD;
  numbers->their_time += (uint64_t) step;
  numbers->arrival = arrival;
  numbers->has_arrival = true;
}

static uint32_t
mid32 (uint64_t time)
{
  uint64_t second = (uint64_t) FMX_SECOND;

  return (uint32_t) ((time / second << 16) + (time % second << 16) / second);
}

bool
fmx_twcc_numbers_read (FmxTwccNumbers *numbers, FmxTwccFeedback *feedback,
    const uint8_t *packet, size_t size, uint32_t *report_mid32)
{
  FmxTwccReader reader;
  FmxTwccStatus status;
  bool any = false;

  if (!fmx_twcc_reader_init (&feedback->reader, packet, size, NULL))
    return false;
  feedback->last_arrival = 0;
  reader = feedback->reader;
  while (fmx_twcc_reader_next (&reader, &status)) {
    if (!status.received)
      continue;
    if (age (numbers, status.seq) < 0)
      return false;
    if (!any || status.arrival > feedback->last_arrival)
      feedback->last_arrival = status.arrival;
    any = true;
  }
  if (any)
    follow (numbers, feedback->last_arrival);
  *report_mid32 = mid32 (numbers->their_time);
  return true;
}

bool
fmx_twcc_numbers_next (const FmxTwccNumbers *numbers,
    FmxTwccFeedback *feedback, FmxCcfbMetric *metric)
{
  FmxTwccStatus status;

  while (fmx_twcc_reader_next (&feedback->reader, &status)) {
    const FmxTwccSent *sent = &numbers->sent[status.seq
        % FMX_TWCC_NUMBERS_SPAN];
    int32_t behind = age (numbers, status.seq);

    if (behind < 0 || (uint32_t) behind >= numbers->n_given)
      continue;
    metric->ssrc = sent->ssrc;
    metric->seq = sent->seq;
    metric->received = status.received;
    metric->ecn = 0;
    metric->arrival_offset =
        status.received ? feedback->last_arrival - status.arrival : 0;
    return true;
  }
  return false;
}
