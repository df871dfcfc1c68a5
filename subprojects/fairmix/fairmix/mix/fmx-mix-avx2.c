/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <immintrin.h>

#include "fairmix/mix/fmx-mix-kernels-private.h"

static __m256i
load (const void *p)
{
  return _mm256_loadu_si256 ((const __m256i *) p);
}

static void
store (void *p, __m256i x)
{
  _mm256_storeu_si256 ((__m256i *) p, x);
}

/* Eight 16-bit samples, in 32 bits. */
static __m256i
load_wide (const int16_t *p)
{
  return _mm256_cvtepi16_epi32 (_mm_loadu_si128 ((const __m128i *) p));
}

/* Sums @n_vectors (1 or 4) times sixteen samples of all inputs.  The sums stay
 * in registers until they are complete; two inputs at a time are interleaved,
 * and one multiply-add by ones widens and adds both.  AVX2 interleaves within
 * halves of 128 bits, so the order is put right at the end. */
static inline __attribute__((always_inline))
     void sum_block (int32_t *total, const int16_t *const *in, size_t n_in,
    size_t first, const int n_vectors)
{
  const __m256i ones = _mm256_set1_epi16 (1);
  __m256i low[4], high[4];

  for (int k = 0; k < n_vectors; k++)
    low[k] = high[k] = _mm256_setzero_si256 ();
  for (size_t j = 0; j < n_in; j += 2)
    for (int k = 0; k < n_vectors; k++) {
      __m256i a = load (in[j] + first + 16 * k);
      __m256i b = j + 1 < n_in ? load (in[j + 1] + first + 16 * k)
          : _mm256_setzero_si256 ();

      low[k] = _mm256_add_epi32 (low[k],
          _mm256_madd_epi16 (_mm256_unpacklo_epi16 (a, b), ones));
      high[k] = _mm256_add_epi32 (high[k],
          _mm256_madd_epi16 (_mm256_unpackhi_epi16 (a, b), ones));
    }
  for (int k = 0; k < n_vectors; k++) {
    store (total + first + 16 * k,
        _mm256_permute2x128_si256 (low[k], high[k], 0x20));
    store (total + first + 16 * k + 8,
        _mm256_permute2x128_si256 (low[k], high[k], 0x31));
  }
}

static void
sum (int32_t *total, const int16_t *const *in, size_t n_in, size_t n_samples)
{
  size_t i = 0;

  for (; i + 64 <= n_samples; i += 64)
    sum_block (total, in, n_in, i, 4);
  for (; i + 16 <= n_samples; i += 16)
    sum_block (total, in, n_in, i, 1);
  fmx_mix_c_sum_from (total, in, n_in, i, n_samples);
}

static void
add (int32_t *total, const int16_t *in, size_t n_samples)
{
  size_t i = 0;

  for (; i + 8 <= n_samples; i += 8)
    store (total + i, _mm256_add_epi32 (load (total + i), load_wide (in + i)));
  fmx_mix_kernels_c.add (total + i, in + i, n_samples - i);
}

static void
subtract (int32_t *total, const int16_t *in, size_t n_samples)
{
  size_t i = 0;

  for (; i + 8 <= n_samples; i += 8)
    store (total + i, _mm256_sub_epi32 (load (total + i), load_wide (in + i)));
  fmx_mix_kernels_c.subtract (total + i, in + i, n_samples - i);
}

static uint64_t
energy (const int16_t *in, size_t n_samples)
{
  const __m256i low_half = _mm256_set1_epi64x (UINT32_MAX);
  __m256i squares = _mm256_setzero_si256 ();
  uint64_t quarters[4];
  size_t i = 0;

  for (; i + 16 <= n_samples; i += 16) {
    __m256i x = load (in + i);
    __m256i pairs = _mm256_madd_epi16 (x, x);   /* up to 2^31: unsigned */

    squares = _mm256_add_epi64 (squares, _mm256_and_si256 (pairs, low_half));
    squares = _mm256_add_epi64 (squares, _mm256_srli_epi64 (pairs, 32));
  }
  store (quarters, squares);
  return quarters[0] + quarters[1] + quarters[2] + quarters[3]
      + fmx_mix_kernels_c.energy (in + i, n_samples - i);
}

static uint32_t
peak (const int32_t *in, size_t n_samples)
{
  __m256i highest = _mm256_setzero_si256 ();    /* 2^31 fits: unsigned */
  __m128i top;
  size_t i = 0;
  uint32_t a, b;

  for (; i + 8 <= n_samples; i += 8)
    highest = _mm256_max_epu32 (highest, _mm256_abs_epi32 (load (in + i)));
  top = _mm_max_epu32 (_mm256_castsi256_si128 (highest),
      _mm256_extracti128_si256 (highest, 1));
  top = _mm_max_epu32 (top, _mm_shuffle_epi32 (top, 0x4e));
  top = _mm_max_epu32 (top, _mm_shuffle_epi32 (top, 0xb1));
  a = (uint32_t) _mm_cvtsi128_si32 (top);
  if (i == n_samples)
    return a;
  b = fmx_mix_kernels_c.peak (in + i, n_samples - i);
  return a > b ? a : b;
}

