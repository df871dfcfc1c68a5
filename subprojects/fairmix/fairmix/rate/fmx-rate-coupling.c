/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-rate-coupling.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define BISECTIONS 60u          /* 1e9 to less than 1e-8 bit/s */

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

/* Each has its share of @level, and neither less than it keeps nor more than it wants.
 * Returns: what that is in all */
static double
give (FmxRateCoupling *coupling, uint32_t group, double level)
{
  double all = 0.0;

  for (uint32_t i = 0; i < coupling->n; i++)
    if (is_in (coupling, i, group)) {
      FmxCoupledFlow *flow = &coupling->flows[i];

      flow->rate_bps = fmin (level * flow->priority, flow->desired_bps);
      flow->rate_bps = fmax (flow->rate_bps, flow->least_bps);
      all += flow->rate_bps;
    }
  return all;
}

/* [RFC8699 5.3.1 (3) (c)] A flow that wants less than its share is served first, and
 * what is left is shared out among the others: the level at which all is given away.
 * The RFC keeps what nobody wants for later; then a flow that meets congestion would be
 * given back at once what it gave up. */
void
fmx_rate_coupling_share_out (FmxRateCoupling *coupling, uint32_t group)
{
  double sum = coupling->groups[group].sum_bps, priorities = 0.0;
  double low = 0.0, high = 1.0, left;

  for (uint32_t i = 0; i < coupling->n; i++)
    if (is_in (coupling, i, group)) {
      priorities += coupling->flows[i].priority;
      high = fmax (high, coupling->flows[i].desired_bps
          / coupling->flows[i].priority);
    }
  for (unsigned i = 0; i < BISECTIONS; i++) {
    double level = 0.5 * (low + high);

    if (give (coupling, group, level) < sum)
      low = level;
    else
      high = level;
  }
  left = sum - give (coupling, group, high);
  for (uint32_t i = 0; i < coupling->n && left > 0.0; i++)
    if (is_in (coupling, i, group))
      coupling->flows[i].rate_bps += left * coupling->flows[i].priority
          / priorities;
  if (left < 0.0)               /* what they keep is more */
    coupling->groups[group].sum_bps -= left;
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
  double desired = rate_bps, least = 0.0;
  bool alone = true;

  assert (flow < coupling->n && group < coupling->n && priority > 0.0);
  if (f->present) {
    rate_bps = f->rate_bps;
    desired = f->desired_bps;
    least = f->least_bps;
    fmx_rate_coupling_remove (coupling, flow);
  }
  for (uint32_t i = 0; i < coupling->n; i++)
    alone &= !is_in (coupling, i, group);
  if (alone)
    memset (&coupling->groups[group], 0, sizeof coupling->groups[group]);
  *f = (FmxCoupledFlow) { true, group, priority, rate_bps, least, desired,
    UINT64_MAX, false
  };
  coupling->groups[group].sum_bps += rate_bps;
}

void
fmx_rate_coupling_place (FmxRateCoupling *coupling, uint32_t flow,
    uint32_t group, double priority, double rate_bps)
{
  const FmxCoupledFlow *f = &coupling->flows[flow];

  assert (flow < coupling->n);
  if (group == UINT32_MAX)
    fmx_rate_coupling_remove (coupling, flow);
  else if (!f->present || f->group != group || f->priority != priority)
    fmx_rate_coupling_add (coupling, flow, group, priority, rate_bps);
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
  fmx_rate_coupling_share_out (coupling, f->group);
}

void
fmx_rate_coupling_note (FmxRateCoupling *coupling, uint32_t flow,
    double rate_bps, double least_bps, double desired_bps)
{
  FmxCoupledFlow *f = &coupling->flows[flow];
  FmxCoupledGroup *group = &coupling->groups[f->group];

  assert (flow < coupling->n && f->present);
  group->sum_bps = fmax (group->sum_bps + rate_bps - f->rate_bps, 0.0);
  f->rate_bps = rate_bps;
  f->least_bps = least_bps;
  f->desired_bps = fmax (desired_bps, least_bps);
}

void
fmx_rate_coupling_note_drains (FmxRateCoupling *coupling, uint32_t flow,
    uint64_t n_drains)
{
  FmxCoupledFlow *f = &coupling->flows[flow];

  assert (flow < coupling->n && f->present);
  f->drains = n_drains > f->n_drains;
  f->n_drains = n_drains;
}

bool
fmx_rate_coupling_drains_too (const FmxRateCoupling *coupling, uint32_t flow)
{
  const FmxCoupledFlow *f = &coupling->flows[flow];
  bool any = false;

  assert (flow < coupling->n && f->present);
  for (uint32_t i = 0; i < coupling->n; i++)
    any |= is_in (coupling, i, f->group) && coupling->flows[i].drains;
  return any && !f->drains;
}

bool
fmx_rate_coupling_has (const FmxRateCoupling *coupling, uint32_t flow)
{
  assert (flow < coupling->n);
  return coupling->flows[flow].present;
}

double
fmx_rate_coupling_rate (const FmxRateCoupling *coupling, uint32_t flow)
{
  assert (flow < coupling->n);
  return coupling->flows[flow].rate_bps;
}

double
fmx_rate_coupling_next (const FmxRateCoupling *coupling, uint32_t flow,
    double rate_bps)
{
  double share_bps = fmx_rate_coupling_rate (coupling, flow);

  return rate_bps + FMX_RATE_COUPLING_PART * (share_bps - rate_bps);
}

double
fmx_rate_coupling_share (const FmxRateCoupling *coupling, uint32_t flow)
{
  const FmxCoupledFlow *f = &coupling->flows[flow];
  double priorities = 0.0;
  uint32_t n = 0;

  assert (flow < coupling->n && f->present);
  for (uint32_t i = 0; i < coupling->n; i++)
    if (is_in (coupling, i, f->group)) {
      priorities += coupling->flows[i].priority;
      n++;
    }
  return f->priority * n / priorities;
}
