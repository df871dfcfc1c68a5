/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/base/fmx-serial.h"

static uint64_t
remember (FmxSerial *serial, int64_t ahead)
{
  uint64_t extended = serial->last + (uint64_t) ahead;

  if (ahead > 0)
    serial->last = extended;
  return extended;
}

uint64_t
fmx_serial_extend16 (FmxSerial *serial, uint16_t n)
{
  if (!serial->valid) {
    serial->valid = true;
    serial->last = (UINT64_C (1) << 16) + n;
  }
  return remember (serial, fmx_serial_diff16 (n, (uint16_t) serial->last));
}

uint64_t
fmx_serial_extend32 (FmxSerial *serial, uint32_t n)
{
  if (!serial->valid) {
    serial->valid = true;
    serial->last = (UINT64_C (1) << 32) + n;
  }
  return remember (serial, fmx_serial_diff32 (n, (uint32_t) serial->last));
}
