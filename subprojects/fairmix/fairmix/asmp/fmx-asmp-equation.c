/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/asmp/fmx-asmp-equation.h"

#include <assert.h>
#include <math.h>

#define PACKETS_PER_ACK 1.0     /* D, [ASMP 3.6] */
#define PLAUSIBLE 0.25
#define PLAUSIBLE_OF_WHAT_ARRIVES 0.5
#define FIXED_POINT_STEPS 32u
#define TIMEOUT_RTTS 4.0        /* t_out / t, [ASMP 3.6] */
#define TOO_FEW 2.5             /* packets in a round trip */

double
fmx_asmp_equation_bps (double packet_bytes, FmxDuration rtt, double loss)
{
  const double d = PACKETS_PER_ACK, l = loss;
  double t = fmx_time_to_s (rtt);

  assert (packet_bytes > 0.0 && rtt > 0 && loss >= 0.0 && loss <= 1.0);
  if (l == 0.0)
    return HUGE_VAL;
  /* [ASMP (12)] */
  return 8.0 * packet_bytes / (t * sqrt (2.0 * d * l / 3.0)
      + TIMEOUT_RTTS * t * fmin (1.0, 3.0 * sqrt (3.0 * d * l / 8.0))
      * l * (1.0 + 32.0 * l * l));
}

double
fmx_asmp_step_bps (double packet_bytes, FmxDuration rtt)
{
  assert (packet_bytes > 0.0 && rtt > 0);
  return 8.0 * packet_bytes / fmx_time_to_s (rtt);
}

/* RFC 5348's equation supposes the window that it yields: 3 sqrt (3bp/8) of its losses,
 * three over that window, wait for a time-out. */
static double
few_packets_bps (const FmxTcpPath *path, double p, double n)
{
  double b = path->b;
  double waits = fmax (3.0 * sqrt (3.0 * b * p / 8.0), fmin (1.0, TOO_FEW / n));

  return 8.0 * path->segment_bytes / (fmx_time_to_s (path->rtt)
      * sqrt (2.0 * b * p / 3.0)
      + fmx_time_to_s (path->rto) * waits * p * (1.0 + 32.0 * p * p));
}

double
fmx_asmp_small_packets_bps (const FmxTcpPath *path, double p, double fraction,
    double packets_per_s)
{
  double bps = fmx_tcp_equation_bps (path, p);

  if (p <= 0.0 || fraction <= 0.0)
    return bps;
  for (unsigned i = 0; i < FIXED_POINT_STEPS; i++) {
    double per_s = bps / (8.0 * path->segment_bytes);
    double n = per_s * fmx_time_to_s (path->rtt);
    double own = 1.0 / (1.0 / fraction + n);
    double p_tcp = fmax (p, fmin (own, p * packets_per_s / per_s));

    /* a rate too high makes p_tcp too low by no more: the mean of both is near */
    bps = sqrt (bps * few_packets_bps (path, fmin (p_tcp, 1.0), n));
  }
  return bps;
}

double
fmx_asmp_plausible_bps (double target_bps, FmxDuration rtt, double loss,
    double fraction_lost)
{
  double least = PLAUSIBLE_OF_WHAT_ARRIVES * (1.0 - fraction_lost)
      * target_bps;
  FmxTcpPath path;

  if (loss <= 0.0 || rtt <= 0)
    return least;
  path = fmx_tcp_path (FMX_TCP_SEGMENT_BYTES, rtt);
  return fmin (PLAUSIBLE * fmx_tcp_equation_bps (&path, loss), least);
}
