/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-rate-lasting.h"

#include <math.h>
#include <string.h>

#define PART (2 * FMX_SECOND)
#define WIDER 1.1               /* as a ceiling that has moved */

void
fmx_rate_lasting_init (FmxRateLasting *lasting, FmxTime now)
{
  memset (lasting, 0, sizeof *lasting);
  lasting->begun = now;
}

static void
forget (FmxRateLasting *lasting, FmxTime now)
{
  unsigned n = 0;

  for (; fmx_time_diff (now, lasting->begun) >= PART; n++) {
    if (n >= FMX_RATE_LASTING_PARTS) {  /* all of it */
      lasting->begun = now;
      return;
    }
    lasting->begun += (FmxTime) PART;
    lasting->part = (lasting->part + 1) % FMX_RATE_LASTING_PARTS;
    lasting->low_bps[lasting->part] = lasting->high_bps[lasting->part] = 0.0;
  }
}

static double
highest (const FmxRateLasting *lasting)
{
  double bps = 0.0;

  for (unsigned i = 0; i < FMX_RATE_LASTING_PARTS; i++)
    bps = fmax (bps, lasting->high_bps[i]);
  return bps;
}

void
fmx_rate_lasting_on_rate (FmxRateLasting *lasting, double bps, FmxTime now)
{
  double *low, *high;

  forget (lasting, now);
  if (bps <= 0.0)
    return;
  if (bps > WIDER * highest (lasting))
    memset (lasting->low_bps, 0, sizeof lasting->low_bps);
  low = &lasting->low_bps[lasting->part];
  high = &lasting->high_bps[lasting->part];
  if (bps < lasting->rate_bps) {
    *high = fmax (*high, lasting->rate_bps);
    *low = *low > 0.0 ? fmin (*low, bps) : bps;
  }
  lasting->rate_bps = bps;
}

double
fmx_rate_lasting_bps (const FmxRateLasting *lasting)
{
  double bps = lasting->rate_bps;

  for (unsigned i = 0; i < FMX_RATE_LASTING_PARTS; i++)
    if (lasting->low_bps[i] > 0.0)
      bps = fmin (bps, lasting->low_bps[i]);
  return bps;
}
