/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/wire/fmx-ccfb-collector.h"

#include <assert.h>
#include <string.h>

#include "fairmix/base/fmx-serial.h"
#include "fairmix/base/fmx-units.h"
#include "fairmix/wire/fmx-ccfb.h"

#define NONE UINT32_MAX
#define WINDOW FMX_CCFB_WINDOW
#define RECEIVED 0x80u
#define ECN_MASK 0x03u
#define ECN_CE 3u
#define RATE_WINDOW FMX_SECOND

/* A stream silent for this long starts anew.  It keeps each arrival time in the
 * window younger than 512 * 8 s and what it waited, less than 2^32 us. */
#define IDLE_RESTART (8 * FMX_SECOND)
#define WAITED_MAX (60 * FMX_SECOND)

/* With so much unreported the window is about to overflow: report at once. */
#define WINDOW_FULL (WINDOW * 3 / 4)

/* So many packets pay for a part of that; numbers that were left out pay nothing. */
#define PAYING_PACKETS (WINDOW / 4)

/* IP, UDP, the RTCP header with its SSRC, the timestamp. */
#define REPORT_OVERHEAD_BYTES (FMX_IP_UDP_BYTES + 12.0)
#define BLOCK_BYTES 8.0
#define METRIC_BYTES 2.0

void
fmx_ccfb_collector_params_default (FmxCcfbCollectorParams *params)
{
  params->sender_ssrc = 0;
  params->rate_fraction = 0.05;
  params->min_interval = 20 * FMX_MSECOND;
  params->max_interval = 500 * FMX_MSECOND;
  params->repeat_interval = 100 * FMX_MSECOND;
  params->reorder_packets = 3;
}

void
fmx_ccfb_collector_init (FmxCcfbCollector *collector,
    const FmxCcfbCollectorParams *params, FmxCcfbStream *streams,
    uint32_t n_streams)
{
  assert (n_streams >= 1 && n_streams <= 65536);
  assert (params->min_interval >= 0);
  assert (params->max_interval >= params->min_interval);

  memset (collector, 0, sizeof *collector);
  collector->params = *params;
  collector->streams = streams;
  collector->n_streams = n_streams;
  collector->newest = NONE;
  collector->oldest = NONE;
  collector->first_pending = FMX_TIME_NONE;
  collector->last_report = FMX_TIME_NONE;
  fmx_feedback_budget_init (&collector->budget, params->rate_fraction,
      params->max_interval);
  fmx_rate_meter_init (&collector->packets, RATE_WINDOW);
  for (uint32_t i = 0; i < n_streams; i++)
    streams[i].bucket = NONE;
}

void
fmx_ccfb_collector_set_sender_ssrc (FmxCcfbCollector *collector,
    uint32_t sender_ssrc)
{
  collector->params.sender_ssrc = sender_ssrc;
}

void
fmx_ccfb_collector_get_stats (const FmxCcfbCollector *collector,
    FmxCcfbCollectorStats *stats)
{
  *stats = collector->stats;
}

static uint32_t *
bucket_of (FmxCcfbCollector *collector, uint32_t ssrc)
{
  uint64_t hash = ssrc * UINT32_C (2654435761);

  return &collector->streams[(hash * collector->n_streams) >> 32].bucket;
}

static void
unlink_by_arrival (FmxCcfbCollector *collector, uint32_t i)
{
  FmxCcfbStream *stream = &collector->streams[i];

  if (stream->newer != NONE)
    collector->streams[stream->newer].older = stream->older;
  else
    collector->newest = stream->older;
  if (stream->older != NONE)
    collector->streams[stream->older].newer = stream->newer;
  else
    collector->oldest = stream->newer;
}

static void
link_as_newest (FmxCcfbCollector *collector, uint32_t i)
{
  FmxCcfbStream *stream = &collector->streams[i];

  stream->newer = NONE;
  stream->older = collector->newest;
  if (collector->newest != NONE)
    collector->streams[collector->newest].newer = i;
  else
    collector->oldest = i;
  collector->newest = i;
}

static void
set_due (FmxCcfbCollector *collector, FmxCcfbStream *stream)
{
  bool due = stream->repeat || stream->begin <= stream->highest;

  collector->n_due += (uint32_t) due - (uint32_t) stream->due;
  stream->due = due;
}

static void
note (FmxCcfbStream *stream, uint64_t seq, uint8_t ecn, uint32_t arrival_us)
{
  stream->arrival_us[seq % WINDOW] = arrival_us;
  stream->state[seq % WINDOW] = (uint8_t) (RECEIVED | (ecn & ECN_MASK));
}

