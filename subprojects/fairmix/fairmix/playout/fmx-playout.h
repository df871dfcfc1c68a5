/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_PLAYOUT_H
#define FMX_PLAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxPlayoutAfterDrop:
 * @FMX_PLAYOUT_AFTER_DROP_SHIFT: count[k] = count[k + 1]: the history as it
 *     would have been in a queue one shorter
 * @FMX_PLAYOUT_AFTER_DROP_KEPT: the counts stay (the paper, read literally)
 * @FMX_PLAYOUT_AFTER_DROP_RESET: all counts start again
 */
typedef enum
{
  FMX_PLAYOUT_AFTER_DROP_SHIFT,
  FMX_PLAYOUT_AFTER_DROP_KEPT,
  FMX_PLAYOUT_AFTER_DROP_RESET
} FmxPlayoutAfterDrop;

/**
 * FmxPlayoutParams:
 * @threshold: base threshold T: packet times that the queue may stand at
 *     @length or more before a packet is dropped; > 0
 * @length: the queue position L that the threshold belongs to; >= 1
 * @decay: the threshold is divided by it for each position above @length;
 *     1 = the same for all (the paper's (T, L)), 2 = halving; >= 1
 * @after_drop: what becomes of the counts
 * @threshold_time: if > 0, instead of @threshold: in time
 * @min_delay: playout is at least so much later than the media time
 * @max_delay: and at most so much
 *
 * Source: nanoManipulator 2002, queue monitoring; decay and shift are ours.
 */
typedef struct
{
  uint32_t threshold;
  uint32_t length;
  double decay;
  FmxPlayoutAfterDrop after_drop;
  FmxDuration threshold_time;
  FmxDuration min_delay;
  FmxDuration max_delay;
} FmxPlayoutParams;

/**
 * FmxPlayoutPacket:
 * @ext_seq: extended sequence number
 * @media: media time of its first sample: the RTP timestamp, on the time line
 *     of `now` (any fixed offset)
 * @duration: how much media it holds, > 0
 * @talkspurt: its first packet after silence: the delay may jump here
 * @quiet: cutting it would not be heard (DTX, level near silence)
 */
typedef struct
{
  uint64_t ext_seq;
  FmxTime media;
  FmxDuration duration;
  bool talkspurt;
  bool quiet;
} FmxPlayoutPacket;

typedef enum
{
  FMX_PLAYOUT_PLAY,             /* play it at @playout */
  FMX_PLAYOUT_DROP_MONITOR,     /* dropped to shorten the delay */
  FMX_PLAYOUT_DROP_LATE,        /* its slot has passed */
  FMX_PLAYOUT_DROP_DUPLICATE
} FmxPlayoutAction;

/**
 * FmxPlayoutDecision:
 * @action: play or drop
 * @playout: when its first sample is due, on the time line of `now`
 * @delay: how much later that is than its media time
 * @adjusted: how much the delay grew (> 0) or shrank (< 0) with this packet
 */
typedef struct
{
  FmxPlayoutAction action;
  FmxTime playout;
  FmxDuration delay;
  FmxDuration adjusted;
} FmxPlayoutDecision;

typedef struct _FmxPlayout FmxPlayout;  /* defined below, caller-allocated */

void fmx_playout_params_default (FmxPlayoutParams * params);
void fmx_playout_init (FmxPlayout * playout, const FmxPlayoutParams * params);
/** Forgets the stream (new SSRC, flush, hand-over), keeps parameters. */
void fmx_playout_reset (FmxPlayout * playout);

/**
 * fmx_playout_on_packet:
 * @packet: what arrived; reordered and duplicate packets are welcome
 * @now: when
 *
 * Decides at arrival when a packet is played.  The queue that is monitored is
 * virtual: the packets whose playout is still to come.  The first packet after
 * fmx_playout_reset() is due at max (@media + min_delay, @now).
 */
FmxPlayoutDecision fmx_playout_on_packet (FmxPlayout * playout,
    const FmxPlayoutPacket * packet, FmxTime now);

#ifdef __cplusplus
}
#endif

#endif /* FMX_PLAYOUT_H */
