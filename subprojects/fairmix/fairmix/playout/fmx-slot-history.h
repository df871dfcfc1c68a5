/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_SLOT_HISTORY_H
#define FMX_SLOT_HISTORY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_SLOT_HISTORY_LENGTH: how many packets back it goes */
#define FMX_SLOT_HISTORY_LENGTH 64u

/**
 * FmxSlotHistory:
 *
 * With which delay the last packets were played: for one that comes when its
 * successors have been, and to tell one that has been there before.
 */
typedef struct
{
  /*< private >*/
  struct
  {
    uint64_t number;            /* ext_seq + 1; 0 = empty */
    FmxDuration delay;
  } slots[FMX_SLOT_HISTORY_LENGTH];
} FmxSlotHistory;

static inline void
fmx_slot_history_clear (FmxSlotHistory *history)
{
  memset (history, 0, sizeof *history);
}

static inline void
fmx_slot_history_put (FmxSlotHistory *history, uint64_t ext_seq,
    FmxDuration delay)
{
  history->slots[ext_seq % FMX_SLOT_HISTORY_LENGTH].number = ext_seq + 1;
  history->slots[ext_seq % FMX_SLOT_HISTORY_LENGTH].delay = delay;
}

/** Returns: whether that packet has been there */
static inline bool
fmx_slot_history_has (const FmxSlotHistory *history, uint64_t ext_seq)
{
  return history->slots[ext_seq % FMX_SLOT_HISTORY_LENGTH].number
      == ext_seq + 1;
}

/** Returns: the first number that it can know, if @highest is the highest */
static inline uint64_t
fmx_slot_history_oldest (uint64_t highest)
{
  return highest < FMX_SLOT_HISTORY_LENGTH ?
      0 : highest - FMX_SLOT_HISTORY_LENGTH + 1;
}

/** Returns: the delay of the last packet from @oldest on before that one, or
 * @otherwise */
static inline FmxDuration
fmx_slot_history_delay_before (const FmxSlotHistory *history, uint64_t ext_seq,
    uint64_t oldest, FmxDuration otherwise)
{
  for (uint64_t seq = ext_seq; seq > oldest; seq--)
    if (fmx_slot_history_has (history, seq - 1))
      return history->slots[(seq - 1) % FMX_SLOT_HISTORY_LENGTH].delay;
  return otherwise;
}

#ifdef __cplusplus
}
#endif

#endif /* FMX_SLOT_HISTORY_H */
