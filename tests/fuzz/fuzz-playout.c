/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Exercises fmx-playout.c, fmx-queue-monitor.c and fmx-interarrival.c: any
 * order of packets, any time stamps, any settings.  Eight bytes an operation,
 * after eight of settings. */
#include <stdlib.h>
#include <string.h>

#include "fairmix/playout/fmx-interarrival.h"
#include "fairmix/playout/fmx-playout.h"

#define CHECK(claim) do { if (!(claim)) abort (); } while (0)

int LLVMFuzzerTestOneInput (const uint8_t * data, size_t size);

static FmxPlayoutParams
params_from (const uint8_t * bytes)
{
  FmxPlayoutParams params;

  fmx_playout_params_default (&params);
  params.threshold = 1u + bytes[0];
  params.length = 1u + bytes[1] % FMX_QUEUE_MONITOR_POSITIONS;
  params.decay = 1.0 + bytes[2] / 64.0;
  params.after_drop = (FmxQueueMonitorAfterDrop) (bytes[3] % 3);
  params.threshold_time = bytes[4] * 10 * FMX_MSECOND;
  params.min_delay = bytes[5] * FMX_MSECOND;
  params.max_delay = params.min_delay + bytes[6] * 10 * FMX_MSECOND;
  params.growth_step = (1 + (bytes[7] & 127)) * FMX_MSECOND;
  params.memory = (bytes[7] & 128) != 0 ? 0 : params.memory;
  return params;
}

/* Most steps are what a network makes of a stream; some are absurd. */
static void
next_packet (FmxPlayoutPacket * packet, FmxTime * now, const uint8_t * bytes)
{
  uint8_t op = bytes[0];
  int64_t wild;

  memcpy (&wild, bytes, sizeof wild);
  packet->talkspurt = (bytes[1] & 1) != 0;
  packet->quiet = (bytes[1] & 2) != 0;
  *now += bytes[2] * FMX_MSECOND / 4;
  switch (op & 7) {
    case 0:                    /* a late, doubled or reordered one */
      packet->ext_seq -= bytes[3] % 80 < packet->ext_seq ? bytes[3] % 80 : 0;
      packet->media -= (uint64_t) (bytes[3] % 80 * packet->duration);
      break;
    case 1:                    /* loss */
      packet->ext_seq += 1u + bytes[3];
      packet->media += (uint64_t) ((1 + bytes[3]) * packet->duration);
      break;
    case 2:                    /* silence */
      packet->ext_seq++;
      packet->media += bytes[3] * UINT64_C (100000000);
      *now += bytes[3] * UINT64_C (100000000);
      break;
    case 3:
      if (op == 3)
        packet->media = (uint64_t) wild;
      else if (op == 11)
        packet->ext_seq = (uint64_t) wild;
      else if (op == 19)
        packet->duration = 1 + (wild & 0xfffffff);
      else if (op == 27)
        *now += (uint64_t) wild >> 24;
      /* fall through */
    default:
      packet->ext_seq++;
      packet->media += (uint64_t) packet->duration;
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  FmxPlayout playout;
  FmxPlayoutParams params;
  FmxInterarrival interarrival;
  FmxInterarrivalParams interarrival_params;
  FmxPlayoutPacket packet = {
    .ext_seq = 65536,
    .media = 1000 * FMX_SECOND,
    .duration = 20 * FMX_MSECOND,
  };
  FmxTime now = 1000 * FMX_SECOND, due = 0;

  if (size < 8)
    return 0;
  params = params_from (data);
  fmx_playout_init (&playout, &params);
  fmx_interarrival_params_default (&interarrival_params);
  fmx_interarrival_init (&interarrival, &interarrival_params);
  for (size_t i = 8; i + 8 <= size; i += 8) {
    FmxPlayoutDecision decision;
    FmxTime next;

    next_packet (&packet, &now, data + i);
    decision = fmx_playout_on_packet (&playout, &packet, now);
    CHECK (decision.playout == packet.media + (uint64_t) decision.delay);
    if (decision.action == FMX_PLAYOUT_PLAY) {
      /* something of it can still be heard */
      CHECK (fmx_time_diff (decision.playout + (uint64_t) packet.duration,
              now) > 0);
      /* no stall: what is played is played soon */
      CHECK (fmx_time_diff (decision.playout, now) <= 12 * FMX_SECOND);
    }
    CHECK (fmx_playout_get_delay (&playout) >= 0);
    CHECK (fmx_playout_get_delay (&playout) <= 12 * FMX_SECOND);

    next = fmx_interarrival_on_packet (&interarrival, now);
    CHECK (next >= now && next >= due);
    due = next;
  }
  return 0;
}
