/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_TEST_CCFB_H
#define FMX_TEST_CCFB_H

#include "fmx-test.h"

#include <string.h>

#include "fairmix/wire/fmx-ccfb-collector.h"
#include "fairmix/wire/fmx-ccfb.h"

#define MAX_STREAMS 64u
#define MTU 1172u
#define START (100 * FMX_SECOND)

typedef struct
{
  FmxCcfbCollector collector;
  FmxCcfbStream streams[MAX_STREAMS];
} Receiver;

static inline void
receiver_init (Receiver *receiver, const FmxCcfbCollectorParams *params)
{
  memset (receiver, 0xa5, sizeof *receiver);    /* "need not be cleared" */
  fmx_ccfb_collector_init (&receiver->collector, params, receiver->streams,
      MAX_STREAMS);
}

static inline void
receiver_init_default (Receiver *receiver)
{
  FmxCcfbCollectorParams params;

  fmx_ccfb_collector_params_default (&params);
  receiver_init (receiver, &params);
}

static inline void
arrive (Receiver *receiver, uint32_t ssrc, uint16_t seq, uint32_t wire_bytes,
    FmxTime now)
{
  FmxCcfbArrival arrival = { ssrc, seq, 0, wire_bytes, 0 };

  fmx_ccfb_collector_on_packet (&receiver->collector, &arrival, now);
}

static inline FmxCcfbCollectorStats
collector_stats (const FmxCcfbCollector *object)
{
  FmxCcfbCollectorStats stats;

  fmx_ccfb_collector_get_stats (object, &stats);
  return stats;
}

#endif /* FMX_TEST_CCFB_H */
