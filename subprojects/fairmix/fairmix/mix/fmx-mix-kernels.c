/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/mix/fmx-mix-kernels.h"

#include <assert.h>
#include <math.h>

#include "fairmix/mix/fmx-mix-kernels-private.h"

#define GAIN_MAX 8.0f

/* One list for each kind of CPU, the fastest kernels first.  The compiler's
 * __builtin_cpu_supports() reads a word that was filled at load time; CPUID
 * itself, which costs microseconds in a virtual machine, is not run here. */
#if defined (FMX_MIX_HAVE_AVX2)
static const FmxMixKernels *const with_avx2[] = {
  &fmx_mix_kernels_avx2, &fmx_mix_kernels_sse2, &fmx_mix_kernels_c, NULL
};
#endif
#if defined (FMX_MIX_HAVE_SSE2)
static const FmxMixKernels *const with_sse2[] = {
  &fmx_mix_kernels_sse2, &fmx_mix_kernels_c, NULL
};
#endif
#if defined (FMX_MIX_HAVE_NEON)
static const FmxMixKernels *const with_neon[] = {
  &fmx_mix_kernels_neon, &fmx_mix_kernels_c, NULL
};
#else
static const FmxMixKernels *const with_nothing[] = {
  &fmx_mix_kernels_c, NULL
};
#endif

const FmxMixKernels *const *
fmx_mix_kernels_available (void)
{
#if defined (FMX_MIX_HAVE_AVX2)
  if (__builtin_cpu_supports ("avx2"))
    return with_avx2;
#endif
#if defined (FMX_MIX_HAVE_SSE2)
  if (__builtin_cpu_supports ("sse2"))
    return with_sse2;
#endif
#if defined (FMX_MIX_HAVE_NEON)
  return with_neon;             /* every AArch64 CPU has it */
#else
  return with_nothing;
#endif
}

const FmxMixKernels *
fmx_mix_kernels_best (void)
{
  return fmx_mix_kernels_available ()[0];
}

static FmxMixRamp
make_ramp (float gain_from, float gain_to, size_t n_frames)
{
  FmxMixRamp ramp = { gain_from, 0.0f, 0, 1, INT16_MAX };

  assert (gain_from >= 0.0f && gain_from <= GAIN_MAX);
  assert (gain_to >= 0.0f && gain_to <= GAIN_MAX);
  if (n_frames > 0)
    ramp.gain_step = (gain_to - gain_from) / (float) n_frames;
  return ramp;
}

void
fmx_mix_add_ramp (int32_t *total, const int16_t *in, size_t n_samples,
    float gain_from, float gain_to)
{
  const FmxMixKernels *kernels = fmx_mix_kernels_best ();
  FmxMixRamp ramp = make_ramp (gain_from, gain_to, n_samples);

  if (gain_from == 1.0f && gain_to == 1.0f)
    kernels->add (total, in, n_samples);
  else if (gain_from != 0.0f || gain_to != 0.0f)
    kernels->add_ramp (total, in, n_samples, &ramp);
}

void
fmx_mix_add_panned (int32_t *stereo, const int16_t *in, size_t n_frames,
    float left_from, float left_to, float right_from, float right_to)
{
  FmxMixRamp left = make_ramp (left_from, left_to, n_frames);
  FmxMixRamp right = make_ramp (right_from, right_to, n_frames);

  fmx_mix_kernels_best ()->add_panned (stereo, in, n_frames, &left, &right);
}

void
fmx_mix_pan_gains (float pan, float *left, float *right)
{
  const double quarter_pi = 0.78539816339744830962;
  double angle;

  assert (pan >= -1.0f && pan <= 1.0f);
  angle = ((double) pan + 1.0) * quarter_pi;
  *left = pan < 1.0f ? (float) cos (angle) : 0.0f;
  *right = (float) sin (angle);
}

uint32_t
fmx_mix_gain_split (float *gain)
{
  uint32_t weight = 1;

  while (*gain > 1.0f && weight < 8) {
    weight *= 2;
    *gain /= 2.0f;
  }
  return weight;
}

void
fmx_mix_scale (int16_t *samples, size_t n_samples, float gain)
{
  assert (gain >= 0.0f && gain <= GAIN_MAX);
  if (gain == 1.0f)
    return;
  for (size_t i = 0; i < n_samples; i++) {
    float x = (float) samples[i] * gain;

    x = x > (float) INT16_MIN ? x : (float) INT16_MIN;
    x = x < (float) INT16_MAX ? x : (float) INT16_MAX;
    samples[i] = (int16_t) lrintf (x);
  }
}
