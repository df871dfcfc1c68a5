/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <emmintrin.h>

#include "fairmix/mix/fmx-mix-kernels-private.h"

static __m128i
load (const void *p)
{
  return _mm_loadu_si128 ((const __m128i *) p);
}

static void
store (void *p, __m128i x)
{
  _mm_storeu_si128 ((__m128i *) p, x);
}

/* The lower and the upper four of eight 16-bit samples, in 32 bits. */
static __m128i
widen_low (__m128i x)
{
  return _mm_srai_epi32 (_mm_unpacklo_epi16 (x, x), 16);
}

static __m128i
widen_high (__m128i x)
{
  return _mm_srai_epi32 (_mm_unpackhi_epi16 (x, x), 16);
}

/* Sums @n_vectors (1 or 4) times eight samples of all inputs.  The sums stay in
 * registers until they are complete; two inputs at a time are interleaved, and
 * one multiply-add by ones widens and adds both. */
static inline __attribute__((always_inline))
     void sum_block (int32_t *total, const int16_t *const *in, size_t n_in,
    size_t first, const int n_vectors)
{
  const __m128i ones = _mm_set1_epi16 (1);
  __m128i low[4], high[4];
  size_t j;

  for (int k = 0; k < n_vectors; k++)
    low[k] = high[k] = _mm_setzero_si128 ();
  for (j = 0; j + 1 < n_in; j += 2)
    for (int k = 0; k < n_vectors; k++) {
      __m128i a = load (in[j] + first + 8 * k);
      __m128i b = load (in[j + 1] + first + 8 * k);

      low[k] = _mm_add_epi32 (low[k],
          _mm_madd_epi16 (_mm_unpacklo_epi16 (a, b), ones));
      high[k] = _mm_add_epi32 (high[k],
          _mm_madd_epi16 (_mm_unpackhi_epi16 (a, b), ones));
    }
  if (j < n_in)
    for (int k = 0; k < n_vectors; k++) {
      __m128i a = load (in[j] + first + 8 * k);

      low[k] = _mm_add_epi32 (low[k], widen_low (a));
      high[k] = _mm_add_epi32 (high[k], widen_high (a));
    }
  for (int k = 0; k < n_vectors; k++) {
    store (total + first + 8 * k, low[k]);
    store (total + first + 8 * k + 4, high[k]);
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
    __m128i x = load (in + i);

    store (total + i, _mm_add_epi32 (load (total + i), widen_low (x)));
    store (total + i + 4, _mm_add_epi32 (load (total + i + 4), widen_high (x)));
  }
  fmx_mix_kernels_c.add (total + i, in + i, n_samples - i);
}

static void
subtract (int32_t *total, const int16_t *in, size_t n_samples)
{
  size_t i = 0;

  for (; i + 8 <= n_samples; i += 8) {
    __m128i x = load (in + i);

    store (total + i, _mm_sub_epi32 (load (total + i), widen_low (x)));
    store (total + i + 4, _mm_sub_epi32 (load (total + i + 4), widen_high (x)));
  }
  fmx_mix_kernels_c.subtract (total + i, in + i, n_samples - i);
}

static uint64_t
energy (const int16_t *in, size_t n_samples)
{
  const __m128i low_half = _mm_set1_epi64x (UINT32_MAX);
  __m128i squares = _mm_setzero_si128 ();
  uint64_t halves[2];
  size_t i = 0;

  for (; i + 8 <= n_samples; i += 8) {
    __m128i x = load (in + i);
    __m128i pairs = _mm_madd_epi16 (x, x);      /* up to 2^31: unsigned */

    squares = _mm_add_epi64 (squares, _mm_and_si128 (pairs, low_half));
    squares = _mm_add_epi64 (squares, _mm_srli_epi64 (pairs, 32));
  }
  store (halves, squares);
  return halves[0] + halves[1]
      + fmx_mix_kernels_c.energy (in + i, n_samples - i);
}

static __m128i
choose (__m128i mask, __m128i a, __m128i b)
{
  return _mm_or_si128 (_mm_and_si128 (mask, a), _mm_andnot_si128 (mask, b));
}

static uint32_t
peak (const int32_t *in, size_t n_samples)
{
  __m128i highest = _mm_setzero_si128 ();
  __m128i lowest = _mm_setzero_si128 ();
  int32_t ends[8];
  size_t i = 0;
  uint32_t a, b;

  for (; i + 4 <= n_samples; i += 4) {
    __m128i x = load (in + i);

    highest = choose (_mm_cmpgt_epi32 (x, highest), x, highest);
    lowest = choose (_mm_cmplt_epi32 (x, lowest), x, lowest);
  }
  store (ends, highest);
  store (ends + 4, lowest);
  a = fmx_mix_kernels_c.peak (ends, 8);
  b = fmx_mix_kernels_c.peak (in + i, n_samples - i);
  return a > b ? a : b;
}

