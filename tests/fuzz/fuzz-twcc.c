/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Transport-wide feedback from the network: any bytes are refused or read within
 * their bounds, to the number of statuses that the packet promises; and a sender
 * hears only of what it sent. */
#include "fairmix/wire/fmx-twcc-numbers.h"
#include "fuzz.h"

#define N_SENT 300u

/* Twice, for it remembers when it heard what. */
static void
read_as_a_sender (const uint8_t * data, size_t size)
{
  static FmxTwccNumbers numbers;
  FmxTwccFeedback feedback;
  FmxCcfbMetric metric;
  uint32_t mid32;

  fmx_twcc_numbers_init (&numbers, 0);
  for (uint32_t i = 0; i < N_SENT; i++)
    (void) fmx_twcc_numbers_give (&numbers, i % 3, (uint16_t) i);
  for (int i = 0; i < 2; i++) {
    if (!fmx_twcc_numbers_read (&numbers, &feedback, data, size, &mid32))
      return;
    while (fmx_twcc_numbers_next (&numbers, &feedback, &metric)) {
      CHECK (metric.seq < N_SENT);
      CHECK (metric.ssrc == metric.seq % 3u);
      CHECK (metric.arrival_offset >= 0);
    }
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  FmxTwccReader reader;
  FmxTwccStatus status;
  uint32_t media, n = 0;
  uint16_t first = 0;

  read_as_a_sender (data, size);
  if (!fmx_twcc_reader_init (&reader, data, size, &media))
    return 0;
  while (fmx_twcc_reader_next (&reader, &status)) {
    if (n == 0)
      first = status.seq;
    CHECK (status.seq == (uint16_t) (first + n));
    /* reference time of 24 bits and at most 65,535 deltas of 16 */
    CHECK (status.arrival > -600 * 3600 * FMX_SECOND
        && status.arrival < 600 * 3600 * FMX_SECOND);
    n++;
  }
  CHECK (n == ((uint32_t) data[14] << 8 | data[15]));
  CHECK (!fmx_twcc_reader_next (&reader, &status));
  return 0;
}
