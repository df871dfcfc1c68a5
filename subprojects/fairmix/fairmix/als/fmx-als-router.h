/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ALS_ROUTER_H
#define FMX_ALS_ROUTER_H

#include <stdint.h>

#include "fairmix/base/fmx-aging-table.h"
#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxAlsRouterRule:
 * @FMX_ALS_ROUTER_EQUAL: the paper's: R_f = b U_l / n, whatever the connections
 *     use of it
 * @FMX_ALS_ROUTER_MAX_MIN: ours: what connections leave that are limited
 *     elsewhere is shared out among the others; and beside connections that do
 *     not ask (TCP) the share is corrected until both send as much
 *
 * How a router finds what is fair.
 */
typedef enum
{
  FMX_ALS_ROUTER_EQUAL,
  FMX_ALS_ROUTER_MAX_MIN
} FmxAlsRouterRule;

/**
 * FmxAlsRouterParams:
 * @bandwidth_bps: b, of the link, in bits per second on the wire
 * @target_utilisation: U_l: how full it is to be; the paper's is 0.9
 * @interval: connections are counted over so long; the paper's is 1 s
 */
typedef struct
{
  uint64_t bandwidth_bps;
  double target_utilisation;
  FmxDuration interval;
  FmxAlsRouterRule rule;
} FmxAlsRouterParams;

void fmx_als_router_params_default (FmxAlsRouterParams * params);

/** FMX_ALS_ROUTER_ANSWERS: who sends less than the least of so many answers is
 * limited elsewhere: he has had the time to send more.  An answer is on its way for
 * one of RTCP's intervals and one adaptation interval; the answers of one of the router's
 * own intervals, over which it measures, are one */
#define FMX_ALS_ROUTER_ANSWERS 3

/** FMX_ALS_ROUTER_REMEMBERS: who sends nothing for more intervals is new when it
 * returns; it asks no longer, and its mean rate is nothing by then */
#define FMX_ALS_ROUTER_REMEMBERS 60

/**
 * FmxAlsWeight:
 * @connection: as fmx_als_router_on_packet() has it
 * @weight: more than 0: for how many it counts
 */
typedef struct
{
  uint64_t connection;
  double weight;
} FmxAlsWeight;

/**
 * FmxAlsConnection:
 * @weight: for how many it counts
 * @bytes: in this interval
 * @interval: number of the interval that @bytes counts
 * @asked: number of the one after that of its last request; 0 = it never asked
 * @bps: over the interval before
 * @mean_bps: over some ten of them
 * @told_bps: its last answers, of each interval the least, the latest first; 0 = none yet
 * @next: which follows in the router's list; FMX_AGING_TABLE_NONE = none does
 * @listed: whether it is in that list
 *
 * What a router keeps of a connection: 64 bytes, and 24 for its key.
 */
typedef struct
{
  uint64_t bytes;
  uint64_t interval;
  uint64_t asked;
  float weight;
  float bps;
  float mean_bps;
  float told_bps[FMX_ALS_ROUTER_ANSWERS];
  uint32_t next;
  bool listed;
} FmxAlsConnection;

/**
 * FmxAlsRouter:
 *
 * A router of the Adaptive Load Service (ALS 3.1): counts the connections that
 * pass, RTP and TCP, and measures its link's utilisation, over intervals of a
 * second.  A packet costs O(1); the end of an interval costs O(connections that have
 * passed in the last FMX_ALS_ROUTER_REMEMBERS of them), wherever these are in the table.
 *
 * |[
 *   EQUAL:    R_f = b U_l / n
 *   MAX_MIN:  R_f = t (b U_l - sum of the limited r_k) / (n - number of the limited)
 * ]|
 *
 * with the r_k the measured rates.  Who asks and uses less than nine tenths of what
 * it was told is limited elsewhere.  Of those who do not ask it is who sends less than
 * half of what the fastest of them does, and of b U_l less what the limited send, over
 * the number of the others.
 *
 * t is 1 where all ask.  Beside others it follows the rates: senders give up a part of
 * the share for each loss, and what they leave the others take; and others that lose
 * much have less than it.  So t grows while those who ask send less than 0.96 of what
 * the others do, and falls while they send more; it also grows while the link has room.
 * R_f never falls below the paper's share.
 *
 * Who has a weight counts for as many, and has as many shares (ours): n is the sum of
 * the weights then, and an r_k is what it is for each.
 */
typedef struct
{
  /*< private >*/
  FmxAlsRouterParams params;
  FmxAgingTable table;
  FmxAlsConnection *connections;
  uint32_t first;               /* of the list of those that are remembered */
  uint64_t interval;            /* number of the current one */
  const FmxAlsWeight *weights;
  uint32_t n_weights;
  uint32_t n_seen;              /* in it */
  double weight_seen;           /* of those */
  uint64_t bytes;
  uint32_t n_connections;       /* in the one before */
  double weight;                /* of those */
  double utilisation;
  double share_bps;
  double trim;                  /* t */
} FmxAlsRouter;

/**
 * fmx_als_router_init:
 * @slots: as fmx_aging_table_init() has them
 * @connections: @n_places, kept by the caller
 * @n_places: a power of two, at least four times as many as pass in a second
 * @seed: random
 */
void fmx_als_router_init (FmxAlsRouter * router,
    const FmxAlsRouterParams * params, FmxAgingSlot * slots,
    FmxAlsConnection * connections, uint32_t n_places, uint64_t seed,
    FmxTime now);

/** fmx_als_router_set_bandwidth: the link changed */
void fmx_als_router_set_bandwidth (FmxAlsRouter * router,
    uint64_t bandwidth_bps);

/**
 * fmx_als_router_set_weights:
 * @weights: (array length=n) (nullable): kept by the caller until there are others; who
 *     is not among them counts for one
 */
void fmx_als_router_set_weights (FmxAlsRouter * router,
    const FmxAlsWeight * weights, uint32_t n);

/**
 * fmx_als_router_on_packet:
 * @connection: a number that source and destination address make
 * @wire_bytes: with IP header
 */
void fmx_als_router_on_packet (FmxAlsRouter * router, uint64_t connection,
    uint32_t wire_bytes, FmxTime now);

/** fmx_als_router_on_request: @connection, of which a packet passes, asks in it for a
 * share, and is told it */
void fmx_als_router_on_request (FmxAlsRouter * router, uint64_t connection,
    FmxTime now);

/**
 * fmx_als_router_on_bytes:
 *
 * A packet that fills the link and is no connection: who only reports (RTCP has a
 * twentieth of its session's bandwidth, [RFC3550 6.2]) needs no share.
 */
void fmx_als_router_on_bytes (FmxAlsRouter * router, uint32_t wire_bytes,
    FmxTime now);

/** Returns: R_f, in bits per second on the wire; what is fair for a connection
 * that wants it all, and counts for one */
double fmx_als_router_get_share_bps (FmxAlsRouter * router, FmxTime now);

/** Returns: what is fair for @connection, by its weight */
double fmx_als_router_get_share_of_bps (FmxAlsRouter * router,
    uint64_t connection, FmxTime now);

/** Returns: the measured utilisation of the link, of @bandwidth_bps, over the
 * last interval; more than 1 if more came than it takes */
double fmx_als_router_get_utilisation (FmxAlsRouter * router, FmxTime now);

/** Returns: connections of the last interval, or of this one if those are more */
uint32_t fmx_als_router_get_n_connections (FmxAlsRouter * router,
    FmxTime now);

#ifdef __cplusplus
}
#endif

#endif /* FMX_ALS_ROUTER_H */
