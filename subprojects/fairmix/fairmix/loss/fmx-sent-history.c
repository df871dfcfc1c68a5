/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/loss/fmx-sent-history.h"

#include <assert.h>
#include <string.h>

#define MASK (FMX_SENT_HISTORY_PACKETS - 1u)

enum
{
  UNDECIDED,
  ACKED,
  LOST,
  FORGOTTEN
};

/* Consecutive packets of a stream fall into consecutive buckets. */
static unsigned
hash (uint32_t ssrc, uint16_t seq)
{
  return (ssrc * 2654435761u / 65536u + seq) & MASK;
}

static FmxSentSlot *
slot_of (FmxSentHistory *history, uint64_t number)
{
  return &history->slots[number & MASK];
}

static void
describe (const FmxSentHistory *history, uint64_t number, FmxSentPacket *packet)
{
  const FmxSentSlot *slot = &history->slots[number & MASK];

  packet->number = number;
  packet->ssrc = slot->ssrc;
  packet->seq = slot->seq;
  packet->wire_bytes = slot->wire_bytes;
  packet->sent = slot->sent;
}

/* Slots hold no number; there is one packet for each, the latest. */
static uint64_t
number_of (const FmxSentHistory *history, const FmxSentSlot *slot)
{
  uint64_t at = (uint64_t) (slot - history->slots);
  uint64_t newest = history->next - 1;

  return newest - ((newest - at) & MASK);
}

/* Returns: its slot + 1, or 0 */
static unsigned
lookup (const FmxSentHistory *history, uint32_t ssrc, uint16_t seq)
{
  unsigned at = history->buckets[hash (ssrc, seq)];

  while (at != 0 && (history->slots[at - 1].ssrc != ssrc
          || history->slots[at - 1].seq != seq))
    at = history->slots[at - 1].next;
  return at;
}

static FmxSentSlot *
find (FmxSentHistory *history, uint32_t ssrc, uint16_t seq)
{
  unsigned at = lookup (history, ssrc, seq);

  return at == 0 ? NULL : &history->slots[at - 1];
}

static void
unlink_slot (FmxSentHistory *history, const FmxSentSlot *slot)
{
  uint16_t *link = &history->buckets[hash (slot->ssrc, slot->seq)];
  uint16_t at = (uint16_t) (slot - history->slots + 1);

  while (*link != at)
    link = &history->slots[*link - 1].next;
  *link = slot->next;
}

/* Moves the head over everything that is decided. */
static void
settle (FmxSentHistory *history)
{
  while (history->head < history->next) {
    const FmxSentSlot *slot = slot_of (history, history->head);

    if (slot->state == UNDECIDED)
      break;
    if (slot->state == ACKED)
      history->acked_ahead--;
    history->head++;
  }
}

static void
give_up (FmxSentHistory *history, FmxSentSlot *slot)
{
  if (slot->state != UNDECIDED)
    return;
  slot->state = FORGOTTEN;
  history->stats.n_forgotten++;
}

static void
drop_oldest (FmxSentHistory *history)
{
  FmxSentSlot *slot = slot_of (history, history->oldest);

  give_up (history, slot);
  settle (history);
  unlink_slot (history, slot);
  history->oldest++;
}

void
fmx_sent_history_init (FmxSentHistory *history)
{
  memset (history, 0, sizeof *history);
}

uint64_t
fmx_sent_history_bytes (const FmxSentHistory *history, uint64_t from,
    uint64_t to)
{
  uint64_t bytes = 0;

  if (from < history->oldest)
    from = history->oldest;
  for (uint64_t i = from; i <= to && i < history->next; i++)
    bytes += history->slots[i & MASK].wire_bytes;
  return bytes;
}

void
fmx_sent_history_add (FmxSentHistory *history, FmxSentPacket *packet,
    FmxDuration timeout, FmxTime now)
{
  FmxTime deadline = now + (FmxTime) timeout;
  FmxSentSlot *slot;
  uint16_t *bucket;
  uint64_t wait_us;

  assert (timeout >= 0);
  slot = find (history, packet->ssrc, packet->seq);
  if (slot != NULL) {
    give_up (history, slot);
    settle (history);
  }
  if (history->next - history->oldest == FMX_SENT_HISTORY_PACKETS)
    drop_oldest (history);

  if (deadline < history->last_deadline)
    deadline = history->last_deadline;
  history->last_deadline = deadline;
  wait_us = (deadline - now) / 1000;

  packet->number = history->next++;
  packet->sent = now;
  slot = slot_of (history, packet->number);
  bucket = &history->buckets[hash (packet->ssrc, packet->seq)];
  slot->sent = now;
  slot->deadline_us = wait_us < UINT32_MAX ? (uint32_t) wait_us : UINT32_MAX;
  slot->ssrc = packet->ssrc;
  slot->seq = packet->seq;
  slot->next = *bucket;
  slot->wire_bytes = (uint16_t) (packet->wire_bytes < UINT16_MAX
      ? packet->wire_bytes : UINT16_MAX);
  slot->state = UNDECIDED;
  *bucket = (uint16_t) ((packet->number & MASK) + 1);
  history->stats.n_sent++;
}

