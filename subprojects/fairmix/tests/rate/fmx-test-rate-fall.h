/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_TEST_RATE_FALL_H
#define FMX_TEST_RATE_FALL_H

/* Both ends of a bundle of twelve voices, on a link that becomes narrow */
#include <string.h>

#include "fmx-test.h"

#include "sim/fmx-sim-bundle.h"

static FmxSimWorld world;
static FmxSimBundle bundle;

/* Voices of packets of @wire_bytes, each 20 ms */
static inline FmxSimBundleParams
fall_params (uint32_t wire_bytes)
{
  FmxSimBundleParams params;

  memset (&params, 0, sizeof params);
  fmx_rate_sender_params_default (&params.sender);
  params.sender.klass = &fmx_rate_shortq;
  params.sender.min_bps = 30000;
  params.n_streams = 12;
  params.wire_bytes = wire_bytes;
  params.packet_interval = 20 * FMX_MSECOND;
  params.jitter = 2 * FMX_MSECOND;
  params.back.delay = 50 * FMX_MSECOND;
  return params;
}

/* After forty seconds the link falls from @wide_bps to @narrow_bps, with a queue of half a
 * second of that. */
static inline void
fall (const FmxSimBundleParams *params, double wide_bps, double narrow_bps,
    uint64_t seed)
{
  FmxSimLinkParams link = { wide_bps, (uint32_t) (narrow_bps / 16.0), 0,
    50 * FMX_MSECOND, 0.0
  };

  fmx_sim_world_init (&world, &link, &bundle, 1, seed);
  fmx_sim_bundle_init (&bundle, params, &world.forward, 0, seed);
  fmx_sim_world_run (&world, 40 * (FmxTime) FMX_SECOND);
  fmx_sim_link_set_rate (&world.forward, narrow_bps);
}

#endif /* FMX_TEST_RATE_FALL_H */
