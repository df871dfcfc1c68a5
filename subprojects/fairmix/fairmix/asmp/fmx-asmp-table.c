/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/asmp/fmx-asmp-table.h"

#include <assert.h>
#include <string.h>

#define NOBODY FMX_ASMP_NOBODY
#define INTERVAL_PARTS 4        /* one over the weight of the newest */

_Static_assert (sizeof (FmxAsmpEntry) == 72, "72 bytes each, as documented");

void
fmx_asmp_table_init (FmxAsmpTable *table, void *memory, uint32_t n_max,
    uint32_t seed)
{
  assert (n_max >= 1 && n_max <= UINT32_C (1) << 31);
  memset (table, 0, sizeof *table);
  table->entries = memory;
  table->heap = (uint32_t *) (table->entries + n_max);
  table->buckets = table->heap + n_max;
  table->n_max = n_max;
  table->seed = seed;
  table->oldest = table->newest = NOBODY;
  for (uint32_t i = 0; i < n_max; i++) {
    table->buckets[i] = NOBODY;
    table->entries[i].next = i + 1 < n_max ? i + 1 : NOBODY;
  }
}

static uint32_t *
bucket_of (const FmxAsmpTable *table, uint32_t ssrc)
{
  /* the finaliser of MurmurHash3 */
  uint32_t h = ssrc ^ table->seed;

  h = (h ^ h >> 16) * UINT32_C (0x85ebca6b);
  h = (h ^ h >> 13) * UINT32_C (0xc2b2ae35);
  h ^= h >> 16;
  return &table->buckets[h % table->n_max];
}

uint32_t
fmx_asmp_table_find (const FmxAsmpTable *table, uint32_t ssrc)
{
  uint32_t at = *bucket_of (table, ssrc);

  while (at != NOBODY && table->entries[at].ssrc != ssrc)
    at = table->entries[at].next;
  return at;
}

/* --- the list --- */

static void
list_append (FmxAsmpTable *table, uint32_t at)
{
  FmxAsmpEntry *entry = &table->entries[at];

  entry->older = table->newest;
  entry->newer = NOBODY;
  if (table->newest != NOBODY)
    table->entries[table->newest].newer = at;
  else
    table->oldest = at;
  table->newest = at;
}

static void
list_take (FmxAsmpTable *table, uint32_t at)
{
  FmxAsmpEntry *entry = &table->entries[at];

  if (entry->older != NOBODY)
    table->entries[entry->older].newer = entry->newer;
  else
    table->oldest = entry->newer;
  if (entry->newer != NOBODY)
    table->entries[entry->newer].older = entry->older;
  else
    table->newest = entry->older;
}

/* --- the heap --- */

static void
heap_put (FmxAsmpTable *table, uint32_t place, uint32_t at)
{
  table->heap[place] = at;
  table->entries[at].heap_at = place;
}

static uint32_t
heap_rate (const FmxAsmpTable *table, uint32_t place)
{
  return table->entries[table->heap[place]].rate_bps;
}

static void
heap_swap (FmxAsmpTable *table, uint32_t a, uint32_t b)
{
  uint32_t at = table->heap[a];

  heap_put (table, a, table->heap[b]);
  heap_put (table, b, at);
}

static void
heap_settle (FmxAsmpTable *table, uint32_t place)
{
  while (place > 0
      && heap_rate (table, place) < heap_rate (table, (place - 1) / 2)) {
    heap_swap (table, place, (place - 1) / 2);
    place = (place - 1) / 2;
  }
  for (;;) {
    uint32_t least = 2 * place + 1;

    if (least >= table->n_heap)
      return;
    if (least + 1 < table->n_heap
        && heap_rate (table, least + 1) < heap_rate (table, least))
      least++;
    if (heap_rate (table, place) <= heap_rate (table, least))
      return;
    heap_swap (table, place, least);
    place = least;
  }
}

static void
heap_take (FmxAsmpTable *table, uint32_t at)
{
  uint32_t place = table->entries[at].heap_at;

  if (place == NOBODY)
    return;
  table->entries[at].heap_at = NOBODY;
  table->n_heap--;
  if (place == table->n_heap)
    return;
  heap_put (table, place, table->heap[table->n_heap]);
  heap_settle (table, place);
}

/* --- all together --- */

uint32_t
fmx_asmp_table_add (FmxAsmpTable *table, uint32_t ssrc, FmxTime now)
{
  uint32_t at = table->free, *bucket = bucket_of (table, ssrc);
  FmxAsmpEntry *entry;

  if (table->n == table->n_max)
    return NOBODY;
  entry = &table->entries[at];
  table->free = entry->next;
  table->n++;
  memset (entry, 0, sizeof *entry);
  entry->ssrc = ssrc;
  entry->heard = entry->rated = now;
  entry->heap_at = NOBODY;
  entry->next = *bucket;
  *bucket = at;
  list_append (table, at);
  return at;
}

void
fmx_asmp_table_remove (FmxAsmpTable *table, uint32_t at)
{
  FmxAsmpEntry *entry = &table->entries[at];
  uint32_t *link = bucket_of (table, entry->ssrc);

  heap_take (table, at);
  list_take (table, at);
  while (*link != at)
    link = &table->entries[*link].next;
  *link = entry->next;
  entry->next = table->free;
  table->free = at;
  table->n--;
}

/* What comes in one packet is one time. */
static void
note_interval (FmxAsmpEntry *entry, FmxTime now)
{
  FmxDuration gap = fmx_time_diff (now, entry->heard)
      / (FMX_SECOND / FMX_ASMP_INTERVAL_HZ);
  int mean = entry->interval;

  if (gap <= 0)
    return;
  if (gap > UINT16_MAX)
    gap = UINT16_MAX;
  entry->interval = (uint16_t) (mean == 0 ? gap
      : mean + ((int) gap - mean) / INTERVAL_PARTS);
}

void
fmx_asmp_table_touch (FmxAsmpTable *table, uint32_t at, FmxTime now)
{
  note_interval (&table->entries[at], now);
  table->entries[at].heard = now;
  list_take (table, at);
  list_append (table, at);
}

void
fmx_asmp_table_rate (FmxAsmpTable *table, uint32_t at, uint32_t rate_bps,
    bool counts)
{
  FmxAsmpEntry *entry = &table->entries[at];

  entry->rate_bps = rate_bps;
  if (!counts) {
    heap_take (table, at);
    return;
  }
  if (entry->heap_at == NOBODY)
    heap_put (table, table->n_heap++, at);
  heap_settle (table, entry->heap_at);
}

uint32_t
fmx_asmp_table_least (const FmxAsmpTable *table)
{
  return table->n_heap > 0 ? table->heap[0] : NOBODY;
}

uint32_t
fmx_asmp_table_high (const FmxAsmpTable *table)
{
  return table->n_heap > 0 ? table->heap[table->n_heap - 1] : NOBODY;
}

uint32_t
fmx_asmp_table_oldest (const FmxAsmpTable *table)
{
  return table->oldest;
}

uint32_t
fmx_asmp_table_next_oldest (const FmxAsmpTable *table, uint32_t at)
{
  return table->entries[at].newer;
}
