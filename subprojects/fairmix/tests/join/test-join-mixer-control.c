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
test_a_forged_or_repeated_bye_is_not_believed (void **state)
{
  FmxJoinClientResult bye;
  Guest copy;

  (void) state;
  room_open (&room, "", 1);
  guest_init (&guest, "alice", "", 1, START);
  join (&room, &guest, START);
  copy = guest;
  fmx_join_client_leave (&copy.client, &bye);
  for (size_t i = 16; i < bye.size; i++) {      /* all but the session */
    bye.data[i] ^= 1;
    room_hear (&room, &guest.address, bye.data, bye.size, START);
    bye.data[i] ^= 1;
  }
  assert_int_equal (stats ().n_forged, bye.size - 16);
  bye.data[8] ^= 1;
  room_hear (&room, &guest.address, bye.data, bye.size, START);
  bye.data[8] ^= 1;
  assert_int_equal (stats ().n_unknown, 1);
  /* genuine, but of a time before: the guest has gone on */
  run (&room, &guest, START + 3 * FMX_SECOND);
  room_hear (&room, &guest.address, bye.data, bye.size, START);
  assert_int_equal (stats ().n_replayed, 1);
  assert_int_equal (stats ().n_sessions, 1);
}

/* An address moves when somebody who has the keys has shown to be there. */
static void
test_a_new_address_counts_when_it_has_answered (void **state)
{
  uint32_t index;
  FmxTime now = START;

  (void) state;
  room_open (&room, "", 1);
  guest_init (&guest, "alice", "", 1, START);
  index = join (&room, &guest, START);
  now = run (&room, &guest, START + 2 * FMX_SECOND);
  guest.address = address (1, 6000);    /* a NAT gave it another port */
  run (&room, &guest, now + FMX_SECOND);
  assert_int_equal (room.last.event, FMX_JOIN_MIXER_MOVED);
  assert_int_equal (room.last.session, index);
  assert_int_equal (stats ().n_moved, 1);
  assert_true (fmx_join_address_same (&fmx_join_mixer_session (&room.mixer,
              index)->address, &guest.address));
  assert_int_equal (client_stats (&guest.client).n_attempts, 1);
}

/* Somebody on the way takes PINGs and sends them from elsewhere. */
static void
test_a_ping_from_a_foreign_address_moves_nothing (void **state)
{
  FmxJoinAddress victim = address (66, 6666);
  FmxTime now = START;
  uint32_t index;

  (void) state;
  room_open (&room, "", 1);
  guest_init (&guest, "alice", "", 1, START);
  index = join (&room, &guest, START);
  for (unsigned i = 0; i < 20; i++) {
    FmxJoinClientResult mine;
    FmxJoinMixerResult theirs;

    now = fmx_join_client_next_timeout (&guest.client);
    fmx_join_client_on_timeout (&guest.client, &mine, now);
    theirs = *room_hear (&room, &victim, mine.data, mine.size, now);
    assert_true (theirs.size <= mine.size);
  }
  assert_int_equal (stats ().n_moved, 0);
  assert_true (fmx_join_address_same (&fmx_join_mixer_session (&room.mixer,
              index)->address, &guest.address));
}

static void
test_a_new_root_is_told_with_the_next_pong (void **state)
{
  uint16_t depth;

  (void) state;
  room_open (&room, "", 7);
  guest_init (&guest, "alice", "", 1, START);
  join (&room, &guest, START);
  assert_int_equal (fmx_join_client_root (&guest.client, &depth), 7);
  assert_int_equal (depth, 0);
  fmx_join_mixer_set_root (&room.mixer, 99, 4);
  run (&room, &guest, START + FMX_SECOND);
  assert_int_equal (guest.last.event, FMX_JOIN_CLIENT_ROOT);
  assert_int_equal (fmx_join_client_root (&guest.client, &depth), 99);
  assert_int_equal (depth, 4);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_forged_or_repeated_bye_is_not_believed),
    cmocka_unit_test (test_a_new_address_counts_when_it_has_answered),
    cmocka_unit_test (test_a_ping_from_a_foreign_address_moves_nothing),
    cmocka_unit_test (test_a_new_root_is_told_with_the_next_pong),
  };

  return cmocka_run_group_tests_name ("join/mixer-control", tests, NULL, NULL);
}
