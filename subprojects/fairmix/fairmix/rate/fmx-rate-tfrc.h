/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RATE_TFRC_H
#define FMX_RATE_TFRC_H

#include <stdbool.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_RATE_TFRC_RECV_SET: values of X_recv kept ([RFC5348 8.2.2]). */
#define FMX_RATE_TFRC_RECV_SET 3u

/**
 * FmxRateTfrcState:
 *
 * TCP Friendly Rate Control, sender side.  X is the allowed rate:
 *
 * |[
 *   p > 0:  X = max (min (X_eq, recv_limit), s / 64 s)
 *   p = 0:  X = max (min (2X, recv_limit), W_init / R), once per R
 *   X_inst = X * R_sqmean / sqrt (R_sample)
 * ]|
 *
 * recv_limit is twice the most that was received during the last two
 * round-trip times; what a data-limited sender made the receiver get does not
 * count against it, unless it made losses.  When the no-feedback timer expires
 * the rate is halved through X_recv, so that slow start brings it back.
 *
 * Source: [RFC5348 4]; [RFC4828] through the equation.
 */
typedef struct
{
  /*< private >*/
  double x_bps;
  double equation_bps;
  double last_p;
  FmxTime doubled;              /* tld */
  bool started;                 /* X = initial_rate happened */
  unsigned n_recv;              /* 0 = { Infinity } */
  double recv_bps[FMX_RATE_TFRC_RECV_SET];
  FmxTime recv_time[FMX_RATE_TFRC_RECV_SET];
} FmxRateTfrcState;

#ifdef __cplusplus
}
#endif

#endif /* FMX_RATE_TFRC_H */
