/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The limiter on any totals, in any pieces: nothing is beyond the ceiling, and
 * what never was passes unchanged. */
#include <stdbool.h>

#include "fairmix/mix/fmx-limiter.h"
#include "fuzz.h"

#define MAX_FRAMES 1024u

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  static int32_t in[2 * MAX_FRAMES];
  static int16_t out[2 * MAX_FRAMES];
  Fuzz fuzz = { data, size, 0 };
  FmxLimiterParams params;
  FmxLimiter limiter;
  size_t n = 0, n_frames, delay;
  bool quiet = true;

  fmx_limiter_params_default (&params, 48000, 1 + fuzz_u8 (&fuzz) % 2);
  params.look_ahead_frames = FMX_LIMITER_MIN_LOOK_AHEAD + fuzz_u8 (&fuzz)
      % (FMX_LIMITER_MAX_LOOK_AHEAD - FMX_LIMITER_MIN_LOOK_AHEAD + 1);
  params.ceiling = 1 + (int32_t) (fuzz_u16 (&fuzz) % INT16_MAX);
  params.release_ms = 0.1f + (float) fuzz_u8 (&fuzz);
  fmx_limiter_init (&limiter, &params);

  /* Runs of one value, of any size and length. */
  while (fuzz_more (&fuzz) && n < params.channels * MAX_FRAMES) {
    uint32_t op = fuzz_u8 (&fuzz);
    int32_t value = (int32_t) (fuzz_u16 (&fuzz) << 16) >> op % 32;
    size_t run = 1 + (op >> 5) * 16;

    quiet = quiet && value <= params.ceiling && value >= -params.ceiling;
    for (; run > 0 && n < params.channels * MAX_FRAMES; run--)
      in[n++] = value;
  }
  n_frames = n / params.channels;
  n = n_frames * params.channels;
  fuzz.offset = 0;
  for (size_t done = 0; done < n_frames;) {
    size_t piece = 1 + fuzz_u8 (&fuzz);

    piece = piece < n_frames - done ? piece : n_frames - done;
    fmx_limiter_process (&limiter, out + done * params.channels,
        in + done * params.channels, piece);
    done += piece;
  }
  delay = params.look_ahead_frames * params.channels;
  for (size_t i = 0; i < n; i++) {
    CHECK (out[i] <= params.ceiling && out[i] >= -params.ceiling);
    if (quiet)
      CHECK (out[i] == (i < delay ? 0 : in[i - delay]));
  }
  return 0;
}
