/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ADAPT_POLICY_H
#define FMX_ADAPT_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _FmxAdaptPolicy FmxAdaptPolicy;
typedef struct _FmxAdaptPolicyClass FmxAdaptPolicyClass;

/**
 * FmxAdaptPolicyParams:
 * @klass: the policy, e.g. fmx_adapt_policy_find ("average")
 * @backoff: a transmission rate that is lower than the highest of the present
 *     saw-tooth by this share ends the saw-tooth, in (0, 1)
 * @sawtooth_min: and it has lasted so long: back-offs close to each other make
 *     one saw-tooth
 * @sawtooth_max: one that lasts so long without a back-off ends all the same
 * @memory: lazy: time constant of the long-run average
 * @max_delay: a policy whose media rate has run ahead of the transmission rate
 *     by more than this much media falls back to the transmission rate until
 *     it has caught up
 * @within: never above the transmission rate: nothing buffers what is ahead of
 *     it at the sender, and packets must not leave faster
 *
 * What the user chose; never written by the library.
 */
typedef struct
{
  const FmxAdaptPolicyClass *klass;
  double backoff;
  FmxDuration sawtooth_min;
  FmxDuration sawtooth_max;
  FmxDuration memory;
  FmxDuration max_delay;
  bool within;
} FmxAdaptPolicyParams;

/**
 * FmxAdaptPolicyStats:
 * @n_sawteeth: saw-teeth of the transmission rate that have ended
 * @n_changes: changes of the media rate
 * @n_catch_up: times that @max_delay was exceeded
 * @backlog_bits: how far the media is ahead of the transmission now: what a
 *     receiver must have buffered to play on, in bits
 * @backlog_max_bits: the most that was: the buffer that the policy needed
 */
typedef struct
{
  uint64_t n_sawteeth;
  uint64_t n_changes;
  uint64_t n_catch_up;
  double backlog_bits;
  double backlog_max_bits;
} FmxAdaptPolicyStats;

/**
 * FmxAdaptPolicyClass:
 * @name: the one name used in properties, traces and plots, e.g. "lazy"
 * @description: half a sentence for people who choose
 * @on_rate: required; a new transmission rate: returns the media rate
 * @on_sawtooth: optional; a saw-tooth has ended: returns the media rate
 * @n_backoffs: in a row, that its media play through at one rate, and a buffer has
 *     to smooth: 0 = none is needed; 2 = two or more
 *
 * A way to make a media rate of a transmission rate, both in bits/s on the
 * wire.  Source: Li et al. 2001, section 2.
 */
struct _FmxAdaptPolicyClass
{
  const char *name;
  const char *description;
  double (*on_rate) (FmxAdaptPolicy * policy);
  double (*on_sawtooth) (FmxAdaptPolicy * policy);
  unsigned n_backoffs;
};

/**
 * FmxAdaptPolicy:
 *
 * Between the congestion control, whose transmission rate rises and falls in
 * saw-teeth, and the media, whose rate should not.  May be copied.
 */
struct _FmxAdaptPolicy
{
  /*< private >*/
  FmxAdaptPolicyParams params;
  FmxAdaptPolicyStats stats;
  FmxTime last;
  double rate_bps;
  double wanted_bps;
  double media_bps;
  double long_run_bps;
  FmxTime averaged_since;
  /* the present saw-tooth */
  FmxTime start;
  double lowest_bps;
  double highest_bps;
  double sent_bits;
  double queued_bits;           /* < 0: nobody says */
  bool catching_up;
  bool has_backed_off;
};

/**
 * fmx_adapt_policy_aggressive: the transmission rate itself
 *
 * Needs no buffer; the media rate changes with every step.
 */
extern const FmxAdaptPolicyClass fmx_adapt_policy_aggressive;

/**
 * fmx_adapt_policy_conservative: the lowest rate of the last saw-tooth
 *
 * Needs no buffer and changes once a saw-tooth; leaves unused what lies above:
 * a quarter of the transmission rate for TCP's own saw-tooth, and more.
 */
extern const FmxAdaptPolicyClass fmx_adapt_policy_conservative;

/**
 * fmx_adapt_policy_lazy: the average over all saw-teeth of the last minute
 *
 * Seldom changes and uses everything; needs a buffer of seconds.
 */
extern const FmxAdaptPolicyClass fmx_adapt_policy_lazy;

/**
 * fmx_adapt_policy_average: the average of the last saw-tooth
 *
 * The paper's ideal policy knows the average of the saw-tooth that begins.
 * This one assumes that it will be like the one that ended, and pays back over
 * its course what that assumption was wrong about the last time.
 */
extern const FmxAdaptPolicyClass fmx_adapt_policy_average;

/** fmx_adapt_policy_classes: all of them, ended by NULL */
extern const FmxAdaptPolicyClass *const fmx_adapt_policy_classes[];

/** Returns: (nullable): the class of that name */
const FmxAdaptPolicyClass *fmx_adapt_policy_find (const char *name);

/**
 * fmx_adapt_policy_params_default: aggressive; a saw-tooth ends at 5 % below
 *     its highest rate, lasts 0.5 to 10 s; memory 60 s, delay 5 s at most
 */
void fmx_adapt_policy_params_default (FmxAdaptPolicyParams * params);

void fmx_adapt_policy_init (FmxAdaptPolicy * policy,
    const FmxAdaptPolicyParams * params);

/**
 * fmx_adapt_policy_on_rate:
 * @transmission_bps: what the congestion control allows from now on, in
 *     bits/s on the wire; 0 = nothing: the policy starts afresh after that
 *
 * To be called at every change of the rate, and about once a round-trip time
 * in between.
 *
 * Returns: what the media may use, in bits/s on the wire
 */
uint64_t fmx_adapt_policy_on_rate (FmxAdaptPolicy * policy,
    uint64_t transmission_bps, FmxTime now);

/**
 * fmx_adapt_policy_set_backlog:
 * @bytes: what waits to be sent
 *
 * For who knows how far the media are ahead, because it has them in a buffer:
 * before each fmx_adapt_policy_on_rate().  Otherwise that is reckoned from the
 * rates.
 */
void fmx_adapt_policy_set_backlog (FmxAdaptPolicy * policy, uint64_t bytes);

void fmx_adapt_policy_get_stats (const FmxAdaptPolicy * policy,
    FmxAdaptPolicyStats * stats);

#ifdef __cplusplus
}
#endif

#endif /* FMX_ADAPT_POLICY_H */
