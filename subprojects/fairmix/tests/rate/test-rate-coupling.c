/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <stdbool.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/rate/fmx-rate-coupling.h"

#define N 4u
#define PLENTY 1e9

typedef struct
{
  FmxRateCoupling coupling;
  FmxCoupledFlow flows[N];
  FmxCoupledGroup groups[N];
} World;

static double
rate (const World *w, uint32_t flow)
{
  return fmx_rate_coupling_rate (&w->coupling, flow);
}

static void
begin (World *w, bool conservative)
{
  fmx_rate_coupling_init (&w->coupling, w->flows, w->groups, N, conservative);
  for (uint32_t i = 0; i < N; i++)
    fmx_rate_coupling_add (&w->coupling, i, 0, 1 << i, 100e3);
}

/* [RFC8699 5.2] "flow 1 will be assigned 1/3 of the aggregate sending rate" */
static void
test_the_sum_is_shared_out_by_priority (void **state)
{
  World w;

  (void) state;
  begin (&w, false);
  fmx_rate_coupling_update (&w.coupling, 0, 100e3, PLENTY, 0, 0);
  for (uint32_t i = 1; i < N; i++)
    fmx_rate_coupling_update (&w.coupling, i, rate (&w, i), PLENTY, 0, 0);
  for (uint32_t i = 0; i < N; i++)
    assert_float_equal (rate (&w, i), 400e3 * (1 << i) / 15, 1e-3);
  fmx_rate_coupling_update (&w.coupling, 2, rate (&w, 2) + 50e3, PLENTY, 0, 0);
  for (uint32_t i = 0; i < N; i++)
    assert_float_equal (rate (&w, i), 450e3 * (1 << i) / 15, 1e-3);
}

static void
test_what_one_does_not_want_goes_to_the_others (void **state)
{
  World w;

  (void) state;
  begin (&w, false);
  for (uint32_t i = 0; i < N; i++)
    fmx_rate_coupling_update (&w.coupling, i, i == 0 ? 100e3 : rate (&w, i),
        i == 3 ? 50e3 : PLENTY, 0, 0);
  assert_float_equal (rate (&w, 3), 50e3, 1e-3);
  assert_float_equal (rate (&w, 0), 350e3 / 7, 1e-3);
  assert_float_equal (rate (&w, 1), 700e3 / 7, 1e-3);
  assert_float_equal (rate (&w, 2), 1400e3 / 7, 1e-3);
}

/* Else a fall would be made good at once from what was left over. */
static void
test_the_rates_always_add_up (void **state)
{
  World w;

  (void) state;
  begin (&w, false);
  for (uint32_t i = 0; i < N; i++)
    fmx_rate_coupling_note (&w.coupling, i, 100e3, 0.0, 50e3);
  fmx_rate_coupling_share_out (&w.coupling, 0);
  for (uint32_t i = 0; i < N; i++)
    assert_float_equal (rate (&w, i), 50e3 + 200e3 * (1 << i) / 15, 1e-3);
  fmx_rate_coupling_note (&w.coupling, 3, 0.5 * rate (&w, 3), 0.0, 50e3);
  fmx_rate_coupling_share_out (&w.coupling, 0);
  assert_float_equal (rate (&w, 0) + rate (&w, 1) + rate (&w, 2) + rate (&w, 3),
      400e3 - 0.5 * (50e3 + 200e3 * 8 / 15), 1e-3);
}

static void
test_each_keeps_its_least (void **state)
{
  World w;

  (void) state;
  begin (&w, false);
  for (uint32_t i = 0; i < N; i++)
    fmx_rate_coupling_note (&w.coupling, i, 100e3, 40e3, PLENTY);
  fmx_rate_coupling_share_out (&w.coupling, 0);
  assert_float_equal (rate (&w, 0), 40e3, 1e-3);
  assert_float_equal (rate (&w, 3), 360e3 * 8 / 14, 1e-3);
  for (uint32_t i = 0; i < N; i++)
    fmx_rate_coupling_note (&w.coupling, i, 1e3, 40e3, PLENTY);
  fmx_rate_coupling_share_out (&w.coupling, 0);
  for (uint32_t i = 0; i < N; i++)
    assert_float_equal (rate (&w, i), 40e3, 1e-3);
}

