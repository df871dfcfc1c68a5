/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reference kernels: what the others are measured against. */
#include <math.h>

#include "fairmix/mix/fmx-mix-kernels-private.h"

void
fmx_mix_c_sum_from (int32_t *total, const int16_t *const *in, size_t n_in,
    size_t first, size_t n_samples)
{
  for (size_t i = first; i < n_samples; i++)
    total[i] = 0;
  for (size_t j = 0; j < n_in; j++)
    for (size_t i = first; i < n_samples; i++)
      total[i] += in[j][i];
}

static void
sum (int32_t *total, const int16_t *const *in, size_t n_in, size_t n_samples)
{
  fmx_mix_c_sum_from (total, in, n_in, 0, n_samples);
}

static void
add (int32_t *total, const int16_t *in, size_t n_samples)
{
  for (size_t i = 0; i < n_samples; i++)
    total[i] += in[i];
}

static void
subtract (int32_t *total, const int16_t *in, size_t n_samples)
{
  for (size_t i = 0; i < n_samples; i++)
    total[i] -= in[i];
}

static uint64_t
energy (const int16_t *in, size_t n_samples)
{
  uint64_t sum_of_squares = 0;

  for (size_t i = 0; i < n_samples; i++)
    sum_of_squares += (uint32_t) ((int32_t) in[i] * in[i]);
  return sum_of_squares;
}

static uint32_t
peak (const int32_t *in, size_t n_samples)
{
  uint32_t highest = 0;

  for (size_t i = 0; i < n_samples; i++) {
    uint32_t magnitude = in[i] < 0 ? 0u - (uint32_t) in[i] : (uint32_t) in[i];

    if (magnitude > highest)
      highest = magnitude;
  }
  return highest;
}

static void
narrow (int16_t *out, const int32_t *in, size_t n_samples)
{
  for (size_t i = 0; i < n_samples; i++) {
    int32_t x = in[i];

    out[i] = (int16_t) (x > INT16_MAX ? INT16_MAX : x < INT16_MIN ? INT16_MIN
        : x);
  }
}

static float
gain_at (const FmxMixRamp *ramp, size_t frame)
{
  return ramp->gain
      + ramp->gain_step * (float) (ramp->first_frame + (uint32_t) frame);
}

void
fmx_mix_c_scale_from (int16_t *out, const int32_t *in, size_t first,
    size_t n_samples, const FmxMixRamp *ramp)
{
  float ceiling = (float) ramp->ceiling;

  for (size_t i = first; i < n_samples; i++) {
    float x = (float) in[i] * gain_at (ramp, i / ramp->channels);

    x = x > -ceiling ? x : -ceiling;
    x = x < ceiling ? x : ceiling;
    out[i] = (int16_t) lrintf (x);
  }
}

static void
scale (int16_t *out, const int32_t *in, size_t n_samples,
    const FmxMixRamp *ramp)
{
  fmx_mix_c_scale_from (out, in, 0, n_samples, ramp);
}

void
fmx_mix_c_add_ramp_from (int32_t *total, const int16_t *in, size_t first,
    size_t n_samples, const FmxMixRamp *ramp)
{
  for (size_t i = first; i < n_samples; i++)
    total[i] += (int32_t) lrintf ((float) in[i]
        * gain_at (ramp, i / ramp->channels));
}

static void
add_ramp (int32_t *total, const int16_t *in, size_t n_samples,
    const FmxMixRamp *ramp)
{
  fmx_mix_c_add_ramp_from (total, in, 0, n_samples, ramp);
}

void
fmx_mix_c_add_panned_from (int32_t *stereo, const int16_t *in, size_t first,
    size_t n_frames, const FmxMixRamp *left, const FmxMixRamp *right)
{
  for (size_t i = first; i < n_frames; i++) {
    float x = (float) in[i];

    stereo[2 * i] += (int32_t) lrintf (x * gain_at (left, i));
    stereo[2 * i + 1] += (int32_t) lrintf (x * gain_at (right, i));
  }
}

static void
add_panned (int32_t *stereo, const int16_t *in, size_t n_frames,
    const FmxMixRamp *left, const FmxMixRamp *right)
{
  fmx_mix_c_add_panned_from (stereo, in, 0, n_frames, left, right);
}

const FmxMixKernels fmx_mix_kernels_c = {
  .name = "c",
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
