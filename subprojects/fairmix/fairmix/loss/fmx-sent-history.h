/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_SENT_HISTORY_H
#define FMX_SENT_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_SENT_HISTORY_PACKETS: as many packets are remembered, a power of 2: at
 * 50 packets/s, 80 streams for a second.  More than that in flight are
 * forgotten, oldest first, rather than called lost. */
#define FMX_SENT_HISTORY_PACKETS 4096u

/** FMX_SENT_HISTORY_NDUPACK: so many later packets acknowledged mean loss
 * ([RFC5348 5.1]). */
#define FMX_SENT_HISTORY_NDUPACK 3u

/**
 * FmxSentPacket:
 * @number: counts the bundle's packets in send order, from 0
 * @ssrc: its stream
 * @seq: its RTP sequence number
 * @wire_bytes: its size with IP and UDP
 * @sent: when
 */
typedef struct
{
  uint64_t number;
  uint32_t ssrc;
  uint16_t seq;
  uint32_t wire_bytes;
  FmxTime sent;
} FmxSentPacket;

/**
 * FmxSentAck:
 * @FMX_SENT_ACK_UNKNOWN: nobody sent that, or too long ago
 * @FMX_SENT_ACK_NEW: it arrived
 * @FMX_SENT_ACK_LATE: it arrived, but counts as lost so far: take that back
 * @FMX_SENT_ACK_AGAIN: known to have arrived
 *
 * What an acknowledgement means.
 */
typedef enum
{
  FMX_SENT_ACK_UNKNOWN,
  FMX_SENT_ACK_NEW,
  FMX_SENT_ACK_LATE,
  FMX_SENT_ACK_AGAIN
} FmxSentAck;

/**
 * FmxSentHistoryStats:
 * @n_sent: packets
 * @n_acked: that arrived, late ones too
 * @n_lost: lost, less those that came after all
 * @n_late: losses taken back
 * @n_again: acknowledged more than once
 * @n_unknown: acknowledgements that matched no packet
 * @n_forgotten: packets whose fate will not be known
 */
typedef struct
{
  uint64_t n_sent;
  uint64_t n_acked;
  uint64_t n_lost;
  uint64_t n_late;
  uint64_t n_again;
  uint64_t n_unknown;
  uint64_t n_forgotten;
} FmxSentHistoryStats;

/** One slot of the ring; 24 bytes. */
typedef struct
{
  /*< private >*/
  FmxTime sent;
  uint32_t deadline_us;         /* after @sent */
  uint32_t ssrc;
  uint16_t seq;
  uint16_t next;                /* in its bucket, slot + 1; 0 = last */
  uint16_t wire_bytes;
  uint8_t state;
} FmxSentSlot;

/**
 * FmxSentHistory:
 *
 * Which packets of a bundle of RTP streams arrived.  The streams share one
 * history, in send order, since they share one path: a loss is noticed by the
 * acknowledgement of any later packet of the bundle.
 *
 * A packet is lost when its deadline has passed (and acknowledgements have
 * ceased, see fmx_sent_history_postpone()), or when
 * %FMX_SENT_HISTORY_NDUPACK packets sent later have been acknowledged,
 * whichever comes first.  Losses are reported in send order.  A late
 * acknowledgement takes the loss back.
 *
 * All operations are O(1) on average unless they say otherwise; the state has
 * a fixed size whatever the number of SSRCs.
 *
 * Source: DPM section 5.2; [RFC5348 5.1].
 */
typedef struct
{
  /*< private >*/
  FmxSentHistoryStats stats;
  uint64_t oldest;              /* number of the oldest one remembered */
  uint64_t head;                /* all before it are decided */
  uint64_t next;                /* number of the next one */
  uint32_t acked_ahead;         /* acknowledged among head ... next - 1 */
  FmxTime last_deadline;
  FmxTime postponed;
  bool timeouts_only;
  FmxSentSlot slots[FMX_SENT_HISTORY_PACKETS];
  uint16_t buckets[FMX_SENT_HISTORY_PACKETS];
} FmxSentHistory;

void fmx_sent_history_init (FmxSentHistory * history);

/**
 * fmx_sent_history_bytes:
 *
 * O(@to - @from).
 *
 * Returns: the wire bytes of the packets numbered @from to @to, both included, of those
 * that are remembered
 */
