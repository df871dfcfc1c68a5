/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/playout/fmx-stretch.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define HOPS_PER_FADE 8u

/*
 * The window of frames, as they came in:
 *
 *   0                    position               end
 *   | passed, >= longest | held                 |
 *
 * A joint at the position, with the lag L > 0 (frames taken out) or L < 0 (put
 * in), puts out F = fade frames that go over from those at the position to
 * those at position + L, and goes on behind the latter:
 *
 *   out_i = ((1 - g_i) x[p + i] + g_i x[p + L + i]) / n_i,  i = 0 ... F - 1
 *   n_i^2 = g_i^2 + (1 - g_i)^2 + 2 r g_i (1 - g_i)
 *   p    <- p + L + F,  debt <- debt + L
 *
 * With the similarity r of the two, n keeps the level: it is one for a periodic
 * signal and makes the fade one of constant power for noise.
 */

void
fmx_stretch_params_default (FmxStretchParams *params, uint32_t rate_hz,
    uint32_t channels)
{
  params->rate_hz = rate_hz;
  params->channels = channels;
  params->longest_lag = 40 * FMX_MSECOND;
  params->fade = 20 * FMX_MSECOND;
  params->spacing = 20 * FMX_MSECOND;
  params->patience = FMX_SECOND;
  params->quiet = 0.003f;
  params->hold = 0;
}

static uint32_t
frames_of (const FmxStretchParams *params, FmxDuration duration)
{
  int64_t frames = (duration * params->rate_hz + FMX_SECOND / 2) / FMX_SECOND;

  return frames > 0 ? (uint32_t) frames : 0;
}

static uint32_t
at_least (uint32_t least, uint32_t frames)
{
  return frames > least ? frames : least;
}

static void
set_lengths (FmxStretch *stretch, const FmxStretchParams *params)
{
  assert (params->rate_hz >= 4000 && params->rate_hz <= 384000);
  assert (params->channels >= 1);
  assert (params->fade > 0 && params->fade <= FMX_SECOND);
  assert (params->longest_lag >= 2 * params->fade
      && params->longest_lag <= FMX_SECOND);

  stretch->params = *params;
  stretch->fade_frames = at_least (1, frames_of (params, params->fade));
  stretch->longest_frames =
      at_least (2 * stretch->fade_frames, frames_of (params,
          params->longest_lag));
  stretch->spacing_frames = frames_of (params, params->spacing);
  stretch->hop_frames = at_least (1, stretch->fade_frames / HOPS_PER_FADE);
  stretch->patience_frames = at_least (1, frames_of (params, params->patience));
  stretch->hold_frames = frames_of (params, params->hold);
  stretch->capacity = 4 * (size_t) (stretch->longest_frames
      + stretch->fade_frames);
}

size_t
fmx_stretch_storage_samples (const FmxStretchParams *params)
{
  FmxStretch s;

  set_lengths (&s, params);
  return s.capacity * (params->channels + 1);
}

void
fmx_stretch_init (FmxStretch *stretch, const FmxStretchParams *params,
    float *storage)
{
  memset (stretch, 0, sizeof *stretch);
  set_lengths (stretch, params);
  stretch->frames = storage;
  stretch->mono = storage + stretch->capacity * params->channels;
}

void
fmx_stretch_restart (FmxStretch *stretch, int64_t debt)
{
  stretch->end = 0;
  stretch->position = 0;
  stretch->debt = 0;
  stretch->excess = 0;
  stretch->cutting = false;
  stretch->spaced = 0;
  fmx_stretch_adjust (stretch, debt);
}

void
fmx_stretch_reset (FmxStretch *stretch)
{
  fmx_stretch_restart (stretch, 0);
}

void
fmx_stretch_adjust (FmxStretch *stretch, int64_t frames)
{
  if (stretch->debt == 0)
    stretch->waited = 0;
  stretch->debt += frames;
  stretch->excess = 0;
  if (-stretch->debt > stretch->longest_frames)
    stretch->excess = -stretch->debt - stretch->longest_frames;
}

int64_t
fmx_stretch_debt (const FmxStretch *stretch)
{
  return stretch->debt;
}

size_t
fmx_stretch_held (const FmxStretch *stretch)
{
  return stretch->end - stretch->position;
}

void
fmx_stretch_get_stats (const FmxStretch *stretch, FmxStretchStats *stats)
{
  *stats = stretch->stats;
}

/* --- the window --- */

static float *
frames_at (const FmxStretch *stretch, size_t position)
{
  return stretch->frames + position * stretch->params.channels;
}

