/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/fmx-sim-voices.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "fairmix/base/fmx-units.h"

#define HOUSEKEEPING FMX_SECOND
#define MIN_NAMES 3u            /* as partialmix has it, and its defaults: */
#define MIN_BITRATE 12000u
#define MAX_BITRATE 32000u
#define HEADROOM 0.05
#define TALK_S 1.0              /* ITU-T P.59, and 1.35 s of silence */
#define LEVEL_TALKS 30u         /* -dBov */

void
fmx_sim_voices_init (FmxSimVoices *voices, unsigned n, uint32_t wire_bytes,
    FmxTime now)
{
  assert (n <= FMX_SIM_VOICES_MAX);
  memset (voices, 0, sizeof *voices);
  voices->n = n;
  voices->wire_bytes = wire_bytes;
  voices->mix = (FmxAdaptMix) {
    MIN_BITRATE, MAX_BITRATE, FMX_SIM_VOICES_INTERVAL, n, true
  };
  voices->params.headroom = HEADROOM;
  for (unsigned i = 0; i < n; i++)
    voices->streams[i] = (FmxSelectStream) {
      .wire_bps = (uint32_t) fmx_rate_bps (wire_bytes,
          FMX_SIM_VOICES_INTERVAL), .since = now
    };
}

void
fmx_sim_voices_pause (FmxSimVoices *voices, uint64_t seed, FmxTime now)
{
  voices->pauses = true;
  fmx_rng_init (&voices->rng, seed);
  for (unsigned i = 0; i < voices->n; i++) {
    voices->streams[i].level = FMX_LEVEL_SILENCE;
    voices->turns[i] = now + (FmxTime) (fmx_rng_next_unit (&voices->rng)
        * (double) FMX_SIM_VOICES_LATE);
  }
}

bool
fmx_sim_voices_talks (FmxSimVoices *voices, unsigned voice, FmxTime now)
{
  FmxSelectStream *s = &voices->streams[voice];
  const double silence_s = TALK_S / FMX_SIM_VOICES_ACTIVITY - TALK_S;

  while (voices->pauses && voices->turns[voice] <= now) {
    bool talks = s->level == FMX_LEVEL_SILENCE;

    s->level = talks ? LEVEL_TALKS : FMX_LEVEL_SILENCE;
    voices->turns[voice] += 1 + (FmxTime) fmx_time_from_s (-log (1.0
            - fmx_rng_next_unit (&voices->rng)) * (talks ? TALK_S : silence_s));
  }
  return !voices->pauses || s->level != FMX_LEVEL_SILENCE;
}

static void
cost_of_mix (FmxSimVoices *voices, uint64_t target_bps)
{
  FmxAdaptMix mix = voices->mix;

  mix.n_contributors = voices->n;
  voices->params.mix_max_bps = fmx_adapt_mix_wire_bps (&mix, MAX_BITRATE);
  mix.n_contributors = voices->n < MIN_NAMES ? voices->n : MIN_NAMES;
  if (fmx_adapt_mix_wire_bps (&mix, MIN_BITRATE) > target_bps)
    mix.n_contributors = 0;
  voices->params.mix_min_bps = fmx_adapt_mix_wire_bps (&mix, MIN_BITRATE);
}

/* What a packet of the mix has, of what the plan gives it. */
static void
share_mix (FmxSimVoices *voices)
{
  FmxAdaptMix *mix = &voices->mix;
  uint32_t bitrate_bps;

  voices->mix_wire_bytes = 0;
  if (voices->plan.n_mixes == 0)
    return;
  mix->n_contributors = voices->n - voices->plan.n_separate;
  mix->n_contributors = fmx_adapt_mix_n_names (mix, voices->plan.mix_bps);
  bitrate_bps = fmx_adapt_mix_bitrate_bps (mix, voices->plan.mix_bps);
  voices->mix_wire_bytes = (uint32_t) (fmx_adapt_mix_wire_bps (mix,
          bitrate_bps) * fmx_time_to_s (mix->packet_time) / 8.0 + 0.5);
}

/* What the voices are now, for that rate */
static void
plan (FmxSimVoices *voices, uint64_t target_bps, uint64_t lasting_bps)
{
  cost_of_mix (voices, target_bps);
  if (target_bps > 0 && target_bps < voices->params.mix_min_bps)
    target_bps = voices->params.mix_min_bps;
  voices->params.lasting_bps = lasting_bps;
  fmx_adapt_plan_streams (&voices->params, target_bps, voices->streams,
      voices->order, voices->assignment, voices->n, &voices->plan);
}

static bool
is_separate (const FmxSimVoices *voices, unsigned i)
{
  return voices->assignment[i] == FMX_ADAPT_SEPARATE;
}

/* Whether the plan sends anybody another way */
static bool
changes (const FmxSimVoices *voices)
{
  for (unsigned i = 0; i < voices->n; i++)
    if (voices->streams[i].separate != is_separate (voices, i))
      return true;
  return false;
}

/* A change that would be at the rate before, too, is due to who talks now. */
static void
count_change (FmxSimVoices *voices, uint64_t target_bps, uint64_t lasting_bps)
{
  plan (voices, voices->target_bps, voices->lasting_bps);
  if (changes (voices))
    voices->n_turns++;
  else
    voices->n_changes++;
  plan (voices, target_bps, lasting_bps);
}

static void
carry_out (FmxSimVoices *voices, FmxTime now)
{
  for (unsigned i = 0; i < voices->n; i++) {
    FmxSelectStream *s = &voices->streams[i];

    if (s->separate == is_separate (voices, i))
      continue;
    s->separate = is_separate (voices, i);
    s->since = now;
  }
}

void
fmx_sim_voices_follow (FmxSimVoices *voices, uint64_t target_bps,
    uint64_t lasting_bps, FmxTime now)
{
  FmxSelectParams select;

  if (target_bps == voices->target_bps && lasting_bps == voices->lasting_bps
      && now < voices->planned + (FmxTime) HOUSEKEEPING)
    return;
  voices->planned = now;
  fmx_select_params_default (&select);
  fmx_select_rank (&select, voices->streams, voices->order, voices->n, now);
  plan (voices, target_bps, lasting_bps);
  if (changes (voices))
    count_change (voices, target_bps, lasting_bps);
  voices->target_bps = target_bps;
  voices->lasting_bps = lasting_bps;
  carry_out (voices, now);
  share_mix (voices);
}
