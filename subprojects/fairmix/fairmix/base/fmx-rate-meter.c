/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/base/fmx-rate-meter.h"

#include <assert.h>
#include <string.h>

#include "fairmix/base/fmx-units.h"

#define N_SLOTS (FMX_RATE_METER_SLOTS + 1)      /* the last one is filling */

void
fmx_rate_meter_init (FmxRateMeter *meter, FmxDuration window)
{
  assert (window >= (FmxDuration) FMX_RATE_METER_SLOTS);

  memset (meter, 0, sizeof *meter);
  meter->slot = window / FMX_RATE_METER_SLOTS;
  meter->first = FMX_TIME_NONE;
}

void
fmx_rate_meter_add (FmxRateMeter *meter, uint32_t wire_bytes, FmxTime now)
{
  uint64_t number = now / (uint64_t) meter->slot;

  if (meter->first == FMX_TIME_NONE) {
    meter->first = now;
    meter->first_bytes = wire_bytes;
    meter->slot_number = number;
  }
  if (number >= meter->slot_number + N_SLOTS) {
    memset (meter->bytes, 0, sizeof meter->bytes);
    meter->slot_number = number;
  }
  while (meter->slot_number < number)
    meter->bytes[++meter->slot_number % N_SLOTS] = 0;
  meter->bytes[number % N_SLOTS] += wire_bytes;
  meter->last = now;
}

/* n packets at a constant interval take n - 1 intervals. */
static double
young_bps (const FmxRateMeter *meter, uint64_t bytes, FmxTime now)
{
  FmxDuration span = fmx_time_diff (meter->last, meter->first);
  FmxDuration silent = fmx_time_diff (now, meter->first) - meter->slot;

  if (bytes > meter->first_bytes)
    bytes -= meter->first_bytes;
  if (span < silent)
    span = silent;
  if (span < meter->slot / 5)
    span = meter->slot / 5;
  return fmx_rate_bps ((double) bytes, span);
}

double
fmx_rate_meter_bps (const FmxRateMeter *meter, FmxTime now)
{
  uint64_t number = now / (uint64_t) meter->slot;
  FmxDuration window = meter->slot * (FmxDuration) FMX_RATE_METER_SLOTS;
  FmxDuration age;
  uint64_t bytes = 0;

  if (meter->first == FMX_TIME_NONE)
    return 0.0;

  /* The slot that is filling counts only while the meter is young: later it
   * would make the rate rise and fall within each slot. */
  age = fmx_time_diff (now, meter->first);
  for (uint64_t i = 0; i < N_SLOTS; i++) {
    uint64_t n = meter->slot_number - i;

    if (n + FMX_RATE_METER_SLOTS < number)
      break;
    if (n < number || age < window)
      bytes += meter->bytes[n % N_SLOTS];
    if (n == 0)
      break;
  }
  if (age < window)
    return young_bps (meter, bytes, now);
  return fmx_rate_bps ((double) bytes, window);
}
