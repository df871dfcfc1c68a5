/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-tcp-equation.h"

#include <assert.h>
#include <math.h>

#define INVERSE_TOLERANCE 1e-3
#define LEAST_WINDOW 2.0        /* segments: [RFC5681 3.1] ssthresh >= 2*SMSS */

FmxTcpPath
fmx_tcp_path (double segment_bytes, FmxDuration rtt)
{
  FmxTcpPath path;

  path.segment_bytes = segment_bytes;
  path.rtt = rtt;
  path.rto = 4 * rtt;           /* [RFC5348 3.1] "t_RTO = 4*R" */
  path.b = 1.0;                 /* [RFC5348 3.1] "b = 1" */
  return path;
}

double
fmx_tcp_equation_bps (const FmxTcpPath *path, double p)
{
  double r = fmx_time_to_s (path->rtt);
  double t_rto = fmx_time_to_s (path->rto);
  double b = path->b;

  assert (path->segment_bytes > 0.0 && path->rtt > 0 && path->rto > 0);
  assert (p >= 0.0 && p <= 1.0 && b > 0.0);

  if (p == 0.0)
    return HUGE_VAL;
  /* [RFC5348 3.1] */
  return 8.0 * path->segment_bytes / (r * sqrt (2.0 * b * p / 3.0)
      + t_rto * 3.0 * sqrt (3.0 * b * p / 8.0) * p * (1.0 + 32.0 * p * p));
}

double
fmx_tcp_equation_inverse (const FmxTcpPath *path, double bps)
{
  double low = FMX_TCP_P_MIN, high = 1.0;

  assert (bps > 0.0);
  if (fmx_tcp_equation_bps (path, low) <= bps)
    return low;
  if (fmx_tcp_equation_bps (path, high) >= bps)
    return high;
  /* X falls in p: halve the interval, on a logarithmic scale. */
  for (;;) {
    double p = sqrt (low * high);
    double x = fmx_tcp_equation_bps (path, p);

    if (fabs (x - bps) <= INVERSE_TOLERANCE * bps || p <= low || p >= high)
      return p;
    if (x > bps)
      low = p;
    else
      high = p;
  }
}

double
fmx_tcp_equation_simple_bps (const FmxTcpPath *path, double p)
{
  assert (path->segment_bytes > 0.0 && path->rtt > 0);
  assert (p >= 0.0 && p <= 1.0);

  if (p == 0.0)
    return HUGE_VAL;
  /* [RFC8083 4.3] "X = s / (Tr*sqrt(2*b*p/3))" */
  return 8.0 * path->segment_bytes / (fmx_time_to_s (path->rtt)
      * sqrt (2.0 * path->b * p / 3.0));
}

double
fmx_tcp_equation_marked_bps (const FmxTcpPath *path, double p)
{
  return fmax (fmx_tcp_equation_simple_bps (path, p),
      LEAST_WINDOW * 8.0 * path->segment_bytes / fmx_time_to_s (path->rtt));
}
