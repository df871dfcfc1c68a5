/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-join.h"

#define LIFE (10 * FMX_SECOND)

static void
test_a_cookie_is_good_for_its_address_nonce_and_time (void **state)
{
  FmxJoinAddress here = address (1, 5000), other = address (1, 5001);
  FmxJoinJoin join = { 0 };
  FmxJoinGuard guard, restarted;
  Toy toy;

  (void) state;
  fmx_join_guard_init (&guard, toy_init (&toy, 1), LIFE);
  fmx_join_guard_init (&restarted, &toy.crypto, LIFE);
  for (FmxTime t = START; t < START + LIFE; t += FMX_SECOND) {
    fmx_join_guard_cookie (&guard, &here, join.nonce, join.cookie, t);
    assert_true (fmx_join_guard_cookie_is_good (&guard, &here, &join, t));
    assert_true (fmx_join_guard_cookie_is_good (&guard, &here, &join,
            t + LIFE));
    assert_false (fmx_join_guard_cookie_is_good (&guard, &here, &join,
            t + 2 * LIFE));
    assert_false (fmx_join_guard_cookie_is_good (&guard, &other, &join, t));
    assert_false (fmx_join_guard_cookie_is_good (&restarted, &here, &join, t));
    join.nonce[0]++;
    assert_false (fmx_join_guard_cookie_is_good (&guard, &here, &join, t));
  }
  /* at the beginning of time, too */
  fmx_join_guard_cookie (&guard, &here, join.nonce, join.cookie, 0);
  assert_true (fmx_join_guard_cookie_is_good (&guard, &here, &join, 0));
  assert_false (fmx_join_guard_cookie_is_good (&guard, &other, &join, 0));
}

static void
test_a_path_belongs_to_one_address_and_session (void **state)
{
  FmxJoinAddress here = address (1, 5000), other = address (2, 5000);
  FmxJoinGuard guard;
  Toy toy;

  (void) state;
  fmx_join_guard_init (&guard, toy_init (&toy, 1), LIFE);
  assert_true (fmx_join_guard_path (&guard, &here, 5) ==
      fmx_join_guard_path (&guard, &here, 5));
  assert_true (fmx_join_guard_path (&guard, &here, 5) !=
      fmx_join_guard_path (&guard, &here, 6));
  assert_true (fmx_join_guard_path (&guard, &here, 5) !=
      fmx_join_guard_path (&guard, &other, 5));
  other = here;
  other.zone = 1;
  assert_false (fmx_join_address_same (&here, &other));
  assert_true (fmx_join_guard_path (&guard, &here, 5) !=
      fmx_join_guard_path (&guard, &other, 5));
}

static void
test_a_bucket_gives_a_burst_and_then_its_rate (void **state)
{
  FmxJoinBucket bucket = { 0 };
  unsigned n = 0;

  (void) state;
  for (unsigned i = 0; i < 1000; i++)
    n += fmx_join_bucket_take (&bucket, 100, START);
  assert_int_equal (n, 100);
  for (unsigned i = 1; i <= 10000; i++)
    n += fmx_join_bucket_take (&bucket, 100, START + i * FMX_MSECOND);
  assert_in_range (n, 1099, 1101);
  assert_false (fmx_join_bucket_take (&bucket, 100, START));    /* time back */
  assert_true (fmx_join_bucket_take (&bucket, 100, 2 * START));
}

/* One host that joins without end takes nothing from most others. */
static void
test_one_host_does_not_take_the_places_of_others (void **state)
{
  FmxJoinGuard guard;
  unsigned n_others = 0;
  FmxTime now = START;
  Toy toy;

  (void) state;
  fmx_join_guard_init (&guard, toy_init (&toy, 1), LIFE);
  for (unsigned i = 0; i < 1000; i++) {
    FmxJoinAddress bad = address (77, i), good = address (100 + i, 5000);

    now += FMX_MSECOND;
    for (unsigned j = 0; j < 10; j++)
      fmx_join_guard_take_join (&guard, &bad, 100, 400, now);
    n_others += fmx_join_guard_take_join (&guard, &good, 100, 4000, now);
  }
  assert_true (n_others > 960);
}

/* ... and an IPv6 network is one host. */
static void
test_a_network_of_ipv6_is_one_host (void **state)
{
  FmxJoinAddress from = { {0x20, 1, 0xd, 0xb8}, 1, 0 };
  FmxJoinGuard guard;
  unsigned n = 0;
  Toy toy;

  (void) state;
  fmx_join_guard_init (&guard, toy_init (&toy, 1), LIFE);
  for (unsigned i = 0; i < 256; i++) {
    from.ip[15] = (uint8_t) i;
    from.ip[8] = (uint8_t) (3 * i);
    n += fmx_join_guard_take_join (&guard, &from, 50, 400, START);
  }
  assert_int_equal (n, 50);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_cookie_is_good_for_its_address_nonce_and_time),
    cmocka_unit_test (test_a_path_belongs_to_one_address_and_session),
    cmocka_unit_test (test_a_bucket_gives_a_burst_and_then_its_rate),
    cmocka_unit_test (test_one_host_does_not_take_the_places_of_others),
    cmocka_unit_test (test_a_network_of_ipv6_is_one_host),
  };

  return cmocka_run_group_tests_name ("join/guard", tests, NULL, NULL);
}
