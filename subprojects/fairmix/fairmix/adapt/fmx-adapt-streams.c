/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/adapt/fmx-adapt-streams.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* While it plans, a stream's assignment is this or its slot. */
#define SEPARATE FMX_ADAPT_SEPARATE

#define N_GROUPS (FMX_ADAPT_MAX_MIXES - 1u)

/* What one mix would hold. */
typedef struct
{
  uint32_t n;
  uint32_t n_must_mix;
  uint64_t wire_bps;
} Slot;

typedef struct
{
  const FmxAdaptParams *params;
  const FmxSelectStream *streams;
  const uint32_t *order;
  int32_t *assignment;
  size_t n;

  uint32_t groups[N_GROUPS];    /* may have a slot of their own; ascending */
  uint32_t n_groups;
  uint32_t n_slots;             /* the last one is for everybody else */

  Slot slots[FMX_ADAPT_MAX_MIXES];
  uint64_t cost_bps;            /* of separate streams and slots together */
  uint64_t bound_bps;           /* what that may come to */
  bool crowded;                 /* more streams than the neighbour can take */
  uint32_t n_out;               /* separate streams and slots that are not empty */
} Planner;

static bool
is_never_mixed (const FmxSelectStream *s)
{
  return s->never_mix && !s->must_mix;
}

/* Whether the planner may still make the stream separate. */
static bool
is_open (const Planner *p, uint32_t i)
{
  return p->assignment[i] >= 0 && !p->streams[i].must_mix;
}

/* The lowest group numbers get slots; 0 is no group. */
static void
collect_groups (Planner *p)
{
  p->n_groups = 0;
  for (size_t i = 0; i < p->n; i++) {
    uint32_t group = p->streams[i].group, k = p->n_groups;

    if (group == 0 || is_never_mixed (&p->streams[i]))
      continue;
    while (k > 0 && p->groups[k - 1] > group)
      k--;
    if (k == N_GROUPS || (k > 0 && p->groups[k - 1] == group))
      continue;
    if (p->n_groups < N_GROUPS)
      p->n_groups++;
    memmove (&p->groups[k + 1], &p->groups[k],
        (p->n_groups - 1 - k) * sizeof p->groups[0]);
    p->groups[k] = group;
  }
}

static int32_t
slot_of (const Planner *p, const FmxSelectStream *s)
{
  uint32_t last = p->n_slots - 1;

  for (uint32_t k = 0; s->group != 0 && k < p->n_groups && k < last; k++) {
    if (p->groups[k] == s->group)
      return (int32_t) k;
  }
  return (int32_t) last;
}

/* Whether there is anything to forward that costs less mixed, or too much of
 * it for the neighbour. */
static bool
is_mixed (const Planner *p, const Slot *slot)
{
  return slot->n_must_mix > 0 || slot->wire_bps > p->params->mix_min_bps
      || (p->crowded && slot->n > 1);
}

/* The least that a slot costs.  It falls by no more than a stream that leaves
 * it costs: so a plan with one stream more that is separate never costs less,
 * and what does not fit beside some streams does not fit beside more.  (A mix
 * that is made for want of places counts what its streams cost, if that is
 * less: of silent ones, nothing.) */
static uint64_t
slot_cost (const Planner *p, const Slot *slot)
{
  return slot->n_must_mix > 0 || slot->wire_bps > p->params->mix_min_bps
      ? p->params->mix_min_bps : slot->wire_bps;
}

static uint64_t
cost_if_separate (const Planner *p, uint32_t i)
{
  const Slot *slot = &p->slots[p->assignment[i]];
  Slot rest = *slot;

  rest.n--;
  rest.wire_bps -= p->streams[i].wire_bps;
  return p->cost_bps + p->streams[i].wire_bps - slot_cost (p, slot)
      + slot_cost (p, &rest);
}

static uint32_t
n_out_if_separate (const Planner *p, uint32_t i)
{
  return p->n_out + (p->slots[p->assignment[i]].n > 1);
}

static bool
has_places_for (const Planner *p, uint32_t n_out)
{
  return !p->crowded || n_out <= p->params->max_streams;
}

static void
make_separate (Planner *p, uint32_t i)
{
  p->cost_bps = cost_if_separate (p, i);
  p->n_out = n_out_if_separate (p, i);
  p->slots[p->assignment[i]].n--;
  p->slots[p->assignment[i]].wire_bps -= p->streams[i].wire_bps;
  p->assignment[i] = SEPARATE;
}

