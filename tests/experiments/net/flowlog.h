/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLOWLOG_H
#define FLOWLOG_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What became of every packet, as two tables that all runners write alike:
 *
 * flows.csv: t_s, flow, sent_bps, received_bps, sent_packets,
 *   received_packets, lost_packets, delay_ms, ssrcs
 * links.csv: t_s, link, passed_bps, queue_ms, queue_max_ms
 *
 * t_s is the end of an interval.  Rates count whole IP packets.  A packet is
 * lost, in the interval in which it was sent, when FLOWLOG_LOST_AFTER passes
 * without its arrival.  delay_ms is the mean one-way delay of the packets that
 * arrived, queue_ms what they waited in front of a link, serialisation
 * included; both are empty where nothing passed.  ssrcs: different RTP streams
 * that arrived. */

#define FLOWLOG_MAX_FLOWS 64
#define FLOWLOG_MAX_LINKS 32
#define FLOWLOG_LOST_AFTER INT64_C (8000000000)

typedef struct flowlog flowlog;

typedef struct
{
  uint64_t key;                 /* tells packets apart, see flowlog_key() */
  int flow;
  uint32_t bytes;               /* of the whole IP packet */
  uint32_t ssrc;                /* 0: not RTP */
} flowlog_packet;

/* NULL if the files cannot be made.  Names are not copied. */
flowlog *flowlog_open (const char *folder, int64_t interval_ns);
int flowlog_add_flow (flowlog * log, const char *name);
int flowlog_add_link (flowlog * log, const char *name);

/* Times are in ns since the start of the run, and need be in order only to
 * within FLOWLOG_LOST_AFTER. */
void flowlog_sent (flowlog * log, const flowlog_packet * packet, int64_t t);
void flowlog_received (flowlog * log, const flowlog_packet * packet, int64_t t);
/* The packet stands before a link (any of them) / has left its queue. */
void flowlog_entered (flowlog * log, uint64_t key, int64_t t);
void flowlog_passed (flowlog * log, int link, const flowlog_packet * packet,
    int64_t t);

/* Writes what can no longer change. */
void flowlog_advance (flowlog * log, int64_t t);
void flowlog_close (flowlog * log, int64_t t);

/* Of the first bytes of an IPv4 packet; size: how many there are. */
uint64_t flowlog_key (const uint8_t * ip, uint32_t size);

#ifdef __cplusplus
}
#endif

#endif /* FLOWLOG_H */
