/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_STRETCH_H
#define FMX_STRETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxStretchParams:
 * @rate_hz: sample rate, 4000 ... 384000
 * @channels: any number, interleaved; all are cut at the same places
 * @longest_lag: most that is put in or taken out in one place, at least twice
 *     @fade; what is to be taken out beyond that is cut out at once
 * @fade: over which the ends are joined, if there are enough frames
 * @spacing: what is left alone between two joints
 * @patience: after this time without a joint the next place is good enough;
 *     before that, the better a place, the earlier
 * @quiet: root mean square below which all joints are good
 * @hold: how long a frame may stay here
 */
typedef struct
{
  uint32_t rate_hz;
  uint32_t channels;
  FmxDuration longest_lag;
  FmxDuration fade;
  FmxDuration spacing;
  FmxDuration patience;
  float quiet;
  FmxDuration hold;
} FmxStretchParams;

/**
 * FmxStretchStats:
 * @n_inserted, @n_removed: frames
 * @n_joints: places where they were
 * @n_cuts: how many of those were not sought, because too much had to go
 */
typedef struct
{
  uint64_t n_inserted;
  uint64_t n_removed;
  uint64_t n_joints;
  uint64_t n_cuts;
} FmxStretchStats;

/**
 * FmxStretch:
 *
 * Takes frames out of audio or puts some in, exactly as many as asked, where
 * the signal resembles itself: the pitch stays.  Frames that nothing is done to
 * leave it as they came, to the bit.
 *
 * What remains to be done is a debt: frames to be put in (> 0) or taken out
 * (< 0).  With the debt D, frames are held for at most hold - D, so that audio
 * that was due D later, or is due -D earlier, still leaves in time for a
 * constant latency of hold.
 *
 * Source: overlap-add at similar places as in WSOLA, but what is sought is the
 * place and not the lag; W. Verhelst, M. Roelands, "An Overlap-Add Technique
 * Based on Waveform Similarity (WSOLA) for High Quality Time-Scale Modification
 * of Speech", ICASSP 1993.
 */
typedef struct
{
  /*< private >*/
  FmxStretchParams params;
  uint32_t longest_frames, fade_frames, spacing_frames;
  uint32_t hop_frames;          /* between two looks */
  uint32_t patience_frames, hold_frames;
  float *frames;                /* what passed, then what is held */
  float *mono;                  /* the same, mean of the channels */
  size_t capacity, end, position;
  int64_t debt;
  int64_t excess;               /* of it, to be cut out at once */
  bool cutting;
  size_t fade_now;              /* length of the next joint */
  uint64_t waited;              /* since the last joint, in frames */
  uint32_t spaced;              /* to be left alone yet */
  FmxStretchStats stats;
} FmxStretch;

/** fmx_stretch_params_default: for speech; holds nothing */
void fmx_stretch_params_default (FmxStretchParams * params, uint32_t rate_hz,
    uint32_t channels);

/** Returns: how many samples of storage fmx_stretch_init() needs */
size_t fmx_stretch_storage_samples (const FmxStretchParams * params);
void fmx_stretch_init (FmxStretch * stretch, const FmxStretchParams * params,
    float * storage);

/** fmx_stretch_reset: forgets everything but the statistics */
void fmx_stretch_reset (FmxStretch * stretch);

/** fmx_stretch_restart: what comes next does not follow on from what was;
 * @debt: the new one, in frames.  Nothing may be held. */
void fmx_stretch_restart (FmxStretch * stretch, int64_t debt);

/** fmx_stretch_adjust: @frames more to be put in, or (< 0) taken out.  The sum
 * of what is to be put in may not be more than the time that frames are held:
 * the rest would come too late. */
void fmx_stretch_adjust (FmxStretch * stretch, int64_t frames);

/** Returns: what is still to be put in, in frames; < 0: to be taken out */
int64_t fmx_stretch_debt (const FmxStretch * stretch);

/** Returns: how many frames are held */
size_t fmx_stretch_held (const FmxStretch * stretch);

void fmx_stretch_get_stats (const FmxStretch * stretch,
    FmxStretchStats * stats);

/** fmx_stretch_remember: what goes past it while there is no debt and nothing
 * is held */
void fmx_stretch_remember (FmxStretch * stretch, const float * in,
    size_t n_frames);

/** Returns: most frames that fmx_stretch_process() may put out */
size_t fmx_stretch_max_output (const FmxStretch * stretch, size_t n_frames);

/**
 * fmx_stretch_process:
 * @out: has room for fmx_stretch_max_output() frames
 * @in: @n_frames, full scale is 1; not where @out is
 *
 * Returns: the number of frames in @out
 */
size_t fmx_stretch_process (FmxStretch * stretch, float * out,
    const float * in, size_t n_frames);

/** fmx_stretch_drain: puts out what is held, as it is; the debt stays
 * Returns: the number of frames in @out */
size_t fmx_stretch_drain (FmxStretch * stretch, float * out);

#ifdef __cplusplus
}
#endif

#endif /* FMX_STRETCH_H */
