/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What an FmxAsmpSender believes */

#include "fairmix/asmp/fmx-asmp-sender-private.h"

#include <math.h>

#include "fairmix/asmp/fmx-asmp-equation.h"

#define CUT_OFF 0.05            /* of what is sent; less is next to nothing */
#define OF_LATE (5 * FMX_SECOND)        /* an interval of reports */

bool
fmx_asmp_sender_has_risen (const FmxAsmpSender *sender, FmxTime now)
{
  return sender->risen != FMX_TIME_NONE
      && fmx_time_diff (now, sender->risen) < OF_LATE;
}

/* Where next to nothing arrives, nothing tells of losses either: whether rate
 * and report agree that it is so. */
bool
fmx_asmp_sender_is_cut_off (const FmxAsmpSender *sender,
    const FmxAsmpEntry *entry, const FmxAsmpRate *rate, FmxTime now)
{
  return sender->params.algorithm == FMX_ASMP_FAIR
      && entry->n_fractions > 0 && entry->fractions[0] >= UINT8_MAX / 2
      && rate->received_bps < CUT_OFF * fmx_rate_meter_bps (&sender->sent, now);
}

/* What a report that comes now may be about, at least: it began a while ago. */
static double
least_sent_bps (const FmxAsmpSender *sender, FmxTime now)
{
  return fmx_asmp_sender_has_risen (sender, now) ? fmin (sender->low_bps,
      sender->target_bps)
      : sender->target_bps;
}

bool
fmx_asmp_sender_counts (const FmxAsmpSender *sender, const FmxAsmpEntry *entry,
    const FmxAsmpRate *rate, FmxTime now)
{
  if (sender->params.algorithm == FMX_ASMP_PAPER)
    return true;
  return rate->measured && (fmx_asmp_sender_is_cut_off (sender, entry, rate,
          now) || rate->rate_bps >= fmx_asmp_plausible_bps (least_sent_bps
          (sender, now), fmx_asmp_entry_rtt (entry), rate->loss,
          entry->fractions[0] / 256.0));
}

/* "asmp-fair": who wants less than there is for too long is not waited for */
bool
fmx_asmp_sender_is_out_of_patience (FmxAsmpSender *sender, FmxAsmpEntry *entry,
    uint32_t rate_bps, FmxTime now)
{
  uint32_t now_s = (uint32_t) (now / (FmxTime) FMX_SECOND);

  if (sender->params.algorithm == FMX_ASMP_PAPER
      || rate_bps >= sender->params.min_bps) {
    entry->is_below = false;
    return false;
  }
  if (!entry->is_below) {
    entry->is_below = true;
    entry->below_since = now_s;
  }
  return now_s - entry->below_since
      >= (uint32_t) (sender->params.patience / FMX_SECOND);
}
