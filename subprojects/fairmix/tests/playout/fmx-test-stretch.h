/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_TEST_STRETCH_H
#define FMX_TEST_STRETCH_H

#include "fmx-test.h"

#include <math.h>
#include <stdlib.h>

#include "fairmix/playout/fmx-stretch.h"

#define TAU 6.283185307179586
#define MS FMX_MSECOND

typedef float (*Signal) (size_t i, uint32_t rate_hz);

/* What went in and what came out */
typedef struct
{
  FmxStretchParams params;
  FmxStretch stretch;
  float *storage;
  Signal signal;
  float *out;
  size_t n_in, n_out, capacity;
  int64_t adjusted;
  FmxDuration packet;
} Run;

static inline float
tone (size_t i, uint32_t rate_hz)
{
  return (float) (0.5 * sin (TAU * 440.0 * (double) i / rate_hz));
}

/* Syllables: 180 ms of eight harmonics whose pitch glides, 40 ms of noise,
 * 30 ms of nothing */
static inline float
speech (size_t i, uint32_t rate_hz)
{
  double t = (double) i / rate_hz, s = fmod (t, 0.25);
  double phase = TAU * (120.0 * t + 8.0 * sin (TAU * 0.7 * t));
  double y = 0.0;

  if (s >= 0.22)
    return 0.0f;
  if (s >= 0.18)
    return (float) (0.05 * sin (1e5 * sin ((double) i)) * (0.22 - s) / 0.04);
  for (int k = 1; k <= 8; k++)
    y += sin (k * phase) / k;
  return (float) (0.2 * y * sin (TAU / 2.0 * s / 0.18));
}

static inline float
noise (size_t i, uint32_t rate_hz)
{
  uint32_t x = (uint32_t) i * 2654435761u;

  (void) rate_hz;
  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  x *= 3266489917u;
  x ^= x >> 16;
  return (float) x / 4294967296.0f - 0.5f;
}

static inline float
silence (size_t i, uint32_t rate_hz)
{
  (void) i;
  (void) rate_hz;
  return 0.0f;
}

static const Signal signals[] = { tone, speech, noise, silence };

static inline Run *
run_new (const FmxStretchParams *params, Signal signal)
{
  Run *run = calloc (1, sizeof *run);

  run->params = *params;
  run->signal = signal;
  run->packet = 20 * MS;
  run->storage = calloc (fmx_stretch_storage_samples (params), sizeof (float));
  fmx_stretch_init (&run->stretch, params, run->storage);
  return run;
}

static inline Run *
run_new_default (uint32_t rate_hz, Signal signal)
{
  FmxStretchParams params;

  fmx_stretch_params_default (&params, rate_hz, 1);
  params.hold = 20 * MS;
  return run_new (&params, signal);
}

static inline void
run_free (Run *run)
{
  free (run->storage);
  free (run->out);
  free (run);
}

static inline size_t
frames (const Run *run, FmxDuration duration)
{
  return (size_t) (duration * run->params.rate_hz / FMX_SECOND);
}

/* Channel c of the input is the signal divided by -(c + 1), or by 1. */
static inline float
input (const Run *run, size_t i, uint32_t channel)
{
  float x = run->signal (i, run->params.rate_hz);

  return channel == 0 ? x : -x / (float) (channel + 1);
}

static inline void
push (Run *run, size_t n)
{
  uint32_t channels = run->params.channels;
  float *in = malloc ((n + 1) * channels * sizeof (float));
  size_t most = fmx_stretch_max_output (&run->stretch, n);
  size_t n_out;
  int64_t hold;

  for (size_t i = 0; i < n; i++)
    for (uint32_t c = 0; c < channels; c++)
      in[i * channels + c] = input (run, run->n_in + i, c);
  run->capacity = run->n_out + most;
  run->out = realloc (run->out, (run->capacity + 1) * channels
      * sizeof (float));
  n_out = fmx_stretch_process (&run->stretch, run->out
      + run->n_out * channels, in, n);
  assert_true (n_out <= most);
  run->n_in += n;
  run->n_out += n_out;
  free (in);
  hold = (int64_t) frames (run, run->params.hold)
      - fmx_stretch_debt (&run->stretch);
  assert_true ((int64_t) fmx_stretch_held (&run->stretch)
      <= (hold > 0 ? hold : 0));
  assert_int_equal ((int64_t) run->n_out, (int64_t) run->n_in + run->adjusted
      - fmx_stretch_debt (&run->stretch)
      - (int64_t) fmx_stretch_held (&run->stretch));
}

static inline void
push_for (Run *run, FmxDuration duration)
{
  for (size_t end = run->n_in + frames (run, duration); run->n_in < end;)
    push (run, frames (run, run->packet));
}

static inline void
adjust (Run *run, int64_t n)
{
  run->adjusted += n;
  fmx_stretch_adjust (&run->stretch, n);
}

/* Returns: how much went in until nothing remained to be done */
static inline FmxDuration
push_until_done (Run *run)
{
  size_t start = run->n_in;

  while (fmx_stretch_debt (&run->stretch) != 0
      || fmx_stretch_held (&run->stretch) != 0) {
    push (run, frames (run, run->packet));
    assert_true (run->n_in - start < frames (run, 200 * FMX_SECOND));
  }
  return (FmxDuration) (run->n_in - start) * FMX_SECOND / run->params.rate_hz;
}

static inline float
largest_step (const float *x, size_t n)
{
  float largest = 0.0f;

  for (size_t i = 1; i < n; i++)
    largest = fmaxf (largest, fabsf (x[i] - x[i - 1]));
  return largest;
}

static inline float *
input_of (const Run *run, size_t n)
{
  float *x = malloc (n * sizeof (float));

  for (size_t i = 0; i < n; i++)
    x[i] = run->signal (i, run->params.rate_hz);
  return x;
}

#endif /* FMX_TEST_STRETCH_H */
