/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-join.h"

static FmxJoinSession places[4];

static FmxJoinSessions
table_new (Toy * toy)
{
  FmxJoinSessions table;

  fmx_join_sessions_init (&table, toy_init (toy, 1), places, 4);
  for (unsigned i = 0; i < 3; i++) {
    places[i].state = i < 2 ? FMX_JOIN_JOINED : FMX_JOIN_PENDING;
    places[i].id = 10 + i;
    places[i].join.nonce[0] = (uint8_t) (20 + i);
    places[i].address = address (i, 5000);
    places[i].keys.control_to_mixer[0] = (uint8_t) i;
  }
  return table;
}

static void
test_finds_what_is_there_and_nothing_else (void **state)
{
  uint8_t nonce[FMX_JOIN_NONCE_BYTES] = { 0 };
  FmxJoinSessions table;
  Toy toy;

  (void) state;
  table = table_new (&toy);
  assert_ptr_equal (fmx_join_sessions_find_free (&table), &places[3]);
  assert_ptr_equal (fmx_join_sessions_find_id (&table, 12), &places[2]);
  assert_null (fmx_join_sessions_find_id (&table, 0));
  assert_null (fmx_join_sessions_find_nonce (&table, nonce));
  nonce[0] = 21;
  assert_ptr_equal (fmx_join_sessions_find_nonce (&table, nonce), &places[1]);
  places[3].state = FMX_JOIN_PENDING;
  assert_null (fmx_join_sessions_find_free (&table));
}

static void
test_the_oldest_of_the_most_crowded_host_goes (void **state)
{
  const FmxTime since[4] = { 40, 20, 30, 10 };
  const unsigned hosts[4] = { 7, 7, 7, 5 };
  FmxJoinSessions table;
  Toy toy;

  (void) state;
  table = table_new (&toy);
  for (unsigned i = 0; i < 4; i++) {
    places[i].state = FMX_JOIN_PENDING;
    places[i].last_heard = since[i];
    places[i].host = hosts[i];
  }
  assert_ptr_equal (fmx_join_sessions_find_crowded (&table, 1), &places[1]);
  assert_ptr_equal (fmx_join_sessions_find_crowded (&table, 5), &places[1]);
  assert_null (fmx_join_sessions_find_crowded (&table, 7));
  /* a neighbour never goes, nor is it counted */
  places[1].state = FMX_JOIN_JOINED;
  assert_ptr_equal (fmx_join_sessions_find_crowded (&table, 1), &places[2]);
  assert_null (fmx_join_sessions_find_crowded (&table, 5));
}

static void
test_who_comes_from_the_same_address_takes_its_place (void **state)
{
  FmxJoinSessions table;
  Toy toy;

  (void) state;
  table = table_new (&toy);
  assert_null (fmx_join_sessions_find_replaced (&table, &places[2]));
  places[2].address = places[1].address;
  assert_ptr_equal (fmx_join_sessions_find_replaced (&table, &places[2]),
      &places[1]);
  /* not that of somebody who is not in yet */
  places[1].state = FMX_JOIN_PENDING;
  assert_null (fmx_join_sessions_find_replaced (&table, &places[2]));
}

static void
test_a_place_is_taken_over_only_by_who_had_its_keys (void **state)
{
  FmxJoinSessions table;
  Toy toy;

  (void) state;
  table = table_new (&toy);
  places[2].join.previous = 10;
  assert_null (fmx_join_sessions_find_replaced (&table, &places[2]));
  fmx_join_resume_tag (&toy.crypto, places[1].keys.control_to_mixer,
      &places[2].join, places[2].join.resume);
  assert_null (fmx_join_sessions_find_replaced (&table, &places[2]));
  fmx_join_resume_tag (&toy.crypto, places[0].keys.control_to_mixer,
      &places[2].join, places[2].join.resume);
  assert_ptr_equal (fmx_join_sessions_find_replaced (&table, &places[2]),
      &places[0]);
}

static void
test_a_new_session_has_an_id_that_no_other_has (void **state)
{
  FmxJoinSessions table;
  Toy toy;
  uint64_t first;

  (void) state;
  table = table_new (&toy);
  first = fmx_join_sessions_new_id (&table);
  /* the same random numbers again, of which the first is taken now */
  table = table_new (&toy);
  places[0].id = first;
  assert_true (fmx_join_sessions_new_id (&table) != first);
  assert_true (first != 0);
}

static void
test_who_has_not_confirmed_leaves_earlier (void **state)
{
  FmxJoinSessions table;
  Toy toy;

  (void) state;
  table = table_new (&toy);
  for (unsigned i = 0; i < 3; i++)
    places[i].last_heard = (10 + i) * FMX_SECOND;
  assert_true (fmx_join_session_deadline (&places[1], 2 * FMX_SECOND,
          5 * FMX_SECOND) == 16 * FMX_SECOND);
  assert_true (fmx_join_session_deadline (&places[3], 2 * FMX_SECOND,
          5 * FMX_SECOND) == FMX_TIME_NONE);
  assert_true (fmx_join_sessions_next_deadline (&table, 2 * FMX_SECOND,
          5 * FMX_SECOND) == 14 * FMX_SECOND);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_finds_what_is_there_and_nothing_else),
    cmocka_unit_test (test_the_oldest_of_the_most_crowded_host_goes),
    cmocka_unit_test (test_who_comes_from_the_same_address_takes_its_place),
    cmocka_unit_test (test_a_place_is_taken_over_only_by_who_had_its_keys),
    cmocka_unit_test (test_a_new_session_has_an_id_that_no_other_has),
    cmocka_unit_test (test_who_has_not_confirmed_leaves_earlier),
  };

  return cmocka_run_group_tests_name ("join/sessions", tests, NULL, NULL);
}
