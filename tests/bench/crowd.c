/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How clear a crowd of recorded voices stays: signal to distortion, in dB, of
 * the limiter beside clamping and wrapping.  A gain is fitted to each 20 ms, so
 * that a slow change of level is no distortion.
 *
 *   crowd [--csv | --levels] FOLDER       16-bit mono WAV files; or $FMX_VOICES
 *
 * --levels: instead, how loud each voice comes out of voice-level, from -50 to
 * -15 dBov: active speech [P.56], without its first eight seconds.
 */
#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fairmix/mix/fmx-limiter.h"
#include "fairmix/mix/fmx-mix-kernels.h"
#include "fairmix/mix/fmx-voice-level.h"

#define MAX_FILES 64
#define MAX_SAMPLES (60u * 48000u)
#define MIN_SAMPLES (10u * 48000u)
#define SPEECH_RMS 100.0        /* quieter frames are pauses */

typedef struct
{
  int16_t *samples;
  size_t n_samples;
  double rms;                   /* while it speaks */
} Voice;

static Voice voices[MAX_FILES];
static size_t n_voices;
static uint32_t rate_hz;
static size_t fit;              /* samples that one gain is fitted to */

static uint32_t
le (const uint8_t * bytes, unsigned n)
{
  uint32_t value = 0;

  while (n-- > 0)
    value = value << 8 | bytes[n];
  return value;
}

/* Returns: whether it is a WAV file of ours */
static bool
load_wav (FILE * file, Voice * voice)
{
  uint8_t head[12], chunk[8], format[16] = { 0 };

  if (fread (head, 1, 12, file) != 12 || memcmp (head, "RIFF", 4) != 0)
    return false;
  while (fread (chunk, 1, 8, file) == 8 && memcmp (chunk, "data", 4) != 0) {
    size_t size = le (chunk + 4, 4), taken = 0;

    if (memcmp (chunk, "fmt ", 4) == 0 && size >= 16)
      taken = fread (format, 1, 16, file);
    if (fseek (file, (long) (size - taken), SEEK_CUR) != 0)
      return false;
  }
  if (le (format, 2) != 1 || le (format + 2, 2) != 1
      || le (format + 14, 2) != 16)
    return false;
  if (rate_hz == 0)
    rate_hz = le (format + 4, 4);
  if (rate_hz != le (format + 4, 4))
    return false;
  voice->samples = malloc (MAX_SAMPLES * sizeof *voice->samples);
  if (voice->samples == NULL)
    exit (1);
  voice->n_samples = fread (voice->samples, sizeof *voice->samples,
      MAX_SAMPLES, file);
  return voice->n_samples >= MIN_SAMPLES;
}

static void
measure_level (Voice * voice)
{
  double sum = 0;
  size_t n = 0;

  for (size_t i = 0; i + fit <= voice->n_samples; i += fit) {
    double energy = (double) fmx_mix_kernels_best ()->energy (voice->samples
        + i, fit);

    if (energy > SPEECH_RMS * SPEECH_RMS * (double) fit) {
      sum += energy;
      n += fit;
    }
  }
  voice->rms = n > 0 ? sqrt (sum / (double) n) : 1;
}

static void
load_folder (const char *path)
{
  struct dirent **entries;
  int n = scandir (path, &entries, NULL, alphasort);

  for (int i = 0; i < n; i++) {
    char name[4096];
    FILE *file;

    snprintf (name, sizeof name, "%s/%s", path, entries[i]->d_name);
    file = strstr (name, ".wav") != NULL ? fopen (name, "rb") : NULL;
    if (file != NULL && n_voices < MAX_FILES
        && load_wav (file, &voices[n_voices])) {
      fit = rate_hz / 50;
      measure_level (&voices[n_voices++]);
    }
    if (file != NULL)
      fclose (file);
    free (entries[i]);
  }
  if (n >= 0)
    free (entries);
}

/* @n talkers at @level_dbfs each.  Fewer recordings than talkers: they are used
 * again, from another place. */
static void
make_crowd (int32_t * crowd, size_t n_samples, unsigned n, double level_dbfs)
{
  memset (crowd, 0, n_samples * sizeof *crowd);
  for (unsigned k = 0; k < n; k++) {
    const Voice *voice = &voices[k % n_voices];
    size_t start = k / n_voices * (size_t) (7.7 * rate_hz);
    double gain = 32768 * pow (10, level_dbfs / 20) / voice->rms;

    for (size_t i = 0; i < n_samples; i++) {
      double x = gain * voice->samples[(i + start) % voice->n_samples];

      crowd[i] += (int32_t) lrint (fmax (-32768, fmin (32767, x)));
    }
  }
}

static double
distortion_db (const int32_t * clean, const int16_t * out, size_t n_samples)
{
  double signal = 0, distortion = 1e-9;

  for (size_t i = 0; i + fit <= n_samples; i += fit) {
    double xx = 1e-9, xy = 0;

    for (size_t j = i; j < i + fit; j++) {
      xx += (double) clean[j] * clean[j];
      xy += (double) clean[j] * out[j];
    }
    for (size_t j = i; j < i + fit; j++) {
      double wanted = xy / xx * clean[j];

      signal += wanted * wanted;
      distortion += (out[j] - wanted) * (out[j] - wanted);
    }
  }
  return 10 * log10 (signal / distortion);
}

