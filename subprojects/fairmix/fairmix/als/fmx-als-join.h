/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ALS_JOIN_H
#define FMX_ALS_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"
#include "fairmix/wire/fmx-als-app.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_ALS_JOIN_TOLERANCE: so much may the base's packets come before or after the
 * time that their timestamps say, until that is made anew: clocks drift apart by
 * this in a quarter of an hour at 50 ppm */
#define FMX_ALS_JOIN_TOLERANCE (40 * FMX_MSECOND)

/** FMX_ALS_JOIN_PATIENCE: a layer of which nothing came for so long has stopped */
#define FMX_ALS_JOIN_PATIENCE (300 * FMX_MSECOND)

/** FMX_ALS_JOIN_APART: jitter buffers of layers of one stream do not differ by more */
#define FMX_ALS_JOIN_APART (10 * FMX_SECOND)

/**
 * FmxAlsJoin:
 *
 * What a receiver needs to play the layers that it holds as one.
 *
 * Layers whose sounds add up (a side signal to its middle) must meet to the sample.
 * Each goes through a jitter buffer of its own, which guesses the sender's clock from
 * when packets came; but all have the timestamps of one stream ([RFC3550 8.3]).  So
 * times of all of them are made from timestamps, by one straight line through the
 * base's,
 *
 * |[
 *   time = anchor_time + (timestamp - anchor_timestamp) / clock_rate
 * ]|
 *
 * Of layers that each hold the whole (a mix, and the same voices apart) one is
 * played: the highest that is heard.
 */
typedef struct
{
  /*< private >*/
  uint32_t clock_rate_hz;
  bool anchored;
  uint32_t anchor_timestamp;
  FmxTime anchor_time;
  uint64_t n_anchors;
  FmxTime heard[FMX_ALS_MAX_LAYERS];
} FmxAlsJoin;

/** fmx_als_join_init: @clock_rate_hz: of the timestamps; 0: they are not used */
void fmx_als_join_init (FmxAlsJoin * join, uint32_t clock_rate_hz);

/** fmx_als_join_restart: the base begins another stream */
void fmx_als_join_restart (FmxAlsJoin * join);

/**
 * fmx_als_join_on_base:
 * @time: when a packet of the base would be played
 *
 * Returns: when it is to be played instead, at most %FMX_ALS_JOIN_TOLERANCE off
 */
FmxTime fmx_als_join_on_base (FmxAlsJoin * join, uint32_t timestamp,
    FmxTime time);

/**
 * fmx_als_join_get_time:
 * @time: (out): when a packet of another layer is to be played
 *
 * Returns: false if that is not known: no base has come
 */
bool fmx_als_join_get_time (const FmxAlsJoin * join, uint32_t timestamp,
    FmxTime * time);

/**
 * fmx_als_join_on_layer:
 * @own: when a packet of another layer would be played; %FMX_TIME_NONE: not known
 * @time: (out): when it is to be played instead
 *
 * Returns: false if that is not known, or so far from @own (%FMX_ALS_JOIN_APART) that its
 * timestamp is not of the base's stream: whoever played it would wait for hours
 */
bool fmx_als_join_on_layer (const FmxAlsJoin * join, uint32_t timestamp,
    FmxTime own, FmxTime * time);

/** fmx_als_join_heard: a packet of @layer came */
void fmx_als_join_heard (FmxAlsJoin * join, unsigned layer, FmxTime now);

/** fmx_als_join_get_top: Returns: the highest layer that is heard; 0 = none but the
 * base */
unsigned fmx_als_join_get_top (const FmxAlsJoin * join, FmxTime now);

/** Returns: how often the straight line was made anew, the first time included */
uint64_t fmx_als_join_get_n_anchors (const FmxAlsJoin * join);

#ifdef __cplusplus
}
#endif

#endif /* FMX_ALS_JOIN_H */
