/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/adapt/fmx-adapt-protection.h"

#include <math.h>

#define BEGINS 0.01
#define ENDS 0.005
#define MOST_PERCENT 20.0
#define STEP_PERCENT 2.0

void
fmx_adapt_protection_init (FmxAdaptProtection *protection)
{
  protection->loss = 0.0;
  protection->percent = 0;
  protection->last = FMX_TIME_NONE;
}

uint32_t
fmx_adapt_protection_on_loss (FmxAdaptProtection *protection, double share,
    FmxTime now)
{
  double percent;

  if (protection->last != FMX_TIME_NONE) {
    double dt = fmx_time_to_s (fmx_time_diff (now, protection->last));

    protection->loss += (share - protection->loss)
        * (1.0 - exp (-dt / fmx_time_to_s (FMX_ADAPT_PROTECTION_MEMORY)));
  }
  protection->last = now;

  if (protection->loss < (protection->percent > 0 ? ENDS : BEGINS)) {
    protection->percent = 0;
    return 0;
  }
  percent = fmin (ceil (100.0 * protection->loss), MOST_PERCENT);
  if (protection->percent == 0
      || fabs (percent - protection->percent) >= STEP_PERCENT)
    protection->percent = (uint32_t) percent;
  return protection->percent;
}