/* The most that can be mixed, in at most @n_slots mixes.  In a crowd one place
 * is left for those who are not never-mix, or too many of them. */
static void
mix_all (Planner *p, uint32_t n_slots)
{
  p->n_slots = n_slots;
  p->cost_bps = 0;
  p->n_out = 0;
  memset (p->slots, 0, sizeof p->slots);

  for (size_t k = 0; k < p->n; k++) {
    uint32_t i = p->order[k];
    const FmxSelectStream *s = &p->streams[i];

    if (is_never_mixed (s) && has_places_for (p, p->n_out + 2)) {
      p->assignment[i] = SEPARATE;
      p->cost_bps += s->wire_bps;
      p->n_out++;
    } else {
      p->assignment[i] = slot_of (p, s);
    }
  }
  for (size_t i = 0; i < p->n; i++) {
    const FmxSelectStream *s = &p->streams[i];

    if (p->assignment[i] >= 0) {
      Slot *slot = &p->slots[p->assignment[i]];

      p->n_out += slot->n == 0;
      slot->n++;
      slot->n_must_mix += s->must_mix;
      slot->wire_bps += s->wire_bps;
    }
  }
  for (uint32_t k = 0; k < n_slots; k++)
    p->cost_bps += slot_cost (p, &p->slots[k]);
}

static uint32_t
count_mixes (const Planner *p)
{
  uint32_t n = 0;

  for (uint32_t k = 0; k < p->n_slots; k++)
    n += is_mixed (p, &p->slots[k]);
  return n;
}

/* What the streams cost as they are now, mixes at their least. */
static uint64_t
present_cost (Planner *p)
{
  uint32_t n_mixes = 0;

  for (size_t i = 0; i < p->n; i++) {
    const FmxSelectStream *s = &p->streams[i];

    if (!s->separate && !is_never_mixed (s) && s->mix >= n_mixes)
      n_mixes = s->mix + 1;
  }
  for (uint32_t n_slots = 1; n_slots <= p->n_groups + 1; n_slots++) {
    mix_all (p, n_slots);
    for (size_t i = 0; i < p->n; i++) {
      if (p->streams[i].separate && is_open (p, (uint32_t) i))
        make_separate (p, (uint32_t) i);
    }
    if (count_mixes (p) >= n_mixes)
      break;
  }
  return p->cost_bps;
}

/* A plan may come to the target, but when it costs more than the present one
 * to what lasts, and it must leave the headroom.  (The cheapest plan of all never does.)
 * Where the target does not carry the present one any more, to what lasts. */
static uint64_t
find_bound (Planner *p, uint64_t target_bps)
{
  uint64_t bound_bps = target_bps, present_bps;

  if (target_bps == FMX_TARGET_UNLIMITED)
    return target_bps;
  if (p->params->lasting_bps > 0 && p->params->lasting_bps < bound_bps)
    bound_bps = p->params->lasting_bps;
  present_bps = present_cost (p);
  if (present_bps > target_bps)
    return bound_bps;
  bound_bps -= (uint64_t) ((double) bound_bps * p->params->headroom);
  if (present_bps > bound_bps)
    bound_bps = present_bps;
  return bound_bps < target_bps ? bound_bps : target_bps;
}

/* In the order given, whatever fits; but nothing goes past a more important
 * stream that does not. */
static void
make_most_separate (Planner *p)
{
  bool blocked = false;
  int32_t priority = 0;

  for (size_t k = 0; k < p->n; k++) {
    uint32_t i = p->order[k];

    if (!is_open (p, i) || (blocked && p->streams[i].priority < priority))
      continue;
    if (!has_places_for (p, n_out_if_separate (p, i)))
      continue;
    if (cost_if_separate (p, i) <= p->bound_bps)
      make_separate (p, i);
    else if (!blocked) {
      blocked = true;
      priority = p->streams[i].priority;
    }
  }
}

/* Returns: whether any plan keeps the bound; this is the best one then */
static bool
find_best (Planner *p)
{
  uint32_t n_slots = p->n_groups + 1;

  mix_all (p, n_slots);
  while ((p->cost_bps > p->bound_bps || !has_places_for (p, p->n_out))
      && n_slots > 1)
    mix_all (p, --n_slots);
  if (p->cost_bps > p->bound_bps)
    return false;
  make_most_separate (p);
  for (size_t i = 0; i < p->n; i++) {
    if (p->assignment[i] >= 0 && !is_mixed (p, &p->slots[p->assignment[i]]))
      make_separate (p, (uint32_t) i);
  }
  return true;
}

