/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_CCFB_COLLECTOR_H
#define FMX_CCFB_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fairmix/base/fmx-rate-meter.h"
#include "fairmix/base/fmx-time.h"
#include "fairmix/wire/fmx-feedback-budget.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_CCFB_WINDOW: packets of one stream that are remembered; what falls out
 * of it before it was reported looks lost to the sender. */
#define FMX_CCFB_WINDOW 512u

/** FMX_CCFB_MIN_PACKET_BYTES: the smallest memory for a report: the header, one
 * stream with two metrics, the timestamp. */
#define FMX_CCFB_MIN_PACKET_BYTES 24u

/**
 * FmxCcfbCollectorParams:
 * @sender_ssrc: whom the reports come from: our own SSRC
 * @rate_fraction: what the reports may take of the received media's rate, both
 *     with IP and UDP headers, in (0, 1]; 0.05 as RFC 3550 has it
 * @min_interval: never two reports within this time; 20 ms
 * @max_interval: no report is held back longer than this, even if it takes
 *     more than @rate_fraction then (media below some 30 kbit/s); 500 ms
 * @repeat_interval: where the budget allows a report at least so often, each
 *     report repeats the one before it, so that one lost report loses nothing;
 *     0 never repeats; 100 ms
 * @reorder_packets: a packet is missing, not just late, once so many others
 *     have arrived after it; a report is made at once then; 3, as
 *     [RFC5348 5.1]
 */
typedef struct
{
  uint32_t sender_ssrc;
  double rate_fraction;
  FmxDuration min_interval;
  FmxDuration max_interval;
  FmxDuration repeat_interval;
  uint32_t reorder_packets;
} FmxCcfbCollectorParams;

/**
 * FmxCcfbArrival:
 * @ssrc: the stream
 * @seq: the RTP sequence number
 * @ecn: the two ECN bits of the IP header; 0 if unknown
 * @wire_bytes: the packet's size with IP and UDP headers
 * @waited: how long ago it arrived: it has waited since then to be noted; in [0, 1 min]
 */
typedef struct
{
  uint32_t ssrc;
  uint16_t seq;
  uint8_t ecn;
  uint32_t wire_bytes;
  FmxDuration waited;
} FmxCcfbArrival;

/**
 * FmxCcfbCollectorStats:
 * @n_packets: arrivals noted
 * @n_duplicates: of those, already seen
 * @n_late: of those, behind the highest sequence number of their stream
 * @n_ignored: too far from their stream to be believed
 * @n_unreported: fell out of the window, or were evicted with their stream,
 *     before a report told of them
 * @n_restarts: jumps of a stream's sequence numbers beyond the window
 * @n_streams: streams known now, also those that went on elsewhere
 * @n_evicted: streams forgotten for new ones
 * @n_repeats: metrics said a second time
 * @n_reports: packets written
 * @n_urgent: of those, hastened by a loss
 * @report_bytes: bytes of those, with IP and UDP headers
 * @media_bytes: wire bytes that arrived
 */
typedef struct
{
  uint64_t n_packets;
  uint64_t n_duplicates;
  uint64_t n_late;
  uint64_t n_ignored;
  uint64_t n_unreported;
  uint64_t n_restarts;
  uint32_t n_streams;
  uint64_t n_evicted;
  uint64_t n_repeats;
  uint64_t n_reports;
  uint64_t n_urgent;
  uint64_t report_bytes;
  uint64_t media_bytes;
} FmxCcfbCollectorStats;

/** FmxCcfbStream: what is remembered of one SSRC: some 2.7 kB. */
typedef struct
{
  /*< private >*/
  uint32_t ssrc;
  uint32_t bucket;              /* head of the chain with this index as hash */
  uint32_t chain;               /* the next in the stream's own chain */
  uint32_t newer, older;        /* by last arrival */
  bool due;                     /* has news, or a repetition to make */
  bool repeat;                  /* what was reported last is to be repeated */
  bool restarting;              /* the last packet was beyond the window: */
  uint8_t restart_ecn;          /* it was the first of a new sequence if the */
  uint16_t restart_seq;         /* next one is near it */
  uint32_t restart_us;
  FmxTime last_arrival;
  FmxTime last_report;
  uint64_t highest;             /* extended sequence number */
  uint64_t begin;               /* the first to report; highest + 1: none */
  uint64_t repeat_begin;        /* the first that the last report was new to */
  uint32_t arrival_us[FMX_CCFB_WINDOW];
  uint8_t state[FMX_CCFB_WINDOW];
} FmxCcfbStream;

