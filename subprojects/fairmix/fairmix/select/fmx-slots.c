/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/select/fmx-slots.h"

#include <assert.h>
#include <string.h>

void
fmx_slots_init (FmxSlots *slots, FmxSlot *storage, uint32_t n_slots)
{
  memset (storage, 0, n_slots * sizeof storage[0]);
  slots->slots = storage;
  slots->n_slots = n_slots;
}

void
fmx_slots_open (FmxSlots *slots, uint32_t index)
{
  assert (index < slots->n_slots);

  slots->slots[index] = (FmxSlot) {.open = true };
}

void
fmx_slots_close (FmxSlots *slots, uint32_t index)
{
  assert (index < slots->n_slots);

  slots->slots[index] = (FmxSlot) {.open = false };
}

static uint32_t
find (const FmxSlots *slots, uint32_t ssrc)
{
  for (uint32_t i = 0; i < slots->n_slots; i++)
    if (slots->slots[i].taken && slots->slots[i].ssrc == ssrc)
      return i;
  return FMX_SLOTS_NONE;
}

/* Whether @a suits a newcomer better than @b. */
static bool
is_better (const FmxSlot *a, const FmxSlot *b)
{
  if (a->taken != b->taken)
    return !a->taken;
  return a->taken && a->last < b->last;
}

void
fmx_slots_note_mixed (FmxSlots *slots, uint32_t ssrc)
{
  uint32_t index = find (slots, ssrc);

  if (index != FMX_SLOTS_NONE)
    slots->slots[index].mixed = true;
}

static bool
is_busy (const FmxSlot *slot, FmxTime now)
{
  FmxDuration wait = slot->mixed ? FMX_SLOTS_MIXED : FMX_SLOTS_HURRY;

  return slot->taken && now < slot->last + (FmxTime) wait;
}

/* A time that is still to come is one of before time began anew. */
static uint32_t
find_free (FmxSlots *slots, FmxTime now)
{
  uint32_t best = FMX_SLOTS_NONE;

  for (uint32_t i = 0; i < slots->n_slots; i++) {
    FmxSlot *slot = &slots->slots[i];

    slot->last = fmx_time_min (slot->last, now);
    if (!slot->open || is_busy (slot, now))
      continue;
    if (best == FMX_SLOTS_NONE || is_better (slot, &slots->slots[best]))
      best = i;
  }
  return best;
}

uint32_t
fmx_slots_take (FmxSlots *slots, uint32_t ssrc, bool *changed, FmxTime now)
{
  uint32_t index = find (slots, ssrc);

  *changed = index == FMX_SLOTS_NONE;
  if (*changed)
    index = find_free (slots, now);
  if (index == FMX_SLOTS_NONE)
    return index;
  slots->slots[index].taken = true;
  slots->slots[index].mixed = false;
  slots->slots[index].ssrc = ssrc;
  slots->slots[index].last = now;
  return index;
}

bool
fmx_slots_get (const FmxSlots *slots, uint32_t index, uint32_t *ssrc,
    FmxTime now)
{
  const FmxSlot *slot = &slots->slots[index];

  assert (index < slots->n_slots);

  *ssrc = slot->ssrc;
  return slot->taken && now < slot->last + (FmxTime) FMX_SLOTS_IDLE;
}
