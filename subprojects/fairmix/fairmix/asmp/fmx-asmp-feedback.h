/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ASMP_FEEDBACK_H
#define FMX_ASMP_FEEDBACK_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxAsmpFeedbackParams:
 * @suspend: T_suspend: a session whose reports are further apart is large
 * @crowd: one of more receivers is large, too
 * @rand: T_rand: within it a receiver of a large session reports, if nobody has
 *     spoken for it
 * @lambda: how few speak early: about ln (receivers)
 * @similar: shares are similar that differ by no more than this part
 */
typedef struct
{
  FmxDuration suspend;
  uint32_t crowd;
  FmxDuration rand;
  double lambda;
  double similar;
} FmxAsmpFeedbackParams;

/**
 * fmx_asmp_feedback_params_default:
 *
 * 6.5 s, 20, 5 s, 10 and 0.02.  ASMP gives the last one only.  T_suspend is just
 * above what the least interval of [RFC3550 6.2] can come to, 5 s x 1.5 /
 * 1.21828 = 6.16 s: as long as that least interval rules there is nothing to
 * gain but quiet, which @crowd is for: no more than so many rates in a round.
 * T_rand is that least interval, so that a large session's sender hears
 * as often as a small one's.  lambda: see docs/algorithms/asmp.md.
 */
void fmx_asmp_feedback_params_default (FmxAsmpFeedbackParams * params);

/**
 * FmxAsmpFeedback:
 *
 * When a receiver of a large session reports: after a time z in [0, T_rand]
 * with the density
 *
 * |[ lambda / (T_rand (e^lambda - 1))  e^(lambda z / T_rand) ]|
 *
 * and then only if no other has told a similar rate meanwhile.  (ASMP (20)
 * prints 1 / e^lambda in place of 1 / (e^lambda - 1), with which the whole is
 * less than one.)
 *
 * Source: ASMP 3.8; J. Nonnenmacher, E. W. Biersack, "Optimal Multicast
 * Feedback", INFOCOM 1998.
 */
typedef struct
{
  /*< private >*/
  FmxAsmpFeedbackParams params;
  FmxTime deadline;
  bool large;
  bool spoken_for;
} FmxAsmpFeedback;

void fmx_asmp_feedback_init (FmxAsmpFeedback * feedback,
    const FmxAsmpFeedbackParams * params);

/**
 * fmx_asmp_feedback_wait:
 * @u: random, uniform in [0, 1)
 *
 * Returns: T_wait, in [0, T_rand]
 */
FmxDuration fmx_asmp_feedback_wait (const FmxAsmpFeedbackParams * params,
    double u);

/**
 * fmx_asmp_feedback_schedule:
 * @interval: how far apart the session's reports are
 * @n_receivers: of the session; 0 = not known
 * @u: random, uniform in [0, 1)
 *
 * After each report of one's own, and after each that was left out: a new round
 * begins.
 */
void fmx_asmp_feedback_schedule (FmxAsmpFeedback * feedback,
    FmxDuration interval, uint32_t n_receivers, double u, FmxTime now);

/** fmx_asmp_feedback_on_peer: another receiver has told @peer_bps; @own_bps is
 * what this one would tell */
void fmx_asmp_feedback_on_peer (FmxAsmpFeedback * feedback, double own_bps,
    double peer_bps);

/** Returns: whether a report of the session is to carry the rate: in a small
 * session always */
bool fmx_asmp_feedback_may_report (const FmxAsmpFeedback * feedback);

/** Returns: when T_wait is over; %FMX_TIME_NONE in a small session */
FmxTime fmx_asmp_feedback_next_timeout (const FmxAsmpFeedback * feedback);

/**
 * fmx_asmp_feedback_on_timeout:
 *
 * Returns: whether to report now; then, or if another has spoken, the round is
 * over: fmx_asmp_feedback_schedule()
 */
bool fmx_asmp_feedback_on_timeout (FmxAsmpFeedback * feedback, FmxTime now);

#ifdef __cplusplus
}
#endif

#endif /* FMX_ASMP_FEEDBACK_H */
