/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/mix/fmx-mix-envelope.h"

#include "fairmix/mix/fmx-mix-kernels.h"

static int64_t
min64 (int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static int64_t
max64 (int64_t a, int64_t b)
{
  return a > b ? a : b;
}

static float
gain_at (const FmxMixEnvelope *envelope, int64_t x)
{
  int64_t edge = min64 (x - envelope->from, envelope->until - x);

  if (edge <= 0)
    return 0.0f;
  if (envelope->ramp == 0 || edge >= (int64_t) envelope->ramp)
    return 1.0f;
  return (float) edge / (float) envelope->ramp;
}

bool
fmx_mix_envelope_is_full (const FmxMixEnvelope *envelope, int64_t pos,
    size_t n_samples)
{
  int64_t ramp = (int64_t) envelope->ramp;

  return pos >= envelope->from && pos - envelope->from >= ramp
      && envelope->until - pos >= (int64_t) n_samples + ramp;
}

/* The gain has corners where a ramp ends (or, in a stay that is too short for
 * two ramps, where they meet); between them it is a straight line. */
void
fmx_mix_add_envelope (int32_t *total, const int16_t *in, size_t n_samples,
    const FmxMixEnvelope *envelope, int64_t pos)
{
  int64_t end = min64 (pos + (int64_t) n_samples, envelope->until);
  int64_t ramp = (int64_t) envelope->ramp;
  int64_t x = max64 (pos, envelope->from);
  int64_t middle, corners[4];

  /* no stay without an end is too short, however early it began */
  if (envelope->until < envelope->from + 2 * ramp)
    ramp = (envelope->until - envelope->from) / 2;
  middle = envelope->from + ramp;
  corners[0] = min64 (middle, end);
  corners[1] = min64 (max64 (middle, envelope->until - ramp), end);
  corners[2] = corners[3] = end;

  for (int i = 0; i < 4; i++) {
    int64_t next = corners[i];
    float from, to;

    if (next <= x)
      continue;
    from = envelope->ramp == 0 ? 1.0f : gain_at (envelope, x);
    to = envelope->ramp == 0 ? 1.0f : gain_at (envelope, next);
    fmx_mix_add_ramp (total + (x - pos), in + (x - pos), (size_t) (next - x),
        from, to);
    x = next;
  }
}

void
fmx_mix_cross_fade (int16_t *samples, const int16_t *before, size_t n_samples)
{
  for (size_t i = 0; i < n_samples; i++) {
    int64_t step = samples[i] - before[i];

    samples[i] = (int16_t) (before[i] + step * (int64_t) (i + 1)
        / (int64_t) (n_samples + 1));
  }
}
