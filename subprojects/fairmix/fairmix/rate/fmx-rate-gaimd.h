/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RATE_GAIMD_H
#define FMX_RATE_GAIMD_H

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxRateGaimdState:
 *
 * General additive increase, multiplicative decrease: of a window in TCP, of
 * the rate here.  alpha and beta are parameters.
 *
 * |[
 *   each round-trip time:  X = X + alpha s / R,
 *                          however many of them a feedback is about, and
 *                          not beyond 2 X_recv; if the media are kept below
 *                          X and use half of what they may: 2 X_recv / beta^2
 *   each loss event:       X = beta X
 * ]|
 *
 * Fair to TCP, whose (alpha, beta) are (1, 1/2), if alpha is
 * fmx_aimd_fair_alpha (beta).
 *
 * Loss above the limit or a rate below @min_bps means probing, as with dpm.
 *
 * Source: "Minimal buffering of congestion-controlled media" (2001), chapter
 * 2; Y. Yang, S. Lam, "General AIMD congestion control", ICNP 2000.
 */
typedef struct
{
  /*< private >*/
  FmxTime increased;
  FmxTime decreased;            /* also when probing began */
} FmxRateGaimdState;

#ifdef __cplusplus
}
#endif

#endif /* FMX_RATE_GAIMD_H */
