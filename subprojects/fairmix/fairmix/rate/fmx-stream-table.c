/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-stream-table.h"

#include <string.h>

#include "fairmix/base/fmx-units.h"

#define WINDOW FMX_SECOND
#define ACTIVE (2 * FMX_SECOND)
#define HEADER_BITS (8.0 * (FMX_IP_UDP_BYTES + FMX_RTP_HEADER_BYTES))

void
fmx_stream_table_init (FmxStreamTable *table)
{
  memset (table, 0, sizeof *table);
}

static uint16_t *
bucket_of (FmxStreamTable *table, uint32_t ssrc)
{
  return &table->buckets[(ssrc * 2654435761u >> 16)
      % FMX_STREAM_TABLE_STREAMS];
}

FmxStream *
fmx_stream_table_find (FmxStreamTable *table, uint32_t ssrc)
{
  unsigned at = *bucket_of (table, ssrc);

  while (at != 0) {
    FmxStream *stream = &table->streams[at - 1];

    if (stream->ssrc == ssrc)
      return stream;
    at = stream->next;
  }
  return NULL;
}

static void
unlink_stream (FmxStreamTable *table, const FmxStream *stream)
{
  uint16_t *link = bucket_of (table, stream->ssrc);
  uint16_t at = (uint16_t) (stream - table->streams + 1);

  while (*link != at)
    link = &table->streams[*link - 1].next;
  *link = stream->next;
}

/* A free place, or that of the stream which was silent for longest. */
static FmxStream *
make_room (FmxStreamTable *table)
{
  FmxStream *oldest = &table->streams[0];

  if (table->n < FMX_STREAM_TABLE_STREAMS)
    return &table->streams[table->n++];
  for (unsigned i = 1; i < table->n; i++)
    if (table->streams[i].last_sent < oldest->last_sent)
      oldest = &table->streams[i];
  unlink_stream (table, oldest);
  return oldest;
}

static FmxStream *
add (FmxStreamTable *table, uint32_t ssrc, FmxTime now)
{
  FmxStream *stream = make_room (table);
  uint16_t *bucket = bucket_of (table, ssrc);

  memset (stream, 0, sizeof *stream);
  stream->ssrc = ssrc;
  stream->window = now;
  stream->next = *bucket;
  *bucket = (uint16_t) (stream - table->streams + 1);
  return stream;
}

FmxStream *
fmx_stream_table_on_sent (FmxStreamTable *table, uint32_t ssrc,
    uint32_t wire_bytes, FmxTime now)
{
  FmxStream *stream = fmx_stream_table_find (table, ssrc);
  FmxDuration age;

  if (stream == NULL)
    stream = add (table, ssrc, now);
  age = fmx_time_diff (now, stream->window);
  if (age >= WINDOW) {
    bool paused = age >= 2 * WINDOW;    /* what it was says nothing now */

    stream->bps = paused ? 0.0 : fmx_rate_bps (stream->bytes, age);
    stream->packets_per_s = paused ? 0.0
        : stream->packets / fmx_time_to_s (age);
    stream->window = now;
    stream->bytes = 0;
    stream->packets = 0;
  }
  stream->bytes += wire_bytes;
  stream->packets++;
  stream->last_sent = now;
  return stream;
}

FmxStream *
fmx_stream_table_at (FmxStreamTable *table, unsigned i)
{
  return i < table->n ? &table->streams[i] : NULL;
}

/* A stream that is too young for a full window: what it sent so far. */
static void
rate_of (const FmxStream *stream, double *bps, double *packets_per_s,
    FmxTime now)
{
  FmxDuration age = fmx_time_diff (now, stream->window);

  *bps = stream->bps;
  *packets_per_s = stream->packets_per_s;
  if (*bps > 0.0 || stream->packets < 2)
    return;
  if (age < WINDOW / 10)
    age = WINDOW / 10;
  *bps = fmx_rate_bps (stream->bytes, age);
  *packets_per_s = stream->packets / fmx_time_to_s (age);
}

void
fmx_stream_table_totals (const FmxStreamTable *table, FmxStreamTotals *totals,
    FmxTime now)
{
  double sum = 0.0;

  memset (totals, 0, sizeof *totals);
  for (unsigned i = 0; i < table->n; i++) {
    const FmxStream *stream = &table->streams[i];
    double bps, packets_per_s;
    FmxDuration interval;

    rate_of (stream, &bps, &packets_per_s, now);
    if (fmx_time_diff (now, stream->last_sent) > ACTIVE
        || bps < FMX_STREAM_SILENT_BPS)
      continue;
    if (totals->n == 0 || bps < totals->smallest_bps) {
      totals->smallest_bps = bps;
      totals->smallest_payload_bps = bps - HEADER_BITS * packets_per_s;
    }
    interval = fmx_time_from_s (1.0 / packets_per_s);
    if (interval > totals->packet_interval)
      totals->packet_interval = interval;
    sum += bps;
    totals->n++;
  }
  if (totals->n > 0)
    totals->mean_bps = sum / totals->n;
}
