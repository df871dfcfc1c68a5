/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_AGING_TABLE_H
#define FMX_AGING_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_AGING_TABLE_WAYS: places where a key may be */
#define FMX_AGING_TABLE_WAYS 8u

/**
 * FmxAgingSlot:
 *
 * One place; 24 bytes.
 */
typedef struct
{
  /*< private >*/
  uint64_t key;
  FmxTime last;
  bool used;
} FmxAgingSlot;

/**
 * FmxAgingTable:
 *
 * Finds what belongs to a key, in memory that does not grow: a key may be in
 * %FMX_AGING_TABLE_WAYS places, and a new one takes the empty or the stalest of
 * them.  Every operation is O(1).
 *
 * What belongs to a key stands in an array of the caller, at the index that the
 * table gives.  Where all places of a key are taken by others, either one of them
 * is forgotten or the key is not taken in; that concerns one key in a thousand of
 * a table that is a quarter full, and one in twenty when it is half full.
 */
typedef struct
{
  /*< private >*/
  FmxAgingSlot *slots;
  uint32_t mask;                /* of buckets */
  uint64_t seed;
} FmxAgingTable;

/**
 * fmx_aging_table_init:
 * @slots: @n_slots of them, which the caller keeps as long as @table
 * @n_slots: a power of two, >= %FMX_AGING_TABLE_WAYS
 * @seed: random, so that nobody can choose keys that all meet in one place
 */
void fmx_aging_table_init (FmxAgingTable * table, FmxAgingSlot * slots,
    uint32_t n_slots, uint64_t seed);

/** FMX_AGING_TABLE_NONE: the key is not there */
#define FMX_AGING_TABLE_NONE UINT32_MAX

/**
 * fmx_aging_table_touch:
 * @key: of something that is alive now
 * @alive_since: whoever was touched at this time or later is not forgotten for
 *     @key's sake; with @now, the stalest always is
 * @previous: (out): when it was touched before; %FMX_TIME_NONE: it is new, and
 *     what stands at its index belonged to somebody else
 *
 * Returns: its index, less than the number of slots; %FMX_AGING_TABLE_NONE if
 *     all its places belong to others who are alive
 */
uint32_t fmx_aging_table_touch (FmxAgingTable * table, uint64_t key,
    FmxTime alive_since, FmxTime * previous, FmxTime now);

/** fmx_aging_table_find: Returns: the index of @key, or
 * %FMX_AGING_TABLE_NONE */
uint32_t fmx_aging_table_find (const FmxAgingTable * table, uint64_t key);

/** fmx_aging_table_remove: forgets @key; Returns: whether it was there */
bool fmx_aging_table_remove (FmxAgingTable * table, uint64_t key);

/**
 * fmx_aging_table_get:
 * @index: less than the number of slots
 * @key: (out): who is there
 *
 * Returns: when it was touched last; %FMX_TIME_NONE: nobody is there
 */
FmxTime fmx_aging_table_get (const FmxAgingTable * table, uint32_t index,
    uint64_t * key);

#ifdef __cplusplus
}
#endif

#endif /* FMX_AGING_TABLE_H */
