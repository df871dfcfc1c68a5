/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/topology/fmx-shared-bottleneck.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Fewer intervals that both have are too few to compare. */
#define LEAST_COMMON 12u

/* [RFC8382 3.3.2] "not be made until 2*M T intervals" */
#define FIRST_INTERVAL 60u

typedef double (*Metric) (const FmxDelayShapeStats *shape);

void
fmx_shared_bottleneck_params_default (FmxSharedBottleneckParams *params)
{
  /* [RFC8382 2.2] */
  params->p_f = 0.1;
  params->p_mad = 0.1;
  params->p_s = 0.15;
  params->p_d = 0.1;
  params->p_l = 0.1;
  /* ours */
  params->by_shape = false;
  params->least_correlation = 0.95;
  params->n_intervals = 60;
  params->memory = 60.0;
  params->tie = 0.75;
  params->untie = 0.3;
}

void
fmx_shared_bottleneck_init (FmxSharedBottleneck *sb,
    const FmxSharedBottleneckParams *params, FmxSharedFlow *flows,
    FmxSharedPair *pairs, uint32_t n)
{
  assert (n <= FMX_SHARED_BOTTLENECK_MAX
      && params->n_intervals <= FMX_SHARED_BOTTLENECK_INTERVALS
      && params->memory >= 1.0);
  memset (sb, 0, sizeof *sb);
  memset (flows, 0, n * sizeof *flows);
  if (n > 1)
    memset (pairs, 0, FMX_SHARED_BOTTLENECK_PAIRS (n) * sizeof *pairs);
  sb->params = *params;
  sb->flows = flows;
  sb->pairs = pairs;
  sb->n = n;
  for (uint32_t i = 0; i < FMX_SHARED_BOTTLENECK_MAX; i++)
    sb->groups[i] = sb->groups_now[i] = FMX_NO_GROUP;
}

/* @a < @b */
static FmxSharedPair *
pair_of (FmxSharedBottleneck *sb, uint32_t a, uint32_t b)
{
  return &sb->pairs[FMX_SHARED_BOTTLENECK_PAIRS (b) + a];
}

void
fmx_shared_bottleneck_set (FmxSharedBottleneck *sb, uint32_t flow,
    const FmxDelayShapeStats *shape)
{
  FmxSharedFlow *f = &sb->flows[flow];
  uint32_t slot = shape->interval % FMX_SHARED_BOTTLENECK_INTERVALS;

  assert (flow < sb->n);
  if (f->present && f->shape.interval == shape->interval
      && f->shape.n_intervals == shape->n_intervals)
    return;
  if (f->present && shape->n_intervals < f->shape.n_intervals)
    fmx_shared_bottleneck_forget (sb, flow);    /* it has begun anew */
  f->present = f->fresh = true;
  f->shape = *shape;
  if (shape->n_intervals == 0 || !shape->has_mean)
    return;
  f->interval[slot] = shape->interval + 1;      /* 0: nothing */
  f->mean_s[slot] = (float) shape->mean_s;
}

void
fmx_shared_bottleneck_forget (FmxSharedBottleneck *sb, uint32_t flow)
{
  assert (flow < sb->n);
  memset (&sb->flows[flow], 0, sizeof sb->flows[flow]);
  for (uint32_t i = 0; i < sb->n; i++)
    if (i != flow)
      memset (pair_of (sb, i < flow ? i : flow, i < flow ? flow : i), 0,
          sizeof (FmxSharedPair));
  sb->groups[flow] = sb->groups_now[flow] = FMX_NO_GROUP;
}

/* --- together or not ----------------------------------------------------- */

/* Sums over pairs of values, for Pearson's r. */
typedef struct
{
  double n, x, y, xx, yy, xy;
} Sums;

static void
add_pair (Sums *sums, double x, double y)
{
  sums->n += 1.0;
  sums->x += x;
  sums->y += y;
  sums->xx += x * x;
  sums->yy += y * y;
  sums->xy += x * y;
}