static void
make_room (FmxStretch *stretch, size_t n_frames)
{
  size_t frame_bytes = stretch->params.channels * sizeof (float);
  size_t keep = stretch->position;
  size_t from, n;

  if (stretch->end + n_frames <= stretch->capacity)
    return;
  if (keep > stretch->longest_frames)
    keep = stretch->longest_frames;
  from = stretch->position - keep;
  n = stretch->end - from;
  assert (n + n_frames <= stretch->capacity);
  memmove (stretch->frames, frames_at (stretch, from), n * frame_bytes);
  memmove (stretch->mono, stretch->mono + from, n * sizeof (float));
  stretch->position = keep;
  stretch->end = n;
}

static void
append (FmxStretch *stretch, const float *in, size_t n_frames)
{
  uint32_t channels = stretch->params.channels;

  if (n_frames == 0)
    return;
  make_room (stretch, n_frames);
  memcpy (frames_at (stretch, stretch->end), in,
      n_frames * channels * sizeof (float));
  for (size_t i = 0; i < n_frames; i++) {
    float sum = 0.0f;

    for (uint32_t c = 0; c < channels; c++)
      sum += in[i * channels + c];
    stretch->mono[stretch->end + i] = sum / (float) channels;
  }
  stretch->end += n_frames;
}

void
fmx_stretch_remember (FmxStretch *stretch, const float *in, size_t n_frames)
{
  assert (stretch->debt == 0 && fmx_stretch_held (stretch) == 0);
  if (n_frames > stretch->longest_frames) {
    in += (n_frames - stretch->longest_frames) * stretch->params.channels;
    n_frames = stretch->longest_frames;
  }
  append (stretch, in, n_frames);
  stretch->position = stretch->end;
}

/* --- joints --- */

/* Puts out the next frames as they are. */
static size_t
emit (FmxStretch *stretch, float *out, size_t n_frames)
{
  size_t held = fmx_stretch_held (stretch);

  if (n_frames > held)
    n_frames = held;
  memcpy (out, frames_at (stretch, stretch->position),
      n_frames * stretch->params.channels * sizeof (float));
  stretch->position += n_frames;
  stretch->waited += n_frames;
  stretch->spaced -= n_frames < stretch->spaced ? (uint32_t) n_frames
      : stretch->spaced;
  return n_frames;
}

/* Normalized cross-correlation of two stretches, -1 ... 1; 0 if one of them is
 * silent */
static float
similarity_of (const float *a, const float *b, size_t n)
{
  float product = 0.0f, energy_a = 0.0f, energy_b = 0.0f;
  float energy;

  for (size_t i = 0; i < n; i++) {
    product += a[i] * b[i];
    energy_a += a[i] * a[i];
    energy_b += b[i] * b[i];
  }
  energy = sqrtf (energy_a) * sqrtf (energy_b);
  return energy > 0.0f ? product / energy : 0.0f;
}

/* The similarity of the two ends of a joint with this lag */
static float
similarity_at (const FmxStretch *stretch, int64_t lag, size_t n)
{
  const float *at = stretch->mono + stretch->position;

  return similarity_of (at, at + lag, n);
}

/* @lag frames are taken out (> 0) or put in (< 0), in a joint of @n. */
static size_t
join (FmxStretch *stretch, float *out, int64_t lag, size_t n)
{
  uint32_t channels = stretch->params.channels;
  size_t other = (size_t) ((int64_t) stretch->position + lag);
  const float *from = frames_at (stretch, stretch->position);
  const float *to = frames_at (stretch, other);
  float similarity = similarity_at (stretch, lag, n);

  if (!(similarity > 0.0f))
    similarity = 0.0f;
  for (size_t i = 0; i < n; i++) {
    float g = (float) (i + 1) / (float) (n + 1);
    float h = 1.0f - g;
    float norm = 1.0f / sqrtf (g * g + h * h + 2.0f * similarity * g * h);

    for (size_t k = i * channels; k < (i + 1) * channels; k++)
      out[k] = (h * from[k] + g * to[k]) * norm;
  }
  stretch->position = other + n;
  stretch->debt += lag;
  if (lag > 0)
    stretch->stats.n_removed += (uint64_t) lag;
  else
    stretch->stats.n_inserted += (uint64_t) -lag;
  stretch->stats.n_joints++;
  stretch->waited = 0;
  stretch->spaced = stretch->spacing_frames;
  return n;
}

/* All frames between the two ends of a joint, and these */
static bool
is_quiet (const FmxStretch *stretch, int64_t lag, size_t n)
{
  const float *at = frames_at (stretch, stretch->position
      - (lag < 0 ? (size_t) -lag : 0));
  size_t n_samples = ((size_t) (lag < 0 ? -lag : lag) + n)
      * stretch->params.channels;
  float energy = 0.0f;

  for (size_t i = 0; i < n_samples; i++)
    energy += at[i] * at[i];
  return energy <= stretch->params.quiet * stretch->params.quiet
      * (float) n_samples;
}

