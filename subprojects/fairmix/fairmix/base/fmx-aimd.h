/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_AIMD_H
#define FMX_AIMD_H

#include <assert.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * fmx_aimd_fair_alpha:
 * @beta: what a back-off leaves of the rate, in (0, 1)
 *
 * Returns: the increase alpha, in segments per round-trip time, with which
 *     AIMD(alpha, @beta) is fair to TCP, 3 (1 - beta) / (1 + beta) ([RFC9438 4.3],
 *     [buffering A.1]); 1 for a TCP's own beta of 1/2
 */
static inline double
fmx_aimd_fair_alpha (double beta)
{
  assert (beta > 0.0 && beta < 1.0);
  return 3.0 * (1.0 - beta) / (1.0 + beta);
}

#ifdef __cplusplus
}
#endif

#endif /* FMX_AIMD_H */
