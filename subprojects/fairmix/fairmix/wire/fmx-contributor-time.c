/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/wire/fmx-contributor-time.h"

#include "fairmix/wire/fmx-bytes-private.h"

#define MIXED 0x80u

size_t
fmx_contributor_time_write (uint8_t *data, size_t size,
    const FmxContributorTime *time)
{
  if (size < FMX_CONTRIBUTOR_TIME_BYTES)
    return 0;
  data[0] = time->mixed ? MIXED : 0;
  fmx_write_u32 (data + 1, time->ssrc);
  fmx_write_u32 (data + 5, time->timestamp);
  return FMX_CONTRIBUTOR_TIME_BYTES;
}

bool
fmx_contributor_time_parse (const uint8_t *data, size_t size,
    FmxContributorTime *time)
{
  if (size != FMX_CONTRIBUTOR_TIME_BYTES)
    return false;
  time->mixed = (data[0] & MIXED) != 0;
  time->ssrc = fmx_read_u32 (data + 1);
  time->timestamp = fmx_read_u32 (data + 5);
  return true;
}