static void
test_groups_and_those_who_left_do_not_count (void **state)
{
  World w;

  (void) state;
  begin (&w, false);
  for (uint32_t i = 0; i < N; i++)
    fmx_rate_coupling_add (&w.coupling, i, i / 2, 1.0, 0.0);
  fmx_rate_coupling_update (&w.coupling, 0, 300e3, PLENTY, 0, 0);
  fmx_rate_coupling_update (&w.coupling, 1, rate (&w, 1), PLENTY, 0, 0);
  assert_float_equal (rate (&w, 0), 200e3, 1e-3);
  assert_float_equal (rate (&w, 1), 200e3, 1e-3);
  assert_float_equal (rate (&w, 2), 100e3, 1e-3);
  fmx_rate_coupling_remove (&w.coupling, 1);
  fmx_rate_coupling_update (&w.coupling, 0, rate (&w, 0), PLENTY, 0, 0);
  assert_float_equal (rate (&w, 0), 200e3, 1e-3);
}

/* [RFC8699 5.3.2] "Reduce S_CR proportionally", "Set Timer for 2 RTTs" */
static void
test_conservative_is_as_one_flow_on_congestion (void **state)
{
  FmxDuration rtt = 100 * FMX_MSECOND;
  World w;

  (void) state;
  begin (&w, true);
  for (uint32_t i = 0; i < N; i++)
    fmx_rate_coupling_update (&w.coupling, i, i == 0 ? 100e3 : rate (&w, i),
        PLENTY, rtt, 0);
  fmx_rate_coupling_update (&w.coupling, 1, 0.5 * rate (&w, 1), PLENTY, rtt, 1);
  assert_float_equal (rate (&w, 3), 200e3 * 8 / 15, 1e-3);
  fmx_rate_coupling_update (&w.coupling, 2, 0.5 * rate (&w, 2), PLENTY, rtt,
      (FmxTime) rtt);
  assert_float_equal (rate (&w, 3), 200e3 * 8 / 15, 1e-3);
  fmx_rate_coupling_update (&w.coupling, 2, 0.5 * rate (&w, 2), PLENTY, rtt,
      2 * (FmxTime) rtt + 2);
  assert_float_equal (rate (&w, 3), 100e3 * 8 / 15, 1e-3);
}

/* Each climbs by itself and falls by half when the link is full, at random who
 * notices. Returns: Jain's index of what they had in the mean, by weights */
static double
compete (bool coupled, bool conservative, uint64_t seed)
{
  double own[N], sum[N] = { 0 }, all = 0.0, squares = 0.0;
  FmxRng rng;
  World w;

  begin (&w, conservative);
  fmx_rng_init (&rng, seed);
  for (uint32_t i = 0; i < N; i++)
    own[i] = 100e3;
  for (FmxTime t = 0; t < 300 * (FmxTime) FMX_SECOND;
      t += 100 * (FmxTime) FMX_MSECOND) {
    uint32_t i = fmx_rng_next (&rng) % N;
    double total = 0.0, now;

    for (uint32_t j = 0; j < N; j++)
      total += coupled ? rate (&w, j) : own[j];
    now = coupled ? rate (&w, i) : own[i];
    own[i] = total > 1e6 ? 0.5 * now : now + 8e3 * (1 + i % 2);
    fmx_rate_coupling_update (&w.coupling, i, own[i], PLENTY,
        50 * FMX_MSECOND, t);
    for (uint32_t j = 0; j < N; j++)
      sum[j] += coupled ? rate (&w, j) : own[j];
  }
  for (uint32_t i = 0; i < N; i++) {
    double share = sum[i] / (1 << i);

    all += share;
    squares += share * share;
  }
  return all * all / (N * squares);
}

