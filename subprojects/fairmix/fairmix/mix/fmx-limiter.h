/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_LIMITER_H
#define FMX_LIMITER_H

#include <stddef.h>
#include <stdint.h>

#include "fairmix/mix/fmx-mix-kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_LIMITER_MIN_LOOK_AHEAD, FMX_LIMITER_MAX_LOOK_AHEAD: the shortest and the
 * longest look-ahead, in frames. */
#define FMX_LIMITER_MIN_LOOK_AHEAD 2u
#define FMX_LIMITER_MAX_LOOK_AHEAD 240u
#define FMX_LIMITER_MAX_CHANNELS 2u

/**
 * FmxLimiterParams:
 * @rate_hz: sample rate, 8000 ... 48000
 * @channels: 1 or 2; both channels get the same gain
 * @look_ahead_frames: %FMX_LIMITER_MIN_LOOK_AHEAD ...
 *     %FMX_LIMITER_MAX_LOOK_AHEAD; 2.5 ms is usual
 * @ceiling: highest output magnitude, 1 ... 32767
 * @release_ms: time in which the gain recovers by 1 - 1/e from a single peak;
 *     where peak follows peak it recovers less (docs/algorithms/mix.md)
 */
typedef struct
{
  uint32_t rate_hz;
  uint32_t channels;
  uint32_t look_ahead_frames;
  int32_t ceiling;
  float release_ms;
} FmxLimiterParams;

/** FMX_LIMITER_MAX_BLOCKS: the gain is decided once a block of frames; the
 * look-ahead spans at most so many. */
#define FMX_LIMITER_MAX_BLOCKS 8u

/**
 * FmxLimiter:
 *
 * Lives wherever the caller wants it; may be copied.
 */
typedef struct
{
  /*< private >*/
  FmxLimiterParams params;
  const FmxMixKernels *kernels;
  uint32_t block_frames;        /* b */
  uint32_t n_attack;            /* K: blocks in which the gain goes down */
  uint32_t n_window;            /* W + 1: blocks of which the lowest counts */
  uint32_t release_q30;         /* what the gain recovers in a block ... */
  uint32_t crowd_fall_q30;      /* ... and how far it follows a crowd */
  uint32_t crowd_rise_q30;
  double mean_scale;            /* from the sum of K held gains to their mean */
  uint32_t phase;               /* frames of the block under way */
  uint32_t peak;                /* its magnitude so far */
  uint32_t n_idle;              /* blocks in a row that ended with gain 1 */
  uint32_t position;            /* of the next block in the rings */
  uint32_t window_min_q30;      /* the lowest of required_q30 */
  uint32_t held_q30;            /* the newest held gain */
  uint32_t crowd_q30;           /* what it recovers to */
  uint64_t held_sum_q30;        /* of the newest K held gains */
  uint32_t required_q30[FMX_LIMITER_MAX_BLOCKS];
  uint32_t held_ring_q30[FMX_LIMITER_MAX_BLOCKS];
  FmxMixRamp ramp;              /* for the frames that go out next */
  int32_t delay[FMX_LIMITER_MAX_LOOK_AHEAD * FMX_LIMITER_MAX_CHANNELS];
} FmxLimiter;

/** fmx_limiter_params_default: 2.5 ms, ceiling 32767, release 80 ms */
void fmx_limiter_params_default (FmxLimiterParams * params, uint32_t rate_hz,
    uint32_t channels);
void fmx_limiter_init (FmxLimiter * limiter, const FmxLimiterParams * params);

/** fmx_limiter_reset: forgets the samples under way; the gain returns to 1 */
void fmx_limiter_reset (FmxLimiter * limiter);

/**
 * fmx_limiter_process:
 * @out: n_frames * channels samples, delayed by look_ahead_frames
 * @in: n_frames * channels samples of any size; not where @out is
 * @n_frames: any number
 *
 * A look-ahead peak limiter.  No output sample is beyond the ceiling.  While
 * nothing under way is, the signal passes unchanged, to the bit; the cost is
 * that of looking at it then.  The gain moves in straight lines, by 1
 * in no less than half the look-ahead; docs/algorithms/mix.md derives it.
 */
void fmx_limiter_process (FmxLimiter * limiter, int16_t * out,
    const int32_t * in, size_t n_frames);

#ifdef __cplusplus
}
#endif

#endif /* FMX_LIMITER_H */