static void
measure (const int32_t * crowd, int16_t * out, size_t n_samples, bool csv)
{
  FmxLimiterParams params;
  FmxLimiter limiter;
  int32_t silence[FMX_LIMITER_MAX_LOOK_AHEAD] = { 0 };
  double clamp_db, wrap_db;

  fmx_mix_kernels_best ()->narrow (out, crowd, n_samples);
  clamp_db = distortion_db (crowd, out, n_samples);
  for (size_t i = 0; i < n_samples; i++)
    out[i] = (int16_t) (uint16_t) crowd[i];
  wrap_db = distortion_db (crowd, out, n_samples);
  fmx_limiter_params_default (&params, rate_hz, 1);
  fmx_limiter_init (&limiter, &params);
  fmx_limiter_process (&limiter, out, crowd, n_samples);
  fmx_limiter_process (&limiter, out + n_samples, silence,
      params.look_ahead_frames);
  printf (csv ? "%.1f,%.1f,%.1f\n" : " %8.1f %8.1f %8.1f\n",
      distortion_db (crowd, out + params.look_ahead_frames, n_samples),
      clamp_db, wrap_db);
}

/* Mean of the frames within 15.9 dB of it, in dBov */
static double
active_dbov (const double *frames, size_t n)
{
  double level = -60;

  for (int round = 0; round < 20; round++) {
    double sum = 1e-12;
    size_t active = 0;

    for (size_t i = 0; i < n; i++)
      if (frames[i] > level - 15.9) {
        sum += pow (10, frames[i] / 10);
        active++;
      }
    level = 10 * log10 (sum / (double) (active > 0 ? active : 1));
  }
  return level;
}

/* @settled_s: until it is within 1.5 dB of the target for good */
static double
bring_to_level (const Voice * voice, double dbov, double *settled_s)
{
  static double in[MAX_SAMPLES / 100], out[MAX_SAMPLES / 100];
  size_t n = voice->n_samples / fit, skip = 8 * 50;
  FmxVoiceLevelParams params;
  FmxVoiceLevel level;
  double natural;

  for (size_t i = 0; i < n; i++)
    in[i] = fmx_voice_level_of_energy (fmx_mix_kernels_best ()->energy
        (voice->samples + i * fit, fit), fit);
  natural = active_dbov (in, n);
  fmx_voice_level_params_default (&params);
  fmx_voice_level_init (&level, &params);
  *settled_s = 0;
  for (size_t i = 0; i < n; i++) {
    double shifted = in[i] + dbov - natural;

    out[i] = shifted + fmx_voice_level_on_frame (&level, shifted,
        20 * FMX_MSECOND);
    if (fabs (dbov + out[i] - shifted - params.target_dbov) > 1.5 && i < skip)
      *settled_s = (double) (i + 1) / 50;
  }
  return active_dbov (out + skip, n - skip);
}

static void
print_levels (void)
{
  printf ("%zu voices; active speech, dBov, after the first 8 s\n"
      "  in    mean   least    most   within 1.5 dB after [s]\n", n_voices);
  for (double dbov = -50; dbov <= -15; dbov += 5) {
    double sum = 0, least = 0, most = -99, latest = 0;

    for (size_t k = 0; k < n_voices; k++) {
      double settled_s;
      double out = bring_to_level (&voices[k], dbov, &settled_s);

      sum += out;
      least = fmin (least, out);
      most = fmax (most, out);
      latest = fmax (latest, settled_s);
    }
    printf ("%4.0f %7.1f %7.1f %7.1f %7.1f\n", dbov, sum / (double) n_voices,
        least, most, latest);
  }
}

int
main (int argc, char **argv)
{
  const unsigned sizes[] = { 4, 8, 16, 24 };
  const double levels[] = { -20, -14 };
  bool csv = argc > 1 && strcmp (argv[1], "--csv") == 0;
  bool brought = argc > 1 && strcmp (argv[1], "--levels") == 0;
  int named = 1 + (csv || brought);
  const char *folder = argc > named ? argv[named] : getenv ("FMX_VOICES");
  size_t n_samples = MAX_SAMPLES;
  int32_t *crowd = malloc (MAX_SAMPLES * sizeof *crowd);
  int16_t *out = malloc ((MAX_SAMPLES + FMX_LIMITER_MAX_LOOK_AHEAD)
      * sizeof *out);

  if (crowd == NULL || out == NULL)
    return 1;
  if (folder != NULL)
    load_folder (folder);
  if (n_voices == 0) {
    fprintf (stderr, "%s: no voices; examples/voices.sh makes some\n",
        folder != NULL ? folder : "no folder given");
    return 77;                  /* skipped */
  }
  if (brought) {
    print_levels ();
    return 0;
  }
  for (size_t i = 0; i < n_voices; i++)
    if (voices[i].n_samples < n_samples)
      n_samples = voices[i].n_samples;
  if (csv)
    printf ("talkers,level_dbfs,limiter_db,clamp_db,wrap_db\n");
  else
    printf ("%zu voices, %.0f s, %u Hz; signal to distortion in dB\n"
        "talkers  level  limiter    clamp     wrap\n", n_voices,
        (double) n_samples / rate_hz, rate_hz);
  for (size_t j = 0; j < sizeof levels / sizeof *levels; j++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      make_crowd (crowd, n_samples, sizes[i], levels[j]);
      printf (csv ? "%u,%.0f," : "%7u %6.0f", sizes[i], levels[j]);
      measure (crowd, out, n_samples, csv);
    }
  for (size_t i = 0; i < n_voices; i++)
    free (voices[i].samples);
  free (crowd);
  free (out);
  return 0;
}
