/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/mix/fmx-limiter.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define ONE_Q30 (1u << 30)

/* A gain this near to one becomes one: less than half a step of 16 bits. */
#define SNAP_Q30 (1u << 14)

/* Whole vectors of every SIMD kernel, and a third of the usual look-ahead: a
 * block costs about as much as its samples. */
#define BLOCK_FRAMES_MAX 40u
#define BLOCKS_PER_LOOK_AHEAD 3u
#define LOOK_AHEAD_S 0.0025

/* A crowd is beyond the ceiling most of the time.  To let go after every peak
 * would modulate the sum, to let go slowly would make one cough duck everybody:
 * the gain recovers to c_j, which follows what is required within 50 ms, and
 * comes back by 0.2 in a second. */
#define CROWD_FALL_S 0.05
#define CROWD_RISE_PER_S 0.2

/* How much is looked at in one go for whether there is anything to do: 20 ms at
 * the usual look-ahead. */
#define SLICE_BLOCKS 24u

/*
 * Frames are taken in blocks of b.  With r_j <= 1 the gain that block j's peak
 * asks for, and W, K chosen from the look-ahead L so that
 *
 *   (K + 1) b <= L <= (W + 1) b,
 *
 *   required  m_j = min (r_{j-W} ... r_j)
 *   crowd     c_j = c_{j-1} + (m_j - c_{j-1}) / 50 ms  if m_j < c_{j-1}
 *                   c_{j-1} + 0.2 / s, at most 1       otherwise
 *   held      h_j = min (m_j, h_{j-1} + (c_j - h_{j-1})+ / release)
 *   smoothed  S_j = mean (h_{j-K+1} ... h_j)
 *
 * the b frames that leave after block j is complete lie in blocks j - W ...
 * j - K, so all of h_{j-K} ... h_j are at most their r: on the line from
 * S_{j-1} to S_j none of them is beyond the ceiling.  The sums are exact
 * integers: the gain of a quiet signal is one, not nearly one.
 */

static uint32_t
min_u32 (uint32_t a, uint32_t b)
{
  return a < b ? a : b;
}

void
fmx_limiter_params_default (FmxLimiterParams *params, uint32_t rate_hz,
    uint32_t channels)
{
  params->rate_hz = rate_hz;
  params->channels = channels;
  params->look_ahead_frames = (uint32_t) (rate_hz * LOOK_AHEAD_S + 0.5);
  params->ceiling = INT16_MAX;
  params->release_ms = 80.0f;
}

/* What an exponential with this time constant goes in one block. */
static uint32_t
part_q30 (double time_constant_blocks)
{
  return (uint32_t) (ONE_Q30 * -expm1 (-1.0 / time_constant_blocks));
}

/* @part of the way from @from up to @to. */
static uint32_t
way_q30 (uint32_t from, uint32_t to, uint32_t part)
{
  return (uint32_t) ((uint64_t) (to - from) * part >> 30);
}

void
fmx_limiter_init (FmxLimiter *limiter, const FmxLimiterParams *params)
{
  uint32_t look_ahead = params->look_ahead_frames;
  uint32_t block;
  double blocks_per_s;

  assert (params->rate_hz >= 8000 && params->rate_hz <= 48000);
  assert (params->channels >= 1
      && params->channels <= FMX_LIMITER_MAX_CHANNELS);
  assert (look_ahead >= FMX_LIMITER_MIN_LOOK_AHEAD
      && look_ahead <= FMX_LIMITER_MAX_LOOK_AHEAD);
  assert (params->ceiling >= 1 && params->ceiling <= INT16_MAX);
  assert (params->release_ms > 0.0f);

  limiter->params = *params;
  limiter->kernels = fmx_mix_kernels_best ();
  block = min_u32 (look_ahead / BLOCKS_PER_LOOK_AHEAD, BLOCK_FRAMES_MAX);
  block = block > 0 ? block : 1;
  limiter->block_frames = block;
  limiter->n_attack = look_ahead / block - 1;
  limiter->n_window = (look_ahead + block - 1) / block;
  assert (limiter->n_window <= FMX_LIMITER_MAX_BLOCKS);
  blocks_per_s = (double) params->rate_hz / block;
  limiter->release_q30 = part_q30 (params->release_ms / 1000.0 * blocks_per_s);
  limiter->crowd_fall_q30 = part_q30 (CROWD_FALL_S * blocks_per_s);
  limiter->crowd_rise_q30 = (uint32_t) (ONE_Q30 * CROWD_RISE_PER_S
      / blocks_per_s);
  limiter->mean_scale = 1.0 / ((double) limiter->n_attack * ONE_Q30);
  fmx_limiter_reset (limiter);
}

