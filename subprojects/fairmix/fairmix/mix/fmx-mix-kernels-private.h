/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_MIX_KERNELS_PRIVATE_H
#define FMX_MIX_KERNELS_PRIVATE_H

#include "fairmix/mix/fmx-mix-kernels.h"

/* The variants; which of them are built depends on the machine. */
extern const FmxMixKernels fmx_mix_kernels_c;
extern const FmxMixKernels fmx_mix_kernels_sse2;
extern const FmxMixKernels fmx_mix_kernels_avx2;
extern const FmxMixKernels fmx_mix_kernels_neon;

/* The reference from sample @first on: it finishes what does not fill a vector
 * in the other variants. */
void fmx_mix_c_sum_from (int32_t * total, const int16_t * const *in,
    size_t n_in, size_t first, size_t n_samples);
void fmx_mix_c_scale_from (int16_t * out, const int32_t * in, size_t first,
    size_t n_samples, const FmxMixRamp * ramp);
void fmx_mix_c_add_ramp_from (int32_t * total, const int16_t * in,
    size_t first, size_t n_samples, const FmxMixRamp * ramp);
void fmx_mix_c_add_panned_from (int32_t * stereo, const int16_t * in,
    size_t first, size_t n_frames, const FmxMixRamp * left,
    const FmxMixRamp * right);

#endif /* FMX_MIX_KERNELS_PRIVATE_H */
