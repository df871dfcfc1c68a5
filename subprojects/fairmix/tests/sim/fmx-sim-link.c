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

FmxDuration
fmx_sim_link_queue_delay (const FmxSimLink *link, FmxTime now)
{
  return link->free_at > now ? fmx_time_diff (link->free_at, now) : 0;
}

static bool
queue_has_room (FmxSimLink *link, uint32_t wire_bytes, FmxTime now)
{
  const FmxSimLinkParams *params = &link->params;
  double waiting_s = fmx_time_to_s (fmx_sim_link_queue_delay (link, now));

  while (link->started < link->in && link->departure[SLOT (link->started)]
      <= now)
    link->started++;
  if (params->queue_packets > 0
      && link->in - link->started > params->queue_packets)
    return false;
  return params->queue_bytes == 0
      || waiting_s * params->rate_bps / 8.0 + wire_bytes
      <= params->queue_bytes;
}

bool
fmx_sim_link_send (FmxSimLink *link, FmxSimPacket packet, FmxTime now)
{
  const FmxSimLinkParams *params = &link->params;

  if (fmx_rng_next_unit (&link->rng) < params->loss) {
    link->n_lost++;
    return false;
  }
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
  assert (link->in - link->out < FMX_SIM_LINK_PACKETS);
  packet.sent = now;
  link->packets[SLOT (link->in)] = packet;
  link->departure[SLOT (link->in)] = link->free_at;
  link->arrival[SLOT (link->in)] = link->free_at + (FmxTime) params->delay;
  link->in++;
  return true;
}

FmxTime
fmx_sim_link_next (const FmxSimLink *link)
{
  return link->in == link->out ? FMX_TIME_NONE
      : link->arrival[SLOT (link->out)];
}

bool
fmx_sim_link_receive (FmxSimLink *link, FmxSimPacket *packet, FmxTime now)
{
  if (fmx_sim_link_next (link) > now)
    return false;
  *packet = link->packets[SLOT (link->out)];
  link->out++;
  return true;
}
