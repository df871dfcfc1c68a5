/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_FEEDBACK_BUDGET_H
#define FMX_FEEDBACK_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-rate-meter.h"
#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxFeedbackBudget:
 *
 * What feedback may cost: a part of the media's rate.  A report is sent on
 * credit, and the next one waits until the media has paid it.
 */
typedef struct
{
  /*< private >*/
  double fraction;
  FmxDuration max_interval;
  FmxRateMeter media;           /* received, in bits/s */
  double bytes_per_s;           /* at the last packet */
  double debt_bytes;            /* of reports that the media has not paid */
  double report_bytes;          /* of all packets of the last report */
} FmxFeedbackBudget;

/**
 * fmx_feedback_budget_init:
 * @fraction: of the media's rate, both with IP and UDP headers, in (0, 1]
 * @max_interval: no debt keeps a report back longer than this
 */
void fmx_feedback_budget_init (FmxFeedbackBudget * budget, double fraction,
    FmxDuration max_interval);

/** fmx_feedback_budget_earn: @wire_bytes of media came */
void fmx_feedback_budget_earn (FmxFeedbackBudget * budget, uint32_t wire_bytes,
    FmxTime now);

/**
 * fmx_feedback_budget_spend:
 * @bytes: of a packet of feedback, with IP and UDP headers
 * @another: of the same report as the one before it
 * @overdue: the media is too thin to pay a report in the longest interval, and
 *     not held to what is left
 */
void fmx_feedback_budget_spend (FmxFeedbackBudget * budget, double bytes,
    bool another, bool overdue);

/**
 * fmx_feedback_budget_wait:
 *
 * Returns: how long the media takes to pay the debt, at the rate that it came
 *     with last; 0 ... the longest interval
 */
FmxDuration fmx_feedback_budget_wait (const FmxFeedbackBudget * budget);

/** fmx_feedback_budget_has_credit: Returns: whether no more than the last report
 * is owed: one that is urgent may go before that is paid, and not more */
bool fmx_feedback_budget_has_credit (const FmxFeedbackBudget * budget);

/** fmx_feedback_budget_rate: Returns: what feedback may take, in bytes/s */
double fmx_feedback_budget_rate (const FmxFeedbackBudget * budget, FmxTime now);

#ifdef __cplusplus
}
#endif

#endif /* FMX_FEEDBACK_BUDGET_H */
