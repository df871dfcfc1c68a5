/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/playout/fmx-minimal-buffer.h"

#include <assert.h>

double
fmx_minimal_buffer_bytes (const FmxMinimalBufferParams *params, double rate_Bps)
{
  double beta = params->beta;
  double window = rate_Bps * fmx_time_to_s (params->rtt);
  double depth;

  assert (params->alpha > 0.0 && params->mss_bytes > 0 && params->rtt > 0);
  assert (beta > 0.0 && beta < 1.0 && rate_Bps >= 0.0);

  /* [buffering 3.2] */
  depth = (1.0 - beta) / (1.0 + beta) * window;
  return depth * depth / (2.0 * params->alpha * params->mss_bytes);
}

double
fmx_minimal_buffer_bytes_two_backoffs (const FmxMinimalBufferParams *params,
    double rate_Bps)
{
  double factor = 1.0 + 2.0 * params->beta;

  /* [buffering 3.2], equation 3.5 */
  return factor * factor * fmx_minimal_buffer_bytes (params, rate_Bps);
}

double
fmx_minimal_buffer_bytes_discrete (const FmxMinimalBufferParams *params,
    double rate_Bps)
{
  double step = params->alpha * params->mss_bytes;
  double top = 2.0 * rate_Bps * fmx_time_to_s (params->rtt)
      / (1.0 + params->beta);
  double n = (1.0 - params->beta) * top / step + 1.0;

  assert (params->alpha > 0.0 && params->mss_bytes > 0 && params->rtt > 0);
  assert (params->beta > 0.0 && params->beta < 1.0 && rate_Bps >= 0.0);

  return step * n * n / 8.0;
}
