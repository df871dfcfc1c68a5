/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Header extension elements from the network: any bytes are refused or read;
 * what was read can be written and reads the same again. */
#include "fairmix/wire/fmx-audio-level.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  uint8_t levels[FMX_CSRC_MAX], again[FMX_CSRC_MAX], written[FMX_CSRC_MAX];
  uint8_t level = 0, level_again = 0;
  bool voice = false, voice_again = false;
  size_t n;

  if (fmx_audio_level_parse (data, size, &level, &voice)) {
    CHECK (size == 1 && level <= 127);
    CHECK (fmx_audio_level_write (written, 1, level, voice) == 1);
    CHECK (written[0] == data[0]);
    CHECK (fmx_audio_level_parse (written, 1, &level_again, &voice_again));
    CHECK (level == level_again && voice == voice_again);
  }
  n = fmx_csrc_audio_levels_parse (data, size, levels, FMX_CSRC_MAX);
  CHECK (n == 0 || n == size);
  CHECK (n != 0 || size == 0 || size > FMX_CSRC_MAX);
  if (n > 0) {
    CHECK (fmx_csrc_audio_levels_write (written, sizeof written, levels,
            n) == n);
    CHECK (fmx_csrc_audio_levels_parse (written, n, again, n) == n);
    for (size_t i = 0; i < n; i++)
      CHECK (levels[i] == again[i] && levels[i] <= 127);
  }
  return 0;
}
