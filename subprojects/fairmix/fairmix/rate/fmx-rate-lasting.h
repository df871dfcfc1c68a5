/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RATE_LASTING_H
#define FMX_RATE_LASTING_H

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_RATE_LASTING_PARTS: of the time that is remembered */
#define FMX_RATE_LASTING_PARTS 10u

/**
 * FmxRateLasting:
 *
 * A controller tries more than a path carries and falls, again and again: what is sent as
 * whole streams should not follow.  What lasts is the lowest that the rate fell to within
 * the last 20 s.  Where it climbs a tenth beyond the highest that it fell from, the path is
 * another one, and what was before says nothing.
 */
typedef struct
{
  /*< private >*/
  double rate_bps;
  double low_bps[FMX_RATE_LASTING_PARTS];       /* of falls in each part; 0 = none */
  double high_bps[FMX_RATE_LASTING_PARTS];      /* what it fell from */
  unsigned part;                /* the present one ... */
  FmxTime begun;                /* ... began then */
} FmxRateLasting;

void fmx_rate_lasting_init (FmxRateLasting * lasting, FmxTime now);

/** fmx_rate_lasting_on_rate: @bps is allowed now; 0 = nothing is, and that is no fall */
void fmx_rate_lasting_on_rate (FmxRateLasting * lasting, double bps,
    FmxTime now);

/** fmx_rate_lasting_bps: Returns: what lasts, of the last rate */
double fmx_rate_lasting_bps (const FmxRateLasting * lasting);

#ifdef __cplusplus
}
#endif

#endif /* FMX_RATE_LASTING_H */
