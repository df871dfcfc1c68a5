/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/fmx-sim-link.h"

#include <assert.h>
#include <string.h>

#define SLOT(number) ((number) % FMX_SIM_LINK_PACKETS)

void
fmx_sim_link_init (FmxSimLink *link, const FmxSimLinkParams *params,
    uint64_t seed)
{
  memset (link, 0, sizeof *link);
  link->params = *params;
  fmx_rng_init (&link->rng, seed);
}

void
fmx_sim_link_set_nature (FmxSimLink *link, const FmxSimLinkNature *nature,
    FmxSimAqm *aqm, uint64_t seed)
{
  link->nature = *nature;
  if (nature->discipline == FMX_SIM_FIFO)
    return;
  fmx_sim_aqm_init (aqm, nature->discipline, link->params.queue_bytes,
      nature->ecn, link->params.rate_bps, seed);
  link->aqm = aqm;
}

void
fmx_sim_link_set_rate (FmxSimLink *link, double rate_bps)
{
  link->params.rate_bps = rate_bps;
  if (link->aqm != NULL)
    link->aqm->rate_bps = rate_bps;
}

#define LINE_BPS 10e6           /* what a bucket pays for leaves so fast */

/* When what came last leaves: a full bucket pays for the first of it. */
static FmxTime
leaves_at (const FmxSimLink *link, FmxTime now)
{
  FmxTime credit = link->params.rate_bps <= 0.0 ? 0
      : (FmxTime) fmx_time_from_s (link->nature.burst_bytes * 8.0
      / link->params.rate_bps);

  return link->free_at > now + credit ? link->free_at - credit : now;
}

static FmxTime
later (FmxTime a, FmxTime b)
{
  return a > b ? a : b;
}

FmxDuration
fmx_sim_link_queue_delay (const FmxSimLink *link, FmxTime now)
{
  FmxDuration rest = fmx_time_diff (leaves_at (link, now), now);

  if (link->aqm != NULL && link->params.rate_bps > 0.0)
    rest += fmx_time_from_s ((double) link->aqm->bytes * 8.0
        / link->params.rate_bps);
  return rest;
}

static bool
queue_has_room (FmxSimLink *link, uint32_t wire_bytes, FmxTime now)
{
  const FmxSimLinkParams *params = &link->params;

  for (; link->left < link->in && link->departure[SLOT (link->left)] <= now;
      link->left++)
    link->waiting_bytes -= link->packets[SLOT (link->left)].wire_bytes;
  if (params->queue_packets > 0
      && link->in - link->left >= params->queue_packets)
    return false;
  return params->queue_bytes == 0
      || link->waiting_bytes + wire_bytes <= params->queue_bytes;
}

/* What the way behind the bottleneck adds to a packet that leaves it at @from. */
static FmxDuration
wander (FmxSimLink *link, FmxTime from)
{
  const FmxSimLinkNature *nature = &link->nature;
  FmxDuration more = 0;

  if (nature->jitter > 0)
    more = (FmxDuration) (fmx_rng_next_unit (&link->rng)
        * (double) nature->jitter);
  if (nature->stall_interval > 0 && from >= link->next_stall) {
    if (link->next_stall > 0)
      link->stalled_until = from + (FmxTime) (fmx_rng_next_unit (&link->rng)
          * (double) nature->stall);
    link->next_stall = from + (FmxTime) (2.0 * fmx_rng_next_unit (&link->rng)
        * (double) nature->stall_interval) + 1;
  }
  if (link->stalled_until > from + (FmxTime) more)
    more = fmx_time_diff (link->stalled_until, from);
  return more;
}

static void
depart (FmxSimLink *link, FmxSimPacket packet, FmxTime departure)
{
  FmxTime arrival = departure + (FmxTime) (link->params.delay
      + wander (link, departure));

  assert (link->in - link->out < FMX_SIM_LINK_PACKETS);
  if (link->in > 0 && arrival < link->arrival[SLOT (link->in - 1)])
    arrival = link->arrival[SLOT (link->in - 1)];
  link->packets[SLOT (link->in)] = packet;
  link->departure[SLOT (link->in)] = departure;
  link->arrival[SLOT (link->in)] = arrival;
  link->waiting_bytes += packet.wire_bytes;
  link->in++;
}

/* What leaves the managed queue until @now. */
static void
serve (FmxSimLink *link, FmxTime now)
{
  FmxSimPacket packet;

  while (link->aqm->bytes > 0 && link->free_at <= now) {
    if (!fmx_sim_aqm_dequeue (link->aqm, &packet, link->free_at))
      return;
    link->free_at += (FmxTime) fmx_time_from_s (packet.wire_bytes * 8.0
        / link->params.rate_bps);
    depart (link, packet, link->free_at);
  }
}

static bool
send_managed (FmxSimLink *link, FmxSimPacket packet, FmxTime now)
{
  bool idle;

  serve (link, now);
  idle = link->aqm->bytes == 0 && link->free_at <= now;
  if (!fmx_sim_aqm_enqueue (link->aqm, packet, now)) {
    link->n_dropped++;
    return false;
  }
  if (idle) {
    link->free_at = now;
    serve (link, now);
  }
  return true;
}

bool
fmx_sim_link_send (FmxSimLink *link, FmxSimPacket packet, FmxTime now)
{
  const FmxSimLinkParams *params = &link->params;
  FmxTime departure;

  if (fmx_rng_next_unit (&link->rng) < params->loss) {
    link->n_lost++;
    return false;
  }
  if (link->aqm != NULL)
    return send_managed (link, packet, now);
  if (params->rate_bps > 0.0) {
    if (!queue_has_room (link, packet.wire_bytes, now)) {
      link->n_dropped++;
      return false;
    }
    if (link->free_at < now)
      link->free_at = now;
    link->free_at += (FmxTime) fmx_time_from_s (packet.wire_bytes * 8.0
        / params->rate_bps);
  } else {
    link->free_at = now;
  }
  packet.sent = now;
  departure = leaves_at (link, now);
  if (link->nature.burst_bytes > 0 && link->in > 0)
    departure = later (departure, link->departure[SLOT (link->in - 1)]
        + (FmxTime) fmx_time_from_s (packet.wire_bytes * 8.0 / LINE_BPS));
  depart (link, packet, departure);
  return true;
}

FmxTime
fmx_sim_link_next (const FmxSimLink *link)
{
  FmxTime next = link->in == link->out ? FMX_TIME_NONE
      : link->arrival[SLOT (link->out)];

  if (link->aqm != NULL && link->aqm->bytes > 0)
    next = fmx_time_min (next, link->free_at);
  return next;
}

bool
fmx_sim_link_receive (FmxSimLink *link, FmxSimPacket *packet, FmxTime now)
{
  if (link->aqm != NULL)
    serve (link, now);
  if (link->in == link->out || link->arrival[SLOT (link->out)] > now)
    return false;
  *packet = link->packets[SLOT (link->out)];
  link->out++;
  return true;
}