void
fmx_limiter_reset (FmxLimiter *limiter)
{
  limiter->phase = 0;
  limiter->peak = 0;
  limiter->n_idle = limiter->n_attack + 1;
  limiter->position = 0;
  limiter->window_min_q30 = ONE_Q30;
  limiter->held_q30 = ONE_Q30;
  limiter->crowd_q30 = ONE_Q30;
  limiter->held_sum_q30 = (uint64_t) limiter->n_attack * ONE_Q30;
  for (uint32_t i = 0; i < FMX_LIMITER_MAX_BLOCKS; i++) {
    limiter->required_q30[i] = ONE_Q30;
    limiter->held_ring_q30[i] = ONE_Q30;
  }
  limiter->ramp.gain = 1.0f;
  limiter->ramp.gain_step = 0.0f;
  limiter->ramp.first_frame = 0;
  limiter->ramp.channels = limiter->params.channels;
  limiter->ramp.ceiling = limiter->params.ceiling;
  memset (limiter->delay, 0, sizeof limiter->delay);
}

/* Nothing under way is beyond the ceiling, and the gain has come back. */
static bool
is_idle (const FmxLimiter *limiter)
{
  return limiter->n_idle > limiter->n_attack
      && limiter->peak <= (uint32_t) limiter->params.ceiling;
}

/* The lowest of the newest W + 1 required gains, @required the newest. */
static void
push_required (FmxLimiter *limiter, uint32_t required)
{
  const uint32_t mask = FMX_LIMITER_MAX_BLOCKS - 1;
  uint32_t leaving = limiter->required_q30[(limiter->position
          - limiter->n_window) & mask];

  limiter->required_q30[limiter->position & mask] = required;
  if (required <= limiter->window_min_q30) {
    limiter->window_min_q30 = required;
  } else if (leaving == limiter->window_min_q30) {
    uint32_t lowest = required;

    for (uint32_t i = 1; i < limiter->n_window; i++)
      lowest = min_u32 (lowest,
          limiter->required_q30[(limiter->position - i) & mask]);
    limiter->window_min_q30 = lowest;
  }
}

/* The gain that is held: at once down, slowly up to what the crowd leaves. */
static uint32_t
hold (FmxLimiter *limiter)
{
  uint32_t lowest = limiter->window_min_q30;
  uint32_t held = limiter->held_q30;
  uint32_t crowd = limiter->crowd_q30;

  if (lowest < crowd)
    crowd -= way_q30 (lowest, crowd, limiter->crowd_fall_q30);
  else
    crowd = min_u32 (crowd + limiter->crowd_rise_q30, ONE_Q30);
  if (held < crowd)
    held += way_q30 (held, crowd, limiter->release_q30);
  if (crowd == ONE_Q30 && ONE_Q30 - held < SNAP_Q30)
    held = ONE_Q30;
  limiter->crowd_q30 = crowd;
  limiter->held_q30 = min_u32 (held, lowest);
  return limiter->held_q30;
}

/* A block is complete: decides the line of gains for the next frames out. */
static void
end_block (FmxLimiter *limiter)
{
  const uint32_t mask = FMX_LIMITER_MAX_BLOCKS - 1;
  uint32_t ceiling = (uint32_t) limiter->params.ceiling;
  uint32_t required = ONE_Q30;
  uint32_t held;
  double from = (double) limiter->held_sum_q30 * limiter->mean_scale;
  double to;

  if (limiter->peak > ceiling)
    required = (uint32_t) (ceiling * (double) ONE_Q30 / limiter->peak);
  push_required (limiter, required);

  held = hold (limiter);
  limiter->held_sum_q30 += held;
  limiter->held_sum_q30 -=
      limiter->held_ring_q30[(limiter->position - limiter->n_attack) & mask];
  limiter->held_ring_q30[limiter->position & mask] = held;
  limiter->position++;
  if (held < ONE_Q30)
    limiter->n_idle = 0;
  else if (limiter->n_idle <= limiter->n_attack)
    limiter->n_idle++;

  to = (double) limiter->held_sum_q30 * limiter->mean_scale;
  limiter->ramp.gain = (float) from;
  limiter->ramp.first_frame = 0;
  limiter->ramp.gain_step = (float) ((to - from) / limiter->block_frames);
  limiter->phase = 0;
  limiter->peak = 0;
}

