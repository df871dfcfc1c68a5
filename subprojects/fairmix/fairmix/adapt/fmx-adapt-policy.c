/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/adapt/fmx-adapt-policy.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* A media rate that would change by less stays as it is. */
#define LAZY_CHANGE 0.1

static double
sawtooth_s (const FmxAdaptPolicy *policy)
{
  return fmx_time_to_s (fmx_time_diff (policy->last, policy->start));
}

static double
aggressive_on_rate (FmxAdaptPolicy *policy)
{
  return policy->rate_bps;
}

/* [Li01 2] "always sends data in a rate lower than or equal to the lowest
 * transmission rate in the recent history" */
static double
conservative_on_rate (FmxAdaptPolicy *policy)
{
  return fmin (policy->wanted_bps, policy->rate_bps);
}

static double
conservative_on_sawtooth (FmxAdaptPolicy *policy)
{
  return fmin (policy->lowest_bps, policy->rate_bps);
}

/* [Li01 2] "a playback rate that is close to the average network transmission
 * rate" */
static double
lazy_on_rate (FmxAdaptPolicy *policy)
{
  double off = fabs (policy->long_run_bps - policy->wanted_bps);

  return off > LAZY_CHANGE * policy->wanted_bps ? policy->long_run_bps
      : policy->wanted_bps;
}

static double
average_on_rate (FmxAdaptPolicy *policy)
{
  return policy->wanted_bps;
}

/* The backlog at the end of a saw-tooth is what the last guess was wrong by.
 * It is spread over a saw-tooth of the same length. */
static double
average_on_sawtooth (FmxAdaptPolicy *policy)
{
  double length_s = sawtooth_s (policy);
  double bits = policy->sent_bits - policy->stats.backlog_bits;

  return fmax (bits / length_s, policy->lowest_bps / 2.0);
}

const FmxAdaptPolicyClass fmx_adapt_policy_aggressive = {
  .name = "aggressive",
  .description = "the allowed rate itself, saw-teeth included",
  .on_rate = aggressive_on_rate,
};

const FmxAdaptPolicyClass fmx_adapt_policy_conservative = {
  .name = "conservative",
  .description = "the lowest rate of the last saw-tooth",
  .on_rate = conservative_on_rate,
  .on_sawtooth = conservative_on_sawtooth,
};

const FmxAdaptPolicyClass fmx_adapt_policy_lazy = {
  .name = "lazy",
  .description = "the average of the last minute, once it has moved by 10 %",
  .on_rate = lazy_on_rate,
  .n_backoffs = 2,
};

const FmxAdaptPolicyClass fmx_adapt_policy_average = {
  .name = "average",
  .description = "the average of the last saw-tooth, less what it was wrong by",
  .on_rate = average_on_rate,
  .on_sawtooth = average_on_sawtooth,
  .n_backoffs = 1,
};

const FmxAdaptPolicyClass *const fmx_adapt_policy_classes[] = {
  &fmx_adapt_policy_aggressive,
  &fmx_adapt_policy_conservative,
  &fmx_adapt_policy_lazy,
  &fmx_adapt_policy_average,
  NULL
};

const FmxAdaptPolicyClass *
fmx_adapt_policy_find (const char *name)
{
  for (size_t i = 0; fmx_adapt_policy_classes[i] != NULL; i++) {
    if (strcmp (fmx_adapt_policy_classes[i]->name, name) == 0)
      return fmx_adapt_policy_classes[i];
  }
  return NULL;
}

void
fmx_adapt_policy_params_default (FmxAdaptPolicyParams *params)
{
  params->klass = &fmx_adapt_policy_aggressive;
  params->backoff = 0.05;
  params->sawtooth_min = FMX_SECOND / 2;
  params->sawtooth_max = 10 * FMX_SECOND;
  params->memory = 60 * FMX_SECOND;
  params->max_delay = 5 * FMX_SECOND;
  params->within = false;
}

void
fmx_adapt_policy_init (FmxAdaptPolicy *policy,
    const FmxAdaptPolicyParams *params)
{
  assert (params->klass != NULL);
  assert (params->backoff > 0.0 && params->backoff < 1.0);
  assert (params->sawtooth_min > 0);
  assert (params->sawtooth_max >= params->sawtooth_min);
  assert (params->memory > 0);

  memset (policy, 0, sizeof *policy);
  policy->params = *params;
  policy->last = FMX_TIME_NONE;
  policy->queued_bits = -1.0;
}

static void
begin_sawtooth (FmxAdaptPolicy *policy, FmxTime now)
{
  policy->start = now;
  policy->sent_bits = 0.0;
  policy->lowest_bps = policy->highest_bps = policy->rate_bps;
}

/* Until there is as much as the memory holds, an average of what there was; what it
 * began with counts as a longest saw-tooth. */
static double
memory_s (const FmxAdaptPolicy *policy)
{
  FmxDuration age = fmx_time_diff (policy->last, policy->averaged_since)
      + policy->params.sawtooth_max;

  return fmx_time_to_s (age < policy->params.memory ? age
      : policy->params.memory);
}

