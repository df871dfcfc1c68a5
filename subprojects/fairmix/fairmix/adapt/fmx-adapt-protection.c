/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/adapt/fmx-adapt-protection.h"

#include <math.h>
#include <stdbool.h>

/* It ends at half of the loss at which it begins. */
#define LEAN_BEGINS 0.02
#define RICH_BEGINS 0.01
#define ENDS 0.5

void
fmx_adapt_protection_init (FmxAdaptProtection *protection)
{
  protection->loss = 0.0;
  protection->from_bps = 0;
  protection->last = FMX_TIME_NONE;
}

static bool
is_on (const FmxAdaptProtection *protection, uint32_t bps, double begins)
{
  bool was_on = protection->from_bps > 0 && protection->from_bps <= bps;

  return protection->loss >= (was_on ? ENDS * begins : begins);
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
  if (is_on (protection, FMX_ADAPT_PROTECTION_FROM_BPS, LEAN_BEGINS))
    protection->from_bps = FMX_ADAPT_PROTECTION_FROM_BPS;
  else if (is_on (protection, FMX_ADAPT_PROTECTION_RICH_BPS, RICH_BEGINS))
    protection->from_bps = FMX_ADAPT_PROTECTION_RICH_BPS;
  else
    protection->from_bps = 0;
  return protection->from_bps;
}

uint32_t
fmx_adapt_protection_percent (uint32_t from_bps, uint64_t bitrate_bps)
{
  return from_bps > 0 && bitrate_bps >= from_bps
      ? FMX_ADAPT_PROTECTION_PERCENT : 0;
}