/*
 * One call's worth of frames: @in joins on to the delay line, @out is filled as
 * far as the gain has been decided.
 */
typedef struct
{
  int16_t *out;
  const int32_t *in;
  size_t n_out;                 /* frames that are out */
  size_t n_in;                  /* frames that have been looked at */
} Run;

static void
emit_from (FmxLimiter *limiter, int16_t *out, const int32_t *in,
    size_t n_frames)
{
  size_t n_samples = n_frames * limiter->params.channels;

  if (limiter->n_idle > limiter->n_attack) {
    limiter->kernels->narrow (out, in, n_samples);
    return;
  }
  limiter->kernels->scale (out, in, n_samples, &limiter->ramp);
  limiter->ramp.first_frame += (uint32_t) n_frames;
}

/* Puts out what goes with the input frames before @end. */
static void
emit (FmxLimiter *limiter, Run *run, size_t end)
{
  size_t channels = limiter->params.channels;
  size_t look_ahead = limiter->params.look_ahead_frames;

  while (run->n_out < end) {
    size_t n_frames = end - run->n_out;
    int16_t *out = run->out + run->n_out * channels;

    if (run->n_out < look_ahead) {
      if (n_frames > look_ahead - run->n_out)
        n_frames = look_ahead - run->n_out;
      emit_from (limiter, out, limiter->delay + run->n_out * channels,
          n_frames);
    } else {
      emit_from (limiter, out,
          run->in + (run->n_out - look_ahead) * channels, n_frames);
    }
    run->n_out += n_frames;
  }
}

/* Takes in the frames up to @end, block by block. */
static void
take_in (FmxLimiter *limiter, Run *run, size_t end)
{
  size_t channels = limiter->params.channels;

  while (run->n_in < end) {
    uint32_t n_frames = limiter->block_frames - limiter->phase;
    uint32_t peak;

    if (n_frames > end - run->n_in)
      n_frames = (uint32_t) (end - run->n_in);
    peak = limiter->kernels->peak (run->in + run->n_in * channels,
        n_frames * channels);
    if (peak > limiter->peak)
      limiter->peak = peak;
    run->n_in += n_frames;
    limiter->phase += n_frames;
    if (limiter->phase == limiter->block_frames) {
      emit (limiter, run, run->n_in);
      end_block (limiter);
    }
  }
}

/* The newest frames stay in the delay line. */
static void
keep (FmxLimiter *limiter, const int32_t *in, size_t n_frames)
{
  size_t n_delay = (size_t) limiter->params.look_ahead_frames
      * limiter->params.channels;
  size_t n = n_frames * limiter->params.channels;

  if (n == 0)
    return;
  if (n < n_delay) {
    memmove (limiter->delay, limiter->delay + n,
        (n_delay - n) * sizeof (int32_t));
    memcpy (limiter->delay + n_delay - n, in, n * sizeof (int32_t));
  } else {
    memcpy (limiter->delay, in + n - n_delay, n_delay * sizeof (int32_t));
  }
}

void
fmx_limiter_process (FmxLimiter *limiter, int16_t *out, const int32_t *in,
    size_t n_frames)
{
  uint32_t ceiling = (uint32_t) limiter->params.ceiling;
  size_t channels = limiter->params.channels;
  Run run = { out, in, 0, 0 };

  while (run.n_in < n_frames) {
    size_t slice = SLICE_BLOCKS * limiter->block_frames - limiter->phase;

    if (slice > n_frames - run.n_in)
      slice = n_frames - run.n_in;
    if (is_idle (limiter) && limiter->kernels->peak (in + run.n_in * channels,
            slice * channels) <= ceiling) {
      run.n_in += slice;
      limiter->phase = (uint32_t) ((limiter->phase + slice)
          % limiter->block_frames);
    } else {
      take_in (limiter, &run, run.n_in + slice);
    }
    emit (limiter, &run, run.n_in);
  }
  keep (limiter, in, n_frames);
}
