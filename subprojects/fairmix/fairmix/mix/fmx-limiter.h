/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_LIMITER_H
#define FMX_LIMITER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_LIMITER_MAX_LOOK_AHEAD: the longest look-ahead, in frames. */
#define FMX_LIMITER_MAX_LOOK_AHEAD 240u
#define FMX_LIMITER_MAX_CHANNELS 2u

/**
 * FmxLimiterParams:
 * @rate_hz: sample rate, 8000 ... 48000
 * @channels: 1 or 2; both channels get the same gain
 * @look_ahead_frames: 1 ... %FMX_LIMITER_MAX_LOOK_AHEAD; 2.5 ms is usual
 * @ceiling: highest output magnitude, 1 ... 32767
 * @release_ms: time in which the gain recovers by 1 - 1/e
 */
typedef struct
{
  uint32_t rate_hz;
  uint32_t channels;
  uint32_t look_ahead_frames;
  int32_t ceiling;
  float release_ms;
} FmxLimiterParams;

typedef struct _FmxLimiter FmxLimiter;  /* below, caller-allocated, copyable */

/** fmx_limiter_params_default: 2.5 ms, ceiling 32767, release 80 ms */
void fmx_limiter_params_default (FmxLimiterParams * params, uint32_t rate_hz,
    uint32_t channels);
void fmx_limiter_init (FmxLimiter * limiter, const FmxLimiterParams * params);

/** fmx_limiter_reset: forgets the samples under way; the gain returns to 1 */
void fmx_limiter_reset (FmxLimiter * limiter);

/**
 * fmx_limiter_process:
 * @out: n_frames * channels samples, delayed by look_ahead_frames
 * @in: n_frames * channels samples of any size
 * @n_frames: any number
 *
 * A look-ahead peak limiter: no output sample is beyond the ceiling, and below
 * the ceiling the signal passes unchanged, to the bit.
 */
void fmx_limiter_process (FmxLimiter * limiter, int16_t * out,
    const int32_t * in, size_t n_frames);

#ifdef __cplusplus
}
#endif

#endif /* FMX_LIMITER_H */
