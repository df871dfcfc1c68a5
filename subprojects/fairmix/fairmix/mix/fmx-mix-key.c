/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/mix/fmx-mix-key.h"

#include <string.h>

/* the finalizer of splitmix64: a bijection, so different inputs stay different */
static uint64_t
scramble (uint64_t x)
{
  x = (x ^ (x >> 30)) * UINT64_C (0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C (0x94d049bb133111eb);
  return x ^ (x >> 31);
}

FmxMixKey
fmx_mix_key_of_ramped (FmxMixKey stream, const FmxMixEnvelope *envelope,
    int64_t pos)
{
  uint64_t from = (uint64_t) envelope->from - (uint64_t) pos;
  uint64_t until = (uint64_t) envelope->until - (uint64_t) pos;
  FmxMixKey faded = stream ^ scramble (from * 31 + 1);

  return scramble (faded + scramble (until));
}

FmxMixKey
fmx_mix_key_of_gain (FmxMixKey stream, float gain)
{
  uint32_t bits;

  if (gain == 1.0f)
    return stream;
  memcpy (&bits, &gain, sizeof bits);
  return scramble (stream ^ scramble (UINT64_C (0x9a14) << 32 | bits));
}

FmxMixKey
fmx_mix_key_of_encoding (FmxMixKey key, uint32_t bitrate_bps, uint32_t encoding)
{
  /* a bitrate is below 2^32 and an encoding gets what lies above */
  return scramble (key ^ scramble ((uint64_t) encoding << 32 | bitrate_bps));
}

void
fmx_mix_history_add (FmxMixHistory *history, FmxMixKey key)
{
  memmove (history->keys + 1, history->keys,
      (FMX_MIX_HISTORY_FRAMES - 1) * sizeof history->keys[0]);
  history->keys[0] = key;
}

bool
fmx_mix_history_same (const FmxMixHistory *a, bool a_added,
    const FmxMixHistory *b)
{
  return memcmp (a->keys + (a_added ? 1 : 0), b->keys + 1,
      (FMX_MIX_HISTORY_FRAMES - 1) * sizeof b->keys[0]) == 0;
}

bool
fmx_mix_history_forked (const FmxMixHistory *a, const FmxMixHistory *b)
{
  return a->keys[1] == b->keys[1];
}
