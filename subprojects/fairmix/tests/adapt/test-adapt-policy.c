/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>
#include <stdbool.h>

#include "fairmix/adapt/fmx-adapt-policy.h"

static FmxAdaptPolicyStats
policy_stats (const FmxAdaptPolicy *object)
{
  FmxAdaptPolicyStats stats;

  fmx_adapt_policy_get_stats (object, &stats);
  return stats;
}

/* The paper's section 4.1: AIMD(1, 1/2) with packets of 256 bytes and a
 * round-trip time of 80 ms has what a CBR flow leaves of 1 Mbit/s: 600 kbit/s,
 * and 400 kbit/s for ten seconds.  Layers of 50 kbit/s from 100 kbit/s on. */
#define RTT (80 * FMX_MSECOND)
#define PACKET_BITS (256 * 8)
#define LAYER_BPS 50000u
#define LEAST_BPS 100000u

typedef struct
{
  double efficiency;            /* media per transmission */
  unsigned n_changes;           /* of the number of layers */
  double buffer_bytes;
  FmxAdaptPolicyStats stats;
} Result;

static uint64_t
whole_layers (uint64_t bps)
{
  bps -= bps % LAYER_BPS;
  return bps < LEAST_BPS ? LEAST_BPS : bps;
}

static FmxAdaptPolicy
make_policy (const char *name)
{
  FmxAdaptPolicyParams params;
  FmxAdaptPolicy policy;

  fmx_adapt_policy_params_default (&params);
  params.klass = fmx_adapt_policy_find (name);
  assert_non_null (params.klass);
  params.max_delay = 60 * FMX_SECOND;
  fmx_adapt_policy_init (&policy, &params);
  return policy;
}

/* A minute to settle, then a minute that counts with the burst in it. */
static Result
run_table_4_1 (const char *name)
{
  FmxAdaptPolicy policy = make_policy (name);
  Result result = { 0 };
  double window = 12 * PACKET_BITS, sent = 0.0, played = 0.0, backlog = 0.0;
  double rtt_s = fmx_time_to_s (RTT);
  uint64_t media = 0;

  for (FmxTime now = 0; now < 120 * (FmxTime) FMX_SECOND; now += RTT) {
    bool counts = now > 60 * (FmxTime) FMX_SECOND;
    bool burst = now > 80 * (FmxTime) FMX_SECOND
        && now < 90 * (FmxTime) FMX_SECOND;
    double available = burst ? 400e3 : 600e3;
    double rate;
    uint64_t was = media;

    window += PACKET_BITS;
    if (window / rtt_s > available)
      window /= 2.0;
    rate = window / rtt_s;
    media = whole_layers (fmx_adapt_policy_on_rate (&policy,
            (uint64_t) rate, now));
    if (!counts)
      continue;
    result.n_changes += media != was;
    sent += rate * rtt_s;
    played += (double) media *rtt_s;
    backlog = fmax (backlog + ((double) media - rate) * rtt_s, 0.0);
    result.buffer_bytes = fmax (result.buffer_bytes, backlog / 8.0);
  }
  result.efficiency = played / sent;
  result.stats = policy_stats (&policy);
  return result;
}

static void
assert_within (double value, double low, double high, const char *what)
{
  if (!(value >= low && value <= high))
    fail_msg ("%s: %g, not in %g ... %g", what, value, low, high);
}

/* Table 4.1: 0 bytes, 92 %, 105 changes */
static void
test_aggressive_uses_all_needs_no_buffer_and_jumps (void **state)
{
  Result result = run_table_4_1 ("aggressive");

  (void) state;
  assert_within (result.buffer_bytes, 0.0, 0.0, "buffer, bytes");
  assert_within (result.efficiency, 0.90, 0.96, "efficiency");
  assert_within (result.n_changes, 100, 400, "changes");
}

/* Table 4.1: 0 bytes, 58 %, 5 changes */
static void
test_conservative_needs_no_buffer_and_seldom_changes (void **state)
{
  Result result = run_table_4_1 ("conservative");

  (void) state;
  assert_within (result.buffer_bytes, 0.0, 0.0, "buffer, bytes");
  assert_within (result.efficiency, 0.50, 0.70, "efficiency");
  assert_within (result.n_changes, 2, 10, "changes");
}

/* Table 4.1: more than 300,000 bytes, 92 %, no change.  Our burst takes
 * ten seconds of some 150 kbit/s: 190,000 bytes, less the layer's remainder. */
