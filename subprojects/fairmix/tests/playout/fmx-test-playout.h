/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_TEST_PLAYOUT_H
#define FMX_TEST_PLAYOUT_H

#include "fmx-test.h"

#include "fairmix/playout/fmx-playout.h"

#define MS FMX_MSECOND
#define PACKET (20 * MS)
#define START (1000 * FMX_SECOND)

typedef struct
{
  FmxPlayout playout;
  uint64_t seq;
  FmxTime media;
} Fixture;

/* Of the virtual queue alone: without a memory */
static inline void
fixture_init (Fixture *f)
{
  FmxPlayoutParams params;

  fmx_playout_params_default (&params);
  params.memory = 0;
  params.growth_step = 10 * MS;
  fmx_playout_init (&f->playout, &params);
  f->seq = 65536;
  f->media = START;
}

/* The packet @n of the stream arrives @transit after it was sent */
static inline FmxPlayoutDecision
arrive (Fixture *f, uint64_t n, FmxDuration transit)
{
  FmxPlayoutPacket packet = {
    .ext_seq = f->seq + n,
    .media = f->media + n * (uint64_t) PACKET,
    .duration = PACKET,
  };

  return fmx_playout_on_packet (&f->playout, &packet,
      packet.media + (uint64_t) transit);
}

static inline FmxPlayoutStats
playout_stats (const FmxPlayout *object)
{
  FmxPlayoutStats stats;

  fmx_playout_get_stats (object, &stats);
  return stats;
}

#endif /* FMX_TEST_PLAYOUT_H */
