/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/adapt/fmx-adapt-buffer.h"

#include <assert.h>

/* The largest window W, of which R is the average: [Li01 A.9], in bytes */
static double
window_bytes (const FmxAdaptBufferFlow *flow)
{
  assert (flow->increase > 0.0 && flow->segment_bytes > 0);
  assert (flow->decrease > 0.0 && flow->decrease < 1.0);

  return 2.0 / (1.0 + flow->decrease) * flow->media_bps / 8.0
      * fmx_time_to_s (flow->rtt);
}

double
fmx_adapt_buffer_bytes (const FmxAdaptBufferFlow *flow)
{
  double W = window_bytes (flow);
  double step = flow->increase * flow->segment_bytes;
  double fall = (1.0 - flow->decrease) * W;

  /* [Li01 A.10] (1 - beta)^2 W^2 / (8 alpha MSS), which is (3.4) */
  return fall * fall / (8.0 * step);
}

double
fmx_adapt_buffer_two_backoffs_bytes (const FmxAdaptBufferFlow *flow)
{
  double more = 1.0 + 2.0 * flow->decrease;

  /* [Li01 3.5] */
  return more * more * fmx_adapt_buffer_bytes (flow);
}

double
fmx_adapt_buffer_discrete_bytes (const FmxAdaptBufferFlow *flow)
{
  double W = window_bytes (flow);
  double step = flow->increase * flow->segment_bytes;
  double n_windows = (1.0 - flow->decrease) * W / step + 1.0;

  return step * n_windows * n_windows / 8.0;
}

FmxDuration
fmx_adapt_buffer_delay (const FmxAdaptBufferFlow *flow, double bytes)
{
  assert (flow->media_bps > 0.0);

  return fmx_time_from_s (bytes * 8.0 / flow->media_bps);
}
