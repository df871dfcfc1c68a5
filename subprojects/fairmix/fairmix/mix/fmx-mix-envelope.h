/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_MIX_ENVELOPE_H
#define FMX_MIX_ENVELOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxMixEnvelope:
 * @from: first sample that is heard
 * @until: first sample that is not heard any more; >= @from
 * @ramp: samples in which the gain rises from 0 at @from to 1, and falls to 0
 *     at @until; 0 = hard edges
 *
 * When a stream is in a mix, in mix positions:
 *
 * |[
 *   gain (x) = min (1, (x - from) / ramp, (until - x) / ramp)
 * ]|
 *
 * Two envelopes, of which one has @until = t + ramp where the other has
 * @from = t, add up to 1: a stream can cross from one mix to another.
 */
typedef struct
{
  int64_t from;
  int64_t until;
  uint32_t ramp;
} FmxMixEnvelope;

/** fmx_mix_envelope_is_full: Returns: whether the gain is 1 for all of
 * [@pos, @pos + @n_samples) */
bool fmx_mix_envelope_is_full (const FmxMixEnvelope * envelope, int64_t pos,
    size_t n_samples);

/**
 * fmx_mix_add_envelope:
 * @total: n_samples, for the samples from @pos on
 * @in: n_samples
 * @envelope: when @in is heard
 * @pos: mix position of the first sample
 *
 * total[i] += in[i] * gain (pos + i)
 */
void fmx_mix_add_envelope (int32_t * total, const int16_t * in,
    size_t n_samples, const FmxMixEnvelope * envelope, int64_t pos);

/**
 * fmx_mix_cross_fade:
 * @samples: (inout): n_samples that are to begin here
 * @before: n_samples that would have come if what was before had gone on
 *
 * samples[i] = before[i] + (samples[i] - before[i]) * (i + 1) / (n + 1): a splice
 * without a step.
 */
void fmx_mix_cross_fade (int16_t * samples, const int16_t * before,
    size_t n_samples);

#ifdef __cplusplus
}
#endif

#endif /* FMX_MIX_ENVELOPE_H */
