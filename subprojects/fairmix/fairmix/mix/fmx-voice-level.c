/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/mix/fmx-voice-level.h"

#include <math.h>
#include <string.h>

#define FULL_SCALE 32768.0
#define QUIETEST_DBOV (-(double) (FMX_VOICE_LEVEL_BINS - 1))
#define WINDOW_US ((uint32_t) (FMX_VOICE_LEVEL_WINDOW / FMX_USECOND))
/* what this share of a window is below is its floor */
#define FLOOR_SHARE 10
#define ABOVE_FLOOR_DB 10
/* [P.56] the margin below the active level */
#define MARGIN_DB 15.9
/* less of it in a window is a cough or a key */
#define ACTIVE_MIN_US 200000
#define MEMORY_US 5000000
/* so far below, so often in a row: somebody else has the microphone */
#define LOW_DB 10.0
#define LOW_WINDOWS 4
/* The loudest frames of speech are some 10 dB above its mean.  What is louder than
 * that is brought down at once, for the limiter would have to. */
#define SHOUT_DB 14.0
#define SHOUT_DB_S 40.0

void
fmx_voice_level_params_default (FmxVoiceLevelParams *params)
{
  *params = (FmxVoiceLevelParams) {
    .target_dbov = -26.0,
    .raise_db = 24.0,
    .cut_db = 18.0,
    .noise_dbov = -45.0,
    .rise_db_s = 6.0,
    .fall_db_s = 12.0,
  };
}

void
fmx_voice_level_init (FmxVoiceLevel *level, const FmxVoiceLevelParams *params)
{
  memset (level, 0, sizeof *level);
  level->params = *params;
}

double
fmx_voice_level_of_energy (uint64_t energy, size_t n_samples)
{
  if (energy == 0 || n_samples == 0)
    return -127.0;
  return 10.0 * log10 ((double) energy / (double) n_samples
      / (FULL_SCALE * FULL_SCALE));
}

double
fmx_voice_level_gain_db (const FmxVoiceLevel *level)
{
  return level->gain_db;
}

double
fmx_voice_level_speech_dbov (const FmxVoiceLevel *level)
{
  return level->active_us > 0 ? 10.0 * log10 (level->power) : NAN;
}

/* The middle of bin @i, as power */
static double
power_of_bin (int i)
{
  return pow (10.0, -(double) i / 10.0);
}

/* Bins count downwards: the larger the bin, the quieter. */
static int16_t
floor_bin (const uint32_t *bins)
{
  uint32_t below = 0;
  int i = FMX_VOICE_LEVEL_BINS - 1;

  for (; i > 0; i--) {
    below += bins[i];
    if (below > WINDOW_US / FLOOR_SHARE)
      break;
  }
  return (int16_t) i;
}

/* Returns: mean power of what is louder than bin @gate; *@active_us: how much */
static double
gated_power (const uint32_t *bins, int gate, uint32_t *active_us)
{
  double sum = 0.0;

  *active_us = 0;
  for (int i = 0; i < gate && i < FMX_VOICE_LEVEL_BINS; i++) {
    sum += bins[i] * power_of_bin (i);
    *active_us += bins[i];
  }
  return *active_us > 0 ? sum / *active_us : 0.0;
}

static void
learn (FmxVoiceLevel *level, double power, uint32_t active_us)
{
  bool low = level->active_us > 0
      && 10.0 * log10 (power / level->power) < -LOW_DB;

  level->n_low = low ? level->n_low + 1 : 0;
  if (level->n_low >= LOW_WINDOWS)
    level->active_us = 0;
  level->active_us += active_us;
  if (level->active_us > MEMORY_US)
    level->active_us = MEMORY_US;
  level->power += (power - level->power) * active_us / level->active_us;
}