static uint32_t
now_in_us (const FmxCcfbCollector *collector)
{
  return (uint32_t) (collector->now / (uint64_t) FMX_USECOND);
}

/* The stream begins with this packet, which came at @arrival_us. */
static void
start (FmxCcfbStream *stream, uint16_t seq, uint8_t ecn, uint32_t arrival_us)
{
  memset (stream->state, 0, sizeof stream->state);
  stream->restarting = false;
  stream->repeat = false;
  /* One whole wrap up, so that earlier ones do not fall below zero. */
  stream->highest = (uint64_t) seq + 65536;
  stream->begin = stream->highest;
  stream->repeat_begin = stream->highest;
  note (stream, stream->highest, ecn, arrival_us);
}

/* Takes a free stream, or that which has been silent longest. */
static uint32_t
take_stream (FmxCcfbCollector *collector, uint32_t ssrc)
{
  FmxCcfbStream *stream;
  uint32_t *link;
  uint32_t i;

  if (collector->stats.n_streams < collector->n_streams) {
    i = collector->stats.n_streams++;
  } else {
    i = collector->oldest;
    link = bucket_of (collector, collector->streams[i].ssrc);
    while (*link != i)
      link = &collector->streams[*link].chain;
    *link = collector->streams[i].chain;
    unlink_by_arrival (collector, i);
    collector->n_due -= collector->streams[i].due;
    collector->stats.n_unreported += collector->streams[i].highest + 1
        - collector->streams[i].begin;
    collector->stats.n_evicted++;
  }
  stream = &collector->streams[i];
  stream->ssrc = ssrc;
  stream->due = false;
  stream->last_report = FMX_TIME_NONE;
  link = bucket_of (collector, ssrc);
  stream->chain = *link;
  *link = i;
  link_as_newest (collector, i);
  return i;
}

/* Stream @i goes on elsewhere, from this packet on.  What it has to say of
 * before is still said, as another stream of the same SSRC.
 * Returns: the stream that goes on */
static uint32_t
restart (FmxCcfbCollector *collector, uint32_t i, uint16_t seq, uint8_t ecn,
    uint32_t arrival_us)
{
  FmxCcfbStream *stream = &collector->streams[i];

  if (stream->begin <= stream->highest)
    i = take_stream (collector, stream->ssrc);
  start (&collector->streams[i], seq, ecn, arrival_us);
  return i;
}

/* The highest sequence number so far, and perhaps a gap before it. */
static void
on_next (FmxCcfbCollector *collector, FmxCcfbStream *stream, uint32_t ahead,
    uint8_t ecn)
{
  for (uint32_t i = 0; i < ahead; i++) {
    uint64_t seq = ++stream->highest;

    if (stream->begin + WINDOW <= seq) {
      if (stream->state[seq % WINDOW] != 0)
        collector->stats.n_unreported++;
      stream->begin = seq - WINDOW + 1;
    }
    stream->state[seq % WINDOW] = 0;
  }
  note (stream, stream->highest, ecn, collector->arrival_us);
  collector->n_missing += ahead - 1;
  if (stream->highest - stream->begin >= WINDOW_FULL)
    collector->full = true;
}

/* A packet from within the window, late or seen before. */
static void
on_earlier (FmxCcfbCollector *collector, FmxCcfbStream *stream,
    uint32_t behind, uint8_t ecn)
{
  uint64_t seq = stream->highest - behind;
  uint8_t *state = &stream->state[seq % WINDOW];

  if ((*state & RECEIVED) != 0) {
    collector->stats.n_duplicates++;
    /* [RFC8888 3.1] the first copy's time; CE if any copy has it */
    if ((ecn & ECN_MASK) != ECN_CE || (*state & ECN_MASK) == ECN_CE)
      return;
    *state |= ECN_CE;
  } else {
    note (stream, seq, ecn, collector->arrival_us);
    collector->stats.n_late++;
    collector->n_missing -= collector->n_missing > 0;
  }
  if (seq < stream->begin)
    stream->begin = seq;
}

static bool
is_near (int32_t ahead)
{
  return ahead < (int32_t) WINDOW && ahead > -(int32_t) WINDOW;
}

static void
on_near_packet (FmxCcfbCollector *collector, FmxCcfbStream *stream,
    const FmxCcfbArrival *arrival)
{
  int32_t ahead = fmx_serial_diff16 (arrival->seq, (uint16_t) stream->highest);

  stream->restarting = false;
  if (ahead > 0)
    on_next (collector, stream, (uint32_t) ahead, arrival->ecn);
  else
    on_earlier (collector, stream, (uint32_t) -ahead, arrival->ecn);
}

