/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-rate-coupling.h"

#include <assert.h>
#include <string.h>

void
fmx_rate_coupling_init (FmxRateCoupling *coupling, FmxCoupledFlow *flows,
    FmxCoupledGroup *groups, uint32_t n, bool conservative)
{
  memset (flows, 0, n * sizeof *flows);
  memset (groups, 0, n * sizeof *groups);
  coupling->flows = flows;
  coupling->groups = groups;
  coupling->n = n;
  coupling->conservative = conservative;
}

static bool
is_in (const FmxRateCoupling *coupling, uint32_t flow, uint32_t group)
{
  return coupling->flows[flow].present && coupling->flows[flow].group == group;
}

/* [RFC8699 5.3.1 (3) (c)] A flow that wants less than its share is served first, and
 * what is left is shared out among the others. */
static void
share_out (FmxRateCoupling *coupling, uint32_t group)
{
  double left = coupling->groups[group].sum_bps, priorities = 0.0;
  bool again = true;

  for (uint32_t i = 0; i < coupling->n; i++)
    if (is_in (coupling, i, group)) {
      priorities += coupling->flows[i].priority;
      coupling->flows[i].rate_bps = -1.0;
    }
  while (again) {
    double share = priorities > 0.0 ? left / priorities : 0.0;

    again = false;
    for (uint32_t i = 0; i < coupling->n; i++) {
      FmxCoupledFlow *flow = &coupling->flows[i];

      if (!is_in (coupling, i, group) || flow->rate_bps >= 0.0
          || share * flow->priority < flow->desired_bps)
        continue;
      flow->rate_bps = flow->desired_bps;
      left -= flow->desired_bps;
      priorities -= flow->priority;
      again = true;
    }
  }
  for (uint32_t i = 0; i < coupling->n; i++)
    if (is_in (coupling, i, group) && coupling->flows[i].rate_bps < 0.0)
      coupling->flows[i].rate_bps = left * coupling->flows[i].priority
          / priorities;
}

void
fmx_rate_coupling_remove (FmxRateCoupling *coupling, uint32_t flow)
{
  FmxCoupledFlow *f = &coupling->flows[flow];
  FmxCoupledGroup *group;

  assert (flow < coupling->n);
  if (!f->present)
    return;
  group = &coupling->groups[f->group];
  group->sum_bps -= f->rate_bps;
  if (group->sum_bps < 0.0)
    group->sum_bps = 0.0;
  memset (f, 0, sizeof *f);
}

void
fmx_rate_coupling_add (FmxRateCoupling *coupling, uint32_t flow,
    uint32_t group, double priority, double rate_bps)
{
  FmxCoupledFlow *f = &coupling->flows[flow];
  double desired = rate_bps;
  bool alone = true;

  assert (flow < coupling->n && group < coupling->n && priority > 0.0);
  if (f->present) {
    rate_bps = f->rate_bps;
    desired = f->desired_bps;
    fmx_rate_coupling_remove (coupling, flow);
  }
  for (uint32_t i = 0; i < coupling->n; i++)
    alone &= !is_in (coupling, i, group);
  if (alone)
    memset (&coupling->groups[group], 0, sizeof coupling->groups[group]);
  *f = (FmxCoupledFlow) { true, group, priority, rate_bps, desired };
  coupling->groups[group].sum_bps += rate_bps;
}

void
fmx_rate_coupling_update (FmxRateCoupling *coupling, uint32_t flow,
    double rate_bps, double desired_bps, FmxDuration rtt, FmxTime now)
{
  FmxCoupledFlow *f = &coupling->flows[flow];
  FmxCoupledGroup *group = &coupling->groups[f->group];

  assert (flow < coupling->n && f->present);
  f->desired_bps = desired_bps;
  if (!coupling->conservative) {
    group->sum_bps += rate_bps - f->rate_bps;
  } else if (now >= group->quiet_until) {       /* [RFC8699 5.3.2] */
    if (rate_bps < f->rate_bps) {
      group->sum_bps *= rate_bps / f->rate_bps;
      group->quiet_until = now + 2 * (FmxTime) rtt;
    } else {
      group->sum_bps += rate_bps - f->rate_bps;
    }
  }
  if (group->sum_bps < 0.0)
    group->sum_bps = 0.0;
  share_out (coupling, f->group);
}

double
fmx_rate_coupling_rate (const FmxRateCoupling *coupling, uint32_t flow)
{
  assert (flow < coupling->n);
  return coupling->flows[flow].rate_bps;
}
