/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* AArch64 only: there NEON is always there, and rounds to nearest. */
#include <arm_neon.h>

#include "fairmix/mix/fmx-mix-kernels-private.h"

/* Sums @n_vectors (1 or 4) times eight samples of all inputs; the sums stay in
 * registers until they are complete. */
static inline __attribute__((always_inline))
     void sum_block (int32_t *total, const int16_t *const *in, size_t n_in,
    size_t first, const int n_vectors)
{
  int32x4_t low[4], high[4];

  for (int k = 0; k < n_vectors; k++)
    low[k] = high[k] = vdupq_n_s32 (0);
  for (size_t j = 0; j < n_in; j++)
    for (int k = 0; k < n_vectors; k++) {
      int16x8_t x = vld1q_s16 (in[j] + first + 8 * k);

      low[k] = vaddw_s16 (low[k], vget_low_s16 (x));
      high[k] = vaddw_high_s16 (high[k], x);
    }
  for (int k = 0; k < n_vectors; k++) {
    vst1q_s32 (total + first + 8 * k, low[k]);
    vst1q_s32 (total + first + 8 * k + 4, high[k]);
  }
}

static void
sum (int32_t *total, const int16_t *const *in, size_t n_in, size_t n_samples)
{
  size_t i = 0;

  for (; i + 32 <= n_samples; i += 32)
    sum_block (total, in, n_in, i, 4);
  for (; i + 8 <= n_samples; i += 8)
    sum_block (total, in, n_in, i, 1);
  fmx_mix_c_sum_from (total, in, n_in, i, n_samples);
}

static void
add (int32_t *total, const int16_t *in, size_t n_samples)
{
  size_t i = 0;

  for (; i + 8 <= n_samples; i += 8) {
    int16x8_t x = vld1q_s16 (in + i);

    vst1q_s32 (total + i, vaddw_s16 (vld1q_s32 (total + i), vget_low_s16 (x)));
    vst1q_s32 (total + i + 4, vaddw_high_s16 (vld1q_s32 (total + i + 4), x));
  }
  fmx_mix_kernels_c.add (total + i, in + i, n_samples - i);
}

static void
subtract (int32_t *total, const int16_t *in, size_t n_samples)
{
  size_t i = 0;

  for (; i + 8 <= n_samples; i += 8) {
    int16x8_t x = vld1q_s16 (in + i);

    vst1q_s32 (total + i, vsubw_s16 (vld1q_s32 (total + i), vget_low_s16 (x)));
    vst1q_s32 (total + i + 4, vsubw_high_s16 (vld1q_s32 (total + i + 4), x));
  }
  fmx_mix_kernels_c.subtract (total + i, in + i, n_samples - i);
}

static uint64_t
energy (const int16_t *in, size_t n_samples)
{
  uint64x2_t squares = vdupq_n_u64 (0);
  size_t i = 0;

  for (; i + 8 <= n_samples; i += 8) {
    int16x8_t x = vld1q_s16 (in + i);
    int32x4_t low = vmull_s16 (vget_low_s16 (x), vget_low_s16 (x));
    int32x4_t high = vmull_high_s16 (x, x);

    squares = vpadalq_u32 (squares, vreinterpretq_u32_s32 (low));
    squares = vpadalq_u32 (squares, vreinterpretq_u32_s32 (high));
  }
  return vaddvq_u64 (squares)
      + fmx_mix_kernels_c.energy (in + i, n_samples - i);
}

static uint32_t
peak (const int32_t *in, size_t n_samples)
{
  int32x4_t highest = vdupq_n_s32 (0);
  int32x4_t lowest = vdupq_n_s32 (0);
  int32_t ends[2];
  size_t i = 0;
  uint32_t a, b;

  for (; i + 4 <= n_samples; i += 4) {
    int32x4_t x = vld1q_s32 (in + i);

    highest = vmaxq_s32 (highest, x);
    lowest = vminq_s32 (lowest, x);
  }
  ends[0] = vmaxvq_s32 (highest);
  ends[1] = vminvq_s32 (lowest);
  a = fmx_mix_kernels_c.peak (ends, 2);
  b = fmx_mix_kernels_c.peak (in + i, n_samples - i);
  return a > b ? a : b;
}

