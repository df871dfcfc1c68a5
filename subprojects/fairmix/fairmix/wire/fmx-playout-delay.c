/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/wire/fmx-playout-delay.h"

#include <assert.h>

bool
fmx_playout_delay_parse (const uint8_t *data, size_t size,
    FmxDuration *least, FmxDuration *most)
{
  FmxDuration low, high;

  if (size != FMX_PLAYOUT_DELAY_BYTES)
    return false;
  low = data[0] << 4 | data[1] >> 4;
  high = (data[1] & 0x0f) << 8 | data[2];
  if (high < low)
    return false;
  *least = low * FMX_PLAYOUT_DELAY_STEP;
  *most = high * FMX_PLAYOUT_DELAY_STEP;
  return true;
}

static unsigned
steps (FmxDuration delay)
{
  if (delay >= FMX_PLAYOUT_DELAY_MOST)
    delay = FMX_PLAYOUT_DELAY_MOST;
  return (unsigned) ((delay + FMX_PLAYOUT_DELAY_STEP - 1)
      / FMX_PLAYOUT_DELAY_STEP);
}

size_t
fmx_playout_delay_write (uint8_t *data, size_t size, FmxDuration least,
    FmxDuration most)
{
  unsigned low = steps (least), high = steps (most);

  assert (least >= 0 && most >= least);
  if (size < FMX_PLAYOUT_DELAY_BYTES)
    return 0;
  data[0] = (uint8_t) (low >> 4);
  data[1] = (uint8_t) ((low & 0x0f) << 4 | high >> 8);
  data[2] = (uint8_t) high;
  return FMX_PLAYOUT_DELAY_BYTES;
}
