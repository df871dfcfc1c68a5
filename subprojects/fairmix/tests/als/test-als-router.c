/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>

#include "fairmix/als/fmx-als-router.h"

#define PLACES 1024
#define MS FMX_MSECOND

static FmxAgingSlot slots[PLACES];
static FmxAlsConnection connections[PLACES];

static void
begin (FmxAlsRouter *router, FmxAlsRouterRule rule)
{
  FmxAlsRouterParams params;

  fmx_als_router_params_default (&params);
  params.rule = rule;
  fmx_als_router_init (router, &params, slots, connections, PLACES, 9, 0);
}

/* Each connection sends its rate, in packets of 20 ms, until @end */
static void
flow (FmxAlsRouter *router, const double *rates_bps, int n, FmxTime from,
    FmxTime end)
{
  for (FmxTime now = from; now < end; now += 20 * MS)
    for (int i = 0; i < n; i++)
      if (rates_bps[i] > 0.0)
        fmx_als_router_on_packet (router, (uint64_t) i,
            (uint32_t) (rates_bps[i] * 0.02 / 8.0), now);
}

static void
check_share (FmxAlsRouter *router, double expected_bps, FmxTime now)
{
  assert_true (fabs (fmx_als_router_get_share_bps (router, now)
          / expected_bps - 1.0) < 0.001);
}

/* ALS 4.3: nine TCP and one of ours on 1 Mbit/s: 90 kbit/s */
static void
test_the_share_is_the_target_over_the_connections (void **state)
{
  double rates[10];
  FmxAlsRouter router;

  (void) state;
  for (int i = 0; i < 10; i++)
    rates[i] = 40000.0;
  begin (&router, FMX_ALS_ROUTER_EQUAL);
  check_share (&router, 900000.0, 0);
  flow (&router, rates, 10, 0, 1000 * MS);
  check_share (&router, 90000.0, 999 * MS);     /* newcomers count at once */
  check_share (&router, 90000.0, 1000 * MS);
  assert_true (fabs (fmx_als_router_get_utilisation (&router, 1000 * MS) - 0.4)
      < 0.001);
  flow (&router, rates, 5, 1000 * MS, 2000 * MS);
  check_share (&router, 90000.0, 1999 * MS);    /* who left counts a second */
  check_share (&router, 180000.0, 2000 * MS);
  assert_int_equal (fmx_als_router_get_n_connections (&router, 2000 * MS), 5);
}

static void
test_bytes_that_are_nobody_s_fill_the_link_and_share_nothing (void **state)
{
  const double rate = 40000.0;
  FmxAlsRouter router;

  (void) state;
  begin (&router, FMX_ALS_ROUTER_EQUAL);
  flow (&router, &rate, 1, 0, 1000 * MS);
  for (int i = 0; i < 100; i++)
    fmx_als_router_on_bytes (&router, 100, 500 * MS);
  assert_int_equal (fmx_als_router_get_n_connections (&router, 1000 * MS), 1);
  check_share (&router, 900000.0, 1000 * MS);
  assert_true (fabs (fmx_als_router_get_utilisation (&router, 1000 * MS)
          - (0.04 + 0.08)) < 0.001);
}

/* Seconds of connections that ask, from number 0 on, and of others behind them */
static void
flow_asking (FmxAlsRouter *router, const double *rates_bps, int n_asking,
    int n, int seconds, FmxTime *now)
{
  for (int s = 0; s < seconds; s++) {
    flow (router, rates_bps, n, *now, *now + FMX_SECOND);
    for (int i = 0; i < n_asking; i++)
      fmx_als_router_on_request (router, (uint64_t) i, *now + 990 * MS);
    *now += FMX_SECOND;
  }
}

static void
test_max_min_shares_out_what_the_limited_leave (void **state)
{
  const struct
  {
    double rates_bps[5];
    double share_bps;
  } table[] = {
    /* two limited elsewhere: (900 - 100 - 50) / 3 */
    {{100e3, 50e3, 250e3, 250e3, 250e3}, 250e3},
    /* nobody uses it up: as if all would */
    {{10e3, 10e3, 10e3, 10e3, 10e3}, 180e3},
    /* all at their share */
    {{180e3, 180e3, 180e3, 180e3, 180e3}, 180e3},
    /* found when they have heard that there is more: 170 is below 0.9 of 212 */
    {{50e3, 170e3, 220e3, 220e3, 220e3}, (900e3 - 220e3) / 3},
  };

  (void) state;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    FmxAlsRouter router;
    FmxTime now = 0;

    begin (&router, FMX_ALS_ROUTER_MAX_MIN);
    flow_asking (&router, table[i].rates_bps, 5, 5, 10, &now);
    check_share (&router, table[i].share_bps, now);
  }
}

