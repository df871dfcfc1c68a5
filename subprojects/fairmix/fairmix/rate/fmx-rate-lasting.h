/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RATE_LASTING_H
#define FMX_RATE_LASTING_H

#include <stdbool.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_RATE_LASTING_PARTS: of the time that is remembered */
#define FMX_RATE_LASTING_PARTS 50u

/**
 * FmxRateLasting:
 *
 * A controller tries more than a path carries and falls, and beside a TCP its rate comes and
 * goes: what is sent as whole streams should not follow.  What lasts is the highest that the
 * rate was below no more than twice in the last 100 s, and never in the last 4 s.  It falls
 * at once with the rate, and rises rarely:
 *
 * |[
 *   from one rise to the next 5, 10, 20, 40, 40, ... s; after 120 s without one 5 again
 * ]|
 *
 * So there are no more than three rises in 100 s, unless the path is found wider, by trains of
 * padding or as far more comes through than did: then 5 s are waited for, too.  A rate that
 * has never fallen lasts.  A fall that is taken back as a whole within 300 ms was none:
 * something had stood still for a moment.  That may be so once in 20 s.
 */
typedef struct
{
  /*< private >*/
  double rate_bps;
  double lasts_bps;
  bool has_fallen;
  double low_bps[FMX_RATE_LASTING_PARTS];       /* in each part; 0 = not known */
  unsigned part;                /* the present one ... */
  FmxTime begun;                /* ... began then */
  FmxTime rose;
  FmxDuration wait;             /* from then on, until the next rise */
  struct
  {
    FmxTime time;
    unsigned part;
    double from_bps, lasted_bps, low_bps;       /* before; 0 = there was none */
    bool had_fallen;
  } fall;                       /* the latest that can be taken back */
} FmxRateLasting;

void fmx_rate_lasting_init (FmxRateLasting * lasting, FmxTime now);

/** fmx_rate_lasting_on_rate: @bps is allowed now; 0 = nothing is, and that is no fall */
void fmx_rate_lasting_on_rate (FmxRateLasting * lasting, double bps,
    FmxTime now);

/** fmx_rate_lasting_on_wider: the path carries more than it did, and the rate is that: the
 * next rise comes 5 s later, if that lasts */
void fmx_rate_lasting_on_wider (FmxRateLasting * lasting, FmxTime now);

/** fmx_rate_lasting_bps: Returns: what lasts, of the last rate */
double fmx_rate_lasting_bps (const FmxRateLasting * lasting);

#ifdef __cplusplus
}
#endif

#endif /* FMX_RATE_LASTING_H */
