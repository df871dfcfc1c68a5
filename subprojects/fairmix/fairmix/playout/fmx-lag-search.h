/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_LAG_SEARCH_H
#define FMX_LAG_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxLagRange:
 * @n_samples: length of the two segments that are compared, at least 1
 * @shortest, @longest: lags in samples, 1 <= @shortest <= @longest
 * @direction: +1: the other segment is later; -1: it is earlier
 * @coarse: lags are looked at in steps of this many samples first, at a
 *     sample rate as much lower; 1 = all of them at once
 */
typedef struct
{
  uint32_t n_samples;
  uint32_t shortest;
  uint32_t longest;
  int32_t direction;
  uint32_t coarse;
} FmxLagRange;

/**
 * FmxLag:
 * @n_samples: between the two segments, always positive
 * @similarity: their normalized cross-correlation, -1 ... 1
 */
typedef struct
{
  uint32_t n_samples;
  float similarity;
} FmxLag;

/** Returns: normalized cross-correlation of @n_samples, -1 ... 1; 0 if one of
 *     the two is silent */
float fmx_lag_similarity (const float * a, const float * b, size_t n_samples);

/** Returns: how many samples of scratch space fmx_lag_search() needs */
size_t fmx_lag_search_scratch_samples (const FmxLagRange * range);

/**
 * fmx_lag_search:
 * @at: start of a segment, as far from both ends of its array as @range asks
 * @scratch: see fmx_lag_search_scratch_samples()
 *
 * Looks for the lag at which the signal resembles the segment most: its pitch
 * period, or a multiple of it.
 *
 * Source: the similarity search of WSOLA; W. Verhelst, M. Roelands, "An Overlap-
 * Add Technique Based on Waveform Similarity (WSOLA) for High Quality
 * Time-Scale Modification of Speech", ICASSP 1993.
 */
FmxLag fmx_lag_search (const float * at, const FmxLagRange * range,
    float * scratch);

#ifdef __cplusplus
}
#endif

#endif /* FMX_LAG_SEARCH_H */
