/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_STREAM_TABLE_H
#define FMX_STREAM_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"
#include "fairmix/loss/fmx-sent-numbers.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_STREAM_TABLE_STREAMS: SSRCs remembered, at most; the one that was silent
 * for longest makes room. */
#define FMX_STREAM_TABLE_STREAMS 256u

/** FMX_STREAM_SILENT_BPS: a stream that sends less, in bits/s on the wire, is
 * silent: comfort noise, keep-alive.  The leanest voice, 4.75 kbit/s in
 * packets of 60 ms, needs 10 kbit/s. */
#define FMX_STREAM_SILENT_BPS 8000.0

/**
 * FmxStream:
 * @ssrc: its name
 * @last_sent: when it sent last
 * @bps: its rate on the wire, in bits/s, over the last full second
 * @packets_per_s: likewise
 * @next_report_seq: the first sequence number that no feedback covered yet
 * @has_report_seq: whether there was feedback
 * @ext_highest_seq: of the last report block
 * @cumulative_lost: of the last report block
 * @has_report_block: whether there was one
 * @report_expected: so many numbers it added
 * @report_received: of which so many arrived
 * @report_number: which number, without the wrap, that was
 * @report_time: when it came
 * @report_bytes: what the bundle had sent by then, in bytes
 * @n_overdue: packets sent after the last one that it told of, and given up
 *     since
 * @numbers: the sequence numbers that it has used
 *
 * What is known of one stream of the bundle.
 */
typedef struct
{
  uint32_t ssrc;
  FmxTime last_sent;
  double bps;
  double packets_per_s;
  uint16_t next_report_seq;
  bool has_report_seq;
  bool has_report_block;
  uint32_t ext_highest_seq;
  int32_t cumulative_lost;
  uint32_t report_expected;
  uint32_t report_received;
  uint64_t report_number;
  FmxTime report_time;
  uint64_t report_bytes;
  uint32_t n_overdue;
  FmxSentNumbers numbers;
  /*< private >*/
  FmxTime window;
  uint32_t bytes;
  uint32_t packets;
  uint16_t next;                /* in its bucket, index + 1; 0 = last */
} FmxStream;

/**
 * FmxStreamTotals:
 * @n: active streams
 * @mean_bps: their mean rate on the wire, in bits/s; 0 if there is none
 * @smallest_bps: the least of their rates on the wire, in bits/s
 * @smallest_payload_bps: that stream's rate without headers of 40 bytes
 * @packet_interval: the longest time between two packets of an active stream
 */
typedef struct
{
  unsigned n;
  double mean_bps;
  double smallest_bps;
  double smallest_payload_bps;
  FmxDuration packet_interval;
} FmxStreamTotals;

/**
 * FmxStreamTable:
 *
 * The streams of a bundle, by SSRC.  Finding one is O(1) on average, a new one
 * in a full table costs O(FMX_STREAM_TABLE_STREAMS).
 */
typedef struct
{
  /*< private >*/
  unsigned n;
  FmxStream streams[FMX_STREAM_TABLE_STREAMS];
  uint16_t buckets[FMX_STREAM_TABLE_STREAMS];
} FmxStreamTable;

void fmx_stream_table_init (FmxStreamTable * table);

/** fmx_stream_table_on_sent: a packet left; Returns: its stream */
FmxStream *fmx_stream_table_on_sent (FmxStreamTable * table, uint32_t ssrc,
    uint32_t wire_bytes, FmxTime now);

/** fmx_stream_table_find: Returns: the stream, or NULL: not one of ours */
FmxStream *fmx_stream_table_find (FmxStreamTable * table, uint32_t ssrc);

/** fmx_stream_table_at: Returns: stream @i of all, NULL after the last */
FmxStream *fmx_stream_table_at (FmxStreamTable * table, unsigned i);

/**
 * fmx_stream_table_totals:
 *
 * Over the streams that sent something during the last two seconds, at more
 * than %FMX_STREAM_SILENT_BPS.  O(streams).
 */
void fmx_stream_table_totals (const FmxStreamTable * table,
    FmxStreamTotals * totals, FmxTime now);

#ifdef __cplusplus
}
#endif

#endif /* FMX_STREAM_TABLE_H */