static void
test_lazy_does_not_change_and_needs_seconds_of_buffer (void **state)
{
  Result result = run_table_4_1 ("lazy");

  (void) state;
  assert_within (result.buffer_bytes, 100e3, 400e3, "buffer, bytes");
  assert_within (result.efficiency, 0.85, 1.0, "efficiency");
  assert_within (result.n_changes, 0, 1, "changes");
}

/* Table 4.1, ideal: 7,800 bytes, 92 %, 5 changes.  Whole layers leave a part of
 * the rate unused, so that ours needs less; it learns of the burst
 * one saw-tooth late. */
static void
test_average_is_near_the_ideal (void **state)
{
  Result result = run_table_4_1 ("average");

  (void) state;
  assert_within (result.buffer_bytes, 2e3, 20e3, "buffer, bytes");
  assert_within (result.efficiency, 0.85, 0.97, "efficiency");
  assert_within (result.n_changes, 2, 20, "changes");
}

static void
test_a_steady_rate_is_followed_by_every_policy (void **state)
{
  (void) state;
  for (size_t i = 0; fmx_adapt_policy_classes[i] != NULL; i++) {
    FmxAdaptPolicy policy = make_policy (fmx_adapt_policy_classes[i]->name);
    uint64_t media = 0;

    for (FmxTime now = 0; now < 100 * (FmxTime) FMX_SECOND; now += RTT)
      media = fmx_adapt_policy_on_rate (&policy, 256000, now);
    assert_within ((double) media, 255999, 256000, policy.params.klass->name);
    assert_true (policy.stats.backlog_max_bits == 0.0);
  }
}

/* Without losses there are no back-offs, and the rate rises all the same. */
static void
test_no_policy_waits_for_a_backoff_for_ever (void **state)
{
  (void) state;
  for (size_t i = 0; fmx_adapt_policy_classes[i] != NULL; i++) {
    FmxAdaptPolicy policy = make_policy (fmx_adapt_policy_classes[i]->name);
    uint64_t media = 0;

    for (FmxTime now = 0; now < 200 * (FmxTime) FMX_SECOND; now += RTT)
      media = fmx_adapt_policy_on_rate (&policy,
          now < FMX_SECOND ? 100000 : 500000, now);
    assert_within ((double) media, 450000, 500000, policy.params.klass->name);
  }
}

static void
test_rate_0_stops_every_policy_at_once_and_forgets_the_past (void **state)
{
  (void) state;
  for (size_t i = 0; fmx_adapt_policy_classes[i] != NULL; i++) {
    FmxAdaptPolicy policy = make_policy (fmx_adapt_policy_classes[i]->name);
    FmxTime now = 0;

    for (; now < 20 * (FmxTime) FMX_SECOND; now += RTT)
      fmx_adapt_policy_on_rate (&policy, 600000, now);
    assert_int_equal (fmx_adapt_policy_on_rate (&policy, 0, now), 0);
    now += FMX_SECOND;
    assert_int_equal (fmx_adapt_policy_on_rate (&policy, 50000, now), 50000);
  }
}

static void
test_media_never_runs_ahead_by_much_more_than_the_delay_allowed (void **state)
{
  FmxAdaptPolicyParams params;
  FmxAdaptPolicy policy;
  FmxTime now = 0;

  (void) state;
  fmx_adapt_policy_params_default (&params);
  params.klass = &fmx_adapt_policy_lazy;
  params.max_delay = FMX_SECOND;
  fmx_adapt_policy_init (&policy, &params);
  for (; now < 60 * (FmxTime) FMX_SECOND; now += RTT)
    fmx_adapt_policy_on_rate (&policy, 600000, now);
  for (; now < 70 * (FmxTime) FMX_SECOND; now += RTT)
    fmx_adapt_policy_on_rate (&policy, 100000, now);
  assert_int_equal (policy.stats.n_catch_up, 1);
  assert_true (policy.stats.backlog_max_bits
      <= 600000 * (1.0 + fmx_time_to_s (RTT)));
}

static void
test_a_policy_kept_within_never_exceeds_the_transmission (void **state)
{
  (void) state;
  for (size_t i = 0; fmx_adapt_policy_classes[i] != NULL; i++) {
    FmxAdaptPolicyParams params;
    FmxAdaptPolicy policy;
    uint64_t sum = 0;

    fmx_adapt_policy_params_default (&params);
    params.klass = fmx_adapt_policy_classes[i];
    params.within = true;
    fmx_adapt_policy_init (&policy, &params);
    for (unsigned t = 0; t < 3000; t++) {
      uint64_t bps = 300000 + t % 100 * 3000;   /* saw-teeth of 10 s */
      uint64_t media = fmx_adapt_policy_on_rate (&policy, bps,
          t * (FmxTime) (100 * FMX_MSECOND));

      assert_true (media <= bps);
      sum += media;
    }
    assert_true (policy_stats (&policy).backlog_max_bits < 1.0);
    assert_true (sum / 3000 > 250000);
  }
}

