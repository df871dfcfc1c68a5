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
 *     elsewhere is shared out among the others
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

/**
 * FmxAlsConnection:
 * @bytes: in this interval
 * @bps: over the one before
 * @interval: number of the interval that @bytes counts
 *
 * What a router keeps of a connection: 24 bytes, and 24 for its key.
 */
typedef struct
{
  uint64_t bytes;
  double bps;
  uint64_t interval;
} FmxAlsConnection;

/**
 * FmxAlsRouter:
 *
 * A router of the Adaptive Load Service (ALS 3.1): counts the connections that
 * pass, RTP and TCP, and measures its link's utilisation, over intervals of a
 * second.  A packet costs O(1); the end of an interval costs O(places in the
 * table), and with %FMX_ALS_ROUTER_MAX_MIN some five times that.
 *
 * |[
 *   EQUAL:    R_f = b U_l / n
 *   MAX_MIN:  R_f = (b U_l - sum of r_k < 0.9 R_f) / (n - number of r_k < 0.9 R_f)
 * ]|
 *
 * with the r_k the measured rates: who uses less than nine tenths of the share is
 * limited elsewhere.
 */
typedef struct
{
  /*< private >*/
  FmxAlsRouterParams params;
  FmxAgingTable table;
  FmxAlsConnection *connections;
  uint32_t n_places;
  uint64_t interval;            /* number of the current one */
  uint32_t n_seen;              /* in it */
  uint64_t bytes;
  uint32_t n_connections;       /* in the one before */
  double utilisation;
  double share_bps;
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
 * fmx_als_router_on_packet:
 * @connection: a number that source and destination address make
 * @wire_bytes: with IP header
 */
void fmx_als_router_on_packet (FmxAlsRouter * router, uint64_t connection,
    uint32_t wire_bytes, FmxTime now);

/**
 * fmx_als_router_on_bytes:
 *
 * A packet that fills the link and is no connection: who only reports (RTCP has a
 * twentieth of its session's bandwidth, [RFC3550 6.2]) needs no share.
 */
void fmx_als_router_on_bytes (FmxAlsRouter * router, uint32_t wire_bytes,
    FmxTime now);

/** Returns: R_f, in bits per second on the wire; what is fair for a connection
 * that wants it all */
double fmx_als_router_get_share_bps (FmxAlsRouter * router, FmxTime now);

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
