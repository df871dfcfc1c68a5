/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_SLOTS_H
#define FMX_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_SLOTS_IDLE: a stream that sent nothing for so long has left its slot to
 * others; longer than a pause between words that is sent without DTX packets */
#define FMX_SLOTS_IDLE (300 * FMX_MSECOND)
/** FMX_SLOTS_HURRY: when all slots are taken, so much silence is enough: three
 * packets of 20 ms */
#define FMX_SLOTS_HURRY (60 * FMX_MSECOND)
/** FMX_SLOTS_MIXED: and of a stream that is in a mix now, so much: no packet of its own
 * that was under way still comes */
#define FMX_SLOTS_MIXED (20 * FMX_MSECOND)

/**
 * FmxSlot:
 *
 * A place for one stream at a time.
 */
typedef struct
{
  /*< private >*/
  bool open;
  bool taken;
  bool mixed;                   /* since its last packet */
  uint32_t ssrc;
  FmxTime last;
} FmxSlot;

/**
 * FmxSlots:
 *
 * Which of many streams is in which of a few slots.  A listener with a fixed
 * number of decoders, a browser say, has a slot for each.
 *
 * A stream keeps its slot for as long as it sends; after a pause it gets the
 * same one back unless somebody else needed it.  A newcomer gets a slot that
 * nobody had, else the one that has been idle longest.  So streams change slots
 * as little as they can.
 *
 * Every operation takes O(number of slots).
 */
typedef struct
{
  /*< private >*/
  FmxSlot *slots;
  uint32_t n_slots;
} FmxSlots;

/**
 * fmx_slots_init:
 * @storage: @n_slots, which the caller keeps as long as @slots
 *
 * All slots are closed.
 */
void fmx_slots_init (FmxSlots * slots, FmxSlot * storage, uint32_t n_slots);

/** fmx_slots_open: slot @index may be taken from now on; it is empty */
void fmx_slots_open (FmxSlots * slots, uint32_t index);

/** fmx_slots_close: slot @index may not be taken any more; whoever is in it
 * needs another one */
void fmx_slots_close (FmxSlots * slots, uint32_t index);

/** FMX_SLOTS_NONE: no slot was to be had */
#define FMX_SLOTS_NONE UINT32_MAX

/**
 * fmx_slots_take:
 * @ssrc: of the stream that has sent a packet
 * @changed: (out): whether the slot held another stream before, or none
 * @now: may begin anew, as running time does
 *
 * Returns: the stream's slot, or %FMX_SLOTS_NONE if others are sending in all of
 *     them
 */
uint32_t fmx_slots_take (FmxSlots * slots, uint32_t ssrc, bool *changed,
    FmxTime now);

/** fmx_slots_note_mixed: stream @ssrc is heard in another one, a mix, from now on, until it
 * sends by itself again: its slot is free sooner */
void fmx_slots_note_mixed (FmxSlots * slots, uint32_t ssrc);

/**
 * fmx_slots_get:
 * @ssrc: (out): who is in slot @index, or was in it last
 *
 * Returns: whether anybody is: who has been silent for %FMX_SLOTS_IDLE is not
 */
bool fmx_slots_get (const FmxSlots * slots, uint32_t index, uint32_t * ssrc,
    FmxTime now);

#ifdef __cplusplus
}
#endif

#endif /* FMX_SLOTS_H */
