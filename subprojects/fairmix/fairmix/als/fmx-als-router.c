/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/als/fmx-als-router.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "fairmix/base/fmx-units.h"

/* Who asks and uses less than nine tenths of what it was told is limited elsewhere;
 * more, and he may be about to use all of it. */
#define LIMITED_ASKING 0.9
/* Of those who do not ask it is who sends less, in the mean, than half of what the fastest
 * of them does, and of his part of the link.  A saw-tooth makes no such difference, but
 * of nine TCPs the fastest is so by chance; and TCPs that are all slow may only lose
 * too much. */
#define LIMITED_OTHER 0.5
/* to find that part: who is limited by what the pass before has found */
#define PASSES 4u
/* of each interval in such a mean */
#define MEAN_GAIN 0.1
/* Intervals after its last request a connection is still one that asks: six of RTCP's
 * least intervals */
#define ASKS 30
/* How far the share follows what is sent, per interval.  Those who ask answer a change
 * one or two reports later; faster, and it swings.  A difference is taken for no more
 * than MOST_WRONG, so that a start does not move it by much. */
#define TRIM_GAIN 0.025
#define MOST_WRONG 0.7          /* twice as much, or half */
/* Whoever does not ask may send so much more than who does: what a TCP loses it sends
 * again, and for a larger share it needs fewer losses, of which all have their part. */
#define OTHERS_MORE 0.04
/* Of the whole link's even share: what senders give up for loss, and no more */
#define TRIM_MOST 1.15
/* A link that is less used than this has room, whatever others send. */
#define HAS_ROOM 0.95
/* Weights are summed in any order: so much more is somebody more. */
#define MORE (1.0 + 1e-9)
/* of the paper's share, below which none falls */
#define PAPER_UTILISATION 0.9   /* ALS 3.1 */

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
  router->first = FMX_AGING_TABLE_NONE;
  router->trim = 1.0;
  router->interval = now / (uint64_t) params->interval;
}

void
fmx_als_router_set_bandwidth (FmxAlsRouter *router, uint64_t bandwidth_bps)
{
  assert (bandwidth_bps > 0);

  router->share_bps *= (double) bandwidth_bps
      / (double) router->params.bandwidth_bps;
  router->params.bandwidth_bps = bandwidth_bps;
}

static float
weight_of (const FmxAlsRouter *router, uint64_t connection)
{
  for (uint32_t i = 0; i < router->n_weights; i++)
    if (router->weights[i].connection == connection)
      return (float) router->weights[i].weight;
  return 1.0f;
}

void
fmx_als_router_set_weights (FmxAlsRouter *router, const FmxAlsWeight *weights,
    uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    assert (weights[i].weight > 0.0);

  router->weights = weights;
  router->n_weights = n;
  for (uint32_t i = router->first; i != FMX_AGING_TABLE_NONE;
      i = router->connections[i].next) {
    uint64_t connection;

    if (fmx_aging_table_get (&router->table, i, &connection) != FMX_TIME_NONE)
      router->connections[i].weight = weight_of (router, connection);
  }
}

/* NULL: nobody is there who has sent of late */
static const FmxAlsConnection *
alive_at (const FmxAlsRouter *router, uint32_t i)
{
  const FmxAlsConnection *c = &router->connections[i];
  uint64_t key;

  return fmx_aging_table_get (&router->table, i, &key) == FMX_TIME_NONE
      || c->interval + 1 < router->interval ? NULL : c;
}

static bool
asks (const FmxAlsRouter *router, const FmxAlsConnection *c)
{
  return c->asked > 0 && c->asked + ASKS > router->interval;
}

static double
equal_share (const FmxAlsRouter *router)
{
  double target = (double) router->params.bandwidth_bps
      * router->params.target_utilisation;

  return router->weight > 0.0 ? target / router->weight : target;
}

/* Connections of a kind: their number, by weight, and what they send */
typedef struct
{
  double n, bps;
} Group;

static void
add_to (Group *group, const FmxAlsConnection *c)
{
  group->n += c->weight;
  group->bps += c->bps;
}

static double
least_told (const FmxAlsConnection *c)
{
  double least = c->told_bps[0];

  for (unsigned i = 1; i < FMX_ALS_ROUTER_ANSWERS; i++)
    least = fmin (least, c->told_bps[i]);
  return least;
}

/* the fastest of those who do not ask, in the mean */
static double
find_fastest_other (const FmxAlsRouter *router)
{
  double fastest = 0.0;

  for (uint32_t i = router->first; i != FMX_AGING_TABLE_NONE;
      i = router->connections[i].next) {
    const FmxAlsConnection *c = alive_at (router, i);

    if (c != NULL && !asks (router, c))
      fastest = fmax (fastest, c->mean_bps / c->weight);
  }
  return fastest;
}

/* @usual_bps: of who does not ask */
static bool
is_limited (const FmxAlsRouter *router, const FmxAlsConnection *c,
    double usual_bps)
{
  if (asks (router, c))
    return c->bps < LIMITED_ASKING * least_told (c);
  return c->mean_bps < LIMITED_OTHER * usual_bps * c->weight;
}

static void
sort_connections (const FmxAlsRouter *router, double usual_bps, Group *asking,
    Group *others, Group *limited)
{
  *asking = *others = *limited = (Group) { 0 };
  for (uint32_t i = router->first; i != FMX_AGING_TABLE_NONE;
      i = router->connections[i].next) {
    const FmxAlsConnection *c = alive_at (router, i);

    if (c == NULL)
      continue;
    if (is_limited (router, c, usual_bps))
      add_to (limited, c);
    else
      add_to (asks (router, c) ? asking : others, c);
  }
}

