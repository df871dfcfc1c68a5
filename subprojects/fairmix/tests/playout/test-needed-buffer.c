/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>

#include "fairmix/adapt/fmx-adapt-policy.h"
#include "fairmix/base/fmx-aimd.h"
#include "fairmix/playout/fmx-needed-buffer.h"
#include "fairmix/rate/fmx-pacer.h"

#define MS FMX_MSECOND
#define MSS 200.0
#define RTT (80 * MS)

/* A rate that backs off whenever it would go above @top_bps, and grows by alpha MSS
 * a round-trip time: a little each time that it is asked, or once a round trip */
typedef struct
{
  double alpha, beta, top_bps;
  bool in_steps;
  double bps;
  FmxTime grown;
} Aimd;

static Aimd
aimd (double beta, double top_bps, bool in_steps)
{
  Aimd flow = {.alpha = fmx_aimd_fair_alpha (beta),.beta = beta,
    .top_bps = top_bps,.in_steps = in_steps,.bps = top_bps
  };

  return flow;
}

static double
aimd_bps (Aimd *flow, FmxTime now)
{
  FmxDuration since = fmx_time_diff (now, flow->grown);

  if (flow->in_steps && since < RTT)
    return flow->bps;
  flow->bps += flow->alpha * MSS * 8.0 / fmx_time_to_s (RTT)
      * (double) since / (double) RTT;
  flow->grown = now;
  if (flow->bps > flow->top_bps)
    flow->bps = flow->beta * flow->top_bps;
  return flow->bps;
}

static void
run (FmxNeededBuffer *needed, Aimd *flow, FmxDuration duration)
{
  fmx_needed_buffer_init (needed);
  for (FmxTime now = 0; now < (FmxTime) duration; now += MS)
    fmx_needed_buffer_on_rate (needed, aimd_bps (flow, now), RTT, now);
}

static const double betas[] = { 1.0 / 2.0, 4.0 / 5.0, 7.0 / 8.0 };

/* [Li01 3.2] with the (alpha, beta) that nobody told it */
static void
test_the_formulas_come_from_the_saw_tooth_alone (void **state)
{
  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (betas); i++) {
    Aimd flow = aimd (betas[i], 600e3, false);
    FmxMinimalBufferParams p = {.alpha = flow.alpha,.beta = flow.beta,
      .mss_bytes = (uint32_t) MSS,.rtt = RTT
    };
    double Bps = 600e3 * (1.0 + flow.beta) / 2.0 / 8.0;
    FmxNeededBufferStats stats;
    FmxNeededBuffer needed;

    run (&needed, &flow, 60 * FMX_SECOND);
    fmx_needed_buffer_get_stats (&needed, &stats);
    assert_true (stats.n_sawteeth > 5);
    assert_true (fabs (stats.beta / flow.beta - 1.0) < 0.01);
    assert_true (fabs (stats.rate_bps / (8.0 * Bps) - 1.0) < 0.01);
    assert_true (fabs (stats.bytes / fmx_minimal_buffer_bytes (&p, Bps)
            - 1.0) < 0.03);
    assert_true (fabs (stats.discrete_bytes
            / fmx_minimal_buffer_bytes_discrete (&p, Bps) - 1.0) < 0.03);
    assert_true (fabs (stats.two_backoffs_bytes
            / fmx_minimal_buffer_bytes_two_backoffs (&p, Bps) - 1.0) < 0.03);
    assert_true (fabs (fmx_time_to_s (fmx_needed_buffer_delay (&needed, 1))
            * Bps / stats.discrete_bytes - 1.0) < 0.03);
    assert_true (fmx_needed_buffer_delay (&needed, 2)
        > fmx_needed_buffer_delay (&needed, 1));
    assert_int_equal (fmx_needed_buffer_delay (&needed, 0), 0);
  }
}

/* Media at what the policy says wait in the sender's buffer: never longer than
 * the receiver is told, once there have been a few saw-teeth.  Returns: the longest
 * wait; @told: what it is to compare with */
