/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Transport-wide feedback from the network: any bytes are refused or read within
 * their bounds, to the number of statuses that the packet promises. */
#include "fairmix/wire/fmx-twcc.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  FmxTwccReader reader;
  FmxTwccStatus status;
  uint32_t media, n = 0;
  uint16_t first = 0;

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