/* A packet beyond the window is believed when the next one is near it, much as
 * [RFC3550 A.1] does.  Returns: its stream, NONE while it is not believed */
static uint32_t
on_jump (FmxCcfbCollector *collector, uint32_t i, const FmxCcfbArrival *arrival)
{
  FmxCcfbStream *stream = &collector->streams[i];
  int32_t ahead = fmx_serial_diff16 (arrival->seq, stream->restart_seq);

  if (!stream->restarting || ahead == 0 || !is_near (ahead)) {
    stream->restarting = true;
    stream->restart_seq = arrival->seq;
    stream->restart_ecn = arrival->ecn;
    stream->restart_us = collector->arrival_us;
    collector->stats.n_ignored++;
    return NONE;
  }
  i = restart (collector, i, stream->restart_seq, stream->restart_ecn,
      stream->restart_us);
  on_near_packet (collector, &collector->streams[i], arrival);
  collector->stats.n_restarts++;
  collector->stats.n_ignored--;
  return i;
}

/* Returns: the stream, NONE while the packet is not believed */
static uint32_t
on_stream_packet (FmxCcfbCollector *collector, uint32_t i,
    const FmxCcfbArrival *arrival)
{
  FmxCcfbStream *stream = &collector->streams[i];

  if (fmx_time_diff (collector->now, stream->last_arrival) > IDLE_RESTART)
    return restart (collector, i, arrival->seq, arrival->ecn,
        collector->arrival_us);
  if (!is_near (fmx_serial_diff16 (arrival->seq, (uint16_t) stream->highest)))
    return on_jump (collector, i, arrival);
  on_near_packet (collector, stream, arrival);
  return i;
}

/* Is a packet missing for certain, that is: not just late? */
static void
look_for_loss (FmxCcfbCollector *collector)
{
  if (collector->n_missing == 0)
    collector->n_after_missing = 0;
  else if (++collector->n_after_missing >= collector->params.reorder_packets)
    collector->urgent = true;
}

void
fmx_ccfb_collector_on_packet (FmxCcfbCollector *collector,
    const FmxCcfbArrival *arrival, FmxTime now)
{
  FmxCcfbStream *stream;
  uint32_t i = *bucket_of (collector, arrival->ssrc);

  assert (arrival->waited >= 0 && arrival->waited <= WAITED_MAX);
  collector->now = now > collector->now ? now : collector->now;
  collector->arrival_us = now_in_us (collector)
      - (uint32_t) (arrival->waited / FMX_USECOND);
  collector->stats.n_packets++;
  collector->n_arrived++;
  collector->stats.media_bytes += arrival->wire_bytes;
  fmx_feedback_budget_earn (&collector->budget, arrival->wire_bytes,
      collector->now);
  fmx_rate_meter_add (&collector->packets, 1, collector->now);

  while (i != NONE && collector->streams[i].ssrc != arrival->ssrc)
    i = collector->streams[i].chain;
  if (i == NONE) {
    i = take_stream (collector, arrival->ssrc);
    start (&collector->streams[i], arrival->seq, arrival->ecn,
        collector->arrival_us);
  } else {
    i = on_stream_packet (collector, i, arrival);
    if (i == NONE)
      return;
    unlink_by_arrival (collector, i);
    link_as_newest (collector, i);
  }
  stream = &collector->streams[i];
  stream->last_arrival = collector->now;
  set_due (collector, stream);
  if (stream->begin <= stream->highest
      && collector->first_pending == FMX_TIME_NONE)
    collector->first_pending = collector->now;
  look_for_loss (collector);
}

FmxTime
fmx_ccfb_collector_next_timeout (const FmxCcfbCollector *collector)
{
  const FmxCcfbCollectorParams *params = &collector->params;
  uint64_t min_interval = (uint64_t) params->min_interval;
  uint64_t max_interval = (uint64_t) params->max_interval;
  FmxTime start, due;

  if (collector->n_due == 0)
    return FMX_TIME_NONE;
  start = collector->first_pending != FMX_TIME_NONE ?
      collector->first_pending : collector->last_report;
  due = fmx_time_max (start + min_interval, collector->now
      + (uint64_t) fmx_feedback_budget_wait (&collector->budget));
  due = fmx_time_min (due, start + max_interval);
  /* What is urgent goes on credit: one report, not more. */
  if ((collector->full && collector->n_arrived >= PAYING_PACKETS)
      || ((collector->full || collector->urgent)
          && fmx_feedback_budget_has_credit (&collector->budget)))
    due = collector->last_report != FMX_TIME_NONE ?
        collector->last_report + min_interval : collector->now;
  return fmx_time_max (due, collector->now);
}

