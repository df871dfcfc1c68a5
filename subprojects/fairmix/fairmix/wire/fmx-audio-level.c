/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/wire/fmx-audio-level.h"

#define VOICE_BIT 0x80u
#define LEVEL_MASK 0x7fu
#define LEVEL_SILENCE 127u

static uint8_t
clamp_level (uint8_t level)
{
  return level <= LEVEL_SILENCE ? level : (uint8_t) LEVEL_SILENCE;
}

bool
fmx_audio_level_parse (const uint8_t *data, size_t size, uint8_t *level,
    bool *voice)
{
  /* [RFC6464 3] the element's data is one byte in both header forms */
  if (size != 1)
    return false;
  *voice = (data[0] & VOICE_BIT) != 0;
  *level = data[0] & LEVEL_MASK;
  return true;
}

size_t
fmx_audio_level_write (uint8_t *data, size_t size, uint8_t level, bool voice)
{
  if (size < 1)
    return 0;
  data[0] = (uint8_t) (clamp_level (level) | (voice ? VOICE_BIT : 0u));
  return 1;
}

size_t
fmx_csrc_audio_levels_write (uint8_t *data, size_t size,
    const uint8_t *levels, size_t n)
{
  if (n < 1 || n > FMX_CSRC_MAX || n > size)
    return 0;
  /* [RFC6465 3] the highest bit of each is reserved: zero */
  for (size_t i = 0; i < n; i++)
    data[i] = clamp_level (levels[i]);
  return n;
}

size_t
fmx_csrc_audio_levels_parse (const uint8_t *data, size_t size,
    uint8_t *levels, size_t max)
{
  if (size < 1 || size > FMX_CSRC_MAX || size > max)
    return 0;
  /* [RFC6465 3] ... and to be ignored */
  for (size_t i = 0; i < size; i++)
    levels[i] = data[i] & LEVEL_MASK;
  return size;
}
