/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/select/fmx-select.h"

#include <assert.h>
#include <stddef.h>

/* While it is sorted, an entry of the order carries above the index: a sort
 * key in eight bits, and whether the stream is mixed. */
#define INDEX_BITS 23u
#define INDEX_MASK ((1u << INDEX_BITS) - 1u)
#define KEY_MASK 0xffu
#define MIXED (1u << 31)

#define NEVER_OVERTAKEN 0u      /* below the loudest level plus one */
#define SILENCE (FMX_LEVEL_SILENCE + 1u)

typedef struct
{
  const FmxSelectParams *params;
  const FmxSelectStream *streams;
  FmxTime now;
} Ranking;

/* NULL: the entries as numbers */
typedef bool (*Before) (const Ranking *ranking, uint32_t a, uint32_t b);

void
fmx_select_params_default (FmxSelectParams *params)
{
  params->level_hysteresis_db = 10;
  params->min_stay = 2 * FMX_SECOND;
  params->silence_level = 55;
}

/* The sort key of a level: one more than it, loud first; all silence alike. */
static uint32_t
level_key (const FmxSelectParams *params, const FmxSelectStream *s)
{
  if (s->level >= FMX_LEVEL_SILENCE)
    return SILENCE;
  if (params->silence_level != 0 && s->level >= params->silence_level)
    return SILENCE;
  return s->level + 1u;
}

/* The three ranks that nothing but the user's wish and the caps decide. */
static int
rank_class (const FmxSelectStream *s)
{
  if (s->must_mix)
    return 2;
  return s->never_mix ? 0 : 1;
}

/* Whether @a and @b compete for the same place. */
static bool
same_place (const FmxSelectStream *a, const FmxSelectStream *b)
{
  return rank_class (a) == rank_class (b) && a->priority == b->priority;
}

/* For two that do not compete. */
static bool
place_before (const FmxSelectStream *a, const FmxSelectStream *b)
{
  if (rank_class (a) != rank_class (b))
    return rank_class (a) < rank_class (b);
  return a->priority > b->priority;
}

static uint32_t
key_of (uint32_t entry)
{
  return entry >> INDEX_BITS & KEY_MASK;
}

/* First order: within a place the separate ones, the loudest first, then the
 * mixed ones, the loudest first; every entry carries its level. */
static bool
incumbents_before (const Ranking *ranking, uint32_t a, uint32_t b)
{
  const FmxSelectStream *sa = &ranking->streams[a & INDEX_MASK];
  const FmxSelectStream *sb = &ranking->streams[b & INDEX_MASK];

  return same_place (sa, sb) ? a < b : place_before (sa, sb);
}

/* Last order: but a mixed stream goes before the separate ones whose key its
 * own does not exceed. */
static bool
challengers_before (const Ranking *ranking, uint32_t a, uint32_t b)
{
  const FmxSelectStream *sa = &ranking->streams[a & INDEX_MASK];
  const FmxSelectStream *sb = &ranking->streams[b & INDEX_MASK];

  if (!same_place (sa, sb))
    return place_before (sa, sb);
  if (key_of (a) != key_of (b))
    return key_of (a) < key_of (b);
  if (((a ^ b) & MIXED) != 0)
    return (a & MIXED) != 0;
  if (level_key (ranking->params, sa) != level_key (ranking->params, sb))
    return sa->level < sb->level;
  return a < b;
}

static bool
is_before (const Ranking *ranking, uint32_t a, uint32_t b, Before before)
{
  return before == NULL ? a < b : before (ranking, a, b);
}

static void
sift_down (const Ranking *ranking, uint32_t *heap, size_t root, size_t n,
    Before before)
{
  uint32_t moving = heap[root];

  for (;;) {
    size_t child = 2 * root + 1;

    if (child >= n)
      break;
    if (child + 1 < n
        && is_before (ranking, heap[child], heap[child + 1], before))
      child++;
    if (!is_before (ranking, moving, heap[child], before))
      break;
    heap[root] = heap[child];
    root = child;
  }
  heap[root] = moving;
}

/* Heap sort: in place, O(n log n) at worst.  It is not stable, so every order
 * above ends with the index. */
static void
sort (const Ranking *ranking, uint32_t *order, size_t n, Before before)
{
  for (size_t i = n / 2; i-- > 0;)
    sift_down (ranking, order, i, n, before);
  for (size_t end = n; end-- > 1;) {
    uint32_t last = order[end];

    order[end] = order[0];
    order[0] = last;
    sift_down (ranking, order, 0, end, before);
  }
}

/* The key that a mixed stream needs, at most, to go before @s. */
static uint32_t
overtaking_key (const Ranking *ranking, const FmxSelectStream *s)
{
  uint32_t louder = ranking->params->level_hysteresis_db;
  uint32_t key = level_key (ranking->params, s);
  FmxDuration stay = fmx_time_diff (ranking->now, s->since);

  louder = louder > 0 ? louder : 1;     /* equals never change places */
  if (stay < ranking->params->min_stay || key <= louder)
    return NEVER_OVERTAKEN;
  return key - louder;
}

/* Gives each separate stream its key, from the last to the first.  A mixed stream that
 * may not go before some separate stream may not go before a louder one
 * either, or it would be in front of both: so the keys never fall along the
 * order, and the order by keys contradicts no pair.
 * Returns whether any mixed stream goes before a separate one. */
static bool
set_keys (const Ranking *ranking, uint32_t *order, size_t n)
{
  const FmxSelectStream *streams = ranking->streams;
  uint32_t loudest_mixed = 0, key = 0;
  bool overtaken = false;

  for (size_t i = n; i-- > 0;) {
    const FmxSelectStream *s = &streams[order[i] & INDEX_MASK];
    bool last = i + 1 == n
        || !same_place (s, &streams[order[i + 1] & INDEX_MASK]);

    if (last)
      loudest_mixed = key = SILENCE + 1;
    if ((order[i] & MIXED) != 0) {
      loudest_mixed = key_of (order[i]);
    } else {
      uint32_t own = overtaking_key (ranking, s);

      key = own < key ? own : key;
      overtaken = overtaken || loudest_mixed <= key;
      order[i] = (order[i] & INDEX_MASK) | key << INDEX_BITS;
    }
  }
  return overtaken;
}

/* Gives each entry its level.  Returns: whether all compete for one place */
static bool
set_levels (const Ranking *ranking, uint32_t *order, size_t n)
{
  const FmxSelectStream *streams = ranking->streams;
  bool one_place = true;

  for (size_t i = 0; i < n; i++) {
    order[i] = (uint32_t) i | level_key (ranking->params, &streams[i])
        << INDEX_BITS | (streams[i].separate ? 0 : MIXED);
    one_place = one_place && same_place (&streams[i], &streams[0]);
  }
  return one_place;
}

void
fmx_select_rank (const FmxSelectParams *params,
    const FmxSelectStream *streams, uint32_t *order, size_t n, FmxTime now)
{
  const Ranking ranking = { params, streams, now };

  assert (n <= INDEX_MASK);

  if (set_levels (&ranking, order, n))
    sort (&ranking, order, n, NULL);
  else
    sort (&ranking, order, n, incumbents_before);
  if (set_keys (&ranking, order, n))
    sort (&ranking, order, n, challengers_before);
  for (size_t i = 0; i < n; i++)
    order[i] &= INDEX_MASK;
}
