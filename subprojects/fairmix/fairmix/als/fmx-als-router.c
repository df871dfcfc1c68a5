/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/als/fmx-als-router.h"

#include <assert.h>
#include <string.h>

#include "fairmix/base/fmx-units.h"

/* Who uses less than nine tenths of the share is limited elsewhere; more, and he
 * may be about to use all of it. */
#define LIMITED_SHARE 0.9
/* Each pass finds more connections below the share that the one before gave; in
 * a population with k different limits k passes settle it. */
#define MAX_PASSES 8

void
fmx_als_router_params_default (FmxAlsRouterParams *params)
{
  *params = (FmxAlsRouterParams) {
    .bandwidth_bps = 1000000,
    .target_utilisation = 0.9,  /* ALS 3.1 */
    .interval = FMX_SECOND,     /* ALS 3.1 */
    .rule = FMX_ALS_ROUTER_EQUAL,
  };
}

void
fmx_als_router_init (FmxAlsRouter *router, const FmxAlsRouterParams *params,
    FmxAgingSlot *slots, FmxAlsConnection *connections, uint32_t n_places,
    uint64_t seed, FmxTime now)
{
  assert (params->bandwidth_bps > 0 && params->interval > 0);
  assert (params->target_utilisation > 0.0);

  memset (router, 0, sizeof *router);
  memset (connections, 0, n_places * sizeof connections[0]);
  router->params = *params;
  fmx_aging_table_init (&router->table, slots, n_places, seed);
  router->connections = connections;
  router->n_places = n_places;
  router->interval = now / (uint64_t) params->interval;
}

void
fmx_als_router_set_bandwidth (FmxAlsRouter *router, uint64_t bandwidth_bps)
{
  assert (bandwidth_bps > 0);

  router->params.bandwidth_bps = bandwidth_bps;
  router->share_bps = 0.0;
}

/* The sum of what the connections use that are below @limit_bps, and their
 * number */
static double
sum_below (const FmxAlsRouter *router, double limit_bps, uint32_t *n_below)
{
  double sum = 0.0;

  *n_below = 0;
  for (uint32_t i = 0; i < router->n_places; i++) {
    const FmxAlsConnection *c = &router->connections[i];
    uint64_t key;

    if (fmx_aging_table_get (&router->table, i, &key) == FMX_TIME_NONE
        || c->interval + 1 < router->interval || !(c->bps < limit_bps)
        || c->bps <= 0.0)
      continue;
    sum += c->bps;
    ++*n_below;
  }
  return sum;
}

static double
equal_share (const FmxAlsRouter *router)
{
  double target = (double) router->params.bandwidth_bps
      * router->params.target_utilisation;

  return router->n_connections > 0 ? target / router->n_connections : target;
}

static double
max_min_share (const FmxAlsRouter *router)
{
  double target = (double) router->params.bandwidth_bps
      * router->params.target_utilisation;
  double share = equal_share (router);
  uint32_t n_before = 0;

  for (int pass = 0; pass < MAX_PASSES; pass++) {
    uint32_t n_below;
    double sum = sum_below (router, LIMITED_SHARE * share, &n_below);

    if (n_below == n_before || n_below >= router->n_connections)
      break;
    n_before = n_below;
    share = (target - sum) / (router->n_connections - n_below);
  }
  return share;
}

/* At the end of an interval every connection's rate is what it sent in it. */
static void
note_rates (FmxAlsRouter *router)
{
  for (uint32_t i = 0; i < router->n_places; i++) {
    FmxAlsConnection *c = &router->connections[i];

    c->bps = c->interval == router->interval
        ? fmx_rate_bps ((double) c->bytes, router->params.interval) : 0.0;
  }
}

static void
roll (FmxAlsRouter *router, FmxTime now)
{
  uint64_t interval = now / (uint64_t) router->params.interval;

  if (interval <= router->interval) {
    if (router->share_bps <= 0.0)
      router->share_bps = equal_share (router);
    return;
  }
  note_rates (router);
  router->n_connections = router->n_seen;
  router->utilisation = fmx_rate_bps ((double) router->bytes,
      router->params.interval) / (double) router->params.bandwidth_bps;
  if (interval > router->interval + 1) {
    router->n_connections = 0;  /* nothing came for a whole one */
    router->utilisation = 0.0;
  }
  router->interval = interval;
  router->n_seen = 0;
  router->bytes = 0;
  router->share_bps = router->params.rule == FMX_ALS_ROUTER_MAX_MIN
      ? max_min_share (router) : equal_share (router);
}

void
fmx_als_router_on_packet (FmxAlsRouter *router, uint64_t connection,
    uint32_t wire_bytes, FmxTime now)
{
  FmxAlsConnection *c;
  FmxTime previous, begun;
  uint32_t index;

  roll (router, now);
  router->bytes += wire_bytes;
  begun = router->interval * (uint64_t) router->params.interval;
  index = fmx_aging_table_touch (&router->table, connection, begun, &previous,
      now);
  /* no place among those who are alive: better not counted than twice */
  if (index == FMX_AGING_TABLE_NONE)
    return;
  c = &router->connections[index];
  if (previous == FMX_TIME_NONE)
    memset (c, 0, sizeof *c);
  if (previous == FMX_TIME_NONE || c->interval != router->interval) {
    c->interval = router->interval;
    c->bytes = 0;
    router->n_seen++;
  }
  c->bytes += wire_bytes;
}

void
fmx_als_router_on_bytes (FmxAlsRouter *router, uint32_t wire_bytes, FmxTime now)
{
  roll (router, now);
  router->bytes += wire_bytes;
}

double
fmx_als_router_get_share_bps (FmxAlsRouter *router, FmxTime now)
{
  roll (router, now);
  /* Newcomers are shared with at once. */
  if (router->n_seen > router->n_connections)
    return (double) router->params.bandwidth_bps
        * router->params.target_utilisation / router->n_seen;
  return router->share_bps;
}

double
fmx_als_router_get_utilisation (FmxAlsRouter *router, FmxTime now)
{
  roll (router, now);
  return router->utilisation;
}

uint32_t
fmx_als_router_get_n_connections (FmxAlsRouter *router, FmxTime now)
{
  roll (router, now);
  return router->n_seen > router->n_connections ? router->n_seen
      : router->n_connections;
}
