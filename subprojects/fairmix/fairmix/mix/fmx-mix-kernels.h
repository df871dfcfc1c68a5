/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_MIX_KERNELS_H
#define FMX_MIX_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxMixRamp:
 * @gain: linear gain of frame 0
 * @gain_step: what each frame adds to it
 * @first_frame: the number of the first frame
 * @channels: samples of a frame, 1 or 2: all get the same gain
 * @ceiling: highest magnitude of what comes out, 1 ... 32767
 *
 * A gain that moves in a straight line: frame i gets @gain + i * @gain_step,
 * in single precision; the product is rounded to the nearest integer.  It does
 * not matter in how many pieces the frames are given.
 */
typedef struct
{
  float gain;
  float gain_step;
  uint32_t first_frame;
  uint32_t channels;
  int32_t ceiling;
} FmxMixRamp;

/**
 * FmxMixKernels:
 * @name: "c", "sse2", "avx2", "neon"
 * @sum: total[i] = sum of in[0..n_in-1][i]; overwrites; n_in may be 0
 * @add: total[i] += in[i]
 * @subtract: total[i] -= in[i]
 * @energy: sum of in[i]^2
 * @peak: the largest magnitude of in[i], 0 if there is none
 * @narrow: out[i] = in[i], saturated to 16 bits
 * @scale: out[i] = in[i] * gain, as #FmxMixRamp says
 * @add_ramp: total[i] += in[i] * gain, as #FmxMixRamp says, but not cut at the
 *     ceiling
 * @add_panned: stereo[2 i] += in[i] * left gain, stereo[2 i + 1] += in[i] *
 *     right gain, as @add_ramp does
 *
 * The inner loops of the mixer over 16-bit samples and exact 32-bit totals
 * (65,536 full-scale streams fit).  No alignment is asked for.  All variants
 * give the same integers as the reference.
 */
typedef struct
{
  const char *name;
  void (*sum) (int32_t * total, const int16_t * const *in, size_t n_in,
      size_t n_samples);
  void (*add) (int32_t * total, const int16_t * in, size_t n_samples);
  void (*subtract) (int32_t * total, const int16_t * in, size_t n_samples);
  uint64_t (*energy) (const int16_t * in, size_t n_samples);
  uint32_t (*peak) (const int32_t * in, size_t n_samples);
  void (*narrow) (int16_t * out, const int32_t * in, size_t n_samples);
  void (*scale) (int16_t * out, const int32_t * in, size_t n_samples,
      const FmxMixRamp * ramp);
  void (*add_ramp) (int32_t * total, const int16_t * in, size_t n_samples,
      const FmxMixRamp * ramp);
  void (*add_panned) (int32_t * stereo, const int16_t * in, size_t n_frames,
      const FmxMixRamp * left, const FmxMixRamp * right);
} FmxMixKernels;

/** fmx_mix_kernels_available: NULL-terminated table of those that this CPU can
 * run, the fastest first, the reference last */
const FmxMixKernels *const *fmx_mix_kernels_available (void);

/** fmx_mix_kernels_best: the first of fmx_mix_kernels_available() */
const FmxMixKernels *fmx_mix_kernels_best (void);

/**
 * fmx_mix_add_ramp:
 * @gain_from: linear gain of the first sample
 * @gain_to: linear gain that the sample after the last would have
 *
 * total[i] += in[i] * gain, the gain moving in a straight line: a stream enters
 * or leaves a mix, or changes its gain, without a click.  Both gains in [0, 8].
 */
void fmx_mix_add_ramp (int32_t * total, const int16_t * in, size_t n_samples,
    float gain_from, float gain_to);

/**
 * fmx_mix_add_panned:
 * @stereo: 2 * n_frames interleaved
 * @left_from: linear gains at the first frame ...
 * @left_to: ... and after the last
 */
void fmx_mix_add_panned (int32_t * stereo, const int16_t * in, size_t n_frames,
    float left_from, float left_to, float right_from, float right_to);

/**
 * fmx_mix_pan_gains:
 * @pan: -1 left ... 0 centre ... 1 right
 *
 * Constant-power pan law: left = cos, right = sin of (pan + 1) * pi / 4,
 * scaled so that the centre is 1 / sqrt (2) each.
 */
void fmx_mix_pan_gains (float pan, float *left, float *right);

/**
 * fmx_mix_gain_split:
 * @gain: (inout): a linear gain in [0, 8]; becomes <= 1
 *
 * A voice that is raised does not fit into 16 bits, but it does into a sum: it is
 * scaled by @gain and added several times.
 *
 * Returns: how often, 1, 2, 4 or 8; that times @gain is the gain that was given
 */
uint32_t fmx_mix_gain_split (float *gain);

/** fmx_mix_scale: samples[i] *= gain, saturating; gain in [0, 8] */
void fmx_mix_scale (int16_t * samples, size_t n_samples, float gain);

#ifdef __cplusplus
}
#endif

#endif /* FMX_MIX_KERNELS_H */
