/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RATE_COUPLING_H
#define FMX_RATE_COUPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C"
{
#endif

/** FMX_RATE_COUPLING_PART: of the way to its share that a flow goes at a time, where all
 * are looked at each 400 ms.  Who is told at once to have what another gave up has more
 * than its own controller bears, and gives up that, too. */
#define FMX_RATE_COUPLING_PART 0.4

/**
 * FmxCoupledFlow:
 *
 * What the exchange knows of one flow: FGI, P(f), FSE_R(f), DR(f).
 */
  typedef struct
  {
    /*< private > */
    bool present;
    uint32_t group;
    double priority;
    double rate_bps;
    double least_bps;
    double desired_bps;
    uint64_t n_drains;
    bool drains;                  /* since it was last noted */
  } FmxCoupledFlow;

/** FmxCoupledGroup: of flows that share a bottleneck: S_CR and its timer. */
  typedef struct
  {
    /*< private > */
    double sum_bps;
    FmxTime quiet_until;
  } FmxCoupledGroup;

/**
 * FmxRateCoupling:
 *
 * Several flows of one sender over the same bottleneck: each has a congestion
 * control of its own, and together they have the sum of what these say, shared out
 * by priority instead of by competition.  What a flow does not want goes to the
 * others; what nobody wants is theirs by priority, so that the rates always add up.
 *
 * |[
 *   flow starts:    fmx_rate_coupling_add (&c, f, group, priority, initial_bps);
 *   each new rate:  fmx_rate_coupling_update (&c, f, rate_bps, desired_bps, rtt, now);
 *                   for all flows of the group: use fmx_rate_coupling_rate (&c, i)
 * ]|
 *
 * O(n^2) an update at worst.  Source: [RFC8699 5.3]: "conservative" is 5.3.2,
 * otherwise 5.3.1.
 */
  typedef struct
  {
    /*< private > */
    FmxCoupledFlow *flows;
    FmxCoupledGroup *groups;
    uint32_t n;
    bool conservative;
  } FmxRateCoupling;

/** fmx_rate_coupling_init: @flows, @groups: (array length=n): the caller's memory, to
 * live as long; groups are numbered 0 ... n - 1, too */
  void fmx_rate_coupling_init (FmxRateCoupling *coupling,
      FmxCoupledFlow *flows, FmxCoupledGroup *groups, uint32_t n,
      bool conservative);

/** fmx_rate_coupling_add: @priority: > 0, of any scale; @rate_bps: what the flow
 * begins with.  A flow that is there already changes its group or priority. */
  void fmx_rate_coupling_add (FmxRateCoupling *coupling, uint32_t flow,
      uint32_t group, double priority, double rate_bps);

/** fmx_rate_coupling_place: adds, moves or removes @flow: @group: it is in, by what is
 * known now, or %UINT32_MAX for none; @rate_bps: what it has, if it comes */
  void fmx_rate_coupling_place (FmxRateCoupling *coupling, uint32_t flow,
      uint32_t group, double priority, double rate_bps);

/** fmx_rate_coupling_remove: its rate goes with it */
  void fmx_rate_coupling_remove (FmxRateCoupling *coupling, uint32_t flow);

/**
 * fmx_rate_coupling_update:
 * @rate_bps: what the flow's own congestion control has found, CC_R
 * @desired_bps: the most that it has to send
 * @rtt: its round-trip time
 */
  void fmx_rate_coupling_update (FmxRateCoupling *coupling, uint32_t flow,
      double rate_bps, double desired_bps, FmxDuration rtt, FmxTime now);

/**
 * fmx_rate_coupling_note:
 * @least_bps: what the flow keeps, whatever the others are
 *
 * As fmx_rate_coupling_update(), of 5.3.1, without sharing out: for who looks at all
 * flows now and then, notes them, and shares out once.
 */
  void fmx_rate_coupling_note (FmxRateCoupling *coupling, uint32_t flow,
      double rate_bps, double least_bps, double desired_bps);

/** fmx_rate_coupling_note_drains: @n_drains: of #FmxRateSenderStats, after
 * fmx_rate_coupling_note() */
  void fmx_rate_coupling_note_drains (FmxRateCoupling *coupling,
      uint32_t flow, uint64_t n_drains);

/** fmx_rate_coupling_drains_too: Returns: whether another of its group gives way and it
 * does not; for fmx_rate_sender_drain_too().  A queue that several keep drains, and tells
 * that it is theirs, only if all of them give way at once. */
  bool fmx_rate_coupling_drains_too (const FmxRateCoupling *coupling,
      uint32_t flow);

/** fmx_rate_coupling_share_out: among the flows of @group */
  void fmx_rate_coupling_share_out (FmxRateCoupling *coupling,
      uint32_t group);

/** fmx_rate_coupling_has: Returns: whether @flow was added */
  bool fmx_rate_coupling_has (const FmxRateCoupling *coupling,
      uint32_t flow);

/** fmx_rate_coupling_rate: Returns: what the flow may send, FSE_R */
  double fmx_rate_coupling_rate (const FmxRateCoupling *coupling,
      uint32_t flow);

/** fmx_rate_coupling_next: Returns: what the flow may send next, that sends @rate_bps: a
 * part of the way from there to fmx_rate_coupling_rate(); the sum is kept */
  double fmx_rate_coupling_next (const FmxRateCoupling *coupling,
      uint32_t flow, double rate_bps);

/** fmx_rate_coupling_share: Returns: how many times an equal part of its group's sum the
 * flow's priority is; for fmx_rate_sender_set_share() */
  double fmx_rate_coupling_share (const FmxRateCoupling *coupling,
      uint32_t flow);

#ifdef __cplusplus
}
#endif

#endif                          /* FMX_RATE_COUPLING_H */
