/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The feedback collector in any order of events: its lists hold together, it
 * claims no packet that did not arrive, what it writes is well-formed. */
#include <string.h>

#include "fairmix/wire/fmx-ccfb-collector.h"
#include "fairmix/wire/fmx-ccfb.h"
#include "fuzz.h"

#define N_STREAMS 4u
#define N_SSRCS 8u
#define NONE UINT32_MAX

static FmxCcfbStream streams[N_STREAMS];

/* What has been sent: each SSRC's last sequence number, and which arrived. */
static struct
{
  uint16_t seqs[N_SSRCS];
  uint8_t arrived[N_SSRCS][65536 / 8];
} sent;

static void
check_invariants (const FmxCcfbCollector * collector)
{
  uint32_t n = 0, n_due = 0, newer = NONE;

  for (uint32_t i = collector->newest; i != NONE; i = streams[i].older) {
    const FmxCcfbStream *stream = &streams[i];

    CHECK (i < N_STREAMS && ++n <= N_STREAMS);
    CHECK (stream->newer == newer);
    CHECK (newer == NONE
        || streams[newer].last_arrival >= stream->last_arrival);
    CHECK (stream->begin <= stream->highest + 1);
    CHECK (stream->highest + 1 - stream->begin <= FMX_CCFB_WINDOW);
    CHECK (stream->due == (stream->repeat || stream->begin <= stream->highest));
    n_due += stream->due;
    newer = i;
  }
  CHECK (collector->oldest == newer);
  CHECK (n == collector->stats.n_streams);
  CHECK (n_due == collector->n_due);
  CHECK ((fmx_ccfb_collector_next_timeout (collector) == FMX_TIME_NONE)
      == (n_due == 0));
}

static void
on_packet (FmxCcfbCollector * collector, Fuzz * fuzz, FmxTime now)
{
  FmxCcfbArrival arrival;
  uint32_t kind = fuzz_u8 (fuzz);
  uint32_t which = kind % N_SSRCS;

  if (kind & 0x80)
    sent.seqs[which] = (uint16_t) fuzz_u16 (fuzz);
  else
    sent.seqs[which] = (uint16_t) (sent.seqs[which]
        + (int8_t) fuzz_u8 (fuzz));
  arrival.ssrc = which * 0x10000001;
  arrival.seq = sent.seqs[which];
  arrival.ecn = (uint8_t) (kind >> 3);
  arrival.wire_bytes = (kind & 0x40) != 0 ? 1500 : 40;
  arrival.waited = (kind & 0x20) != 0 ? 40 * FMX_MSECOND : 0;
  sent.arrived[which][arrival.seq / 8] |= (uint8_t) (1u << arrival.seq % 8);
  fmx_ccfb_collector_on_packet (collector, &arrival, now);
}

static void
write_reports (FmxCcfbCollector * collector, size_t size, FmxTime now)
{
  uint8_t data[512];
  size_t length;
  int n = 0;

  size = size < FMX_CCFB_MIN_PACKET_BYTES ? FMX_CCFB_MIN_PACKET_BYTES : size;
  while ((length = fmx_ccfb_collector_write (collector, data, size, 0,
              now)) > 0) {
    FmxCcfbReader reader;
    FmxCcfbMetric metric;

    CHECK (length <= size);
    CHECK (++n <= (int) (N_STREAMS * FMX_CCFB_WINDOW));
    CHECK (fmx_ccfb_reader_init_packet (&reader, data, length, NULL));
    while (fmx_ccfb_reader_next (&reader, &metric)) {
      uint32_t which = metric.ssrc / 0x10000001;

      CHECK (which < N_SSRCS && which * 0x10000001 == metric.ssrc);
      CHECK (!metric.received || (sent.arrived[which][metric.seq / 8]
              >> metric.seq % 8 & 1) != 0);
    }
    check_invariants (collector);
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  Fuzz fuzz = { data, size, 0 };
  FmxCcfbCollectorParams params;
  FmxCcfbCollector collector;
  FmxTime now;

  memset (&sent, 0, sizeof sent);
  fmx_ccfb_collector_params_default (&params);
  params.repeat_interval = fuzz_u8 (&fuzz) * FMX_MSECOND;
  now = (FmxTime) fuzz_u8 (&fuzz) << 56;
  fmx_ccfb_collector_init (&collector, &params, streams, N_STREAMS);
  while (fuzz_more (&fuzz)) {
    uint32_t op = fuzz_u8 (&fuzz);

    switch (op % 4) {
      case 0:
        now += (FmxTime) fuzz_u8 (&fuzz) << (op >> 2) / 2;
        break;
      case 1:
        write_reports (&collector, op * 2, now);
        break;
      default:
        on_packet (&collector, &fuzz, now);
        break;
    }
    check_invariants (&collector);
  }
  return 0;
}
