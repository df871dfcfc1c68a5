/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/base/fmx-aging-table.h"

#include <assert.h>
#include <string.h>

#define WAYS FMX_AGING_TABLE_WAYS

void
fmx_aging_table_init (FmxAgingTable *table, FmxAgingSlot *slots,
    uint32_t n_slots, uint64_t seed)
{
  assert (n_slots >= WAYS && (n_slots & (n_slots - 1)) == 0);

  memset (slots, 0, n_slots * sizeof slots[0]);
  table->slots = slots;
  table->mask = n_slots / WAYS - 1;
  table->seed = seed;
}

/* The first of the places of @key: the finalizer of splitmix64 */
static uint32_t
bucket (const FmxAgingTable *table, uint64_t key)
{
  uint64_t x = key ^ table->seed;

  x = (x ^ (x >> 30)) * UINT64_C (0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C (0x94d049bb133111eb);
  return ((uint32_t) (x >> 33) & table->mask) * WAYS;
}

uint32_t
fmx_aging_table_find (const FmxAgingTable *table, uint64_t key)
{
  uint32_t first = bucket (table, key);

  for (uint32_t i = first; i < first + WAYS; i++)
    if (table->slots[i].used && table->slots[i].key == key)
      return i;
  return FMX_AGING_TABLE_NONE;
}

static uint32_t
find_stalest (const FmxAgingTable *table, uint32_t first)
{
  uint32_t stalest = first;

  for (uint32_t i = first; i < first + WAYS; i++) {
    if (!table->slots[i].used)
      return i;
    if (table->slots[i].last < table->slots[stalest].last)
      stalest = i;
  }
  return stalest;
}

uint32_t
fmx_aging_table_touch (FmxAgingTable *table, uint64_t key,
    FmxTime alive_since, FmxTime *previous, FmxTime now)
{
  uint32_t index = fmx_aging_table_find (table, key);
  FmxAgingSlot *slot;

  *previous = FMX_TIME_NONE;
  if (index != FMX_AGING_TABLE_NONE) {
    *previous = table->slots[index].last;
  } else {
    index = find_stalest (table, bucket (table, key));
    slot = &table->slots[index];
    if (slot->used && slot->last >= alive_since && alive_since < now)
      return FMX_AGING_TABLE_NONE;
  }
  table->slots[index] = (FmxAgingSlot) {.key = key,.last = now,.used = true };
  return index;
}

bool
fmx_aging_table_remove (FmxAgingTable *table, uint64_t key)
{
  uint32_t index = fmx_aging_table_find (table, key);

  if (index == FMX_AGING_TABLE_NONE)
    return false;
  table->slots[index].used = false;
  return true;
}

FmxTime
fmx_aging_table_get (const FmxAgingTable *table, uint32_t index, uint64_t *key)
{
  const FmxAgingSlot *slot = &table->slots[index];

  *key = slot->key;
  return slot->used ? slot->last : FMX_TIME_NONE;
}