/* Who has been told that there is more has the time of three answers to send it. */
static void
test_who_has_just_been_told_is_not_limited_elsewhere (void **state)
{
  const double rates[2] = { 100e3, 450e3 };
  FmxAlsRouter router;
  FmxTime now = 0;

  (void) state;
  begin (&router, FMX_ALS_ROUTER_MAX_MIN);
  flow_asking (&router, rates, 2, 2, 2, &now);
  check_share (&router, 450e3, now);
  flow_asking (&router, rates, 2, 2, 2, &now);
  check_share (&router, 800e3, now);
}

/* The link becomes twice as wide, and each is told so five times before the rates of that
 * second are known: who has not risen yet is not limited elsewhere. */
static void
test_answers_of_one_interval_are_one (void **state)
{
  const double before[3] = { 300e3, 300e3, 300e3 };
  const double after[3] = { 600e3, 600e3, 300e3 };
  FmxAlsRouter router;
  FmxTime now = 0, end;

  (void) state;
  begin (&router, FMX_ALS_ROUTER_MAX_MIN);
  flow_asking (&router, before, 3, 3, 5, &now);
  fmx_als_router_set_bandwidth (&router, 2000000);
  for (end = now + FMX_SECOND; now < end; now += 200 * MS) {
    flow (&router, after, 3, now, now + 200 * MS);
    for (uint64_t i = 0; i < 3; i++)
      fmx_als_router_on_request (&router, i, now + 190 * MS);
  }
  check_share (&router, 600e3, now);
}

/* Two of those who ask are limited by the measure of a wider link: what is left for the
 * rest is little for a second, and the paper's share holds.  That must not stay: a
 * newcomer then would let all send half as much again. */
static void
test_a_narrower_link_is_shared_with_newcomers (void **state)
{
  double rates[8] = { 0, 0, 100e3, 100e3, 300e3, 100e3, 100e3, 50e3 };
  FmxAlsRouter router;
  FmxTime now = 0;

  (void) state;
  begin (&router, FMX_ALS_ROUTER_MAX_MIN);
  for (int s = 0; s < 5; s++) {
    for (int i = 0; i < 2; i++)
      rates[i] = fmx_als_router_get_share_bps (&router, now);
    flow_asking (&router, rates, 4, 7, 1, &now);
  }
  fmx_als_router_set_bandwidth (&router, 400000);
  flow (&router, rates, 7, now, now + 20 * MS);
  check_share (&router, 0.9 * 400e3 / 7, now);
  flow (&router, rates, 8, now + 20 * MS, now + 40 * MS);
  assert_in_range (fmx_als_router_get_share_bps (&router, now + 40 * MS),
      40000, 50000);
}

/* Beside others that take what is left, as TCP does, and of which those who ask send
 * only a part of what they are told: four percent more is what TCP sends again, and what
 * keeps the losses of all small */
static void
test_beside_others_both_send_nearly_as_much (void **state)
{
  const double obedience[] = { 0.92, 1.0 };

  (void) state;
  for (int k = 0; k < 2; k++) {
    double rates[11];
    FmxAlsRouter router;
    FmxTime now = 0;

    begin (&router, FMX_ALS_ROUTER_MAX_MIN);
    for (int s = 0; s < 300; s++) {
      double share = fmx_als_router_get_share_bps (&router, now);

      for (int i = 0; i < 8; i++)
        rates[i] = obedience[k] * share;
      for (int i = 8; i < 11; i++)
        rates[i] = (1e6 - 8 * rates[0]) / 3;
      flow_asking (&router, rates, 8, 11, 1, &now);
    }
    assert_true (fabs (rates[10] / rates[0] - 1.04) < 0.02);
  }
}

/* Others that send less than their share, since they are limited elsewhere or lose too
 * much: what they leave is used until the link has just some room for them. */