/* Whether the budget allows to say everything twice: n blocks and all packets'
 * metrics, two times, once a repeat interval. */
static bool
can_repeat (const FmxCcfbCollector *collector)
{
  double interval_s = fmx_time_to_s (collector->params.repeat_interval);
  double metrics = 2.0 * METRIC_BYTES / 8.0
      * fmx_rate_meter_bps (&collector->packets, collector->now);

  return collector->params.repeat_interval > 0
      && (REPORT_OVERHEAD_BYTES + BLOCK_BYTES * collector->n_due) / interval_s
      + metrics <= fmx_feedback_budget_rate (&collector->budget,
      collector->now);
}

static void
write_metrics (const FmxCcfbCollector *collector, const FmxCcfbStream *stream,
    FmxCcfbWriter *writer, uint64_t end, uint64_t seq)
{
  uint32_t now_us = now_in_us (collector);

  fmx_ccfb_writer_begin_stream (writer, stream->ssrc, (uint16_t) seq);
  for (; seq < end; seq++) {
    uint8_t state = stream->state[seq % WINDOW];
    uint32_t age_us = now_us - stream->arrival_us[seq % WINDOW];

    fmx_ccfb_writer_add (writer, (state & RECEIVED) != 0, state & ECN_MASK,
        (FmxDuration) age_us * FMX_USECOND);
  }
}

/* Returns: whether the stream had something to say that was written */
static bool
write_stream (FmxCcfbCollector *collector, FmxCcfbStream *stream,
    FmxCcfbWriter *writer)
{
  uint32_t room = fmx_ccfb_writer_room (writer);
  bool first = stream->last_report != collector->now;
  bool repeat = stream->repeat && first && collector->repeating;
  uint64_t end = stream->highest + 1;
  uint64_t begin = stream->begin;

  if (stream->repeat && first && !collector->repeating)
    stream->repeat = false;
  if (repeat) {
    uint64_t oldest = end > WINDOW ? end - WINDOW : 0;

    if (stream->repeat_begin < begin)
      begin = stream->repeat_begin > oldest ? stream->repeat_begin : oldest;
  }
  if (begin == end || room == 0) {
    set_due (collector, stream);
    return false;
  }
  if (end - begin > room)
    end = begin + room;
  write_metrics (collector, stream, writer, end, begin);
  collector->stats.n_repeats += (end < stream->begin ? end : stream->begin)
      - begin;

  if (first)
    stream->repeat_begin = stream->begin;
  stream->repeat = collector->repeating && stream->repeat_begin < end
      && stream->begin <= stream->highest;
  if (end > stream->begin)
    stream->begin = end;
  stream->last_report = collector->now;
  set_due (collector, stream);
  return true;
}

static void
spend (FmxCcfbCollector *collector, size_t report_bytes)
{
  FmxTime first = collector->first_pending;

  fmx_feedback_budget_spend (&collector->budget, (double) report_bytes,
      collector->last_report == collector->now, first != FMX_TIME_NONE
      && fmx_time_diff (collector->now, first)
      >= collector->params.max_interval);
  collector->stats.report_bytes += report_bytes;
}

size_t
fmx_ccfb_collector_write (FmxCcfbCollector *collector, uint8_t *data,
    size_t size, uint32_t ntp_mid32, FmxTime now)
{
  FmxCcfbWriter writer;
  uint32_t n_left = collector->n_due;   /* they are among the newest */
  uint32_t n_written = 0;
  size_t length;

  assert (size >= FMX_CCFB_MIN_PACKET_BYTES);
  collector->now = now > collector->now ? now : collector->now;
  if (collector->last_report != collector->now)
    collector->repeating = can_repeat (collector);
  fmx_ccfb_writer_init (&writer, data, size, collector->params.sender_ssrc);
  for (uint32_t i = collector->newest; i != NONE && n_left > 0;
      i = collector->streams[i].older) {
    if (!collector->streams[i].due)
      continue;
    n_left--;
    n_written += write_stream (collector, &collector->streams[i], &writer);
  }
  if (n_written == 0)
    return 0;

  length = fmx_ccfb_writer_finish (&writer, ntp_mid32);
  collector->stats.n_reports++;
  collector->stats.n_urgent += collector->urgent;
  spend (collector, length + FMX_IP_UDP_BYTES);
  collector->last_report = collector->now;
  collector->first_pending = FMX_TIME_NONE;
  collector->n_arrived = 0;
  collector->n_missing = 0;
  collector->n_after_missing = 0;
  collector->urgent = false;
  collector->full = false;
  return length;
}