/**
 * FmxCcfbCollector:
 *
 * The receiver's side of congestion control feedback (RFC 8888): notes which
 * packets arrived when, says when a report is due, and writes it.
 *
 * |[
 *   on each RTP packet:    fmx_ccfb_collector_on_packet (&c, &arrival, now);
 *                          wait until fmx_ccfb_collector_next_timeout (&c)
 *   when that time comes:  while ((n = fmx_ccfb_collector_write (&c, data,
 *                              sizeof data, ntp_mid32, now)) > 0)
 *                            send n bytes
 * ]|
 *
 * Holds a pointer to the caller's streams and nothing else of the outside.
 */
typedef struct
{
  /*< private >*/
  FmxCcfbCollectorParams params;
  FmxCcfbCollectorStats stats;
  FmxCcfbStream *streams;
  uint32_t n_streams;
  uint32_t newest, oldest;      /* by last arrival */
  uint32_t n_due;               /* streams with something to say */
  FmxFeedbackBudget budget;
  FmxRateMeter packets;         /* received, eight times packets/s */
  FmxTime now;                  /* the latest that we were told */
  uint32_t arrival_us;          /* of the packet that is being noted */
  FmxTime first_pending;        /* the first arrival since the last report */
  FmxTime last_report;
  uint64_t n_arrived;           /* packets since the last report */
  uint64_t n_missing;           /* likewise */
  uint32_t n_after_missing;     /* packets that came after the first of them */
  bool urgent;                  /* a packet is missing for certain */
  bool full;                    /* a window is about to overflow */
  bool repeating;
} FmxCcfbCollector;

void fmx_ccfb_collector_params_default (FmxCcfbCollectorParams * params);

/**
 * fmx_ccfb_collector_init:
 * @streams: (array length=n_streams): the caller's memory, to live as long as
 *     the collector; need not be cleared
 * @n_streams: for how many SSRCs at a time, 1 ... 65536; when more come, the
 *     one that has been silent longest is forgotten
 */
void fmx_ccfb_collector_init (FmxCcfbCollector * collector,
    const FmxCcfbCollectorParams * params, FmxCcfbStream * streams,
    uint32_t n_streams);

/** fmx_ccfb_collector_set_sender_ssrc: our own SSRC has changed */
void fmx_ccfb_collector_set_sender_ssrc (FmxCcfbCollector * collector,
    uint32_t sender_ssrc);

/**
 * fmx_ccfb_collector_on_packet:
 *
 * Notes an arrival, at @now less what it waited.  A @now earlier than the last one counts
 * as the last one.
 * O(1), plus the length of a gap, up to %FMX_CCFB_WINDOW.
 */
void fmx_ccfb_collector_on_packet (FmxCcfbCollector * collector,
    const FmxCcfbArrival * arrival, FmxTime now);

/**
 * fmx_ccfb_collector_next_timeout:
 *
 * Returns: when the next report should be written; it may move to an earlier
 *     time with each packet.  %FMX_TIME_NONE: nothing to report
 */
FmxTime fmx_ccfb_collector_next_timeout (const FmxCcfbCollector * collector);

/**
 * fmx_ccfb_collector_write:
 * @data: where the RTCP packet goes
 * @size: the most that it may take, in bytes, at least
 *     %FMX_CCFB_MIN_PACKET_BYTES; the path MTU less 28 and what else goes into
 *     the same datagram
 * @ntp_mid32: the middle 32 bits of the NTP time at @now
 *
 * Writes one RTCP packet (RTPFB, format 11) about what arrived since the last
 * one.  To be called with the same @now until it returns 0: more than fits
 * goes into further packets.  May be called before the time is due.
 *
 * Returns: its length in bytes, 0 if there is nothing to say
 */
size_t fmx_ccfb_collector_write (FmxCcfbCollector * collector, uint8_t * data,
    size_t size, uint32_t ntp_mid32, FmxTime now);

/** fmx_ccfb_collector_get_stats: @stats: (out): the counters */
void fmx_ccfb_collector_get_stats (const FmxCcfbCollector * collector,
    FmxCcfbCollectorStats * stats);

#ifdef __cplusplus
}
#endif

#endif /* FMX_CCFB_COLLECTOR_H */
