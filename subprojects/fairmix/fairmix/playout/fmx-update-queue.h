/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_UPDATE_QUEUE_H
#define FMX_UPDATE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxUpdateQueueMode:
 * @FMX_UPDATE_QUEUE_MOVE_TO_TAIL: the new entry goes to the end of the queue
 *     (the paper)
 * @FMX_UPDATE_QUEUE_IN_PLACE: it takes the place of the old one: keys that are
 *     updated often then wait no longer than the others
 */
typedef enum
{
  FMX_UPDATE_QUEUE_MOVE_TO_TAIL,
  FMX_UPDATE_QUEUE_IN_PLACE
} FmxUpdateQueueMode;

/**
 * FmxUpdateQueueEntry:
 *
 * One place of the caller's storage; nothing in it is the caller's business.
 */
typedef struct
{
  /*< private >*/
  uint64_t key;
  void *item;
  uint32_t previous, next;      /* in the queue, or in the list of free ones */
  uint32_t same_bucket;         /* next entry whose key hashes alike */
  uint32_t bucket;              /* first entry whose key hashes to this index */
} FmxUpdateQueueEntry;

/**
 * FmxUpdateQueue:
 *
 * A FIFO in which every entry has a key, and that holds at most one entry of
 * each key: an entry that is superseded before it was served is never served.
 * It does not own the items: those it lets go of are handed back.
 *
 * Source: nanoManipulator 2002, section 3.2; Kessler, Hodges, "A Network
 * Communication Protocol for Distributed Virtual Environment Systems", 1996.
 */
typedef struct
{
  /*< private >*/
  FmxUpdateQueueEntry *entries;
  uint32_t capacity;
  uint32_t n_entries;
  uint32_t head, tail, free;
  FmxUpdateQueueMode mode;
} FmxUpdateQueue;

/**
 * fmx_update_queue_init:
 * @storage: @capacity entries, which must live as long as the queue
 * @capacity: how many keys it can hold, in [1, 2^31]
 */
void fmx_update_queue_init (FmxUpdateQueue * queue,
    FmxUpdateQueueEntry * storage, uint32_t capacity, FmxUpdateQueueMode mode);

/**
 * fmx_update_queue_push:
 * @key: what @item is an update of
 * @item: not NULL
 *
 * Expected O(1).
 *
 * Returns: NULL, or the item that @item replaced, or, if the queue was full
 *     and knew no such key, the item at its head, which had to go
 */
void *fmx_update_queue_push (FmxUpdateQueue * queue, uint64_t key,
    void *item);

/** Returns: whether an entry of @key is waiting */
bool fmx_update_queue_contains (const FmxUpdateQueue * queue, uint64_t key);

/** Returns: the item that is next, which leaves the queue; NULL if empty */
void *fmx_update_queue_pop (FmxUpdateQueue * queue);

/** Returns: how many entries wait */
uint32_t fmx_update_queue_length (const FmxUpdateQueue * queue);

#ifdef __cplusplus
}
#endif

#endif /* FMX_UPDATE_QUEUE_H */