/* What happened since the last call, at the rates that held until now. */
static void
integrate (FmxAdaptPolicy *policy, FmxTime now)
{
  FmxAdaptPolicyStats *stats = &policy->stats;
  double s = fmx_time_to_s (fmx_time_diff (now, policy->last));
  double share = s / memory_s (policy);

  policy->sent_bits += policy->rate_bps * s;
  policy->long_run_bps += (policy->rate_bps - policy->long_run_bps)
      * (1.0 - exp (-share));
  stats->backlog_bits += (policy->media_bps - policy->rate_bps) * s;
  stats->backlog_bits = fmax (policy->queued_bits < 0.0 ? stats->backlog_bits
      : policy->queued_bits, 0.0);
  stats->backlog_max_bits = fmax (stats->backlog_max_bits, stats->backlog_bits);
  policy->last = now;
}

static bool
backs_off (const FmxAdaptPolicy *policy, double transmission_bps)
{
  return transmission_bps < policy->highest_bps * (1.0
      - policy->params.backoff);
}

static bool
sawtooth_ends (const FmxAdaptPolicy *policy, double transmission_bps)
{
  FmxDuration age = fmx_time_diff (policy->last, policy->start);

  if (age >= policy->params.sawtooth_max)
    return true;
  return age >= policy->params.sawtooth_min
      && backs_off (policy, transmission_bps);
}

/* Before the first back-off there is no saw-tooth to go by, and media that stand
 * still would keep the transmission rate where it is: that grows no further than to
 * twice of what arrives.  What the first back-off leaves is where the first
 * saw-tooth begins. */
static double
begin_with (FmxAdaptPolicy *policy, double transmission_bps)
{
  policy->has_backed_off = backs_off (policy, transmission_bps);
  if (!policy->has_backed_off)
    return transmission_bps;
  policy->wanted_bps = transmission_bps;
  policy->long_run_bps = fmax (policy->long_run_bps, transmission_bps);
  policy->averaged_since = policy->last;
  return policy->params.klass->on_rate (policy);
}

/* Too far ahead: no policy's business any more, until that is made good. */
static bool
must_catch_up (FmxAdaptPolicy *policy)
{
  FmxAdaptPolicyStats *stats = &policy->stats;
  double limit_bits = policy->media_bps
      * fmx_time_to_s (policy->params.max_delay);

  if (stats->backlog_bits > limit_bits && !policy->catching_up) {
    policy->catching_up = true;
    stats->n_catch_up++;
  } else if (stats->backlog_bits <= limit_bits / 2.0)
    policy->catching_up = false;
  return policy->catching_up;
}

static double
start_afresh (FmxAdaptPolicy *policy, FmxTime now)
{
  policy->last = policy->rate_bps > 0.0 ? now : FMX_TIME_NONE;
  policy->long_run_bps = policy->rate_bps;
  policy->averaged_since = now;
  policy->stats.backlog_bits = 0.0;
  policy->catching_up = false;
  policy->has_backed_off = false;
  begin_sawtooth (policy, now);
  policy->wanted_bps = policy->rate_bps;
  return policy->rate_bps;
}

static double
go_on (FmxAdaptPolicy *policy, double transmission_bps, FmxTime now)
{
  const FmxAdaptPolicyClass *klass = policy->params.klass;
  bool ends = sawtooth_ends (policy, transmission_bps);

  policy->rate_bps = transmission_bps;
  if (!policy->has_backed_off) {
    policy->wanted_bps = begin_with (policy, transmission_bps);
    ends = policy->has_backed_off;
  } else if (ends && klass->on_sawtooth != NULL)
    policy->wanted_bps = klass->on_sawtooth (policy);
  else
    policy->wanted_bps = klass->on_rate (policy);

  if (ends) {
    policy->stats.n_sawteeth++;
    begin_sawtooth (policy, now);
  }
  policy->lowest_bps = fmin (policy->lowest_bps, policy->rate_bps);
  policy->highest_bps = fmax (policy->highest_bps, policy->rate_bps);
  if (must_catch_up (policy))
    return fmin (policy->wanted_bps, policy->rate_bps / 2.0);
  return policy->wanted_bps;
}

uint64_t
fmx_adapt_policy_on_rate (FmxAdaptPolicy *policy, uint64_t transmission_bps,
    FmxTime now)
{
  double media_bps;

  if (policy->last != FMX_TIME_NONE)
    integrate (policy, now);
  if (policy->last == FMX_TIME_NONE || transmission_bps == 0) {
    policy->rate_bps = (double) transmission_bps;
    media_bps = start_afresh (policy, now);
  } else
    media_bps = go_on (policy, (double) transmission_bps, now);
  if (policy->params.within)
    media_bps = fmin (media_bps, (double) transmission_bps);
  policy->stats.n_changes += media_bps != policy->media_bps;
  policy->media_bps = media_bps;
  return (uint64_t) media_bps;
}

void
fmx_adapt_policy_set_backlog (FmxAdaptPolicy *policy, uint64_t bytes)
{
  policy->queued_bits = 8.0 * (double) bytes;
}

void
fmx_adapt_policy_get_stats (const FmxAdaptPolicy *policy,
    FmxAdaptPolicyStats *stats)
{
  *stats = policy->stats;
}