static void
test_jain_by_weights_is_one_where_competition_is_not (void **state)
{
  (void) state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    assert_true (compete (false, false, seed) < 0.8);
    assert_true (compete (true, false, seed) >= 0.98);
    assert_true (compete (true, true, seed) >= 0.98);
  }
}

/* Who is told at once to have what another gave up gives that up, too. */
static void
test_a_flow_goes_to_its_share_by_parts (void **state)
{
  double bps[N] = { 20e3, 100e3, 100e3, 100e3 }, sum = 0.0;
  World w;

  (void) state;
  begin (&w, false);
  for (unsigned round = 0; round < 20; round++) {
    for (uint32_t i = 0; i < N; i++)
      fmx_rate_coupling_note (&w.coupling, i, bps[i], 0.0, PLENTY);
    fmx_rate_coupling_share_out (&w.coupling, 0);
    sum = 0.0;
    for (uint32_t i = 0; i < N; i++) {
      double next = fmx_rate_coupling_next (&w.coupling, i, bps[i]);

      assert_float_equal (next - bps[i], FMX_RATE_COUPLING_PART
          * (rate (&w, i) - bps[i]), 0.1);
      sum += bps[i] = next;
    }
    assert_float_equal (sum, 320e3, 1.0);
  }
  for (uint32_t i = 0; i < N; i++)
    assert_float_equal (bps[i], 320e3 * (1 << i) / 15, 10.0);
}

static void
test_a_share_is_of_an_equal_part (void **state)
{
  World w;

  (void) state;
  begin (&w, false);
  for (uint32_t i = 0; i < N; i++)
    assert_float_equal (fmx_rate_coupling_share (&w.coupling, i),
        4.0 * (1 << i) / 15, 1e-9);
  fmx_rate_coupling_remove (&w.coupling, 3);
  assert_float_equal (fmx_rate_coupling_share (&w.coupling, 1), 6.0 / 7, 1e-9);
}

static void
drains (World *w, uint64_t first, uint64_t others)
{
  for (uint32_t i = 0; i < N; i++)
    fmx_rate_coupling_note_drains (&w->coupling, i, i == 0 ? first : others);
}

static void
test_who_shares_a_queue_gives_way_with_the_others (void **state)
{
  World w;

  (void) state;
  begin (&w, false);
  drains (&w, 7, 3);            /* before they were coupled */
  for (uint32_t i = 0; i < N; i++)
    assert_false (fmx_rate_coupling_drains_too (&w.coupling, i));
  fmx_rate_coupling_add (&w.coupling, 3, 1, 1.0, 0.0);
  drains (&w, 8, 3);
  for (uint32_t i = 0; i < N; i++)
    assert_int_equal (fmx_rate_coupling_drains_too (&w.coupling, i),
        i == 1 || i == 2);
  drains (&w, 8, 3);
  for (uint32_t i = 0; i < N; i++)
    assert_false (fmx_rate_coupling_drains_too (&w.coupling, i));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_sum_is_shared_out_by_priority),
    cmocka_unit_test (test_what_one_does_not_want_goes_to_the_others),
    cmocka_unit_test (test_the_rates_always_add_up),
    cmocka_unit_test (test_a_flow_goes_to_its_share_by_parts),
    cmocka_unit_test (test_a_share_is_of_an_equal_part),
    cmocka_unit_test (test_who_shares_a_queue_gives_way_with_the_others),
    cmocka_unit_test (test_each_keeps_its_least),
    cmocka_unit_test (test_groups_and_those_who_left_do_not_count),
    cmocka_unit_test (test_conservative_is_as_one_flow_on_congestion),
    cmocka_unit_test (test_jain_by_weights_is_one_where_competition_is_not),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