/* Whether a joint of this similarity is good enough by now */
static bool
is_good (const FmxStretch *stretch, float similarity)
{
  return stretch->waited >= stretch->patience_frames
      || similarity >= 1.0f - (float) stretch->waited
      / (float) stretch->patience_frames;
}

/* The lag of the next joint: all that is to be done, if that is not too much */
static int64_t
next_lag (const FmxStretch *stretch)
{
  int64_t most = stretch->longest_frames;

  if (stretch->debt > 0)
    return stretch->debt < most ? -stretch->debt : -most;
  return -stretch->debt < most ? -stretch->debt : most;
}

/* One step at the position.  Returns: how many frames were put out; 0 if more
 * have to come in first */
static size_t
step (FmxStretch *stretch, float *out)
{
  size_t held = fmx_stretch_held (stretch);
  size_t fade = stretch->fade_now;
  int64_t lag;

  if (stretch->excess > 0)
    return 0;
  if (stretch->cutting) {
    if (held < 2 * fade)
      return 0;
    stretch->cutting = false;
    stretch->stats.n_cuts++;
    return join (stretch, out, (int64_t) fade, fade);
  }
  if (stretch->debt == 0)
    return emit (stretch, out, held);
  if (stretch->spaced > 0)
    return emit (stretch, out, stretch->spaced);
  lag = next_lag (stretch);
  if (held < fade + (lag > 0 ? (size_t) lag : 0))
    return 0;
  if (lag < 0 && stretch->position < (size_t) -lag)
    return emit (stretch, out, stretch->hop_frames);
  if (is_quiet (stretch, lag, fade)) {
    join (stretch, out, lag, fade);
    stretch->spaced = 0;
    return fade;
  }
  if (!is_good (stretch, similarity_at (stretch, lag, fade)))
    return emit (stretch, out, stretch->hop_frames);
  return join (stretch, out, lag, fade);
}

/* --- streaming --- */

size_t
fmx_stretch_max_output (const FmxStretch *stretch, size_t n_frames)
{
  return fmx_stretch_held (stretch) + n_frames
      + (stretch->debt > 0 ? (size_t) stretch->debt : 0);
}

/* Takes in some of the @n_frames; what is to be cut out, it drops, once it has
 * enough to go over from.  Returns: how many it took or dropped */
static size_t
take (FmxStretch *stretch, const float *in, size_t n_frames)
{
  size_t n = n_frames;
  size_t held = fmx_stretch_held (stretch);

  if (stretch->excess > 0 && held >= stretch->fade_now) {
    if ((int64_t) n > stretch->excess)
      n = (size_t) stretch->excess;
    stretch->excess -= (int64_t) n;
    stretch->debt += (int64_t) n;
    stretch->stats.n_removed += n;
    stretch->cutting = true;
    return n;
  }
  if (n > stretch->fade_frames)
    n = stretch->fade_frames;
  append (stretch, in, n);
  return n;
}

/* How long a joint may be: as long as there can be frames for it */
static void
set_fade (FmxStretch *stretch, size_t n_frames)
{
  int64_t most = (int64_t) stretch->hold_frames + (int64_t) n_frames;

  if (stretch->debt > 0)
    most -= stretch->debt;
  if (most > stretch->fade_frames)
    most = stretch->fade_frames;
  stretch->fade_now = most > 1 ? (size_t) most : 1;
}

size_t
fmx_stretch_process (FmxStretch *stretch, float *out, const float *in,
    size_t n_frames)
{
  uint32_t channels = stretch->params.channels;
  size_t n_out = 0;
  int64_t most;

  set_fade (stretch, n_frames);
  for (size_t n_in = 0; n_in < n_frames;) {
    size_t n;

    n_in += take (stretch, in + n_in * channels, n_frames - n_in);
    while (fmx_stretch_held (stretch) > 0
        && (n = step (stretch, out + n_out * channels)) > 0)
      n_out += n;
  }
  most = stretch->hold_frames - stretch->debt;
  if (most < 0)
    most = 0;
  if (fmx_stretch_held (stretch) > (size_t) most)
    n_out += emit (stretch, out + n_out * channels,
        fmx_stretch_held (stretch) - (size_t) most);
  return n_out;
}

size_t
fmx_stretch_drain (FmxStretch *stretch, float *out)
{
  stretch->cutting = false;
  return emit (stretch, out, fmx_stretch_held (stretch));
}
