/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/playout/fmx-update-queue.h"

#include <assert.h>
#include <stddef.h>

#define NONE UINT32_MAX

/* Fibonacci hashing: the high bits of key * 2^64 / golden ratio */
static uint32_t
bucket_of (const FmxUpdateQueue *queue, uint64_t key)
{
  uint64_t hash = (key * UINT64_C (0x9e3779b97f4a7c15)) >> 32;

  return (uint32_t) (hash % queue->capacity);
}

void
fmx_update_queue_init (FmxUpdateQueue *queue, FmxUpdateQueueEntry *storage,
    uint32_t capacity, FmxUpdateQueueMode mode)
{
  assert (capacity >= 1 && capacity <= UINT32_C (1) << 31);

  queue->entries = storage;
  queue->capacity = capacity;
  queue->n_entries = 0;
  queue->head = NONE;
  queue->tail = NONE;
  queue->free = 0;
  queue->mode = mode;
  for (uint32_t i = 0; i < capacity; i++) {
    storage[i].item = NULL;
    storage[i].next = i + 1 < capacity ? i + 1 : NONE;
    storage[i].bucket = NONE;
  }
}

static uint32_t
find (const FmxUpdateQueue *queue, uint64_t key)
{
  uint32_t i = queue->entries[bucket_of (queue, key)].bucket;

  while (i != NONE && queue->entries[i].key != key)
    i = queue->entries[i].same_bucket;
  return i;
}

static void
append (FmxUpdateQueue *queue, uint32_t i)
{
  FmxUpdateQueueEntry *entries = queue->entries;

  entries[i].previous = queue->tail;
  entries[i].next = NONE;
  if (queue->tail != NONE)
    entries[queue->tail].next = i;
  else
    queue->head = i;
  queue->tail = i;
}

static void
unlink_entry (FmxUpdateQueue *queue, uint32_t i)
{
  FmxUpdateQueueEntry *entries = queue->entries;
  uint32_t previous = entries[i].previous, next = entries[i].next;

  if (previous != NONE)
    entries[previous].next = next;
  else
    queue->head = next;
  if (next != NONE)
    entries[next].previous = previous;
  else
    queue->tail = previous;
}

static void
unlink_bucket (FmxUpdateQueue *queue, uint32_t i)
{
  FmxUpdateQueueEntry *entries = queue->entries;
  uint32_t *link = &entries[bucket_of (queue, entries[i].key)].bucket;

  while (*link != i)
    link = &entries[*link].same_bucket;
  *link = entries[i].same_bucket;
}

void *
fmx_update_queue_push (FmxUpdateQueue *queue, uint64_t key, void *item)
{
  FmxUpdateQueueEntry *entries = queue->entries;
  uint32_t i = find (queue, key), bucket;
  void *gone = NULL;

  assert (item != NULL);

  if (i != NONE) {
    gone = entries[i].item;
    entries[i].item = item;
    if (queue->mode == FMX_UPDATE_QUEUE_MOVE_TO_TAIL) {
      /* [nanoManipulator 3.2] "drops any entry in the buffer with a key k
       * before inserting a new entry with key k" */
      unlink_entry (queue, i);
      append (queue, i);
    }
    return gone;
  }
  if (queue->free == NONE)
    gone = fmx_update_queue_pop (queue);
  i = queue->free;
  queue->free = entries[i].next;
  entries[i].key = key;
  entries[i].item = item;
  bucket = bucket_of (queue, key);
  entries[i].same_bucket = entries[bucket].bucket;
  entries[bucket].bucket = i;
  append (queue, i);
  queue->n_entries++;
  return gone;
}

bool
fmx_update_queue_contains (const FmxUpdateQueue *queue, uint64_t key)
{
  return find (queue, key) != NONE;
}

void *
fmx_update_queue_pop (FmxUpdateQueue *queue)
{
  uint32_t i = queue->head;
  void *item;

  if (i == NONE)
    return NULL;
  item = queue->entries[i].item;
  unlink_entry (queue, i);
  unlink_bucket (queue, i);
  queue->entries[i].item = NULL;
  queue->entries[i].next = queue->free;
  queue->free = i;
  queue->n_entries--;
  return item;
}

uint32_t
fmx_update_queue_length (const FmxUpdateQueue *queue)
{
  return queue->n_entries;
}