/* At which target a plan of that cost leaves the headroom. */
static uint64_t
target_for (const Planner *p, uint64_t cost_bps)
{
  return (uint64_t) ((double) cost_bps / (1.0 - p->params->headroom) + 1.0);
}

/* The least target that one more would be separate at, of those who are next. */
static uint64_t
find_next (const Planner *p)
{
  const FmxSelectStream *first = NULL;
  uint64_t least_bps = 0;

  for (size_t k = 0; k < p->n; k++) {
    uint32_t i = p->order[k];

    if (!is_open (p, i) || !has_places_for (p, n_out_if_separate (p, i)))
      continue;
    if (first == NULL)
      first = &p->streams[i];
    if (p->streams[i].priority == first->priority
        && (least_bps == 0 || cost_if_separate (p, i) < least_bps))
      least_bps = cost_if_separate (p, i);
  }
  return first != NULL ? target_for (p, least_bps) : 0;
}

/* Only what is never mixed goes out, and not even that at target 0. */
static void
hold (Planner *p, uint64_t target_bps)
{
  for (size_t i = 0; i < p->n; i++) {
    if (p->assignment[i] != SEPARATE || target_bps == 0)
      p->assignment[i] = FMX_ADAPT_HELD;
  }
  memset (p->slots, 0, sizeof p->slots);
}

/* Slots that are mixed become mixes 0, 1, ... */
static void
number_mixes (Planner *p, FmxAdaptPlan *plan)
{
  int32_t numbers[FMX_ADAPT_MAX_MIXES];

  for (uint32_t k = 0; k < p->n_slots; k++) {
    numbers[k] = (int32_t) plan->n_mixes;
    plan->n_mixes += is_mixed (p, &p->slots[k]);
  }
  for (size_t i = 0; i < p->n; i++) {
    if (p->assignment[i] >= 0)
      p->assignment[i] = numbers[p->assignment[i]];
    else if (p->assignment[i] == SEPARATE) {
      plan->n_separate++;
      plan->used_bps += p->streams[i].wire_bps;
    }
  }
}

/* Whether there is one mix where groups alone would have made more. */
static bool
is_collapsed (const Planner *p, const FmxAdaptPlan *plan)
{
  const FmxSelectStream *first = NULL;

  for (size_t i = 0; i < p->n && plan->n_mixes == 1; i++) {
    if (p->assignment[i] < 0)
      continue;
    if (first == NULL)
      first = &p->streams[i];
    if (p->streams[i].group != first->group)
      return true;
  }
  return false;
}

/* The mixes share what is left. */
static void
share_rest (const Planner *p, uint64_t target_bps, FmxAdaptPlan *plan)
{
  uint64_t share_bps = 0;

  if (plan->n_mixes == 0)
    return;
  if (target_bps > plan->used_bps)
    share_bps = (target_bps - plan->used_bps) / plan->n_mixes;
  if (share_bps > p->params->mix_max_bps)
    share_bps = p->params->mix_max_bps;
  if (share_bps < p->params->mix_min_bps)
    share_bps = p->params->mix_min_bps;
  plan->mix_bps = (uint32_t) share_bps;
  plan->used_bps += (uint64_t) plan->mix_bps * plan->n_mixes;
}

void
fmx_adapt_plan_streams (const FmxAdaptParams *params, uint64_t target_bps,
    const FmxSelectStream *streams, const uint32_t *order,
    int32_t *assignment, size_t n, FmxAdaptPlan *plan)
{
  Planner p = {
    .params = params,
    .streams = streams,
    .order = order,
    .assignment = assignment,
    .n = n,
    .crowded = params->max_streams > 0 && n > params->max_streams,
  };

  assert (params->mix_min_bps <= params->mix_max_bps);
  assert (params->headroom >= 0.0 && params->headroom < 1.0);

  memset (plan, 0, sizeof *plan);
  collect_groups (&p);
  p.bound_bps = find_bound (&p, target_bps);
  if (target_bps == 0) {
    hold (&p, target_bps);
  } else if (!find_best (&p)) {
    plan->next_bps = target_for (&p, p.cost_bps);       /* of the cheapest plan */
    hold (&p, target_bps);
  } else if (target_bps != FMX_TARGET_UNLIMITED) {
    plan->next_bps = find_next (&p);
  }
  number_mixes (&p, plan);
  plan->collapsed = is_collapsed (&p, plan);
  share_rest (&p, target_bps, plan);
}
