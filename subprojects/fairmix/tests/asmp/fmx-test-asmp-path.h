/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_TEST_ASMP_PATH_H
#define FMX_TEST_ASMP_PATH_H

#include <stdbool.h>

#include "fmx-test-asmp.h"

#include "fairmix/asmp/fmx-asmp-receiver.h"
#include "fairmix/base/fmx-rng.h"

#define MEDIA 0xcafeu
#define OWN 7u
#define CLOCK_RATE 8000
#define FRAME (20 * FMX_MSECOND)
#define NTP_EPOCH (UINT64_C (3900000000) * FMX_SECOND)

/* A stream of one packet each 20 ms on a path, and its receiver. */
typedef struct
{
  FmxAsmpReceiver receiver;
  FmxTime now;
  uint16_t seq;
  uint32_t ts;
  FmxDuration one_way;
  double loss;
  uint32_t wire_bytes;
  FmxRng rng;
} Path;

static inline void
path_init (Path *path, FmxAsmpAlgorithm algorithm)
{
  FmxAsmpReceiverParams params;

  fmx_asmp_receiver_params_default (&params);
  params.algorithm = algorithm;
  params.clock_rate_hz = CLOCK_RATE;
  fmx_asmp_receiver_init (&path->receiver, &params, MEDIA);
  path->now = 1000 * FMX_SECOND;
  path->seq = 65500;
  path->ts = UINT32_MAX - 8000;
  path->one_way = 40 * FMX_MSECOND;
  path->loss = 0.0;
  path->wire_bytes = 250;
  fmx_rng_init (&path->rng, 1);
}

static inline void
path_run (Path *path, double seconds)
{
  for (unsigned i = 0; i < seconds * 50.0; i++) {
    path->now += FRAME;
    if (fmx_rng_next_unit (&path->rng) >= path->loss)
      fmx_asmp_receiver_on_packet (&path->receiver, path->seq, path->ts,
          path->wire_bytes, path->now + (FmxTime) path->one_way);
    path->seq++;
    path->ts += 160;
  }
}

/* What the sender tells: round trip, its own rate, who limits it */
static inline void
path_tell (Path *path, FmxDuration rtt, uint32_t sender_bps, uint32_t limiting)
{
  FmxAsmpRttHeader header = { limiting, sender_bps, rtt > 0 };
  FmxAsmpRtt told = { OWN, rtt };
  uint8_t data[FMX_ASMP_RTT_BYTES (1)];

  fmx_asmp_rtt_write (&header, &told, data, sizeof data);
  fmx_asmp_receiver_on_rtt (&path->receiver, OWN, &header, data);
}

static inline FmxAsmpRate
path_report (Path *path)
{
  FmxAsmpRate rate;

  assert_true (fmx_asmp_receiver_report (&path->receiver, &rate,
          path->now + (FmxTime) path->one_way));
  assert_int_equal (rate.media_ssrc, MEDIA);
  return rate;
}

#endif /* FMX_TEST_ASMP_PATH_H */