static double
pearson (const Sums *sums)
{
  double vx = sums->n * sums->xx - sums->x * sums->x;
  double vy = sums->n * sums->yy - sums->y * sums->y;

  if (sums->n < LEAST_COMMON || vx <= 0.0 || vy <= 0.0)
    return 0.0;
  return 2.0 * (sums->n * sums->xy - sums->x * sums->y) / (vx + vy);
}

static bool
has (const FmxSharedFlow *flow, uint64_t interval)
{
  return flow->interval[interval % FMX_SHARED_BOTTLENECK_INTERVALS]
      == interval + 1;
}

static double
mean_of (const FmxSharedFlow *flow, uint64_t interval)
{
  return flow->mean_s[interval % FMX_SHARED_BOTTLENECK_INTERVALS];
}

/* From one interval to the next, so that what wanders slowly, on any path and with
 * any clock, does not count. */
double
fmx_shared_bottleneck_correlation (const FmxSharedBottleneck *sb, uint32_t a,
    uint32_t b)
{
  const FmxSharedFlow *x = &sb->flows[a], *y = &sb->flows[b];
  uint64_t last = x->shape.interval < y->shape.interval ?
      x->shape.interval : y->shape.interval;
  Sums sums = { 0 };

  assert (a < sb->n && b < sb->n);
  for (uint64_t i = 0; i < sb->params.n_intervals && i < last; i++) {
    uint64_t now = last - i;

    if (has (x, now) && has (y, now) && has (x, now - 1) && has (y, now - 1))
      add_pair (&sums, mean_of (x, now) - mean_of (x, now - 1),
          mean_of (y, now) - mean_of (y, now - 1));
  }
  return pearson (&sums);
}

/* --- the groups of one interval ------------------------------------------ */

static double
get_frequency (const FmxDelayShapeStats *shape)
{
  return shape->frequency;
}

static double
get_variability (const FmxDelayShapeStats *shape)
{
  return shape->variability_s;
}

static double
get_skewness (const FmxDelayShapeStats *shape)
{
  return shape->skewness;
}

static double
get_loss (const FmxDelayShapeStats *shape)
{
  return shape->loss;
}

/* Sorts @order, of flows, by group and then from the highest to the lowest. */
static void
sort (const FmxSharedBottleneck *sb, uint32_t *order, uint32_t n,
    const uint32_t *groups, Metric metric)
{
  for (uint32_t i = 1; i < n; i++) {
    uint32_t flow = order[i], j = i;
    double value = metric (&sb->flows[flow].shape);

    while (j > 0 && (groups[order[j - 1]] > groups[flow]
            || (groups[order[j - 1]] == groups[flow]
                && metric (&sb->flows[order[j - 1]].shape) < value))) {
      order[j] = order[j - 1];
      j--;
    }
    order[j] = flow;
  }
}

/* [RFC8382 3.3.1] "Subdivide the groups ... by grouping flows whose difference in
 * sorted ... is less than a threshold", which is @relative to the highest value in
 * the difference, or not. */
static void
divide (FmxSharedBottleneck *sb, uint32_t *order, uint32_t n, Metric metric,
    double threshold, bool relative)
{
  uint32_t divided[FMX_SHARED_BOTTLENECK_MAX];
  uint32_t group = 0;

  sort (sb, order, n, sb->groups_now, metric);
  for (uint32_t i = 0; i < n; i++) {
    if (i > 0) {
      double high = metric (&sb->flows[order[i - 1]].shape);
      double low = metric (&sb->flows[order[i]].shape);
      bool same = sb->groups_now[order[i]] == sb->groups_now[order[i - 1]];

      group += !same || (high - low >= (relative ? threshold * high :
              threshold) && high > low);
    }
    divided[i] = group;
  }
  for (uint32_t i = 0; i < n; i++)
    sb->groups_now[order[i]] = divided[i];
}

/* Loss divides only where there is much of it. */
static double
get_high_loss (const FmxSharedBottleneck *sb, uint32_t flow)
{
  double loss = get_loss (&sb->flows[flow].shape);

  return loss > sb->params.p_l ? loss : 0.0;
}

static void
divide_by_loss (FmxSharedBottleneck *sb, uint32_t *order, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    if (get_high_loss (sb, order[i]) > 0.0) {
      divide (sb, order, n, get_loss, sb->params.p_d, true);
      return;
    }
}