static FmxDuration
longest_wait (Aimd *flow, const char *policy_name, FmxDuration *told)
{
  FmxDuration longest = 0;
  FmxAdaptPolicyParams params;
  FmxNeededBuffer needed;
  FmxAdaptPolicy policy;
  double media = 0.0;
  FmxPacer pacer;

  fmx_adapt_policy_params_default (&params);
  params.klass = fmx_adapt_policy_find (policy_name);
  fmx_adapt_policy_init (&policy, &params);
  fmx_needed_buffer_init (&needed);
  fmx_pacer_init (&pacer, 0);
  for (FmxTime now = 0; now < 120 * FMX_SECOND; now += MS) {
    double bps = aimd_bps (flow, now);

    fmx_needed_buffer_on_rate (&needed, bps, RTT, now);
    fmx_pacer_set_rate (&pacer, (uint64_t) bps, now);
    fmx_adapt_policy_set_backlog (&policy, fmx_pacer_queued_bytes (&pacer));
    media += (double) fmx_adapt_policy_on_rate (&policy, (uint64_t) bps, now)
        / 8e3;
    for (; media >= MSS; media -= MSS)
      fmx_pacer_on_queued (&pacer, (uint32_t) MSS);
    if (now > 60 * FMX_SECOND && fmx_pacer_delay (&pacer, now) > longest)
      longest = fmx_pacer_delay (&pacer, now);
    while (fmx_pacer_queued_bytes (&pacer) > 0 && fmx_pacer_due (&pacer) <= now) {
      fmx_pacer_on_unqueued (&pacer, (uint32_t) MSS);
      fmx_pacer_on_sent (&pacer, (uint32_t) MSS, now);
    }
  }
  *told = fmx_needed_buffer_delay (&needed, params.klass->n_backoffs);
  return longest;
}

static void
test_media_of_the_mean_rate_wait_as_long_as_is_told (void **state)
{
  (void) state;
  for (size_t i = 0; i < 2 * N_ELEMENTS (betas); i++) {
    Aimd flow = aimd (betas[i / 2], 600e3, i % 2 == 1);
    FmxDuration told, longest = longest_wait (&flow, "average", &told);

    assert_true (longest <= told + 12 * MS);
    assert_true (longest >= 8 * told / 10);
  }
}

static void
test_media_below_the_rate_need_no_buffer (void **state)
{
  static const char *const policies[] = { "aggressive", "conservative" };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (policies); i++) {
    Aimd flow = aimd (0.5, 600e3, false);
    FmxDuration told, longest = longest_wait (&flow, policies[i], &told);

    assert_int_equal (told, 0);
    assert_true (longest <= 10 * MS);
  }
}

/* Neither a rate that wanders by less than a back-off, nor one that falls in steps, nor
 * a pause makes a saw-tooth. */
static void
test_only_a_back_off_ends_a_saw_tooth (void **state)
{
  static const double rates[] = { 100e3, 120e3, 117e3, 125e3, 100e3, 80e3, 70e3,
    90e3, 0.0, 50e3, 100e3, 50e3
  };
  FmxNeededBufferStats stats;
  FmxNeededBuffer needed;

  (void) state;
  fmx_needed_buffer_init (&needed);
  for (size_t i = 0; i < N_ELEMENTS (rates); i++)
    fmx_needed_buffer_on_rate (&needed, rates[i], RTT,
        (FmxTime) (i * FMX_SECOND));
  fmx_needed_buffer_get_stats (&needed, &stats);
  assert_int_equal (stats.n_sawteeth, 0);
  fmx_needed_buffer_on_rate (&needed, 90e3, RTT, 12 * FMX_SECOND);
  fmx_needed_buffer_on_rate (&needed, 45e3, RTT, 13 * FMX_SECOND);
  fmx_needed_buffer_get_stats (&needed, &stats);
  assert_int_equal (stats.n_sawteeth, 1);
  assert_true (fabs (stats.beta - 5.0 / 9.0) < 1e-9);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_formulas_come_from_the_saw_tooth_alone),
    cmocka_unit_test (test_media_of_the_mean_rate_wait_as_long_as_is_told),
    cmocka_unit_test (test_media_below_the_rate_need_no_buffer),
    cmocka_unit_test (test_only_a_back_off_ends_a_saw_tooth),
  };

  return cmocka_run_group_tests_name ("playout/needed-buffer", tests, NULL,
      NULL);
}
