/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef JITTER_SCORE_H
#define JITTER_SCORE_H

#include "trace.h"

/** SCORE_WINDOW: what is rated at a time */
#define SCORE_WINDOW (10 * FMX_SECOND)

/** SCORE_OUTSIDE_MS: mouth-to-ear delay besides the buffer's and the jitter */
#define SCORE_OUTSIDE_MS 65.0

/**
 * Playout:
 * @due: when the packet's first sample is to be heard; %FMX_TIME_NONE = never
 * @pushed: when the buffer let go of it, at the earliest its arrival
 */
typedef struct
{
  FmxTime due;
  FmxTime pushed;
} Playout;

/**
 * Sink:
 * @SINK_EXACT: exact to the sample: what overlaps with samples already played,
 *     or has not been pushed in time, is cut off; what is missing is concealed
 * @SINK_ELASTIC: as if changes of the delay cost nothing: for a bound
 */
typedef enum
{
  SINK_EXACT,
  SINK_ELASTIC
} Sink;

/**
 * Score:
 * @gaps_per_s: packet times without fresh media, per second, for whatever
 *     reason
 * @skips_per_s: packets that arrived and were not heard (or the part of them
 *     that was not), per second
 * @drops_per_s: packets that arrived of which less than half was heard, per
 *     second
 * @delay_ms, @delay_p95_ms: heard after sent, beyond the fastest packet
 * @adaptations_per_min: how often the delay of two packets that were heard
 *     one after the other differed by a millisecond or more
 * @r, @r_p5: E-model rating of 10 s windows, mean and 5th percentile: what is
 *     missing and what is concealed counted where each is heard
 * @r_larger: the same with the larger one of both sums instead: a stall and the
 *     cuts that undo it later count once
 */
typedef struct
{
  double gaps_per_s;
  double skips_per_s;
  double drops_per_s;
  double delay_ms;
  double delay_p95_ms;
  double adaptations_per_min;
  double r;
  double r_p5;
  double r_larger;
} Score;

/**
 * score:
 * @playouts: one for each packet of @trace
 *
 * Plays what was decided through @sink, then rates what was heard: ITU-T G.107,
 * R = 93.2 - Idd - Ie,eff, Idd at the delay + 65 ms, Ie,eff for G.711 with
 * concealment (Ie = 0, Bpl = 25.1).  Between two packets that are heard one
 * after the other there may be media missing, and time in which nothing was
 * there to be played: the larger one of the two is heard there, and Ppl is the
 * sum of these.  A packet that is lost is so much missing and so much time; a
 * stall that is played later is time, and the cut that makes up for it later
 * is media.  BurstR from the runs of missing packets.
 */
void score (const Trace * trace, const Playout * playouts, Sink sink,
    Score * out);

/**
 * ScoreSecond:
 * @gaps: packet times without fresh media in this second of the talker's time
 * @delay_ms: mean of what was heard; NaN if nothing was
 */
typedef struct
{
  double gaps;
  double delay_ms;
} ScoreSecond;

/**
 * score_seconds:
 *
 * The same, second by second.
 *
 * Returns: (transfer full): @n_seconds of them, to be freed
 */
ScoreSecond *score_seconds (const Trace * trace, const Playout * playouts,
    Sink sink, size_t * n_seconds);

/** score_r: @delay_ms beyond the fastest packet, @loss in [0, 1], @burst_r */
double score_r (double delay_ms, double loss, double burst_r);

#endif /* JITTER_SCORE_H */