/* Ours: in a group stay those that rise and fall together with those before them. */
static void
divide_by_correlation (FmxSharedBottleneck *sb, const uint32_t *order,
    uint32_t n)
{
  uint32_t named[FMX_SHARED_BOTTLENECK_MAX];

  for (uint32_t i = 0; i < n; i++) {
    named[i] = order[i];
    for (uint32_t j = 0; j < i; j++)
      if (sb->groups_now[order[j]] == sb->groups_now[order[i]]
          && named[j] == order[j]
          && fmx_shared_bottleneck_correlation (sb, order[i], order[j])
          >= sb->params.least_correlation) {
        named[i] = order[j];
        break;
      }
  }
  for (uint32_t i = 0; i < n; i++)
    sb->groups_now[order[i]] = named[i];
}

static void
group_now (FmxSharedBottleneck *sb)
{
  uint32_t order[FMX_SHARED_BOTTLENECK_MAX], n = 0;

  for (uint32_t i = 0; i < sb->n; i++) {
    const FmxSharedFlow *flow = &sb->flows[i];

    sb->groups_now[i] = FMX_NO_GROUP;
    if (flow->present && (flow->shape.congested || !sb->params.by_shape)
        && flow->shape.n_intervals >= FIRST_INTERVAL) {
      order[n++] = i;
      sb->groups_now[i] = 0;
    }
  }
  if (sb->params.by_shape) {
    divide (sb, order, n, get_frequency, sb->params.p_f, false);
    divide (sb, order, n, get_variability, sb->params.p_mad, true);
    divide (sb, order, n, get_skewness, sb->params.p_s, false);
    divide_by_loss (sb, order, n);
  }
  divide_by_correlation (sb, order, n);
}

/* --- the groups that last ------------------------------------------------ */

static void
update_pairs (FmxSharedBottleneck *sb)
{
  const FmxSharedBottleneckParams *params = &sb->params;

  for (uint32_t b = 1; b < sb->n; b++)
    for (uint32_t a = 0; a < b; a++) {
      FmxSharedPair *pair = pair_of (sb, a, b);
      bool now = sb->groups_now[a] != FMX_NO_GROUP
          && sb->groups_now[a] == sb->groups_now[b];

      if (!sb->flows[a].fresh || !sb->flows[b].fresh)
        continue;
      pair->together += (float) ((now - pair->together) / params->memory);
      pair->tied = pair->together >= (pair->tied ? params->untie : params->tie);
    }
}

/* Each joins the first group to whose members it is tied for the most part. */
static void
group_tied (FmxSharedBottleneck *sb)
{
  for (uint32_t i = 0; i < sb->n; i++) {
    uint32_t best = FMX_NO_GROUP;

    for (uint32_t g = 0; g < i && best == FMX_NO_GROUP; g++) {
      uint32_t tied = 0, members = 0;

      for (uint32_t j = g; sb->groups[g] == g && j < i; j++)
        if (sb->groups[j] == g) {
          members++;
          tied += pair_of (sb, j, i)->tied;
        }
      if (tied > 0 && 2 * tied >= members)
        best = g;
    }
    sb->groups[i] = best != FMX_NO_GROUP ? best : i;
  }
}

static void
name_singles (FmxSharedBottleneck *sb)
{
  for (uint32_t i = 0; i < sb->n; i++) {
    bool alone = sb->groups[i] == i;

    for (uint32_t j = i + 1; j < sb->n && alone; j++)
      alone = sb->groups[j] != i;
    if (alone)
      sb->groups[i] = FMX_NO_GROUP;
  }
}

void
fmx_shared_bottleneck_update (FmxSharedBottleneck *sb)
{
  group_now (sb);
  update_pairs (sb);
  group_tied (sb);
  name_singles (sb);
  for (uint32_t i = 0; i < sb->n; i++)
    sb->flows[i].fresh = false;
}

uint32_t
fmx_shared_bottleneck_group (const FmxSharedBottleneck *sb, uint32_t flow)
{
  assert (flow < sb->n);
  return sb->groups[flow];
}