uint64_t fmx_sent_history_bytes (const FmxSentHistory * history,
    uint64_t from, uint64_t to);

/**
 * fmx_sent_history_add:
 * @packet: what was sent; @packet->number is set
 * @timeout: time to wait for its acknowledgement, >= 0
 *
 * The deadline is @timeout after now, but never before that of the packet
 * before, so that losses are found in send order.  A packet with the SSRC and
 * sequence number of one that is still undecided replaces it.
 */
void fmx_sent_history_add (FmxSentHistory * history, FmxSentPacket * packet,
    FmxDuration timeout, FmxTime now);

/**
 * fmx_sent_history_acknowledge:
 * @packet: (out): the packet that arrived, unless the result is
 *     %FMX_SENT_ACK_UNKNOWN
 */
FmxSentAck fmx_sent_history_acknowledge (FmxSentHistory * history,
    uint32_t ssrc, uint16_t seq, FmxSentPacket * packet);

/** fmx_sent_history_knows: Returns: whether that packet is remembered */
bool fmx_sent_history_knows (const FmxSentHistory * history, uint32_t ssrc,
    uint16_t seq);

/**
 * fmx_sent_history_find:
 * @packet: (out): the packet, if the result is true
 *
 * Returns: whether that packet is remembered
 */
bool fmx_sent_history_find (const FmxSentHistory * history, uint32_t ssrc,
    uint16_t seq, FmxSentPacket * packet);

/** fmx_sent_history_was_acknowledged: Returns: whether that packet is known to
 * have arrived */
bool fmx_sent_history_was_acknowledged (const FmxSentHistory * history,
    uint32_t ssrc, uint16_t seq);

/**
 * fmx_sent_history_forget:
 * @packet: (out): the packet, if the result is true
 *
 * Nobody will say whether that packet arrived (the feedback that did was
 * lost): if it is not known to have arrived, it is neither lost nor received.
 * Returns: whether it counts as lost so far: take that back
 */
bool fmx_sent_history_forget (FmxSentHistory * history, uint32_t ssrc,
    uint16_t seq, FmxSentPacket * packet);

/** fmx_sent_history_forget_before: the same for all undecided packets before
 * number @number: they were sent when nobody listened yet.  O(packets). */
void fmx_sent_history_forget_before (FmxSentHistory * history,
    uint64_t number);

/**
 * fmx_sent_history_postpone:
 * @until: not earlier than in the last call
 *
 * Acknowledgements come in: no packet times out before @until.  A queue that
 * grows makes each packet later than its deadline foresaw, yet loses none;
 * TCP restarts its timer for the same reason ([RFC6298 5.3]).
 */
void fmx_sent_history_postpone (FmxSentHistory * history, FmxTime until);

/**
 * fmx_sent_history_next_lost:
 * @packet: (out): the packet that is lost
 *
 * To be called until it returns false.
 * Returns: whether there is one more that is lost by now
 */
bool fmx_sent_history_next_lost (FmxSentHistory * history,
    FmxSentPacket * packet, FmxTime now);

/**
 * fmx_sent_history_find_lost:
 * @after: number of a packet
 * @until: sent then at the latest
 * @packet: (out): the first packet after number @after that is lost
 *
 * O(packets between).
 * Returns: false if there is none
 */
bool fmx_sent_history_find_lost (const FmxSentHistory * history,
    uint64_t after, FmxTime until, FmxSentPacket * packet);

/** fmx_sent_history_set_timeouts_only: whether packets acknowledged later say
 * nothing of those before them, and acknowledgements do not postpone */
void fmx_sent_history_set_timeouts_only (FmxSentHistory * history,
    bool timeouts_only);

/** fmx_sent_history_next_deadline: Returns: when the oldest undecided packet
 * will be lost; %FMX_TIME_NONE if all are decided */
FmxTime fmx_sent_history_next_deadline (const FmxSentHistory * history);

/** fmx_sent_history_n_undecided: Returns: an upper bound of the packets in
 * flight: those since the oldest undecided one that are not acknowledged */
uint32_t fmx_sent_history_n_undecided (const FmxSentHistory * history);

void fmx_sent_history_get_stats (const FmxSentHistory * history,
    FmxSentHistoryStats * stats);

#ifdef __cplusplus
}
#endif

#endif /* FMX_SENT_HISTORY_H */