/* What a slow start left counts as ten seconds, not for a minute. */
static void
test_lazy_knows_the_average_before_its_memory_is_full (void **state)
{
  FmxAdaptPolicy policy = make_policy ("lazy");
  uint64_t media = 0;
  FmxTime now = 0;

  (void) state;
  for (; now < 5 * (FmxTime) FMX_SECOND; now += RTT)
    fmx_adapt_policy_on_rate (&policy, 100000, now);
  fmx_adapt_policy_on_rate (&policy, 50000, now);
  for (unsigned t = 0; t < 400; t++, now += 100 * (FmxTime) FMX_MSECOND)
    media = fmx_adapt_policy_on_rate (&policy, 250000 + t % 20 * 21000, now);
  assert_within ((double) media, 0.75 * 450e3, 450e3, "bit/s");
}

/* A congestion control that never grows beyond twice of what it sees arrive, up to its
 * first back-off at 300 kbit/s. */
static void
test_no_policy_holds_the_rate_back_before_the_first_back_off (void **state)
{
  (void) state;
  for (size_t i = 0; fmx_adapt_policy_classes[i] != NULL; i++) {
    FmxAdaptPolicy policy = make_policy (fmx_adapt_policy_classes[i]->name);
    double rate = 80e3;
    uint64_t media = 0;

    for (FmxTime now = 0; now < 5 * (FmxTime) FMX_SECOND; now += RTT) {
      media = fmx_adapt_policy_on_rate (&policy, (uint64_t) rate, now);
      rate = rate > 300e3 ? 150e3 : fmin (rate + 20e3, 2.0 * (double) media);
    }
    assert_true (policy.stats.n_sawteeth > 0);
    assert_within ((double) media, 100e3, 320e3, policy.params.klass->name);
  }
}

/* 250 ms of media at the sender are what the last guess was wrong by, whatever the
 * rates say. */
static void
test_what_waits_at_the_sender_is_paid_back (void **state)
{
  uint64_t media[2] = { 0, 0 };

  (void) state;
  for (unsigned k = 0; k < 2; k++) {
    FmxAdaptPolicy policy = make_policy ("average");

    for (unsigned t = 0; t < 300; t++) {
      fmx_adapt_policy_set_backlog (&policy, k * 225000 / 8 / 4);
      media[k] = fmx_adapt_policy_on_rate (&policy, 150000 + t % 50 * 3000,
          t * (FmxTime) (20 * FMX_MSECOND));
    }
  }
  assert_within ((double) media[0], 215e3, 235e3, "without");
  assert_within ((double) media[1], 0.7 * (double) media[0],
      0.8 * (double) media[0], "with a backlog");
}

static void
test_there_is_no_policy_without_a_name (void **state)
{
  (void) state;
  assert_null (fmx_adapt_policy_find ("ideal"));
  assert_null (fmx_adapt_policy_find (""));
  assert_ptr_equal (fmx_adapt_policy_find ("lazy"), &fmx_adapt_policy_lazy);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_aggressive_uses_all_needs_no_buffer_and_jumps),
    cmocka_unit_test (test_conservative_needs_no_buffer_and_seldom_changes),
    cmocka_unit_test (test_lazy_does_not_change_and_needs_seconds_of_buffer),
    cmocka_unit_test (test_average_is_near_the_ideal),
    cmocka_unit_test (test_a_steady_rate_is_followed_by_every_policy),
    cmocka_unit_test (test_no_policy_waits_for_a_backoff_for_ever),
    cmocka_unit_test
        (test_rate_0_stops_every_policy_at_once_and_forgets_the_past),
    cmocka_unit_test
        (test_media_never_runs_ahead_by_much_more_than_the_delay_allowed),
    cmocka_unit_test (test_a_policy_kept_within_never_exceeds_the_transmission),
    cmocka_unit_test (test_lazy_knows_the_average_before_its_memory_is_full),
    cmocka_unit_test
        (test_no_policy_holds_the_rate_back_before_the_first_back_off),
    cmocka_unit_test (test_what_waits_at_the_sender_is_paid_back),
    cmocka_unit_test (test_there_is_no_policy_without_a_name),
  };

  return cmocka_run_group_tests_name ("adapt/policy", tests, NULL, NULL);
}