static void
narrow (int16_t *out, const int32_t *in, size_t n_samples)
{
  size_t i = 0;

  for (; i + 8 <= n_samples; i += 8)
    vst1q_s16 (out + i, vqmovn_high_s32 (vqmovn_s32 (vld1q_s32 (in + i)),
            vld1q_s32 (in + i + 4)));
  fmx_mix_kernels_c.narrow (out + i, in + i, n_samples - i);
}

/* The gains of four samples, @frame their frames' numbers. */
static float32x4_t
gains (const FmxMixRamp *ramp, uint32x4_t frame)
{
  return vaddq_f32 (vdupq_n_f32 (ramp->gain),
      vmulq_f32 (vdupq_n_f32 (ramp->gain_step), vcvtq_f32_u32 (frame)));
}

static uint32x4_t
first_frames (const FmxMixRamp *ramp)
{
  static const uint32_t mono[4] = { 0, 1, 2, 3 };
  static const uint32_t stereo[4] = { 0, 0, 1, 1 };

  return vaddq_u32 (vdupq_n_u32 (ramp->first_frame),
      vld1q_u32 (ramp->channels == 1 ? mono : stereo));
}

static int16x4_t
scale_four (const int32_t *in, const FmxMixRamp *ramp, uint32x4_t frame)
{
  float32x4_t ceiling = vdupq_n_f32 ((float) ramp->ceiling);
  float32x4_t x = vmulq_f32 (vcvtq_f32_s32 (vld1q_s32 (in)),
      gains (ramp, frame));

  x = vminq_f32 (vmaxq_f32 (x, vnegq_f32 (ceiling)), ceiling);
  return vqmovn_s32 (vcvtnq_s32_f32 (x));
}

static void
scale (int16_t *out, const int32_t *in, size_t n_samples,
    const FmxMixRamp *ramp)
{
  const uint32x4_t four = vdupq_n_u32 (4 / ramp->channels);
  uint32x4_t frame = first_frames (ramp);
  size_t i = 0;

  for (; i + 4 <= n_samples; i += 4) {
    vst1_s16 (out + i, scale_four (in + i, ramp, frame));
    frame = vaddq_u32 (frame, four);
  }
  if (i < n_samples)
    fmx_mix_c_scale_from (out, in, i, n_samples, ramp);
}

static void
add_ramp (int32_t *total, const int16_t *in, size_t n_samples,
    const FmxMixRamp *ramp)
{
  const uint32x4_t four = vdupq_n_u32 (4 / ramp->channels);
  uint32x4_t frame = first_frames (ramp);
  size_t i = 0;

  for (; i + 4 <= n_samples; i += 4) {
    int32x4_t wide = vmovl_s16 (vld1_s16 (in + i));
    float32x4_t x = vmulq_f32 (vcvtq_f32_s32 (wide), gains (ramp, frame));

    vst1q_s32 (total + i, vaddq_s32 (vld1q_s32 (total + i),
            vcvtnq_s32_f32 (x)));
    frame = vaddq_u32 (frame, four);
  }
  fmx_mix_c_add_ramp_from (total, in, i, n_samples, ramp);
}

static void
add_panned (int32_t *stereo, const int16_t *in, size_t n_frames,
    const FmxMixRamp *left, const FmxMixRamp *right)
{
  const uint32x4_t four = vdupq_n_u32 (4);
  uint32x4_t left_frame = first_frames (left);
  uint32x4_t right_frame = first_frames (right);
  size_t i = 0;

  for (; i + 4 <= n_frames; i += 4) {
    float32x4_t x = vcvtq_f32_s32 (vmovl_s16 (vld1_s16 (in + i)));
    int32x4x2_t frames = vld2q_s32 (stereo + 2 * i);

    frames.val[0] = vaddq_s32 (frames.val[0],
        vcvtnq_s32_f32 (vmulq_f32 (x, gains (left, left_frame))));
    frames.val[1] = vaddq_s32 (frames.val[1],
        vcvtnq_s32_f32 (vmulq_f32 (x, gains (right, right_frame))));
    vst2q_s32 (stereo + 2 * i, frames);
    left_frame = vaddq_u32 (left_frame, four);
    right_frame = vaddq_u32 (right_frame, four);
  }
  fmx_mix_c_add_panned_from (stereo, in, i, n_frames, left, right);
}

const FmxMixKernels fmx_mix_kernels_neon = {
  .name = "neon",
  .sum = sum,
  .add = add,
  .subtract = subtract,
  .energy = energy,
  .peak = peak,
  .narrow = narrow,
  .scale = scale,
  .add_ramp = add_ramp,
  .add_panned = add_panned,
};