FmxSentAck
fmx_sent_history_acknowledge (FmxSentHistory *history, uint32_t ssrc,
    uint16_t seq, FmxSentPacket *packet)
{
  FmxSentSlot *slot = find (history, ssrc, seq);
  unsigned before;

  if (slot == NULL) {
    history->stats.n_unknown++;
    return FMX_SENT_ACK_UNKNOWN;
  }
  describe (history, number_of (history, slot), packet);
  before = slot->state;
  if (before == ACKED) {
    history->stats.n_again++;
    return FMX_SENT_ACK_AGAIN;
  }

  slot->state = ACKED;
  history->stats.n_acked++;
  if (packet->number >= history->head)
    history->acked_ahead++;
  settle (history);
  if (before == FORGOTTEN)
    history->stats.n_forgotten--;
  if (before != LOST)
    return FMX_SENT_ACK_NEW;
  history->stats.n_lost--;
  history->stats.n_late++;
  return FMX_SENT_ACK_LATE;
}

bool
fmx_sent_history_knows (const FmxSentHistory *history, uint32_t ssrc,
    uint16_t seq)
{
  return lookup (history, ssrc, seq) != 0;
}

bool
fmx_sent_history_find (const FmxSentHistory *history, uint32_t ssrc,
    uint16_t seq, FmxSentPacket *packet)
{
  unsigned at = lookup (history, ssrc, seq);

  if (at == 0)
    return false;
  describe (history, number_of (history, &history->slots[at - 1]), packet);
  return true;
}

bool
fmx_sent_history_was_acknowledged (const FmxSentHistory *history,
    uint32_t ssrc, uint16_t seq)
{
  unsigned at = lookup (history, ssrc, seq);

  return at != 0 && history->slots[at - 1].state == ACKED;
}

bool
fmx_sent_history_forget (FmxSentHistory *history, uint32_t ssrc, uint16_t seq,
    FmxSentPacket *packet)
{
  FmxSentSlot *slot = find (history, ssrc, seq);

  if (slot == NULL)
    return false;
  if (slot->state != LOST) {
    give_up (history, slot);
    settle (history);
    return false;
  }
  slot->state = FORGOTTEN;
  history->stats.n_lost--;
  history->stats.n_forgotten++;
  describe (history, number_of (history, slot), packet);
  return true;
}

void
fmx_sent_history_forget_before (FmxSentHistory *history, uint64_t number)
{
  for (uint64_t i = history->head; i < number && i < history->next; i++)
    give_up (history, slot_of (history, i));
  settle (history);
}

void
fmx_sent_history_postpone (FmxSentHistory *history, FmxTime until)
{
  if (until > history->postponed && !history->timeouts_only)
    history->postponed = until;
}

bool
fmx_sent_history_next_lost (FmxSentHistory *history, FmxSentPacket *packet,
    FmxTime now)
{
  FmxSentSlot *slot;

  settle (history);
  if (history->head == history->next)
    return false;
  slot = slot_of (history, history->head);
  /* [RFC5348 5.1] "at least NDUPACK packets with a higher sequence number" */
  if ((history->timeouts_only
          || history->acked_ahead < FMX_SENT_HISTORY_NDUPACK)
      && now < fmx_sent_history_next_deadline (history))
    return false;

  slot->state = LOST;
  history->stats.n_lost++;
  describe (history, history->head, packet);
  settle (history);
  return true;
}

bool
fmx_sent_history_find_lost (const FmxSentHistory *history, uint64_t after,
    FmxTime until, FmxSentPacket *packet)
{
  uint64_t number = after + 1;

  if (number < history->oldest)
    number = history->oldest;
  for (; number < history->head; number++) {
    const FmxSentSlot *slot = &history->slots[number & MASK];

    if (slot->sent > until)
      return false;
    if (slot->state == LOST) {
      describe (history, number, packet);
      return true;
    }
  }
  return false;
}

void
fmx_sent_history_set_timeouts_only (FmxSentHistory *history,
    bool timeouts_only)
{
  history->timeouts_only = timeouts_only;
  if (timeouts_only)
    history->postponed = 0;
}

FmxTime
fmx_sent_history_next_deadline (const FmxSentHistory *history)
{
  const FmxSentSlot *slot = &history->slots[history->head & MASK];
  FmxTime deadline = slot->sent + (FmxTime) slot->deadline_us * 1000;

  if (history->head == history->next)
    return FMX_TIME_NONE;
  return deadline > history->postponed ? deadline : history->postponed;
}

uint32_t
fmx_sent_history_n_undecided (const FmxSentHistory *history)
{
  return (uint32_t) (history->next - history->head) - history->acked_ahead;
}

void
fmx_sent_history_get_stats (const FmxSentHistory *history,
    FmxSentHistoryStats *stats)
{
  *stats = history->stats;
}
