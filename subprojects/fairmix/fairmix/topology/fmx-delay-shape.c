/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/topology/fmx-delay-shape.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define CLOCK_WAS_SET (10 * FMX_SECOND)

/* A pause of so many intervals leaves nothing to compare with. */
#define LONGEST_PAUSE 64u

void
fmx_delay_shape_params_default (FmxDelayShapeParams *params)
{
  /* [RFC8382 2.2] */
  params->interval = 350 * FMX_MSECOND;
  params->n_crossings = 50;
  params->n_shape = 30;
  params->n_flat = 20;
  params->c_s = 0.1;
  params->c_h = 0.3;
  params->p_l = 0.1;
  params->p_v = 0.7;
}

void
fmx_delay_shape_init (FmxDelayShape *shape, const FmxDelayShapeParams *params)
{
  assert (params->interval > 0 && params->n_flat > 0);
  assert (params->n_flat <= params->n_shape
      && params->n_shape <= params->n_crossings
      && params->n_crossings <= FMX_DELAY_SHAPE_MAX);
  memset (shape, 0, sizeof *shape);
  shape->params = *params;
}

/* Returns: the interval @age before the newest; those before the beginning are
 * empty */
static const FmxDelayInterval *
at (const FmxDelayShape *shape, uint32_t age)
{
  return &shape->history[(shape->newest + FMX_DELAY_SHAPE_MAX - age)
      % FMX_DELAY_SHAPE_MAX];
}

/* [RFC8382 4.1] flat for the newest F, then on a straight line to the end */
static double
weight_of (const FmxDelayShapeParams *params, uint32_t age)
{
  return age < params->n_flat ? params->n_shape - params->n_flat + 1
      : params->n_shape - age;
}

/* [RFC8382 3.2.1] E_M (E_T (OWD)), of the intervals that have one */
static void
update_long_mean (FmxDelayShape *shape)
{
  double sum = 0.0;
  uint32_t n = 0;

  for (uint32_t i = 0; i < shape->params.n_shape; i++) {
    const FmxDelayInterval *interval = at (shape, i);

    if (interval->n > 0) {
      sum += interval->mean;
      n++;
    }
  }
  shape->has_long_mean = n > 0;
  shape->long_mean = n > 0 ? sum / n : 0.0;
}

/* [RFC8382 3.2.2, 4.1.1] */
static double
skewness (const FmxDelayShape *shape)
{
  double sum = 0.0, n = 0.0;

  for (uint32_t i = 0; i < shape->params.n_shape; i++) {
    double weight = weight_of (&shape->params, i);

    sum += weight * at (shape, i)->skew;
    n += weight * at (shape, i)->n_shape;
  }
  return n > 0.0 ? sum / n : 1.0;
}

/* [RFC8382 3.2.3, 4.1.2, 4.2] in ns */
static double
variability (const FmxDelayShape *shape)
{
  double sum = 0.0, n = 0.0;

  for (uint32_t i = 0; i < shape->params.n_shape; i++) {
    const FmxDelayInterval *interval = at (shape, i);
    double weight = weight_of (&shape->params, i);

    if (interval->congested) {
      sum += weight * interval->deviation;
      n += weight * interval->n_shape;
    }
  }
  return n > 0.0 ? sum / n : 0.0;
}

static double
loss (const FmxDelayShape *shape)
{
  uint64_t lost = 0, all = 0;

  for (uint32_t i = 0; i < shape->params.n_crossings; i++) {
    lost += at (shape, i)->lost;
    all += (uint64_t) at (shape, i)->lost + at (shape, i)->n;
  }
  return all > 0 ? (double) lost / (double) all : 0.0;
}

/* [RFC8382 3.2.4] Returns: whether @mean lies on the other side of the long-term
 * mean than the last one that was far from it */
static bool
crosses (FmxDelayShape *shape, double mean, double deviation)
{
  double distance = shape->params.p_v * deviation;
  int side = mean > shape->long_mean + distance ? 1 :
      mean < shape->long_mean - distance ? -1 : 0;
  bool crosses = side * shape->side < 0;

  if (side != 0)
    shape->side = side;
  return crosses;
}

static double
frequency (const FmxDelayShape *shape)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < shape->params.n_crossings; i++)
    n += at (shape, i)->crossing;
  return (double) n / shape->params.n_crossings;
}

/* [RFC8382 3.3.1] step 1 */
static bool
is_congested (const FmxDelayShape *shape)
{
  const FmxDelayShapeParams *params = &shape->params;
  const FmxDelayShapeStats *stats = &shape->stats;

  return stats->skewness < params->c_s
      || (stats->congested && stats->skewness < params->c_h)
      || stats->loss > params->p_l;
}

static void
end_interval (FmxDelayShape *shape)
{
  FmxDelayShapeStats *stats = &shape->stats;
  FmxDelayInterval *interval;

  shape->newest = (shape->newest + 1) % FMX_DELAY_SHAPE_MAX;
  interval = &shape->history[shape->newest];
  *interval = shape->now;
  memset (&shape->now, 0, sizeof shape->now);
  if (interval->n > 0) {
    interval->mean = (double) shape->sum / interval->n;
    shape->last_mean = interval->mean;
  }
  shape->sum = 0;
  update_long_mean (shape);
  stats->skewness = skewness (shape);
  stats->loss = loss (shape);
  stats->congested = is_congested (shape);
  interval->congested = stats->congested;
  stats->variability_s = variability (shape) / (double) FMX_SECOND;
  if (interval->n > 0 && stats->congested)
    interval->crossing = crosses (shape, interval->mean,
        stats->variability_s * (double) FMX_SECOND);
  stats->frequency = frequency (shape);
  stats->has_mean = interval->n > 0;
  stats->mean_s = interval->mean / (double) FMX_SECOND;
  stats->interval++;
  stats->n_intervals++;
}

static void
begin_anew (FmxDelayShape *shape, uint64_t interval)
{
  FmxDelayShapeParams params = shape->params;

  fmx_delay_shape_init (shape, &params);
  shape->begun = true;
  shape->stats.interval = interval - 1;
}

/* Ends the intervals before that of @sent. */
static void
advance (FmxDelayShape *shape, FmxTime sent)
{
  uint64_t interval = sent / (uint64_t) shape->params.interval;

  if (!shape->begun || interval > shape->stats.interval + 1 + LONGEST_PAUSE)
    begin_anew (shape, interval);
  while (shape->stats.interval + 1 < interval)
    end_interval (shape);
}

void
fmx_delay_shape_add (FmxDelayShape *shape, FmxDuration delay, FmxTime sent)
{
  FmxDelayInterval *now = &shape->now;
  double relative;

  if (shape->has_origin && (delay - shape->last > CLOCK_WAS_SET
          || shape->last - delay > CLOCK_WAS_SET))
    shape->begun = false;
  advance (shape, sent);
  if (!shape->has_origin)
    shape->origin = delay;
  shape->has_origin = true;
  shape->last = delay;
  relative = (double) (delay - shape->origin);
  shape->sum += delay - shape->origin;
  now->n++;
  if (!shape->has_long_mean)
    return;
  now->n_shape++;
  now->skew += (relative < shape->long_mean) - (relative > shape->long_mean);
  now->deviation += fabs (relative - shape->last_mean);
}

void
fmx_delay_shape_add_lost (FmxDelayShape *shape, FmxTime sent)
{
  if (!shape->has_origin)
    return;
  advance (shape, sent);
  shape->now.lost++;
}

void
fmx_delay_shape_get_stats (const FmxDelayShape *shape,
    FmxDelayShapeStats *stats)
{
  *stats = shape->stats;
}