static void
test_others_that_send_less_have_room_and_no_more (void **state)
{
  const double others_bps[] = { 50e3, 150e3, 50e3 };
  double rates[5];
  FmxAlsRouter router;
  FmxTime now = 0;

  (void) state;
  begin (&router, FMX_ALS_ROUTER_MAX_MIN);
  for (int k = 0; k < 3; k++) {
    for (int s = 0; s < 300; s++) {
      for (int i = 0; i < 5; i++)
        rates[i] = i < 2 ? fmx_als_router_get_share_bps (&router, now)
            : others_bps[k];
      flow_asking (&router, rates, 2, 5, 1, &now);
    }
    assert_true (fabs (2 * rates[0] + 3 * others_bps[k] - 950e3) < 20e3);
  }
}

/* Nine TCPs of unequal luck on 3 Mbit/s, which it takes in turns to be fast: on average each
 * has as much as who asks, and it is nobody's bottleneck elsewhere that some have less. */
static void
test_a_fast_one_does_not_make_the_others_limited (void **state)
{
  FmxAlsRouter router;
  FmxTime now = 0;
  double sum = 0.0;

  (void) state;
  begin (&router, FMX_ALS_ROUTER_MAX_MIN);
  fmx_als_router_set_bandwidth (&router, 3000000);
  for (int s = 0; s < 300; s++) {
    double rates[10], part;

    rates[0] = fmx_als_router_get_share_bps (&router, now);
    part = (3e6 - rates[0]) / 9.0;
    for (int i = 0; i < 9; i++)
      rates[1 + i] = part * ((s / 20 + i) % 9 < 3 ? 1.8 : 0.6);
    flow_asking (&router, rates, 1, 10, 1, &now);
    sum += s < 100 ? 0.0 : rates[0] / 200.0;
  }
  assert_true (fabs (sum / 300e3 - 0.96) < 0.05);
}

/* Nine TCPs, and one who counts for three: a quarter of what the rule gives out */
static void
test_who_counts_for_three_has_three_shares (void **state)
{
  const FmxAlsWeight weights[] = { {9, 3.0} };
  double rates[10];
  FmxAlsRouter router;

  (void) state;
  for (int i = 0; i < 10; i++)
    rates[i] = 40000.0;
  begin (&router, FMX_ALS_ROUTER_EQUAL);
  fmx_als_router_set_weights (&router, weights, 1);
  flow (&router, rates, 10, 0, 1000 * MS);
  for (FmxTime now = 999 * MS; now <= 1000 * MS; now += MS) {
    check_share (&router, 75000.0, now);
    assert_true (fabs (fmx_als_router_get_share_of_bps (&router, 9, now)
            / 225000.0 - 1.0) < 0.001);
    assert_true (fabs (fmx_als_router_get_share_of_bps (&router, 8, now)
            / 75000.0 - 1.0) < 0.001);
  }
  fmx_als_router_set_weights (&router, NULL, 0);        /* all are alike again */
  flow (&router, rates, 10, 1000 * MS, 2000 * MS);
  check_share (&router, 90000.0, 2000 * MS);
  assert_true (fabs (fmx_als_router_get_share_of_bps (&router, 9, 2000 * MS)
          / 90000.0 - 1.0) < 0.001);
}

static void
test_a_silent_link_has_room_for_all (void **state)
{
  const double rates[2] = { 1e6, 1e6 };
  FmxAlsRouter router;

  (void) state;
  begin (&router, FMX_ALS_ROUTER_EQUAL);
  flow (&router, rates, 2, 0, 1000 * MS);
  assert_true (fmx_als_router_get_utilisation (&router, 1000 * MS) > 1.9);
  check_share (&router, 900000.0, 5000 * MS);
  assert_true (fmx_als_router_get_utilisation (&router, 5000 * MS) == 0.0);
}

/* A flood of connections that send one packet each: bounded, and none is counted
 * twice. */
static void
test_a_flood_of_connections_is_counted_and_not_more (void **state)
{
  FmxAlsRouter router;

  (void) state;
  begin (&router, FMX_ALS_ROUTER_EQUAL);
  for (int round = 0; round < 3; round++)
    for (uint64_t i = 0; i < 3 * PLACES; i++)
      fmx_als_router_on_packet (&router, i, 100, 500 * MS);
  assert_in_range (fmx_als_router_get_n_connections (&router, 500 * MS),
      PLACES * 98 / 100, PLACES);
}

