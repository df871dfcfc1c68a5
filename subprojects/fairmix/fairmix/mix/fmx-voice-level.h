/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_VOICE_LEVEL_H
#define FMX_VOICE_LEVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_VOICE_LEVEL_BINS: levels that are told apart, 1 dB each, from 0 dBov down */
#define FMX_VOICE_LEVEL_BINS 96
/** FMX_VOICE_LEVEL_FLOORS: windows in which the noise is looked for */
#define FMX_VOICE_LEVEL_FLOORS 8
/** FMX_VOICE_LEVEL_WINDOW: how much sound is judged at a time */
#define FMX_VOICE_LEVEL_WINDOW FMX_SECOND

/**
 * FmxVoiceLevelParams:
 * @target_dbov: the level that speech is brought to, while it is active
 * @raise_db: the most that it is raised
 * @cut_db: the most that it is lowered
 * @noise_dbov: the noise between words is not raised above this
 * @rise_db_s: how fast it gets louder, in dB for each second of sound
 * @fall_db_s: how fast it gets quieter
 */
typedef struct
{
  double target_dbov;
  double raise_db;
  double cut_db;
  double noise_dbov;
  double rise_db_s;
  double fall_db_s;
} FmxVoiceLevelParams;

/**
 * FmxVoiceLevel:
 *
 * How loud one talker speaks, and the gain that makes all talkers equally loud.
 *
 * Sound is judged by windows of a second.  Speech has pauses, noise has none: the
 * floor of a window is what its quietest tenth stays below.  There is speech in it
 * where 200 ms are 10 dB above the floors of the window, the one before and the one
 * after; active are the frames that are at most 15.9 dB below the mean of these
 * [P.56].  So noise, also one that begins, is no speech, and without speech the
 * gain is 0 dB.
 *
 * |[
 *   level += (window's level - level) * min (1, active time / 5 s)   [power]
 *   goal   = target - level, in [-cut, raise], and noise + goal <= noise limit
 * ]|
 *
 * The gain goes towards the goal in a straight line of dB.  It knows no time but
 * that of the sound: nothing moves while nothing is heard.
 */
typedef struct
{
  FmxVoiceLevelParams params;

  /*< private >*/
  uint32_t now_us[FMX_VOICE_LEVEL_BINS];        /* this window: time at each level */
  uint32_t before_us[FMX_VOICE_LEVEL_BINS];     /* the one before */
  uint32_t filled_us;
  int16_t floors_db[FMX_VOICE_LEVEL_FLOORS];    /* of windows, the latest first */
  uint32_t n_floors;
  double power;                 /* of active speech, 1 is 0 dBov */
  uint32_t active_us;           /* in which it was measured, at most 5 s */
  uint32_t n_low;               /* windows in a row that were far below it */
  double gain_db;
} FmxVoiceLevel;

/** fmx_voice_level_params_default: @params for -26 dBov */
void fmx_voice_level_params_default (FmxVoiceLevelParams * params);

/** fmx_voice_level_init: nothing is known: a gain of 0 dB */
void fmx_voice_level_init (FmxVoiceLevel * level,
    const FmxVoiceLevelParams * params);

/** Returns: the level of @n_samples with a sum of squares of @energy, in dBov:
 * -96 and below is silence */
double fmx_voice_level_of_energy (uint64_t energy, size_t n_samples);

/**
 * fmx_voice_level_on_frame:
 * @level_dbov: of the next @duration of sound, before any gain
 *
 * Silence (below -95 dBov) says nothing: it is not the noise of a room.
 *
 * Returns: the gain at its end, in dB
 */
double fmx_voice_level_on_frame (FmxVoiceLevel * level, double level_dbov,
    FmxDuration duration);

/** Returns: the gain at the end of the latest frame, in dB */
double fmx_voice_level_gain_db (const FmxVoiceLevel * level);

/** fmx_voice_level_speech_dbov: Returns: how loud active speech is before the
 * gain; NAN when none was heard yet */
double fmx_voice_level_speech_dbov (const FmxVoiceLevel * level);

/**
 * fmx_voice_level_scale:
 * @samples: (inout): what is raised may not fit into 16 bits, but into a sum ...
 * @from_db: gain of the first sample
 * @to_db: gain that the sample after the last would have
 * @most: ... of so many, a power of two; what is louder still saturates
 *
 * Returns: how often @samples must be added so that they are as loud as @from_db
 *     to @to_db say: 1, where they fit
 */
uint32_t fmx_voice_level_scale (int16_t * samples, size_t n_samples,
    double from_db, double to_db, uint32_t most);

#ifdef __cplusplus
}
#endif

#endif /* FMX_VOICE_LEVEL_H */
