/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/adapt/fmx-adapt-protection.h"

#include <math.h>

#define BEGINS 0.01
#define ENDS 0.005

void
fmx_adapt_protection_init (FmxAdaptProtection *protection)
{
  protection->loss = 0.0;
  protection->on = false;
  protection->last = FMX_TIME_NONE;
}

uint32_t
fmx_adapt_protection_on_loss (FmxAdaptProtection *protection, double share,
    FmxTime now)
{
  if (protection->last != FMX_TIME_NONE) {
    double dt = fmx_time_to_s (fmx_time_diff (now, protection->last));

    protection->loss += (share - protection->loss)
        * (1.0 - exp (-dt / fmx_time_to_s (FMX_ADAPT_PROTECTION_MEMORY)));
  }
  protection->last = now;
  protection->on = protection->loss >= (protection->on ? ENDS : BEGINS);
  return protection->on ? FMX_ADAPT_PROTECTION_PERCENT : 0;
}
