/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/wire/fmx-feedback-budget.h"

#include <assert.h>

#define RATE_WINDOW FMX_SECOND

void
fmx_feedback_budget_init (FmxFeedbackBudget *budget, double fraction,
    FmxDuration max_interval)
{
  assert (fraction > 0.0 && fraction <= 1.0);

  *budget = (FmxFeedbackBudget) {
    .fraction = fraction,
    .max_interval = max_interval,
  };
  fmx_rate_meter_init (&budget->media, RATE_WINDOW);
}

double
fmx_feedback_budget_rate (const FmxFeedbackBudget *budget, FmxTime now)
{
  return budget->fraction / 8.0 * fmx_rate_meter_bps (&budget->media, now);
}

void
fmx_feedback_budget_earn (FmxFeedbackBudget *budget, uint32_t wire_bytes,
    FmxTime now)
{
  fmx_rate_meter_add (&budget->media, wire_bytes, now);
  budget->debt_bytes -= budget->fraction * wire_bytes;
  if (budget->debt_bytes < 0.0)
    budget->debt_bytes = 0.0;
  budget->bytes_per_s = fmx_feedback_budget_rate (budget, now);
}

void
fmx_feedback_budget_spend (FmxFeedbackBudget *budget, double bytes,
    bool another, bool overdue)
{
  if (overdue)
    budget->debt_bytes = 0.0;
  budget->debt_bytes += bytes;
  budget->report_bytes = bytes + (another ? budget->report_bytes : 0.0);
}

FmxDuration
fmx_feedback_budget_wait (const FmxFeedbackBudget *budget)
{
  double most_bytes = budget->bytes_per_s
      * fmx_time_to_s (budget->max_interval);

  if (budget->debt_bytes >= most_bytes)
    return budget->debt_bytes > 0.0 ? budget->max_interval : 0;
  return fmx_time_from_s (budget->debt_bytes / budget->bytes_per_s);
}

bool
fmx_feedback_budget_has_credit (const FmxFeedbackBudget *budget)
{
  return budget->debt_bytes <= budget->report_bytes;
}
