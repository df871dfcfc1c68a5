/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-join.h"

static Room room;
static Guest guest;

static FmxJoinMixerStats
stats (void)
{
  return mixer_stats (&room.mixer);
}

static void
test_no_more_than_max_clients_get_in (void **state)
{
  static Guest guests[MAX_CLIENTS + 1];

  (void) state;
  room_open (&room, "", 1);
  for (unsigned i = 0; i < MAX_CLIENTS; i++) {
    guest_init (&guests[i], "x", "", i, START);
    join (&room, &guests[i], START);
  }
  guest_init (&guest, "late", "", 99, START);
  run (&room, &guest, START);
  assert_int_equal (guest.last.event, FMX_JOIN_CLIENT_REFUSED);
  assert_int_equal (guest.last.reason, FMX_JOIN_REASON_FULL);
  assert_int_equal (stats ().n_sessions, MAX_CLIENTS);
  /* It tries again, and gets in when somebody has left (here: died). */
  run (&room, &guest, START + 10 * FMX_SECOND);
  assert_non_null (fmx_join_client_keys (&guest.client));
  assert_int_equal (stats ().n_timeouts, MAX_CLIENTS);
}

/* Somebody who is in and begins anew is not one more. */
static void
test_who_is_in_comes_back_into_a_full_room (void **state)
{
  static Guest guests[MAX_CLIENTS];
  uint32_t old;

  (void) state;
  room_open (&room, "", 1);
  for (unsigned i = 0; i < MAX_CLIENTS; i++) {
    guest_init (&guests[i], "x", "", i, START);
    old = join (&room, &guests[i], START);
  }
  guest_init (&guest, "x", "", MAX_CLIENTS - 1, START);
  fmx_rng_init (&guest.toy.rng, 77);
  join (&room, &guest, START);
  assert_int_equal (room.last.replaced, old);
  assert_int_equal (stats ().n_sessions, MAX_CLIENTS);
}

static void
test_who_falls_silent_is_out_after_the_timeout (void **state)
{
  FmxJoinMixerResult result;

  (void) state;
  room_open (&room, "", 1);
  guest_init (&guest, "alice", "", 1, START);
  join (&room, &guest, START);
  assert_false (fmx_join_mixer_on_timeout (&room.mixer, &result,
          START + 5 * FMX_SECOND - 1));
  assert_true (fmx_join_mixer_on_timeout (&room.mixer, &result,
          START + 5 * FMX_SECOND));
  assert_int_equal (result.event, FMX_JOIN_MIXER_LEFT);
  assert_int_equal (result.reason, FMX_JOIN_REASON_TIMEOUT);
  assert_true (fmx_join_address_same (&result.to, &guest.address));
  assert_true (fmx_join_mixer_next_timeout (&room.mixer) == FMX_TIME_NONE);
}

static void
test_answers_of_a_mixer_sent_to_a_mixer_do_nothing (void **state)
{
  FmxJoinMessage m = { 0 };
  uint8_t data[FMX_JOIN_MAX_BYTES];

  (void) state;
  room_open (&room, "", 1);
  guest_init (&guest, "alice", "", 1, START);
  for (m.type = FMX_JOIN_HELLO; m.type <= FMX_JOIN_BYE; m.type++)
    if (m.type == FMX_JOIN_COOKIE || m.type == FMX_JOIN_ACCEPT
        || m.type == FMX_JOIN_REFUSE || m.type == FMX_JOIN_PONG)
      assert_int_equal (room_hear (&room, &guest.address, data,
              fmx_join_message_write (&m, data), START)->size, 0);
  assert_int_equal (stats ().n_unexpected, 4);
}

/* Packets are lost both ways, one in three: it still works. */
static void
test_joins_over_a_path_that_loses_a_third (void **state)
{
  unsigned n_joined = 0;

  (void) state;
  for (unsigned seed = 0; seed < 200; seed++) {
    FmxTime now = START;
    FmxRng rng;

    fmx_rng_init (&rng, seed);
    room_open (&room, "sesame", 1);
    guest_init (&guest, "alice", "sesame", seed, START);
    while ((now = fmx_join_client_next_timeout (&guest.client))
        < START + 5 * FMX_SECOND) {
      FmxJoinClientResult mine;
      FmxJoinMixerResult theirs;

      fmx_join_client_on_timeout (&guest.client, &mine, now);
      while (mine.size > 0 && fmx_rng_next_unit (&rng) > 0.33) {
        theirs = *room_hear (&room, &guest.address, mine.data, mine.size, now);
        if (theirs.size == 0 || fmx_rng_next_unit (&rng) < 0.33)
          break;
        fmx_join_client_on_datagram (&guest.client, theirs.data, theirs.size,
            &mine, now);
      }
    }
    n_joined += stats ().n_sessions == 1;
  }
  assert_in_range (n_joined, 198, 200);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_no_more_than_max_clients_get_in),
    cmocka_unit_test (test_who_is_in_comes_back_into_a_full_room),
    cmocka_unit_test (test_who_falls_silent_is_out_after_the_timeout),
    cmocka_unit_test (test_answers_of_a_mixer_sent_to_a_mixer_do_nothing),
    cmocka_unit_test (test_joins_over_a_path_that_loses_a_third),
  };

  return cmocka_run_group_tests_name ("join/mixer", tests, NULL, NULL);
}