/* What part of @even, which the link has for each who is not limited, the share is:
 * others are there.  The limits are of this interval: what is remembered only stops at
 * them, for @even is little where the link was wider a moment ago. */
static double
correct (FmxAlsRouter *router, const Group *asking, const Group *others,
    const Group *limited, double even)
{
  double b = (double) router->params.bandwidth_bps;
  double n = asking->n + others->n;
  double paper = PAPER_UTILISATION * b / (n + limited->n);
  double left = (b - limited->bps - others->bps) / asking->n;
  double most = fmax (left, TRIM_MOST * (b - limited->bps) / n);
  double wrong = log (others->bps / others->n * asking->n / asking->bps)
      - OTHERS_MORE;

  if (router->utilisation < HAS_ROOM)
    wrong = HAS_ROOM - router->utilisation;
  wrong = fmax (-MOST_WRONG, fmin (wrong, MOST_WRONG));
  if (wrong > 0.0 ? router->trim * even < most : router->trim * even > paper)
    router->trim *= exp (TRIM_GAIN * wrong);
  return fmax (fmin (router->trim, most / even), paper / even);
}

static double
max_min_share (FmxAlsRouter *router)
{
  double target = (double) router->params.bandwidth_bps
      * router->params.target_utilisation;
  double fastest = find_fastest_other (router), even = 0.0;
  Group asking, others, limited;

  for (unsigned pass = 0; pass < PASSES; pass++) {
    sort_connections (router, fmin (fastest, even), &asking, &others, &limited);
    if (asking.n + others.n <= 0.0 || limited.bps >= target)
      return equal_share (router);
    even = (target - limited.bps) / (asking.n + others.n);
  }
  if (others.bps > 0.0 && asking.bps > 0.0)
    return even * correct (router, &asking, &others, &limited, even);
  router->trim += (others.bps > 0.0 ? TRIM_GAIN : 1.0) * (1.0 - router->trim);
  return even * router->trim;
}

/* At the end of an interval every connection's rate is what it sent in it.  Who has
 * sent nothing for long is forgotten. */
static void
note_rates (FmxAlsRouter *router)
{
  uint32_t *link = &router->first;

  while (*link != FMX_AGING_TABLE_NONE) {
    FmxAlsConnection *c = &router->connections[*link];

    if (c->interval + FMX_ALS_ROUTER_REMEMBERS < router->interval) {
      *link = c->next;
      c->listed = false;
      continue;
    }
    link = &c->next;
    c->bps = c->interval == router->interval
        ? (float) fmx_rate_bps ((double) c->bytes, router->params.interval)
        : 0.0f;
    c->mean_bps = c->mean_bps > 0.0f ? (float) (c->mean_bps
        + MEAN_GAIN * (c->bps - c->mean_bps)) : c->bps;
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
  router->weight = router->weight_seen;
  router->utilisation = fmx_rate_bps ((double) router->bytes,
      router->params.interval) / (double) router->params.bandwidth_bps;
  if (interval > router->interval + 1) {
    router->n_connections = 0;  /* nothing came for a whole one */
    router->weight = 0.0;
    router->utilisation = 0.0;
  }
  router->interval = interval;
  router->n_seen = 0;
  router->weight_seen = 0.0;
  router->bytes = 0;
  router->share_bps = router->params.rule == FMX_ALS_ROUTER_MAX_MIN
      ? max_min_share (router) : equal_share (router);
}

/* The connection at @index begins, or begins again. */
static void
remember (FmxAlsRouter *router, uint32_t index, uint64_t connection)
{
  FmxAlsConnection *c = &router->connections[index];
  bool listed = c->listed;
  uint32_t next = listed ? c->next : router->first;

  *c = (FmxAlsConnection) {
    .weight = weight_of (router, connection),
    .interval = router->interval,
    .next = next,
    .listed = true,
  };
  if (!listed)
    router->first = index;
  router->n_seen++;
  router->weight_seen += c->weight;
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
  if (previous == FMX_TIME_NONE || !c->listed) {
    remember (router, index, connection);
  } else if (c->interval != router->interval) {
    c->interval = router->interval;
    c->bytes = 0;
    router->n_seen++;
    router->weight_seen += c->weight;
  }
  c->bytes += wire_bytes;
}

void
fmx_als_router_on_request (FmxAlsRouter *router, uint64_t connection,
    FmxTime now)
{
  double share_bps = fmx_als_router_get_share_of_bps (router, connection, now);
  uint32_t index = fmx_aging_table_find (&router->table, connection);
  FmxAlsConnection *c;

  if (index == FMX_AGING_TABLE_NONE)
    return;
  c = &router->connections[index];
  /* All answers of an interval are one: what they let send more is not yet in the rate
   * that was measured before */
  if (c->asked == router->interval + 1) {
    c->told_bps[0] = fminf (c->told_bps[0], (float) share_bps);
    return;
  }
  c->asked = router->interval + 1;
  memmove (&c->told_bps[1], &c->told_bps[0],
      sizeof c->told_bps - sizeof c->told_bps[0]);
  c->told_bps[0] = (float) share_bps;
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
  if (router->weight_seen > router->weight * MORE)
    return (double) router->params.bandwidth_bps
        * router->params.target_utilisation * router->trim /
        router->weight_seen;
  return router->share_bps;
}

double
fmx_als_router_get_share_of_bps (FmxAlsRouter *router, uint64_t connection,
    FmxTime now)
{
  double share_bps = fmx_als_router_get_share_bps (router, now);
  uint32_t index = fmx_aging_table_find (&router->table, connection);

  return share_bps * (index != FMX_AGING_TABLE_NONE
      ? router->connections[index].weight : weight_of (router, connection));
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
