/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_HANDOVER_H
#define FMX_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"
#include "fairmix/mix/fmx-mix-envelope.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_POSITION_UNKNOWN: a mix position that is not known (yet) */
#define FMX_POSITION_UNKNOWN INT64_MAX

/**
 * FmxHandoverWay:
 * @FMX_HANDOVER_NONE: the stream never reaches the listener
 * @FMX_HANDOVER_SEPARATE: its packets are forwarded
 * @FMX_HANDOVER_MIXED: it is heard in a mix
 * @FMX_HANDOVER_HELD: there is no room for it, not even in a mix
 *
 * How a stream reaches a listener.
 */
typedef enum
{
  FMX_HANDOVER_NONE,
  FMX_HANDOVER_SEPARATE,
  FMX_HANDOVER_MIXED,
  FMX_HANDOVER_HELD
} FmxHandoverWay;

/**
 * FmxHandover:
 * @way: how packets with timestamp @boundary_ts and later get there
 * @before: how those before it do
 * @mix: number of the mix that the stream is in, if it is in one
 * @old_mix: the mix that it was in before @switch_pos
 * @boundary_ts: extended RTP timestamp of the change from @before to @way
 * @from: the stream is in the mix from this sample on ...
 * @until: ... and before this one; both may be %FMX_POSITION_UNKNOWN
 * @switch_pos: sample at which it crosses from @old_mix to @mix
 * @since: when @way was chosen
 *
 * How one stream reaches one listener, and how that changes: at a media
 * timestamp.  Packets before it go the old way, packets from it on the new way,
 * so that the listener hears every sample once.
 *
 * Samples are named by their mix position: the mixer counts them, at its sample
 * rate.  The members may be read; only the functions below write them.
 */
typedef struct
{
  uint8_t way;
  uint8_t before;
  uint8_t mix;
  uint8_t old_mix;
  uint64_t boundary_ts;
  int64_t from;
  int64_t until;
  int64_t switch_pos;
  FmxTime since;
} FmxHandover;

/**
 * FmxHandoverPoint:
 * @next_ts: extended RTP timestamp after the stream's latest packet
 * @next_pos: mix position of the packet with @next_ts, if the stream is in any
 *     mix now; else %FMX_POSITION_UNKNOWN
 * @mix_pos: mix position of the first sample that has not been mixed
 *
 * Where a stream stands when it is handed over.
 */
typedef struct
{
  uint64_t next_ts;
  int64_t next_pos;
  int64_t mix_pos;
} FmxHandoverPoint;

/** fmx_handover_init: a stream that comes to the listener by @way; @mix counts
 * if that is %FMX_HANDOVER_MIXED */
void fmx_handover_init (FmxHandover * handover, FmxHandoverWay way,
    uint32_t mix, FmxTime now);

/** fmx_handover_restart: the stream begins anew, with other timestamps: what
 * was known of the old ones is void, the way stays */
void fmx_handover_restart (FmxHandover * handover);

/**
 * fmx_handover_change:
 * @way: from now on
 * @mix: the mix, if @way is %FMX_HANDOVER_MIXED
 *
 * Changes the way, at the first timestamp that has not arrived, or the mix, at
 * the first sample that has not been mixed.
 *
 * Returns: false if the change before this one is still being played; nothing
 *     has changed then, to be tried again in a frame's time
 */
bool fmx_handover_change (FmxHandover * handover, FmxHandoverWay way,
    uint32_t mix, const FmxHandoverPoint * point, FmxTime now);

/** Returns: whether the packet with timestamp @ext_ts is to be forwarded */
static inline bool
fmx_handover_forwards (const FmxHandover *handover, uint64_t ext_ts)
{
  uint8_t way = ext_ts >= handover->boundary_ts ? handover->way
      : handover->before;

  return way == FMX_HANDOVER_SEPARATE;
}

/**
 * fmx_handover_waits_for:
 * @ext_ts: extended RTP timestamp of a packet whose mix position is known
 *
 * Returns: whether the stream's entry into the mix was waiting for such a
 *     packet; then fmx_handover_place() is due
 */
bool fmx_handover_waits_for (const FmxHandover * handover, uint64_t ext_ts);

/**
 * fmx_handover_place:
 * @ext_ts: extended RTP timestamp of a packet ...
 * @pos: ... and its mix position
 * @clock_rate: of the timestamps, in Hz
 * @rate_hz: of mix positions
 *
 * Fixes the first sample of the stream in the mix, once its first packet there
 * has a mix position.
 */
void fmx_handover_place (FmxHandover * handover, uint64_t ext_ts,
    int64_t pos, uint32_t clock_rate, uint32_t rate_hz);

/**
 * fmx_handover_settled_ts:
 *
 * Returns: the extended timestamp from which on no packet of the stream
 *     concerns this hand-over until it is changed: none is forwarded, and none
 *     is waited for
 */
uint64_t fmx_handover_settled_ts (const FmxHandover * handover);

/**
 * fmx_handover_contributes:
 * @mix: number of a mix
 * @pos: first sample of a frame
 * @n_samples: of the frame
 * @envelope: (inout): @ramp is given; when the stream is heard in @mix
 *
 * Returns: whether it is, in [@pos, @pos + @n_samples)
 */
bool fmx_handover_contributes (const FmxHandover * handover, uint32_t mix,
    int64_t pos, uint32_t n_samples, FmxMixEnvelope * envelope);

/**
 * fmx_handover_is_steady:
 * @ramp: length of the fades, in samples
 *
 * Returns: whether from @pos on the stream is in mix 0 and no other, at full
 *     gain, until the hand-over is changed
 */
bool fmx_handover_is_steady (const FmxHandover * handover, int64_t pos,
    uint32_t ramp);

/**
 * fmx_media_position:
 * @ext_ts: extended RTP timestamp
 * @ref_ts: another one ...
 * @ref_pos: ... and its mix position
 * @clock_rate: of the timestamps, in Hz, > 0
 * @rate_hz: of mix positions
 *
 * Returns: the mix position of @ext_ts, to the nearest sample
 */
int64_t fmx_media_position (uint64_t ext_ts, uint64_t ref_ts,
    int64_t ref_pos, uint32_t clock_rate, uint32_t rate_hz);

#ifdef __cplusplus
}
#endif

#endif /* FMX_HANDOVER_H */