static unsigned
count_remembered (const FmxAlsRouter *router)
{
  unsigned n = 0;

  for (uint32_t i = router->first; i != FMX_AGING_TABLE_NONE;
      i = connections[i].next) {
    assert_true (connections[i].listed && n < PLACES);   /* no loop */
    n++;
  }
  return n;
}

static void
test_who_was_silent_for_long_is_new (void **state)
{
  const FmxTime returns = (FMX_ALS_ROUTER_REMEMBERS + 4) * FMX_SECOND;
  double rates[10];
  FmxAlsRouter router;

  (void) state;
  for (int i = 0; i < 10; i++)
    rates[i] = 40000.0;
  begin (&router, FMX_ALS_ROUTER_MAX_MIN);
  flow (&router, rates, 10, 0, 2 * FMX_SECOND);
  fmx_als_router_on_request (&router, 1, 2 * FMX_SECOND - 1);
  flow (&router, rates, 1, 2 * FMX_SECOND, returns - 3 * FMX_SECOND);
  assert_int_equal (count_remembered (&router), 10);
  flow (&router, rates, 1, returns - 3 * FMX_SECOND, returns);
  assert_int_equal (count_remembered (&router), 1);
  flow (&router, rates, 10, returns, returns + FMX_SECOND);
  assert_int_equal (count_remembered (&router), 10);
  assert_int_equal (fmx_als_router_get_n_connections (&router,
          returns + FMX_SECOND), 10);
  for (uint32_t i = router.first; i != FMX_AGING_TABLE_NONE;
      i = connections[i].next)
    assert_true (connections[i].asked == 0
        && fabsf (connections[i].mean_bps - 40000.0f) < 1.0f);
}

/* Newcomers take the places of those who sent nothing of late. */
static void
test_who_takes_a_place_is_remembered_once (void **state)
{
  FmxAlsRouter router;

  (void) state;
  begin (&router, FMX_ALS_ROUTER_MAX_MIN);
  for (uint64_t i = 0; i < 8 * PLACES; i++)
    fmx_als_router_on_packet (&router, i, 100,
        (FmxTime) (i / (PLACES / 2)) * 2 * FMX_SECOND);
  assert_true (count_remembered (&router) <= PLACES);
}

static void
test_another_bandwidth_is_shared_at_once (void **state)
{
  const double rates[2] = { 1e5, 1e5 };
  FmxAlsRouter router;

  (void) state;
  begin (&router, FMX_ALS_ROUTER_EQUAL);
  flow (&router, rates, 2, 0, 1000 * MS);
  check_share (&router, 450000.0, 1000 * MS);
  fmx_als_router_set_bandwidth (&router, 200000);
  check_share (&router, 90000.0, 1000 * MS);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_share_is_the_target_over_the_connections),
    cmocka_unit_test
        (test_bytes_that_are_nobody_s_fill_the_link_and_share_nothing),
    cmocka_unit_test (test_max_min_shares_out_what_the_limited_leave),
    cmocka_unit_test (test_who_has_just_been_told_is_not_limited_elsewhere),
    cmocka_unit_test (test_answers_of_one_interval_are_one),
    cmocka_unit_test (test_a_narrower_link_is_shared_with_newcomers),
    cmocka_unit_test (test_beside_others_both_send_nearly_as_much),
    cmocka_unit_test (test_others_that_send_less_have_room_and_no_more),
    cmocka_unit_test (test_a_fast_one_does_not_make_the_others_limited),
    cmocka_unit_test (test_who_counts_for_three_has_three_shares),
    cmocka_unit_test (test_a_silent_link_has_room_for_all),
    cmocka_unit_test (test_a_flood_of_connections_is_counted_and_not_more),
    cmocka_unit_test (test_who_was_silent_for_long_is_new),
    cmocka_unit_test (test_who_takes_a_place_is_remembered_once),
    cmocka_unit_test (test_another_bandwidth_is_shared_at_once),
  };

  return cmocka_run_group_tests_name ("als/router", tests, NULL, NULL);
}