/* Sixteen samples in 16 bits, in order. */
static __m256i
pack (__m256i low, __m256i high)
{
  return _mm256_permute4x64_epi64 (_mm256_packs_epi32 (low, high), 0xd8);
}

static void
narrow (int16_t *out, const int32_t *in, size_t n_samples)
{
  size_t i = 0;

  for (; i + 16 <= n_samples; i += 16)
    store (out + i, pack (load (in + i), load (in + i + 8)));
  fmx_mix_kernels_c.narrow (out + i, in + i, n_samples - i);
}

/* The gains of eight samples, @frame their frames' numbers. */
static __m256
gains (const FmxMixRamp *ramp, __m256i frame)
{
  return _mm256_add_ps (_mm256_set1_ps (ramp->gain),
      _mm256_mul_ps (_mm256_set1_ps (ramp->gain_step),
          _mm256_cvtepi32_ps (frame)));
}

static __m256i
first_frames (const FmxMixRamp *ramp)
{
  __m256i frames = ramp->channels == 1
      ? _mm256_setr_epi32 (0, 1, 2, 3, 4, 5, 6, 7)
      : _mm256_setr_epi32 (0, 0, 1, 1, 2, 2, 3, 3);

  return _mm256_add_epi32 (frames, _mm256_set1_epi32 ((int) ramp->first_frame));
}

static void
scale (int16_t *out, const int32_t *in, size_t n_samples,
    const FmxMixRamp *ramp)
{
  const __m256i eight = _mm256_set1_epi32 (8 / (int) ramp->channels);
  const __m256 ceiling = _mm256_set1_ps ((float) ramp->ceiling);
  const __m256 floor = _mm256_set1_ps ((float) -ramp->ceiling);
  __m256i frame = first_frames (ramp);
  size_t i = 0;

  for (; i + 8 <= n_samples; i += 8) {
    __m256 x = _mm256_mul_ps (_mm256_cvtepi32_ps (load (in + i)),
        gains (ramp, frame));
    __m256i y = _mm256_cvtps_epi32 (_mm256_min_ps (_mm256_max_ps (x, floor),
            ceiling));

    _mm_storeu_si128 ((__m128i *) (out + i),
        _mm256_castsi256_si128 (pack (y, y)));
    frame = _mm256_add_epi32 (frame, eight);
  }
  if (i < n_samples)
    fmx_mix_c_scale_from (out, in, i, n_samples, ramp);
}

static void
add_ramp (int32_t *total, const int16_t *in, size_t n_samples,
    const FmxMixRamp *ramp)
{
  const __m256i eight = _mm256_set1_epi32 (8 / (int) ramp->channels);
  __m256i frame = first_frames (ramp);
  size_t i = 0;

  for (; i + 8 <= n_samples; i += 8) {
    __m256 x = _mm256_mul_ps (_mm256_cvtepi32_ps (load_wide (in + i)),
        gains (ramp, frame));

    store (total + i, _mm256_add_epi32 (load (total + i),
            _mm256_cvtps_epi32 (x)));
    frame = _mm256_add_epi32 (frame, eight);
  }
  fmx_mix_c_add_ramp_from (total, in, i, n_samples, ramp);
}

static void
add_panned (int32_t *stereo, const int16_t *in, size_t n_frames,
    const FmxMixRamp *left, const FmxMixRamp *right)
{
  const __m256i eight = _mm256_set1_epi32 (8);
  __m256i left_frame = first_frames (left);
  __m256i right_frame = first_frames (right);
  size_t i = 0;

  for (; i + 8 <= n_frames; i += 8) {
    __m256 x = _mm256_cvtepi32_ps (load_wide (in + i));
    __m256i l = _mm256_cvtps_epi32 (_mm256_mul_ps (x, gains (left,
                left_frame)));
    __m256i r = _mm256_cvtps_epi32 (_mm256_mul_ps (x, gains (right,
                right_frame)));
    __m256i low = _mm256_unpacklo_epi32 (l, r);
    __m256i high = _mm256_unpackhi_epi32 (l, r);

    store (stereo + 2 * i, _mm256_add_epi32 (load (stereo + 2 * i),
            _mm256_permute2x128_si256 (low, high, 0x20)));
    store (stereo + 2 * i + 8, _mm256_add_epi32 (load (stereo + 2 * i + 8),
            _mm256_permute2x128_si256 (low, high, 0x31)));
    left_frame = _mm256_add_epi32 (left_frame, eight);
    right_frame = _mm256_add_epi32 (right_frame, eight);
  }
  fmx_mix_c_add_panned_from (stereo, in, i, n_frames, left, right);
}

const FmxMixKernels fmx_mix_kernels_avx2 = {
  .name = "avx2",
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