/* The window before is judged when the one after it is over. */
static void
judge_window (FmxVoiceLevel *level)
{
  int gate = FMX_VOICE_LEVEL_BINS;
  uint32_t active_us;
  double power;

  memmove (level->floors_db + 1, level->floors_db,
      sizeof level->floors_db - sizeof *level->floors_db);
  level->floors_db[0] = floor_bin (level->now_us);
  if (level->n_floors < FMX_VOICE_LEVEL_FLOORS)
    level->n_floors++;
  for (uint32_t i = 0; i < 3 && i < level->n_floors; i++)
    if (level->floors_db[i] - ABOVE_FLOOR_DB < gate)
      gate = level->floors_db[i] - ABOVE_FLOOR_DB;

  power = gated_power (level->before_us, gate, &active_us);
  if (active_us >= ACTIVE_MIN_US) {
    int margin = (int) lround (MARGIN_DB - 10.0 * log10 (power));

    power = gated_power (level->before_us, margin, &active_us);
    learn (level, power, active_us);
  }
  memcpy (level->before_us, level->now_us, sizeof level->before_us);
  memset (level->now_us, 0, sizeof level->now_us);
  level->filled_us = 0;
}

static double
goal_db (const FmxVoiceLevel *level)
{
  const FmxVoiceLevelParams *params = &level->params;
  double noise_dbov = 0.0;
  double goal;

  if (level->active_us == 0)
    return 0.0;
  goal = params->target_dbov - fmx_voice_level_speech_dbov (level);
  goal = fmax (-params->cut_db, fmin (goal, params->raise_db));
  for (uint32_t i = 0; i < level->n_floors; i++)
    noise_dbov = fmin (noise_dbov, -level->floors_db[i]);
  return fmin (goal, fmax (0.0, params->noise_dbov - noise_dbov));
}

static void
move_gain (FmxVoiceLevel *level, double level_dbov, double seconds)
{
  const FmxVoiceLevelParams *params = &level->params;
  double goal = goal_db (level);
  double most = params->target_dbov + SHOUT_DB - level_dbov;
  double fall = params->fall_db_s;

  if (level->gain_db > most) {
    fall = SHOUT_DB_S;
    goal = fmin (goal, fmax (most, -params->cut_db));
  }
  if (goal > level->gain_db)
    level->gain_db = fmin (goal, level->gain_db + params->rise_db_s * seconds);
  else
    level->gain_db = fmax (goal, level->gain_db - fall * seconds);
}

double
fmx_voice_level_on_frame (FmxVoiceLevel *level, double level_dbov,
    FmxDuration duration)
{
  uint32_t us = (uint32_t) (duration / FMX_USECOND);

  if (level_dbov < QUIETEST_DBOV || us == 0 || us > WINDOW_US)
    return level->gain_db;
  level->now_us[lround (fmax (0.0, -level_dbov))] += us;
  level->filled_us += us;
  if (level->filled_us >= WINDOW_US)
    judge_window (level);
  move_gain (level, level_dbov, us / 1e6);
  return level->gain_db;
}

uint32_t
fmx_voice_level_scale (int16_t *samples, size_t n_samples, double from_db,
    double to_db, uint32_t most)
{
  float from = (float) pow (10.0, from_db / 20.0);
  float to = (float) pow (10.0, to_db / 20.0);
  uint32_t weight = 1;
  float step, peak = 0.0f;

  if (from == 1.0f && to == 1.0f)
    return 1;
  for (size_t i = 0; i < n_samples; i++)
    peak = fmaxf (peak, fabsf ((float) samples[i]));
  peak *= fmaxf (from, to);
  for (; peak > (float) INT16_MAX && weight < most; peak /= 2.0f) {
    weight *= 2;
    from /= 2.0f;
    to /= 2.0f;
  }
  step = n_samples > 0 ? (to - from) / (float) n_samples : 0.0f;
  for (size_t i = 0; i < n_samples; i++) {
    float x = (float) samples[i] * (from + step * (float) i);

    x = fmaxf ((float) INT16_MIN, fminf (x, (float) INT16_MAX));
    samples[i] = (int16_t) lrintf (x);
  }
  return weight;
}