static void
narrow (int16_t *out, const int32_t *in, size_t n_samples)
{
  size_t i = 0;

  for (; i + 8 <= n_samples; i += 8)
    store (out + i, _mm_packs_epi32 (load (in + i), load (in + i + 4)));
  fmx_mix_kernels_c.narrow (out + i, in + i, n_samples - i);
}

/* The gains of four samples, @frame their frames' numbers. */
static __m128
gains (const FmxMixRamp *ramp, __m128i frame)
{
  return _mm_add_ps (_mm_set1_ps (ramp->gain),
      _mm_mul_ps (_mm_set1_ps (ramp->gain_step), _mm_cvtepi32_ps (frame)));
}

static __m128i
first_frames (const FmxMixRamp *ramp)
{
  __m128i frames = ramp->channels == 1 ? _mm_setr_epi32 (0, 1, 2, 3)
      : _mm_setr_epi32 (0, 0, 1, 1);

  return _mm_add_epi32 (frames, _mm_set1_epi32 ((int) ramp->first_frame));
}

static __m128i
scale_four (const int32_t *in, const FmxMixRamp *ramp, __m128i frame)
{
  __m128 ceiling = _mm_set1_ps ((float) ramp->ceiling);
  __m128 x = _mm_mul_ps (_mm_cvtepi32_ps (load (in)), gains (ramp, frame));

  x = _mm_max_ps (x, _mm_sub_ps (_mm_setzero_ps (), ceiling));
  return _mm_cvtps_epi32 (_mm_min_ps (x, ceiling));
}

static void
scale (int16_t *out, const int32_t *in, size_t n_samples,
    const FmxMixRamp *ramp)
{
  const __m128i four = _mm_set1_epi32 (4 / (int) ramp->channels);
  __m128i frame = first_frames (ramp);
  size_t i = 0;

  for (; i + 8 <= n_samples; i += 8) {
    __m128i low = scale_four (in + i, ramp, frame);
    __m128i high;

    frame = _mm_add_epi32 (frame, four);
    high = scale_four (in + i + 4, ramp, frame);
    frame = _mm_add_epi32 (frame, four);
    store (out + i, _mm_packs_epi32 (low, high));
  }
  if (i < n_samples)
    fmx_mix_c_scale_from (out, in, i, n_samples, ramp);
}

static void
add_ramp (int32_t *total, const int16_t *in, size_t n_samples,
    const FmxMixRamp *ramp)
{
  const __m128i four = _mm_set1_epi32 (4 / (int) ramp->channels);
  __m128i frame = first_frames (ramp);
  size_t i = 0;

  for (; i + 8 <= n_samples; i += 8) {
    __m128i x = load (in + i);
    __m128 low = _mm_mul_ps (_mm_cvtepi32_ps (widen_low (x)),
        gains (ramp, frame));
    __m128 high;

    frame = _mm_add_epi32 (frame, four);
    high = _mm_mul_ps (_mm_cvtepi32_ps (widen_high (x)), gains (ramp, frame));
    frame = _mm_add_epi32 (frame, four);
    store (total + i, _mm_add_epi32 (load (total + i), _mm_cvtps_epi32 (low)));
    store (total + i + 4, _mm_add_epi32 (load (total + i + 4),
            _mm_cvtps_epi32 (high)));
  }
  fmx_mix_c_add_ramp_from (total, in, i, n_samples, ramp);
}

static void
add_panned (int32_t *stereo, const int16_t *in, size_t n_frames,
    const FmxMixRamp *left, const FmxMixRamp *right)
{
  const __m128i four = _mm_set1_epi32 (4);
  __m128i left_frame = first_frames (left);
  __m128i right_frame = first_frames (right);
  size_t i = 0;

  for (; i + 4 <= n_frames; i += 4) {
    __m128i x = _mm_loadl_epi64 ((const __m128i *) (in + i));
    __m128 wide = _mm_cvtepi32_ps (widen_low (x));
    __m128i l = _mm_cvtps_epi32 (_mm_mul_ps (wide, gains (left,
                left_frame)));
    __m128i r = _mm_cvtps_epi32 (_mm_mul_ps (wide, gains (right,
                right_frame)));

    store (stereo + 2 * i, _mm_add_epi32 (load (stereo + 2 * i),
            _mm_unpacklo_epi32 (l, r)));
    store (stereo + 2 * i + 4, _mm_add_epi32 (load (stereo + 2 * i + 4),
            _mm_unpackhi_epi32 (l, r)));
    left_frame = _mm_add_epi32 (left_frame, four);
    right_frame = _mm_add_epi32 (right_frame, four);
  }
  fmx_mix_c_add_panned_from (stereo, in, i, n_frames, left, right);
}

const FmxMixKernels fmx_mix_kernels_sse2 = {
  .name = "sse2",
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
